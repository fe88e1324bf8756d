//! Tests across crates: the output of the command, the promises of the README, the order of the tree.
//!
//! The tests stand in `tests/tests/`, with one file for each promise; this library holds what they
//! share.

pub mod module;
pub mod shown;
mod typed;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

pub use typed::typed_trace;

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

/// Returns the path of the command `slablab`, built from this tree once a test program.
///
/// # Panics
///
/// If it cannot be built.
#[must_use]
pub fn slablab_path() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        // Cargo makes the binary of another package only on request, which is quick when it exists. The request is for
        // the whole workspace, since features of dependencies depend on the selection, and others are built anew.
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        // The profile is that of the tests themselves, so that both share what is built.
        let profile = if cfg!(debug_assertions) { "dev" } else { "release" };
        let output = Command::new(cargo)
            .args(["build", "--quiet", "--workspace", "--bins", "--message-format", "json"])
            .args(["--features", "slablab/manual", "--profile", profile])
            .current_dir(root())
            .output()
            .expect("cargo runs these tests, so it can be run");
        assert!(
            output.status.success(),
            "cargo build: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        let messages = String::from_utf8_lossy(&output.stdout);
        let executable = messages
            .lines()
            .filter_map(|line| line.split_once("\"executable\":\"")?.1.split_once('"'))
            .map(|(path, _)| PathBuf::from(path))
            .find(|path| path.file_name().is_some_and(|name| name == "slablab"));
        executable.expect("cargo says where the command lies")
    })
}

/// Returns the command `slablab` with a quiet environment, to be run at the root of the tree.
#[must_use]
pub fn slablab() -> Command {
    let mut command = Command::new(slablab_path());
    command.current_dir(root()).env_remove("NO_COLOR").env("LC_ALL", "C");
    command
}

/// Runs `slablab` with these words and returns its output and status.
///
/// # Panics
///
/// If it cannot be started.
#[must_use]
pub fn run(words: &[&str]) -> Output {
    slablab().args(words).output().expect("slablab was built")
}

/// Runs `slablab`, which has to succeed, and returns what it printed.
///
/// # Panics
///
/// If it fails, or prints anything but UTF-8.
#[must_use]
#[track_caller]
pub fn stdout(words: &[&str]) -> String {
    let output = run(words);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "slablab {}: {stderr}", words.join(" "));
    String::from_utf8(output.stdout).expect("slablab prints UTF-8")
}

/// Runs `slablab`, which has to refuse with status 2 and one sentence, and returns the sentence.
///
/// # Panics
///
/// If it does anything else.
#[must_use]
#[track_caller]
pub fn refusal(words: &[&str]) -> String {
    let output = run(words);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "slablab {}: {stderr}", words.join(" "));
    assert!(output.stdout.is_empty(), "a refusal prints no result: {:?}", output.stdout);
    assert_eq!(stderr.trim_end().lines().count(), 1, "one sentence: {stderr}");
    assert!(stderr.starts_with("slablab: "), "{stderr}");
    stderr
}

/// The Rust blocks of the README.
#[cfg(doctest)]
#[doc = include_str!("../../book/libraries.md")]
struct Readme;

/// Returns a Python that can import DuckDB, or `None` where it cannot be installed from PyPI.
///
/// It is installed once, below `target/`.
#[must_use]
pub fn python_with_duckdb() -> Option<Command> {
    python_with("duckdb")
}

/// Returns a Python that has Google's `protobuf` of PyPI, as [`python_with_duckdb`] does.
#[must_use]
pub fn python_with_protobuf() -> Option<Command> {
    python_with("protobuf")
}

/// Returns a Python that has a package of PyPI, in a folder of its own below `target`.
fn python_with(package: &str) -> Option<Command> {
    let target = root().join("target");
    let modules = target.join(format!("python-{package}"));
    if !modules.exists() {
        let beside = tempfile::tempdir_in(&target).ok()?;
        let mut pip = Command::new("python3");
        pip.args(["-m", "pip", "install", "--quiet", "--target"]).arg(beside.path()).arg(package);
        if !pip.output().is_ok_and(|output| output.status.success()) {
            return None;
        }
        // Another test may have been faster.
        if std::fs::rename(beside.path(), &modules).is_ok() {
            let _ = beside.keep();
        }
    }
    let mut python = Command::new("python3");
    python.env("PYTHONPATH", modules);
    Some(python)
}
