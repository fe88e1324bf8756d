//! A replay as spreadsheets and data frames read it: long tables, one value or one thing a line.

use slablab_replay::{Allocator, Fragmentation, Level, Replay};

use crate::output::{Cell, Column, Table};

/// Returns every number of every allocator, one a line.
pub(super) fn totals(replay: &Replay) -> Table {
    let mut table = Table::new([
        Column::name("allocator", "allocator"),
        Column::name("metric", "metric"),
        Column::number("value", "value"),
    ]);
    for allocator in &replay.allocators {
        for (metric, value) in metrics(allocator) {
            table.row([Cell::text(&allocator.allocator), Cell::text(metric), value]);
        }
    }
    table
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
        metrics.push((
            format!("internal_fragmentation_share_{moment}"),
            Cell::Share(fragmentation.internal_share),
        ));
        metrics.push((
            format!("external_fragmentation_share_{moment}"),
            Cell::Share(fragmentation.external_share),
        ));
    }
    let named = |kind: &'static str, map: &std::collections::BTreeMap<String, u64>| {
        map.iter()
            .map(move |(name, n)| (format!("{kind}_{name}"), Cell::Count(*n)))
            .collect::<Vec<_>>()
    };
    metrics.extend(named("path", &allocator.paths));
    metrics.extend(named("lock", &allocator.locks));
    metrics
}

/// Returns a line for each call site and allocator.
pub(super) fn sites(replay: &Replay) -> Table {
    let mut table = Table::new([
        Column::name("site", "site"),
        Column::name("cache", "cache"),
        Column::name("allocator", "allocator"),
        Column::number("allocs", "allocs"),
        Column::number("requested", "requested_bytes"),
        Column::number("allocated", "allocated_bytes"),
        Column::number("live, peak", "live_peak"),
        Column::number("live, end", "live_end"),
        Column::number("freed on another CPU", "frees_cross_cpu"),
        Column::number("lifetime, median", "lifetime_ns_p50"),
        Column::number("lifetime, p99", "lifetime_ns_p99"),
        Column::number("waste, peak", "waste_bytes_peak"),
        Column::number("adjacent", "adjacent_share"),
        Column::number("distance, median", "distance_bytes_p50"),
        Column::number("lines/object", "lines_per_object"),
        Column::number("pages/object", "pages_per_object"),
    ]);
    for site in &replay.sites {
        for (allocator, under) in replay.allocators.iter().zip(&site.under) {
            table.row([
                Cell::text(&site.site),
                Cell::text(&site.cache),
                Cell::text(&allocator.allocator),
                Cell::Count(site.allocs),
                Cell::Bytes(site.requested_bytes),
                Cell::Bytes(under.allocated_bytes),
                Cell::Count(site.live_peak),
                Cell::Count(site.live_end),
                Cell::Count(site.frees_cross_cpu),
                Cell::Ns(site.lifetime.p50_ns),
                Cell::Ns(site.lifetime.p99_ns),
                Cell::Bytes(under.waste_bytes_peak),
                Cell::Share(under.adjacent_share),
                Cell::Bytes(under.distance_bytes_p50),
                Cell::Number(under.lines_per_object, 4),
                Cell::Number(under.pages_per_object, 4),
            ]);
        }
    }
    table
}

/// Returns a line for each cache and allocator.
pub(super) fn caches(replay: &Replay) -> Table {
    let mut table = Table::new([
        Column::name("allocator", "allocator"),
        Column::name("cache", "cache"),
        Column::number("object", "object_bytes"),
        Column::number("in slab", "slab_size_bytes"),
        Column::number("objects per slab", "objects_per_slab"),
        Column::number("order", "order"),
        Column::number("objects, end", "objects_end"),
        Column::number("objects, peak", "objects_peak"),
        Column::number("slabs, end", "slabs_end"),
        Column::number("slabs, peak", "slabs_peak"),
        Column::number("held, end", "held_bytes_end"),
        Column::number("held, peak", "held_bytes_peak"),
    ]);
    for allocator in &replay.allocators {
        for cache in &allocator.caches {
            table.row([
                Cell::text(&allocator.allocator),
                Cell::text(&cache.cache),
                Cell::Bytes(cache.object_bytes),
                Cell::Bytes(cache.slab_size_bytes),
                Cell::Count(cache.objects_per_slab),
                Cell::Count(cache.order),
                Cell::Count(cache.objects_end),
                Cell::Count(cache.objects_peak),
                Cell::Count(cache.slabs_end),
                Cell::Count(cache.slabs_peak),
                Cell::Bytes(cache.held_bytes_end),
                Cell::Bytes(cache.held_bytes_peak),
            ]);
        }
    }
    table
}

/// Returns a line for each moment and allocator.
pub(super) fn series(replay: &Replay) -> Table {
    let mut table = Table::new([
        Column::name("allocator", "allocator"),
        Column::number("time", "time_ns"),
        Column::number("requested", "requested_bytes"),
        Column::number("allocated", "allocated_bytes"),
        Column::number("held", "held_bytes"),
    ]);
    for allocator in &replay.allocators {
        for sample in &allocator.series {
            table.row([
                Cell::text(&allocator.allocator),
                Cell::Ns(sample.time_ns),
                Cell::Bytes(sample.requested_bytes),
                Cell::Bytes(sample.allocated_bytes),
                Cell::Bytes(sample.held_bytes),
            ]);
        }
    }
    table
}
