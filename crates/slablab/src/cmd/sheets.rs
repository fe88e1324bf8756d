//! A replay as spreadsheets and data frames read it: long tables, one value or one thing a line.

use clap::ValueEnum;
use slablab_replay::{
    Allocator, CacheUnder, Fragmentation, Level, Replay, Sample, Site, SiteUnder,
};

use crate::output::{Cell, Table, field};

/// The tables of a replay.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sheet {
    /// A line for each allocator and number
    Totals,
    /// A line for each call site and allocator
    Sites,
    /// A line for each allocator and cache
    Caches,
    /// A line for each allocator and moment
    Series,
}

/// Returns every number of every allocator, one a line.
pub(crate) fn totals(allocators: &[Allocator]) -> Table {
    let of = |a| metrics(a).into_iter().map(move |(metric, value)| (a, metric, value));
    let rows: Vec<(&Allocator, String, Cell)> = allocators.iter().flat_map(of).collect();
    let fields = [
        field::name("allocator", "allocator", |(a, ..): &(&Allocator, String, Cell)| &a.allocator),
        field::name("metric", "metric", |(_, metric, _)| metric),
        field::cell("value", "value", |(.., value)| value.clone()),
    ];
    Table::of(&rows, fields)
}

/// Returns an allocator's numbers with their names, units last.
fn metrics(allocator: &Allocator) -> Vec<(String, Cell)> {
    let mut metrics = vec![
        ("operations".to_owned(), Cell::Count(allocator.operations)),
        ("failed".to_owned(), Cell::Count(allocator.failed)),
    ];
    let levels: [(&str, &Level); 5] = [
        ("requested_bytes", &allocator.requested_bytes),
        ("allocated_bytes", &allocator.allocated_bytes),
        ("held_bytes", &allocator.held_bytes),
        ("slab_bytes", &allocator.slab_bytes),
        ("slabs", &allocator.slabs),
    ];
    for (name, level) in levels {
        metrics.push((format!("{name}_peak"), Cell::Count(level.peak)));
        metrics.push((format!("{name}_end"), Cell::Count(level.end)));
        metrics.push((format!("{name}_mean"), Cell::Count(level.mean)));
    }
    let moments: [(&str, &Fragmentation); 3] = [
        ("at_peak", &allocator.at_peak),
        ("at_end", &allocator.at_end),
        ("on_average", &allocator.on_average),
    ];
    for (moment, fragmentation) in moments {
        let Fragmentation { internal_share, external_share, .. } = fragmentation;
        for (kind, share) in [("internal", internal_share), ("external", external_share)] {
            metrics.push((format!("{kind}_fragmentation_share_{moment}"), Cell::Share(*share)));
        }
    }
    for (kind, counts) in [("path", &allocator.paths), ("lock", &allocator.locks)] {
        let named = |(name, n): (&String, &u64)| (format!("{kind}_{name}"), Cell::Count(*n));
        metrics.extend(counts.iter().map(named));
    }
    metrics
}

/// Returns a line for each call site and allocator.
pub(crate) fn sites(replay: &Replay) -> Table {
    let mut rows: Vec<(&Site, &Allocator, &SiteUnder)> = Vec::new();
    for site in &replay.sites {
        rows.extend(replay.allocators.iter().zip(&site.under).map(|(a, u)| (site, a, u)));
    }
    let fields = [
        field::name("site", "site", |(s, ..): &(&Site, &Allocator, &SiteUnder)| &s.site),
        field::name("cache", "cache", |(s, ..)| &s.cache),
        field::name("allocator", "allocator", |(_, a, _)| &a.allocator),
        field::count("allocs", "allocs", |(s, ..)| s.allocs),
        field::bytes("requested", "requested_bytes", |(s, ..)| s.requested_bytes),
        field::bytes("allocated", "allocated_bytes", |(.., u)| u.allocated_bytes),
        field::count("live, peak", "live_peak", |(s, ..)| s.live_peak),
        field::count("live, end", "live_end", |(s, ..)| s.live_end),
        field::count("freed on another CPU", "frees_cross_cpu", |(s, ..)| s.frees_cross_cpu),
        field::cell("lifetime, median", "lifetime_ns_p50", |(s, ..)| {
            lifetime(s, s.lifetime.p50_ns)
        }),
        field::cell("lifetime, p99", "lifetime_ns_p99", |(s, ..)| lifetime(s, s.lifetime.p99_ns)),
        field::bytes("waste, peak", "waste_bytes_peak", |(.., u)| u.waste_bytes_peak),
        field::share("adjacent", "adjacent_share", |(.., u)| u.adjacent_share),
        field::bytes("distance, median", "distance_bytes_p50", |(.., u)| u.distance_bytes_p50),
        field::cell("lines/object", "lines_per_object", |(.., u)| {
            Cell::Number(u.lines_per_object, 4)
        }),
        field::cell("pages/object", "pages_per_object", |(.., u)| {
            Cell::Number(u.pages_per_object, 4)
        }),
    ];
    Table::of(&rows, fields)
}

/// Returns a time of the lifetimes of a site's objects; objects that all live on have none.
fn lifetime(site: &Site, ns: u64) -> Cell {
    if site.lifetime.ended == 0 { Cell::Missing } else { Cell::Ns(ns) }
}

/// Returns a line for each cache and allocator.
pub(crate) fn caches(allocators: &[Allocator]) -> Table {
    let rows = allocators.iter().flat_map(|a| a.caches.iter().map(move |c| (a, c)));
    let rows: Vec<(&Allocator, &CacheUnder)> = rows.collect();
    let fields = [
        field::name("allocator", "allocator", |(a, _): &(&Allocator, &CacheUnder)| &a.allocator),
        field::name("cache", "cache", |(_, c)| &c.cache),
        field::bytes("object", "object_bytes", |(_, c)| c.object_bytes),
        field::bytes("in slab", "slab_size_bytes", |(_, c)| c.slab_size_bytes),
        field::count("objects per slab", "objects_per_slab", |(_, c)| c.objects_per_slab),
        field::count("order", "order", |(_, c)| c.order),
        field::count("objects, end", "objects_end", |(_, c)| c.objects_end),
        field::count("objects, peak", "objects_peak", |(_, c)| c.objects_peak),
        field::count("slabs, end", "slabs_end", |(_, c)| c.slabs_end),
        field::count("slabs, peak", "slabs_peak", |(_, c)| c.slabs_peak),
        field::bytes("held, end", "held_bytes_end", |(_, c)| c.held_bytes_end),
        field::bytes("held, peak", "held_bytes_peak", |(_, c)| c.held_bytes_peak),
    ];
    Table::of(&rows, fields)
}

/// Returns a line for each moment and allocator.
pub(crate) fn series(replay: &Replay) -> Table {
    let rows = replay.allocators.iter().flat_map(|a| a.series.iter().map(move |s| (a, s)));
    let rows: Vec<(&Allocator, &Sample)> = rows.collect();
    let fields = [
        field::name("allocator", "allocator", |(a, _): &(&Allocator, &Sample)| &a.allocator),
        field::ns("time", "time_ns", |(_, s)| s.time_ns),
        field::bytes("requested", "requested_bytes", |(_, s)| s.requested_bytes),
        field::bytes("allocated", "allocated_bytes", |(_, s)| s.allocated_bytes),
        field::bytes("held", "held_bytes", |(_, s)| s.held_bytes),
    ];
    Table::of(&rows, fields)
}
