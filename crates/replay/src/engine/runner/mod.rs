//! The replay of a trace under one allocator: the loop over its rows, and the state of each object and call site.
//!
//! # How it works
//! An object slot of the trace is an index into `objects`, which holds where the object lies. So an
//! event is an array access, a call into the engine on the event's CPU, and a few counters. The bytes that an
//! allocation was given are the step that the engine's own live-bytes gauge takes.
//!
//! # Invariants
//! * An entry of `objects` is live exactly between its allocation and its free: `address` is `None` outside.
//! * `requested` is the sum of the live entries' `bytes_req`; the sum of `bytes_alloc` is the engine's gauge.

mod occupied;
mod older;
mod slab_pages;
mod vectors;
#[cfg(test)]
mod vectors_tests;

use std::collections::BTreeMap;
use std::ops::Range;

use slablab_kmem::{
    Backend, BackendKind, CacheId, CpuId, CpuSet, Gfp, Machine, NodeId, ObjPtr, Site,
};
use slablab_trace::{Batch, Columns, Event, Kind, Meta, NONE, SlubCache};

use crate::change::merging;
use crate::change::rewrite::Rewrite;
use crate::engine::older_objects::OlderObjects;
use crate::engine::recorded_slabs::RecordedSlabs;
use crate::engine::sheaf_sites::SheafSites;
use crate::engine::sites::{SiteAccounts, UnderBySite};
use crate::engine::slab_page_log::SlabPageLog;
use crate::engine::vectors::VectorState;
use crate::engine::{caches, machine};
use crate::error::Error;
use crate::metrics::failure::Failure;
use crate::metrics::fit::Fit;
use crate::metrics::ledger::Ledger;
use crate::metrics::locality::Snapshots;
use crate::metrics::result::{Allocator, Placement, SiteUnder};
use crate::metrics::tally::Tally;
use crate::metrics::timeline::MemoryTimeline;
use crate::metrics::watched_objects::WatchedObjects;
use crate::plan::ReplayPlan;
use crate::slots::Slots;

pub(crate) use self::occupied::Occupied;

/// Snapshots of where objects lie: enough for a mean, few enough not to be noticed.
const SNAPSHOTS: u64 = 8;

/// Time between two ticks of the simulated CPUs: a jiffy of `CONFIG_HZ=250`.
const TICK_NS: u64 = 4_000_000;
const SECOND_NS: u64 = 1_000_000_000;

/// The place of a live object.
#[derive(Debug, Clone, Copy, Default)]
struct Live {
    address: Option<ObjPtr>,
    bytes_req: u32,
    bytes_alloc: u32,
    /// Place of its call site's account in `sites`
    site: u32,
    /// The trace's cache, [`NONE`] for kmalloc
    cache: u32,
}

/// A row of an object that takes part, where most rows are others'.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OwnRow {
    /// Its place in the batch
    pub(crate) row: u32,
    /// The number of the object among those that take part
    pub(crate) number: usize,
}

/// An allocation without a call site.
pub(crate) const NO_EVENT: Event = Event { kind: Kind::Kmalloc, ..Event::EMPTY };

/// Counts by name.
type Counts = BTreeMap<String, u64>;

/// One of the trace's caches on the simulated machine.
#[derive(Debug, Clone, Copy)]
enum KnownCache {
    /// No allocation from it yet
    Unseen,
    /// Made
    Made(CacheId),
    /// The engine refused it, because a damaged trace describes it impossibly
    Refused,
}

impl KnownCache {
    fn made(self) -> Option<CacheId> {
        if let KnownCache::Made(id) = self { Some(id) } else { None }
    }
}

/// The result of a replay under one allocator.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) allocator: Allocator,
    pub(crate) sites: UnderBySite,
}

/// The replay of a trace under one allocator.
#[derive(Debug)]
pub(crate) struct Runner<'a, B: Backend> {
    pub(super) machine: &'a Machine<B>,
    cpus: CpuSet<'a, B>,
    pub(super) meta: &'a Meta,
    pub(super) plan: &'a ReplayPlan,
    rewrite: Rewrite,
    own: SheafSites,
    /// The vectors beside slabs, if they are computed
    vectors: Option<VectorState<'a>>,
    /// When slabs come and go, if that is wanted
    slab_pages: Option<SlabPageLog>,
    /// Nodes of the machine; a row that names a node beyond them requests none
    nodes: u32,
    objects: Slots<Live>,
    pub(super) sites: SiteAccounts,
    caches: Vec<KnownCache>,
    /// The objects from before the first row, and what making them counted
    warm: OlderObjects,
    before: (Counts, Counts),
    /// The state when the recorded kernel was read
    reality: RecordedSlabs<'a, CacheId>,
    /// Names of caches that share another's slabs
    aliases: Vec<(CacheId, String)>,
    /// New caches by size, where they are merged as the recorded kernel merges
    merged: BTreeMap<u64, CacheId>,
    timeline: MemoryTimeline,
    snapshots: Snapshots,
    watch: WatchedObjects,
    /// The cost of each cache, if it is wanted
    pub(super) ledger: Option<Ledger>,
    snapshot_every: u64,
    pub(super) next_snapshot: u64,
    next_tick_ns: u64,
    pub(super) events: u64,
    operations: u64,
    pub(super) failed: u64,
    /// Whether there was no room for the objects that the recorded kernel had before the first row.
    warm_failed: bool,
    pub(super) first_failure: Option<Failure>,
}

impl<'a, B: Backend> Runner<'a, B> {
    pub(crate) fn new(
        machine: &'a Machine<B>,
        meta: &'a Meta,
        plan: &'a ReplayPlan,
    ) -> Result<Self, Error> {
        let sites = meta.sites.len() + 1;
        let snapshot_every = (meta.events / SNAPSHOTS).max(1);
        Ok(Self {
            machine,
            cpus: machine.cpus()?,
            meta,
            plan,
            rewrite: Rewrite::new(&plan.changes, meta),
            own: SheafSites::of(meta),
            vectors: VectorState::of(machine, meta, plan),
            slab_pages: plan.slab_pages.then(SlabPageLog::default),
            nodes: machine::nodes(meta),
            objects: Slots::new(meta.events),
            sites: SiteAccounts::new(sites),
            caches: vec![KnownCache::Unseen; meta.caches.len()],
            warm: OlderObjects::default(),
            before: Default::default(),
            reality: RecordedSlabs::new(&meta.samples),
            aliases: Vec::new(),
            merged: BTreeMap::new(),
            timeline: MemoryTimeline::new(meta),
            snapshots: Snapshots::default(),
            watch: WatchedObjects::new(&plan.watched, sites),
            ledger: None,
            snapshot_every,
            next_snapshot: if plan.locality { snapshot_every } else { u64::MAX },
            next_tick_ns: meta.time_first_ns,
            events: 0,
            operations: 0,
            failed: 0,
            warm_failed: false,
            first_failure: None,
        })
    }

    /// Notes the slabs of the caches in the recorded kernel's slabinfo before `now_ns`.
    #[cold]
    fn ask(&mut self, now_ns: u64) {
        let slab_bytes = self.machine.gauges().slab_bytes;
        let made = |index: usize| self.caches[index].made();
        let slabs = |id| Some(self.machine.cache_stats(id)?.slabs);
        self.reality.reach(now_ns, slab_bytes, made, slabs);
    }

    /// Compares the caches with the recorded kernel's numbers, at the moments of the samples.
    fn fit(&mut self) -> Option<Fit> {
        self.ask(u64::MAX);
        let caches = self.reality.finish(|id| machine::kept_slabs(self.machine, id));
        let is_other = self.warm_failed || self.plan.rows_max.is_some();
        if caches.is_empty() || is_other || !B::KIND.takes_geometry() {
            return None;
        }
        let (peak, end) = self.reality.slab_bytes;
        Some(Fit::new(&self.meta.samples, caches, peak, end))
    }

    /// Replays a batch, as far as the plan goes.
    pub(crate) fn batch(&mut self, batch: &Batch) -> Result<(), Error> {
        self.first_rows(batch, batch.len())
    }

    /// Replays the first `rows` rows of a batch, as far as the plan goes.
    pub(crate) fn first_rows(&mut self, batch: &Batch, rows: usize) -> Result<(), Error> {
        let left = self.rows_left().min(rows as u64);
        // A row without a slot is a free of an object whose allocation was not seen, or an allocation that
        // failed.
        let object =
            |row: usize| Some(batch.object[row] as usize).filter(|_| batch.object[row] != NONE);
        self.rows(batch, 0..left as usize, object)
    }

    /// Returns how many more rows the plan allows.
    pub(crate) fn rows_left(&self) -> u64 {
        self.plan.rows_max.map_or(u64::MAX, |rows| rows.saturating_sub(self.events))
    }

    /// Replays some rows of a batch, those whose objects have a number; a live object's number is its own.
    #[inline]
    pub(crate) fn rows(
        &mut self,
        batch: &Batch,
        rows: Range<usize>,
        object: impl Fn(usize) -> Option<usize>,
    ) -> Result<(), Error> {
        let columns = batch.columns(rows.end);
        for row in rows {
            self.row(&columns, row, object(row))?;
        }
        Ok(())
    }

    /// Replays those of a batch's rows that `own` names, rising, with the numbers of their objects. The others only let time
    /// pass, which is the same as [`Runner::rows`] on a machine that begins cold: no free is of an object of before.
    pub(crate) fn own_rows(
        &mut self,
        batch: &Batch,
        rows: Range<usize>,
        own: &[OwnRow],
    ) -> Result<(), Error> {
        let columns = batch.columns(rows.end);
        let mut next = rows.start;
        for own in own {
            let row = own.row as usize;
            self.pass(&columns.time_ns[next..row]);
            self.row(&columns, row, Some(own.number))?;
            next = row + 1;
        }
        self.pass(&columns.time_ns[next..]);
        Ok(())
    }

    /// Lets the times of rows pass that are others'.
    fn pass(&mut self, times_ns: &[u64]) {
        let mut rest = times_ns;
        while let Some(place) = rest.iter().position(|time_ns| *time_ns >= self.next_tick_ns) {
            self.tick(rest[place]);
            rest = &rest[place + 1..];
        }
        let events = self.events + times_ns.len() as u64;
        while self.next_snapshot <= events {
            self.events = self.next_snapshot;
            self.next_snapshot += self.snapshot_every;
            self.snapshot();
        }
        self.events = events;
    }

    /// Replays a row; `object` is the number of its object, if it has one.
    #[inline(always)]
    fn row(
        &mut self,
        columns: &Columns<'_>,
        row: usize,
        object: Option<usize>,
    ) -> Result<(), Error> {
        let now_ns = columns.time_ns[row];
        if now_ns >= self.next_tick_ns {
            self.tick(now_ns);
        }
        if now_ns >= self.reality.due_ns() {
            self.ask(now_ns);
        }
        match object {
            None if columns.kind[row].is_free() => {
                self.free_older(columns.kind[row], columns.cache[row], now_ns, columns.cpu[row]);
            }
            None => {}
            Some(object) if columns.kind[row].is_alloc() => {
                let mut event = columns.event(row);
                self.rewrite.apply(&mut event);
                self.alloc(object, &event);
            }
            Some(object) => self.free(object, now_ns, columns.cpu[row], columns.site[row]),
        }
        self.events += 1;
        if self.events == self.next_snapshot {
            self.next_snapshot += self.snapshot_every;
            self.snapshot();
        }
        if self.plan.validate_every.is_some_and(|every| self.events.is_multiple_of(every)) {
            self.validate()?;
        }
        Ok(())
    }

    #[inline]
    fn alloc(&mut self, slot: usize, event: &Event) {
        if self.own.has(event) || self.vectors.as_mut().is_some_and(|state| state.replaces(event)) {
            return;
        }
        if self.objects.entry(slot).address.is_some() {
            // Its free is not among the rows, because it was taken out of the trace.
            self.free(slot, event.time_ns, event.cpu, event.site);
        }
        let live_before = self.machine.gauges().live_bytes;
        let locks_before = self.counts_locks().then(|| self.locks(event.cpu));
        let cache = if event.kind == Kind::KmemCacheAlloc { event.cache } else { NONE };
        let Some(address) = self.allocate(event, cache) else { return self.fail(event, cache) };
        self.operations += 1;
        let mut gauges = self.machine.gauges();
        let bytes_alloc = gauges.live_bytes.wrapping_sub(live_before);
        // No object has 4 GiB, even if a damaged row requests that from a cache.
        let bytes_req = u32::try_from(event.bytes_req).unwrap_or(u32::MAX);
        let site_index = Tally::index(event.site, self.sites.len());
        let place = self.sites.place(site_index);
        if self.vectors.is_some() {
            self.vectors_of_alloc(event, address);
            gauges = self.machine.gauges();
        } else if self.slab_pages.is_some() {
            self.note_slabs(event);
        }
        if let Some(before) = locks_before {
            let cache = |machine: &Machine<B>| machine.object_at(address).map(|(id, _, _)| id);
            self.charge(event.cpu, before, place, cache);
        }
        let site = self.sites.at(place);
        site.waste += bytes_alloc.saturating_sub(u64::from(bytes_req));
        site.waste_peak = site.waste_peak.max(site.waste);
        site.bytes_alloc += bytes_alloc;
        site.steps.add(address.get(), bytes_alloc);
        *self.objects.entry(slot) = Live {
            address: Some(address),
            bytes_req,
            bytes_alloc: bytes_alloc as u32,
            site: place as u32,
            cache,
        };
        self.watch.alloc(slot, site_index, self.events, address.get());
        self.timeline.requested += u64::from(bytes_req);
        self.timeline.note(event.time_ns, self.events, &gauges);
    }

    /// Allocates an object with the arguments of the recorded call.
    #[inline]
    fn allocate(&mut self, event: &Event, cache: u32) -> Option<ObjPtr> {
        // The objects are never read: clearing them would only take time.
        let gfp = Gfp(event.gfp & !Gfp::ZERO.0);
        let site = Site(event.site);
        let node = u32::try_from(event.node).ok().filter(|node| *node < self.nodes).map(NodeId);
        let cache = if cache == NONE { None } else { Some(self.cache(event)?) };
        let cpu = self.cpus.cpu(CpuId(u32::from(event.cpu)));
        match (cache, node) {
            (Some(cache), None) => cpu.alloc(cache, gfp, site),
            (Some(cache), Some(node)) => cpu.alloc_node(cache, gfp, node, site),
            (None, None) => cpu.kmalloc(event.bytes_req, gfp, site),
            (None, Some(node)) => cpu.kmalloc_node(event.bytes_req, gfp, node, site),
        }
    }

    /// Returns the machine's cache for the trace's, made at its first allocation.
    #[inline]
    fn cache(&mut self, event: &Event) -> Option<CacheId> {
        match self.caches.get(event.cache as usize)? {
            KnownCache::Made(id) => Some(*id),
            KnownCache::Refused => None,
            KnownCache::Unseen => self.make_cache(event),
        }
    }

    #[cold]
    fn make_cache(&mut self, event: &Event) -> Option<CacheId> {
        let cache = &self.meta.caches[event.cache as usize];
        let changes = &self.plan.changes;
        let made_by = self.rewrite.made_by(changes, event.cache);
        let made = match caches::merged_size::<B>(self.meta, changes, cache, made_by) {
            Some(size) => self.merge(&cache.name, size, event),
            None => caches::serving(self.machine, self.meta, self.plan, event, made_by),
        };
        self.caches[event.cache as usize] = made.map_or(KnownCache::Refused, KnownCache::Made);
        made
    }

    fn create(&self, event: &Event) -> Option<CacheId> {
        let made_by = self.rewrite.made_by(&self.plan.changes, event.cache);
        let args = caches::of_first_event::<B>(self.meta, self.plan, event, made_by);
        self.machine.cache_create(&args).ok()
    }

    /// Returns the cache that serves the new cache `name` of `size`: one of the recorded kernel or an earlier new
    /// one, if Linux would merge it with one.
    fn merge(&mut self, name: &str, size: u64, event: &Event) -> Option<CacheId> {
        let id = match self.merged.get(&size) {
            Some(id) => *id,
            None => match merging::partner(self.meta, size) {
                Some(partner) => self.recorded(partner, event)?,
                None => {
                    let id = self.create(event)?;
                    self.merged.insert(size, id);
                    return Some(id);
                }
            },
        };
        self.merged.insert(size, id);
        self.aliases.push((id, name.to_owned()));
        Some(id)
    }

    /// Returns a cache of the recorded kernel, whether the trace has events of it or not.
    fn recorded(&mut self, cache: &SlubCache, event: &Event) -> Option<CacheId> {
        let is_it =
            |name: &str| name == cache.name || cache.aliases.iter().any(|alias| alias == name);
        if let Some(index) = self.meta.caches.iter().position(|known| is_it(&known.name)) {
            return self.cache(&Event { cache: index as u32, ..*event });
        }
        // One of kmalloc's exists from the start.
        let mut names = cache.aliases.iter().chain([&cache.name]);
        let there = names.find_map(|name| self.machine.cache_by_name(name));
        there.or_else(|| {
            let args = caches::of_snapshot::<B>(self.meta, self.plan, cache);
            self.machine.cache_create(&args).ok()
        })
    }

    #[inline]
    fn free(&mut self, slot: usize, now_ns: u64, cpu: u16, site: u32) {
        let Some(live) = self.objects.get_mut(slot).map(std::mem::take) else { return };
        let Some(address) = live.address else { return };
        self.operations += 1;
        let cache = self.caches.get(live.cache as usize).and_then(|cache| cache.made());
        let before = self.counts_locks().then(|| self.before_free(cpu, address, cache));
        let on = cpu;
        let cpu = self.cpus.cpu(CpuId(u32::from(cpu)));
        let site = Site(site);
        match cache {
            Some(cache) => cpu.free(cache, address, site),
            None => cpu.kfree(address, site),
        }
        self.slabs_of_free(now_ns, on);
        if let Some((locks, of)) = before {
            self.charge(on, locks, live.site as usize, |_| of);
        }
        self.watch.free(slot);
        self.sites.at(live.site as usize).waste -=
            u64::from(live.bytes_alloc).saturating_sub(u64::from(live.bytes_req));
        self.timeline.requested -= u64::from(live.bytes_req);
        self.timeline.note(now_ns, self.events, &self.machine.gauges());
    }

    /// Lets time pass on every CPU: SLAB reaps by it, and grace periods end. A long pause of the trace is
    /// made up for second by second, as no code uses a finer clock, but only for up to a minute: by then
    /// nothing is left to reap.
    #[cold]
    fn tick(&mut self, now_ns: u64) {
        let mut time_ns = self.next_tick_ns.max(now_ns.saturating_sub(60 * SECOND_NS));
        while time_ns.saturating_add(SECOND_NS) < now_ns {
            self.tick_cpus(time_ns);
            time_ns += SECOND_NS;
        }
        self.tick_cpus(now_ns);
        self.slabs_of_free(now_ns, 0);
        self.next_tick_ns = now_ns.saturating_add(TICK_NS);
    }

    fn tick_cpus(&self, now_ns: u64) {
        for cpu in 0..self.machine.cpu_count() {
            self.cpus.cpu(CpuId(cpu)).tick(now_ns);
        }
    }

    #[cold]
    fn snapshot(&mut self) {
        self.watch.snapshot();
        self.snapshots.take(
            self.objects.values().filter_map(|live| {
                Some((live.site, live.address?.get(), u64::from(live.bytes_req)))
            }),
        );
    }

    #[cold]
    fn validate(&self) -> Result<(), Error> {
        let balance = self.machine.validate();
        let accounted =
            balance.live_bytes + balance.free_bytes + balance.slack_bytes + balance.metadata_bytes;
        let allocated: u64 = self.objects.values().map(|live| u64::from(live.bytes_alloc)).sum();
        let vectors = self.vectors.as_ref().map_or(0, |state| state.bytes);
        let finding = if let Some(error) = balance.errors.first() {
            error.clone()
        } else if balance.held_bytes != accounted {
            format!("{} bytes are held and {accounted} accounted for", balance.held_bytes)
        } else if balance.live_bytes != allocated + self.warm.bytes + vectors {
            format!("{} bytes are live and {allocated} were given", balance.live_bytes)
        } else {
            return Ok(());
        };
        Err(Error::Invalid { allocator: B::KIND.name().to_owned(), event: self.events, finding })
    }

    /// Returns how often each path and each lock was taken so far.
    fn counts(&self) -> (Counts, Counts) {
        let paths = machine::counts(BackendKind::path_names, self.machine.path_counts().iter());
        (paths, machine::counts(BackendKind::lock_names, self.machine.lock_counts()))
    }

    /// Ends the replay.
    pub(crate) fn finish(mut self) -> Result<Outcome, Error> {
        if self.plan.validate_every.is_some() {
            self.validate()?;
        }
        let levels = std::mem::take(&mut self.timeline).finish(self.meta);
        let fit = self.fit();
        let (paths, locks) = self.counts();
        let slab_pages = self.take_slab_pages();
        let (paths_before, locks_before) = std::mem::take(&mut self.before);
        let allocator = Allocator {
            allocator: B::KIND.name().to_owned(),
            operations: self.operations,
            failed: self.failed,
            first_failure: self.first_failure.take(),
            paths: since(&paths_before, paths),
            locks: since(&locks_before, locks),
            fit,
            caches: machine::used_caches(
                self.machine,
                self.plan.changes.arch(self.meta),
                &self.aliases,
            ),
            watched: self.watch.finish(),
            vectors: self.vectors.take().map(VectorState::finish),
            slab_pages,
            ..levels
        };
        let sites = self.sites.finish(|place, site| {
            let spread = self.snapshots.spread(place);
            SiteUnder {
                allocated_bytes: site.bytes_alloc,
                waste_bytes_peak: site.waste_peak,
                placement: Some(Placement {
                    adjacent_share: site.steps.adjacent_share(),
                    distance_bytes_p50: site.steps.distance_bytes_p50(),
                    lines_per_object: spread.lines_per_object(),
                    pages_per_object: spread.pages_per_object(),
                }),
                walk: spread.walk(),
                slow_operations: self.plan.slow_paths.then_some(site.slow_operations),
            }
        });
        Ok(Outcome { allocator, sites })
    }
}

/// Returns counts without the earlier ones.
fn since(before: &Counts, mut counts: Counts) -> Counts {
    let of_before = |name: &String| before.get(name).copied().unwrap_or(0);
    counts.iter_mut().for_each(|(name, count)| *count -= of_before(name));
    counts
}
