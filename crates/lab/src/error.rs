//! The errors of the lab, each stated once, with the place and the remedy.

use std::io;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

/// A result or the reason why there is none.
pub type Result<T> = std::result::Result<T, Error>;

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file or folder cannot be used.
    #[error("{path}: cannot {doing}: {cause}", path = .path.display())]
    Io {
        /// Which one
        path: PathBuf,
        /// What was to be done
        doing: &'static str,
        /// What the system said
        cause: io::Error,
    },
    /// A file is not what it should be.
    #[error("{path}: {reason}", path = .path.display())]
    Unreadable {
        /// Which one
        path: PathBuf,
        /// Where and why, and what to do
        reason: String,
    },
    /// The request cannot be met.
    #[error("{0}")]
    Request(String),
    /// A run could not be made.
    #[error("{cell}: {reason}")]
    Cell {
        /// Which one, in words
        cell: String,
        /// Why
        reason: String,
    },
    /// Results that must not be compared.
    #[error("{0}")]
    Incomparable(String),
    /// The numbers do not allow an answer.
    #[error("{what}: {cause}")]
    Numbers {
        /// Whose
        what: String,
        /// Why
        cause: slablab_stats::Error,
    },
    /// A trace cannot be replayed.
    #[error(transparent)]
    Replay(#[from] slablab_replay::Error),
    /// A kernel cannot be built, or a guest is in trouble.
    #[error(transparent)]
    Vm(#[from] slablab_vm::Error),
    /// A trace cannot be read.
    #[error(transparent)]
    Trace(#[from] slablab_trace::Error),
}

impl Error {
    /// Returns a closure that wraps an I/O error.
    pub(crate) fn io(path: &Path, doing: &'static str) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |cause| Self::Io { path, doing, cause }
    }

    /// Returns a closure that wraps an error of the statistics.
    pub(crate) fn numbers(what: impl Into<String>) -> impl FnOnce(slablab_stats::Error) -> Self {
        let what = what.into();
        move |cause| Self::Numbers { what, cause }
    }

    /// Returns a closure that states what is wrong with a file.
    pub(crate) fn unreadable(path: &Path) -> impl Fn(String) -> Self {
        let path = path.to_owned();
        move |reason| Self::Unreadable { path: path.clone(), reason }
    }
}

/// Reads a JSON value called `what` that must have this `schema`.
pub(crate) fn with_schema<T: DeserializeOwned>(
    text: &[u8],
    what: &str,
    schema: &str,
) -> std::result::Result<T, String> {
    let not_that = |e: serde_json::Error| format!("not a {what} of the lab: {e}");
    let value: serde_json::Value = serde_json::from_slice(text).map_err(not_that)?;
    match value["schema"].as_str() {
        Some(found) if found == schema => serde_json::from_value(value).map_err(not_that),
        Some(other) => Err(format!(
            "its schema is {other}, and this slablab reads {schema}; use the version that wrote it"
        )),
        None => Err(format!("not a {what} of the lab: it has no schema")),
    }
}
