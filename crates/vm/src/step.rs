//! The steps of a build, for a progress display.

/// A step of building or booting.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step<'a> {
    /// A piece of work begins; its duration is unknown.
    Begin(&'a str),
    /// This many parts, of about this many in all, are done.
    Parts(u64, u64),
    /// Something that the user must know even when no progress is shown.
    Note(&'a str),
}
