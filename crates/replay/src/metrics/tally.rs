//! The facts of a trace that do not depend on the allocator: allocations, sizes and lifetimes by
//! call site.
//!
//! # How it works
//! One pass over the events with a table of live objects, indexed by the trace's dense object slots. It
//! needs no hash table, and memory only for the objects that are alive at once, not for all that ever were.
//!
//! # Invariants
//! Any rows make sense. An allocation into a slot whose object is alive ends that object without a free,
//! and a free of an empty slot is one of an object older than the trace. Both are counted.

use slablab_trace::{Batch, Kind, Meta, NONE};

use crate::metrics::lifetimes::{LifetimeSummary, Lifetimes};
use crate::slots::Slots;

/// A live object.
#[derive(Debug, Clone, Copy)]
struct Live {
    born_ns: u64,
    /// [`NONE`] in an empty slot
    site: u32,
    cpu: u16,
}

impl Default for Live {
    fn default() -> Self {
        Self { born_ns: 0, site: NONE, cpu: 0 }
    }
}

/// What one call site did.
#[derive(Debug, Clone, Default)]
pub(crate) struct SiteTally {
    /// Allocations
    pub(crate) allocs: u64,
    /// Bytes requested, all allocations together
    pub(crate) bytes_req: u64,
    /// Objects from here that another CPU freed
    pub(crate) frees_cross_cpu: u64,
    /// Objects from here that were freed unseen
    pub(crate) frees_unseen: u64,
    live: u64,
    /// The most objects alive at once
    pub(crate) live_peak: u64,
    /// The cache of its last allocation, [`NONE`] for kmalloc
    pub(crate) cache: u32,
    lifetimes: Lifetimes,
}

impl SiteTally {
    #[inline]
    fn alloc(&mut self, cache: u32, bytes_req: u64) {
        self.allocs += 1;
        self.bytes_req = self.bytes_req.saturating_add(bytes_req);
        self.live += 1;
        self.live_peak = self.live_peak.max(self.live);
        self.cache = cache;
    }

    #[inline]
    fn free(&mut self, lived_ns: u64, cross_cpu: u64) {
        self.live -= 1;
        self.frees_cross_cpu += cross_cpu;
        self.lifetimes.add(lived_ns);
    }

    /// Returns how long its objects lived.
    pub(crate) fn lifetimes(&self) -> LifetimeSummary {
        self.lifetimes.summary()
    }

    /// Returns the objects alive at the end.
    pub(crate) fn live_end(&self) -> u64 {
        self.live
    }
}

/// Counts by call site.
#[derive(Debug)]
pub(crate) struct Tally {
    objects: Slots<Live>,
    /// One entry for each site of the trace, and a last one for events without a site
    sites: Vec<SiteTally>,
    /// Rows counted
    pub(crate) rows: u64,
    /// Objects freed without an event: by rows that state this, and by allocations into their slot
    pub(crate) implicit_frees: u64,
    /// Frees of a slot that holds no object
    pub(crate) frees_of_empty_slots: u64,
    /// Frees without a slot
    pub(crate) frees_without_slot: u64,
}

impl Tally {
    pub(crate) fn new(meta: &Meta) -> Self {
        Self {
            objects: Slots::new(meta.events),
            sites: vec![SiteTally::default(); meta.sites.len() + 1],
            rows: 0,
            implicit_frees: 0,
            frees_of_empty_slots: 0,
            frees_without_slot: 0,
        }
    }

    /// Returns the place of a site in [`Tally::sites`].
    #[inline]
    pub(crate) fn index(site: u32, sites: usize) -> usize {
        (site as usize).min(sites - 1)
    }

    /// Returns the sites in the order of the trace's table; the last entry is for events without one.
    pub(crate) fn sites(&self) -> &[SiteTally] {
        &self.sites
    }

    /// Counts the rows of a batch.
    pub(crate) fn batch(&mut self, batch: &Batch) {
        let columns = batch.columns(batch.len());
        for row in 0..batch.len() {
            let (object, kind) = (columns.object[row], columns.kind[row]);
            let (time_ns, cpu) = (columns.time_ns[row], columns.cpu[row]);
            let is_seen = !matches!(kind, Kind::ImplicitFree | Kind::EstimatedFree);
            self.implicit_frees += u64::from(!is_seen);
            match (kind.is_alloc(), object) {
                (true, NONE) => {}
                (true, _) => {
                    let site = Self::index(columns.site[row], self.sites.len());
                    let live = Live { born_ns: time_ns, site: site as u32, cpu };
                    let before = std::mem::replace(self.objects.entry(object as usize), live);
                    self.implicit_frees += u64::from(self.end(before, time_ns, before.cpu, 1));
                    self.sites[site].alloc(columns.cache[row], columns.bytes_req[row]);
                }
                (false, NONE) => self.frees_without_slot += 1,
                (false, _) => {
                    let live = self.objects.get_mut(object as usize).map(std::mem::take);
                    let unseen = u64::from(!is_seen);
                    let ended = self.end(live.unwrap_or_default(), time_ns, cpu, unseen);
                    self.frees_of_empty_slots += u64::from(!ended && is_seen);
                }
            }
        }
        self.rows += batch.len() as u64;
    }

    /// Counts the end of an object; returns whether there was one.
    #[inline]
    fn end(&mut self, live: Live, time_ns: u64, cpu: u16, unseen: u64) -> bool {
        let Some(site) = self.sites.get_mut(live.site as usize) else { return false };
        site.frees_unseen += unseen;
        site.free(time_ns.saturating_sub(live.born_ns), u64::from(live.cpu != cpu));
        true
    }
}
