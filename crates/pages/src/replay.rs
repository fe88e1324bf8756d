//! The report of a replay: memory over time, fragmentation, paths, locks, and the call sites.

use std::collections::{BTreeMap, BTreeSet};

use slablab_replay::{Allocator, Cache, Replay, Sample, Site};
use slablab_report::{
    AxisScale, BarGroup, Bars, Column, DataTable, Document, Flame, Item, Lines, Plot, Point,
    Section, Series, Value, human,
};

use crate::trace::{facts, failures, label, site_frames, waste_flame};

/// So many caches have bars; the table has all.
const CACHES_MAX: usize = 12;
/// So many call sites are in the table; more do not fit a page of a size that one sends around.
const SITES_MAX: usize = 3_000;

/// Makes the report of a replay of `file`.
#[must_use]
pub fn replay(replay: &Replay, file: &str) -> Document {
    let names: Vec<&str> = replay.allocators.iter().map(|a| a.allocator.as_str()).collect();
    let sections = [
        memory(replay),
        fragmentation(replay),
        counters(
            replay,
            "Paths taken",
            "How often each path was taken. The names are those of SLUB_STATS and their like.",
            |a| &a.paths,
        ),
        counters(
            replay,
            "Locks",
            "How often each lock, or an atomic operation in place of one, was taken.",
            |a| &a.locks,
        ),
        sites(replay),
    ];
    Document {
        title: format!("{} replayed under {}", base_name(file), names.join(", ")),
        question: "What would each allocator have made of this trace?".to_owned(),
        answers: answers(replay),
        sections: sections.into_iter().filter(|section| !section.items.is_empty()).collect(),
        facts: facts(&replay.trace, file),
    }
}

fn base_name(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or(file)
}

/// Says who held least and who took fewest locks, and how far the trace can be trusted.
fn answers(replay: &Replay) -> Vec<String> {
    let mut answers = failures(&replay.allocators);
    let held = |a: &Allocator| a.held_bytes.peak;
    // Who failed allocations holds little for that reason.
    let complete = || replay.allocators.iter().filter(|a| a.failed == 0);
    if let Some(least) = complete().min_by_key(|a| held(a)) {
        let others = complete().filter(|a| a.allocator != least.allocator);
        let others: Vec<String> = others
            .map(|a| match held(least) {
                0 => a.allocator.clone(),
                bytes => format!(
                    "{} {:+.1} %",
                    a.allocator,
                    (held(a) as f64 / bytes as f64 - 1.0) * 100.0
                ),
            })
            .collect();
        let rest =
            if others.is_empty() { String::new() } else { format!("; {}", others.join(", ")) };
        let bytes = human(held(least) as f64, "B");
        answers.push(format!("{} held least memory at its peak: {bytes}{rest}.", least.allocator));
    }
    let rate =
        |a: &Allocator| 1e3 * a.locks.values().sum::<u64>() as f64 / a.operations.max(1) as f64;
    let rates: Vec<String> =
        replay.allocators.iter().map(|a| format!("{} {:.1}", label(a), rate(a))).collect();
    if !rates.is_empty() {
        answers.push(format!(
            "Locks and atomic operations per 1,000 operations: {}.",
            rates.join(", ")
        ));
    }
    answers.push(format!(
        "{:.2} % of the recorded events could not be placed; the figures rest on the others.",
        replay.trace.unplaced_share * 100.0
    ));
    answers
}

fn memory(replay: &Replay) -> Section {
    let line = |name: &str, allocator: &Allocator, bytes: fn(&Sample) -> u64| Series {
        name: name.to_owned(),
        points: allocator
            .series
            .iter()
            .map(|s| Point { x: s.time_ns as f64, y: bytes(s) as f64, spread: None })
            .collect(),
    };
    let mut series: Vec<Series> =
        replay.allocators.iter().map(|a| line(&label(a), a, |s| s.held_bytes)).collect();
    series.extend(replay.allocators.first().map(|a| line("requested", a, |s| s.requested_bytes)));
    let plot = Lines {
        title: "Memory held over time".to_owned(),
        how: "Bytes in the pages of slabs and large blocks; each sample is the highest of its part of the trace. \
              'requested' is what callers asked for."
            .to_owned(),
        x: ("time in the trace".to_owned(), "ns".to_owned()),
        y: ("memory".to_owned(), "B".to_owned()),
        x_scale: AxisScale::Linear,
        y_scale: AxisScale::FromZero,
        series,
    };
    let table = DataTable {
        title: "Memory in numbers".to_owned(),
        how: "Internal fragmentation: allocated and not requested. External: held and not allocated. The shares are of \
              what is allocated and of what is held."
            .to_owned(),
        columns: vec![
            Column::new("allocator", ""),
            Column::new("allocations that failed", ""),
            Column::new("held, peak", "B"),
            Column::new("held, mean", "B"),
            Column::new("held, end", "B"),
            Column::new("slabs, peak", "B"),
            Column::new("requested at peak", "B"),
            Column::new("internal fragmentation, peak", ""),
            Column::new("external fragmentation, peak", ""),
            Column::new("external fragmentation, end", ""),
        ],
        rows: replay.allocators.iter().map(memory_row).collect(),
    };
    let drawn = replay.allocators.iter().any(|a| !a.series.is_empty());
    let mut items = Vec::new();
    if drawn {
        items.push(Item::Plot(Plot::Lines(plot)));
    }
    items.push(Item::Table(table));
    Section {
        title: "Memory".to_owned(),
        method: "Deterministic replay: one thread drives all CPUs of the trace in its order; the same trace gives the same \
                 numbers on any machine."
            .to_owned(),
        items,
    }
}

fn memory_row(a: &Allocator) -> Vec<Value> {
    let bytes = |n: u64| Value::Number(n as f64);
    vec![
        Value::Text(label(a)),
        bytes(a.failed),
        bytes(a.held_bytes.peak),
        bytes(a.held_bytes.mean),
        bytes(a.held_bytes.end),
        bytes(a.slab_bytes.peak),
        bytes(a.at_peak.requested_bytes),
        Value::Share(a.at_peak.internal_share),
        Value::Share(a.at_peak.external_share),
        Value::Share(a.at_end.external_share),
    ]
}

/// Returns the caches that had slabs of their own.
fn slabs_of(allocator: &Allocator) -> impl Iterator<Item = &Cache> {
    allocator.caches.iter().filter(|cache| cache.held_bytes_peak > 0)
}

/// Returns the bytes in slabs that hold no object when a cache is at its end.
fn unused(cache: &Cache) -> u64 {
    cache.held_bytes_end.saturating_sub(cache.objects_end * cache.object_bytes)
}

fn fragmentation(replay: &Replay) -> Section {
    let mut by_name: BTreeMap<&str, Vec<(String, f64)>> = BTreeMap::new();
    for allocator in &replay.allocators {
        for cache in slabs_of(allocator) {
            let bars = by_name.entry(&cache.cache).or_default();
            bars.push((label(allocator), unused(cache) as f64));
        }
    }
    let most = |bars: &[(String, f64)]| bars.iter().map(|(_, v)| *v).fold(0.0f64, f64::max);
    let mut groups: Vec<BarGroup> = by_name
        .into_iter()
        .map(|(name, bars)| BarGroup { name: name.to_owned(), bars })
        .filter(|group| most(&group.bars) > 0.0)
        .collect();
    groups.sort_by(|a, b| most(&b.bars).total_cmp(&most(&a.bars)));
    groups.truncate(CACHES_MAX);
    let mut items = Vec::new();
    if !groups.is_empty() {
        items.push(Item::Plot(Plot::Bars(Bars {
            title: "Memory that no object uses, by cache, at the end".to_owned(),
            how: format!(
                "Bytes in slabs less objects times object size; the {} caches with most. SLOB and SLMB mix sizes in a \
                 page and have no slabs of one cache.",
                groups.len()
            ),
            label: "cache".to_owned(),
            quantity: ("unused".to_owned(), "B".to_owned()),
            groups,
        })));
    }
    let rows: Vec<Vec<Value>> =
        replay.allocators.iter().flat_map(|a| slabs_of(a).map(move |c| cache_row(a, c))).collect();
    if !rows.is_empty() {
        items.push(Item::Table(DataTable {
            title: "Caches".to_owned(),
            how: "Each cache under each allocator that gave it slabs.".to_owned(),
            columns: vec![
                Column::new("cache", ""),
                Column::new("allocator", ""),
                Column::new("object", "B"),
                Column::new("objects per slab", ""),
                Column::new("objects, peak", ""),
                Column::new("slabs, peak", ""),
                Column::new("held, peak", "B"),
                Column::new("held, end", "B"),
                Column::new("unused, end", "B"),
            ],
            rows,
        }));
    }
    Section { title: "Fragmentation by cache".to_owned(), method: String::new(), items }
}

fn cache_row(allocator: &Allocator, cache: &Cache) -> Vec<Value> {
    let number = |n: u64| Value::Number(n as f64);
    vec![
        Value::text(&cache.cache),
        Value::Text(label(allocator)),
        number(cache.object_bytes),
        number(cache.objects_per_slab),
        number(cache.objects_peak),
        number(cache.slabs_peak),
        number(cache.held_bytes_peak),
        number(cache.held_bytes_end),
        number(unused(cache)),
    ]
}

/// Makes the table of one kind of counter: a row a counter, a column an allocator.
fn counters(
    replay: &Replay,
    title: &str,
    how: &str,
    map: fn(&Allocator) -> &BTreeMap<String, u64>,
) -> Section {
    let names: BTreeSet<&String> = replay.allocators.iter().flat_map(|a| map(a).keys()).collect();
    let mut columns = vec![Column::new("counter", "")];
    columns.extend(replay.allocators.iter().map(|a| Column::new(label(a), "")));
    let cell = |a: &Allocator, name: &str| {
        map(a).get(name).map_or(Value::Missing, |n| Value::Number(*n as f64))
    };
    let row = |name: &&String| {
        let cells = replay.allocators.iter().map(|a| cell(a, name));
        std::iter::once(Value::text(name.as_str())).chain(cells).collect()
    };
    let rows: Vec<Vec<Value>> = names.iter().map(row).collect();
    let items = match rows.is_empty() {
        true => Vec::new(),
        false => vec![Item::Table(DataTable {
            title: title.to_owned(),
            how: how.to_owned(),
            columns,
            rows,
        })],
    };
    Section { title: title.to_owned(), method: String::new(), items }
}

fn sites(replay: &Replay) -> Section {
    if replay.sites.is_empty() {
        return Section::default();
    }
    let mut requested = Flame::new(
        "Bytes requested, by call site",
        "B",
        "All allocations of the trace: interface or cache, module, then call site.",
    );
    for site in &replay.sites {
        requested.add(site_frames(site), site.requested_bytes);
    }
    let shown = replay.sites.len().min(SITES_MAX);
    let how = match replay.sites.len() {
        all if all > shown => {
            format!("The {shown} sites with most waste of {all}; --format csv --csv sites has all.")
        }
        _ => "Waste: the most bytes at once that were allocated and not requested.".to_owned(),
    };
    let mut items = vec![Item::Flame(requested)];
    items.extend(waste_flame("as recorded", replay));
    items.push(Item::Table(DataTable {
        title: "Call sites".to_owned(),
        how,
        columns: site_columns(replay),
        rows: replay.sites[..shown].iter().map(site_row).collect(),
    }));
    Section { title: "Call sites".to_owned(), method: String::new(), items }
}

fn site_columns(replay: &Replay) -> Vec<Column> {
    let mut columns = vec![
        Column::new("call site", ""),
        Column::new("cache", ""),
        Column::new("allocations", ""),
        Column::new("requested", "B"),
        Column::new("live, peak", ""),
        Column::new("median lifetime", "ns"),
        Column::new("freed on another CPU", ""),
    ];
    columns
        .extend(replay.allocators.iter().map(|a| Column::new(format!("waste, {}", label(a)), "B")));
    columns
}

fn site_row(site: &Site) -> Vec<Value> {
    let number = |n: u64| Value::Number(n as f64);
    let mut cells = vec![
        Value::text(&site.site),
        Value::text(if site.cache.is_empty() { "kmalloc" } else { &site.cache }),
        number(site.allocs),
        number(site.requested_bytes),
        number(site.live_peak),
        number(site.lifetime.p50_ns),
        number(site.frees_cross_cpu),
    ];
    cells.extend(site.under.iter().map(|under| number(under.waste_bytes_peak)));
    cells
}
