//! What a cache has before and after a change: the rows of the tables of `whatif` by cache.

use std::collections::BTreeMap;

use slablab_replay::{Allocator, WhatIf};
use slablab_report::field::Field;
use slablab_report::{Cell, Table, field};

/// A cache under one allocator; where it is not there, that side has `None`.
pub(super) struct CachePair<'a, T> {
    allocator: &'a str,
    cache: &'a str,
    pub(super) before: Option<&'a T>,
    pub(super) after: Option<&'a T>,
}

/// Returns the allocators before and after.
pub(super) fn pairs(what_if: &WhatIf) -> impl Iterator<Item = (&Allocator, &Allocator)> {
    what_if.before.allocators.iter().zip(&what_if.after.allocators)
}

impl<'a, T> CachePair<'a, T> {
    /// Puts the caches of both sides together by their names, in the order of these.
    pub(super) fn of(
        allocator: &'a str,
        before: &'a [T],
        after: &'a [T],
        name: fn(&T) -> &str,
    ) -> impl Iterator<Item = Self> + use<'a, T> {
        let mut pairs: BTreeMap<&str, [Option<&T>; 2]> = BTreeMap::new();
        for (side, caches) in [before, after].into_iter().enumerate() {
            caches
                .iter()
                .for_each(|cache| pairs.entry(name(cache)).or_default()[side] = Some(cache));
        }
        pairs.into_iter().map(move |(cache, [before, after])| Self {
            allocator,
            cache,
            before,
            after,
        })
    }

    /// Returns a number before and after; that of a cache that is not there is 0.
    pub(super) fn numbers(&self, read: fn(&T) -> u64) -> (u64, u64) {
        (self.before.map_or(0, read), self.after.map_or(0, read))
    }
}

/// A column before a change, and the one behind it with what comes after.
pub(super) struct Both<T> {
    /// The heading
    pub(super) head: &'static str,
    /// What programs call the columns, without `_before` and `_after`
    pub(super) key: &'static str,
    pub(super) read: fn(&T) -> Cell,
}

/// Returns the table of caches with these columns; `difference` is one more where it is given.
pub(super) fn table<'a, T>(
    what_if: &WhatIf,
    rows: &[CachePair<'a, T>],
    columns: &[Both<T>],
    difference: Option<Field<'a, CachePair<'a, T>>>,
) -> Table {
    let mut fields = vec![field::name("cache", "cache", |row: &CachePair<'a, T>| row.cache)];
    if what_if.before.allocators.len() > 1 {
        fields.push(field::name("allocator", "allocator", |row: &CachePair<'a, T>| row.allocator));
    }
    for &Both { head, key, read } in columns {
        let before = move |row: &CachePair<'a, T>| row.before.map_or(Cell::Missing, read);
        let after = move |row: &CachePair<'a, T>| row.after.map_or(Cell::Missing, read);
        fields.push(field::by(head, &format!("{key}_before"), before));
        fields.push(field::by("after", &format!("{key}_after"), after));
    }
    fields.extend(difference);
    Table::of_fields(rows, fields)
}
