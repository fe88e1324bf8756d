//! What a trace says whatever allocator serves it: allocations, sizes and lifetimes by call site.
//!
//! # How it works
//!
//! One pass over the events with an array of live objects, indexed by the trace's dense object slots: no
//! hash table, and memory for the objects that are alive at once, not for all there ever were.

use slablab_trace::{Batch, Meta, NONE};

use crate::lifetimes::{LifetimeSummary, Lifetimes};

/// A live object.
#[derive(Debug, Clone, Copy)]
struct Live {
    born_ns: u64,
    bytes_req: u64,
    site: u32,
    cpu: u16,
}

const DEAD: Live = Live { born_ns: 0, bytes_req: 0, site: NONE, cpu: 0 };

/// What one call site did.
#[derive(Debug, Clone, Default)]
pub(crate) struct SiteTally {
    /// Allocations
    pub(crate) allocs: u64,
    /// Bytes asked for, all allocations together
    pub(crate) bytes_req: u64,
    /// Objects from here that another CPU freed
    pub(crate) frees_cross_cpu: u64,
    live: u64,
    /// The most objects alive at once
    pub(crate) live_peak: u64,
    /// The cache of its last allocation, [`NONE`] for kmalloc
    pub(crate) cache: u32,
    lifetimes: Lifetimes,
}

impl SiteTally {
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
    objects: Vec<Live>,
    /// One entry a site of the trace, and a last one for events without a site
    sites: Vec<SiteTally>,
    bytes_live: u64,
    /// The most bytes asked for and alive at once
    pub(crate) bytes_live_peak: u64,
}

impl Tally {
    pub(crate) fn new(meta: &Meta) -> Self {
        Self {
            objects: vec![DEAD; meta.object_slots as usize],
            sites: vec![SiteTally::default(); meta.sites.len() + 1],
            bytes_live: 0,
            bytes_live_peak: 0,
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
        for row in 0..batch.len() {
            let slot = batch.object[row] as usize;
            if slot >= self.objects.len() {
                continue;
            }
            let (time_ns, cpu) = (batch.time_ns[row], batch.cpu[row]);
            if batch.kind[row].is_alloc() {
                self.alloc(
                    slot,
                    time_ns,
                    cpu,
                    batch.site[row],
                    batch.cache[row],
                    batch.bytes_req[row],
                );
            } else {
                self.free(slot, time_ns, cpu);
            }
        }
    }

    #[inline]
    fn alloc(
        &mut self,
        slot: usize,
        born_ns: u64,
        cpu: u16,
        site: u32,
        cache: u32,
        bytes_req: u64,
    ) {
        let index = Self::index(site, self.sites.len());
        let tally = &mut self.sites[index];
        tally.allocs += 1;
        tally.bytes_req = tally.bytes_req.saturating_add(bytes_req);
        tally.live += 1;
        tally.live_peak = tally.live_peak.max(tally.live);
        tally.cache = cache;
        self.bytes_live = self.bytes_live.saturating_add(bytes_req);
        self.bytes_live_peak = self.bytes_live_peak.max(self.bytes_live);
        self.objects[slot] = Live { born_ns, bytes_req, site: index as u32, cpu };
    }

    #[inline]
    fn free(&mut self, slot: usize, time_ns: u64, cpu: u16) {
        let live = std::mem::replace(&mut self.objects[slot], DEAD);
        if live.site == NONE {
            return;
        }
        let tally = &mut self.sites[live.site as usize];
        tally.live -= 1;
        tally.frees_cross_cpu += u64::from(live.cpu != cpu);
        tally.lifetimes.add(time_ns.saturating_sub(live.born_ns));
        self.bytes_live = self.bytes_live.saturating_sub(live.bytes_req);
    }
}
