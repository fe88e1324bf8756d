//! The report of a replay: memory over time, fragmentation, paths, locks, and the call sites.

use std::collections::BTreeMap;

use slablab_replay::{Allocator, CacheUnder, Replay, Site};
use slablab_report::{
    BarGroup, Bars, Cell, Document, Flame, Item, Plot, Section, Table, counted, field, human,
};

use crate::tables;
use crate::trace::{
    SampleKind, facts, failures, label, memory_over_time, site_frames, waste_flame,
};

/// So many caches have bars; the table has all.
const CACHES_MAX: usize = 12;
/// So many call sites are in the table; more do not fit a page of a size that one sends around.
const SITES_MAX: usize = 3_000;

/// Makes the report of a replay of `file`.
pub fn replay(replay: &Replay, file: &str) -> Document {
    let names: Vec<&str> = replay.allocators.iter().map(|a| a.allocator.as_str()).collect();
    let sections = [
        memory(replay),
        fragmentation(replay),
        counters(
            "Paths taken",
            "How often each path was taken. The names are those of SLUB_STATS and their like.",
            tables::paths(&replay.allocators),
        ),
        counters(
            "Locks",
            "How often each lock, or an atomic operation in place of one, was taken.",
            tables::locks(&replay.allocators),
        ),
        sites(replay),
    ];
    Document {
        title: format!("{} replayed under {}", base_name(file), names.join(", ")),
        question: "What would each allocator have made of this trace?".to_owned(),
        answers: answers(replay),
        sections: sections.into_iter().filter(|section| !section.items.is_empty()).collect(),
        facts: facts(&replay.trace, file),
        ..Document::default()
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
        let (alike, others): (Vec<&Allocator>, Vec<&Allocator>) =
            complete().partition(|a| held(a) == held(least));
        let alike: Vec<&str> = alike.iter().map(|a| a.allocator.as_str()).collect();
        let more = |a: &&Allocator| {
            let times = held(a) as f64 / held(least) as f64;
            format!("{} {:+.1} %", a.allocator, (times - 1.0) * 100.0)
        };
        let bytes = human(held(least) as f64, "B");
        answers.push(match (&alike[..], &others[..]) {
            ([one], []) => format!("{one} held {bytes} at its peak."),
            (alike, []) => format!("{} held the same at their peaks: {bytes}.", alike.join(", ")),
            ([one], others) => {
                let others: Vec<String> = others.iter().map(more).collect();
                format!("{one} held least memory at its peak: {bytes}; {}.", others.join(", "))
            }
            (alike, others) => {
                let others: Vec<String> = others.iter().map(more).collect();
                let alike = alike.join(", ");
                format!("{alike} held least memory at their peaks: {bytes}; {}.", others.join(", "))
            }
        });
    }
    let rate =
        |a: &Allocator| 1e3 * a.locks.values().sum::<u64>() as f64 / a.operations.max(1) as f64;
    let working = replay.allocators.iter().filter(|a| a.operations > 0);
    let rates: Vec<String> = working.map(|a| format!("{} {:.1}", label(a), rate(a))).collect();
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
    let all = &replay.allocators;
    let held = all.iter().map(|a| (label(a), a, SampleKind::Held));
    let requested = all.first().map(|a| ("requested".to_owned(), a, SampleKind::Requested));
    let plot = memory_over_time(
        "Bytes in the pages of slabs and large blocks; each sample is the highest of its part of the trace. \
         'requested' is what callers asked for.",
        held.chain(requested),
    );
    let table = Item::table(
        "Memory in numbers",
        "Internal fragmentation: allocated and not requested. External: held and not allocated. The shares are of \
         what is allocated and of what is held.",
        tables::memory(&replay.allocators),
    );
    Section::new(
        "Memory",
        "Deterministic replay: one thread drives all CPUs of the trace in its order; the same trace gives the same \
                 numbers on any machine.",
        Some(plot)
            .filter(|plot| !plot.is_empty())
            .map(Item::Plot)
            .into_iter()
            .chain([table])
            .collect(),
    )
}

/// Returns the caches that had slabs of their own.
fn slabs_of(allocator: &Allocator) -> impl Iterator<Item = &CacheUnder> {
    allocator.caches.iter().filter(|cache| cache.held_bytes_peak > 0)
}

/// Returns the bytes in slabs that hold no object when a cache is at its end.
fn unused(cache: &CacheUnder) -> u64 {
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
        let how = format!(
            "Bytes in slabs less objects times object size; the {} with most. SLOB and SLMB mix caches in a page: only \
             those whose objects are a page and more have slabs of their own.",
            counted(groups.len() as u64, "cache")
        );
        let quantity = ("unused".to_owned(), "B".to_owned());
        let bars = Bars { label: "cache".to_owned(), quantity, groups };
        items.push(Plot::new("Memory that no object uses, by cache, at the end", how, bars).into());
    }
    let caches = tables::caches(&replay.allocators, usize::MAX);
    if !caches.is_empty() {
        let how = "Each cache under each allocator that gave it slabs, those that held most first.";
        items.push(Item::table("Caches", how, caches));
    }
    Section::new("Fragmentation by cache", "", items)
}

/// Makes the section of one kind of counter.
fn counters(title: &str, how: &str, table: Table) -> Section {
    let items = if table.is_empty() { Vec::new() } else { vec![Item::table(title, how, table)] };
    Section::new(title, "", items)
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
    let mut fields = vec![
        field::name("call site", "site", |s: &Site| &s.site),
        field::name("cache", "cache", |s| if s.cache.is_empty() { "kmalloc" } else { &s.cache }),
        field::count("allocations", "allocs", |s| s.allocs),
        field::bytes("requested", "requested_bytes", |s| s.requested_bytes),
        field::count("live, peak", "live_peak", |s| s.live_peak),
        field::cell("median lifetime", "lifetime_ns_p50", |s| match s.lifetime.ended {
            0 => Cell::Missing,
            _ => Cell::Ns(s.lifetime.p50_ns),
        }),
        field::count("freed on another CPU", "frees_cross_cpu", |s| s.frees_cross_cpu),
    ];
    for (at, allocator) in replay.allocators.iter().enumerate() {
        let waste = move |site: &Site| Cell::Bytes(site.under[at].waste_bytes_peak);
        fields.push(field::by(&format!("waste, {}", label(allocator)), "waste_bytes_peak", waste));
    }
    items.push(Item::table("Call sites", how, Table::of_fields(&replay.sites[..shown], fields)));
    Section::new("Call sites", "", items)
}
