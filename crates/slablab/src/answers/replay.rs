//! A replay: what each allocator held and locked, and the call sites and caches behind it.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use slablab_kmem::BackendKind;
use slablab_replay::{
    Allocator, CacheFit, CacheUnder, Fit, Fragmentation, Level, LifetimeSummary, Placement, Replay,
    SEEN_SHARE_MIN, Sample, Site, SiteUnder,
};
use slablab_report::{
    BarGroup, Bars, Cell, Document, Flame, Item, Plot, Section, Table, counted, field, human,
};

use super::trace::{
    added_up, cache_name, facts, failures, label, memory_over_time, over_hosts, sampled,
    site_frames, source, waste_flame,
};
use crate::output::Answer;

/// Caches that have bars; the table has all.
const BAR_GROUPS_MAX: usize = 12;

/// What `slablab replay` answers.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
pub(crate) struct ReplayAnswer {
    pub(crate) file: String,
    #[serde(flatten)]
    pub(crate) replay: Replay,
    /// What to know of the traces
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub(crate) remarks: Vec<String>,
    /// What the recorded kernel had, where that chose the allocators
    #[serde(skip)]
    pub(crate) recorded: Option<BackendKind>,
}

impl Answer for ReplayAnswer {
    const SCHEMA: &'static str = "slablab.replay/1";

    fn document(&self) -> Document {
        let Replay { fleet, trace, allocators, .. } = &self.replay;
        let names: Vec<_> = allocators.iter().map(|a| a.allocator.as_str()).collect();
        let base_name = self.file.rsplit('/').next().unwrap_or(&self.file);
        Document {
            title: format!("{base_name} replayed under {}", names.join(", ")),
            question: "What would each allocator have made of this trace?".to_owned(),
            answers: self.sentences(),
            sections: vec![
                Section::first("memory", "", vec![plot(allocators), memory(allocators)])
                    .with_method(
                        "Deterministic replay: one thread drives all CPUs of the trace in its order; the same trace \
                         gives the same numbers on any machine.",
                    ),
                Section::named("paths", "Paths taken", vec![paths(allocators)]),
                Section::named("locks", "Locks taken", vec![locks(allocators)]),
                Section::named("sites", "Call sites with most waste", vec![sites(&self.replay)]),
                Section::named("caches", "Caches that held most", vec![caches(allocators)]),
                self.fit_section(),
                self.hosts_section(),
                Section::page("fragmentation", "Fragmentation by cache", unused(allocators)),
                Section::page("flames", "Where the bytes go", flames(&self.replay)),
                Section::data("totals", "Totals", totals(allocators)),
                Section::data("series", "Memory over time", series(allocators)),
            ],
            source: source(&self.file, trace, fleet.as_ref()),
            notes: sampled(trace)
                .into_iter()
                .chain(added_up(fleet.as_ref()))
                .chain(self.remarks.iter().cloned())
                .collect(),
            facts: facts(&self.file, trace, fleet.as_ref()),
            ..Document::default()
        }
    }
}

impl ReplayAnswer {
    /// Makes the document of a stored replay of the trace in `file`.
    pub(crate) fn stored(replay: &Replay, file: &str) -> Document {
        let (file, replay) = (file.to_owned(), replay.clone());
        Self { file, replay, remarks: Vec::new(), recorded: None }.document()
    }

    /// Says who held least and who took fewest locks, and how true the model is of the recorded kernel.
    fn sentences(&self) -> Vec<String> {
        let allocators = &self.replay.allocators;
        let mut sentences = failures(allocators);
        sentences.extend(least_held(allocators));
        sentences.extend(locks_taken(allocators));
        if let Some(kind) = self.recorded {
            sentences.push(format!("The recorded kernel had {}, which stands first.", kind.name()));
        }
        sentences.extend(self.fit().map(|(allocator, fit)| fit_sentence(allocator, fit)));
        sentences
    }

    /// Returns the allocator that the recorded kernel had, beside what that kernel said.
    fn fit(&self) -> Option<(&Allocator, &Fit)> {
        self.replay.allocators.iter().find_map(|a| a.fit.as_ref().map(|fit| (a, fit)))
    }

    fn hosts_section(&self) -> Section {
        let allocators = &self.replay.allocators;
        let over: Vec<_> =
            allocators.iter().filter_map(|a| a.held_bytes_peak_over_hosts.as_ref()).collect();
        over_hosts("Held at the peaks, over hosts", allocators, &over)
    }

    fn fit_section(&self) -> Section {
        let items = self.fit().map(|(_, fit)| Item::table("", "", caches_beside(fit)));
        Section::named("fit", "Slabs recorded and simulated", items.into_iter().collect())
    }
}

/// Returns who held least at its peak. An allocator that failed allocations holds little for that reason,
/// and is left out.
fn least_held(allocators: &[Allocator]) -> Option<String> {
    let held = |a: &Allocator| a.held_bytes.peak;
    let complete: Vec<_> = allocators.iter().filter(|a| a.failed == 0).collect();
    let least = complete.iter().map(|a| held(a)).min()?;
    let (alike, others): (Vec<&Allocator>, Vec<&Allocator>) =
        complete.into_iter().partition(|a| held(a) == least);
    let alike: Vec<_> = alike.iter().map(|a| a.allocator.as_str()).collect();
    let bytes = human(least as f64, "B");
    if others.is_empty() {
        return Some(format!("{} held {bytes} at the peak.", alike.join(", ")));
    }
    let more = |a: &&Allocator| {
        let times = held(a) as f64 / least as f64;
        format!("{} {:+.1} %", a.allocator, (times - 1.0) * 100.0)
    };
    let others: Vec<_> = others.iter().map(more).collect();
    Some(format!(
        "{} held least memory at the peak: {bytes}; {}.",
        alike.join(", "),
        others.join(", ")
    ))
}

/// Says how many locks each took.
fn locks_taken(allocators: &[Allocator]) -> Option<String> {
    let rates: Vec<_> = allocators
        .iter()
        .filter_map(|a| Some(format!("{} {:.1}", label(a), lock_rate(a)?)))
        .collect();
    (!rates.is_empty())
        .then(|| format!("Locks and atomic operations per 1,000 operations: {}.", rates.join(", ")))
}

/// Returns the locks, and atomic operations in place of one, per 1,000 operations.
fn lock_rate(allocator: &Allocator) -> Option<f64> {
    let all: u64 = allocator.locks.values().sum();
    (allocator.operations > 0).then(|| 1e3 * all as f64 / allocator.operations as f64)
}

/// Says by how much the simulation differs from what the recorded kernel said of itself.
fn fit_sentence(allocator: &Allocator, fit: &Fit) -> String {
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

/// Names the cache that differs most, and which of its events were not seen.
fn of_worst(worst: &CacheFit) -> String {
    let shares = [
        ("frees", worst.frees_seen_share, "were seen"),
        ("allocations", worst.allocs_seen_share, "were seen"),
        ("objects at the end", worst.living_known_share, "are known to live"),
    ];
    let few = shares.into_iter().find_map(|(what, share, known)| {
        let share = share.filter(|share| *share < SEEN_SHARE_MIN)?;
        Some(format!(", {:.0} % of whose {what} {known}", share * 100.0))
    });
    format!(" ({}{})", worst.cache, few.unwrap_or_default())
}

/// Draws what each allocator held over time, and what callers asked for.
fn plot(allocators: &[Allocator]) -> Item {
    type Line<'a> = (String, &'a Allocator, fn(&Sample) -> u64);
    let held = allocators.iter().map(|a| -> Line<'_> { (label(a), a, |s| s.held_bytes) });
    let requested = allocators
        .first()
        .map(|a| -> Line<'_> { ("requested".to_owned(), a, |s| s.requested_bytes) });
    let how = "Bytes in the pages of slabs and large blocks; each sample is the highest of its part of the trace. \
               'requested' is what callers asked for.";
    memory_over_time(how, held.chain(requested))
}

/// Returns the table of bytes, fragmentation and locks, with a row for each allocator.
fn memory(allocators: &[Allocator]) -> Item {
    let first = allocators.first().map_or(0, |a| a.held_bytes.peak);
    let failing = allocators.iter().any(|a| a.failed > 0);
    let failed = field::count("failed", "failed", |a: &Allocator| a.failed);
    let mut fields = vec![
        field::text("allocator", "allocator", label),
        field::bytes("held, peak", "held_bytes_peak", |a| a.held_bytes.peak),
        field::by("beside the first", "held_change", move |a: &Allocator| {
            match a.held_bytes.peak as f64 / first as f64 {
                _ if first == 0 => Cell::Missing,
                times => Cell::Change(times - 1.0),
            }
        })
        .where_room(),
        field::bytes("mean", "held_bytes_mean", |a| a.held_bytes.mean),
        field::bytes("end", "held_bytes_end", |a| a.held_bytes.end),
        field::bytes("slabs, peak", "slab_bytes_peak", |a: &Allocator| a.slab_bytes.peak).on_page(),
        field::bytes("slabs, mean", "slab_bytes_mean", |a: &Allocator| a.slab_bytes.mean).on_page(),
        field::bytes("slabs, end", "slab_bytes_end", |a: &Allocator| a.slab_bytes.end).on_page(),
        field::bytes("requested, peak", "requested_bytes_at_peak", |a: &Allocator| {
            a.at_peak.requested_bytes
        })
        .on_page(),
        field::share("internal", "internal_share_at_peak", |a| a.at_peak.internal_share),
        field::share("external", "external_share_at_peak", |a| a.at_peak.external_share),
        field::share("external, end", "external_share_at_end", |a: &Allocator| {
            a.at_end.external_share
        })
        .on_page(),
        field::cell("locks/1,000", "locks_per_1000_operations", |a| {
            lock_rate(a).map_or(Cell::Missing, |rate| Cell::Number(rate, 1))
        }),
    ];
    if failing {
        fields.insert(1, failed);
    }
    Item::table(
        "Memory in numbers",
        "Held: bytes in slabs and large blocks. Internal fragmentation: allocated and not requested; external: held and \
         not allocated; shares of what is allocated and of what is held, at the peak. Locks and atomic operations in \
         their place, per 1,000 operations.",
        Table::of_fields(allocators, fields),
    )
}

/// A row of a table with a column for each allocator.
type Row<'a> = (&'a str, Box<dyn Fn(&Allocator) -> Cell + 'a>);

/// Returns `rows` with a column of their names and one for each allocator.
fn by_allocator(allocators: &[Allocator], head: &str, rows: &[Row<'_>]) -> Table {
    let mut fields = vec![field::name(head, head, |(name, _): &Row<'_>| name)];
    for allocator in allocators {
        let cell = move |(_, cell): &Row<'_>| cell(allocator);
        fields.push(field::by(&label(allocator), &allocator.allocator, cell));
    }
    Table::of_fields(rows, fields)
}

fn paths(allocators: &[Allocator]) -> Item {
    let share = |(fast, all)| Cell::share(fast, all);
    let shares: [Row<'_>; 2] = [
        ("allocs on the fast path", Box::new(move |a| share(a.alloc_paths()))),
        ("frees on the fast path", Box::new(move |a| share(a.free_paths()))),
    ];
    let rows: Vec<_> = shares.into_iter().chain(counts(allocators, |a| &a.paths)).collect();
    let how = "How often each path was taken. The names are those of SLUB_STATS and their like.";
    Item::table("Paths taken", how, by_allocator(allocators, "path", &rows))
}

fn locks(allocators: &[Allocator]) -> Item {
    let rate = |a: &Allocator| lock_rate(a).map_or(Cell::Missing, |rate| Cell::Number(rate, 1));
    let rate: Row<'_> = ("all, per 1,000 operations", Box::new(rate));
    let rows: Vec<_> = counts(allocators, |a| &a.locks).chain([rate]).collect();
    let how = "How often each lock, or an atomic operation in place of one, was taken.";
    Item::table("Locks taken", how, by_allocator(allocators, "lock", &rows))
}

/// Returns a row for each counter that any allocator has.
fn counts(
    allocators: &[Allocator],
    map: fn(&Allocator) -> &BTreeMap<String, u64>,
) -> impl Iterator<Item = Row<'_>> {
    let all = allocators.iter().flat_map(map);
    let names: BTreeSet<&str> =
        all.filter(|(_, n)| **n > 0).map(|(name, _)| name.as_str()).collect();
    names.into_iter().map(move |name| -> Row<'_> {
        let cell = move |a: &Allocator| match map(a).get(name) {
            Some(n) if *n > 0 => Cell::Count(*n),
            _ => Cell::Missing,
        };
        (name, Box::new(cell))
    })
}

fn caches_beside(fit: &Fit) -> Table {
    let maybe = |share: Option<f64>| share.map_or(Cell::Missing, Cell::Share);
    let kept = |slabs: Option<u64>| slabs.map_or(Cell::Missing, Cell::Count);
    let fields = [
        field::name("cache", "cache", |cache: &CacheFit| &cache.cache),
        field::count("simulated, peak", "slabs_peak", |cache| cache.slabs_peak),
        field::count("recorded, peak", "recorded_slabs_peak", |cache| cache.recorded_slabs_peak),
        field::count("simulated, end", "slabs_end", |cache| cache.slabs_end),
        field::count("recorded, end", "recorded_slabs_end", |cache| cache.recorded_slabs_end),
        field::by("kept, simulated", "kept_slabs_end", move |cache: &CacheFit| {
            kept(cache.kept_slabs_end)
        }),
        field::by("kept, recorded", "recorded_kept_slabs_end", move |cache: &CacheFit| {
            kept(cache.recorded_kept_slabs_end)
        }),
        field::share("differ by", "difference_share", |cache| cache.difference_share),
        field::by("frees seen", "frees_seen_share", move |cache: &CacheFit| {
            maybe(cache.frees_seen_share)
        }),
        field::by("allocs seen", "allocs_seen_share", move |cache: &CacheFit| {
            maybe(cache.allocs_seen_share)
        }),
        field::by("living known", "living_known_share", move |cache: &CacheFit| {
            maybe(cache.living_known_share)
        }),
    ];
    Table::of(&fit.caches, fields)
}

/// A column of what an allocator made of a call site: heading, key, cell.
type Column = (&'static str, &'static str, fn(&SiteUnder) -> Cell);

fn sites(replay: &Replay) -> Item {
    let mut fields = vec![
        field::name("call site", "site", |s: &Site| &s.site),
        field::name("cache", "cache", cache_name),
        field::count("allocs", "allocs", |s| s.allocs),
        field::bytes("requested", "requested_bytes", |s| s.requested_bytes),
        field::count("live, peak", "live_peak", |s| s.live_peak),
        field::count("live, end", "live_end", |s: &Site| s.live_end).on_page(),
        field::count("freed on another CPU", "frees_cross_cpu", |s: &Site| s.frees_cross_cpu)
            .on_page(),
    ];
    fields.extend(match replay.fleet {
        Some(_) => vec![field::count("sites", "sites", |s: &Site| s.sites.unwrap_or(1))],
        None => vec![
            field::cell("half live under", "lifetime_ns_p50", |s| lifetime(s, |l| l.p50_ns)),
            field::cell("99 % live under", "lifetime_ns_p99", |s: &Site| lifetime(s, |l| l.p99_ns))
                .as_data(),
        ],
    });
    for (at, allocator) in replay.allocators.iter().enumerate() {
        let name = &allocator.allocator;
        let column = |head: &str, key: &str, cell: fn(&SiteUnder) -> Cell| {
            field::by(&format!("{head}, {name}"), &format!("{name}_{key}"), move |site: &Site| {
                cell(&site.under[at])
            })
        };
        fields.push(column("waste", "waste_bytes_peak", |u| Cell::Bytes(u.waste_bytes_peak)));
        let data: [Column; 5] = [
            ("allocated", "allocated_bytes", |u| Cell::Bytes(u.allocated_bytes)),
            ("adjacent", "adjacent_share", |u| placed(u, |p| Cell::Share(p.adjacent_share))),
            ("distance", "distance_bytes_p50", |u| {
                placed(u, |p| Cell::Bytes(p.distance_bytes_p50))
            }),
            ("lines/object", "lines_per_object", |u| placed(u, |p| decimal(p.lines_per_object))),
            ("pages/object", "pages_per_object", |u| placed(u, |p| decimal(p.pages_per_object))),
        ];
        fields.extend(data.map(|(head, key, cell)| column(head, key, cell).as_data()));
    }
    let how = "Waste: the most bytes at once that were allocated and not requested.";
    Item::table("Call sites", how, Table::of_fields(&replay.sites, fields))
}

/// Returns a time of the lifetimes of a site's objects; objects that all live on have none.
fn lifetime(site: &Site, ns: fn(&LifetimeSummary) -> u64) -> Cell {
    let ended = site.lifetime.as_ref().filter(|lifetime| lifetime.ended > 0);
    ended.map_or(Cell::Missing, |lifetime| Cell::Ns(ns(lifetime)))
}

fn placed(under: &SiteUnder, cell: fn(&Placement) -> Cell) -> Cell {
    under.placement.as_ref().map_or(Cell::Missing, cell)
}

fn decimal(number: f64) -> Cell {
    Cell::Number(number, 4)
}

/// Draws the bytes that no object uses, by cache and allocator, at the end.
fn unused(allocators: &[Allocator]) -> Vec<Item> {
    let mut by_name: BTreeMap<&str, Vec<(String, f64)>> = BTreeMap::new();
    for allocator in allocators {
        for cache in allocator.caches.iter().filter(|cache| cache.held_bytes_peak > 0) {
            let unused =
                cache.held_bytes_end.saturating_sub(cache.objects_end * cache.object_bytes);
            by_name.entry(&cache.cache).or_default().push((label(allocator), unused as f64));
        }
    }
    let most = |group: &BarGroup| group.bars.iter().map(|(_, v)| *v).fold(0.0f64, f64::max);
    let groups = by_name.into_iter().map(|(name, bars)| BarGroup { name: name.to_owned(), bars });
    let mut groups: Vec<BarGroup> = groups.filter(|group| most(group) > 0.0).collect();
    groups.sort_by(|a, b| most(b).total_cmp(&most(a)));
    groups.truncate(BAR_GROUPS_MAX);
    if groups.is_empty() {
        return Vec::new();
    }
    let how = format!(
        "Bytes in slabs less objects times object size; the {} with most. SLOB and SLMB mix caches in a page: only those \
         whose objects are a page and more have slabs of their own.",
        counted(groups.len() as u64, "cache")
    );
    let quantity = ("unused".to_owned(), "B".to_owned());
    let bars = Bars { label: "cache".to_owned(), quantity, groups };
    vec![Plot::new("Memory that no object uses, by cache, at the end", how, bars).into()]
}

/// Draws the bytes that call sites requested, and those that they wasted.
fn flames(replay: &Replay) -> Vec<Item> {
    let mut requested = Flame::new(
        "Bytes requested, by call site",
        "B",
        "All allocations of the trace: interface or cache, module, then call site.",
    );
    for site in &replay.sites {
        requested.add(site_frames(site), site.requested_bytes);
    }
    let requested = (requested.weight() > 0).then_some(Item::Flame(requested));
    requested.into_iter().chain(waste_flame("as recorded", replay)).collect()
}

/// Returns the table of the caches that held most, over all allocators.
fn caches(allocators: &[Allocator]) -> Item {
    let rows = allocators.iter().flat_map(|a| a.caches.iter().map(move |c| (a, c)));
    let rows: Vec<(&Allocator, &CacheUnder)> =
        rows.filter(|(_, cache)| cache.held_bytes_peak > 0).collect();
    let fields = [
        field::text("allocator", "allocator", |(a, _): &(&Allocator, &CacheUnder)| label(a)),
        field::name("cache", "cache", |(_, c)| &c.cache),
        field::bytes("object", "object_bytes", |(_, c)| c.object_bytes),
        field::bytes("slot", "slab_size_bytes", |(_, c)| c.slab_size_bytes),
        field::cell("objects/slab", "objects_per_slab", |(_, c)| match c.objects_per_slab {
            0 => Cell::Missing,
            objects => Cell::Count(objects),
        }),
        field::count("order", "order", |(_, c): &(&Allocator, &CacheUnder)| c.order).as_data(),
        field::count("objects, peak", "objects_peak", |(_, c)| c.objects_peak),
        field::count("objects, end", "objects_end", |(_, c): &(&Allocator, &CacheUnder)| {
            c.objects_end
        })
        .on_page(),
        field::count("slabs, peak", "slabs_peak", |(_, c)| c.slabs_peak),
        field::count("slabs, end", "slabs_end", |(_, c): &(&Allocator, &CacheUnder)| c.slabs_end)
            .on_page(),
        field::bytes("held, peak", "held_bytes_peak", |(_, c)| c.held_bytes_peak),
        field::bytes("held, end", "held_bytes_end", |(_, c): &(&Allocator, &CacheUnder)| {
            c.held_bytes_end
        })
        .on_page(),
        field::cell("used at end", "used_share_end", |(_, c)| {
            // The row sums kernels whose objects have different sizes, so the share in use is not
            // known.
            match c.objects_per_slab {
                0 => Cell::Missing,
                _ => Cell::share(c.objects_end * c.slab_size_bytes, c.held_bytes_end),
            }
        }),
    ];
    let how = "Each cache under each allocator that gave it slabs, those that held most first.";
    Item::table("Caches", how, Table::of(&rows, fields))
}

/// Returns every number of every allocator, one on each line.
fn totals(allocators: &[Allocator]) -> Table {
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

/// Returns a line for each moment and allocator.
fn series(allocators: &[Allocator]) -> Table {
    let rows = allocators.iter().flat_map(|a| a.series.iter().map(move |s| (a, s)));
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
