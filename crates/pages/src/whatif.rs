//! The page of a what-if: memory over time, where the objects lie, and which caches and call sites the bytes
//! went to, each as recorded and with the change.

use std::collections::BTreeMap;

use slablab_replay::{Allocator, Moment, WhatIf};
use slablab_report::{AddressPanel, Addresses, Document, Item, Plot, Section, Waterfall, human};

use crate::trace::{SampleKind, facts, failures_of_change, memory_over_time, waste_flame};
use crate::{Sources, tables};

/// So many call sites are in the table; those that moved most come first.
const SITES_MAX: usize = 1_000;

const BEFORE: &str = "as recorded";
const AFTER: &str = "changed";

/// Makes the page of a what-if on the trace in `file`; `changes` are its changes in words.
pub fn what_if(
    file: &str,
    changes: &[String],
    what_if: &WhatIf,
    moments: &[Moment],
    sources: &Sources,
) -> Document {
    let how = "The objects of the dedicated call sites in the one of eight snapshots that has most of them.";
    let sections = [memory(what_if), objects(what_if, how), bytes(what_if, moments, sources)];
    Document {
        title: format!("What if: {}", changes.join("; ")),
        question: "What would this change have done to the recorded load?".to_owned(),
        answers: answers(what_if),
        sections: sections.into_iter().filter(|section| !section.items.is_empty()).collect(),
        facts: facts(&what_if.before.trace, file),
        ..Document::default()
    }
}

fn pairs(what_if: &WhatIf) -> impl Iterator<Item = (&Allocator, &Allocator)> {
    what_if.before.allocators.iter().zip(&what_if.after.allocators)
}

fn answers(what_if: &WhatIf) -> Vec<String> {
    let failing = pairs(what_if).flat_map(|(before, after)| failures_of_change(before, after));
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
    fn line<'a>(name: &str, a: &'a Allocator) -> (String, &'a Allocator, SampleKind) {
        (format!("{}, {name}", a.allocator), a, SampleKind::Held)
    }
    let plot = memory_over_time(
        "Bytes in pages; each sample is the highest of its part of the trace.",
        pairs(what_if).flat_map(|(a, b)| [line(BEFORE, a), line(AFTER, b)]),
    );
    let tables = pairs(what_if).map(|(before, after)| {
        let title = format!("{}: memory and paths", before.allocator);
        Item::table(title, "", tables::totals(before, after))
    });
    Section::new(
        "Memory",
        "Two replays of the same trace, one with the change.",
        std::iter::once(plot.into()).chain(tables).collect(),
    )
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
    let title = "Addresses of the objects, in the order of allocation";
    let map = Plot::new(title, how, Addresses { panels });
    Section::new("Where the objects lie", "", vec![map.into()])
}

/// Which caches and call sites the bytes went to.
fn bytes(what_if: &WhatIf, moments: &[Moment], sources: &Sources) -> Section {
    let caches = moments.iter().map(caches).filter(|plot| !plot.is_empty());
    let mut items: Vec<Item> = caches.map(Item::Plot).collect();
    let replays = [(BEFORE, &what_if.before), (AFTER, &what_if.after)];
    items.extend(replays.into_iter().filter_map(|(name, replay)| waste_flame(name, replay)));
    let sites = replays.map(|(name, replay)| (name, &replay.sites));
    items.extend(sites.into_iter().filter_map(|(name, sites)| sources.flame(name, sites)));
    items.extend(sources.missing());
    for (before, after) in pairs(what_if) {
        let changed = tables::changed_caches(before, after, usize::MAX);
        let title = format!("{}: caches that changed", before.allocator);
        items.extend((!changed.is_empty()).then(|| Item::table(title, "", changed)));
    }
    let moved = tables::moved_sites(what_if, Some(sources), SITES_MAX);
    let how = "Cache lines and pages for each object, mean over the trace.";
    let title = "Call sites whose objects lie elsewhere";
    items.extend((!moved.is_empty()).then(|| Item::table(title, how, moved)));
    Section::new("Where the bytes go", "", items)
}

/// Returns what each cache holds more or less than before.
fn caches(moment: &Moment) -> Plot {
    let (before, after) = (&moment.before, &moment.after);
    let mut changes: BTreeMap<&str, f64> = BTreeMap::new();
    for (allocator, sign) in [(before, -1.0), (after, 1.0)] {
        for cache in &allocator.caches {
            *changes.entry(&cache.cache).or_default() += sign * cache.held_bytes_end as f64;
        }
    }
    let changes = changes.into_iter().map(|(name, change)| (name.to_owned(), change)).collect();
    let held = |allocator: &Allocator| allocator.held_bytes.end as f64;
    let waterfall = Waterfall {
        label: "cache".to_owned(),
        quantity: ("held".to_owned(), "B".to_owned()),
        ..Waterfall::new((BEFORE, held(before)), (AFTER, held(after)), changes)
    };
    let how = "At the moment when the recorded machine held most; the caches that changed most.";
    Plot::new(format!("Bytes held, by cache, under {}", before.allocator), how, waterfall)
}
