//! Records the running kernel's allocations through tracefs.

use std::path::PathBuf;
use std::time::Duration;

use crate::import::Progress;
use crate::{Error, Meta};

/// Kibibytes of ring buffer for each CPU when [`RecordOptions::buffer_kib`] is not set.
pub const BUFFER_KIB_DEFAULT: u32 = 64 << 10;

/// What to record, and where to.
#[derive(Debug, Clone)]
pub struct RecordOptions {
    /// The trace file to write.
    pub output: PathBuf,
    /// The command to run meanwhile, word by word. When empty, records until [`RecordOptions::duration`]
    /// has passed or a signal (SIGINT, SIGTERM) comes.
    pub command: Vec<String>,
    /// Stops after this time, command or not.
    pub duration: Option<Duration>,
    /// Kibibytes of ring buffer for each CPU.
    pub buffer_kib: u32,
}

/// A finished recording.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordSummary {
    /// The trace's metadata, the quality counters among it.
    pub meta: Meta,
    /// Exit status for the caller to pass on: the command's, 128 + signal when one ended it, 0
    /// without a command.
    pub exit_status: i32,
    /// How long the recording ran.
    pub elapsed: Duration,
}

/// Records system-wide while the command runs, and writes the trace.
///
/// # Errors
/// When tracefs or its kmem events cannot be used, the command cannot be started, or the trace
/// cannot be written. Nothing is left in tracefs or at the output path then.
pub fn record(
    options: &RecordOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<RecordSummary, Error> {
    let _ = (options, progress);
    Err(Error::CannotRecord { what: "recording is being built".into(), remedy: "wait".into() })
}
