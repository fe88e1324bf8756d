//! Whether a function runs before the initcalls that make caches: who allocates then finds none.

use std::collections::HashSet;

use crate::error::{Error, Result};
use crate::file::{CFile, Function};
use crate::site::At;
use crate::tree::Tree;

/// Initcalls that run before `core_initcall`s, or among them in the order of linking.
const EARLY: [&str; 5] =
    ["early_initcall", "pure_initcall", "core_initcall", "core_initcall_sync", "console_initcall"];
/// System calls for what runs after the initcalls: the first program, and who unpacks its file system.
const LATE: &str = "fs/init.c";

/// Functions that are followed at most: with more of them nothing is known of the first calls.
const FUNCTIONS_MAX: usize = 600;

/// A function whose callers are looked for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Reached {
    file: String,
    name: String,
    /// Whether its file alone may call it by name
    is_local: bool,
}

/// Returns the function for the boot that leads to `name` before the cache is made, if there is one.
///
/// Callers are followed by name, up to system calls, which run after the boot, and to functions that are called by pointer
/// alone.
///
/// # Errors
///
/// If a file cannot be read, or there are too many callers to tell.
pub(crate) fn early_caller(tree: &Tree, file: &CFile, name: &str) -> Result<Option<At>> {
    let Some(first) = file.functions.iter().find(|one| one.name == name) else { return Ok(None) };
    if first.is_init && is_early(file, first, &mut HashSet::new()) {
        return Ok(Some(place(file, first)));
    }
    let first = reached(file, first);
    let mut seen = HashSet::from([first.clone()]);
    let mut level = vec![first];
    while !level.is_empty() {
        let mut next = Vec::new();
        for one in &level {
            let read = (one.file != file.path).then(|| tree.file(&one.file)).transpose()?;
            let own = read.as_deref().unwrap_or(file);
            if let Some(found) = take(own, &one.name, &mut seen, &mut next) {
                return Ok(Some(found));
            }
        }
        let offered: Vec<&Reached> = level.iter().filter(|one| !one.is_local).collect();
        let words: Vec<&str> = offered.iter().map(|one| one.name.as_str()).collect();
        let others = match words.is_empty() {
            true => Vec::new(),
            false => tree.containing(&words, |path| path != LATE)?,
        };
        for other in others {
            // A function of the same name that is local to its file is another one.
            let hides =
                |name: &str| other.functions.iter().any(|one| one.name == name && one.is_static);
            for one in offered.iter().filter(|one| one.file != other.path && !hides(&one.name)) {
                if let Some(found) = take(&other, &one.name, &mut seen, &mut next) {
                    return Ok(Some(found));
                }
            }
        }
        if seen.len() > FUNCTIONS_MAX {
            let why = format!(
                "more than {FUNCTIONS_MAX} functions lead to it, too many to tell whether one runs before a cache can be made"
            );
            return Err(Error::unclear(format!("{name}()"), why));
        }
        level = next;
    }
    Ok(None)
}

/// Takes the callers of a function in a file: returns one for the boot that runs early, and adds others to `next`.
fn take(
    file: &CFile,
    name: &str,
    seen: &mut HashSet<Reached>,
    next: &mut Vec<Reached>,
) -> Option<At> {
    for caller in callers(file, name).filter(|caller| !caller.is_syscall) {
        if caller.is_init {
            if is_early(file, caller, &mut HashSet::new()) {
                return Some(place(file, caller));
            }
            continue;
        }
        let caller = reached(file, caller);
        if seen.insert(caller.clone()) {
            next.push(caller);
        }
    }
    None
}

fn reached(file: &CFile, function: &Function) -> Reached {
    // A function of a header is in each file that has it.
    let is_local = function.is_static && !file.path.ends_with(".h");
    Reached { file: file.path.clone(), name: function.name.clone(), is_local }
}

fn place(file: &CFile, function: &Function) -> At {
    At { file: file.path.clone(), line: file.line(function.name_at) }
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

    /// Returns the place of the early caller of `f` in `kernel/a.c`.
    fn found(files: &[(&str, &str)]) -> Result<Option<String>> {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files.iter().chain(&[("include/linux/slab.h", "")]) {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let tree = Tree::open(folder.path()).unwrap();
        let file = tree.file("kernel/a.c").unwrap();
        Ok(early_caller(&tree, &file, "f")?.map(|at| at.to_string()))
    }

    #[test]
    fn callers_of_callers_in_other_files_are_followed_up_to_system_calls() {
        let a = ("kernel/a.c", "void f(void) { }\n");
        let b = ("fs/b.c", "static void f2(void) { f(); }\nint g(void) { f2(); }\n");
        let c = ("mm/c.c", "void __init mnt_init(void)\n{ g(); }\n");
        assert_eq!(found(&[a, b, c]).unwrap().as_deref(), Some("mm/c.c:1"));
        let syscall =
            ("mm/c.c", "SYSCALL_DEFINE0(g)\n{ g(); }\nvoid __init x(void) { sys_g(); }\n");
        assert_eq!(found(&[a, b, syscall]).unwrap(), None);
        // Another function of that name, local to its file.
        let other = ("mm/c.c", "static int g(void) { }\nvoid __init x(void)\n{ g(); }\n");
        assert_eq!(found(&[a, b, other]).unwrap(), None);
        let many: String = (0..700).map(|i| format!("void h{i}(void) {{ f(); }}\n")).collect();
        assert!(found(&[a, ("mm/d.c", &many)]).is_err());
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
