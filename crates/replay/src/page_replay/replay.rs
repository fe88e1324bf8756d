//! Does the page events of a trace again.

use std::collections::BTreeMap;

use slablab_linux::Gfp;
use slablab_trace::{MIGRATE_TYPES, Meta, NONE, PageEvent, PageKind, TraceReader};

use super::blocks::Blocks;
use super::result::{
    PageFailure, PageFallback, PageFit, PageMoment, PageMoved, PageReplay, PageZone, pages_of,
};
use super::start::{self, Begun};
use crate::buddy::machine::{Ask, Given};
use crate::buddy::migrate::Migrate;
use crate::error::Error;

/// Moments of a trace in which the kernel's free blocks were not read.
const MOMENTS: u64 = 32;
/// Limits of CPUs fall so often (`sysctl_stat_interval`).
const TICK_NS: u64 = 1_000_000_000;

/// Replays page events; the machine has `memory_bytes` where the trace does not tell of its zones. `progress` is told the
/// rows done so far.
///
/// # Errors
/// When the trace is damaged.
pub fn replay_pages(
    trace: &TraceReader,
    memory_bytes: u64,
    progress: &mut dyn FnMut(u64),
) -> Result<PageReplay, Error> {
    let begun = start::begin(trace, memory_bytes)?;
    let mut run = Run::new(trace.meta(), begun);
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
    first_ns: u64,
    /// When the zones were read
    begin_ns: u64,
    tick_ns: u64,
    orders: usize,
    /// Moments that are to come, the next one last
    wanted: Vec<Wanted>,
    /// Types asked for and taken: how often in the model, and in the recorded kernel
    fallbacks: BTreeMap<(u8, u8), (u64, u64)>,
    /// By order and program's name
    failures: BTreeMap<(u8, &'a str), PageFailure>,
    result: PageReplay,
}

impl<'a> Run<'a> {
    fn new(meta: &'a Meta, begun: Begun) -> Run<'a> {
        let pages = meta.pages.as_ref();
        let first_ns = pages.map_or(0, |pages| pages.time_first_ns);
        let last_ns = pages.map_or(0, |pages| pages.time_last_ns);
        let facts = begun.machine.zones.iter().map(|(place, zone)| PageZone {
            node: place.node,
            name: place.name.clone(),
            managed: zone.managed,
            free: zone.lists.pages(),
            low_watermark: zone.marks.low,
        });
        let result = PageReplay {
            rules: begun.rules.name().to_owned(),
            is_start_recorded: meta
                .zones
                .as_ref()
                .is_some_and(|zones| !zones.start.zones.is_empty()),
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
            first_ns,
            begin_ns: meta.zones.as_ref().map_or(0, |zones| zones.start.time_ns),
            tick_ns: first_ns + TICK_NS,
            orders: usize::from(begun.rules.max_order) + 1,
            wanted: wanted(meta, first_ns, last_ns),
            fallbacks: BTreeMap::new(),
            failures: BTreeMap::new(),
            begun,
            result,
        }
    }

    /// Does what happens before an event at this time.
    fn pass(&mut self, time_ns: u64) {
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
        self.result.moments.push(PageMoment {
            time_ns: at_ns.saturating_sub(self.first_ns),
            free_blocks: self.begun.machine.free_blocks()[..self.orders].to_vec(),
            recorded_blocks,
            cpu_pages: self.begun.machine.cpu_pages(),
        });
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
        if event.time_ns < self.begin_ns {
            return self.early(event);
        }
        match event.page.kind {
            PageKind::Alloc if event.object == NONE => self.result.recorded_failures += 1,
            PageKind::Alloc => self.allocate(event),
            PageKind::Free if event.object == NONE => self.free_older(event),
            PageKind::Free | PageKind::FreeBatched | PageKind::ImplicitFree => {
                let order = event.page.order;
                if let Some(given) = self.blocks.take(event.object, order, event.first_page()) {
                    self.begun.machine.free(event.cpu, given, order);
                }
            }
            PageKind::AllocExtfrag => {
                let types = (event.page.migrate_type, event.page.fallback_type);
                self.fallbacks.entry(types).or_default().1 += 1;
            }
            // What reclaim and compaction free comes as frees.
            _ => {}
        }
    }

    fn allocate(&mut self, event: &PageEvent) {
        let order = event.page.order;
        let migrate = Migrate::of_event(event.page.migrate_type);
        let ask = Ask { cpu: event.cpu, order, migrate, gfp: Gfp(event.gfp) };
        let given = self.begun.machine.allocate(&ask);
        for (left, order) in self.blocks.put(event.object, given, order, event.first_page()) {
            self.begun.machine.free(event.cpu, left, order);
        }
        if given.is_none() {
            let program = self.meta.comms.get(&event.pid).map_or("", String::as_str);
            let first_ns = event.time_ns.saturating_sub(self.first_ns);
            let failure = self.failures.entry((order, program)).or_insert_with(|| PageFailure {
                order,
                program: program.to_owned(),
                first_ns,
                count: 0,
            });
            failure.count += 1;
        }
        for taken in self.begun.machine.take_taken() {
            let types = (taken.migrate as u8, taken.fallback as u8);
            self.fallbacks.entry(types).or_default().0 += 1;
        }
    }

    /// Frees pages that are older than the trace: where they were, or of the zone that has most of them.
    fn free_older(&mut self, event: &PageEvent) {
        let order = event.page.order;
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
        while !self.wanted.is_empty() {
            self.look();
        }
        let mut result = self.result;
        let name = |number: u8| {
            let known = MIGRATE_TYPES.get(usize::from(number));
            known.map_or_else(|| format!("type {number}"), |name| (*name).to_owned())
        };
        result.fallbacks = self
            .fallbacks
            .into_iter()
            .map(|((asked, taken), (simulated, recorded))| PageFallback {
                migrate_type: name(asked),
                fallback_type: name(taken),
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

/// Returns the moments, the first one last: those at which the kernel's free blocks were read, or as many as
/// [`MOMENTS`] of equal distance.
fn wanted(meta: &Meta, first_ns: u64, last_ns: u64) -> Vec<Wanted> {
    let readings = meta.zones.iter().flat_map(|zones| &zones.readings);
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
