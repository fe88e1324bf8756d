//! Where objects of a structure are allocated besides a site, where they are freed, and which frees are certain.
//!
//! # How it works
//! `kfree()` frees an object of any cache, and takes `NULL`; `kmem_cache_free()` does neither. So a free is converted only
//! where nothing else can be meant: the structure is known to its file alone, the site is the only allocation there, and
//! the function looks into the object on every way to the free.

use std::collections::BTreeSet;
use std::ops::Range;
use std::rc::Rc;

use crate::calls::{Call, Freeing, allocations, frees, other_allocations};
use crate::error::Result;
use crate::file::{CFile, Function};
use crate::site::{At, Site, one_line, structure};
use crate::tree::Tree;
use crate::types::{Told, Types, definition, has_value};

/// A free of an object of the structure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Free {
    /// Where
    pub at: At,
    /// The function that frees
    pub function: String,
    /// What frees: `kfree`
    pub call: String,
    /// What is freed, as the source has it
    pub argument: String,
    /// Whether at once or later
    pub how: Freeing,
    /// Whether it becomes `kmem_cache_free()`
    pub is_converted: bool,
    /// The bytes of the name and of the argument, in the file
    pub(crate) range: Range<usize>,
}

/// What a source does with objects of a structure.
#[derive(Debug, Clone, Default)]
pub struct Uses {
    /// Further allocations
    pub others: Vec<At>,
    /// The frees
    pub frees: Vec<Free>,
    /// Frees of what may or may not be such an object
    pub not_told: Vec<At>,
    /// Copies of a part of an object from or to user space, of a size that only the run knows
    pub copied: Vec<At>,
    /// Caches that the structure has already
    pub caches: Vec<At>,
    /// Why no free is certain, if so
    pub unsure: Option<String>,
}

impl Uses {
    /// Looks through all files that name the structure.
    ///
    /// # Errors
    ///
    /// If a file cannot be read.
    pub fn of(tree: &Tree, site: &Site) -> Result<Self> {
        let structure = &site.structure;
        let mut uses = Self::default();
        let makers =
            [format!("KMEM_CACHE({structure}"), format!("KMEM_CACHE_USERCOPY({structure}")];
        let head = format!("struct {structure}");
        let words = [head.as_str(), &makers[0], &makers[1]];
        for file in tree.containing(&words, |_| true)? {
            // A file with a structure of its own of that name has another one.
            if file.path != site.file.path
                && file.path.ends_with(".c")
                && definition(&file, structure).is_some()
            {
                continue;
            }
            uses.add(tree, site, &file);
        }
        uses.judge(site);
        Ok(uses)
    }

    fn add(&mut self, tree: &Tree, site: &Site, file: &Rc<CFile>) {
        let name = site.structure.as_str();
        let types = Types::of(file, tree);
        let at = |token: usize| At { file: file.path.clone(), line: file.line(token) };
        let is_sites = file.path == site.file.path;
        let mut others = BTreeSet::new();
        for function in &file.functions {
            for call in allocations(file, function) {
                let is_site = is_sites && call.at == site.call.at;
                let is_of_it =
                    || structure(file, function, &call, &types).is_ok_and(|one| one == name);
                if !is_site && (is_of_it() || is_assigned(file, function, call.at, &types, name)) {
                    others.insert(call.at);
                }
            }
            for call in other_allocations(file, function) {
                if is_assigned(file, function, call.at, &types, name) {
                    others.insert(call.at);
                }
            }
            others.extend(raw_allocations(file, function, site, &types));
            self.copied.extend(copies(file, function, &types, name).into_iter().map(at));
            for call in frees(file, function) {
                let Some(argument) = call.arguments.first() else { continue };
                match types.told(function, argument) {
                    Told::Structure(one) if one == name => {
                        let is_converted = is_sites && is_certain(file, function, &call);
                        self.frees.push(free(file, function, &call, is_converted));
                    }
                    Told::Unknown => self.not_told.push(at(call.at)),
                    Told::Structure(_) | Told::Other => {}
                }
            }
        }
        let makes = |at: &usize| {
            matches!(file.word(*at), "KMEM_CACHE" | "KMEM_CACHE_USERCOPY")
                && file.follows(at + 1, &["(", name])
        };
        self.caches.extend((0..file.tokens.len()).filter(makes).map(at));
        self.others.extend(others.into_iter().map(at));
        if is_sites {
            let is_typedef = |token: usize| file.follows(token, &["typedef", "struct", name]);
            if definition(file, name).is_none() {
                self.unsure = Some("other files know the structure, too".into());
            } else if let Some(token) = (0..file.tokens.len()).find(|token| is_typedef(*token)) {
                self.unsure = Some(format!("it has another name ({})", at(token)));
            } else if let Some(token) = has_value(file, name) {
                self.unsure = Some(format!("some are parts of others ({})", at(token)));
            }
        }
    }

    fn judge(&mut self, site: &Site) {
        if let Some(other) = self.others.first() {
            self.unsure = Some(format!("others are allocated at {other}"));
        }
        if site.file.path.ends_with(".h") || self.unsure.is_some() {
            self.frees.iter_mut().for_each(|free| free.is_converted = false);
        }
    }
}

fn free(file: &CFile, function: &Function, call: &Call<Freeing>, is_converted: bool) -> Free {
    let argument = &call.arguments[0];
    Free {
        at: At { file: file.path.clone(), line: file.line(call.at) },
        function: function.name.clone(),
        call: file.word(call.at).to_owned(),
        argument: one_line(file.source(argument)),
        how: call.what,
        is_converted,
        range: file.tokens[call.at].at.start..file.tokens[argument.start].at.start,
    }
}

/// Returns whether what a call returns becomes a pointer to `structure`: `X = call(...)`, with or without a cast.
fn is_assigned(
    file: &CFile,
    function: &Function,
    call: usize,
    types: &Types<'_>,
    structure: &str,
) -> bool {
    let Some(mut before) = call.checked_sub(1) else { return false };
    if file.word(before) == ")" {
        match (function.body.start..before).rev().find(|at| file.word(*at) == "(") {
            Some(open) if open > 0 => before = open - 1,
            _ => return false,
        }
    }
    if file.word(before) != "=" {
        return false;
    }
    let is_part =
        |at: &usize| file.is_name(*at) || matches!(file.word(*at), "->" | "." | "[" | "]");
    let from = (function.body.start..before).rev().take_while(is_part).last();
    let Some(mut from) = from else { return false };
    // Of `struct a *p = ...` the name alone is the variable.
    if let Some(name) =
        (from..before).rev().find(|at| file.is_name(*at) && file.is_name(at.saturating_sub(1)))
    {
        from = from.max(name);
    }
    types.pointed_to(function, &(from..before)).is_some_and(|one| one == structure)
}

/// Returns calls of functions that allocate by name only, whose result becomes a pointer to the structure.
fn raw_allocations(
    file: &CFile,
    function: &Function,
    site: &Site,
    types: &Types<'_>,
) -> Vec<usize> {
    let is_raw = |at: &usize| {
        let word = file.word(*at);
        file.is_name(*at)
            && file.word(at + 1) == "("
            && (word.contains("alloc") || word.contains("dup"))
            && word != site.function
            && Some(word) != site.inlined_into.as_deref()
            && !(file.path == site.file.path && *at == site.call.at)
    };
    // What the file defines itself allocates there.
    let is_own = |at: &usize| file.functions.iter().any(|one| one.name == file.word(*at));
    let calls = function.body.clone().filter(|at| is_raw(at) && !is_own(at));
    calls.filter(|at| is_assigned(file, function, *at, types, &site.structure)).collect()
}

/// Functions that copy from or to user space, and check that the memory is of an object that allows it.
const COPIES: [&str; 12] = [
    "copy_to_user",
    "copy_from_user",
    "__copy_to_user",
    "__copy_from_user",
    "copy_to_iter",
    "copy_from_iter",
    "copy_from_sockptr",
    "copy_to_sockptr",
    "strncpy_from_user",
    "copy_struct_from_user",
    "simple_read_from_buffer",
    "simple_write_to_buffer",
];

/// Returns the calls that copy a part of an object from or to user space, unless the size is a constant.
fn copies(file: &CFile, function: &Function, types: &Types<'_>, structure: &str) -> Vec<usize> {
    let is_part = |argument: &Range<usize>| {
        let is_address = file.word(argument.start) == "&";
        let from = argument.start + usize::from(is_address);
        let base = from..from + 1;
        if !file.is_name(from) || types.pointed_to(function, &base).as_deref() != Some(structure) {
            return false;
        }
        let arrows = argument.clone().filter(|at| file.word(*at) == "->").count();
        match arrows {
            0 => argument.len() == 1,
            1 => is_address || types.is_array(structure, file.word(argument.end - 1)),
            _ => false,
        }
    };
    let is_constant = |argument: &Range<usize>| {
        let first = file.word(argument.start);
        first == "sizeof" || argument.len() == 1 && first.bytes().all(|b| !b.is_ascii_lowercase())
    };
    let calls = crate::calls::named(file, function, &COPIES);
    let calls = calls.into_iter().filter(|call| {
        call.arguments.iter().any(is_part) && !call.arguments.last().is_some_and(is_constant)
    });
    calls.map(|call| call.at).collect()
}

/// Returns whether what is freed is an object, and never `NULL`.
fn is_certain(file: &CFile, function: &Function, call: &Call<Freeing>) -> bool {
    let argument = &call.arguments[0];
    if file.word(call.at) != "kfree" || argument.len() != 1 || !file.is_name(argument.start) {
        return false;
    }
    let name = file.word(argument.start);
    let is_it = |at: usize| {
        file.is_name(at)
            && file.word(at) == name
            && !matches!(file.word(at.wrapping_sub(1)), "->" | ".")
    };
    let body = function.body.clone();
    let mut whole = function.parameters.clone().chain(body.clone());
    let is_local = whole.any(|at| is_it(at) && file.word(at.wrapping_sub(1)) == "*");
    if !is_local || body.clone().any(|at| is_it(at) && is_doubt(file, at)) {
        return false;
    }
    (body.start..call.at)
        .rev()
        .filter(|at| is_it(*at))
        .any(|at| is_proof(file, function, at, call.at, name))
}

/// Returns whether a use of a pointer says that it may be `NULL`, or changes it elsewhere.
fn is_doubt(file: &CFile, at: usize) -> bool {
    let (before, next) = (file.word(at.wrapping_sub(1)), file.word(at + 1));
    if matches!(next, "->" | "." | "[") {
        return false;
    }
    let two_before = file.word(at.wrapping_sub(2));
    let is_test = match before {
        "!" => {
            !(file.follows(at.wrapping_sub(3), &["if", "("])
                && file.follows(at + 1, &[")", "return"]))
        }
        "&" | "|" => true,
        "(" => {
            next == ")"
                && matches!(
                    two_before,
                    "if" | "while"
                        | "likely"
                        | "unlikely"
                        | "WARN_ON"
                        | "WARN_ON_ONCE"
                        | "IS_ERR_OR_NULL"
                        | "BUG_ON"
                )
        }
        "=" => matches!(two_before, "=" | "!"),
        _ => false,
    };
    let two_next = file.word(at + 2);
    is_test
        || next == "?"
        || matches!(
            (next, two_next),
            ("=" | "!", "=") | ("&", "&") | ("|", "|") | ("+" | "-", "=" | "+" | "-")
        )
}

/// Returns whether the use at `at` looks into the object on every way to `free`, which frees what it looked into.
fn is_proof(file: &CFile, function: &Function, at: usize, free: usize, name: &str) -> bool {
    let is_container = file.word(at + 1) == "=" && file.word(at + 2).ends_with("container_of");
    if file.word(at + 1) != "->" && !is_container {
        return false;
    }
    let Some((start, block)) = statement(file, function, at) else { return false };
    if file.closing(block) < free {
        return false;
    }
    let before = |word: &str| (start..at).any(|at| file.word(at) == word);
    let is_sign = |one: &str| (start..at).any(|at| file.follows(at, &[one, one]));
    if is_sign("&")
        || is_sign("|")
        || ["?", "sizeof", "typeof", "__typeof__"].iter().any(|word| before(word))
    {
        return false;
    }
    let first = file.word(start);
    if file.word(start + 1) == "(" {
        let end = file.closing(start + 1);
        let is_within = at < end;
        let is_condition = matches!(first, "if" | "while" | "switch");
        // What stands behind the brackets is done as often as they say; a call ends there, or is a part of a sum.
        if first == "for"
            || first.contains("for_each")
            || (!is_within && (is_condition || file.is_name(end + 1)))
        {
            return false;
        }
    }
    if matches!(first, "else" | "do" | "case" | "default" | "for" | "(") {
        return false;
    }
    // A way that comes in between, or another object of the name, is none that was looked into.
    !(at + 1..free).any(|at| {
        let is_label = file.is_name(at)
            && file.word(at + 1) == ":"
            && matches!(file.word(at - 1), ";" | "{" | "}" | ":" | ")");
        let is_changed = file.word(at) == name
            && file.is_name(at)
            && file.word(at + 1) == "="
            && !matches!(file.word(at - 1), "->" | ".");
        let is_cursor = file.word(at).contains("for_each") && file.follows(at + 1, &["(", name]);
        is_label
            || is_changed
            || is_cursor
            || matches!(file.word(at), "case" | "default")
            || file.directive(at).is_some()
    })
}

/// Returns where the statement of a token begins, and the brace of its block.
fn statement(file: &CFile, function: &Function, of: usize) -> Option<(usize, usize)> {
    let first = function.body.start.checked_sub(1)?;
    let (mut blocks, mut depth) = (vec![first], 0usize);
    let mut start = function.body.start;
    for at in function.body.start..of {
        match file.word(at) {
            "(" => depth += 1,
            ")" => depth = depth.saturating_sub(1),
            "{" => {
                blocks.push(at);
                start = at + 1;
            }
            "}" => {
                _ = blocks.pop();
                start = at + 1;
            }
            ";" if depth == 0 => start = at + 1,
            _ if file.directive(at).is_some() => start = at + 1,
            _ => {}
        }
    }
    Some((start, blocks.pop()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site::Wanted;
    use std::fs;

    const HEAD: &str = "struct a { int x; char text[9]; struct b *b; };\n\
        struct a *make(void) { struct a *p = kzalloc(sizeof(*p), GFP_KERNEL); return p; }\n";

    fn uses(text: &str, others: &[(&str, &str)]) -> Uses {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("include/linux")).unwrap();
        let files = [("include/linux/slab.h", ""), ("a.c", text)];
        for (path, text) in files.iter().chain(others) {
            fs::write(folder.path().join(path), text).unwrap();
        }
        let tree = Tree::open(folder.path()).unwrap();
        let wanted =
            Wanted { symbol: "make", place: Some(("a.c", "make", None)), is_size: &|_| None };
        Uses::of(&tree, &Site::find(&tree, &wanted).unwrap()).unwrap()
    }

    fn converted(function: &str) -> bool {
        let uses = uses(&format!("{HEAD}{function}"), &[]);
        assert_eq!(uses.frees.len(), 1, "{function}");
        uses.frees[0].is_converted
    }

    #[test]
    fn a_free_behind_a_look_into_the_object_is_certain() {
        for function in [
            "void f(struct a *p) { p->x = 1; kfree(p); }",
            "void f(struct a *p) { if (p->x) return; g(); kfree(p); }",
            "void f(struct a *p) { if (!p) return; p->x--; { kfree(p); } }",
            "void f(void *v) { struct a *p = container_of(v, struct a, x); kfree(p); }",
            "void f(struct a *p, int n) { g(p->x, n); if (n) kfree(p); }",
        ] {
            assert!(converted(function), "{function}");
        }
    }

    #[test]
    fn a_free_that_may_be_of_null_or_of_another_object_stays() {
        for function in [
            "void f(struct a *p) { kfree(p); }",
            "void f(struct a *p) { kfree(p); p->x = 1; }",
            "void f(struct a *p, int n) { if (n) p->x = 1; kfree(p); }",
            "void f(struct a *p, int n) { if (n) { p->x = 1; } kfree(p); }",
            "void f(struct a *p, int n) { if (n && p->x) g(); kfree(p); }",
            "void f(struct a *p) { if (p) p->x = 1; kfree(p); }",
            "void f(struct a *p) { if (!p) goto out; p->x = 1; out: kfree(p); }",
            "void f(struct a *p, int n) { if (n) goto out; p->x = 1; out: kfree(p); }",
            "void f(struct a *p) { p->x = 1; p = next(); kfree(p); }",
            "void f(struct a *p) { for (; n; n--) p->x = 1; kfree(p); }",
            "void f(struct a *p) { for_each(n) p->x = 1; kfree(p); }",
            "void f(struct a *p) { g(sizeof(p->x)); kfree(p); }",
            "void f(struct a *p, int n) { switch (n) { case 1: p->x = 1; case 2: kfree(p); } }",
            "void f(struct a *p) {\n#ifdef A\np->x = 1;\n#endif\nkfree(p); }",
            "void f(struct a *p) { p->x = 1; set(&p->x); if (p != NULL) kfree(p); }",
            "void f(struct a *p) { p->x = 1; kfree_rcu(p, rcu); }",
            "void f(struct a *p) { p->x = 1; kfree_sensitive(p); }",
            "struct a *q; void f(void) { q->x = 1; kfree(q); }",
        ] {
            assert!(!converted(function), "{function}");
        }
    }

    #[test]
    fn no_free_is_certain_where_others_are_allocated_or_known() {
        let free = "void f(struct a *p) { p->x = 1; kfree(p); }\n";
        for (more, why) in [
            ("void g(struct a *p) { p = kmalloc(sizeof(*p), 0); }", "allocated at a.c:4"),
            ("void g(struct a *p) { p = kmemdup(p, n, 0); }", "allocated at a.c:4"),
            (
                "void g(int n) { struct a *p = (struct a *)kmem_cache_alloc(c, 0); }",
                "allocated at a.c:4",
            ),
            ("struct b { struct a a; };", "parts of others (a.c:4)"),
            ("typedef struct a a_t;", "another name (a.c:4)"),
        ] {
            let uses = uses(&format!("{HEAD}{free}{more}"), &[]);
            assert!(!uses.frees[0].is_converted, "{more}");
            assert!(
                uses.unsure.as_ref().is_some_and(|unsure| unsure.contains(why)),
                "{more}: {uses:?}"
            );
        }
        let (first, rest) = HEAD.split_once('\n').unwrap();
        let uses = uses(&format!("{rest}{free}"), &[("a.h", first)]);
        assert!(uses.unsure.is_some_and(|why| why.contains("other files")));
    }

    #[test]
    fn frees_in_other_files_and_those_not_told_are_named() {
        let other =
            "struct a;\nvoid g(struct a *p, void *v, char *s) { kfree(p);\nkfree(v);\nkfree(s); }";
        let own = "struct a { int other; };\nvoid h(struct a *p) { kfree(p); }";
        let uses = uses(HEAD, &[("b.c", other), ("c.c", own)]);
        let places: Vec<_> = uses.frees.iter().map(|free| free.at.to_string()).collect();
        assert_eq!(places, ["b.c:2"]);
        let places: Vec<_> = uses.not_told.iter().map(ToString::to_string).collect();
        assert_eq!(places, ["b.c:3"]);
    }

    #[test]
    fn copies_of_a_part_to_user_space_are_seen_unless_their_size_is_constant() {
        for (call, count) in [
            ("copy_to_user(to, p->text, n)", 1),
            ("copy_to_user(to, &p->x, n)", 1),
            ("copy_from_user(p, from, n)", 1),
            ("copy_to_user(to, p->text, sizeof(p->text))", 0),
            ("copy_to_user(to, p->b, n)", 0),
            ("copy_to_user(to, v, n)", 0),
        ] {
            let uses = uses(&format!("{HEAD}void f(struct a *p, void *v) {{ {call}; }}"), &[]);
            assert_eq!(uses.copied.len(), count, "{call}");
        }
    }

    #[test]
    fn a_structure_with_a_cache_is_seen() {
        let other = "int init(void) { c = KMEM_CACHE(a, SLAB_PANIC); }";
        let uses = uses(HEAD, &[("b.c", other)]);
        assert_eq!(uses.caches.len(), 1);
    }
}
