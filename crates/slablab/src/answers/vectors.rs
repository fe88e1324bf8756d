//! The vectors of accounting and allocation profiling, before and after a change.

use slablab_replay::{Allocator, VectorsOfCache, WhatIf};
use slablab_report::{Cell, Item, Section, human};

use super::cache_pair::{Both, CachePair, pairs, table};

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

/// Returns the table of vectors by cache; an empty section where none were computed.
pub(super) fn section(what_if: &WhatIf) -> Section {
    let mut rows = Vec::new();
    for (before, after) in pairs(what_if) {
        let (Some(before_has), Some(after_has)) = (&before.vectors, &after.vectors) else {
            continue;
        };
        let (before_has, after_has) = (&before_has.caches, &after_has.caches);
        rows.extend(CachePair::of(&before.allocator, before_has, after_has, |cache| &cache.cache));
    }
    if rows.is_empty() {
        return Section::default();
    }
    rows.sort_by_key(|row| {
        let (before, after) = row.numbers(|cache| cache.bytes_end);
        std::cmp::Reverse(before.max(after))
    });
    let count = |head, key, read| Both::<VectorsOfCache> { head, key, read };
    let columns = [
        count("entry, B", "entry_bytes", |cache| Cell::Count(cache.entry_bytes)),
        count("beside", "slabs_beside", |cache| Cell::Count(cache.beside_end)),
        count("inside", "slabs_inside", |cache| Cell::Count(cache.inside_end)),
        count("bytes", "vector_bytes", |cache| Cell::Bytes(cache.bytes_end)),
    ];
    let how = "At the end: slabs with a vector of an entry for each object, beside them in a cache of kmalloc or in their own \
               space, and the bytes of those beside.";
    Section::named(
        "vectors",
        "Vectors by cache",
        vec![Item::table("", how, table(what_if, &rows, &columns, None))],
    )
}

/// Says what the structures take of caches that come or go; nothing where there are none.
pub(super) fn structures(bytes: i64) -> Option<String> {
    let what = if bytes > 0 { "come and take" } else { "go and give back" };
    (bytes != 0).then(|| {
        format!(
            "Beside these numbers caches of kmalloc {what} {} of structures and files in sysfs.",
            human(bytes.unsigned_abs() as f64, "B")
        )
    })
}
