//! Why source is not read, or no patch is made.

use std::path::{Path, PathBuf};

/// What this crate returns.
pub type Result<T> = std::result::Result<T, Error>;

/// Why source is not read, or no patch is made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file or folder cannot be read.
    #[error("{}: cannot read the source: {source}", path.display())]
    Io {
        /// Where
        path: PathBuf,
        /// What the system said
        source: std::io::Error,
    },
    /// A folder that is not Linux's top folder.
    #[error("{}: this is not Linux's source, which has a {missing}", path.display())]
    NotLinux {
        /// The folder
        path: PathBuf,
        /// What a source has
        missing: &'static str,
    },
    /// The objects are none that a cache of one size suits: who makes one by hand goes wrong, too.
    #[error("{place}: {why}")]
    Unsuitable {
        /// File and line
        place: String,
        /// What is in the way
        why: String,
    },
    /// The source does not have what is looked for, or has it in a form that no patch is made from: a reader may.
    #[error("{place}: {why}")]
    Unclear {
        /// The function, or file and line
        place: String,
        /// What is in the way
        why: String,
    },
}

impl Error {
    pub(crate) fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        |source| Self::Io { path, source }
    }

    pub(crate) fn unsuitable(place: impl Into<String>, why: impl Into<String>) -> Self {
        Self::Unsuitable { place: place.into(), why: why.into() }
    }

    pub(crate) fn unclear(place: impl Into<String>, why: impl Into<String>) -> Self {
        Self::Unclear { place: place.into(), why: why.into() }
    }
}
