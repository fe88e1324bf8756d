//! The page of a what-if: memory over time, where the objects lie, and which caches and call sites the bytes
//! went to, each as recorded and with the change.

use std::collections::BTreeMap;

use slablab_replay::{Allocator, Difference, Moment, Sample, WhatIf};
use slablab_report::{
    AddressPanel, Addresses, AxisScale, Column, DataTable, Document, Item, Lines, Plot, Point,
    Section, Series, Value, Waterfall, human,
};

use crate::Sources;
use crate::trace::{facts, failures, waste_flame};

pub(crate) const BEFORE: &str = "as recorded";
pub(crate) const AFTER: &str = "changed";

/// Makes the page of a what-if on the trace in `file`; `changes` are its changes in words.
#[must_use]
pub fn what_if(
    file: &str,
    changes: &[String],
    what_if: &WhatIf,
    moments: &[Moment],
    sources: &Sources,
) -> Document {
    let how =
        "The objects of the dedicated call sites at that of eight snapshots with most of them.";
    let sections = [memory(what_if), objects(what_if, how), bytes(what_if, moments, sources)];
    Document {
        title: format!("What if: {}", changes.join("; ")),
        question: "What would this change have done to the recorded load?".to_owned(),
        answers: answers(what_if),
        sections: sections.into_iter().filter(|section| !section.items.is_empty()).collect(),
        facts: facts(&what_if.before.trace, file),
    }
}

fn pairs(what_if: &WhatIf) -> impl Iterator<Item = (&Allocator, &Allocator)> {
    what_if.before.allocators.iter().zip(&what_if.after.allocators)
}

fn answers(what_if: &WhatIf) -> Vec<String> {
    let failing = pairs(what_if).flat_map(|(before, after)| failures([before, after]));
    failing.chain(pairs(what_if).map(|(before, after)| answer(before, after))).collect()
}

fn answer(before: &Allocator, after: &Allocator) -> String {
    let (from, to) = (before.held_bytes.peak, after.held_bytes.peak);
    let share = if from == 0 { 0.0 } else { (to as f64 / from as f64 - 1.0) * 100.0 };
    format!(
        "{}: {} held at the peak instead of {} ({share:+.2} %), {} on average instead of {}.",
        before.allocator,
        human(to as f64, "B"),
        human(from as f64, "B"),
        human(after.held_bytes.mean as f64, "B"),
        human(before.held_bytes.mean as f64, "B"),
    )
}

fn memory(what_if: &WhatIf) -> Section {
    let line = |name: &str, allocator: &Allocator| Series {
        name: format!("{}, {name}", allocator.allocator),
        points: allocator.series.iter().map(point).collect(),
    };
    let series = pairs(what_if).flat_map(|(a, b)| [line(BEFORE, a), line(AFTER, b)]).collect();
    let differences = what_if.differences();
    let (bytes, counts): (Vec<_>, Vec<_>) =
        differences.iter().partition(|difference| difference.metric.contains("bytes"));
    let tables = [("Memory", "B", bytes), ("Counts", "", counts)].into_iter();
    let tables = tables.filter(|(.., differences)| !differences.is_empty());
    let tables =
        tables.map(|(title, unit, differences)| Item::Table(changed(title, unit, &differences)));
    let plot = Lines {
        title: "Memory held over time".to_owned(),
        how: "Bytes in pages; each sample is the highest of its part of the trace.".to_owned(),
        x: ("time in the trace".to_owned(), "ns".to_owned()),
        y: ("memory".to_owned(), "B".to_owned()),
        x_scale: AxisScale::Linear,
        y_scale: AxisScale::FromZero,
        series,
    };
    Section {
        title: "Memory".to_owned(),
        method: "Two replays of the same trace, one with the change.".to_owned(),
        items: std::iter::once(Item::Plot(Plot::Lines(plot))).chain(tables).collect(),
    }
}

/// Returns the table of some differences, all in one unit.
fn changed(title: &str, unit: &str, differences: &[&Difference]) -> DataTable {
    let row = |difference: &&Difference| {
        let (before, after) = (difference.before as f64, difference.after as f64);
        vec![
            Value::text(&difference.allocator),
            Value::Text(metric_name(difference.metric)),
            Value::Number(before),
            Value::Number(after),
            Value::Number(after - before),
            if before == 0.0 { Value::Missing } else { Value::Share(after / before - 1.0) },
        ]
    };
    let numbers = [BEFORE, AFTER, "difference"].map(|head| Column::new(head, unit));
    let names = ["allocator", "what"].map(|head| Column::new(head, ""));
    DataTable {
        title: format!("{title}, {BEFORE} and {AFTER}"),
        how: String::new(),
        columns: names.into_iter().chain(numbers).chain([Column::new("change", "")]).collect(),
        rows: differences.iter().map(row).collect(),
    }
}

/// Returns a metric's name as people say it: `held_bytes_peak` is "memory held, peak".
fn metric_name(metric: &str) -> String {
    let (what, when) = match metric.rsplit_once('_') {
        Some((what, when @ ("peak" | "mean" | "end"))) => (what, format!(", {when}")),
        _ => (metric, String::new()),
    };
    let what = match what {
        "held_bytes" => "memory held",
        "slab_bytes" => "memory in slabs",
        "requested_bytes" => "memory requested",
        "allocated_bytes" => "memory allocated",
        "alloc_fastpath" => "allocations on the fast path",
        "free_fastpath" => "frees on the fast path",
        "locks" => "locks and atomic operations",
        "failed" => "allocations that failed",
        other => other,
    };
    format!("{what}{when}")
}

fn point(sample: &Sample) -> Point {
    Point { x: sample.time_ns as f64, y: sample.held_bytes as f64, spread: None }
}

/// Where the watched objects lie; empty where none are watched.
pub(crate) fn objects(what_if: &WhatIf, how: &str) -> Section {
    let panel = |name: &str, allocator: &Allocator| AddressPanel {
        name: format!("{}, {name}", allocator.allocator),
        addresses: allocator.watched.clone(),
    };
    let watched = pairs(what_if).filter(|(a, b)| !a.watched.is_empty() && !b.watched.is_empty());
    let panels: Vec<_> = watched.flat_map(|(a, b)| [panel(BEFORE, a), panel(AFTER, b)]).collect();
    if panels.is_empty() {
        return Section::default();
    }
    let map = Addresses {
        title: "Addresses of the objects, in the order of allocation".to_owned(),
        how: how.to_owned(),
        panels,
    };
    Section {
        title: "Where the objects lie".to_owned(),
        method: String::new(),
        items: vec![Item::Plot(Plot::Addresses(map))],
    }
}

/// Which caches and call sites the bytes went to.
fn bytes(what_if: &WhatIf, moments: &[Moment], sources: &Sources) -> Section {
    let mut items: Vec<Item> = moments
        .iter()
        .map(caches)
        .filter(|waterfall| !waterfall.steps.is_empty())
        .map(|waterfall| Item::Plot(Plot::Waterfall(waterfall)))
        .collect();
    let replays = [(BEFORE, &what_if.before), (AFTER, &what_if.after)];
    items.extend(replays.into_iter().filter_map(|(name, replay)| waste_flame(name, replay)));
    let sites = replays.map(|(name, replay)| (name, &replay.sites));
    items.extend(sites.into_iter().filter_map(|(name, sites)| sources.flame(name, sites)));
    items.extend(sources.missing());
    Section { title: "Where the bytes go".to_owned(), method: String::new(), items }
}

/// Returns what each cache holds more or less than before.
fn caches(moment: &Moment) -> Waterfall {
    let (before, after) = (&moment.before, &moment.after);
    let mut changes: BTreeMap<&str, f64> = BTreeMap::new();
    for (allocator, sign) in [(before, -1.0), (after, 1.0)] {
        for cache in &allocator.caches {
            *changes.entry(&cache.cache).or_default() += sign * cache.held_bytes_end as f64;
        }
    }
    let changes = changes.into_iter().map(|(name, change)| (name.to_owned(), change)).collect();
    let held = |allocator: &Allocator| allocator.held_bytes.end as f64;
    Waterfall {
        title: format!("Bytes held, by cache, under {}", before.allocator),
        how: "At the moment when the recorded machine held most; the caches that changed most."
            .to_owned(),
        label: "cache".to_owned(),
        quantity: ("held".to_owned(), "B".to_owned()),
        ..Waterfall::new((BEFORE, held(before)), (AFTER, held(after)), changes)
    }
}
