//! The progress of long work, for code that shows it.

/// How far a long work has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// What is being done, as in "reading".
    pub phase: &'static str,
    /// How much of it is done.
    pub done: u64,
    /// How much there is, 0 when that is not known.
    pub total: u64,
    /// What `done` and `total` count: "bytes" or "events".
    pub unit: &'static str,
}
