//! SLUB's operations: the fast paths, and the calls of the slow ones.

use alloc::vec::Vec;

use super::state::Slub;
use super::{stat, validate};
use crate::backend::ops::{CacheLayout, Mergeable, Names, Ops, Request, Visit};
use crate::backend::partial::nodes::{self, Nodes};
use crate::backend::partial::{FreeList, layout, link};
use crate::cache::args::{CacheArgs, Tunable};
use crate::cache::core::Core;
use crate::cache::cx::Cx;
use crate::cache::paths::OpCounts;
use crate::cache::table::CacheEntry;
use crate::error::Error;
use crate::ids::{CacheId, ObjPtr, Pfn};
use crate::raw::zeroed::ZeroedSlice;

impl Ops for Slub {
    const LOCKS: &'static [&'static str] = &["list_lock", "slab_cmpxchg"];
    const STATS: Names = &[stat::NAMES];
    const TUNABLES: &'static [Tunable] = &[
        Tunable::new(("order", "order"), 10, "order of every slab"),
        Tunable::new(
            ("cpu_partial", "cpu-partial"),
            u32::MAX,
            "objects kept in a CPU's partial slabs",
        ),
        Tunable::new(("min_partial", "min-partial"), u32::MAX, "empty slabs that a node keeps"),
    ];
    const TAKES_GEOMETRY: bool = true;
    const MERGEABLE: Mergeable = Mergeable::BySize;

    fn new(core: &Core) -> Self {
        Self {
            cpu_partial_slabs: ZeroedSlice::new(core.setup.caches_max as usize),
            cpu_slabs: ZeroedSlice::new(core.cpu_caches()),
            nodes: Nodes::new(core),
        }
    }

    fn plan(core: &Core, args: &CacheArgs) -> Result<CacheLayout, Error> {
        layout::plan(core, args, core.setup.min_objects, core.setup.order_max)
    }

    fn create(&self, core: &Core, cache: &CacheEntry, args: &CacheArgs) {
        self.set_limits(core, cache, args);
        self.nodes.set_min_partial(core, cache, args, nodes::usual_min_partial(cache));
    }

    type Row<'m> = ();

    fn row<'m>(&'m self, _: &'m Core, _: u32) {}

    #[inline(always)]
    fn alloc(&self, cx: &Cx<'_>, cache: CacheId, request: Request) -> Option<ObjPtr> {
        let cpu_slab = self.cpu_slab(cx, cache);
        if let Some(obj) = ObjPtr::new(cpu_slab.freelist.get())
            && request.node().is_none_or(|node| node == cx.core.zones.node_of(obj.pfn()))
        {
            cpu_slab.freelist.set(if cx.hooks.counts() {
                cx.core.links.next(cpu_slab.bias.get(), cpu_slab.shift.get(), obj)
            } else if cx.hooks.checks() {
                link::next_checked(cx, cx.core.caches.get(cache), obj, 0, request.site())
            } else {
                cx.core.arena.load(obj.get() + u64::from(cpu_slab.link.get()))
            });
            cpu_slab.ops.allocs.add(1);
            return Some(obj);
        }
        self.alloc_slow(cx, cx.core.caches.get(cache), cpu_slab, request)
    }

    #[inline(always)]
    fn free(&self, cx: &Cx<'_>, cache: CacheId, obj: ObjPtr, head: Pfn) {
        let cpu_slab = self.cpu_slab(cx, cache);
        cpu_slab.ops.frees.add(1);
        if cpu_slab.slab.get() == head.0 {
            let next = cpu_slab.freelist.get();
            match cx.hooks.counts() {
                true => cx.core.links.set(cpu_slab.bias.get(), cpu_slab.shift.get(), obj, next),
                false => link::store(cx, obj.get() + u64::from(cpu_slab.link.get()), next),
            }
            cpu_slab.freelist.set(obj.get());
        } else {
            self.free_slow(cx, cx.core.caches.get(cache), FreeList::one(head, obj));
        }
    }

    fn ops(&self, index: usize) -> &OpCounts {
        &self.cpu_slabs[index].ops
    }

    fn holds(&self, index: usize) -> bool {
        let cpu_slab = &self.cpu_slabs[index];
        cpu_slab.slab.get() != 0 || cpu_slab.partial.get() != 0
    }

    fn flush(&self, cx: &Cx<'_>, cache: &CacheEntry) {
        self.flush_cpu(cx, cache);
    }

    fn shrink(&self, cx: &Cx<'_>, cache: &CacheEntry) {
        self.nodes.shrink(cx, cache);
    }

    fn attributes(
        &self,
        core: &Core,
        cache: &CacheEntry,
        args: &CacheArgs,
    ) -> Vec<(&'static str, u32)> {
        let cpus = 0..core.setup.cpus;
        let of_cpus = cpus.map(|cpu| &self.cpu_slabs[core.cpu_cache_index(cpu, cache.id())]);
        let kept = of_cpus.map(|kept| u32::from(kept.slab.get() != 0) + kept.partial_slabs.get());
        let (partial, objects) = self.nodes.partial(core, cache);
        [
            ("cpu_partial", Self::cpu_partial(core, cache, args)),
            ("cpu_slabs", kept.sum()),
            ("min_partial", self.nodes.min_partial(core, cache)),
            ("objects_partial", objects),
            ("partial", partial),
        ]
        .into()
    }

    fn walk(&self, core: &Core, cache: &CacheEntry, visit: Visit<'_>) {
        validate::walk(self, core, cache, visit);
    }
}
