//! The operations of SLUB with sheaves: the fast paths, and the calls of the slow ones.

use alloc::vec::Vec;

use super::slabs::NodeSlabs;
use super::stat;
use crate::backend::ops::{CacheLayout, Mergeable, Names, Ops, Request, Visit};
use crate::backend::partial::layout;
use crate::backend::partial::nodes::{self, Nodes};
use crate::backend::partial::validate::check_slab;
use crate::backend::sheaves::{self, CpuSheaves, Missed, NewSheaf, Sheaves, Slabs};
use crate::cache::args::{CacheArgs, Tunable};
use crate::cache::core::Core;
use crate::cache::cx::Cx;
use crate::cache::paths::OpCounts;
use crate::cache::table::CacheEntry;
use crate::error::Error;
use crate::ids::{CacheId, ObjPtr, Pfn};
use crate::raw::sync::AtomicU64;

/// Largest share of Linux's capacities that a machine may set.
const PERCENT_MAX: u32 = 1000;
/// Most sheaves that a barn may take.
const BARN_SHEAVES_MAX: u32 = 1000;

/// The SLUB allocator with sheaves.
#[derive(Debug)]
pub struct SlubSheaves {
    sheaves: Sheaves,
    slabs: NodeSlabs,
}

/// What the fast paths of a CPU look at.
#[derive(Debug, Clone, Copy)]
pub struct Row<'m> {
    /// Its sheaves, by cache.
    cpus: &'m [CpuSheaves],
    /// The words that sheaves lie in.
    words: &'m [AtomicU64],
}

impl SlubSheaves {
    #[cold]
    #[inline(never)]
    fn alloc_slow(&self, cx: &Cx<'_>, cache: &CacheEntry, request: Request) -> Option<ObjPtr> {
        let taken = self.sheaves.take(&self.slabs, cx, cache, request, NewSheaf::Allowed);
        let obj = taken.or_else(|missed| {
            if missed == Missed::Node {
                cx.tally(cache.id()).count(stat::ALLOC_NODE_MISMATCH);
            }
            self.slabs.take_one(cx, cache, request).ok_or(missed)
        });
        self.sheaves.at(cx.cpu_cache_index(cache.id())).ops.allocs.add(u64::from(obj.is_ok()));
        obj.ok()
    }

    #[cold]
    #[inline(never)]
    fn free_slow(&self, cx: &Cx<'_>, cache: &CacheEntry, obj: ObjPtr, slab: Pfn) {
        let local = cx.core.zones.node_of(slab) == cx.node();
        if !local || !self.sheaves.put(&self.slabs, cx, cache, obj) {
            self.slabs.give_one(cx, cache, obj, slab);
            cx.tally(cache.id()).count(stat::FREE_SLOWPATH);
        }
    }
}

impl Ops for SlubSheaves {
    const LOCKS: &'static [&'static str] = &["list_lock", "slab_cmpxchg", "barn_lock"];
    const STATS: Names = &[stat::NAMES, sheaves::stat::NAMES];
    const TUNABLES: &'static [Tunable] = &[
        Tunable::new(("order", "order"), 10, "order of every slab"),
        Tunable::new(("min_partial", "min-partial"), u32::MAX, "empty slabs that a node keeps"),
        Tunable::new(
            ("sheaf_capacity", "sheaf-capacity"),
            sheaves::CAPACITY_MAX,
            "objects in a sheaf, if more than by size",
        ),
        Tunable::new(
            (sheaves::SHEAF_PERCENT, "sheaf-percent"),
            PERCENT_MAX,
            "objects in a sheaf by size, in percent of Linux's; 0: no cache has sheaves",
        ),
        Tunable::new(
            (sheaves::BARN_SHEAVES, "barn-sheaves"),
            BARN_SHEAVES_MAX,
            "full sheaves that a barn takes, and empty ones from a grace period",
        ),
    ];
    const TAKES_GEOMETRY: bool = true;
    const MERGEABLE: Mergeable = Mergeable::BySize;

    fn adjust_cache(args: &mut CacheArgs) {
        sheaves::adjust_cache(args);
    }

    fn new(core: &Core) -> Self {
        Self { sheaves: Sheaves::new(core), slabs: NodeSlabs { nodes: Nodes::new(core) } }
    }

    fn plan(core: &Core, args: &CacheArgs) -> Result<CacheLayout, Error> {
        layout::plan(core, args, core.setup.min_objects, core.setup.order_max)
    }

    fn create(&self, core: &Core, cache: &CacheEntry, args: &CacheArgs) {
        let usual = nodes::usual_min_partial(cache);
        self.slabs.nodes.set_min_partial(core, cache, args, usual);
        let asked = sheaves::asked_capacity(core, cache, args);
        let usual = sheaves::usual_capacity(core, cache, args);
        self.sheaves.set_up(core, cache, args, asked.max(usual));
    }

    const FAST: bool = true;
    type Row<'m> = Row<'m>;

    fn row<'m>(&'m self, core: &'m Core, cpu: u32) -> Self::Row<'m> {
        Row { cpus: self.sheaves.row(core, cpu), words: core.arena.words() }
    }

    #[inline(always)]
    fn alloc_fast(row: &Self::Row<'_>, cache: usize) -> Option<ObjPtr> {
        row.cpus.get(cache)?.pop(row.words)
    }

    #[inline(always)]
    fn free_fast(row: &Self::Row<'_>, cache: usize, obj: ObjPtr) -> bool {
        let Some(cpu) = row.cpus.get(cache) else { return false };
        let room = cpu.push(row.words, obj);
        if room {
            cpu.ops.frees.add(1);
        }
        room
    }

    #[inline(always)]
    fn alloc(&self, cx: &Cx<'_>, cache: CacheId, request: Request) -> Option<ObjPtr> {
        if request.node().is_none()
            && let Some(obj) = self.sheaves.at(cx.cpu_cache_index(cache)).pop(cx.core.arena.words())
        {
            return Some(obj);
        }
        self.alloc_turn(cx, cache, request)
    }

    #[inline(always)]
    fn alloc_turn(&self, cx: &Cx<'_>, cache: CacheId, request: Request) -> Option<ObjPtr> {
        let cpu = self.sheaves.at(cx.cpu_cache_index(cache));
        if request.node().is_none()
            && cpu.size() == 0
            && self.sheaves.trade_empty::<NodeSlabs>(cx, cpu, cache)
        {
            return cpu.pop(cx.core.arena.words());
        }
        self.alloc_slow(cx, cx.core.caches.get(cache), request)
    }

    #[inline(always)]
    fn free(&self, cx: &Cx<'_>, cache: CacheId, obj: ObjPtr, head: Pfn) {
        let cpu = self.sheaves.at(cx.cpu_cache_index(cache));
        let local = cx.core.setup.nodes == 1 || cx.core.zones.node_of(head) == cx.node();
        if local && cpu.push(cx.core.arena.words(), obj) {
            cpu.ops.frees.add(1);
        } else {
            self.free_turn(cx, cache, obj, head);
        }
    }

    #[inline(always)]
    fn free_turn(&self, cx: &Cx<'_>, cache: CacheId, obj: ObjPtr, head: Pfn) {
        let cpu = self.sheaves.at(cx.cpu_cache_index(cache));
        cpu.ops.frees.add(1);
        let local = cx.core.setup.nodes == 1 || cx.core.zones.node_of(head) == cx.node();
        let traded =
            local && cpu.is_full() && self.sheaves.trade_full::<NodeSlabs>(cx, cpu, cache).is_ok();
        if !traded || !cpu.push(cx.core.arena.words(), obj) {
            self.free_slow(cx, cx.core.caches.get(cache), obj, head);
        }
    }

    fn free_rcu(&self, cx: &Cx<'_>, cache: CacheId, obj: ObjPtr, head: Pfn) -> bool {
        let local = cx.core.zones.node_of(head) == cx.node();
        let put = local && self.sheaves.put_rcu(&self.slabs, cx, cx.core.caches.get(cache), obj);
        if put {
            self.sheaves.at(cx.cpu_cache_index(cache)).ops.frees.add(1);
            cx.tally(cache).uncount(stat::FREE_FASTPATH);
        }
        put
    }

    fn end_grace_periods(&self, cx: &Cx<'_>) {
        self.sheaves.end_grace_periods(&self.slabs, cx);
    }

    fn waits(&self) -> bool {
        self.sheaves.wait()
    }

    fn ops(&self, index: usize) -> &OpCounts {
        &self.sheaves.at(index).ops
    }

    fn holds(&self, index: usize) -> bool {
        self.sheaves.holds(index)
    }

    fn flush(&self, cx: &Cx<'_>, cache: &CacheEntry) {
        self.sheaves.flush(&self.slabs, cx, cache);
    }

    fn shrink(&self, cx: &Cx<'_>, cache: &CacheEntry) {
        self.sheaves.shrink(&self.slabs, cx, cache);
        self.slabs.nodes.shrink(cx, cache);
    }

    fn attributes(
        &self,
        core: &Core,
        cache: &CacheEntry,
        _: &CacheArgs,
    ) -> Vec<(&'static str, u32)> {
        let min_partial = self.slabs.nodes.min_partial(core, cache);
        [("min_partial", min_partial), ("sheaf_capacity", self.sheaves.capacity(cache.id()))].into()
    }

    fn walk(&self, core: &Core, cache: &CacheEntry, visit: Visit<'_>) {
        self.sheaves.walk(core, cache, visit);
        for node in self.slabs.nodes.of(core, cache) {
            let list = node.list.lock();
            list.iter(&core.pages).for_each(|slab| check_slab(core, cache, slab, None, visit));
        }
    }
}
