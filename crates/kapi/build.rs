//! Embeds the headers of `include/` and the C runtime, so that the command works wherever it is
//! installed: writes `embedded.rs`, an array of (path, text). Headers that only include another one
//! are made from the table `include/forwards.txt`.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

const TABLE: &str = "include/forwards.txt";

fn main() {
    let here = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it"));
    let mut files = Vec::new();
    for (name, dir) in [("include", here.join("../../include")), ("runtime", here.join("runtime"))]
    {
        collect(name, &dir.canonicalize().expect("the source tree has it"), &mut files);
    }
    // Each file's name, and an expression for its text.
    let mut embedded = Vec::new();
    for (name, path) in files {
        if name == TABLE {
            forwards(&fs::read_to_string(path).expect("the table is text"), &mut embedded);
        } else {
            embedded.push((name, format!("include_str!({:?})", path.display().to_string())));
        }
    }
    embedded.sort();
    let mut text = String::from("pub(crate) const FILES: &[(&str, &str)] = &[\n");
    for (name, expression) in &embedded {
        writeln!(text, "    ({name:?}, {expression}),").expect("writing to a string cannot fail");
    }
    text.push_str("];\n");
    fs::write(out.join("embedded.rs"), text).expect("OUT_DIR is writable");
}

/// Makes the headers of the table: lines `header: name name ...`, and comments.
fn forwards(table: &str, embedded: &mut Vec<(String, String)>) {
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let (header, names) = line.split_once(':').expect("the table's lines are `header: names`");
        let text =
            format!("/* SPDX-License-Identifier: MIT OR Apache-2.0 */\n#include <{header}>\n");
        embedded.extend(
            names.split_whitespace().map(|name| (format!("include/{name}"), format!("{text:?}"))),
        );
    }
}

fn collect(name: &str, dir: &Path, files: &mut Vec<(String, PathBuf)>) {
    println!("cargo:rerun-if-changed={}", dir.display());
    for entry in fs::read_dir(dir).expect("the source tree is readable") {
        let path = entry.expect("the source tree is readable").path();
        let file = path.file_name().expect("read_dir gives names").to_string_lossy();
        let name = format!("{name}/{file}");
        if path.is_dir() {
            collect(&name, &path, files);
        } else {
            files.push((name, path));
        }
    }
}
