//! Modules of ours under `slablab insmod`, and what they print.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::run;

/// The folder of the modules, relative to the root.
const MODULES: &str = "crates/kapi/tests/modules";

/// Returns the path of a module's source, relative to the root.
#[must_use]
pub fn source(module: &str) -> String {
    format!("{MODULES}/{module}.c")
}

/// Runs a module with these words on the command line.
#[must_use]
pub fn insmod(module: &str, words: &[&str]) -> Output {
    let path = source(module);
    let words: Vec<_> = ["insmod", &path].into_iter().chain(words.iter().copied()).collect();
    run(&words)
}

/// Splits what was printed into lines, the log's without their timestamps.
#[must_use]
pub fn lines(output: &Output) -> Vec<String> {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let plain = |line: &str| match line.strip_prefix('[').and_then(|l| l.split_once("] ")) {
        Some((time, rest)) if time.trim().parse::<f64>().is_ok() => rest.to_string(),
        _ => line.to_string(),
    };
    text.lines().map(plain).collect()
}

/// Returns everything that was printed, errors too, in one text.
#[must_use]
pub fn told(output: &Output) -> String {
    lines(output).join("\n") + &String::from_utf8_lossy(&output.stderr)
}

/// Runs a module, which has to print these lines and to succeed.
///
/// # Panics
///
/// If it prints others, or fails.
#[track_caller]
pub fn prints(module: &str, words: &[&str], expected: &[&str]) {
    let output = insmod(module, words);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(lines(&output), expected, "{module} {words:?}: {stderr}");
    assert_eq!(output.status.code(), Some(0), "{module} {words:?}: {stderr}");
}

/// Finds Debian's package of a kernel's source: installed, or where `slablab kernel` keeps it.
fn archive(version: &str) -> Option<PathBuf> {
    let name = format!("linux-source-{version}.tar.xz");
    // Two folders above the headers is the command's cache.
    let include = slablab_kapi::toolchain::include_folder().expect("the headers can be unpacked");
    let kept = include.ancestors().nth(2).map(|cache| fs::read_dir(cache.join("sources")));
    let folders = kept.into_iter().flatten().flatten().flatten();
    let folders = folders.map(|entry| entry.path().join("usr/src"));
    let mut archives =
        std::iter::once(PathBuf::from("/usr/src")).chain(folders).map(|folder| folder.join(&name));
    let found = archives.find(|archive| archive.is_file());
    if found.is_none() {
        eprintln!("not run: there is no {name} (Debian: linux-source-{version})");
    }
    found
}

/// Takes files out of a source; nothing if the source is not there.
///
/// # Panics
///
/// If it has no such file.
pub fn sources<'f>(version: &str, files: impl Iterator<Item = &'f str>) -> Option<TempDir> {
    let archive = archive(version)?;
    let folder = tempfile::tempdir().unwrap();
    let mut tar = Command::new("tar");
    tar.arg("-xf").arg(archive).arg("-C").arg(folder.path()).arg("--strip-components=1");
    let names = files.map(|file| format!("linux-source-{version}/{file}"));
    assert!(tar.args(names).status().is_ok_and(|status| status.success()));
    Some(folder)
}
