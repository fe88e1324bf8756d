//! Which structure an expression points to, by the declarations of a function, its file, and the members of structures.

use std::collections::HashMap;
use std::ops::Range;

use crate::file::{CFile, Function};
use crate::tree::Tree;

/// What a name is declared as.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Declared {
    structure: String,
    /// `*` before the name
    pointers: usize,
}

/// What is told of what an expression points to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Told {
    /// This structure
    Structure(String),
    /// None that is a structure
    Other,
    /// Nothing
    Unknown,
}

/// The names that a range of tokens declares.
type Names = HashMap<String, Option<Declared>>;

/// The structures that variables of a file point to.
#[derive(Debug)]
pub(crate) struct Types<'a> {
    file: &'a CFile,
    /// Of the file itself, outside functions
    outer: Names,
    tree: &'a Tree,
}

impl<'a> Types<'a> {
    pub(crate) fn of(file: &'a CFile, tree: &'a Tree) -> Self {
        let mut outer = Names::new();
        let mut from = 0;
        for function in &file.functions {
            declared(file, from..function.parameters.start.max(from), &mut outer);
            from = function.body.end.max(from);
        }
        declared(file, from..file.tokens.len(), &mut outer);
        Self { file, outer, tree }
    }

    /// Returns the structure to which an expression in a function points; `None` where it cannot be told.
    pub(crate) fn pointed_to(&self, function: &Function, of: &Range<usize>) -> Option<String> {
        let found = self.type_of(function, of)?;
        (found.pointers == 1).then_some(found.structure)
    }

    /// Returns what is told of what an expression in a function points to.
    pub(crate) fn told(&self, function: &Function, of: &Range<usize>) -> Told {
        let file = self.file;
        match self.type_of(function, of) {
            Some(Declared { structure, pointers: 1 }) => return Told::Structure(structure),
            Some(_) => return Told::Other,
            None => {}
        }
        let is_plain = of.len() == 1 && file.is_name(of.start);
        if is_plain {
            let name = file.word(of.start);
            let within = [&function.parameters, &function.body];
            let mut words = within.iter().flat_map(|within| other_types(file, within, name));
            // A pointer to anything may be one to the structure.
            let known =
                words.next().is_some_and(|word| word != "void") && words.all(|word| word != "void");
            return if known { Told::Other } else { Told::Unknown };
        }
        // The last member of a path, in the structure that the path leads to.
        let last = of.end - 1;
        if !file.is_name(last) || last <= of.start + 1 || !matches!(file.word(last - 1), "->" | ".")
        {
            return Told::Unknown;
        }
        let owner = self.type_of(function, &(of.start..last - 1));
        let is_other = owner.and_then(|owner| {
            self.in_definition(&owner.structure, |file, body| {
                let words: Vec<_> = other_types(file, body, self.file.word(last)).collect();
                !words.is_empty() && !words.contains(&"void")
            })
        });
        if is_other == Some(true) { Told::Other } else { Told::Unknown }
    }

    /// Returns whether a member of a structure is an array, or may be one.
    pub(crate) fn is_array(&self, structure: &str, member: &str) -> bool {
        let is_array = |file: &CFile, body: &Range<usize>| {
            body.clone().any(|at| file.follows(at, &[member, "["]))
        };
        self.in_definition(structure, is_array).unwrap_or(true)
    }

    /// Looks into the definition of a structure, in the file or in the rest of the source.
    fn in_definition<T>(
        &self,
        structure: &str,
        look: impl Fn(&CFile, &Range<usize>) -> T,
    ) -> Option<T> {
        if let Some(body) = definition(self.file, structure) {
            return Some(look(self.file, &body));
        }
        let file = self.tree.defining(structure, &self.file.path)?;
        definition(&file, structure).map(|body| look(&file, &body))
    }

    /// Returns the structure that an expression in a function is; `None` where it cannot be told, and for pointers.
    pub(crate) fn value(&self, function: &Function, of: &Range<usize>) -> Option<String> {
        let found = self.type_of(function, of)?;
        (found.pointers == 0).then_some(found.structure)
    }

    fn type_of(&self, function: &Function, of: &Range<usize>) -> Option<Declared> {
        let file = self.file;
        let mut of = of.clone();
        while file.word(of.start) == "(" && file.closing(of.start) + 1 == of.end {
            of = of.start + 1..of.end - 1;
        }
        if of.is_empty() {
            return None;
        }
        let first = file.word(of.start);
        if first == "*" || first == "&" {
            let mut inner = self.type_of(function, &(of.start + 1..of.end))?;
            inner.pointers = match first {
                "*" => inner.pointers.checked_sub(1)?,
                _ => inner.pointers + 1,
            };
            return Some(inner);
        }
        // container_of(x, struct T, member), and what is made of it.
        if first.ends_with("container_of") && file.word(of.start + 1) == "(" {
            let within = of.start + 2..file.closing(of.start + 1);
            let comma = within.clone().find(|at| file.word(*at) == "struct")?;
            let is_whole = file.closing(of.start + 1) + 1 == of.end;
            let structure = file.word(comma + 1).to_owned();
            return is_whole.then_some(Declared { structure, pointers: 1 });
        }
        if !file.is_name(of.start) {
            return None;
        }
        let mut found = self.name(function, first)?;
        let mut at = of.start + 1;
        while at < of.end {
            match file.word(at) {
                "->" | "." if file.is_name(at + 1) => {
                    let is_arrow = file.word(at) == "->";
                    if found.pointers != usize::from(is_arrow) {
                        return None;
                    }
                    found = self.member(&found.structure, file.word(at + 1))?;
                    at += 2;
                }
                "[" => {
                    found.pointers = found.pointers.checked_sub(1)?;
                    at = file.closing(at) + 1;
                }
                _ => return None,
            }
        }
        Some(found)
    }

    fn name(&self, function: &Function, name: &str) -> Option<Declared> {
        let mut names = Names::new();
        declared(self.file, function.parameters.clone(), &mut names);
        declared(self.file, function.body.clone(), &mut names);
        let within = [&function.parameters, &function.body];
        if within.iter().any(|within| is_otherwise(self.file, within, name)) {
            return None;
        }
        match names.remove(name) {
            Some(found) => found,
            None => self.outer.get(name).cloned().flatten(),
        }
    }

    /// Returns what a member of a structure is, from the file or from the rest of the source.
    fn member(&self, structure: &str, member: &str) -> Option<Declared> {
        self.in_definition(structure, |file, body| {
            let mut names = Names::new();
            declared(file, body.clone(), &mut names);
            names.remove(member).flatten()
        })?
    }
}

/// Returns the tokens between the braces of `struct NAME { ... }`.
pub(crate) fn definition(file: &CFile, structure: &str) -> Option<Range<usize>> {
    (0..file.tokens.len().saturating_sub(2))
        .find(|at| {
            file.word(*at) == "struct" && file.word(at + 1) == structure && file.word(at + 2) == "{"
        })
        .map(|at| at + 3..file.closing(at + 2))
}

/// Words before a name, or before the stars before it, that declare nothing.
const NO_TYPES: [&str; 18] = [
    "return",
    "goto",
    "else",
    "case",
    "do",
    "sizeof",
    "const",
    "volatile",
    "static",
    "register",
    "__rcu",
    "__user",
    "__percpu",
    "__iomem",
    "__maybe_unused",
    "__always_unused",
    "__free",
    "typeof",
];

/// Returns whether a range declares a name as something else than a structure, such as `void *name`.
fn is_otherwise(file: &CFile, within: &Range<usize>, name: &str) -> bool {
    other_types(file, within, name).next().is_some()
}

/// Returns the last words of the types, other than structures, that a range declares for a name.
fn other_types<'a>(
    file: &'a CFile,
    within: &Range<usize>,
    name: &'a str,
) -> impl Iterator<Item = &'a str> {
    let start = within.start;
    let of_name = within.clone().filter(move |at| file.is_name(*at) && file.word(*at) == name);
    of_name.filter_map(move |at| {
        let before = (start..at).rev().find(|at| !matches!(file.word(*at), "*" | "const"))?;
        // The tag of a structure may be the name of a variable, too.
        if matches!(file.word(at - 1), "struct" | "union" | "enum") {
            return None;
        }
        let is_struct = before > 0 && file.word(before - 1) == "struct";
        let word = file.word(before);
        (file.is_name(before) && !is_struct && !NO_TYPES.contains(&word)).then_some(word)
    })
}

/// Returns where a file has a structure itself, and no pointer to it: as a member or a variable outside functions.
pub(crate) fn has_value(file: &CFile, structure: &str) -> Option<usize> {
    (0..file.tokens.len()).find(|at| {
        file.follows(*at, &["struct", structure])
            && file.is_name(at + 2)
            && matches!(file.word(at + 3), ";" | "," | "[" | "=")
            && file.function_at(*at).is_none()
    })
}

/// Adds what a range declares as `struct T *a, b[2];`. A name with two types has none.
fn declared(file: &CFile, within: Range<usize>, names: &mut Names) {
    let mut at = within.start;
    while at + 1 < within.end {
        if file.word(at) != "struct" || !file.is_name(at + 1) {
            at += 1;
            continue;
        }
        let structure = file.word(at + 1);
        at += 2;
        if file.word(at) == "{" {
            continue;
        }
        // The declarators, up to what is none.
        while at < within.end {
            let mut pointers = 0;
            while matches!(
                file.word(at),
                "*" | "const" | "volatile" | "__rcu" | "__user" | "__percpu"
            ) {
                pointers += usize::from(file.word(at) == "*");
                at += 1;
            }
            // A function that returns a pointer declares no variable.
            if !file.is_name(at) || file.word(at + 1) == "(" {
                break;
            }
            let name = file.word(at).to_owned();
            at += 1;
            while file.word(at) == "[" {
                pointers += 1;
                at = file.closing(at) + 1;
            }
            let found = Declared { structure: structure.to_owned(), pointers };
            names
                .entry(name)
                .and_modify(|known| {
                    if known.as_ref() != Some(&found) {
                        *known = None;
                    }
                })
                .or_insert(Some(found));
            at = end_of_declarator(file, at, within.end);
            if file.word(at) != "," || file.word(at + 1) == "struct" {
                break;
            }
            at += 1;
        }
    }
}

/// Returns the comma or semicolon behind a declarator with its attributes and its value.
fn end_of_declarator(file: &CFile, from: usize, end: usize) -> usize {
    let mut at = from;
    while at < end {
        match file.word(at) {
            "," | ";" | ")" | "}" => return at,
            "(" | "{" | "[" => at = file.closing(at) + 1,
            _ => at += 1,
        }
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what the expression in the last call `see(EXPRESSION)` points to.
    fn seen(text: &str) -> Option<String> {
        let folder = tempfile::tempdir().unwrap();
        let tree = Tree::bare(folder.path());
        let file = CFile::parse("a.c", text.to_owned());
        let call = (0..file.tokens.len()).rfind(|at| file.word(*at) == "see").unwrap();
        let of = call + 2..file.closing(call + 1);
        let function = file.function_at(call).unwrap();
        Types::of(&file, &tree).pointed_to(function, &of)
    }

    #[test]
    fn a_variable_points_to_the_structure_of_its_declaration() {
        assert_eq!(seen("void f(struct a *p, int n) { see(p); }").as_deref(), Some("a"));
        assert_eq!(
            seen("void f(void) { struct a *p = g(1, 2), *q; see(q); }").as_deref(),
            Some("a")
        );
        assert_eq!(
            seen("void f(void) { struct a *p __free(kfree) = NULL; see((p)); }").as_deref(),
            Some("a")
        );
        assert_eq!(seen("struct a *p; void f(void) { see(p); }").as_deref(), Some("a"));
        assert_eq!(seen("void f(void) { struct a *a; see(a); }").as_deref(), Some("a"));
        assert_eq!(seen("void f(void) { struct a v; see(&v); }").as_deref(), Some("a"));
        assert_eq!(seen("void f(struct a **p) { see(p[0]); }").as_deref(), Some("a"));
        assert_eq!(seen("void f(struct a **p) { see(*p); }").as_deref(), Some("a"));
    }

    #[test]
    fn members_are_followed_through_structures_of_the_file() {
        let text =
            "struct b { int x; struct a *one, *two; };\nvoid f(struct b *p) { see(p->two); }";
        assert_eq!(seen(text).as_deref(), Some("a"));
        let text = "struct b { struct a *one; };\nvoid f(struct b v) { see(v.one); }";
        assert_eq!(seen(text).as_deref(), Some("a"));
        let text = "void f(void *v) { see(container_of(v, struct a, rcu)); }";
        assert_eq!(seen(text).as_deref(), Some("a"));
    }

    #[test]
    fn what_is_not_declared_or_declared_twice_is_not_known() {
        for text in [
            "void f(void *p) { see(p); }",
            "void f(void) { struct a *p; { struct b *p; see(p); } }",
            "void f(struct a **p) { see(p); }",
            "void f(struct a *p) { see(p + 1); }",
            "void f(struct a *p) { see(g(p)); }",
            "struct a *g(void); void f(void) { see(g); }",
            "void f(struct b *p) { see(p->not_there); }",
            "struct a *p; void f(void) { void *p; see(p); }",
            "struct a *p; void f(union u *p) { see(p); }",
            "void f(void) { struct a *p; { u8 p; } see(p); }",
        ] {
            assert_eq!(seen(text), None, "{text}");
        }
    }
}
