//! A CPU at work on a machine's caches: what every operation carries, and what it enters in totals.

use core::ops::Deref;

use super::core::{Core, SlabCount};
use super::paths::{Tally, common};
use super::slab_log::SlabChange;
use super::table::CacheEntry;
use crate::Gfp;
use crate::cpu::CpuContext;
use crate::ids::{CacheId, NodeId, ObjPtr, Order, Pfn};
use crate::page::{BlockRequest, Kind, PageList};
use crate::raw::sync::Ordering::Relaxed;

/// A CPU at work: what the hot paths carry around.
#[derive(Debug)]
pub struct Cx<'m> {
    pub(crate) core: &'m Core,
    pub(crate) on: CpuContext<'m>,
    /// Start of the CPU's row in tables of CPUs times caches.
    pub(crate) row: usize,
    /// Start of the CPU's row in the table of tallies.
    pub(crate) tally_row: usize,
}

impl<'m> Deref for Cx<'m> {
    type Target = CpuContext<'m>;

    #[inline(always)]
    fn deref(&self) -> &CpuContext<'m> {
        &self.on
    }
}

impl<'m> Cx<'m> {
    /// Returns the place of this CPU's state for a cache in a table of CPUs times caches.
    #[inline(always)]
    pub(crate) fn cpu_cache_index(&self, id: CacheId) -> usize {
        self.row + id.index()
    }

    #[inline(always)]
    pub(crate) fn tally(&self, id: CacheId) -> &'m Tally {
        &self.core.tallies[self.tally_row + id.index()]
    }

    /// Returns the tally that belongs to a place of this CPU's row.
    #[inline(always)]
    pub(crate) fn tally_at(&self, index: usize) -> &'m Tally {
        &self.core.tallies[self.tally_row + index - self.row]
    }

    /// Enters an object given out in the exact totals.
    #[inline]
    pub(crate) fn enter_alloc(&self, id: CacheId) {
        let totals = &self.core.totals[id.index()];
        totals.live.add(1);
        if totals.live.get() > totals.live_peak.load(Relaxed) {
            totals.live_peak.store(totals.live.get(), Relaxed);
        }
        self.core.exact_bytes.add(u64::from(self.core.caches.get(id).size.get()));
    }

    /// Enters in the exact totals an object that came back.
    #[inline]
    pub(crate) fn enter_free(&self, id: CacheId) {
        self.core.totals[id.index()].live.sub(1);
        self.core.exact_bytes.sub(u64::from(self.core.caches.get(id).size.get()));
    }

    /// Enters a block of `bytes` carved by size.
    #[inline]
    pub(crate) fn block_out(&self, bytes: u64) {
        self.counters().carved_bytes.add(bytes);
        if self.hooks.exact() {
            self.core.exact_bytes.add(bytes);
        }
    }

    /// Enters that a block carved by size came back.
    #[inline]
    pub(crate) fn block_in(&self, bytes: u64) {
        self.counters().carved_bytes.sub(bytes);
        if self.hooks.exact() {
            self.core.exact_bytes.sub(bytes);
        }
    }

    /// Takes a block from the page allocator, and forgets what was tracked in its pages.
    #[inline]
    pub(crate) fn take_pages(&self, request: &BlockRequest) -> Option<Pfn> {
        let core = self.core;
        if core.zones.injected_failure() {
            return None;
        }
        let pfn = match core.zones.alloc(self, &core.pages, request) {
            Some(pfn) => pfn,
            None => core.zones.alloc_drained(self, core.memory(), request)?,
        };
        if self.core.checked() {
            self.core.tracks.clear_block(pfn, request.order);
        }
        Some(pfn)
    }

    /// Gives a block back to the page allocator.
    #[inline]
    pub(crate) fn give_pages(&self, pfn: Pfn, order: Order) {
        self.core.zones.free(self, self.core.memory(), pfn, order);
    }

    /// Takes pages for a slab of `cache` and enters them: those of the usual order, or of the least
    /// order that suffices.
    pub(crate) fn slab_pages(
        &self,
        cache: &CacheEntry,
        gfp: Gfp,
        node: Option<NodeId>,
    ) -> Option<(Pfn, Order)> {
        self.slab_pages_of(cache, cache.order(), gfp, node)
    }

    /// Does as [`Self::slab_pages`] with another order than the usual one.
    pub(crate) fn slab_pages_of(
        &self,
        cache: &CacheEntry,
        mut order: Order,
        gfp: Gfp,
        node: Option<NodeId>,
    ) -> Option<(Pfn, Order)> {
        let mut gfp = gfp.without(Gfp::ZERO);
        let flags = cache.flags();
        if flags.has(crate::SlabFlags::CACHE_DMA) {
            gfp |= Gfp::DMA;
        }
        if flags.has(crate::SlabFlags::CACHE_DMA32) {
            gfp |= Gfp::DMA32;
        }
        let min = cache.order_min();
        let take = |order, gfp| {
            let (kind, cache) = (Kind::Slab, cache.id().0);
            self.take_pages(&BlockRequest { order, gfp, node, kind, cache })
        };
        // As in Linux, nothing is reclaimed for an order that may also be lower.
        let easy = if min < order { gfp.without(Gfp::DIRECT_RECLAIM) } else { gfp };
        let mut pfn = take(order, easy);
        if pfn.is_none() && min < order {
            order = min;
            pfn = take(order, gfp);
            if pfn.is_some() {
                self.tally(cache.id()).count(common::ORDER_FALLBACK);
            }
        }
        let pfn = pfn?;
        self.core.pages.get(pfn).aux.set(cache.left_pad.get());
        self.slab_in(Some(cache.id()), order);
        self.core.slab_log.enter(|| SlabChange::Made(pfn, cache.id()));
        self.tally(cache.id()).count(common::ALLOC_SLAB);
        Some((pfn, order))
    }

    /// Gives a slab's pages back.
    pub(crate) fn free_slab_pages(&self, cache: &CacheEntry, pfn: Pfn) {
        let order = self.core.pages.get(pfn).order();
        self.tally(cache.id()).count(common::FREE_SLAB);
        self.slabs_out(Some(cache.id()), SlabCount::entry(order));
        if cache.flags().has(crate::SlabFlags::TYPESAFE_BY_RCU) {
            self.core.zones.set_kind(&self.core.pages, pfn, order, Kind::Deferred);
            self.core.grace.defer(&self.core.pages, pfn);
            self.end_grace_periods();
        } else {
            self.core.slab_log.enter(|| SlabChange::Gone(pfn));
            self.give_pages(pfn, order);
        }
    }

    /// Gives the pages of several slabs back, with one turn of each lock for all pages that go to one CPU
    /// list.
    pub(crate) fn free_pages_of_slabs(&self, cache: &CacheEntry, mut slabs: PageList) {
        let pages = &self.core.pages;
        if cache.flags().has(crate::SlabFlags::TYPESAFE_BY_RCU) {
            while let Some(slab) = slabs.pop_front(pages) {
                self.free_slab_pages(cache, slab);
            }
            return;
        }
        self.tally(cache.id()).add(common::FREE_SLAB, u64::from(slabs.len()));
        let entries = slabs.iter(pages).map(|slab| SlabCount::entry(pages.get(slab).order()));
        self.slabs_out(Some(cache.id()), entries.sum());
        if self.core.slab_log.is_on() {
            slabs.iter(pages).for_each(|slab| self.core.slab_log.enter(|| SlabChange::Gone(slab)));
        }
        self.core.zones.free_all(self, self.core.memory(), slabs);
    }

    /// Frees the slabs of type-safe caches that no reader can see any more.
    #[inline]
    pub(crate) fn end_grace_periods(&self) {
        let pages = &self.core.pages;
        let mut done = self.core.grace.passed();
        let slabs = done.len();
        while let Some(pfn) = done.pop_front(pages) {
            self.core.slab_log.enter(|| SlabChange::Gone(pfn));
            self.give_pages(pfn, pages.get(pfn).order());
        }
        if slabs > 0 {
            self.core.grace.gone(slabs);
        }
    }

    /// Runs the cache's constructor on the objects of a new slab.
    #[cold]
    pub(crate) fn construct(&self, cache: &CacheEntry, first: u64, objects: u64, size: u64) {
        let ctor = self.core.registry.lock().entry(cache.id()).and_then(|e| e.args.ctor);
        let Some(ctor) = ctor else { return };
        for obj in (0..objects).filter_map(|i| ObjPtr::new(first + i * size)) {
            (ctor.func)(self.core.arena.address(obj), ctor.context);
        }
    }

    /// Enters a slab into the gauges and the cache's totals.
    pub(crate) fn slab_in(&self, id: Option<CacheId>, order: Order) {
        let core = self.core;
        self.counters().slabs.add(SlabCount::entry(order));
        if self.hooks.exact() {
            core.exact_slabs.add(SlabCount::entry(order));
        }
        let Some(id) = id else { return };
        let totals = &core.totals[id.index()];
        let slabs = totals.slabs.add(order);
        if slabs > totals.slabs_peak.load(Relaxed) {
            totals.slabs_peak.fetch_max(slabs, Relaxed);
        }
    }

    /// Takes slabs out of the gauges and the cache's totals: the sum of their [`SlabCount::entry`].
    pub(crate) fn slabs_out(&self, id: Option<CacheId>, entries: u64) {
        let core = self.core;
        self.counters().slabs.sub(entries);
        if self.hooks.exact() {
            core.exact_slabs.sub(entries);
        }
        let Some(id) = id else { return };
        core.totals[id.index()].slabs.sub(entries);
    }
}
