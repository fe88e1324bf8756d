//! Dead source files: a Rust file that no `mod` of its package reaches.
//!
//! # How it works
//! Each package has roots: the targets that Cargo finds by their place, and those that its Cargo.toml names. From
//! there every `mod name;` is followed to its file. Of a module that a macro declares (`mod $name;`) all files and folders
//! beside it are reached whose names the file has as words.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Returns the Rust files among `files` that no target reaches. Beside Rust files `files` has each Cargo.toml.
fn unreached(files: &BTreeMap<PathBuf, String>) -> Vec<PathBuf> {
    let mut waiting: Vec<PathBuf> = Vec::new();
    for (path, text) in files.iter().filter(|(path, _)| path.ends_with("Cargo.toml")) {
        let package = path.parent().expect("a file lies in a folder");
        waiting.extend(files.keys().filter(|file| is_target(package, file)).cloned());
        let named = text.lines().filter_map(|line| line.trim().strip_prefix("path = \""));
        waiting.extend(named.filter_map(|rest| Some(package.join(rest.split_once('"')?.0))));
    }
    let roots: BTreeSet<PathBuf> = waiting.iter().cloned().collect();
    let mut reached = BTreeSet::new();
    while let Some(path) = waiting.pop() {
        let Some(text) = files.get(&path).filter(|_| !reached.contains(&path)) else { continue };
        let modules = modules(&path, text, files, roots.contains(&path));
        reached.insert(path);
        waiting.extend(modules);
    }
    let is_rust = |path: &&PathBuf| path.extension().is_some_and(|e| e == "rs");
    files.keys().filter(is_rust).filter(|path| !reached.contains(*path)).cloned().collect()
}

/// Returns whether Cargo takes `file` for a target of `package` by its place.
fn is_target(package: &Path, file: &Path) -> bool {
    let Ok(inside) = file.strip_prefix(package) else { return false };
    let parts: Vec<_> = inside.iter().filter_map(|part| part.to_str()).collect();
    let in_folder = |folder| matches!(folder, "tests" | "benches" | "examples");
    match parts[..] {
        ["build.rs"] | ["src", "lib.rs" | "main.rs"] | ["src", "bin", _, "main.rs"] => true,
        ["src", "bin", name] => name.ends_with(".rs"),
        [folder, name] => in_folder(folder) && name.ends_with(".rs"),
        [folder, _, "main.rs"] => in_folder(folder),
        _ => false,
    }
}

/// Returns the files that the `mod` lines of a file name.
fn modules(
    path: &Path,
    text: &str,
    files: &BTreeMap<PathBuf, String>,
    is_root: bool,
) -> Vec<PathBuf> {
    let folder = path.parent().expect("a file lies in a folder");
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let below = if is_root || stem == "mod" { folder.to_owned() } else { folder.join(stem) };
    let mut found = Vec::new();
    // Modules with a body, by their indentation: their files lie in folders of their names.
    let mut inline: Vec<(usize, &str)> = Vec::new();
    let mut named: Option<&str> = None;
    for line in text.lines() {
        let code = line.trim();
        let indent = line.len() - line.trim_start().len();
        if code == "}" {
            inline.retain(|(other, _)| *other < indent);
        }
        if let Some(rest) = code.strip_prefix("#[path = \"") {
            named = rest.split_once('"').map(|(name, _)| name);
            continue;
        }
        let Some(name) = declared(code) else { continue };
        if name.ends_with(" {") {
            inline.push((indent, name.trim_end_matches(" {")));
        } else if let Some(name) = named.take() {
            found.push(normal(&folder.join(name)));
        } else {
            let folder = inline.iter().fold(below.clone(), |at, (_, name)| at.join(name));
            found.push(folder.join(format!("{name}.rs")));
            found.push(folder.join(name).join("mod.rs"));
        }
    }
    if text.contains("mod $") {
        let words: BTreeSet<&str> =
            text.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
        let beside = files.keys().filter(|file| {
            let module =
                if file.ends_with("mod.rs") { file.parent() } else { Some(file.as_path()) };
            module.is_some_and(|module| {
                module.parent() == Some(below.as_path())
                    && module
                        .file_stem()
                        .and_then(|n| n.to_str())
                        .is_some_and(|n| words.contains(n))
            })
        });
        found.extend(beside.cloned());
    }
    found
}

/// Returns the name that a line declares a module by, with ` {` where its body follows.
fn declared(code: &str) -> Option<&str> {
    let code = match code.strip_prefix("pub") {
        Some(rest) => {
            rest.strip_prefix('(').map_or(rest, |rest| rest.split_once(')').map_or("", |p| p.1))
        }
        None => code,
    };
    let name = code.trim_start().strip_prefix("mod ")?;
    name.strip_suffix(';').or_else(|| name.ends_with(" {").then_some(name))
}

/// Takes `..` out of a path.
fn normal(path: &Path) -> PathBuf {
    path.iter().fold(PathBuf::new(), |mut at, part| {
        if part == ".." {
            at.pop();
        } else {
            at.push(part);
        }
        at
    })
}

#[test]
fn no_source_file_is_dead() {
    let files = super::sources(&["rs", "toml"]).into_iter().collect();
    let dead: Vec<_> = unreached(&files).iter().map(|path| path.display().to_string()).collect();
    super::none(&dead, "each Rust file is a module of a target");
    assert!(files.len() > 500, "{} files were looked at", files.len());
}

#[test]
fn a_file_without_a_mod_is_found() {
    let tree = [
        ("a/Cargo.toml", "[[bin]]\npath = \"odd/place.rs\"\n"),
        ("a/src/lib.rs", "mod used;\npub(crate) mod folder;\nmod inline {\n    mod deep;\n}\n"),
        ("a/src/used.rs", "mod child;\n"),
        ("a/src/used/child.rs", ""),
        (
            "a/src/folder/mod.rs",
            "macro_rules! all { ($($m:ident)*) => { $(mod $m;)* } }\nall!(one);\n",
        ),
        ("a/src/folder/one.rs", ""),
        ("a/src/folder/two.rs", ""),
        ("a/src/inline/deep.rs", ""),
        ("a/src/dead.rs", ""),
        ("a/odd/place.rs", "#[path = \"../shared/far.rs\"]\nmod far;\n"),
        ("a/shared/far.rs", ""),
        ("a/tests/whole.rs", "// mod commented;\n"),
        ("a/tests/commented.rs", ""),
        ("a/tests/common/mod.rs", ""),
    ];
    let files = tree.map(|(path, text)| (PathBuf::from(path), text.to_owned())).into();
    let dead = ["a/src/dead.rs", "a/src/folder/two.rs", "a/tests/common/mod.rs"].map(PathBuf::from);
    assert_eq!(unreached(&files), dead);
}
