//! Gauges and statistics, summed from what the CPUs count.
//!
//! # Invariants
//! live objects of a cache = sum over CPUs of allocations - frees; live bytes = sum over caches of
//! live objects times size + blocks carved by size + pages of large kmallocs - blocks that the backend took for itself.

use super::{CacheStats, Gauges};
use crate::backend::Backend;
use crate::cache::core::SlabCount;
use crate::cache::paths::{OpCounts, PathCounts};
use crate::cache::registry::Entry;
use crate::ids::{CacheId, PAGE_SIZE};
use crate::machine::Machine;
use crate::raw::local::LocalU64;
use crate::raw::sync::{Ordering::Acquire, Ordering::Relaxed, fence};

impl<B: Backend> Machine<B> {
    /// Returns the machine-wide amounts: without a walk while a [`crate::CpuSet`] is held,
    /// otherwise `live_bytes` is a sum over caches and CPUs.
    #[inline]
    pub fn gauges(&self) -> Gauges {
        let core = &self.core;
        let large_bytes = core.large_pages.load(Relaxed) * PAGE_SIZE;
        let (small, slabs) = match core.exact.load(Relaxed) {
            true => (core.exact_bytes.get(), core.exact_slabs.get()),
            false => (self.sum_bytes(), self.sum_slabs()),
        };
        let (slabs, slab_pages) = SlabCount::parts(slabs);
        // A block that the backend took meanwhile may be known as its own, and not be in the sum yet.
        let own = core.own_bytes.load(Relaxed);
        Gauges {
            slab_bytes: slab_pages * PAGE_SIZE,
            slabs,
            large_bytes,
            live_bytes: (small + large_bytes).saturating_sub(own),
        }
    }

    #[cold]
    fn sum_bytes(&self) -> u64 {
        let caches = self.core.caches.slots().iter().filter(|c| c.alive());
        let objects = caches.map(|c| self.live(c.id()).wrapping_mul(u64::from(c.size.get())));
        objects.fold(self.core.carved_bytes(), u64::wrapping_add)
    }

    /// Returns the word of slabs and their pages, of all CPUs together.
    fn sum_slabs(&self) -> u64 {
        let sum = self.core.counters.as_slice().iter().map(|of| of.slabs.get());
        let sum = sum.fold(0, u64::wrapping_add);
        // A slab that another CPU gave back than made it may be seen to go before it is seen to
        // come.
        if sum.cast_signed() < 0 { 0 } else { sum }
    }

    /// Returns the statistics of a cache; `None` once it is destroyed.
    pub fn cache_stats(&self, id: CacheId) -> Option<CacheStats> {
        let registry = self.core.registry.lock();
        registry.entry(id).map(|entry| self.stats_of(entry))
    }

    /// Returns the bytes of a cache's slabs.
    pub fn cache_slab_bytes(&self, id: CacheId) -> u64 {
        self.core.totals[id.index()].slabs.pages() * PAGE_SIZE
    }

    /// Returns the locks and atomic operations of a CPU so far, of all kinds.
    #[inline]
    pub fn locks_of_cpu(&self, cpu: u32) -> u64 {
        self.core.counters[cpu as usize].locks.iter().map(LocalU64::get).sum()
    }

    /// Returns the paths taken by all caches together.
    pub fn path_counts(&self) -> PathCounts {
        let registry = self.core.registry.lock();
        // Places where no cache ever was have counted nothing, and are many.
        let carved = self.core.setup.caches_max as usize;
        let places = (0..registry.places()).chain([carved]);
        let ops = places.clone().flat_map(|place| self.ops_at(place));
        let tallies = places.flat_map(|place| self.core.tallies_at(place));
        let mut sum = PathCounts::sum(B::STATS, ops, tallies);
        sum.add(&registry.retired);
        sum
    }

    /// Returns the objects of a cache that are given out: exactly while no CPU is at work on it, else
    /// never too few.
    pub(crate) fn live(&self, id: CacheId) -> u64 {
        // Frees are read first: an object freed by then was allocated before, and its allocation is
        // seen.
        let frees = self.frees(id);
        fence(Acquire);
        self.allocs(id).saturating_sub(frees)
    }

    /// Returns the same number, but never too many, so that a peak may be computed from it.
    fn live_at_least(&self, id: CacheId) -> u64 {
        let allocs = self.allocs(id);
        fence(Acquire);
        allocs.saturating_sub(self.frees(id))
    }

    fn allocs(&self, id: CacheId) -> u64 {
        self.ops_of(id).map(|ops| ops.allocs.get()).sum()
    }

    fn frees(&self, id: CacheId) -> u64 {
        self.ops_of(id).map(|ops| ops.frees.get()).sum()
    }

    /// Returns the operations of a cache, CPU by CPU.
    pub(crate) fn ops_of(&self, id: CacheId) -> impl Iterator<Item = &OpCounts> {
        self.ops_at(id.index())
    }

    fn ops_at(&self, place: usize) -> impl Iterator<Item = &OpCounts> {
        let cpus = 0..self.core.setup.cpus;
        cpus.map(move |cpu| self.backend.ops(self.core.row(cpu).start + place))
    }

    /// Returns the paths that the operations of a cache took.
    pub(crate) fn paths_of(&self, id: CacheId) -> PathCounts {
        PathCounts::sum(B::STATS, self.ops_of(id), self.core.tallies_of(id))
    }

    fn stats_of(&self, entry: &Entry) -> CacheStats {
        let slot = self.core.caches.get(entry.id);
        let totals = &self.core.totals[entry.id.index()];
        let live = self.live_at_least(entry.id);
        totals.live_peak.fetch_max(live, Relaxed);
        CacheStats {
            name: entry.args.name.clone(),
            aliases: entry.aliases.clone(),
            object_size: slot.object_size.get(),
            slab_size: slot.size.get(),
            align: slot.align.get(),
            order: slot.order(),
            objs_per_slab: slot.objects.get(),
            slabs: totals.slabs.slabs(),
            slabs_peak: totals.slabs_peak.load(Relaxed),
            slab_bytes: totals.slabs.pages() * PAGE_SIZE,
            objects_live: live,
            objects_live_peak: totals.live_peak.load(Relaxed),
            objects_total: self.core.slabs_and_objects(slot).1,
            paths: self.paths_of(entry.id),
        }
    }

    /// Starts exact totals from the current sums.
    pub(crate) fn start_exact_totals(&self) {
        for cache in self.core.caches.slots().iter().filter(|c| c.alive()) {
            let totals = &self.core.totals[cache.id().index()];
            totals.live.set(self.live(cache.id()));
            totals.live_peak.fetch_max(totals.live.get(), Relaxed);
        }
        self.core.exact_bytes.set(self.sum_bytes());
        self.core.exact_slabs.set(self.sum_slabs());
        self.core.exact.store(true, Relaxed);
    }

    /// Ends exact totals.
    pub(crate) fn end_exact_totals(&self) {
        self.core.exact.store(false, Relaxed);
    }
}
