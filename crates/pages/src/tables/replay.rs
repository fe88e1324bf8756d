//! A replay: one column an allocator.

use std::collections::{BTreeMap, BTreeSet};

use slablab_replay::{Allocator, CacheFit, CacheUnder, Fit, Replay, SEEN_SHARE_MIN, Site};
use slablab_report::{Cell, Table, field};

use crate::trace::label;

/// A row of a table with a column for each allocator.
type Row<'a> = (&'a str, Box<dyn Fn(&Allocator) -> Cell + 'a>);

/// Makes a row of what `cell` says of each allocator.
fn row<'a>(name: &'a str, cell: impl Fn(&Allocator) -> Cell + 'a) -> Row<'a> {
    (name, Box::new(cell))
}

/// Returns `rows` with a column of their names and one for each allocator.
fn by_allocator(allocators: &[Allocator], rows: &[Row<'_>]) -> Table {
    let mut fields = vec![field::name("", "what", |(name, _): &Row<'_>| name)];
    for allocator in allocators {
        let cell = move |(_, cell): &Row<'_>| cell(allocator);
        fields.push(field::by(&label(allocator), &allocator.allocator, cell));
    }
    Table::of_fields(rows, fields)
}

/// Returns the table of bytes and fragmentation.
pub fn memory(allocators: &[Allocator]) -> Table {
    let failing = allocators.iter().any(|a| a.failed > 0);
    let failed = failing.then(|| row("allocations that failed", |a| Cell::Count(a.failed)));
    let rows = [
        row("slabs, peak", |a| Cell::Bytes(a.slab_bytes.peak)),
        row("slabs, end", |a| Cell::Bytes(a.slab_bytes.end)),
        row("slabs, mean", |a| Cell::Bytes(a.slab_bytes.mean)),
        row("with large blocks, peak", |a| Cell::Bytes(a.held_bytes.peak)),
        row("with large blocks, end", |a| Cell::Bytes(a.held_bytes.end)),
        row("requested at peak", |a| Cell::Bytes(a.at_peak.requested_bytes)),
        row("requested at end", |a| Cell::Bytes(a.at_end.requested_bytes)),
        row("int. fragmentation, peak", |a| Cell::Share(a.at_peak.internal_share)),
        row("int. fragmentation, mean", |a| Cell::Share(a.on_average.internal_share)),
        row("ext. fragmentation, peak", |a| Cell::Share(a.at_peak.external_share)),
        row("ext. fragmentation, mean", |a| Cell::Share(a.on_average.external_share)),
        row("ext. fragmentation, end", |a| Cell::Share(a.at_end.external_share)),
    ];
    by_allocator(allocators, &failed.into_iter().chain(rows).collect::<Vec<_>>())
}

/// Returns the table of paths taken.
pub fn paths(allocators: &[Allocator]) -> Table {
    let share = |(fast, all)| Cell::share(fast, all);
    let shares = [
        row("allocs on the fast path", move |a| share(a.alloc_paths())),
        row("frees on the fast path", move |a| share(a.free_paths())),
    ];
    let rows: Vec<_> = shares.into_iter().chain(counts(allocators, |a| &a.paths)).collect();
    by_allocator(allocators, &rows)
}

/// Returns the table of locks taken.
pub fn locks(allocators: &[Allocator]) -> Table {
    let rate = row("all, per 1,000 operations", |a| {
        let all: u64 = a.locks.values().sum();
        match a.operations {
            0 => Cell::Missing,
            operations => Cell::Number(all as f64 * 1e3 / operations as f64, 1),
        }
    });
    let rows: Vec<_> = counts(allocators, |a| &a.locks).chain([rate]).collect();
    by_allocator(allocators, &rows)
}

/// Returns a row for each counter that any allocator has.
fn counts(
    allocators: &[Allocator],
    map: fn(&Allocator) -> &BTreeMap<String, u64>,
) -> impl Iterator<Item = Row<'_>> {
    let all = allocators.iter().flat_map(map);
    let names: BTreeSet<&str> =
        all.filter(|(_, n)| **n > 0).map(|(name, _)| name.as_str()).collect();
    names.into_iter().map(move |name| {
        row(name, move |a| match map(a).get(name) {
            Some(n) if *n > 0 => Cell::Count(*n),
            _ => Cell::Missing,
        })
    })
}

/// Says by how much the simulation differs from what the recorded kernel said of itself.
pub fn fit_line(allocator: &Allocator, fit: &Fit) -> String {
    let share =
        |simulated: u64, recorded: u64| (simulated as f64 / recorded.max(1) as f64 - 1.0) * 100.0;
    format!(
        "{} beside the recorded kernel: {:+.1} % of bytes in slabs at the peak, {:+.1} % at the end; of {} caches above \
         8 slabs, half differ by at most {:.0} %, the worst by {:.0} %{}.",
        label(allocator),
        share(fit.slab_bytes_peak, fit.recorded_slab_bytes_peak),
        share(fit.slab_bytes_end, fit.recorded_slab_bytes_end),
        fit.caches.len(),
        fit.difference_share_p50 * 100.0,
        fit.difference_share_max * 100.0,
        fit.caches.first().map_or_else(String::new, of_worst)
    )
}

/// Says which cache differs most, and which of its events were not seen.
fn of_worst(worst: &CacheFit) -> String {
    let shares = [
        ("frees", worst.frees_seen_share, "were seen"),
        ("allocations", worst.allocs_seen_share, "were seen"),
        ("objects at the end", worst.living_known_share, "are known to live"),
    ];
    let few = shares.into_iter().find_map(|(what, share, known)| {
        let share = share.filter(|share| *share < SEEN_SHARE_MIN)?;
        Some(format!(", of whose {what} {:.0} % {known}", share * 100.0))
    });
    format!(" ({}{})", worst.cache, few.unwrap_or_default())
}

/// Returns the table of the caches that differ most from what the recorded kernel said of them.
pub fn fit(fit: &Fit, lines: usize) -> Table {
    let fields = [
        field::name("cache", "cache", |cache: &CacheFit| &cache.cache),
        field::count("simulated, peak", "slabs_peak", |cache| cache.slabs_peak),
        field::count("recorded, peak", "recorded_slabs_peak", |cache| cache.recorded_slabs_peak),
        field::count("simulated, end", "slabs_end", |cache| cache.slabs_end),
        field::count("recorded, end", "recorded_slabs_end", |cache| cache.recorded_slabs_end),
        field::cell("kept, simulated", "kept_slabs_end", |cache| {
            cache.kept_slabs_end.map_or(Cell::Missing, Cell::Count)
        }),
        field::cell("recorded", "recorded_kept_slabs_end", |cache| {
            cache.recorded_kept_slabs_end.map_or(Cell::Missing, Cell::Count)
        }),
        field::share("differ by", "difference_share", |cache| cache.difference_share),
        field::cell("frees seen", "frees_seen_share", |cache| {
            cache.frees_seen_share.map_or(Cell::Missing, Cell::Share)
        }),
        field::cell("allocs seen", "allocs_seen_share", |cache| {
            cache.allocs_seen_share.map_or(Cell::Missing, Cell::Share)
        }),
        field::cell("living known", "living_known_share", |cache| {
            cache.living_known_share.map_or(Cell::Missing, Cell::Share)
        }),
    ];
    Table::of(&fit.caches[..lines.min(fit.caches.len())], fields)
}

/// Returns the table of the call sites with most waste.
pub fn sites(replay: &Replay, lines: usize) -> Table {
    let mut fields = vec![
        field::name("call site", "site", |s: &Site| &s.site),
        field::name("cache", "cache", |s| if s.cache.is_empty() { "kmalloc" } else { &s.cache }),
        field::count("allocs", "allocs", |s| s.allocs),
        field::count("live, peak", "live_peak", |s| s.live_peak),
        field::cell("half live under", "lifetime_ns_p50", |s| match s.lifetime.ended {
            0 => Cell::Missing,
            _ => Cell::Ns(s.lifetime.p50_ns),
        }),
        field::bytes("requested, mean", "requested_bytes_mean", |s| {
            s.requested_bytes / s.allocs.max(1)
        }),
    ];
    for (at, allocator) in replay.allocators.iter().enumerate() {
        let key = format!("{}_waste_bytes_peak", allocator.allocator);
        let waste = move |site: &Site| Cell::Bytes(site.under[at].waste_bytes_peak);
        fields.push(field::by(&format!("{} waste", label(allocator)), &key, waste));
    }
    Table::of_fields(&replay.sites[..lines.min(replay.sites.len())], fields)
}

/// Returns the table of the caches that held most, over all allocators.
pub fn caches(allocators: &[Allocator], lines: usize) -> Table {
    let rows = allocators.iter().flat_map(|a| {
        a.caches.iter().filter(|c| c.held_bytes_peak > 0).take(lines).map(move |c| (a, c))
    });
    let rows: Vec<(&Allocator, &CacheUnder)> = rows.collect();
    let fields = [
        field::text("allocator", "allocator", |(a, _): &(&Allocator, &CacheUnder)| label(a)),
        field::name("cache", "cache", |(_, c)| &c.cache),
        field::bytes("object", "object_bytes", |(_, c)| c.object_bytes),
        field::bytes("in slab", "slab_size_bytes", |(_, c)| c.slab_size_bytes),
        field::cell("objects/slab", "objects_per_slab", |(_, c)| match c.objects_per_slab {
            0 => Cell::Missing,
            objects => Cell::Count(objects),
        }),
        field::count("objects, peak", "objects_peak", |(_, c)| c.objects_peak),
        field::count("slabs, peak", "slabs_peak", |(_, c)| c.slabs_peak),
        field::bytes("held, peak", "held_bytes_peak", |(_, c)| c.held_bytes_peak),
        field::cell("used at end", "used_share_end", |(_, c)| {
            // Summed over kernels whose objects have other sizes: what is in use is not known.
            match c.objects_per_slab {
                0 => Cell::Missing,
                _ => Cell::share(c.objects_end * c.slab_size_bytes, c.held_bytes_end),
            }
        }),
    ];
    Table::of(&rows, fields)
}
