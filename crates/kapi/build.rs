//! Embeds the headers of `include/` and the C runtime, so that the command works wherever it is
//! installed: writes `embedded.rs`, an array of (path, text). Headers that only include another one
//! are made from `include/forwards.txt`, and those that bring others along (`brings/`) from
//! `include/brings.txt`. The names of errors (`errors.rs`) are those of `asm/errno.h`.

use std::collections::{BTreeMap, BTreeSet};
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
    let mut brings = String::new();
    for (name, path) in files {
        let text = || fs::read_to_string(&path).expect("headers and tables are text");
        if name == "include/forwards.txt" {
            forwards(&text(), &mut embedded);
            continue;
        }
        if name == "include/brings.txt" {
            brings = text();
            continue;
        }
        if name == "include/asm/errno.h" {
            fs::write(out.join("errors.rs"), errors(&text())).expect("OUT_DIR is writable");
        }
        // The same text wherever the sources lie: columns in it reach the program.
        let text = format!("include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/{name}\"))");
        embedded.push((name, text));
    }
    bring(&brings, &mut embedded);
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

/// The versions from which on `include/brings.txt` has its second and third set.
const SETS: [&str; 3] = ["0", "0x060c00", "0x070000"];

/// Makes a header in front of each of ours, which includes it and, if it is the first that a module includes, those that
/// the kernel's header of the name brings. One in the middle of another brings nothing: that could be a circle.
fn bring(table: &str, embedded: &mut Vec<(String, String)>) {
    let graphs = graphs(table);
    let headers: Vec<String> = embedded
        .iter()
        .filter_map(|(name, _)| name.strip_prefix("include/").map(str::to_owned))
        .filter(|name| !name.starts_with("kapi/"))
        .collect();
    for header in headers {
        let reached: Vec<_> = graphs.iter().map(|graph| reached(graph, &header)).collect();
        let mut text = String::from("/* SPDX-License-Identifier: MIT OR Apache-2.0 */\n");
        let next = format!("#include_next <{header}>\n");
        text += &format!("#ifdef KAPI_BRINGS\n{next}#else\n#define KAPI_BRINGS\n{next}");
        for (i, names) in reached.iter().enumerate() {
            let until = SETS
                .get(i + 1)
                .map_or(String::new(), |until| format!(" && LINUX_VERSION_CODE < {until}"));
            text += &format!("#if LINUX_VERSION_CODE >= {}{until}\n", SETS[i]);
            names.iter().for_each(|name| text += &format!("#include <{name}>\n"));
            text += "#endif\n";
        }
        text += "#undef KAPI_BRINGS\n#endif\n";
        embedded.push((format!("brings/{header}"), format!("{text:?}")));
    }
}

/// Headers, and those that each brings.
type Graph<'t> = BTreeMap<&'t str, Vec<&'t str>>;

/// Reads the table: lines `header: name name@13 ...`; digits behind a name are the sets that it is in.
fn graphs(table: &str) -> [Graph<'_>; 3] {
    let mut graphs = [Graph::new(), Graph::new(), Graph::new()];
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let (header, names) = line.split_once(':').expect("the table's lines are `header: names`");
        for name in names.split_whitespace() {
            let (name, sets) = name.split_once('@').unwrap_or((name, "123"));
            for (graph, set) in graphs.iter_mut().zip(["1", "2", "3"]) {
                if sets.contains(set) {
                    graph.entry(header).or_default().push(name);
                }
            }
        }
    }
    graphs
}

/// Returns what a header brings, by whatever number of headers between.
fn reached<'t>(graph: &Graph<'t>, header: &str) -> BTreeSet<&'t str> {
    let mut found = BTreeSet::new();
    let mut todo = graph.get(header).cloned().unwrap_or_default();
    while let Some(name) = todo.pop() {
        if name != header && found.insert(name) {
            todo.extend(graph.get(name).into_iter().flatten());
        }
    }
    found
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
