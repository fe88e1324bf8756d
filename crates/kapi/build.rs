//! Embeds the headers of `include/` and the C runtime, so that the command works wherever it is
//! installed: writes `embedded.rs`, an array of (path, text).

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

fn main() {
    let here = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it"));
    let mut files = Vec::new();
    for (name, dir) in [("include", here.join("../../include")), ("runtime", here.join("runtime"))]
    {
        println!("cargo:rerun-if-changed={}", dir.display());
        collect(name, &dir.canonicalize().expect("the source tree has it"), &mut files);
    }
    files.sort();
    let mut text = String::from("pub(crate) const FILES: &[(&str, &str)] = &[\n");
    for (name, path) in &files {
        writeln!(text, "    ({name:?}, include_str!({:?})),", path.display().to_string())
            .expect("writing to a string cannot fail");
    }
    text.push_str("];\n");
    fs::write(out.join("embedded.rs"), text).expect("OUT_DIR is writable");
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
