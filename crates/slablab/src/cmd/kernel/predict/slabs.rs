//! Compares the slabs of each cache in replay with the guest's own `/proc/slabinfo` at the same moment; for SLOB and
//! SLMB, which have no slabs for each cache, the growth of all memory in slabs.
//!
//! How it works: a guest records its boot and a load by tracefs ([`slablab_lab::guest::Recorder`]). What its events do not
//! tell is taken from what its slabinfo says of objects alone, never of slabs: objects that are older than the trace
//! buffer, and objects that were freed without an event (in bulk, or by kfree_rcu).
//!
//! Where many objects of a cache are freed whose allocation made no event (Linux 6.1 tells of no allocation in bulk), nobody
//! knows how many of them there were at a time. Such a cache is shown, and neither judged nor in the sum.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use schemars::JsonSchema;
use serde::Serialize;
use slablab_replay::{Allocator, ReplayPlan, replay};
use slablab_trace::{Meta, TraceReader};
use slablab_vm::{Data, Kernel, Spec};

use super::super::options;
use super::site::{Boot, Common, Site, open_trace, snapshot};
use super::trace::model_of;
use crate::cli::OutputArgs;
use crate::output::{self, Cell, Column, Page, Report, Table};

/// Caches with more slabs than this in the guest are judged, each by [`SLABS_OFF_MAX`].
const JUDGED_SLABS: u64 = 4;
/// As many slabs more or less, or this share of them.
const SLABS_OFF_MAX: (u64, f64) = (1, 0.10);
/// So many of the judged caches are within that.
const WITHIN_SHARE_MIN: f64 = 0.85;
/// All slabs together, in bytes.
const SUM_OFF_MAX: f64 = 0.05;
/// Of the objects of a cache whose allocation or free was seen, so many may be allocated without an event.
const UNSEEN_SHARE_MAX: f64 = 0.10;

/// Options of `slablab kernel predict slabs`.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// The kernels: debian:6.12, build:6.12/slub_tiny, allocators [default: all allocators of 6.1]
    #[arg(long, alias = "allocators", value_name = "NAME,..", value_delimiter = ',')]
    kernels: Vec<String>,
    /// Virtual CPUs
    #[arg(long, value_name = "N", default_value_t = 2,
          value_parser = clap::value_parser!(u32).range(1..=16))]
    cpus: u32,
    /// Show this many caches, those that differ most first
    #[arg(short = 'n', long, value_name = "N", default_value_t = 15)]
    lines: usize,
    #[command(flatten)]
    common: Common,
}

/// Messages between tasks, and some that stay when the slabs are counted.
const LOAD: &str = "hackbench -g 2 -l 50 -s 100 > /tmp/hackbench\n\
    i=0\n\
    while [ $i -lt 50 ]; do sleep 1000 & i=$((i + 1)); done\n";

/// A cache in the guest and in replay.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
struct Row {
    cache: String,
    guest_objects: u64,
    replay_objects: u64,
    guest_slabs: u64,
    replay_slabs: u64,
    guest_bytes: u64,
    replay_bytes: u64,
    /// Objects that were there before the first event
    older_objects: u64,
    /// Frees without an event
    frees_unseen: u64,
    /// Too many of its objects were allocated without an event
    unknown: bool,
}

/// A guest and its replay.
#[derive(Debug, Serialize, JsonSchema)]
struct Guest {
    kernel: String,
    release: String,
    model: &'static str,
    events: u64,
    unplaced_share: f64,
    frees_unseen: u64,
    older_bytes: u64,
    guest_bytes: u64,
    replay_bytes: u64,
    judged: usize,
    within: usize,
    /// Largest difference first; none for an allocator without slabs for each cache
    rows: Vec<Row>,
    trace: PathBuf,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Comparison {
    guests: Vec<Guest>,
    #[serde(skip)]
    lines: usize,
    folder: PathBuf,
}

/// Runs `slablab kernel predict slabs`; status 1 when a model is off by more than it may be.
pub(super) fn run(args: &Args, output: &OutputArgs) -> Result<ExitCode> {
    let data = Data::find()?;
    let names = options::or_allocators(&args.kernels);
    let specs: Vec<_> =
        names.iter().map(|name| Spec::named(&data, name)).collect::<Result<_, _>>()?;
    let (site, kernels) = Site::open(&args.common, "slabs", &specs)?;
    let mut guests = Vec::new();
    for (name, kernel) in names.iter().zip(&kernels) {
        guests.push(compare(&site, name, kernel, args.cpus)?);
    }
    let holds = guests.iter().all(Guest::holds);
    let comparison = Comparison { guests, lines: args.lines, folder: site.folder };
    output::print(&comparison, output, None)?;
    Ok(if holds { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Boots a guest that records itself, and replays what it recorded.
fn compare(site: &Site, name: &str, kernel: &Kernel, cpus: u32) -> Result<Guest> {
    let kind = model_of(kernel)?;
    let by_cache = kind.has_kmalloc_caches();
    let recording = site.record(&Boot {
        name: name.replace(['/', ':'], "-"),
        kernel,
        cpus,
        arguments: &["slab_nomerge"],
        load: LOAD,
        from_boot: by_cache,
    })?;
    let (trace, reader) = open_trace(&recording)?;
    let plan = ReplayPlan { allocators: vec![kind], ..ReplayPlan::default() };
    let replay = replay(&reader, &plan, &mut |_| ())?;
    let replayed = &replay.allocators[0];
    let mut guest = Guest::new(name, kernel, kind.name(), &reader, trace);
    if by_cache {
        guest.judge(rows(&recording.slabinfo, replayed, reader.meta()));
    } else {
        let growth = recording.slab_kb.saturating_sub(recording.slab_kb_before);
        (guest.guest_bytes, guest.replay_bytes) = (growth << 10, replayed.slab_bytes.end);
    }
    Ok(guest)
}

impl Guest {
    fn new(
        name: &str,
        kernel: &Kernel,
        model: &'static str,
        reader: &TraceReader,
        trace: PathBuf,
    ) -> Self {
        let meta = reader.meta();
        Self {
            kernel: name.to_owned(),
            release: kernel.release().to_owned(),
            model,
            events: meta.events,
            unplaced_share: meta.unplaced_share(),
            frees_unseen: meta.quality.implicit_frees + meta.quality.estimated_frees,
            older_bytes: meta.samples.slab_bytes().first().copied().unwrap_or(0),
            guest_bytes: 0,
            replay_bytes: 0,
            judged: 0,
            within: 0,
            rows: Vec::new(),
            trace,
        }
    }

    fn judge(&mut self, rows: Vec<Row>) {
        let known = rows.iter().filter(|row| !row.unknown);
        let judged = known.clone().filter(|row| row.guest_slabs > JUDGED_SLABS);
        self.judged = judged.clone().count();
        self.within = judged.filter(|row| row.is_within()).count();
        self.guest_bytes = known.clone().map(|row| row.guest_bytes).sum();
        self.replay_bytes = known.map(|row| row.replay_bytes).sum();
        self.rows = rows;
    }

    fn within_share(&self) -> f64 {
        self.within as f64 / self.judged.max(1) as f64
    }

    fn off_share(&self) -> f64 {
        (self.replay_bytes as f64 - self.guest_bytes as f64) / self.guest_bytes.max(1) as f64
    }

    /// Of an allocator without slabs for each cache, nothing is judged: what grows has much that is not the trace's.
    fn holds(&self) -> bool {
        self.rows.is_empty()
            || self.within_share() >= WITHIN_SHARE_MIN && self.off_share().abs() <= SUM_OFF_MAX
    }
}

impl Row {
    fn is_within(&self) -> bool {
        let off = self.guest_slabs.abs_diff(self.replay_slabs);
        off <= SLABS_OFF_MAX.0 || off as f64 <= self.guest_slabs as f64 * SLABS_OFF_MAX.1
    }
}

/// Puts guest and replay side by side, the largest difference first.
fn rows(slabinfo: &str, replayed: &Allocator, meta: &Meta) -> Vec<Row> {
    let page_bytes = u64::from(meta.page_bytes.max(4096));
    let mut rows: BTreeMap<&str, Row> = BTreeMap::new();
    let snapshot = snapshot(slabinfo);
    for line in snapshot.slabinfo() {
        let row = rows.entry(line.name).or_default();
        let sampled = meta.samples.caches.get(line.name);
        let last = meta.samples.times_ns.len().saturating_sub(1);
        row.guest_objects = sampled.map_or(line.active_objs, |cache| u64::from(cache.at(last).0));
        row.older_objects = sampled.map_or(0, |cache| u64::from(cache.at(0).0));
        row.guest_slabs = line.num_slabs;
        row.guest_bytes = line.num_slabs * line.pagesperslab * page_bytes;
    }
    for cache in &replayed.caches {
        let row = rows.entry(&cache.cache).or_default();
        (row.replay_objects, row.replay_slabs) = (cache.objects_end, cache.slabs_end);
        row.replay_bytes = cache.held_bytes_end;
    }
    for cache in &meta.caches {
        if let Some(row) = rows.get_mut(cache.recorded_name()) {
            row.frees_unseen = cache.implicit_frees + cache.estimated_frees;
            let objects = cache.allocs + cache.older_frees;
            row.unknown = cache.older_frees as f64 > objects as f64 * UNSEEN_SHARE_MAX;
        }
    }
    let mut rows: Vec<_> = rows
        .into_iter()
        .map(|(cache, row)| Row { cache: cache.to_owned(), ..row })
        .filter(|row| row.guest_slabs + row.replay_slabs > 0)
        .collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.guest_slabs.abs_diff(row.replay_slabs)));
    rows
}

impl Report for Comparison {
    const SCHEMA: &'static str = "slablab.kernel-slabs/2";

    fn text(&self, page: &mut Page) {
        page.line("slabs after a boot and a load: guests, and replays of what they recorded");
        page.table(&self.csv());
        for guest in &self.guests {
            let differing = guest.rows.iter().filter(|row| row.guest_slabs != row.replay_slabs);
            let differing: Vec<_> = differing.take(self.lines).collect();
            if !differing.is_empty() {
                page.heading(&format!("{}: caches that differ most", guest.kernel));
                page.table(&table(&differing));
            }
            for row in guest.rows.iter().filter(|row| row.unknown) {
                page.line(format!(
                    "{}: not judged, {} slabs in the guest and {} in replay: many of its objects were allocated without \
                     an event, in bulk",
                    row.cache, row.guest_slabs, row.replay_slabs
                ));
            }
        }
        page.line("");
        page.line(format!("traces and consoles: {}", self.folder.display()));
    }

    fn csv(&self) -> Table {
        let mut table = Table::new([
            Column::name("kernel", "kernel"),
            Column::name("release", "release"),
            Column::name("model", "model"),
            Column::number("events", "events"),
            Column::number("frees unseen", "frees_unseen"),
            Column::number("older", "older_bytes"),
            Column::number("guest", "guest_bytes"),
            Column::number("replay", "replay_bytes"),
            Column::number("off by", "off_share"),
            Column::number("caches > 4 slabs", "judged"),
            Column::number("within a slab or 10 %", "within"),
        ]);
        for guest in &self.guests {
            table.row([
                Cell::text(&guest.kernel),
                Cell::text(&guest.release),
                Cell::text(guest.model),
                Cell::Count(guest.events),
                Cell::Count(guest.frees_unseen),
                Cell::Bytes(guest.older_bytes),
                Cell::Bytes(guest.guest_bytes),
                Cell::Bytes(guest.replay_bytes),
                Cell::Share(guest.off_share()),
                if guest.rows.is_empty() {
                    Cell::Missing
                } else {
                    Cell::Count(guest.judged as u64)
                },
                if guest.rows.is_empty() {
                    Cell::Missing
                } else {
                    Cell::Share(guest.within_share())
                },
            ]);
        }
        table
    }
}

fn table(rows: &[&Row]) -> Table {
    let mut table = Table::new([
        Column::name("cache", "cache"),
        Column::number("objects, guest", "guest_objects"),
        Column::number("replay", "replay_objects"),
        Column::number("older", "older_objects"),
        Column::number("frees unseen", "frees_unseen"),
        Column::number("slabs, guest", "guest_slabs"),
        Column::number("replay", "replay_slabs"),
    ]);
    for row in rows {
        table.row([
            Cell::text(&row.cache),
            Cell::Count(row.guest_objects),
            Cell::Count(row.replay_objects),
            Cell::Count(row.older_objects),
            Cell::Count(row.frees_unseen),
            Cell::Count(row.guest_slabs),
            Cell::Count(row.replay_slabs),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_is_within_a_slab_or_a_tenth() {
        let is_within = |guest_slabs, replay_slabs| {
            Row { guest_slabs, replay_slabs, ..Row::default() }.is_within()
        };
        assert!(is_within(5, 6) && is_within(5, 4) && is_within(100, 110) && is_within(100, 90));
        assert!(!is_within(5, 7) && !is_within(100, 111));
    }

    #[test]
    fn a_model_holds_by_its_larger_caches_and_by_the_sum() {
        let holds = |slabs: &[(u64, u64)]| {
            let row = |&(guest_slabs, replay_slabs): &(u64, u64)| Row {
                guest_slabs,
                replay_slabs,
                guest_bytes: guest_slabs * 4096,
                replay_bytes: replay_slabs * 4096,
                ..Row::default()
            };
            let mut guest = Guest {
                kernel: String::new(),
                release: String::new(),
                model: "slub",
                events: 0,
                unplaced_share: 0.0,
                frees_unseen: 0,
                older_bytes: 0,
                guest_bytes: 0,
                replay_bytes: 0,
                judged: 0,
                within: 0,
                rows: Vec::new(),
                trace: PathBuf::new(),
            };
            guest.judge(slabs.iter().map(row).collect());
            guest.holds()
        };
        assert!(holds(&[(1000, 1000), (4, 40)]), "caches of few slabs are in the sum only");
        assert!(!holds(&[(1000, 1000), (5, 8)]));
        assert!(!holds(&[(1000, 1060)]), "within a tenth, and 6 % in the sum");
    }
}
