//! SLUB's operations: the fast paths, and where the others go.

use alloc::vec::Vec;

use super::state::Slub;
use super::{layout, link, stat, validate};
use crate::backend::ops::{Mergeable, Ops, Plan, Request, Visit};
use crate::cache::args::{CacheArgs, Tunable};
use crate::cache::core::Core;
use crate::cache::cx::Cx;
use crate::cache::paths::OpCounts;
use crate::cache::table::Cache;
use crate::error::Error;
use crate::ids::{CacheId, ObjPtr, Pfn};
use crate::raw::zeroed::ZeroedSlice;

impl Ops for Slub {
    const LOCKS: &'static [&'static str] = &["list_lock", "slab_cmpxchg"];
    const STATS: &'static [&'static str] = stat::NAMES;
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
        let caches = core.setup.caches_max as usize;
        Self {
            limits: ZeroedSlice::new(caches),
            cpu_slabs: ZeroedSlice::new(core.tallies.as_slice().len()),
            nodes: ZeroedSlice::new(caches * core.setup.nodes as usize),
        }
    }

    fn plan(core: &Core, args: &CacheArgs) -> Result<Plan, Error> {
        layout::plan(core, args)
    }

    fn create(&self, core: &Core, cache: &Cache, args: &CacheArgs) {
        layout::set_limits(core, self.limits(cache), cache, args);
    }

    #[inline(always)]
    fn alloc(&self, cx: &Cx<'_>, cache: CacheId, request: Request) -> Option<ObjPtr> {
        let cpu_slab = self.cpu_slab(cx, cache);
        if let Some(obj) = ObjPtr::new(cpu_slab.freelist.get())
            && request.node().is_none_or(|node| node == cx.core.zones.node_of(obj.pfn()))
        {
            cpu_slab.freelist.set(if cx.hooks.checks() {
                self.next_checked(cx, cx.core.caches.get(cache), obj, 0, request.site())
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
            link::set(cx, obj.get() + u64::from(cpu_slab.link.get()), cpu_slab.freelist.get());
            cpu_slab.freelist.set(obj.get());
        } else {
            self.free_slow(cx, cx.core.caches.get(cache), obj, head);
        }
    }

    fn ops(&self, cell: usize) -> &OpCounts {
        &self.cpu_slabs[cell].ops
    }

    fn holds(&self, cell: usize) -> bool {
        let cpu_slab = &self.cpu_slabs[cell];
        cpu_slab.slab.get() != 0 || cpu_slab.partial.get() != 0
    }

    fn flush(&self, cx: &Cx<'_>, cache: &Cache) {
        self.flush_cpu(cx, cache);
    }

    fn shrink(&self, cx: &Cx<'_>, cache: &Cache) {
        self.shrink_nodes(cx, cache);
    }

    fn attributes(&self, core: &Core, cache: &Cache, args: &CacheArgs) -> Vec<(&'static str, u32)> {
        let cpu_partial = layout::cpu_partial(core, cache, args);
        [("cpu_partial", cpu_partial), ("min_partial", self.limits(cache).min_partial.get())].into()
    }

    fn walk(&self, core: &Core, cache: &Cache, visit: Visit<'_>) {
        validate::walk(self, core, cache, visit);
    }
}
