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
        let columns = batch.columns(batch.len());
        for row in 0..batch.len() {
            let object = columns.object[row] as usize;
            let Some(place) = self.objects.get_mut(object) else { continue };
            let (time_ns, cpu) = (columns.time_ns[row], columns.cpu[row]);
            if columns.kind[row].is_alloc() {
                let bytes_req = columns.bytes_req[row];
                let site = Self::index(columns.site[row], self.sites.len());
                *place = Live { born_ns: time_ns, bytes_req, site: site as u32, cpu };
                self.sites[site].alloc(columns.cache[row], bytes_req);
                self.bytes_live = self.bytes_live.saturating_add(bytes_req);
                self.bytes_live_peak = self.bytes_live_peak.max(self.bytes_live);
            } else {
                let live = std::mem::replace(place, DEAD);
                if let Some(site) = self.sites.get_mut(live.site as usize) {
                    let cross_cpu = u64::from(live.cpu != cpu);
                    site.free(time_ns.saturating_sub(live.born_ns), cross_cpu);
                    self.bytes_live = self.bytes_live.saturating_sub(live.bytes_req);
                }
            }
        }
    }
}
