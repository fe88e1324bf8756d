//! A folder for temporary files that is removed even when a signal ends the process.
//!
//! # How it works
//! A thread sleeps until a signal requests the end of the process, removes the folder and ends the process as the
//! signal would have. The thread stays when the folder is dropped, and then ends the process without anything to
//! remove. It serves commands that do not catch signals themselves: one that has an [`Interrupt`](crate::Interrupt)
//! returns in order, and drops any temporary folder on the way. SIGKILL leaves the folder, as it does with every
//! program.

use std::fs;
use std::io;
use std::path::Path;
use std::thread;
use std::time::Duration;

use tempfile::TempDir;

use crate::signals::Signals;

/// How often the removal of a folder is tried while a child still writes into it, and the time between
/// two tries.
const TRIES: u32 = 10;
const PAUSE: Duration = Duration::from_millis(20);

/// A folder that is removed when this is dropped, and when a signal ends the process.
#[derive(Debug)]
pub struct TemporaryFolder(TempDir);

impl TemporaryFolder {
    /// Makes a folder in `$TMPDIR` whose name begins with `prefix`.
    ///
    /// # Errors
    ///
    /// If it cannot be made, or the system refuses the signal handlers.
    pub fn new(prefix: &str) -> io::Result<Self> {
        let mut signals = Signals::catch()?;
        let folder =
            tempfile::Builder::new().prefix(prefix).tempdir().map_err(|error| in_words(&error))?;
        let path = folder.path().to_owned();
        thread::spawn(move || {
            let signal = loop {
                if let Some(signal) = signals.wait(None) {
                    break signal;
                }
            };
            for _ in 0..TRIES {
                if fs::remove_dir_all(&path).is_ok() || !path.exists() {
                    break;
                }
                thread::sleep(PAUSE);
            }
            // It only fails for a number that is not a signal.
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        });
        Ok(Self(folder))
    }

    /// Returns where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

/// Names the folder that users can choose, not the name that would have been in it.
fn in_words(error: &io::Error) -> io::Error {
    let place = std::env::temp_dir();
    io::Error::new(
        error.kind(),
        format!(
            "{}: {}; set TMPDIR to a folder that this user can write to",
            place.display(),
            match error.kind() {
                io::ErrorKind::NotFound => "there is no such folder".to_owned(),
                kind => kind.to_string(),
            }
        ),
    )
}
