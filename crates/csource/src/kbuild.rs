//! Whether a file can be built as a module, by the Makefile of its folder and the options of the whole source.

use crate::tree::Tree;

/// How a file is built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Built {
    /// Into the kernel, or not at all
    In,
    /// As a module, too, if this option says so
    Module(String),
    /// There is no Makefile, or it does not name the file
    Unknown,
}

/// Names that lead from an object to another, at most: of a file, to the module that it is a part of.
const STEPS_MAX: usize = 6;

/// Returns how the file with a path is built.
pub(crate) fn built(tree: &Tree, path: &str) -> Built {
    let (mut folder, mut name) = path.rsplit_once('/').unwrap_or(("", path));
    let mut object = format!("{}.o", name.trim_end_matches(".c"));
    // A Makefile may name objects of the folders below it.
    for _ in 0..3 {
        for makefile in ["Kbuild", "Makefile"] {
            let place = if folder.is_empty() {
                makefile.to_owned()
            } else {
                format!("{folder}/{makefile}")
            };
            let Some(text) = tree.text(&place) else { continue };
            match by_makefile(tree, &text, &object) {
                Built::Unknown => {}
                known => return known,
            }
        }
        let Some((above, last)) = folder.rsplit_once('/') else { break };
        (folder, name) = (above, last);
        object = format!("{name}/{object}");
    }
    Built::Unknown
}

fn by_makefile(tree: &Tree, text: &str, object: &str) -> Built {
    let text = text.replace("\\\n", " ").replace("${", "$(").replace('}', ")");
    let mut wanted = vec![object.to_owned()];
    let mut found = Built::Unknown;
    let mut at = 0;
    while at < wanted.len() && at < STEPS_MAX {
        for line in text.lines() {
            let line = line.split('#').next().unwrap_or_default();
            let Some((left, right)) = line.split_once('=') else { continue };
            let left = left.trim_end_matches([':', '+', '?']).trim();
            let is_named =
                |word: &str| word.trim_end_matches(')') == wanted[at] || word == wanted[at];
            if !right.split_whitespace().any(is_named) {
                continue;
            }
            match target(left) {
                Target::In => found = better(found, Built::In),
                Target::Option(option) if is_tristate(tree, &option) => {
                    return Built::Module(option);
                }
                Target::Option(_) => found = better(found, Built::In),
                Target::Part(whole) if !wanted.contains(&whole) => wanted.push(whole),
                Target::Part(_) => {}
            }
        }
        at += 1;
    }
    found
}

fn better(known: Built, other: Built) -> Built {
    if known == Built::Unknown { other } else { known }
}

/// What the left side of an assignment in a Makefile means.
enum Target {
    /// Built into the kernel
    In,
    /// As an option says
    Option(String),
    /// A part of this object, or of this variable
    Part(String),
}

fn target(left: &str) -> Target {
    let Some((name, when)) = left.split_once('-') else {
        return Target::Part(format!("$({left}"));
    };
    let is_list = matches!(name, "obj" | "lib" | "core" | "drivers" | "head" | "libs");
    let option = when.strip_prefix("$(CONFIG_").map(|rest| {
        rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default()
    });
    match (is_list, option) {
        (true, Some(option)) => Target::Option(option.to_owned()),
        (true, None) if when == "m" => Target::Option(String::new()),
        // $(subst m,y,$(CONFIG_X)) is built in, also for modules.
        (true, None) => Target::In,
        // The name of a module may have a hyphen: the last one ends it.
        (false, _) => {
            let ends = ["-y", "-objs", "-m", "-$("];
            let end = ends.iter().filter_map(|end| left.rfind(end)).max().unwrap_or(name.len());
            Target::Part(format!("{}.o", &left[..end]))
        }
    }
}

/// Returns whether an option can have the value m. One that is always so has no name; one that is not found may.
fn is_tristate(tree: &Tree, option: &str) -> bool {
    if option.is_empty() {
        return true;
    }
    let mut is_found = false;
    for path in tree.kconfigs() {
        let Some(text) = tree.text(path) else { continue };
        let mut is_in = false;
        for line in text.lines() {
            let mut words = line.split_whitespace();
            match words.next() {
                Some("config" | "menuconfig") => {
                    is_in = words.next() == Some(option);
                    is_found |= is_in;
                }
                Some("tristate" | "def_tristate") if is_in => return true,
                _ => {}
            }
        }
    }
    !is_found
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn tree(files: &[(&str, &str)]) -> (tempfile::TempDir, Tree) {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files.iter().chain(&[("include/linux/slab.h", "")]) {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let tree = Tree::open(folder.path()).unwrap();
        (folder, tree)
    }

    #[test]
    fn an_object_is_followed_to_the_option_that_builds_it() {
        let makefile = "obj-y := open.o read.o \\\n\tsuper.o\nobj-$(CONFIG_EVENT) += event.o\n\
            obj-$(CONFIG_EXT9) += ext-9.o\next-9-y := balloc.o dir.o # super.o\next-9-$(CONFIG_ACL) += acl.o\n\
            core := a.o\nobj-y += $(core)\nobj-$(subst m,y,$(CONFIG_EXT9)) += always.o\nobj-y += sub/deep.o\n\
            obj-${CONFIG_EXT9} += brace.o\n";
        let kconfig = "config EVENT\n\tbool \"events\"\nconfig EXT9\n\ttristate \"ext9\"\nconfig ACL\n\tbool\n";
        let (_folder, tree) = tree(&[("fs/Makefile", makefile), ("fs/Kconfig", kconfig)]);
        for (path, expected) in [
            ("fs/super.c", Built::In),
            ("fs/event.c", Built::In),
            ("fs/acl.c", Built::Module("EXT9".into())),
            ("fs/dir.c", Built::Module("EXT9".into())),
            ("fs/a.c", Built::In),
            ("fs/always.c", Built::In),
            ("fs/sub/deep.c", Built::In),
            ("fs/brace.c", Built::Module("EXT9".into())),
            ("fs/nothing.c", Built::Unknown),
            ("mm/open.c", Built::Unknown),
        ] {
            assert_eq!(built(&tree, path), expected, "{path}");
        }
    }

    #[test]
    fn an_option_that_is_nowhere_may_be_a_modules() {
        let (_folder, tree) = tree(&[("fs/Kbuild", "obj-$(CONFIG_X) += x.o\nobj-m += m.o\n")]);
        assert_eq!(built(&tree, "fs/x.c"), Built::Module("X".into()));
        assert_eq!(built(&tree, "fs/m.c"), Built::Module(String::new()));
    }
}
