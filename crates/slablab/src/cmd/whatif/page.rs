//! The page of a what-if: memory over time, where the objects lie, and which caches and call sites the bytes
//! went to, each as recorded and with the change.

use std::collections::BTreeMap;

use slablab_replay::{Allocator, Cache, Sample, Site, WhatIf};
use slablab_report::{
    AddressPanel, Addresses, BarGroup, Bars, Column, DataTable, Document, Fact, Flame, Item, Lines,
    Place, Plot, Point, Section, Series, Value, human,
};

/// So many caches and call sites have bars; the tables have all that changed.
const BARS_MAX: usize = 12;

const BEFORE: &str = "as recorded";
const AFTER: &str = "changed";

/// Makes the page.
pub(super) fn document(file: &str, changes: &[String], what_if: &WhatIf) -> Document {
    let trace = &what_if.before.trace;
    let sections = [memory(what_if), objects(what_if), bytes(what_if)];
    let mut facts = vec![
        Fact::new("trace", file),
        Fact::new("recorded kernel", &trace.kernel_release),
        Fact::new("recorded command", trace.command.join(" ")),
        Fact::new("events", human(trace.events as f64, "")),
        Fact::new("not placed", format!("{:.2} %", trace.unplaced_share * 100.0)),
    ];
    facts.retain(|fact| !fact.value.trim().is_empty());
    Document {
        title: format!("What if: {}", changes.join("; ")),
        question: "What would this change have made of the trace?".to_owned(),
        answers: pairs(what_if).map(|(before, after)| answer(before, after)).collect(),
        sections: sections.into_iter().filter(|section| !section.items.is_empty()).collect(),
        facts,
    }
}

fn pairs(what_if: &WhatIf) -> impl Iterator<Item = (&Allocator, &Allocator)> {
    what_if.before.allocators.iter().zip(&what_if.after.allocators)
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
    let rows = differences.iter().map(|difference| {
        let change = difference.after as f64 - difference.before as f64;
        vec![
            Value::text(&difference.allocator),
            Value::text(difference.metric),
            Value::Number(difference.before as f64),
            Value::Number(difference.after as f64),
            Value::Number(change),
        ]
    });
    let table = DataTable {
        title: "What changed".to_owned(),
        how: "Bytes where the name says so, else counts.".to_owned(),
        columns: ["allocator", "metric", BEFORE, AFTER, "difference"]
            .map(|head| Column::new(head, ""))
            .to_vec(),
        rows: rows.collect(),
    };
    let plot = Lines {
        title: "Memory held over time".to_owned(),
        how: "Bytes in pages; each sample is the highest of its stretch of the trace.".to_owned(),
        x: ("time in the trace".to_owned(), "ns".to_owned()),
        y: ("memory".to_owned(), "B".to_owned()),
        x_place: Place::Linear,
        y_place: Place::FromZero,
        series,
    };
    Section {
        title: "Memory".to_owned(),
        method: "Two replays of the same trace, one with the change.".to_owned(),
        items: vec![Item::Plot(Plot::Lines(plot)), Item::Table(table)],
    }
}

fn point(sample: &Sample) -> Point {
    Point { x: sample.time_ns as f64, y: sample.held_bytes as f64, spread: None }
}

/// Where the objects lie that the change is about.
fn objects(what_if: &WhatIf) -> Section {
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
        how:
            "The objects of the dedicated call sites at that of eight snapshots with most of them."
                .to_owned(),
        panels,
    };
    Section {
        title: "Where the objects lie".to_owned(),
        method: String::new(),
        items: vec![Item::Plot(Plot::Addresses(map))],
    }
}

/// Which caches and call sites the bytes went to.
fn bytes(what_if: &WhatIf) -> Section {
    let mut items: Vec<Item> = pairs(what_if)
        .map(|(before, after)| caches(before, after))
        .filter(|bars| !bars.groups.is_empty())
        .map(|bars| Item::Plot(Plot::Bars(bars)))
        .collect();
    for (name, sites) in [(BEFORE, &what_if.before.sites), (AFTER, &what_if.after.sites)] {
        items.extend(flame(name, sites).map(Item::Flame));
    }
    Section {
        title: "Where the bytes go".to_owned(),
        method: "A cache's bytes are those at its own peak, so they add up to more than the whole."
            .to_owned(),
        items,
    }
}

/// Returns the caches that hold more or less than before, the most changed first.
fn caches(before: &Allocator, after: &Allocator) -> Bars {
    let held = |caches: &[Cache]| -> BTreeMap<String, u64> {
        caches.iter().map(|cache| (cache.cache.clone(), cache.held_bytes_peak)).collect()
    };
    let (mut from, to) = (held(&before.caches), held(&after.caches));
    let mut changed: Vec<(String, u64, u64)> = Vec::new();
    for (name, to) in to {
        let from = from.remove(&name).unwrap_or(0);
        changed.push((name, from, to));
    }
    changed.extend(from.into_iter().map(|(name, from)| (name, from, 0)));
    changed.retain(|(_, from, to)| from != to);
    changed.sort_by_key(|(_, from, to)| std::cmp::Reverse(from.abs_diff(*to)));
    let group = |(name, from, to): (String, u64, u64)| BarGroup {
        name,
        bars: vec![(BEFORE.to_owned(), from as f64), (AFTER.to_owned(), to as f64)],
    };
    Bars {
        title: format!("Bytes held, by cache, under {}", before.allocator),
        how: "The most bytes at once in the slabs of each cache; those that changed most."
            .to_owned(),
        label: "cache".to_owned(),
        quantity: ("held, peak".to_owned(), "B".to_owned()),
        groups: changed.into_iter().take(BARS_MAX).map(group).collect(),
    }
}

/// Returns the waste by cache, module and call site; none where nothing is wasted.
fn flame(name: &str, sites: &[Site]) -> Option<Flame> {
    let mut flame = Flame::new(
        format!("Bytes wasted at most at once, by call site, {name}"),
        "B",
        "Given and not asked for, under the first allocator.",
    );
    for site in sites {
        let (place, module) = site.site.split_once(" [").unwrap_or((&site.site, "vmlinux]"));
        let how = if site.cache.is_empty() { "kmalloc" } else { &site.cache };
        let waste = site.under.first().map_or(0, |under| under.waste_bytes_peak);
        flame.add([how, module.trim_end_matches(']'), place], waste);
    }
    (flame.weight() > 0).then_some(flame)
}
