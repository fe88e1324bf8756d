//! The steps of a build, for a progress display.

/// A step of building or booting.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step<'a> {
    /// A piece of work begins; how long it takes is unknown.
    Begin(&'a str),
    /// So many of about so many parts are done.
    Parts(u64, u64),
    /// Something that the user must know even when no progress is shown.
    Note(&'a str),
}
