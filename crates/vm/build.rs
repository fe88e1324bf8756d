//! Embeds `kernel/`: configuration, patches, modules and the guest's scripts, so that the command works wherever it is
//! copied. It writes `embedded.rs`, a constant `FILES` of pairs (path, text). Hidden files are left out. So is what
//! only developers of the patches run: planted bugs, and the scripts that torture and check.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

fn main() {
    let here = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it"));
    let mut files = Vec::new();
    // In the repository this is a link to its folder; in a packaged crate, the folder.
    collect("kernel", &here.join("kernel"), &mut files);
    files.sort();
    let mut text = String::from("pub(crate) const FILES: &[(&str, &str)] = &[\n");
    for name in &files {
        // The text is the same wherever the sources lie, because columns in it reach the program.
        writeln!(
            text,
            "    ({name:?}, include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/{name}\"))),"
        )
        .expect("writing to a string cannot fail");
    }
    text.push_str("];\n");
    fs::write(out.join("embedded.rs"), text).expect("OUT_DIR is writable");
}

/// Folders and scripts for developers of `kernel/`, who have the sources, and what crate hunt embeds.
const LEFT_OUT: [&str; 4] = ["broken", "torture.sh", "check.sh", "bpf"];

fn collect(name: &str, folder: &Path, files: &mut Vec<String>) {
    println!("cargo:rerun-if-changed={}", folder.display());
    for entry in fs::read_dir(folder).expect("the source tree is readable") {
        let path = entry.expect("the source tree is readable").path();
        let file = path.file_name().expect("read_dir gives names").to_string_lossy();
        let name = format!("{name}/{file}");
        if LEFT_OUT.contains(&&*file) {
            continue;
        }
        if path.is_dir() {
            collect(&name, &path, files);
        } else if !file.starts_with('.') {
            files.push(name);
        }
    }
}
