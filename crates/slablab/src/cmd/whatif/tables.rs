//! A what-if as people read it: before, after, difference.

use std::collections::BTreeMap;

use slablab_pages::Sources;
use slablab_replay::{Allocator, Cache, Site, SiteUnder, WhatIf};

use crate::output::{Cell, Column, Table};

/// Returns the table of an allocator's bytes, shares and counts.
pub(super) fn totals(before: &Allocator, after: &Allocator) -> Table {
    let mut table = Table::new([
        Column::name("", "what"),
        Column::number("before", "before"),
        Column::number("after", "after"),
        Column::number("difference", "difference"),
    ]);
    if before.failed + after.failed > 0 {
        let [from, to] = [before.failed, after.failed];
        let change = Cell::CountChange { from, to };
        table.row([
            Cell::text("allocations that failed"),
            Cell::Count(from),
            Cell::Count(to),
            change,
        ]);
    }
    let mut bytes = |name: &str, read: fn(&Allocator) -> u64| {
        let (a, b) = (read(before), read(after));
        let change = Cell::BytesChange { from: a, to: b };
        table.row([Cell::text(name), Cell::Bytes(a), Cell::Bytes(b), change]);
    };
    bytes("held at peak", |a| a.held_bytes.peak);
    bytes("held on average", |a| a.held_bytes.mean);
    bytes("held at end", |a| a.held_bytes.end);
    bytes("allocated and not requested, at peak", |a| {
        a.at_peak.allocated_bytes.saturating_sub(a.at_peak.requested_bytes)
    });
    let mut count = |name: &str, read: fn(&Allocator) -> u64| {
        let (a, b) = (read(before), read(after));
        table.row([
            Cell::text(name),
            Cell::Count(a),
            Cell::Count(b),
            Cell::CountChange { from: a, to: b },
        ]);
    };
    count("pages held at peak", |a| a.held_bytes.peak / 4096);
    count("slabs at peak", |a| a.slabs.peak);
    count("locks and atomics", |a| a.locks.values().sum());
    let mut share = |name: &str, read: fn(&Allocator) -> f64| {
        let (a, b) = (read(before), read(after));
        let points = Cell::Points((b - a) * 100.0);
        table.row([Cell::text(name), Cell::Share(a), Cell::Share(b), points]);
    };
    share("internal fragmentation at peak", |a| a.at_peak.internal_share);
    share("external fragmentation at peak", |a| a.at_peak.external_share);
    share("allocations on the fast path", Allocator::alloc_fast_share);
    share("frees on the fast path", Allocator::free_fast_share);
    table
}

/// Returns the table of the caches that hold more or less than before: the new ones, and the neighbours.
pub(super) fn caches(before: &Allocator, after: &Allocator, lines: usize) -> Table {
    let mut pairs: BTreeMap<&str, (Option<&Cache>, Option<&Cache>)> = BTreeMap::new();
    for cache in &before.caches {
        pairs.entry(&cache.cache).or_default().0 = Some(cache);
    }
    for cache in &after.caches {
        pairs.entry(&cache.cache).or_default().1 = Some(cache);
    }
    let held = |cache: Option<&Cache>| cache.map_or(0, |cache| cache.held_bytes_peak);
    let mut changed: Vec<_> = pairs.into_iter().filter(|(_, (a, b))| a != b).collect();
    changed.sort_by_key(|(_, (a, b))| std::cmp::Reverse(held(*a).abs_diff(held(*b))));
    let mut table = Table::new([
        Column::name("cache", "cache"),
        Column::number("objects, peak", "objects_peak_before"),
        Column::number("after", "objects_peak_after"),
        Column::number("slabs, peak", "slabs_peak_before"),
        Column::number("after", "slabs_peak_after"),
        Column::number("held, peak", "held_bytes_peak_before"),
        Column::number("after", "held_bytes_peak_after"),
        Column::number("difference", "held_bytes_peak_difference"),
    ]);
    for (name, (a, b)) in changed.into_iter().take(lines) {
        let objects =
            |cache: Option<&Cache>| cache.map_or(Cell::Missing, |c| Cell::Count(c.objects_peak));
        let slabs =
            |cache: Option<&Cache>| cache.map_or(Cell::Missing, |c| Cell::Count(c.slabs_peak));
        let bytes =
            |cache: Option<&Cache>| cache.map_or(Cell::Missing, |c| Cell::Bytes(c.held_bytes_peak));
        table.row([
            Cell::text(name),
            objects(a),
            objects(b),
            slabs(a),
            slabs(b),
            bytes(a),
            bytes(b),
            Cell::BytesChange { from: held(a), to: held(b) },
        ]);
    }
    table
}

/// Returns the table of the call sites whose objects lie denser or wider than before.
pub(super) fn sites(what_if: &WhatIf, places: Option<&Sources>, lines: usize) -> Table {
    let after: BTreeMap<&str, &Site> =
        what_if.after.sites.iter().map(|site| (site.site.as_str(), site)).collect();
    let mut rows: Vec<(f64, &Site, &str, &SiteUnder, &SiteUnder)> = Vec::new();
    for site in &what_if.before.sites {
        let Some(now) = after.get(site.site.as_str()) else { continue };
        let names = what_if.before.allocators.iter().map(|a| a.allocator.as_str());
        for ((allocator, a), b) in names.zip(&site.under).zip(&now.under) {
            // Weighed by the objects that lie there: what a walk over all of them touches.
            let moved = (a.lines_per_object - b.lines_per_object).abs() * site.live_peak as f64;
            if moved > 0.0 || a.adjacent_share != b.adjacent_share {
                rows.push((moved, site, allocator, a, b));
            }
        }
    }
    rows.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.site.cmp(&b.1.site)));
    let mut columns = vec![
        Column::name("call site", "site"),
        Column::name("allocator", "allocator"),
        Column::number("live, peak", "live_peak"),
        Column::number("lines", "lines_per_object_before"),
        Column::number("after", "lines_per_object_after"),
        Column::number("pages", "pages_per_object_before"),
        Column::number("after", "pages_per_object_after"),
        Column::number("adjacent", "adjacent_share_before"),
        Column::number("after", "adjacent_share_after"),
    ];
    if places.is_some() {
        columns.push(Column::name("source", "source"));
    }
    let mut table = Table::new(columns);
    for (_, site, allocator, a, b) in rows.into_iter().take(lines) {
        let mut cells = vec![
            Cell::text(&site.site),
            Cell::text(allocator),
            Cell::Count(site.live_peak),
            Cell::Number(a.lines_per_object, 2),
            Cell::Number(b.lines_per_object, 2),
            Cell::Number(a.pages_per_object, 3),
            Cell::Number(b.pages_per_object, 3),
            Cell::Share(a.adjacent_share),
            Cell::Share(b.adjacent_share),
        ];
        cells
            .extend(places.map(|places| places.line(&site.site).map_or(Cell::Missing, Cell::Text)));
        table.row(cells);
    }
    table
}
