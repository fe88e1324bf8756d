//! Modules that another one needs: those beside it whose sources export what it uses and nothing here provides.
//!
//! # How it works
//! As `modprobe` loads what a module depends on, so is it here: each becomes one object of the image, whose init runs
//! before the module's and whose exit after it. What a module does not export is its own, so that names of two
//! modules do not meet. Candidates are the C sources of the module's folder, then those of the folders beside it.
//!
//! Linux counterpart: `scripts/mod/modpost.c` and modprobe's `modules.dep`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::sources::{Sources, c_files};
use crate::error::Error;

/// A module that exports something, and all that it exports.
#[derive(Debug)]
pub(super) struct Needed {
    pub(super) sources: Sources,
    pub(super) exports: BTreeSet<Export>,
}

impl Needed {
    /// Returns the names that it exports.
    pub(super) fn names(&self) -> BTreeSet<String> {
        self.exports.iter().map(|export| export.name.clone()).collect()
    }
}

/// A name that a module exports, and to whom.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Export {
    pub(super) name: String,
    /// Whether to GPL modules alone.
    pub(super) is_gpl_only: bool,
    /// The namespace that a module has to import.
    pub(super) namespace: Option<String>,
}

/// Returns the modules beside `sources` that export one of the names.
pub(super) fn providers(sources: &Sources, names: &BTreeSet<String>) -> Result<Vec<Needed>, Error> {
    let mut left = names.clone();
    let mut found: Vec<Needed> = Vec::new();
    for folder in neighbourhood(sources) {
        for file in c_files(&folder).unwrap_or_default() {
            if left.is_empty() {
                return Ok(found);
            }
            let exported = exports(&file);
            let is_wanted = exported.iter().any(|export| left.contains(&export.name));
            if !is_wanted || sources.files.iter().any(|own| own.path == file) {
                continue;
            }
            let Some(module) = Sources::with_file(&folder, &file)? else { continue };
            let exports = module.files.iter().flat_map(|file| exports(&file.path)).collect();
            let needed = Needed { sources: module, exports };
            let names = needed.names();
            left.retain(|name| !names.contains(name));
            found.push(needed);
        }
    }
    Ok(found)
}

/// The module's folders, and those beside them.
fn neighbourhood(sources: &Sources) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = Vec::new();
    let add = |folder: PathBuf, folders: &mut Vec<PathBuf>| {
        if !folders.contains(&folder) {
            folders.push(folder);
        }
    };
    let own = || sources.files.iter().filter_map(|file| file.path.parent());
    for folder in own() {
        add(folder.into(), &mut folders);
    }
    for above in own().filter_map(Path::parent) {
        let entries = fs::read_dir(above).into_iter().flatten().flatten();
        let mut beside: Vec<_> = entries.map(|entry| entry.path()).collect();
        beside.sort();
        for folder in beside.into_iter().filter(|path| Sources::has_rules(path)) {
            add(folder, &mut folders);
        }
    }
    folders
}

/// Returns what a source exports.
fn exports(file: &Path) -> BTreeSet<Export> {
    let text = fs::read_to_string(file).unwrap_or_default();
    let export = |line: &str| -> Option<Export> {
        let (how, arguments) = line.trim_start().strip_prefix("EXPORT_SYMBOL")?.split_once('(')?;
        let mut arguments = arguments.split([',', ')']).map(str::trim);
        let name = arguments.next().filter(|name| !name.is_empty())?.to_owned();
        // A word up to 6.12, a text since 6.13.
        let namespace = arguments.next().map(|word| word.trim_matches('"').to_owned());
        let namespace = namespace.filter(|word| how.starts_with("_NS") && !word.is_empty());
        Some(Export { name, is_gpl_only: how.contains("GPL"), namespace })
    };
    text.lines().filter_map(export).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_module_uses_is_found_beside_it() {
        let dir = tempfile::tempdir().unwrap();
        let text = |name: &str, text: &str| {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        text("user/user.c", "");
        text("user/core.c", "EXPORT_SYMBOL_GPL(one);\nEXPORT_SYMBOL_NS( two , \"N\");\n");
        text("bus/Makefile", "obj-m := the-bus.o\nthe-bus-objs := a.o b.o\n");
        text("bus/a.c", "\tEXPORT_SYMBOL(three);\n");
        text("bus/b.c", "EXPORT_SYMBOL(four);\n");
        text("notes/c.c", "EXPORT_SYMBOL(five);\n");
        let user = Sources::find(&dir.path().join("user/user.c"), None).unwrap();
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        let found = providers(&user, &names(&["two", "three", "five"])).unwrap();
        let called: Vec<_> = found.iter().map(|needed| needed.sources.name.as_str()).collect();
        assert_eq!(called, ["core", "the_bus"]);
        assert_eq!(found[0].names(), names(&["one", "two"]));
        let export = |name: &str, is_gpl_only, namespace: Option<&str>| Export {
            name: name.into(),
            is_gpl_only,
            namespace: namespace.map(str::to_owned),
        };
        assert!(found[0].exports.contains(&export("one", true, None)));
        assert!(found[0].exports.contains(&export("two", false, Some("N"))));
        assert_eq!(found[1].names(), names(&["three", "four"]));
        assert!(providers(&user, &names(&["printk"])).unwrap().is_empty());
    }
}
