//! A what-if: before, after, difference.

use std::collections::BTreeMap;

use slablab_replay::{Allocator, CacheUnder, Difference, Site, SiteUnder, WhatIf};
use slablab_report::{Cell, Table, field};

use crate::Sources;

/// Returns the table of an allocator's bytes, shares and counts.
pub fn totals(before: &Allocator, after: &Allocator) -> Table {
    let bytes = |name, read: fn(&Allocator) -> u64| {
        let (a, b) = (read(before), read(after));
        (name, Cell::Bytes(a), Cell::Bytes(b), Cell::BytesChange(a, b))
    };
    let count = |name, read: fn(&Allocator) -> u64| {
        let (a, b) = (read(before), read(after));
        (name, Cell::Count(a), Cell::Count(b), Cell::CountChange(a, b))
    };
    let share = |name, read: fn(&Allocator) -> f64| {
        let (a, b) = (read(before), read(after));
        (name, Cell::Share(a), Cell::Share(b), Cell::Points((b - a) * 100.0))
    };
    // What never happened has no share on any path.
    let path = |name, read: fn(&Allocator) -> (u64, u64)| {
        let ((fast, all), (fast_after, all_after)) = (read(before), read(after));
        let (a, b) = (Cell::share(fast, all), Cell::share(fast_after, all_after));
        let change = match (&a, &b) {
            (Cell::Share(a), Cell::Share(b)) => Cell::Points((b - a) * 100.0),
            _ => Cell::Missing,
        };
        (name, a, b, change)
    };
    let failed =
        (before.failed + after.failed > 0).then(|| count("allocations that failed", |a| a.failed));
    let rows = [
        bytes("held at peak", |a| a.held_bytes.peak),
        bytes("held on average", |a| a.held_bytes.mean),
        bytes("held at end", |a| a.held_bytes.end),
        bytes("allocated and not requested, at peak", |a| {
            a.at_peak.allocated_bytes.saturating_sub(a.at_peak.requested_bytes)
        }),
        count("pages of 4 KiB held at peak", |a| a.held_bytes.peak / 4096),
        count("slabs at peak", |a| a.slabs.peak),
        count("locks and atomics", |a| a.locks.values().sum()),
        share("internal fragmentation at peak", |a| a.at_peak.internal_share),
        share("external fragmentation at peak", |a| a.at_peak.external_share),
        path("allocations on the fast path", Allocator::alloc_paths),
        path("frees on the fast path", Allocator::free_paths),
    ];
    let fields = [
        field::name("", "what", |(name, ..): &(&str, Cell, Cell, Cell)| name),
        field::cell("before", "before", |(_, before, ..)| before.clone()),
        field::cell("after", "after", |(_, _, after, _)| after.clone()),
        field::cell("difference", "difference", |(.., difference)| difference.clone()),
    ];
    Table::of(&failed.into_iter().chain(rows).collect::<Vec<_>>(), fields)
}

/// Returns the numbers that changed, a line each.
pub fn differences(differences: &[Difference]) -> Table {
    let fields = [
        field::name("allocator", "allocator", |difference: &Difference| &difference.allocator),
        field::name("metric", "metric", |difference| difference.metric),
        field::count("before", "before", |difference| difference.before),
        field::count("after", "after", |difference| difference.after),
    ];
    Table::of(differences, fields)
}

/// Returns the table of the caches that hold more or less than before: the new ones, and the neighbours.
pub fn changed_caches(before: &Allocator, after: &Allocator, lines: usize) -> Table {
    let mut pairs: BTreeMap<&str, (Option<&CacheUnder>, Option<&CacheUnder>)> = BTreeMap::new();
    for cache in &before.caches {
        pairs.entry(&cache.cache).or_default().0 = Some(cache);
    }
    for cache in &after.caches {
        pairs.entry(&cache.cache).or_default().1 = Some(cache);
    }
    let changed = pairs.into_iter().filter(|(_, (a, b))| a != b);
    let mut changed: Vec<_> = changed.map(|(name, (a, b))| (name, a, b)).collect();
    changed.sort_by_key(|(_, a, b)| std::cmp::Reverse(held(*a).abs_diff(held(*b))));
    changed.truncate(lines);
    let fields = [
        field::name(
            "cache",
            "cache",
            |(name, ..): &(&str, Option<&CacheUnder>, Option<&CacheUnder>)| name,
        ),
        field::cell("objects, peak", "objects_peak_before", |(_, a, _)| {
            cell(*a, |c| Cell::Count(c.objects_peak))
        }),
        field::cell("after", "objects_peak_after", |(.., b)| {
            cell(*b, |c| Cell::Count(c.objects_peak))
        }),
        field::cell("slabs, peak", "slabs_peak_before", |(_, a, _)| {
            cell(*a, |c| Cell::Count(c.slabs_peak))
        }),
        field::cell("after", "slabs_peak_after", |(.., b)| cell(*b, |c| Cell::Count(c.slabs_peak))),
        field::cell("held, peak", "held_bytes_peak_before", |(_, a, _)| {
            cell(*a, |c| Cell::Bytes(c.held_bytes_peak))
        }),
        field::cell("after", "held_bytes_peak_after", |(.., b)| {
            cell(*b, |c| Cell::Bytes(c.held_bytes_peak))
        }),
        field::cell("difference", "held_bytes_peak_difference", |(_, a, b)| {
            Cell::BytesChange(held(*a), held(*b))
        }),
    ];
    Table::of(&changed, fields)
}

fn held(cache: Option<&CacheUnder>) -> u64 {
    cache.map_or(0, |cache| cache.held_bytes_peak)
}

fn cell(cache: Option<&CacheUnder>, cell: impl Fn(&CacheUnder) -> Cell) -> Cell {
    cache.map_or(Cell::Missing, cell)
}

/// Returns the table of the call sites whose objects lie denser or wider than before.
pub fn moved_sites(what_if: &WhatIf, places: Option<&Sources>, lines: usize) -> Table {
    let after: BTreeMap<&str, &Site> =
        what_if.after.sites.iter().map(|site| (site.site.as_str(), site)).collect();
    let mut rows: Vec<Moved<'_>> = Vec::new();
    for site in &what_if.before.sites {
        let Some(now) = after.get(site.site.as_str()) else { continue };
        let names = what_if.before.allocators.iter().map(|a| a.allocator.as_str());
        for ((allocator, a), b) in names.zip(&site.under).zip(&now.under) {
            // Weighed by the objects that lie there: what a walk over all of them touches.
            let lines = (a.lines_per_object - b.lines_per_object).abs() * site.live_peak as f64;
            if lines > 0.0 || a.adjacent_share != b.adjacent_share {
                rows.push(Moved { site, allocator, lines, a, b });
            }
        }
    }
    rows.sort_by(|a, b| b.lines.total_cmp(&a.lines).then_with(|| a.site.site.cmp(&b.site.site)));
    rows.truncate(lines);
    let mut fields = vec![
        field::name("call site", "site", |row: &Moved<'_>| &row.site.site),
        field::name("allocator", "allocator", |row| row.allocator),
        field::count("live, peak", "live_peak", |row| row.site.live_peak),
        field::cell("lines", "lines_per_object_before", |row| {
            Cell::Number(row.a.lines_per_object, 2)
        }),
        field::cell("after", "lines_per_object_after", |row| {
            Cell::Number(row.b.lines_per_object, 2)
        }),
        field::cell("pages", "pages_per_object_before", |row| {
            Cell::Number(row.a.pages_per_object, 3)
        }),
        field::cell("after", "pages_per_object_after", |row| {
            Cell::Number(row.b.pages_per_object, 3)
        }),
        field::share("adjacent", "adjacent_share_before", |row| row.a.adjacent_share),
        field::share("after", "adjacent_share_after", |row| row.b.adjacent_share),
    ];
    if let Some(places) = places {
        let source =
            |row: &Moved<'_>| places.line(&row.site.site).unwrap_or_else(|| "-".to_owned());
        fields.push(field::text_by("source", "source", source));
    }
    Table::of_fields(&rows, fields)
}

/// A call site whose objects lie elsewhere than before.
struct Moved<'a> {
    site: &'a Site,
    allocator: &'a str,
    /// How many more or fewer cache lines a walk over all its objects touches
    lines: f64,
    a: &'a SiteUnder,
    b: &'a SiteUnder,
}
