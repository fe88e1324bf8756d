//! Embeds the headers of `include/` and the C runtime, so that the command works wherever it is
//! installed: writes `embedded.rs`, an array of (path, text). Headers that only include another one
//! are made from `include/forwards.txt`; the names of errors (`errors.rs`) from `asm/errno.h`.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

fn main() {
    let here = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it"));
    let mut files = Vec::new();
    // `include` is a link to the repository's folder; in a packaged crate, the folder.
    for name in ["include", "runtime"] {
        collect(name, &here.join(name), &mut files);
    }
    // Each file's name, and an expression for its text.
    let mut embedded = Vec::new();
    for (name, path) in files {
        let text = || fs::read_to_string(&path).expect("headers and tables are text");
        if name == "include/forwards.txt" {
            forwards(&text(), &mut embedded);
            continue;
        }
        if name == "include/asm/errno.h" {
            fs::write(out.join("errors.rs"), errors(&text())).expect("OUT_DIR is writable");
        }
        // The same text wherever the sources lie: columns in it reach the program.
        let text = format!("include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/{name}\"))");
        embedded.push((name, text));
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

/// Returns the array of names and numbers in the header's `enum { NAME = 1, NAME, ... };`.
fn errors(header: &str) -> String {
    let (_, names) = header.split_once("enum {").expect("the header has an enum");
    let (names, _) = names.split_once("};").expect("the enum has an end");
    let mut array = String::from("&[\n");
    let mut number = 0;
    for name in names.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        let (name, given) = name.split_once(" = ").unwrap_or((name, ""));
        number = given.parse().unwrap_or(number + 1);
        writeln!(array, "    ({name:?}, {number}),").expect("writing to a string cannot fail");
    }
    array + "]\n"
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
