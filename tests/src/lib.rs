//! Tests that go across crates: what the command prints, what the README promises, how the tree is kept.
//!
//! The tests stand in `tests/tests/`, one file a promise; this library holds what they share.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the root of the source tree.
///
/// # Panics
///
/// If this crate no longer lies one folder below it.
#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ lies in the tree").to_owned()
}

/// Returns the files that git tracks, or would if they were added, below the root, relative to it.
///
/// # Panics
///
/// If git cannot be asked.
#[must_use]
pub fn tracked_files() -> Vec<PathBuf> {
    let output = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .output()
        .expect("git is installed wherever the tree was cloned");
    assert!(output.status.success(), "git ls-files: {}", String::from_utf8_lossy(&output.stderr));
    let names = String::from_utf8(output.stdout).expect("our file names are ASCII");
    names
        .split_terminator('\0')
        .map(PathBuf::from)
        .filter(|path| root().join(path).is_file())
        .collect()
}
