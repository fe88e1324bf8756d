//! The calls that allocate and free objects, with their arguments.

use std::ops::Range;

use crate::file::{CFile, Function};

/// A function that allocates by `kmalloc`, and what takes its place with a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allocator {
    /// Its name
    pub name: &'static str,
    /// What it is with a cache
    pub with_cache: &'static str,
    /// Whether the first argument is an object or a type, and no size
    pub is_typed: bool,
    /// Whether the object comes cleared, and the function with a cache does not clear
    pub adds_zero: bool,
}

const fn allocator(name: &'static str, with_cache: &'static str) -> Allocator {
    Allocator { name, with_cache, is_typed: false, adds_zero: false }
}

/// The functions that allocate one object of one size. `kmalloc_obj` and `kzalloc_obj` came with Linux 7.0.
const ALLOCATORS: [Allocator; 6] = [
    allocator("kmalloc", "kmem_cache_alloc"),
    allocator("kzalloc", "kmem_cache_zalloc"),
    allocator("kmalloc_node", "kmem_cache_alloc_node"),
    Allocator { adds_zero: true, ..allocator("kzalloc_node", "kmem_cache_alloc_node") },
    Allocator { is_typed: true, ..allocator("kmalloc_obj", "kmem_cache_alloc") },
    Allocator { is_typed: true, ..allocator("kzalloc_obj", "kmem_cache_zalloc") },
];

/// Functions that allocate what has several sizes, or no structure.
const OTHERS: [&str; 34] = [
    "kasprintf",
    "kcalloc",
    "kcalloc_node",
    "kmalloc_array",
    "kmalloc_array_node",
    "kmalloc_flex",
    "kmalloc_node_track_caller",
    "kmalloc_objs",
    "kmalloc_track_caller",
    "kmemdup",
    "kmemdup_array",
    "kmemdup_nul",
    "krealloc",
    "krealloc_array",
    "kstrdup",
    "kstrdup_const",
    "kstrndup",
    "kvasprintf",
    "kvcalloc",
    "kvmalloc",
    "kvmalloc_array",
    "kvmalloc_node",
    "kvmemdup",
    "kvrealloc",
    "kvzalloc",
    "kvzalloc_node",
    "kzalloc_flex",
    "kzalloc_objs",
    "memdup_array_user",
    "memdup_user",
    "memdup_user_nul",
    "strndup_user",
    "vmemdup_array_user",
    "vmemdup_user",
];

/// How an object is freed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Freeing {
    /// At once: `kfree()` and its kin
    Now,
    /// After a grace period: `kfree_rcu()` and its kin
    ByRcu,
}

const FREES: [(&str, Freeing); 8] = [
    ("kfree", Freeing::Now),
    ("kvfree", Freeing::Now),
    ("kfree_sensitive", Freeing::Now),
    ("kfree_const", Freeing::Now),
    ("kfree_rcu", Freeing::ByRcu),
    ("kvfree_rcu", Freeing::ByRcu),
    ("kfree_rcu_mightsleep", Freeing::ByRcu),
    ("kvfree_rcu_mightsleep", Freeing::ByRcu),
];

/// A call in a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Call<T> {
    /// What is called
    pub(crate) what: T,
    /// The token of its name
    pub(crate) at: usize,
    /// The tokens of its arguments
    pub(crate) arguments: Vec<Range<usize>>,
    /// The bracket that ends it
    pub(crate) end: usize,
}

/// Returns the calls that allocate one object, in a function.
pub(crate) fn allocations(file: &CFile, function: &Function) -> Vec<Call<Allocator>> {
    calls(file, function, |name| ALLOCATORS.iter().find(|known| known.name == name).copied())
}

/// Returns the calls that allocate in a way for which a cache of one size is none.
pub(crate) fn other_allocations(file: &CFile, function: &Function) -> Vec<Call<&'static str>> {
    named(file, function, &OTHERS)
}

/// Returns the calls that free.
pub(crate) fn frees(file: &CFile, function: &Function) -> Vec<Call<Freeing>> {
    calls(file, function, |name| {
        FREES.iter().find(|(known, _)| *known == name).map(|(_, how)| *how)
    })
}

/// Returns the calls of functions with these names.
pub(crate) fn named(
    file: &CFile,
    function: &Function,
    names: &[&'static str],
) -> Vec<Call<&'static str>> {
    calls(file, function, |name| names.iter().find(|known| **known == name).copied())
}

/// Returns the functions that a function calls, by name.
pub(crate) fn callees<'a>(file: &'a CFile, function: &Function) -> Vec<&'a str> {
    let names = function.body.clone().filter(|at| file.is_name(*at) && file.word(at + 1) == "(");
    names.map(|at| file.word(at)).collect()
}

fn calls<T>(file: &CFile, function: &Function, known: impl Fn(&str) -> Option<T>) -> Vec<Call<T>> {
    let mut found = Vec::new();
    for at in function.body.clone() {
        if !file.is_name(at) || file.word(at + 1) != "(" {
            continue;
        }
        let Some(what) = known(file.word(at)) else { continue };
        let end = file.closing(at + 1);
        // A call that does not end in its function is a damaged text.
        if end < function.body.end {
            found.push(Call { what, at, arguments: arguments(file, at + 2..end), end });
        }
    }
    found
}

/// Splits what stands between the brackets of a call at its commas.
fn arguments(file: &CFile, within: Range<usize>) -> Vec<Range<usize>> {
    let (mut all, mut from, mut at) = (Vec::new(), within.start, within.start);
    while at < within.end {
        match file.word(at) {
            "(" | "[" | "{" => at = file.closing(at),
            "," => {
                all.push(from..at);
                from = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    if !within.is_empty() {
        all.push(from..within.end);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_end_at_commas_of_their_own() {
        let text = "void f(void) { p = kmalloc(sizeof(*p) + g(1, 2), GFP_KERNEL); kfree(a[i]); }";
        let file = CFile::parse("a.c", text.into());
        let all = allocations(&file, &file.functions[0]);
        let of: Vec<_> = all[0].arguments.iter().map(|range| file.source(range)).collect();
        assert_eq!(of, ["sizeof(*p) + g(1, 2)", "GFP_KERNEL"]);
        let all = frees(&file, &file.functions[0]);
        assert_eq!((all[0].what, file.source(&all[0].arguments[0])), (Freeing::Now, "a[i]"));
    }
}
