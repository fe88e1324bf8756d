//! The allocation that a call site of a trace is, and the structure that it allocates.

use std::collections::HashSet;
use std::fmt;
use std::ops::Range;
use std::rc::Rc;

use crate::calls::{Allocator, Call, allocations, callees, other_allocations};
use crate::error::{Error, Result};
use crate::file::{CFile, Function};
use crate::tree::Tree;
use crate::types::{Types, definition};

/// Functions that a compiler puts one into another, at most.
const INLINED_MAX: usize = 3;
/// Places that a message names, at most.
const NAMED_MAX: usize = 5;

/// A line of a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct At {
    /// The file's path from the top of the source
    pub file: String,
    /// The line, counted from 1
    pub line: usize,
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// What is known of a call site.
pub struct Wanted<'a> {
    /// The symbol of the function whose code it is in
    pub symbol: &'a str,
    /// File, function and line, if debug information has them
    pub place: Option<(&'a str, &'a str, Option<usize>)>,
    /// Returns whether a structure has the recorded size, if that is known
    pub is_size: &'a dyn Fn(&str) -> Option<bool>,
}

impl fmt::Debug for Wanted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wanted").field("symbol", &self.symbol).finish_non_exhaustive()
    }
}

/// An allocation of one structure.
#[derive(Debug, Clone)]
pub struct Site {
    /// The structure
    pub structure: String,
    /// The function that has the allocation
    pub function: String,
    /// The function whose code has that function's, where it is another
    pub inlined_into: Option<String>,
    /// Where it is
    pub at: At,
    pub(crate) file: Rc<CFile>,
    pub(crate) call: Call<Allocator>,
}

impl Site {
    /// Finds the allocation of a call site.
    ///
    /// # Errors
    ///
    /// If the function is not in the source or more than once, has no or several allocations, or allocates several sizes.
    pub fn find(tree: &Tree, wanted: &Wanted<'_>) -> Result<Self> {
        let candidates = candidates(tree, wanted)?;
        let mut found = Vec::new();
        for (file, function) in &candidates {
            let name = &file.functions[*function];
            match one_of(file, name, wanted, tree) {
                Ok(Some(one)) => found.push(Ok(one)),
                Ok(None) => {}
                Err(error) => found.push(Err(error)),
            }
        }
        match found.len() {
            1 => found.remove(0),
            0 => {
                let (file, function) = &candidates[0];
                let function = &file.functions[*function];
                Err(Error::unclear(
                    file.place(function.name_at),
                    format!("{}() allocates nothing by kmalloc() in this source", function.name),
                ))
            }
            _ => {
                let places =
                    candidates.iter().map(|(file, at)| file.place(file.functions[*at].name_at));
                Err(Error::unclear(
                    format!("{}()", wanted.symbol),
                    format!("the source defines it more than once: {}", named(places)),
                ))
            }
        }
    }

    /// Returns the gfp argument as the source has it; `None` where it has none.
    pub(crate) fn gfp(&self) -> Option<&str> {
        self.call.arguments.get(1).map(|gfp| self.file.source(gfp))
    }
}

/// Lists the first places.
pub(crate) fn named(places: impl Iterator<Item = String>) -> String {
    let all: Vec<_> = places.collect();
    let more = all.len().saturating_sub(NAMED_MAX);
    let mut text = all[..all.len() - more].join(", ");
    if more > 0 {
        text += &format!(" and {more} more");
    }
    text
}

/// Returns the functions that may be the wanted one: files, and indices of functions in them. There is at least one.
fn candidates(tree: &Tree, wanted: &Wanted<'_>) -> Result<Vec<(Rc<CFile>, usize)>> {
    let in_file = |file: &Rc<CFile>, is_it: &dyn Fn(&Function) -> bool| -> Vec<_> {
        let all = file.functions.iter().enumerate();
        all.filter(|(_, one)| is_it(one)).map(|(at, _)| (Rc::clone(file), at)).collect()
    };
    // Names come from outside: only a file that the source has is opened.
    if let Some((path, name, _)) = wanted.place.filter(|(path, ..)| tree.has(path)) {
        let file = tree.file(path)?;
        let found = in_file(&file, &|one| one.name == name || one.is_symbol(name));
        if !found.is_empty() {
            return Ok(found);
        }
    }
    let symbol = wanted.symbol.split('.').next().unwrap_or_default();
    let word = symbol.split_once("_sys_").filter(|_| symbol.starts_with("__"));
    let word = word.map_or(symbol, |(_, name)| name);
    let is_word = !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if !is_word {
        return Err(Error::unclear(wanted.symbol, "no function has such a name"));
    }
    for ending in [".c", ".h"] {
        let files = tree.containing(&[word], |path| path.ends_with(ending))?;
        let found: Vec<_> =
            files.iter().flat_map(|file| in_file(file, &|one| one.is_symbol(symbol))).collect();
        if !found.is_empty() {
            return Ok(found);
        }
    }
    Err(Error::unclear(format!("{symbol}()"), "no file of the source defines it"))
}

/// Returns the one allocation of a function; `None` if it has none.
fn one_of(
    file: &Rc<CFile>,
    function: &Function,
    wanted: &Wanted<'_>,
    tree: &Tree,
) -> Result<Option<Site>> {
    let line = wanted.place.and_then(|(path, _, line)| line.filter(|_| path == file.path));
    let mut holder = function;
    let mut all = allocations(file, holder);
    let mut others = other_allocations(file, holder);
    if let Some(line) = line {
        let is_there = |at: usize, end: usize| (file.line(at)..=file.line(end)).contains(&line);
        let here: Vec<_> = all.iter().filter(|one| is_there(one.at, one.end)).cloned().collect();
        let other: Vec<_> =
            others.iter().filter(|one| is_there(one.at, one.end)).cloned().collect();
        if here.len() + other.len() == 1 {
            (all, others) = (here, other);
        }
    }
    if all.is_empty() && others.is_empty() {
        let inlined = inlined(file, function);
        let many: Vec<_> = inlined.iter().flat_map(|one| allocations(file, one)).collect();
        let more: Vec<_> = inlined.iter().flat_map(|one| other_allocations(file, one)).collect();
        match (&inlined[..], many.len(), more.len()) {
            ([], ..) => return Ok(None),
            (all, 1, 0) => {
                let has_it = |one: &&&Function| one.body.contains(&many[0].at);
                holder = all.iter().find(has_it).unwrap_or(&all[0]);
            }
            (_, 0, 1..) => {}
            _ => {
                let at = many.iter().map(|one| one.at).chain(more.iter().map(|one| one.at));
                return Err(several(file, function, at));
            }
        }
        (all, others) = (many, more);
    }
    let types = Types::of(file, tree);
    let call = match (&all[..], &others[..]) {
        ([only], []) => only,
        ([], [other, ..]) => return Err(refusal(file, other)),
        _ => {
            // The size that was recorded tells them apart.
            let is_size = |call: &&Call<Allocator>| {
                let structure = structure(file, holder, call, &types).ok();
                structure.and_then(|one| (wanted.is_size)(&one)) == Some(true)
            };
            let mut of_size = all.iter().filter(is_size);
            match (of_size.next(), of_size.next()) {
                (Some(only), None) => only,
                _ => {
                    let at = all.iter().map(|one| one.at).chain(others.iter().map(|one| one.at));
                    return Err(several(file, function, at));
                }
            }
        }
    };
    let structure = structure(file, holder, call, &types)?;
    if (wanted.is_size)(&structure) == Some(false) {
        return Err(Error::unclear(
            file.place(call.at),
            format!(
                "struct {structure} has not the size that was recorded: the site is another allocation, or this is another kernel"
            ),
        ));
    }
    Ok(Some(Site {
        structure,
        function: holder.name.clone(),
        inlined_into: (holder.name != function.name).then(|| function.name.clone()),
        at: At { file: file.path.clone(), line: file.line(call.at) },
        file: Rc::clone(file),
        call: call.clone(),
    }))
}

/// Why an allocation has several sizes.
const FROM_OUTSIDE: &str = "allocates here, whose sizes come from outside: a cache of one size would overflow with the next";

/// Returns why an allocation that is none of one object by its size gets no cache.
fn refusal(file: &CFile, call: &Call<&'static str>) -> Error {
    let is_size = |argument: &Range<usize>| operand(file, argument).is_some();
    let place = file.place(call.at);
    match call.what.contains("memdup") && call.arguments.iter().any(is_size) {
        true => Error::unclear(
            place,
            format!(
                "{}() allocates and copies: it takes an allocation and a copy of their own",
                call.what
            ),
        ),
        false => Error::unsuitable(place, format!("{}() {FROM_OUTSIDE}", call.what)),
    }
}

fn several(file: &CFile, function: &Function, at: impl Iterator<Item = usize>) -> Error {
    Error::unclear(
        file.place(function.name_at),
        format!(
            "{}() allocates at several places ({}): debug information of the recorded kernel tells which one it is (--vmlinux)",
            function.name,
            named(at.map(|at| file.place(at)))
        ),
    )
}

/// Returns the static functions of the file that a compiler may have put into `function`, and that allocate.
fn inlined<'a>(file: &'a CFile, function: &'a Function) -> Vec<&'a Function> {
    let (mut seen, mut found) = (HashSet::new(), Vec::new());
    let mut level = vec![function];
    for _ in 0..INLINED_MAX {
        let mut next = Vec::new();
        for name in level.iter().flat_map(|one| callees(file, one)) {
            let callee = file.functions.iter().find(|one| one.is_static && one.name == name);
            if let Some(callee) = callee.filter(|_| seen.insert(name)) {
                let is_holder = !allocations(file, callee).is_empty()
                    || !other_allocations(file, callee).is_empty();
                found.extend(is_holder.then_some(callee));
                next.push(callee);
            }
        }
        level = next;
    }
    found
}

/// Returns the structure that a call allocates.
pub(crate) fn structure(
    file: &CFile,
    function: &Function,
    call: &Call<Allocator>,
    types: &Types<'_>,
) -> Result<String> {
    let name = call.what.name;
    let Some(size) = call.arguments.first() else {
        return Err(Error::unclear(file.place(call.at), format!("{name}() has no argument")));
    };
    let of = if call.what.is_typed { Some(size.clone()) } else { operand(file, size) };
    let Some(of) = of else {
        let text = one_line(file.source(size));
        // What has no small letter is a constant.
        return Err(match text.bytes().any(|b| b.is_ascii_lowercase()) {
            true => Error::unsuitable(
                file.place(call.at),
                format!("{name}({text}, ...) {FROM_OUTSIDE}"),
            ),
            false => Error::unclear(
                file.place(call.at),
                format!(
                    "{name}({text}, ...) allocates no structure, after which a cache could be called"
                ),
            ),
        });
    };
    let found = match file.word(of.start) {
        "struct" if of.len() == 2 => Some(file.word(of.start + 1).to_owned()),
        _ => types.value(function, &of),
    };
    let found = found.ok_or_else(|| {
        Error::unclear(
            file.place(call.at),
            format!(
                "the type of {} in {}() is not told by its declarations",
                one_line(file.source(&of)),
                function.name
            ),
        )
    })?;
    let is_local =
        definition(file, &found).is_some_and(|body| file.function_at(body.start).is_some());
    match is_local {
        true => Err(Error::unclear(
            file.place(call.at),
            format!("struct {found} is local to a function"),
        )),
        false => Ok(found),
    }
}

/// Returns what `sizeof` is asked of, if a size is that and nothing else.
fn operand(file: &CFile, size: &Range<usize>) -> Option<Range<usize>> {
    let mut size = size.clone();
    while file.word(size.start) == "(" && file.closing(size.start) + 1 == size.end {
        size = size.start + 1..size.end - 1;
    }
    if file.word(size.start) != "sizeof" {
        return None;
    }
    let of = size.start + 1..size.end;
    match file.word(of.start) {
        "(" if file.closing(of.start) + 1 == of.end => Some(of.start + 1..of.end - 1),
        "(" => None,
        // A unary operator takes what is behind it up to the next sign of a sum or product.
        _ => {
            let is_plain = of.clone().skip(1).all(|at| {
                file.is_name(at) || matches!(file.word(at), "->" | "." | "[" | "]" | "*")
            });
            let stars = of.clone().filter(|at| file.word(*at) == "*").count();
            let leading = of.clone().take_while(|at| file.word(*at) == "*").count();
            (is_plain && stars == leading).then_some(of)
        }
    }
}

/// Returns a text in one line.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, symbol: &str) -> Result<Site> {
        find(text, symbol, None, &|_| None)
    }

    fn find(
        text: &str,
        symbol: &str,
        line: Option<usize>,
        is_size: &dyn Fn(&str) -> Option<bool>,
    ) -> Result<Site> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("include/linux")).unwrap();
        std::fs::write(folder.path().join("include/linux/slab.h"), "").unwrap();
        std::fs::write(folder.path().join("a.c"), text).unwrap();
        let tree = Tree::open(folder.path()).unwrap();
        let place = line.map(|line| ("a.c", symbol, Some(line)));
        Site::find(&tree, &Wanted { symbol, place, is_size })
    }

    #[test]
    fn the_only_allocation_of_a_function_is_its_site() {
        for text in [
            "void f(void) {\nstruct a *p = kmalloc(sizeof(*p), GFP_KERNEL); }",
            "void f(void) {\nvoid *p = kzalloc(sizeof(struct a), GFP_ATOMIC); }",
            "void f(struct a *p) {\np = kzalloc_node(sizeof *p, GFP_KERNEL, 1); }",
            "void f(struct a *p) {\np = kmalloc_obj(*p); }",
            "void f(void) {\nvoid *p = kzalloc_obj(struct a, GFP_KERNEL); }",
            "static void g(void) { h();\n}\nvoid f(void) { }",
        ] {
            match found(text, "f.part.0") {
                Ok(site) => assert_eq!((site.structure.as_str(), site.at.line), ("a", 2), "{text}"),
                Err(error) => assert!(error.to_string().contains("allocates nothing"), "{error}"),
            }
        }
    }

    #[test]
    fn a_static_function_that_is_called_may_be_a_part_of_the_symbol() {
        let text = "static struct a *g(void)\n{ return kmalloc(sizeof(struct a), GFP_KERNEL); }\n\
            static int h(void) { g(); }\nint f(void) { h(); }";
        let site = found(text, "f").unwrap();
        assert_eq!((site.function.as_str(), site.inlined_into.as_deref()), ("g", Some("f")));
        let twice = text
            .replace("g(); }", "g(); k(); } static void k(void) { kmalloc(sizeof(struct b), 0); }");
        assert!(found(&twice, "f").unwrap_err().to_string().contains("several places"));
    }

    #[test]
    fn of_several_allocations_the_line_or_the_size_tells_one() {
        let text = "void f(struct a *p, struct b *q) {\np = kmalloc(sizeof(*p), GFP_KERNEL);\n\
            q = kmalloc(sizeof(*q),\nGFP_KERNEL); }";
        let error = found(text, "f").unwrap_err().to_string();
        assert!(error.contains("a.c:2, a.c:3") && error.contains("--vmlinux"), "{error}");
        assert_eq!(find(text, "f", Some(4), &|_| None).unwrap().structure, "b");
        assert_eq!(find(text, "f", None, &|one| Some(one == "a")).unwrap().structure, "a");
        let error = find(text, "f", Some(4), &|one| Some(one == "a")).unwrap_err().to_string();
        assert!(error.contains("struct b has not the size that was recorded"), "{error}");
    }

    #[test]
    fn sizes_from_outside_are_refused_with_their_line() {
        for size in [
            "size",
            "sizeof(*p) + n",
            "struct_size(p, v, n)",
            "sizeof(*p) * n",
            "2 * sizeof(*p)",
            "sizeof *p + n",
        ] {
            let text =
                format!("void f(struct a *p, int n) {{\np = kmalloc({size}, GFP_KERNEL); }}");
            let error = found(&text, "f").unwrap_err();
            assert!(matches!(error, Error::Unsuitable { .. }), "{size}");
            let error = error.to_string();
            assert!(error.starts_with("a.c:2: kmalloc(") && error.contains("overflow"), "{error}");
        }
        let error = found("void f(void) { p = kmalloc(PAGE_SIZE, GFP_KERNEL); }", "f").unwrap_err();
        assert!(matches!(error, Error::Unclear { .. }), "{error}");
        let error = found("void f(void) { p = kmemdup(a, sizeof(*a), 0); }", "f").unwrap_err();
        assert!(error.to_string().contains("allocates and copies"), "{error}");
        let error = found("void f(void) { p = kmemdup(a, n, GFP_KERNEL); }", "f").unwrap_err();
        assert!(error.to_string().contains("kmemdup() allocates here"), "{error}");
    }

    #[test]
    fn what_is_not_one_function_is_refused() {
        let error =
            found("void f(void) { kmalloc(sizeof(struct a), 0); }", "g").unwrap_err().to_string();
        assert_eq!(error, "g(): no file of the source defines it");
        let twice = "void f(void) { kmalloc(sizeof(struct a), 0); }\nvoid f(int x) { kmalloc(sizeof(struct b), 0); }";
        assert!(
            found(twice, "f").unwrap_err().to_string().contains("more than once: a.c:1, a.c:2")
        );
        // A stub of the same name allocates nothing.
        let stub = "void f(void) { }\nvoid f(int x) { kmalloc(sizeof(struct b), 0); }";
        assert_eq!(found(stub, "f").unwrap().structure, "b");
        assert!(found("", "../../etc/passwd").is_err());
        let local = "void f(void) { struct a { int x; } *p = kmalloc(sizeof(struct a), 0); }";
        assert!(found(local, "f").unwrap_err().to_string().contains("local to a function"));
    }
}
