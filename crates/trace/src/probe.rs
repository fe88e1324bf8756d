//! What of recording and importing would work here: facts for `slablab doctor`.

/// One fact about this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// What was looked at, as in "tracefs".
    pub name: &'static str,
    /// How it stands.
    pub state: State,
    /// What was found, as in "mounted at /sys/kernel/tracing".
    pub found: String,
    /// What to do, in a sentence; "" when nothing need be done.
    pub remedy: String,
}

/// How a fact stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// As it should be.
    Good,
    /// Works, but something is missing or worse than it could be.
    Fair,
    /// Recording does not work without it.
    Missing,
}

/// Looks at this machine.
pub fn probe() -> Vec<Fact> {
    Vec::new()
}
