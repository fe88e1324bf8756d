//! The errors of traces: one enum, in which each variant tells the file, the place in it, and the remedy.

use std::path::{Path, PathBuf};

use parquet::errors::ParquetError;

/// Returns what helps where the system's word alone does not say it.
fn remedy(source: &std::io::Error) -> &'static str {
    match source.kind() {
        std::io::ErrorKind::StorageFull => "; make room there, or name a file on another disk",
        _ => "",
    }
}

/// An error of this crate. `Display` is one sentence with file, place and remedy, ready to be shown.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused something.
    #[error("{}: {doing}: {source}{}", path.display(), remedy(source))]
    Io {
        /// The file or directory concerned.
        path: PathBuf,
        /// What was being done, as in "cannot read".
        doing: &'static str,
        /// The system's word.
        source: std::io::Error,
    },
    /// The file is not what it should be, or is damaged.
    #[error("{}{}: {what}; {remedy}", path.display(), Place(*at))]
    Bad {
        /// The file concerned.
        path: PathBuf,
        /// Where in it.
        at: At,
        /// What is wrong.
        what: String,
        /// What to do about it.
        remedy: String,
    },
    /// Somebody asked to end.
    #[error("interrupted")]
    Interrupted,
    /// A recording could not be made a trace, and is kept.
    #[error("{what}; {remedy}")]
    Kept {
        /// What went wrong.
        what: String,
        /// Where it is, and how to make the trace.
        remedy: String,
    },
    /// Recording cannot be done here, or not by this user.
    #[error("{what}; {remedy}")]
    CannotRecord {
        /// What stands in the way.
        what: String,
        /// How to fix it.
        remedy: String,
    },
}

/// A place in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At {
    /// The whole file.
    File,
    /// A line, counted from 1.
    Line(u64),
    /// A byte offset.
    Byte(u64),
    /// A row of a table, counted from 0.
    Row(u64),
}

struct Place(At);

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            At::File => Ok(()),
            At::Line(line) => write!(f, ":{line}"),
            At::Byte(byte) => write!(f, ": at byte {byte}"),
            At::Row(row) => write!(f, ": row {row}"),
        }
    }
}

impl Error {
    pub(crate) fn io(path: &Path, doing: &'static str, source: std::io::Error) -> Error {
        Error::Io { path: path.into(), doing, source }
    }

    /// Returns what the system said of a file that Parquet writes: it wraps that in "External: ".
    pub(crate) fn cause_of(error: ParquetError) -> std::io::Error {
        match error {
            ParquetError::External(cause) => {
                cause.downcast().map_or_else(std::io::Error::other, |cause| *cause)
            }
            other => std::io::Error::other(other),
        }
    }

    pub(crate) fn bad(
        path: &Path,
        at: At,
        what: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Error {
        Error::Bad { path: path.into(), at, what: what.into(), remedy: remedy.into() }
    }
}
