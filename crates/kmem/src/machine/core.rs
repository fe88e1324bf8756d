//! What every backend stands on: memory, pages, zones, cache numbers, counters.

use alloc::vec::Vec;
use core::ops::Deref;

use super::builder::{CheckLevel, Setup};
use super::findings::FindingLog;
use super::rcu::Rcu;
use super::stats::{Stat, Tally};
use super::track::Track;
use crate::cache::kmalloc::Kmalloc;
use crate::cache::registry::Registry;
use crate::cache::table::{Cache, CacheTable};
use crate::cpu::{CpuContext, CpuCounters};
use crate::gfp::Gfp;
use crate::ids::{CacheId, NodeId, ObjPtr, Order, Pfn};
use crate::page::{BlockRequest, Kind, PageTable, Zones};
use crate::raw::arena::Arena;
use crate::raw::local::LocalU64;
use crate::raw::lock::Lock;
use crate::raw::sync::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use crate::raw::zeroed::{ZeroedSlice, zeroed_struct};
use crate::vmalloc::Vmalloc;

zeroed_struct! {
    /// A cache's slabs.
    #[derive(Debug)]
    pub(crate) struct Totals {
        pub slabs: AtomicU64,
        pub slabs_peak: AtomicU64,
        pub pages: AtomicU64,
        pub objects: AtomicU64,
        /// Free objects that no list leads to any more: the list was damaged.
        pub lost: AtomicU64,
        /// Live objects, kept while one thread drives all CPUs.
        pub live: LocalU64,
        /// Most live objects.
        pub live_peak: LocalU64,
    }
}

/// The parts of a machine that do not depend on the backend.
#[derive(Debug)]
pub struct Core {
    pub(crate) arena: Arena,
    pub(crate) pages: PageTable,
    pub(crate) zones: Zones,
    pub(crate) caches: CacheTable,
    pub(crate) registry: Lock<Registry>,
    pub(crate) kmalloc: Kmalloc,
    pub(crate) setup: Setup,
    pub(crate) findings: FindingLog,
    pub(crate) claimed: Vec<AtomicBool>,
    pub(crate) counters: ZeroedSlice<CpuCounters>,
    pub(crate) tallies: ZeroedSlice<Tally>,
    pub(crate) totals: ZeroedSlice<Totals>,
    pub(crate) slab_pages: AtomicU64,
    pub(crate) slabs: AtomicU64,
    pub(crate) large_pages: AtomicU64,
    /// Whether one thread drives all CPUs and keeps exact books.
    pub(crate) exact: AtomicBool,
    /// Live bytes but for large kmallocs, kept while `exact`.
    pub(crate) exact_bytes: LocalU64,
    /// Pages in which an object was tracked since they were last cleared, if operations are checked.
    pub(crate) tracked: ZeroedSlice<AtomicU32>,
    /// One for every 8 bytes of memory, if operations are checked.
    pub(crate) tracks: ZeroedSlice<Track>,
    pub(crate) rcu: Rcu,
    pub(crate) vmalloc: Vmalloc,
}

impl Core {
    /// Returns the place of a CPU's state for a cache in a table of CPUs times caches.
    #[inline(always)]
    pub(crate) fn cell(&self, cpu: u32, id: CacheId) -> usize {
        cpu as usize * (self.setup.caches_max as usize + 1) + id.index()
    }

    /// Tells whether operations are checked.
    #[inline]
    pub(crate) fn checked(&self) -> bool {
        self.setup.check != CheckLevel::Off
    }

    /// Returns the objects of a slab: the usual number, or what fits if memory was short.
    #[inline]
    pub(crate) fn slab_objects(&self, cache: &Cache, order: Order) -> u64 {
        if order == cache.order() {
            u64::from(cache.objects.get())
        } else {
            order.bytes() / u64::from(cache.size.get())
        }
    }

    /// Returns the place of a CPU's blocks that no cache knows of: behind its caches.
    #[inline(always)]
    pub(crate) fn carved_cell(&self, cpu: u32) -> usize {
        (cpu as usize + 1) * (self.setup.caches_max as usize + 1) - 1
    }

    /// Returns the bytes of live blocks that no cache knows of.
    pub(crate) fn carved_bytes(&self) -> u64 {
        let counters = self.counters.as_slice().iter();
        counters.fold(0, |sum: u64, c| sum.wrapping_add(c.carved_bytes.get()))
    }

    /// Returns cache, slab and index of the object that `obj` points to.
    pub(crate) fn object_at(&self, obj: ObjPtr) -> Option<(CacheId, Pfn, u32)> {
        if obj.pfn().0 >= self.pages.count() {
            return None;
        }
        let head = self.pages.head(obj.pfn());
        let page = self.pages.get(head);
        if !page.is_slab() {
            return None;
        }
        let id = CacheId(page.cache.get());
        let slot = self.caches.get(id);
        let base = head.offset() + u64::from(self.pages.get(head).aux.get());
        Some((id, head, (obj.get().checked_sub(base)? / u64::from(slot.size.get())) as u32))
    }
}

/// A CPU at work: what the hot paths carry around.
#[derive(Debug)]
pub struct Cx<'m> {
    pub(crate) core: &'m Core,
    pub(crate) on: CpuContext<'m>,
    /// Start of the CPU's row in tables of CPUs times caches.
    pub(crate) row: usize,
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
    pub(crate) fn cell(&self, id: CacheId) -> usize {
        self.row + id.index()
    }

    #[inline(always)]
    pub(crate) fn tally(&self, id: CacheId) -> &'m Tally {
        &self.core.tallies[self.cell(id)]
    }

    /// Enters an object given out in the exact books.
    #[inline]
    pub(crate) fn book_alloc(&self, id: CacheId) {
        let totals = &self.core.totals[id.index()];
        totals.live.add(1);
        if totals.live.get() > totals.live_peak.get() {
            totals.live_peak.set(totals.live.get());
        }
        self.core.exact_bytes.add(u64::from(self.core.caches.get(id).size.get()));
    }

    /// Enters an object come back in the exact books.
    #[inline]
    pub(crate) fn book_free(&self, id: CacheId) {
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

    /// Enters a block carved by size come back.
    #[inline]
    pub(crate) fn block_in(&self, bytes: u64) {
        self.counters().carved_bytes.sub(bytes);
        if self.hooks.exact() {
            self.core.exact_bytes.sub(bytes);
        }
    }

    /// Takes a block from the page allocator; what was tracked in its pages is forgotten.
    #[inline]
    pub(crate) fn take_pages(&self, request: &BlockRequest) -> Option<Pfn> {
        let pfn = self.core.zones.alloc(self, request)?;
        if self.core.checked() {
            self.core.clear_tracks(pfn, request.order);
        }
        Some(pfn)
    }

    /// Takes pages for a slab of `cache` and enters them; the usual order, or the least that does.
    pub(crate) fn slab_pages(
        &self,
        cache: &Cache,
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
        let (usual, min) = (cache.order(), cache.order_min());
        let take = |order| {
            let (kind, cache) = (Kind::Slab, cache.id().0);
            self.take_pages(&BlockRequest { order, gfp, node, kind, cache })
        };
        let mut order = usual;
        let mut pfn = take(order);
        if pfn.is_none() && min < usual {
            order = min;
            pfn = take(order);
            if pfn.is_some() {
                self.tally(cache.id()).count(Stat::OrderFallback);
            }
        }
        let pfn = pfn?;
        self.core.pages.get(pfn).aux.set(cache.left_pad.get());
        let objects = self.core.slab_objects(cache, order) as u32;
        self.slab_in(Some(cache.id()), order, objects);
        self.tally(cache.id()).count(Stat::AllocSlab);
        Some((pfn, order))
    }

    /// Gives a slab's pages back.
    pub(crate) fn free_slab_pages(&self, cache: &Cache, pfn: Pfn) {
        let order = self.core.pages.get(pfn).order();
        self.tally(cache.id()).count(Stat::FreeSlab);
        let objects = self.core.slab_objects(cache, order) as u32;
        self.slab_out(Some(cache.id()), order, objects);
        if cache.flags().has(crate::SlabFlags::TYPESAFE_BY_RCU) {
            self.core.rcu.defer(self, pfn, order);
        } else {
            self.core.zones.free(self, pfn, order);
        }
    }

    /// Runs the cache's constructor on the objects of a new slab.
    #[cold]
    pub(crate) fn construct(&self, cache: &Cache, first: u64, objects: u64, size: u64) {
        let ctor = self.core.registry.lock().entry(cache.id()).and_then(|e| e.args.ctor);
        let Some(ctor) = ctor else { return };
        for obj in (0..objects).filter_map(|i| ObjPtr::new(first + i * size)) {
            (ctor.func)(self.core.arena.address(obj), ctor.context);
        }
    }

    /// Enters a slab into the gauges and the cache's totals.
    pub(crate) fn slab_in(&self, id: Option<CacheId>, order: Order, objects: u32) {
        let core = self.core;
        core.slab_pages.fetch_add(u64::from(order.pages()), Relaxed);
        core.slabs.fetch_add(1, Relaxed);
        let Some(id) = id else { return };
        let totals = &core.totals[id.index()];
        let slabs = totals.slabs.fetch_add(1, Relaxed) + 1;
        totals.slabs_peak.fetch_max(slabs, Relaxed);
        totals.pages.fetch_add(u64::from(order.pages()), Relaxed);
        totals.objects.fetch_add(u64::from(objects), Relaxed);
    }

    /// Takes a slab out of the gauges and the cache's totals.
    pub(crate) fn slab_out(&self, id: Option<CacheId>, order: Order, objects: u32) {
        let core = self.core;
        core.slab_pages.fetch_sub(u64::from(order.pages()), Relaxed);
        core.slabs.fetch_sub(1, Relaxed);
        let Some(id) = id else { return };
        let totals = &core.totals[id.index()];
        totals.slabs.fetch_sub(1, Relaxed);
        totals.pages.fetch_sub(u64::from(order.pages()), Relaxed);
        totals.objects.fetch_sub(u64::from(objects), Relaxed);
    }
}
