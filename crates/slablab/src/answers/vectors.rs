//! The vectors of accounting and allocation profiling, before and after a change.

use std::collections::BTreeSet;

use slablab_replay::{Allocator, VectorsOfCache, VectorsUnder, WhatIf};
use slablab_report::{Cell, Item, Section, Table, field, human};

/// Says what the vectors of an allocator take; nothing where none were computed.
pub(super) fn sentence(before: &Allocator, after: &Allocator) -> Option<String> {
    let (before_has, after_has) = (before.vectors.as_ref()?, after.vectors.as_ref()?);
    let (beside, inside) = after_has.slabs_end();
    let held = |of: &Allocator| human(of.held_bytes.end as f64, "B");
    Some(format!(
        "{}: {} held at the end instead of {}; vectors take {} instead of {}, beside {beside} slabs, and {inside} slabs have \
         room for theirs.",
        before.allocator,
        held(after),
        held(before),
        human(after_has.bytes.end as f64, "B"),
        human(before_has.bytes.end as f64, "B"),
    ))
}

/// A cache with vectors on either side.
struct Row<'a> {
    allocator: &'a str,
    cache: &'a str,
    before: Option<&'a VectorsOfCache>,
    after: Option<&'a VectorsOfCache>,
}

impl Row<'_> {
    fn bytes(&self) -> (u64, u64) {
        let of = |cache: Option<&VectorsOfCache>| cache.map_or(0, |cache| cache.bytes_end);
        (of(self.before), of(self.after))
    }
}

/// Returns the allocators before and after.
pub(super) fn pairs(what_if: &WhatIf) -> impl Iterator<Item = (&Allocator, &Allocator)> {
    what_if.before.allocators.iter().zip(&what_if.after.allocators)
}

/// Returns the table of vectors by cache; an empty section where none were computed.
pub(super) fn section(what_if: &WhatIf) -> Section {
    let mut rows = Vec::new();
    for (before, after) in pairs(what_if) {
        let (Some(before_has), Some(after_has)) = (&before.vectors, &after.vectors) else {
            continue;
        };
        let both = before_has.caches.iter().chain(&after_has.caches);
        let names: BTreeSet<&str> = both.map(|cache| cache.cache.as_str()).collect();
        let find = |of: &'_ VectorsUnder, name: &str| {
            of.caches.iter().position(|cache| cache.cache == name)
        };
        rows.extend(names.into_iter().map(|cache| Row {
            allocator: &before.allocator,
            cache,
            before: find(before_has, cache).map(|at| &before_has.caches[at]),
            after: find(after_has, cache).map(|at| &after_has.caches[at]),
        }));
    }
    if rows.is_empty() {
        return Section::default();
    }
    rows.sort_by_key(|row| {
        let (before, after) = row.bytes();
        std::cmp::Reverse(before.max(after))
    });
    let cell = |read: fn(&VectorsOfCache) -> Cell| {
        let of = move |cache: Option<&VectorsOfCache>| cache.map_or(Cell::Missing, read);
        (move |row: &Row<'_>| of(row.before), move |row: &Row<'_>| of(row.after))
    };
    let entry = cell(|cache| Cell::Count(cache.entry_bytes));
    let beside = cell(|cache| Cell::Count(cache.beside_end));
    let inside = cell(|cache| Cell::Count(cache.inside_end));
    let bytes = cell(|cache| Cell::Bytes(cache.bytes_end));
    let mut fields = vec![
        field::name("cache", "cache", |row: &Row<'_>| row.cache),
        field::by("entry, B", "entry_bytes_before", entry.0),
        field::by("after", "entry_bytes_after", entry.1),
        field::by("beside", "slabs_beside_before", beside.0),
        field::by("after", "slabs_beside_after", beside.1),
        field::by("inside", "slabs_inside_before", inside.0),
        field::by("after", "slabs_inside_after", inside.1),
        field::by("bytes", "vector_bytes_before", bytes.0),
        field::by("after", "vector_bytes_after", bytes.1),
    ];
    if what_if.before.allocators.len() > 1 {
        fields.insert(1, field::name("allocator", "allocator", |row: &Row<'_>| row.allocator));
    }
    let how = "At the end: slabs with a vector of an entry for each object, beside them in a cache of kmalloc or in their own \
               space, and the bytes of those beside.";
    Section::named(
        "vectors",
        "Vectors by cache",
        vec![Item::table("", how, Table::of_fields(&rows, fields))],
    )
}

/// Says what the structures take of caches that come or go; nothing where there are none.
pub(super) fn structures(bytes: i64) -> Option<String> {
    let what = if bytes > 0 { "come and take" } else { "go with their" };
    (bytes != 0).then(|| {
        format!(
            "Beside these numbers caches of kmalloc {what} {} of structures and files in sysfs.",
            human(bytes.unsigned_abs() as f64, "B")
        )
    })
}
