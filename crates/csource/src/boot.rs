//! Whether a function runs before the initcalls that make caches: who allocates then finds none.

use std::collections::HashSet;

use crate::error::Result;
use crate::file::{CFile, Function};
use crate::site::At;
use crate::tree::Tree;

/// Initcalls that run before `core_initcall`s, or among them in the order of linking.
const EARLY: [&str; 5] =
    ["early_initcall", "pure_initcall", "core_initcall", "core_initcall_sync", "console_initcall"];
/// System calls for what runs after the initcalls: the first program, and who unpacks its file system.
const LATE: &str = "fs/init.c";

/// Returns the function for the boot that leads to `name` before the cache is made, if there is one.
pub(crate) fn early_caller(tree: &Tree, file: &CFile, name: &str) -> Result<Option<At>> {
    let mut seen = HashSet::new();
    if let Some(at) = early_in(file, name, &mut seen) {
        return Ok(Some(At { file: file.path.clone(), line: file.line(at) }));
    }
    // Callers elsewhere of what the file offers: those that call it by its name, or by a function of a header.
    let is_offered = |one: &&Function| seen.contains(one.name.as_str()) && !one.is_static;
    let offered = file.functions.iter().filter(is_offered);
    let mut names: Vec<String> = offered.map(|one| one.name.clone()).collect();
    for _ in 0..2 {
        let words: Vec<_> = names.iter().map(String::as_str).collect();
        if words.is_empty() {
            break;
        }
        let mut wrappers = Vec::new();
        for other in tree.containing(&words, |path| path != file.path && path != LATE)? {
            for caller in words.iter().flat_map(|name| callers(&other, name)) {
                if caller.is_init && is_early(&other, caller, &mut HashSet::new()) {
                    let line = other.line(caller.name_at);
                    return Ok(Some(At { file: other.path.clone(), line }));
                }
                if other.path.ends_with(".h") {
                    wrappers.push(caller.name.clone());
                }
            }
        }
        names = wrappers;
    }
    Ok(None)
}

/// Follows the callers of a function in its file up to one that runs early.
fn early_in<'a>(file: &'a CFile, name: &str, seen: &mut HashSet<&'a str>) -> Option<usize> {
    let function = file.functions.iter().find(|one| one.name == name)?;
    if !seen.insert(&function.name) {
        return None;
    }
    if function.is_init {
        return is_early(file, function, &mut HashSet::new()).then_some(function.name_at);
    }
    callers(file, &function.name).find_map(|caller| early_in(file, &caller.name, seen))
}

/// Returns whether a function for the boot runs early, as far as its file tells.
fn is_early<'a>(file: &'a CFile, function: &'a Function, seen: &mut HashSet<&'a str>) -> bool {
    if !seen.insert(&function.name) {
        return false;
    }
    if let Some(initcall) = initcall(file, &function.name) {
        return EARLY.contains(&initcall);
    }
    let mut callers = callers(file, &function.name).peekable();
    if !function.is_static || callers.peek().is_none() {
        return true;
    }
    callers.any(|caller| !caller.is_init || is_early(file, caller, seen))
}

/// Returns the macro that registers a function, if one does: `fs_initcall(f);`.
fn initcall<'a>(file: &'a CFile, function: &str) -> Option<&'a str> {
    let is_it = |at: &usize| {
        let word = file.word(*at);
        let is_macro = word.contains("initcall") || word == "module_init";
        is_macro && file.follows(at + 1, &["(", function, ")"])
    };
    (0..file.tokens.len()).find(is_it).map(|at| file.word(at))
}

/// Returns the functions of a file that name another one.
fn callers<'a>(file: &'a CFile, name: &'a str) -> impl Iterator<Item = &'a Function> {
    file.functions.iter().filter(move |one| {
        one.name != name && one.body.clone().any(|at| file.is_name(at) && file.word(at) == name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_early(text: &str) -> bool {
        let folder = tempfile::tempdir().unwrap();
        let tree = Tree::bare(folder.path());
        let file = CFile::parse("a.c", text.into());
        early_caller(&tree, &file, "f").unwrap().is_some()
    }

    #[test]
    fn who_is_called_before_initcalls_is_found() {
        assert!(!is_early("static void f(void) { }"));
        assert!(is_early("static void f(void) { }\nvoid __init mnt_init(void) { f(); }"));
        assert!(is_early(
            "static void f(void) { }\nstatic int __init g(void) { f(); }\ncore_initcall(g);"
        ));
        let text = "static void f(void) { }\nstatic void h(void) { f(); }\nstatic int __init g(void) { h(); }\n";
        assert!(is_early(text));
        assert!(!is_early(&format!("{text}fs_initcall(g);")));
        let text = format!("{text}static int __init k(void) {{ g(); }}\nlate_initcall(k);");
        assert!(!is_early(&text));
    }

    #[test]
    fn callers_in_other_files_of_the_boot_are_seen() {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in [
            ("include/linux/slab.h", ""),
            ("kernel/a.c", "void f(void) { }\n"),
            ("include/linux/a.h", "static inline void g(void) { f(); }\n"),
            ("init/main.c", "void __init start(void)\n{ g(); }\n"),
        ] {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let tree = Tree::open(folder.path()).unwrap();
        let file = tree.file("kernel/a.c").unwrap();
        let found = early_caller(&tree, &file, "f").unwrap().map(|at| at.to_string());
        assert_eq!(found.as_deref(), Some("init/main.c:1"));
    }
}
