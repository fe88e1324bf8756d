//! Does the page events of a trace again.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use slablab_linux::Gfp;
use slablab_trace::{Meta, NONE, PageEvent, PageKind, RecordedZones, TraceReader};

use super::block_frame::BlockFrame;
use super::blocks::Blocks;
use super::map;
use super::plan::RestPlan;
use super::result::{
    PageFailure, PageFallback, PageFit, PageMoment, PageMoved, PageReplay, PageRoom, PageZone,
    pages_of, type_name,
};
use super::runs::FreeRuns;
use super::slabs::Slabs;
use super::start::{self, Begun};
use crate::buddy::machine::{Ask, Given};
use crate::buddy::migrate::Migrate;
use crate::error::Error;
use crate::metrics::slab_pages::SlabPage;

/// Moments of a trace in which the kernel's free blocks were not read.
const MOMENTS: u64 = 32;
/// Limits of CPUs fall so often (`sysctl_stat_interval`).
const TICK_NS: u64 = 1_000_000_000;
/// The parts of a trace between maps of page blocks.
const MAPS: usize = 3;

/// Replays page events on a machine. `progress` is told the rows done so far.
///
/// # Errors
/// When the trace is damaged.
pub fn replay_pages(
    trace: &TraceReader,
    plan: RestPlan<'_>,
    progress: &mut dyn FnMut(u64),
) -> Result<PageReplay, Error> {
    replay_with(trace, plan, Slabs::default(), progress)
}

/// Replays page events with what is known of slabs.
pub(super) fn replay_with(
    trace: &TraceReader,
    plan: RestPlan<'_>,
    slabs: Slabs<'_>,
    progress: &mut dyn FnMut(u64),
) -> Result<PageReplay, Error> {
    let begun = start::begin(trace, plan.aged, plan.memory_bytes)?;
    let mut run = Run::new(trace.meta(), plan, begun, slabs);
    let mut done = 0;
    for batch in trace.page_batches() {
        let batch = batch?;
        for event in batch.iter() {
            run.pass(event.time_ns);
            run.event(event);
        }
        done += batch.len() as u64;
        progress(done);
    }
    Ok(run.end())
}

/// When free blocks are noted, and what the recorded kernel had then.
type Wanted = (u64, Option<Vec<u64>>);

/// A replay that goes on.
struct Run<'a> {
    meta: &'a Meta,
    begun: Begun,
    blocks: Blocks,
    runs: FreeRuns,
    /// How many rows were done
    row: u64,
    /// Pages that were allocated without an event, by their numbers
    unseen: FxHashMap<u64, Given>,
    slabs: Slabs<'a>,
    first_ns: u64,
    last_ns: u64,
    /// When the zones were read
    begin_ns: u64,
    tick_ns: u64,
    orders: usize,
    /// The order that was asked about
    asked: Option<u8>,
    /// Moments that are to come, the next one last
    wanted: Vec<Wanted>,
    /// How many moments are to come when a map is made
    mapped: Vec<usize>,
    /// Types asked for and taken: how often in the model, and in the recorded kernel
    fallbacks: BTreeMap<(u8, u8), (u64, u64)>,
    /// By order, program's name and cache of a slab
    failures: BTreeMap<(u8, &'a str, String), PageFailure>,
    result: PageReplay,
}

impl<'a> Run<'a> {
    fn new(meta: &'a Meta, plan: RestPlan<'_>, begun: Begun, slabs: Slabs<'a>) -> Run<'a> {
        let RestPlan { aged, order: asked, .. } = plan;
        let pages = meta.pages.as_ref();
        let is_of_pages = pages.is_some_and(|pages| pages.events > 0);
        let of_slabs = (meta.time_first_ns, meta.time_last_ns);
        let (first_ns, last_ns) = pages
            .filter(|_| is_of_pages)
            .map_or(of_slabs, |pages| (pages.time_first_ns, pages.time_last_ns));
        let recorded = meta.zones.as_ref().filter(|_| aged.is_none());
        let wanted = wanted(recorded, first_ns, last_ns);
        let is_from_recorded = |zones: &RecordedZones| !zones.start.zones.is_empty();
        let facts = begun.machine.zones.iter().map(|(place, zone)| PageZone {
            node: place.node,
            name: place.name.clone(),
            managed: zone.managed,
            free: zone.lists.pages(),
            low_watermark: zone.marks.low,
        });
        let result = PageReplay {
            rules: begun.rules.name().to_owned(),
            is_start_recorded: aged.is_some() || recorded.is_some_and(is_from_recorded),
            is_place_recorded: begun.is_mapped(),
            page_bytes: meta.page_bytes.into(),
            block_order: begun.rules.block_order,
            zones: facts.collect(),
            unplaced_pages: begun.unplaced_pages,
            ..PageReplay::default()
        };
        Run {
            meta,
            blocks: Blocks::new(pages.map_or(0, |pages| pages.slots)),
            runs: FreeRuns::default(),
            row: 0,
            unseen: FxHashMap::default(),
            slabs: slabs.on(&begun.machine),
            first_ns,
            last_ns,
            begin_ns: recorded.map_or(0, |zones| zones.start.time_ns),
            tick_ns: first_ns.saturating_add(TICK_NS),
            orders: usize::from(begun.rules.max_order) + 1,
            asked,
            mapped: mapped(wanted.len()),
            wanted,
            fallbacks: BTreeMap::new(),
            failures: BTreeMap::new(),
            begun,
            result,
        }
    }

    /// Does what happens before an event at this time.
    fn pass(&mut self, time_ns: u64) {
        while let Some(change) = self.slabs.next_until(time_ns) {
            self.pass_time(change.time_ns);
            self.slab(&change);
        }
        self.pass_time(time_ns);
    }

    /// Lets a slab of a replay come or go.
    fn slab(&mut self, change: &SlabPage) {
        if change.is_made() && change.time_ns < self.begin_ns {
            return;
        }
        let machine = &mut self.begun.machine;
        let Some(made) = self.slabs.change(machine, change, self.first_ns) else { return };
        if let Some(order) = made.failed_order {
            self.fail(change.time_ns, order, "", made.cache.to_owned());
        }
        self.note_taken(Some(made.cache));
    }

    /// Notes free blocks where it is time, and lets limits fall.
    fn pass_time(&mut self, time_ns: u64) {
        while self.wanted.last().is_some_and(|(at_ns, _)| *at_ns <= time_ns) {
            self.look();
        }
        while self.tick_ns <= time_ns {
            self.begun.machine.tick();
            // A trace may be years long where it is damaged.
            let behind = (time_ns - self.tick_ns) / TICK_NS;
            self.tick_ns = self
                .tick_ns
                .saturating_add(TICK_NS.saturating_mul(behind.saturating_sub(60).max(1)));
        }
    }

    /// Notes free blocks at the next moment.
    fn look(&mut self) {
        let Some((at_ns, recorded_blocks)) = self.wanted.pop() else { return };
        let time_ns = at_ns.saturating_sub(self.first_ns);
        let machine = &self.begun.machine;
        let room = |order| PageRoom { blocks: machine.room(order), pages: machine.room(0) };
        self.result.moments.push(PageMoment {
            time_ns,
            free_blocks: machine.free_blocks()[..self.orders].to_vec(),
            recorded_blocks,
            cpu_pages: machine.cpu_pages(),
            slab_pages: self.slabs.pages(),
            room: self.asked.map(room),
        });
        if self.mapped.contains(&self.wanted.len()) {
            self.map(time_ns);
        }
    }

    /// Notes who has the page blocks.
    fn map(&mut self, time_ns: u64) {
        let cells = map::cells(&self.begun.machine, &self.slabs);
        self.result.frames.push(BlockFrame { time_ns, ..cells });
    }

    /// Does an event that the zones were read after: its pages are where they were.
    fn early(&mut self, event: &PageEvent) {
        let pfn = event.first_page();
        match event.page.kind {
            PageKind::Alloc => {
                let is_movable = Migrate::of_event(event.page.migrate_type) == Migrate::Movable;
                let given = pfn.and_then(|pfn| self.begun.take_older(pfn, event.page.order));
                let given = given.map(|given| Given { is_movable, ..given });
                self.blocks.put(event.object, given, event.page.order, pfn);
            }
            PageKind::Free | PageKind::FreeBatched | PageKind::ImplicitFree => {
                self.blocks.take(event.object, event.page.order, pfn);
            }
            _ => {}
        }
    }

    fn event(&mut self, event: &PageEvent) {
        let slab = self.slabs.next_row();
        self.row += 1;
        if !self.is_of_run(event) {
            self.end_run(event.cpu);
        }
        if event.time_ns < self.begin_ns {
            return self.early(event);
        }
        match event.page.kind {
            PageKind::Alloc if event.object == NONE => self.result.recorded_failures += 1,
            PageKind::Alloc if slab.is_some() && self.slabs.are_simulated() => {
                // The replay's own slabs come in its place.
                for (left, order) in self.blocks.put(event.object, None, event.page.order, None) {
                    self.begun.machine.free(event.cpu, left, order);
                }
            }
            PageKind::Alloc => self.allocate(event, slab),
            PageKind::Free if event.object == NONE => self.free_older(event),
            PageKind::Free | PageKind::FreeBatched | PageKind::ImplicitFree => {
                let order = event.page.order;
                let is_of_run = self.is_of_run(event);
                let given = self.blocks.take(event.object, order, event.first_page());
                self.slabs.end_recorded(event.object, given, order);
                let blocks = match given {
                    Some(given) if is_of_run => {
                        self.runs.add(event.cpu, (event.object, event.pid), given)
                    }
                    given => given.map(|given| (given, order)).into_iter().collect(),
                };
                self.free(event.cpu, blocks);
            }
            PageKind::AllocExtfrag => {
                let types = (event.page.migrate_type, event.page.fallback_type);
                self.fallbacks.entry(types).or_default().1 += 1;
            }
            PageKind::AllocZoneLocked => self.allocate_unseen(event),
            // What reclaim and compaction free comes as frees.
            _ => {}
        }
    }

    /// Gives a page that was allocated without an event, where it left the zone's lists.
    fn allocate_unseen(&mut self, event: &PageEvent) {
        let Some(pfn) = self.begun.unseen.remove(&(self.row - 1)) else { return };
        let migrate = Migrate::of_event(event.page.migrate_type);
        let ask = Ask { cpu: event.cpu, order: 0, migrate, gfp: Gfp::KERNEL };
        if let Some(given) = self.begun.machine.allocate(&ask) {
            self.unseen.insert(pfn, given);
        }
        self.note_taken(None);
    }

    /// Returns whether an event frees a page of a larger block, which goes back with its neighbours.
    fn is_of_run(&self, event: &PageEvent) -> bool {
        self.begun.rules.frees_runs
            && event.page.kind == PageKind::Free
            && event.page.order == 0
            && self.blocks.is_larger(event.object, 0)
    }

    /// Lets the pages go back that a CPU freed one behind the other.
    fn end_run(&mut self, cpu: u16) {
        let blocks = self.runs.end(cpu);
        self.free(cpu, blocks);
    }

    fn free(&mut self, cpu: u16, blocks: Vec<(Given, u8)>) {
        for (given, order) in blocks {
            self.begun.machine.free(cpu, given, order);
        }
    }

    /// Gives a block again, perhaps to a slab of a cache.
    fn allocate(&mut self, event: &PageEvent, slab: Option<u32>) {
        let order = event.page.order;
        let migrate = Migrate::of_event(event.page.migrate_type);
        let ask = Ask { cpu: event.cpu, order, migrate, gfp: Gfp(event.gfp) };
        let given = self.begun.machine.allocate(&ask);
        for (left, order) in self.blocks.put(event.object, given, order, event.first_page()) {
            self.begun.machine.free(event.cpu, left, order);
        }
        if given.is_none() {
            let program = self.meta.comms.get(&event.pid).map_or("", String::as_str);
            self.fail(event.time_ns, order, program, self.slabs.recorded_name(slab));
        }
        if slab.is_some() {
            self.slabs.begin_recorded(event.object, given, order);
        }
        let cache = slab.map(|_| self.slabs.recorded_name(slab));
        self.note_taken(cache.as_deref());
    }

    /// Counts an allocation that found no block.
    fn fail(&mut self, time_ns: u64, order: u8, program: &'a str, cache: String) {
        let first_ns = time_ns.saturating_sub(self.first_ns);
        let key = (order, program, cache.clone());
        let failure = self.failures.entry(key).or_insert_with(|| PageFailure {
            order,
            program: program.to_owned(),
            cache,
            first_ns,
            count: 0,
        });
        failure.count += 1;
    }

    /// Counts blocks of other types that were taken, perhaps for a slab of a cache.
    fn note_taken(&mut self, cache: Option<&str>) {
        for taken in self.begun.machine.take_taken() {
            let types = (taken.migrate as u8, taken.fallback as u8);
            self.fallbacks.entry(types).or_default().0 += 1;
            if let Some(cache) = cache {
                self.slabs.note_stolen(cache, types);
            }
        }
    }

    /// Frees pages that are older than the trace: where they were, or of the zone that has most of them.
    fn free_older(&mut self, event: &PageEvent) {
        let order = event.page.order;
        let unseen =
            event.first_page().filter(|_| order == 0).and_then(|pfn| self.unseen.remove(&pfn));
        if let Some(given) = unseen {
            return self.begun.machine.free(event.cpu, given, order);
        }
        self.result.older_pages += event.pages();
        if let Some(pfn) = event.first_page().filter(|_| self.begun.is_mapped()) {
            match self.begun.take_older(pfn, order) {
                Some(given) => self.begun.machine.free(event.cpu, given, order),
                None => self.result.older_pages_unplaced += event.pages(),
            }
            return;
        }
        let holes = self.begun.holes.iter_mut().enumerate();
        let most = holes.max_by_key(|(at, holes)| (holes.freeable, *at));
        let page = most.and_then(|(at, holes)| Some((at, holes.take_freeable(order)?)));
        match page {
            Some((at, page)) => {
                let given = Given { zone: at as u16, page, is_movable: false };
                self.begun.machine.free(event.cpu, given, order);
            }
            None => self.result.older_pages_unplaced += event.pages(),
        }
    }

    fn end(mut self) -> PageReplay {
        self.pass(self.last_ns);
        self.runs.cpus().into_iter().for_each(|cpu| self.end_run(cpu));
        while !self.wanted.is_empty() {
            self.look();
        }
        let mut result = self.result;
        (result.slab_fallbacks, result.stolen_by_slabs) = self.slabs.finish();
        result.fallbacks = self
            .fallbacks
            .into_iter()
            .map(|((asked, taken), (simulated, recorded))| PageFallback {
                migrate_type: type_name(asked),
                fallback_type: type_name(taken),
                simulated,
                recorded,
            })
            .collect();
        let machine = &self.begun.machine;
        let left = machine.zones.iter().map(|(_, zone)| zone.left).sum();
        let drained = machine.cpus.iter().flatten().map(|cpu| cpu.drained).sum();
        let recorded = |kind| self.meta.pages.as_ref().map_or(0, |pages| pages.count(kind));
        let moved = |kind: PageKind, simulated| PageMoved {
            event: kind.name().to_owned(),
            simulated,
            recorded: recorded(kind),
        };
        result.moved =
            vec![moved(PageKind::AllocZoneLocked, left), moved(PageKind::PcpuDrain, drained)];
        result.failures = self.failures.into_values().collect();
        result.failures.sort_by_key(|failure| (failure.first_ns, failure.order));
        result.fit = PageFit::of(&result.moments);
        result
    }
}

/// Returns how many of the moments are to come when a map is made: after the first, the last, and two between.
fn mapped(moments: usize) -> Vec<usize> {
    let last = moments.saturating_sub(1);
    let mut left: Vec<usize> = (0..=MAPS).map(|number| last * number / MAPS).collect();
    left.dedup();
    left
}

/// Returns the moments, the first one last: those at which the kernel's free blocks were read, or as many as
/// [`MOMENTS`] of equal distance.
fn wanted(zones: Option<&RecordedZones>, first_ns: u64, last_ns: u64) -> Vec<Wanted> {
    let readings = zones.iter().flat_map(|zones| &zones.readings);
    let mut wanted: Vec<Wanted> = readings
        .filter(|reading| pages_of(&reading.by_order()) > 0)
        .map(|reading| (reading.time_ns, Some(reading.by_order())))
        .collect();
    if wanted.is_empty() {
        let length_ns = last_ns.saturating_sub(first_ns);
        let at = |number: u64| {
            first_ns + (u128::from(length_ns) * u128::from(number) / u128::from(MOMENTS)) as u64
        };
        wanted = (1..=MOMENTS).map(|number| (at(number), None)).collect();
    }
    wanted.sort_by_key(|(at_ns, _)| std::cmp::Reverse(*at_ns));
    wanted
}
