//! What every backend stands on: memory, pages, zones, cache numbers, counters.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::args::CacheArgs;
use super::findings::{Finding, FindingKind, FindingLog};
use super::grace::GracePeriods;
use super::kmalloc::Kmalloc;
use super::links::Links;
use super::paths::Tally;
use super::registry::Registry;
use super::setup::{CheckLevel, Setup};
use super::slab_log::SlabLog;
use super::table::{CacheEntry, CacheTable};
use super::track::Tracks;
use crate::cpu::CpuCounters;
use crate::ids::{CacheId, ObjPtr, Order, Pfn, Site};
use crate::page::{Memory, PageTable, Zones};
use crate::raw::arena::Arena;
use crate::raw::local::LocalU64;
use crate::raw::lock::Lock;
use crate::raw::sync::{AtomicBool, AtomicU64, Ordering::Relaxed};
use crate::raw::zeroed::{ZeroedSlice, zeroed_struct};
use crate::vmalloc::Vmalloc;

zeroed_struct! {
    /// A number of slabs and the number of their pages, in one word, so that one atomic instruction
    /// enters both.
    #[derive(Debug)]
    pub(crate) struct SlabCount {
        /// Low half the slabs, high half the pages.
        word: AtomicU64,
    }
}

impl SlabCount {
    /// Returns what a slab adds to the word.
    pub(crate) fn entry(order: Order) -> u64 {
        u64::from(order.pages()) << 32 | 1
    }

    /// Returns the slabs and the pages that such a word tells.
    pub(crate) fn parts(word: u64) -> (u64, u64) {
        (word & u64::from(u32::MAX), word >> 32)
    }

    /// Enters a slab; returns the number of slabs after it.
    pub(crate) fn add(&self, order: Order) -> u64 {
        u64::from(self.word.fetch_add(Self::entry(order), Relaxed) as u32) + 1
    }

    /// Enters that slabs are gone; `entries` is the sum of what each had added.
    pub(crate) fn sub(&self, entries: u64) {
        self.word.fetch_sub(entries, Relaxed);
    }

    /// Returns the slabs and their pages.
    pub(crate) fn both(&self) -> (u64, u64) {
        Self::parts(self.word.load(Relaxed))
    }

    pub(crate) fn slabs(&self) -> u64 {
        self.both().0
    }

    pub(crate) fn pages(&self) -> u64 {
        self.both().1
    }
}

zeroed_struct! {
    /// A cache's slabs, in a cache line of their own: every CPU that adds a slab writes it.
    #[derive(Debug)]
    #[repr(align(64))]
    pub(crate) struct Totals {
        pub slabs: SlabCount,
        pub slabs_peak: AtomicU64,
        /// Free objects that no list leads to any more, because a link was damaged.
        pub lost: AtomicU64,
        /// Live objects, kept while one thread drives all CPUs.
        pub live: LocalU64,
        /// Most live objects.
        pub live_peak: AtomicU64,
    }
}

impl Totals {
    /// Makes all of them 0, for a cache that is not in use yet.
    pub(crate) fn reset(&self) {
        for total in [&self.slabs.word, &self.slabs_peak, &self.lost] {
            total.store(0, Relaxed);
        }
        self.live.set(0);
        self.live_peak.store(0, Relaxed);
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
    /// By CPU and cache; by cache alone where objects are only counted
    pub(crate) tallies: ZeroedSlice<Tally>,
    pub(crate) totals: ZeroedSlice<Totals>,
    /// Slabs of all caches and their pages in one word ([`SlabCount::parts`]), kept while `exact`.
    pub(crate) exact_slabs: LocalU64,
    pub(crate) large_pages: AtomicU64,
    /// Whether one thread drives all CPUs and keeps exact totals.
    pub(crate) exact: AtomicBool,
    /// Bytes of kmalloc blocks that the backend has taken for itself.
    pub(crate) own_bytes: AtomicU64,
    /// Live bytes without large kmallocs, kept while `exact`.
    pub(crate) exact_bytes: LocalU64,
    /// Links between free objects, where objects are only counted
    pub(crate) links: Links,
    pub(crate) tracks: Tracks,
    pub(crate) slab_log: SlabLog,
    pub(crate) grace: GracePeriods,
    pub(crate) vmalloc: Vmalloc,
}

impl Core {
    /// Returns the page records and the memory that blocks consist of.
    #[inline(always)]
    pub(crate) fn memory(&self) -> Memory<'_> {
        Memory { pages: &self.pages, arena: &self.arena }
    }

    /// Returns the place of a CPU's state for a cache in a table of CPUs times caches.
    #[inline(always)]
    pub(crate) fn cpu_cache_index(&self, cpu: u32, id: CacheId) -> usize {
        cpu as usize * (self.setup.caches_max as usize + 1) + id.index()
    }

    /// Returns the length of such a table.
    pub(crate) fn cpu_caches(&self) -> usize {
        self.setup.cpus as usize * (self.setup.caches_max as usize + 1)
    }

    /// Returns the start of a CPU's row in the table of tallies.
    pub(crate) fn tally_row(&self, cpu: u32) -> usize {
        if self.setup.counts() { 0 } else { self.row(cpu).start }
    }

    /// Returns the tallies of a cache, or of the blocks that no cache knows.
    pub(crate) fn tallies_of(&self, id: CacheId) -> impl Iterator<Item = &Tally> {
        self.tallies_at(id.index())
    }

    /// Returns the tallies in a place of each row.
    pub(crate) fn tallies_at(&self, place: usize) -> impl Iterator<Item = &Tally> {
        let tallies = self.tallies.as_slice();
        tallies.iter().skip(place).step_by(self.setup.caches_max as usize + 1)
    }

    /// Returns the part of such a table that belongs to a CPU.
    pub(crate) fn row(&self, cpu: u32) -> core::ops::Range<usize> {
        let len = self.setup.caches_max as usize + 1;
        cpu as usize * len..(cpu as usize + 1) * len
    }

    /// Returns a tunable's value for a cache: its own, else the machine's.
    pub(crate) fn tunable(&self, args: &CacheArgs, name: &str) -> Option<u32> {
        args.tunables.get(name).or_else(|| self.setup.tunables.get(name))
    }

    /// Returns whether operations are checked.
    #[inline]
    pub(crate) fn checked(&self) -> bool {
        self.setup.check != CheckLevel::Off
    }

    /// Returns the number of objects in a slab: the usual one, or what fits if memory was short.
    #[inline]
    pub(crate) fn slab_objects(&self, cache: &CacheEntry, order: Order) -> u64 {
        if order == cache.order() {
            u64::from(cache.objects.get())
        } else {
            order.bytes() / u64::from(cache.size.get())
        }
    }

    /// Returns a cache's slabs and the objects in them. Slabs are of the usual order or of the least, so their pages tell
    /// how many of each there are.
    pub(crate) fn slabs_and_objects(&self, cache: &CacheEntry) -> (u64, u64) {
        let (slabs, pages) = self.totals[cache.id().index()].slabs.both();
        let (usual, least) = (cache.order(), cache.order_min());
        let more = u64::from(usual.pages() - least.pages());
        let large = (pages - slabs * u64::from(least.pages())).checked_div(more).unwrap_or(slabs);
        let small = slabs - large;
        let objects = large * self.slab_objects(cache, usual);
        (slabs, objects + small * self.slab_objects(cache, least))
    }

    /// Returns the place of a CPU's blocks that no cache knows: behind its caches.
    #[inline(always)]
    pub(crate) fn carved_index(&self, cpu: u32) -> usize {
        (cpu as usize + 1) * (self.setup.caches_max as usize + 1) - 1
    }

    /// Returns the bytes of live blocks that no cache knows.
    pub(crate) fn carved_bytes(&self) -> u64 {
        let counters = self.counters.as_slice().iter();
        let sum = counters.fold(0, |sum: u64, c| sum.wrapping_add(c.carved_bytes.get()));
        // A block freed on another CPU may be seen before its allocation is.
        if sum.cast_signed() < 0 { 0 } else { sum }
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

    /// Returns the name of a cache for a finding.
    pub(crate) fn cache_name(&self, id: Option<CacheId>) -> String {
        let registry = self.registry.lock();
        let name = id.and_then(|id| registry.entry(id)).map(|e| e.args.name.clone());
        name.unwrap_or_else(|| "kmalloc".to_string())
    }

    /// Returns how many objects of a slab are given out, as the tracks know it.
    pub(crate) fn live_objects(&self, cache: &CacheEntry, slab: Pfn) -> u64 {
        let page = self.pages.get(slab);
        let (base, size) = (slab.offset() + u64::from(page.aux.get()), u64::from(cache.size.get()));
        let objects = (0..self.slab_objects(cache, page.order())).map(|i| base + i * size);
        objects.filter_map(ObjPtr::new).filter(|&obj| self.tracks.is_live(obj)).count() as u64
    }

    /// Reports a free object whose link to the next was overwritten.
    #[cold]
    pub(crate) fn report_link(&self, cache: &CacheEntry, obj: ObjPtr, site: Site) {
        let detail = "expected the link to a free object of the slab: it was written over";
        let finding = Finding::new(FindingKind::FreeListCorrupt, site, detail)
            .cache(self.cache_name(Some(cache.id())))
            .object(obj, i64::from(cache.free_offset.get()))
            .before(self.tracks.last_site(obj));
        self.findings.report(finding);
    }
}
