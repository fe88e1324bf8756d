//! Where a recording is that is not a trace yet, and how to make the trace of it.

use std::path::{Path, PathBuf};

use slablab_host::shell;

/// The file of the folder that is there from the first event on.
pub(crate) const HEAD: &str = "head.json";

/// Returns the folder of the recording that is to be the trace at `output`.
pub(crate) fn of(output: &Path) -> PathBuf {
    // Beside a device or a pipe no folder can stand.
    let beside = match std::fs::metadata(output) {
        Ok(at) if !at.is_file() && !at.is_dir() => {
            std::env::temp_dir().join(output.file_name().unwrap_or_default())
        }
        _ => output.to_owned(),
    };
    let mut name = beside.into_os_string();
    name.push(".recording");
    name.into()
}

/// Returns the command that makes a trace of what is left of a recording.
pub(crate) fn recover_command(output: &Path) -> String {
    format!("slablab record --recover -o {}", shell::path(output))
}

/// Returns what to type where the trace at `path` is missing and an interrupted recording of it is there.
pub(crate) fn how_to_recover(path: &Path) -> Option<String> {
    let is_there = of(path).join(HEAD).is_file();
    is_there.then(|| recover_command(path))
}
