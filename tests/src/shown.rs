//! Documents whose commands are run, and have to print what is shown below them.
//!
//! `$` is any user, `#` is root with tracefs (left out, and said so, where there is none). In what is shown, `...` stands
//! for anything: for any lines when alone on a line, for any characters inside one.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::{root, slablab_path};

/// A command of a document and what it is said to print.
#[derive(Debug)]
pub struct Shown {
    /// The document, relative to the root
    file: String,
    line: usize,
    command: String,
    as_root: bool,
    output: Vec<String>,
}

/// Returns the commands of the blocks of a document that open with `fence`.
///
/// # Panics
///
/// If it cannot be read, or a block begins with no command.
#[must_use]
pub fn commands(file: &str, fence: &str) -> Vec<Shown> {
    let text = fs::read_to_string(root().join(file)).unwrap();
    let mut shown: Vec<Shown> = Vec::new();
    let mut inside = false;
    for (i, line) in text.lines().enumerate() {
        if line.starts_with("```") {
            inside = !inside && line == fence;
            continue;
        }
        if !inside {
            continue;
        }
        let prompt = line.strip_prefix("$ ").map(|command| (command, false));
        match prompt.or_else(|| line.strip_prefix("# ").map(|command| (command, true))) {
            Some((command, as_root)) => shown.push(Shown {
                file: file.to_owned(),
                line: i + 1,
                command: command.to_owned(),
                as_root,
                output: Vec::new(),
            }),
            None => {
                let last = shown.last_mut().expect("output follows a command");
                last.output.push(line.to_owned());
            }
        }
    }
    shown
}

/// Returns whether `lines` are what is shown.
fn matches(shown: &[String], lines: &[&str]) -> bool {
    match shown.split_first() {
        None => lines.is_empty(),
        Some((first, rest)) if first == "..." => {
            (0..=lines.len()).any(|skipped| matches(rest, &lines[skipped..]))
        }
        Some((first, rest)) => lines
            .split_first()
            .is_some_and(|(line, lines)| line_matches(first, line) && matches(rest, lines)),
    }
}

fn line_matches(shown: &str, line: &str) -> bool {
    let mut parts = shown.split("...");
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = line.strip_prefix(first) else { return false };
    let parts: Vec<_> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

/// Returns whether this test may record.
///
/// # Panics
///
/// If `id` is not there.
#[must_use]
pub fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output().expect("id is everywhere");
    id.stdout == b"0\n" && Path::new("/sys/kernel/tracing").is_dir()
}

/// Runs the commands one after another in a folder of their own, and looks whether each prints what is shown.
///
/// # Panics
///
/// If one fails or prints something else.
pub fn run(shown: Vec<Shown>) {
    let folder = tempfile::tempdir().unwrap();
    for entry in [
        "traces",
        "Makefile",
        "Cargo.toml",
        "Cargo.lock",
        "crates",
        "tests",
        "tools",
        "include",
        "kernel",
    ] {
        std::os::unix::fs::symlink(root().join(entry), folder.path().join(entry)).unwrap();
    }
    let bin = slablab_path().parent().unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    for shown in shown {
        if shown.as_root && !is_root() {
            eprintln!("{}:{}: not run, needs root: {}", shown.file, shown.line, shown.command);
            continue;
        }
        // make builds in the tree itself; everything else leaves its files in a folder of its own.
        let is_make = shown.command.starts_with("make ");
        let output = Command::new("sh")
            .args(["-c", &shown.command])
            .current_dir(if is_make { root() } else { folder.path().to_owned() })
            .env("PATH", &path)
            .env("LC_ALL", "C")
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        let Shown { file, line, command, .. } = &shown;
        assert!(output.status.success(), "{file}:{line}: {command}: {stderr}");
        let stdout = String::from_utf8(output.stdout).unwrap();
        let lines: Vec<_> = stdout.lines().collect();
        assert!(
            matches(&shown.output, &lines),
            "{file}:{line}: {command} printed\n{stdout}\nand not\n{}",
            shown.output.join("\n")
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_stand_for_anything() {
        let shown =
            |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
        assert!(matches(&shown(&["a", "...", "d"]), &["a", "b", "c", "d"]));
        assert!(!matches(&shown(&["a", "...", "e"]), &["a", "b", "c", "d"]));
        assert!(line_matches("held ... MiB (... %)", "held 12.0 MiB (3.1 %)"));
        assert!(!line_matches("held ... KiB", "held 12.0 MiB"));
        assert!(line_matches("plain", "plain") && !line_matches("plain", "plain and more"));
    }
}
