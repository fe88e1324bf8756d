//! The written style, as far as a program can hold it: what CONTRIBUTING.md asks for and these tests enforce.
//!
//! Rules that need more than a look at each line are modules of their own, each with a planted fault that it finds.

#[path = "tidy/commits.rs"]
mod commits;
#[path = "tidy/dead.rs"]
mod dead;
#[path = "tidy/english.rs"]
mod english;
#[path = "tidy/results.rs"]
mod results;
#[path = "tidy/root.rs"]
mod root;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use slablab_tests::{root as tree, tracked_files};

/// A file longer than this has more than one noun.
const FILE_LINES_MAX: usize = 600;
/// rustfmt breaks code at 100; comments and strings may go a little beyond.
const LINE_CHARS_MAX: usize = 130;
/// Sample traces may be this large; anything else in the repository is smaller.
const FILE_BYTES_MAX: u64 = 2 << 20;

/// The layers of ARCHITECTURE.md. A crate depends on lower ones only.
const LAYERS: [(&str, u8); 20] = [
    ("slablab-bpf", 0),
    ("slablab-census", 1),
    ("slablab-csource", 0),
    ("slablab-host", 0),
    ("slablab-linux", 0),
    ("slablab-rcu", 0),
    ("slablab-stats", 0),
    ("slablab-kmem", 1),
    ("slablab-xarray", 1),
    ("slablab-snapshot", 1),
    ("slablab-hunt", 2),
    ("slablab-trace", 2),
    ("slablab-report", 1),
    ("slablab-vm", 1),
    ("slablab-kapi", 2),
    ("slablab-kprobe", 2),
    ("slablab-replay", 3),
    ("slablab-lab", 4),
    ("slablab", 5),
    ("slablab-tests", 6),
];

/// Returns the tracked text files with one of these endings.
fn sources(extensions: &[&str]) -> Vec<(PathBuf, String)> {
    tracked_files()
        .into_iter()
        .filter(|path| path.extension().is_some_and(|e| extensions.iter().any(|x| e == *x)))
        .map(|path| {
            let text = fs::read_to_string(tree().join(&path)).expect("source files are UTF-8");
            (path, text)
        })
        .collect()
}

#[track_caller]
fn none(findings: &[String], rule: &str) {
    assert!(findings.is_empty(), "{rule}:\n  {}", findings.join("\n  "));
}

#[test]
fn files_are_short() {
    let long: Vec<_> = sources(&["rs", "c", "h", "sh", "py"])
        .iter()
        .map(|(path, text)| (path.display(), text.lines().count()))
        .filter(|(_, lines)| *lines > FILE_LINES_MAX)
        .map(|(path, lines)| format!("{path}: {lines} lines"))
        .collect();
    none(&long, "one noun a file: at most 600 lines");
}

#[test]
fn lines_fit_a_screen() {
    let mut wide = Vec::new();
    for (path, text) in sources(&["rs"]) {
        for (i, line) in text.lines().enumerate() {
            if line.chars().count() > LINE_CHARS_MAX {
                wide.push(format!("{}:{}", path.display(), i + 1));
            }
        }
    }
    none(&wide, "lines of at most 130 characters");
}

#[test]
fn modules_open_with_a_header() {
    let bare: Vec<_> = sources(&["rs"])
        .iter()
        .filter(|(_, text)| {
            let first = text.lines().find(|line| !line.starts_with("#!") && !line.is_empty());
            !first.is_some_and(|line| line.starts_with("//!") || line.starts_with("// SPDX"))
        })
        .map(|(path, _)| path.display().to_string())
        .collect();
    none(&bare, "every module says first what it is (//!)");
}

#[test]
fn nothing_is_left_open() {
    // In halves, so that this file does not find itself.
    let words = [concat!("todo", "!("), concat!("unimplemented", "!("), concat!("FIX", "ME")];
    let mut open = Vec::new();
    for (path, text) in sources(&["rs", "c", "h", "sh"]) {
        for (i, line) in text.lines().enumerate() {
            if words.iter().any(|word| line.contains(word)) {
                open.push(format!("{}:{}: {}", path.display(), i + 1, line.trim()));
            }
        }
    }
    none(&open, "finish it or take it out");
}

#[test]
fn unsafe_stays_on_the_raw_floor() {
    let list = fs::read_to_string(tree().join("tests/unsafe-files.txt"))
        .expect("the list of exceptions is in the repository");
    let listed: BTreeSet<PathBuf> = list
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_whitespace().next())
        .map(PathBuf::from)
        .collect();
    let found: BTreeSet<PathBuf> = sources(&["rs"])
        .into_iter()
        .filter(|(path, _)| path.starts_with("crates"))
        .filter(|(path, _)| !path.components().any(|part| part.as_os_str() == "raw"))
        .filter(|(_, text)| text.lines().any(is_unsafe_code))
        .map(|(path, _)| path)
        .collect();
    let unlisted: Vec<_> = found.difference(&listed).map(|p| p.display().to_string()).collect();
    none(&unlisted, "unsafe code lives in raw/, exceptions in tests/unsafe-files.txt");
    let stale: Vec<_> = listed.difference(&found).map(|p| p.display().to_string()).collect();
    none(&stale, "tests/unsafe-files.txt only shrinks: these no longer need to be on it");
}

fn is_unsafe_code(line: &str) -> bool {
    let code = line.split("//").next().unwrap_or_default();
    ["unsafe {", "unsafe impl", "unsafe fn", "unsafe extern"].iter().any(|word| code.contains(word))
}

#[test]
fn kernel_files_carry_their_licence() {
    let bare: Vec<_> = sources(&["c", "h", "S", "sh", "config", "bpf"])
        .iter()
        .filter(|(path, _)| path.starts_with("kernel"))
        .filter(|(_, text)| {
            !text.lines().take(2).any(|line| line.contains("SPDX-License-Identifier: GPL-2.0"))
        })
        .map(|(path, _)| path.display().to_string())
        .collect();
    none(&bare, "SPDX-License-Identifier: GPL-2.0-only on the first line");
}

#[test]
fn files_are_small() {
    let large: Vec<_> = tracked_files()
        .into_iter()
        .filter(|path| fs::metadata(tree().join(path)).is_ok_and(|m| m.len() > FILE_BYTES_MAX))
        .map(|path| path.display().to_string())
        .collect();
    none(&large, "at most 2 MiB a file");
}

#[test]
fn arrows_point_down() {
    let layer = |name: &str| LAYERS.iter().find(|(known, _)| *known == name).map(|(_, n)| *n);
    let mut wrong = Vec::new();
    for (path, text) in sources(&["toml"]) {
        if path.file_name() != Some("Cargo.toml".as_ref()) || !path.starts_with("crates") {
            continue;
        }
        let name = text
            .lines()
            .find_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'))
            .unwrap_or_else(|| panic!("{}: no name", path.display()));
        let Some(own) = layer(name) else {
            wrong.push(format!("{}: {name} is in no layer", path.display()));
            continue;
        };
        for dependency in text.lines().filter_map(dependency_name) {
            if layer(dependency).is_some_and(|other| other >= own) {
                wrong.push(format!("{name} -> {dependency}"));
            }
        }
    }
    none(&wrong, "a crate depends on lower layers only");
}

fn dependency_name(line: &str) -> Option<&str> {
    let name = line.split(['.', ' ', '=']).next()?;
    (name.starts_with("slablab-") && line.contains('=')).then_some(name)
}

#[test]
fn scripts_can_be_run() {
    let dull: Vec<_> = tracked_files()
        .into_iter()
        .filter(|path| fs::read(tree().join(path)).is_ok_and(|bytes| bytes.starts_with(b"#!/")))
        .filter(|path| {
            fs::metadata(tree().join(path)).is_ok_and(|m| m.permissions().mode() & 0o111 == 0)
        })
        .map(|path| path.display().to_string())
        .collect();
    none(&dull, "a file with #! on its first line is executable");
}
