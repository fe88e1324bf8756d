//! A what-if: the trace with a change, beside what was recorded.

use std::collections::BTreeMap;

use serde::Serialize;
use slablab_replay::{
    Allocator, CacheUnder, Difference, Moment, Placement, RestOfMachine, Site, SiteUnder, WhatIf,
};
use slablab_report::{
    AddressPanel, Addresses, Cell, Document, Item, Plot, Section, Table, Waterfall, counted, field,
    human,
};

use super::cache_pair::{Both, CachePair, pairs, table};
use super::rest;
use super::sources::Sources;
use super::trace::{
    added_up, cache_name, facts, failures_of_change, memory_over_time, over_hosts, sampled, source,
    waste_flame,
};
use super::vectors;
use crate::output::Answer;

const BEFORE: &str = "as recorded";
const AFTER: &str = "changed";
/// Changes that the first sentence names.
const CHANGES_NAMED: usize = 3;

/// What `slablab whatif` answers.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
pub(crate) struct WhatIfAnswer {
    pub(crate) file: String,
    /// The changes in words
    pub(crate) changes: Vec<String>,
    /// In how many of several traces each change was made; empty for one trace
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) traces_changed: Vec<u64>,
    pub(crate) differences: Vec<Difference>,
    #[serde(flatten)]
    pub(crate) what_if: WhatIf,
    /// What a trace does not tell of what is changed
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) untold: Option<String>,
    /// Bytes of the structures of caches that a change of accounting adds, below 0 of those that go: the replays have no objects
    /// for them
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) structures_bytes: Option<i64>,
    /// What the rest of the machine sees, where the trace has events of pages, or free lists were told
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rest: Option<RestOfMachine>,
    /// Remarks about the traces
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) remarks: Vec<String>,
    /// Remarks about the changes
    #[serde(skip)]
    pub(crate) notes: Vec<&'static str>,
    /// Where call sites are in the source, where that was looked up
    #[serde(skip)]
    pub(crate) sources: Option<Sources>,
    /// Each allocator when it held most as recorded, where a page wants it
    #[serde(skip)]
    pub(crate) moments: Vec<Moment>,
}

impl Answer for WhatIfAnswer {
    const SCHEMA: &'static str = "slablab.whatif/1";

    fn document(&self) -> Document {
        let WhatIf { before, after, .. } = &self.what_if;
        let fleet = before.fleet.as_ref();
        let what_if = &self.what_if;
        let notes = self.notes.iter().map(|&note| note.to_owned());
        let of_rest = self.rest.as_ref();
        Document {
            title: format!("What if: {}", self.changes.join("; ")),
            question: "What would this change have done to the recorded load?".to_owned(),
            answers: self.sentences(),
            sections: [
                Section::first("memory", "", vec![plot(what_if), totals(what_if)])
                    .with_method("Two replays of the same trace, one with the change."),
                vectors::section(what_if),
                Section::named("caches", "Caches that changed", vec![changed_caches(what_if)]),
                Section::named(
                    "sites",
                    "Call sites whose objects lie elsewhere",
                    vec![moved_sites(what_if, self.sources.as_ref())],
                ),
                over_hosts(
                    "Saved at the peaks, over hosts",
                    &before.allocators,
                    &what_if.saved_bytes_at_peak_over_hosts.iter().collect::<Vec<_>>(),
                ),
                Section::named("changes", "Changes", self.all_changes()),
                objects(
                    what_if,
                    "The objects of the dedicated call sites in the one of eight snapshots that has most of them.",
                ),
                Section::page("bytes", "Where the bytes go", self.bytes()),
                Section::data("differences", "Differences", differences(&self.differences)),
            ]
            .into_iter()
            .chain(of_rest.map(rest::sections).unwrap_or_default())
            .collect(),
            source: source(&self.file, &before.trace, fleet),
            notes: sampled(&before.trace)
                .into_iter()
                .chain(added_up(fleet))
                .chain(notes)
                .chain(of_rest.map(rest::truth))
                .chain(self.remarks.iter().cloned())
                .collect(),
            facts: facts(&self.file, &after.trace, fleet),
            ..Document::default()
        }
    }
}

impl WhatIfAnswer {
    /// Says what failed, what was changed, and what each allocator then held.
    fn sentences(&self) -> Vec<String> {
        let all = pairs(&self.what_if);
        let failing = all.flat_map(|(before, after)| failures_of_change(before, after));
        let mut sentences: Vec<_> = failing.collect();
        let (named, rest) = self.changes.split_at(self.changes.len().min(CHANGES_NAMED));
        let more = match rest.len() {
            0 => String::new(),
            more => format!("; and {}", counted(more as u64, "more change")),
        };
        sentences.push(format!("Changed: {}{more}.", named.join("; ")));
        if let (Some(unchanged), Some(fleet)) =
            (self.what_if.traces_unchanged.filter(|n| *n > 0), &self.what_if.before.fleet)
        {
            sentences.push(format!(
                "{unchanged} of {} lack what is changed, and count as they are.",
                counted(fleet.traces, "trace")
            ));
        }
        sentences.extend(pairs(&self.what_if).map(|(before, after)| held(before, after)));
        sentences.extend(
            pairs(&self.what_if).filter_map(|(before, after)| vectors::sentence(before, after)),
        );
        sentences.extend(self.structures_bytes.and_then(vectors::structures));
        sentences.extend(self.untold.clone());
        sentences.extend(self.rest.iter().flat_map(rest::sentences));
        sentences
    }

    /// Returns every change; of several traces with the number of those in which it was made.
    fn all_changes(&self) -> Vec<Item> {
        let traces = self.what_if.before.fleet.as_ref().map_or(0, |fleet| fleet.traces);
        let made = self.traces_changed.iter().copied().chain(std::iter::repeat(traces));
        let words = |(change, made): (&String, u64)| match made == traces {
            true => change.clone(),
            false => format!("{change} (in {made} of {})", counted(traces, "trace")),
        };
        vec![Item::Lines(self.changes.iter().zip(made).map(words).collect())]
    }

    /// Draws which caches and call sites the bytes went to.
    fn bytes(&self) -> Vec<Item> {
        let caches = self.moments.iter().map(cache_steps).filter(|plot| !plot.is_empty());
        let mut items: Vec<Item> = caches.map(Item::Plot).collect();
        let replays = [(BEFORE, &self.what_if.before), (AFTER, &self.what_if.after)];
        items.extend(replays.into_iter().filter_map(|(name, replay)| waste_flame(name, replay)));
        if let Some(sources) = &self.sources {
            let sites = replays.map(|(name, replay)| (name, &replay.sites));
            items.extend(sites.into_iter().filter_map(|(name, sites)| sources.flame(name, sites)));
            items.extend(sources.missing());
        }
        items
    }
}

/// Says what an allocator holds with the change.
fn held(before: &Allocator, after: &Allocator) -> String {
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

fn plot(what_if: &WhatIf) -> Item {
    let how = "Bytes in pages; each sample is the highest of its part of the trace.";
    let lines = pairs(what_if).flat_map(|(before, after)| {
        [(BEFORE, before), (AFTER, after)].map(
            |(name, a)| -> (String, &Allocator, fn(&slablab_replay::Sample) -> u64) {
                (format!("{}, {name}", a.allocator), a, |sample| sample.held_bytes)
            },
        )
    });
    memory_over_time(how, lines)
}

/// A number of an allocator before and after.
struct Total<'a> {
    allocator: &'a str,
    name: &'static str,
    before: Cell,
    after: Cell,
    difference: Cell,
}

/// How a number is read, and what it counts.
#[derive(Clone, Copy)]
enum Read {
    Bytes(fn(&Allocator) -> u64),
    Count(fn(&Allocator) -> u64),
    Share(fn(&Allocator) -> f64),
    /// A path that was never taken has no share.
    Path(fn(&Allocator) -> (u64, u64)),
}

const TOTALS: [(&str, Read); 12] = [
    ("allocations that failed", Read::Count(|a| a.failed)),
    ("held, peak", Read::Bytes(|a| a.held_bytes.peak)),
    ("held, mean", Read::Bytes(|a| a.held_bytes.mean)),
    ("held, end", Read::Bytes(|a| a.held_bytes.end)),
    (
        "waste at peak",
        Read::Bytes(|a| a.at_peak.allocated_bytes.saturating_sub(a.at_peak.requested_bytes)),
    ),
    ("pages of 4 KiB held, peak", Read::Count(|a| a.held_bytes.peak / 4096)),
    ("slabs, peak", Read::Count(|a| a.slabs.peak)),
    ("locks and atomics", Read::Count(|a| a.locks.values().sum())),
    ("internal fragmentation", Read::Share(|a| a.at_peak.internal_share)),
    ("external fragmentation", Read::Share(|a| a.at_peak.external_share)),
    ("allocs on the fast path", Read::Path(Allocator::alloc_paths)),
    ("frees on the fast path", Read::Path(Allocator::free_paths)),
];

impl<'a> Total<'a> {
    fn new(name: &'static str, read: Read, before: &'a Allocator, after: &Allocator) -> Self {
        let points = |a: &Cell, b: &Cell| match (a, b) {
            (Cell::Share(a), Cell::Share(b)) => Cell::Points((b - a) * 100.0),
            _ => Cell::Missing,
        };
        let cell = |of: &Allocator| match read {
            Read::Bytes(read) => Cell::Bytes(read(of)),
            Read::Count(read) => Cell::Count(read(of)),
            Read::Share(read) => Cell::Share(read(of)),
            Read::Path(read) => {
                let (fast, all) = read(of);
                Cell::share(fast, all)
            }
        };
        let (a, b) = (cell(before), cell(after));
        let difference = match (&a, &b) {
            (Cell::Bytes(a), Cell::Bytes(b)) => Cell::BytesChange(*a, *b),
            (Cell::Count(a), Cell::Count(b)) => Cell::CountChange(*a, *b),
            _ => points(&a, &b),
        };
        Self { allocator: &before.allocator, name, before: a, after: b, difference }
    }
}

/// Returns the table of bytes, shares and counts, number by number.
fn totals(what_if: &WhatIf) -> Item {
    let have_failed = pairs(what_if).any(|(before, after)| before.failed + after.failed > 0);
    let mut rows = Vec::new();
    for (name, read) in &TOTALS[usize::from(!have_failed)..] {
        rows.extend(pairs(what_if).map(|(a, b)| Total::new(name, *read, a, b)));
    }
    let mut fields = vec![
        field::name("number", "what", |row: &Total<'_>| row.name),
        field::cell("before", "before", |row| row.before.clone()),
        field::cell("after", "after", |row| row.after.clone()),
        field::cell("difference", "difference", |row| row.difference.clone()),
    ];
    if what_if.before.allocators.len() > 1 {
        fields.insert(1, field::name("allocator", "allocator", |row: &Total<'_>| row.allocator));
    }
    let how = "Held: bytes in slabs and large blocks. Waste: bytes allocated and not requested. Fragmentation is that at \
               the peak.";
    Item::table("Memory and paths", how, Table::of_fields(&rows, fields))
}

/// Returns the numbers that changed, one on each line.
fn differences(differences: &[Difference]) -> Table {
    let fields = [
        field::name("allocator", "allocator", |difference: &Difference| &difference.allocator),
        field::name("metric", "metric", |difference| difference.metric),
        field::count("before", "before", |difference| difference.before),
        field::count("after", "after", |difference| difference.after),
    ];
    Table::of(differences, fields)
}

/// Returns the table of the caches that hold more or less than before: the new ones, and the neighbours.
fn changed_caches(what_if: &WhatIf) -> Item {
    let mut rows: Vec<_> = pairs(what_if)
        .flat_map(|(before, after)| {
            CachePair::of(&before.allocator, &before.caches, &after.caches, |cache| &cache.cache)
        })
        .filter(|row| row.before != row.after)
        .collect();
    let held = |row: &CachePair<'_, CacheUnder>| row.numbers(|cache| cache.held_bytes_peak);
    rows.sort_by_key(|row| {
        let (before, after) = held(row);
        std::cmp::Reverse(before.abs_diff(after))
    });
    let both = |head, key, read| Both::<CacheUnder> { head, key, read };
    let columns = [
        both("objects, peak", "objects_peak", |cache| Cell::Count(cache.objects_peak)),
        both("slabs, peak", "slabs_peak", |cache| Cell::Count(cache.slabs_peak)),
        both("held, peak", "held_bytes_peak", |cache| Cell::Bytes(cache.held_bytes_peak)),
    ];
    let difference = field::by("difference", "held_bytes_peak_difference", move |row| {
        let (before, after) = held(row);
        Cell::BytesChange(before, after)
    });
    Item::table("", "", table(what_if, &rows, &columns, Some(difference)))
}

/// A call site whose objects lie elsewhere than before.
struct MovedSite<'a> {
    site: &'a Site,
    allocator: &'a str,
    /// How many more or fewer cache lines a walk over all its objects touches
    lines: f64,
    before: Placement,
    after: Placement,
}

/// Returns the table of the call sites whose objects lie denser or wider than before.
fn moved_sites(what_if: &WhatIf, sources: Option<&Sources>) -> Item {
    let after: BTreeMap<&str, &Site> =
        what_if.after.sites.iter().map(|site| (site.site.as_str(), site)).collect();
    let mut rows: Vec<MovedSite<'_>> = Vec::new();
    for site in &what_if.before.sites {
        let Some(now) = after.get(site.site.as_str()) else { continue };
        let names = what_if.before.allocators.iter().map(|a| a.allocator.as_str());
        for (allocator, (a, b)) in names.zip(site.under.iter().zip(&now.under)) {
            rows.extend(MovedSite::new(site, allocator, a, b));
        }
    }
    rows.sort_by(|a, b| b.lines.total_cmp(&a.lines).then_with(|| a.site.site.cmp(&b.site.site)));
    let mut fields = vec![
        field::name("call site", "site", |row: &MovedSite<'_>| &row.site.site),
        field::name("cache", "cache", |row: &MovedSite<'_>| cache_name(row.site)).as_data(),
        field::name("allocator", "allocator", |row| row.allocator),
        field::count("live, peak", "live_peak", |row| row.site.live_peak),
        field::cell("lines", "lines_per_object_before", |row| {
            Cell::Number(row.before.lines_per_object, 2)
        }),
        field::cell("after", "lines_per_object_after", |row| {
            Cell::Number(row.after.lines_per_object, 2)
        }),
        field::cell("pages", "pages_per_object_before", |row| {
            Cell::Number(row.before.pages_per_object, 3)
        }),
        field::cell("after", "pages_per_object_after", |row| {
            Cell::Number(row.after.pages_per_object, 3)
        }),
        field::share("adjacent", "adjacent_share_before", |row| row.before.adjacent_share),
        field::share("after", "adjacent_share_after", |row| row.after.adjacent_share),
    ];
    if let Some(sources) = sources {
        let line = |row: &MovedSite<'_>| sources.line(&row.site.site).unwrap_or_else(|| "-".into());
        fields.push(field::text_by("source", "source", line));
    }
    let how = "Cache lines and pages for each object, mean over the trace.";
    Item::table("", how, Table::of_fields(&rows, fields))
}

impl<'a> MovedSite<'a> {
    /// Returns the site if its objects lie elsewhere.
    fn new(site: &'a Site, allocator: &'a str, a: &SiteUnder, b: &SiteUnder) -> Option<Self> {
        let (before, after) = (a.placement?, b.placement?);
        // Weighed by the objects that lie there: what a walk over all of them touches.
        let per_object = (before.lines_per_object - after.lines_per_object).abs();
        let lines = per_object * site.live_peak as f64;
        let has_moved = lines > 0.0 || before.adjacent_share != after.adjacent_share;
        has_moved.then_some(Self { site, allocator, lines, before, after })
    }
}

/// Draws where the watched objects lie; empty where none are watched.
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
    Section::page("objects", "Where the objects lie", vec![map.into()])
}

/// Draws what each cache holds more or less than before.
fn cache_steps(moment: &Moment) -> Plot {
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
