//! SLAB's operations: the fast paths, and the calls of the slow ones.

use super::layout::{self, KMALLOC_MIN, LIMIT_MAX, SHARED_MAX};
use super::state::{Array, ENTRIES, Slab};
use super::{stat, validate};
use crate::backend::ops::{CacheLayout, Mergeable, Names, Ops, Request, Visit};
use crate::cache::KmallocConfig;
use crate::cache::args::{CacheArgs, Tunable};
use crate::cache::core::Core;
use crate::cache::cx::Cx;
use crate::cache::paths::OpCounts;
use crate::cache::table::CacheEntry;
use crate::error::Error;
use crate::ids::{CacheId, ObjPtr, Pfn};
use crate::raw::local::LocalU64;
use crate::raw::zeroed::ZeroedSlice;

/// What the fast paths of a CPU look at.
#[derive(Debug, Clone, Copy)]
pub struct Row<'m> {
    /// Its arrays, by cache.
    arrays: &'m [Array],
    /// The places of all arrays.
    entries: &'m [LocalU64],
}

impl Ops for Slab {
    const LOCKS: &'static [&'static str] = &["list_lock"];
    const STATS: Names = &[stat::NAMES];
    // Indexes of a slab's objects are bytes; Linux uses two bytes where pages are larger.
    const SMALL_PAGES_ONLY: bool = true;
    const PADDING_IS_USABLE: bool = false;
    const MERGEABLE: Mergeable = Mergeable::ByAlignment;
    const TUNABLES: &'static [Tunable] = &[
        Tunable::new(("order", "order"), 10, "order of every slab"),
        Tunable::new(("limit", "limit"), LIMIT_MAX, "objects in a CPU's array"),
        Tunable::new(("batchcount", "batch"), LIMIT_MAX, "objects moved at once"),
        Tunable::new(("sharedfactor", "shared"), SHARED_MAX, "batches in the shared array"),
    ];

    fn adjust_kmalloc(config: &mut KmallocConfig) {
        if config.classes == KmallocConfig::LINUX {
            config.classes.retain(|&class| class >= KMALLOC_MIN);
        }
    }

    fn new(core: &Core) -> Self {
        let cpu_caches = core.cpu_caches();
        let nodes = core.setup.caches_max as usize * core.setup.nodes as usize;
        Self {
            arrays: ZeroedSlice::new(cpu_caches),
            entries: ZeroedSlice::new(cpu_caches * ENTRIES),
            nodes: ZeroedSlice::new(nodes),
            shared: ZeroedSlice::new(nodes * SHARED_MAX as usize),
            colours: ZeroedSlice::new(core.setup.caches_max as usize),
            next_reap: ZeroedSlice::new(core.setup.cpus as usize),
        }
    }

    fn plan(core: &Core, args: &CacheArgs) -> Result<CacheLayout, Error> {
        layout::plan(core, args)
    }

    fn create(&self, core: &Core, cache: &CacheEntry, args: &CacheArgs) {
        layout::set_limits(core, self.colours(cache), cache, args);
        layout::set_colours(core, self.colours(cache), cache, args);
        for cpu in 0..core.setup.cpus {
            self.arrays[core.cpu_cache_index(cpu, cache.id())].limit.set(0);
        }
    }

    const FAST: bool = true;
    type Row<'m> = Row<'m>;

    fn row<'m>(&'m self, core: &'m Core, cpu: u32) -> Self::Row<'m> {
        let entries = self.entries.as_slice();
        let row = core.row(cpu);
        let entries = &entries[row.start * ENTRIES..row.end * ENTRIES];
        Row { arrays: &self.arrays.as_slice()[row], entries }
    }

    #[inline(always)]
    fn alloc_fast(row: &Self::Row<'_>, cache: usize) -> Option<ObjPtr> {
        let array = row.arrays.get(cache)?;
        let last = array.avail.get().checked_sub(1)?;
        let entry = row.entries.get(cache * ENTRIES + last as usize)?;
        array.touched.set(1);
        array.avail.set(last);
        array.ops.allocs.add(1);
        ObjPtr::new(entry.get())
    }

    #[inline(always)]
    fn free_fast(row: &Self::Row<'_>, cache: usize, obj: ObjPtr) -> bool {
        let Some(array) = row.arrays.get(cache) else { return false };
        let avail = array.avail.get();
        let entry = row.entries.get(cache * ENTRIES + avail as usize);
        let Some(entry) = entry.filter(|_| avail < array.limit.get()) else { return false };
        entry.set(obj.get());
        array.avail.set(avail + 1);
        array.ops.frees.add(1);
        true
    }

    #[inline(always)]
    fn alloc(&self, cx: &Cx<'_>, cache: CacheId, request: Request) -> Option<ObjPtr> {
        let index = cx.cpu_cache_index(cache);
        let array = &self.arrays[index];
        let avail = array.avail.get();
        if avail > 0 && request.node().is_none() {
            array.touched.set(1);
            array.avail.set(avail - 1);
            array.ops.allocs.add(1);
            return ObjPtr::new(self.entry(index, avail - 1).get());
        }
        self.on(cx, cx.core.caches.get(cache)).alloc_slow(request)
    }

    #[inline(always)]
    fn free(&self, cx: &Cx<'_>, cache: CacheId, obj: ObjPtr, head: Pfn) {
        let index = cx.cpu_cache_index(cache);
        let array = &self.arrays[index];
        array.ops.frees.add(1);
        let avail = array.avail.get();
        let local = cx.core.setup.nodes == 1 || cx.core.zones.node_of(head) == cx.node();
        if avail < array.limit.get() && local {
            self.entry(index, avail).set(obj.get());
            array.avail.set(avail + 1);
        } else {
            self.on(cx, cx.core.caches.get(cache)).free_slow(obj, head);
        }
    }

    fn ops(&self, index: usize) -> &OpCounts {
        &self.arrays[index].ops
    }

    fn holds(&self, index: usize) -> bool {
        self.arrays[index].avail.get() != 0
    }

    fn flush(&self, cx: &Cx<'_>, cache: &CacheEntry) {
        self.on(cx, cache).drain_array(u32::MAX);
    }

    fn shrink(&self, cx: &Cx<'_>, cache: &CacheEntry) {
        self.on(cx, cache).shrink_nodes();
    }

    fn tick(&self, cx: &Cx<'_>, now_ns: u64) {
        self.reap(cx, now_ns);
    }

    fn array_limits(&self, cache: &CacheEntry) -> (u32, u32, u32) {
        let limits = self.colours(cache);
        let batch = limits.batch.get().max(1);
        (limits.limit.get(), batch, limits.shared.get() / batch)
    }

    fn walk(&self, core: &Core, cache: &CacheEntry, visit: Visit<'_>) {
        validate::walk(self, core, cache, visit);
    }
}
