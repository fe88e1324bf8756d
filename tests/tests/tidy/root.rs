//! The root of the repository: it has the files and folders of this list, and no others.

use std::collections::BTreeSet;

use slablab_tests::tracked_files;

/// What lies in the root. A new entry needs a reason that a newcomer sees at once.
const ROOT: [&str; 24] = [
    ".ci",
    ".github",
    ".gitignore",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "Makefile",
    "README.md",
    "SECURITY.md",
    "bench",
    "book",
    "crates",
    "fuzz",
    "include",
    "kernel",
    "rust-toolchain.toml",
    "rustfmt.toml",
    "tests",
    "tools",
    "traces",
];

/// Returns the first components of `paths` that `listed` does not have.
fn strays(paths: &[&str], listed: &[&str]) -> BTreeSet<String> {
    let first = paths.iter().filter_map(|path| path.split('/').next());
    first.filter(|name| !listed.contains(name)).map(str::to_owned).collect()
}

#[test]
fn the_root_has_no_other_files() {
    let paths = tracked_files();
    let paths: Vec<&str> = paths.iter().filter_map(|path| path.to_str()).collect();
    let strays: Vec<_> = strays(&paths, &ROOT).into_iter().collect();
    super::none(&strays, "the root has the files of tests/tests/tidy/root.rs only");
}

#[test]
fn a_file_that_was_added_to_the_root_by_accident_is_found() {
    let found = strays(&["README.md", "x", "crates/kmem/src/lib.rs"], &ROOT);
    assert_eq!(found, BTreeSet::from(["x".to_owned()]));
}
