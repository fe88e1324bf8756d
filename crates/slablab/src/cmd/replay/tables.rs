//! A replay as people read it: one column an allocator.

use std::collections::{BTreeMap, BTreeSet};

use slablab_pages::label;
use slablab_replay::{Allocator, Fit, Replay, TraceFacts};

use crate::output::{Cell, Column, Page, Table, duration, thousands};

/// Says what was replayed, and how far it can be trusted.
pub(in crate::cmd) fn header(file: &str, trace: &TraceFacts, page: &mut Page) {
    let release = match trace.kernel_release.as_str() {
        "" => "an unnamed kernel".to_owned(),
        release => format!("Linux {release}"),
    };
    page.line(format!(
        "{file}: {} events in {} on {release}, {} CPUs{}",
        thousands(trace.events),
        duration(trace.duration_ns),
        trace.cpus,
        if trace.command.is_empty() {
            String::new()
        } else {
            format!(": {}", trace.command.join(" "))
        }
    ));
    let causes = [
        ("lost", trace.lost),
        ("freed without an event", trace.implicit_frees),
        ("frees of older objects", trace.older_frees),
        ("skipped", trace.skipped),
    ];
    let causes: Vec<_> = causes
        .iter()
        .filter(|(_, events)| *events > 0)
        .map(|(cause, events)| format!("{} {cause}", thousands(*events)))
        .collect();
    let share = trace.unplaced_share * 100.0;
    page.line(match causes.is_empty() {
        true => "Every event could be placed.".to_owned(),
        false => format!("{share:.2} % of the events could not be placed: {}.", causes.join(", ")),
    });
}

/// A table with a column of names and one column an allocator.
fn by_allocator(replay: &Replay, head: &str) -> Table {
    let mut columns = vec![Column::name(head, "what")];
    columns.extend(replay.allocators.iter().map(|a| Column::number(label(a), &a.allocator)));
    Table::new(columns)
}

fn row(table: &mut Table, replay: &Replay, name: &str, cell: impl Fn(&Allocator) -> Cell) {
    let mut cells = vec![Cell::text(name)];
    cells.extend(replay.allocators.iter().map(cell));
    table.row(cells);
}

/// Returns the table of bytes and fragmentation.
pub(super) fn memory(replay: &Replay) -> Table {
    let mut table = by_allocator(replay, "");
    let mut add =
        |name: &str, cell: &dyn Fn(&Allocator) -> Cell| row(&mut table, replay, name, cell);
    if replay.allocators.iter().any(|a| a.failed > 0) {
        add("allocations that failed", &|a| Cell::Count(a.failed));
    }
    add("slabs, peak", &|a| Cell::Bytes(a.slab_bytes.peak));
    add("slabs, end", &|a| Cell::Bytes(a.slab_bytes.end));
    add("slabs, mean", &|a| Cell::Bytes(a.slab_bytes.mean));
    add("slabs and large blocks, peak", &|a| Cell::Bytes(a.held_bytes.peak));
    add("slabs and large blocks, end", &|a| Cell::Bytes(a.held_bytes.end));
    add("requested at peak", &|a| Cell::Bytes(a.at_peak.requested_bytes));
    add("requested at end", &|a| Cell::Bytes(a.at_end.requested_bytes));
    add("internal fragmentation, peak", &|a| Cell::Share(a.at_peak.internal_share));
    add("internal fragmentation, mean", &|a| Cell::Share(a.on_average.internal_share));
    add("external fragmentation, peak", &|a| Cell::Share(a.at_peak.external_share));
    add("external fragmentation, mean", &|a| Cell::Share(a.on_average.external_share));
    add("external fragmentation, end", &|a| Cell::Share(a.at_end.external_share));
    table
}

/// Returns the table of paths taken.
pub(super) fn paths(replay: &Replay) -> Table {
    let mut table = by_allocator(replay, "");
    let count = |a: &Allocator, name: &str| a.paths.get(name).copied().unwrap_or(0);
    let share = |a: &Allocator, fast: &str, slow: &str| {
        Cell::share(count(a, fast), count(a, fast) + count(a, slow))
    };
    row(&mut table, replay, "allocations on the fast path", |a| {
        share(a, "alloc_fastpath", "alloc_slowpath")
    });
    row(&mut table, replay, "frees on the fast path", |a| {
        share(a, "free_fastpath", "free_slowpath")
    });
    counts(&mut table, replay, |a| &a.paths);
    table
}

/// Returns the table of locks taken.
pub(super) fn locks(replay: &Replay) -> Table {
    let mut table = by_allocator(replay, "");
    counts(&mut table, replay, |a| &a.locks);
    row(&mut table, replay, "all, per 1,000 operations", |a| {
        let all: u64 = a.locks.values().sum();
        match a.operations {
            0 => Cell::Missing,
            operations => Cell::Number(all as f64 * 1e3 / operations as f64, 1),
        }
    });
    table
}

/// Adds a row for each counter that any allocator has.
fn counts(table: &mut Table, replay: &Replay, map: impl Fn(&Allocator) -> &BTreeMap<String, u64>) {
    let names: BTreeSet<&String> = replay
        .allocators
        .iter()
        .flat_map(|a| map(a).iter().filter(|(_, n)| **n > 0).map(|(name, _)| name))
        .collect();
    for name in names {
        row(table, replay, name, |a| match map(a).get(name) {
            Some(n) if *n > 0 => Cell::Count(*n),
            _ => Cell::Missing,
        });
    }
}

/// Says by how much the simulation differs from what the recorded kernel said of itself.
pub(super) fn fit_line(allocator: &Allocator, fit: &Fit) -> String {
    let share =
        |simulated: u64, recorded: u64| (simulated as f64 / recorded.max(1) as f64 - 1.0) * 100.0;
    format!(
        "{} beside the recorded kernel: {:+.1} % of bytes in slabs at the peak, {:+.1} % at the end; of {} caches above \
         8 slabs, half differ by at most {:.0} %, the worst by {:.0} %.",
        label(allocator),
        share(fit.slab_bytes_peak, fit.recorded_slab_bytes_peak),
        share(fit.slab_bytes_end, fit.recorded_slab_bytes_end),
        fit.caches.len(),
        fit.difference_share_p50 * 100.0,
        fit.difference_share_max * 100.0
    )
}

/// Returns the table of the caches that differ most from what the recorded kernel said of them.
pub(super) fn fit(fit: &Fit, lines: usize) -> Table {
    let mut table = Table::new([
        Column::name("cache", "cache"),
        Column::number("simulated, peak", "slabs_peak"),
        Column::number("recorded, peak", "recorded_slabs_peak"),
        Column::number("simulated, end", "slabs_end"),
        Column::number("recorded, end", "recorded_slabs_end"),
        Column::number("differ by", "difference_share"),
        Column::number("frees seen", "frees_seen_share"),
    ]);
    for cache in fit.caches.iter().take(lines) {
        table.row([
            Cell::text(&cache.cache),
            Cell::Count(cache.slabs_peak),
            Cell::Count(cache.recorded_slabs_peak),
            Cell::Count(cache.slabs_end),
            Cell::Count(cache.recorded_slabs_end),
            Cell::Share(cache.difference_share),
            cache.frees_seen_share.map_or(Cell::Missing, Cell::Share),
        ]);
    }
    table
}

/// Returns the table of the call sites with most waste.
pub(super) fn sites(replay: &Replay, lines: usize) -> Table {
    let mut columns = vec![
        Column::name("call site", "site"),
        Column::name("cache", "cache"),
        Column::number("allocs", "allocs"),
        Column::number("live, peak", "live_peak"),
        Column::number("lifetime", "lifetime_ns_p50"),
        Column::number("requested, mean", "requested_bytes_mean"),
    ];
    for allocator in &replay.allocators {
        let key = format!("{}_waste_bytes_peak", allocator.allocator);
        columns.push(Column::number(format!("{} waste", label(allocator)), key));
    }
    let mut table = Table::new(columns);
    for site in replay.sites.iter().take(lines) {
        let mut cells = vec![
            Cell::text(&site.site),
            Cell::text(if site.cache.is_empty() { "kmalloc" } else { &site.cache }),
            Cell::Count(site.allocs),
            Cell::Count(site.live_peak),
            match site.lifetime.ended {
                0 => Cell::Missing,
                _ => Cell::Ns(site.lifetime.p50_ns),
            },
            Cell::Bytes(site.requested_bytes / site.allocs.max(1)),
        ];
        cells.extend(site.under.iter().map(|under| Cell::Bytes(under.waste_bytes_peak)));
        table.row(cells);
    }
    table
}

/// Returns the table of the caches that held most, over all allocators.
pub(super) fn caches(replay: &Replay, lines: usize) -> Table {
    let mut table = Table::new([
        Column::name("allocator", "allocator"),
        Column::name("cache", "cache"),
        Column::number("object", "object_bytes"),
        Column::number("in slab", "slab_size_bytes"),
        Column::number("objects/slab", "objects_per_slab"),
        Column::number("objects, peak", "objects_peak"),
        Column::number("slabs, peak", "slabs_peak"),
        Column::number("held, peak", "held_bytes_peak"),
        Column::number("used at end", "used_share_end"),
    ]);
    for allocator in &replay.allocators {
        for cache in allocator.caches.iter().filter(|c| c.held_bytes_peak > 0).take(lines) {
            table.row([
                Cell::text(label(allocator)),
                Cell::text(&cache.cache),
                Cell::Bytes(cache.object_bytes),
                Cell::Bytes(cache.slab_size_bytes),
                Cell::Count(cache.objects_per_slab),
                Cell::Count(cache.objects_peak),
                Cell::Count(cache.slabs_peak),
                Cell::Bytes(cache.held_bytes_peak),
                Cell::share(cache.objects_end * cache.slab_size_bytes, cache.held_bytes_end),
            ]);
        }
    }
    table
}
