//! Dense's operations: the fast paths, and where the others go.

use alloc::vec::Vec;

use super::magazine::Dense;
use super::{order, stat, validate};
use crate::backend::ops::{CacheLayout, Mergeable, Names, Ops, Request, Visit};
use crate::backend::partial::tiny;
use crate::cache::KmallocConfig;
use crate::cache::args::{CacheArgs, Tunable};
use crate::cache::core::Core;
use crate::cache::cx::Cx;
use crate::cache::paths::OpCounts;
use crate::cache::table::CacheEntry;
use crate::error::Error;
use crate::ids::{CacheId, ObjPtr, Pfn};

impl Ops for Dense {
    const LOCKS: &'static [&'static str] = &["list_lock"];
    const STATS: Names = &[stat::NAMES];
    const TUNABLES: &'static [Tunable] = tiny::TUNABLES;
    const TAKES_GEOMETRY: bool = true;
    const MERGEABLE: Mergeable = Mergeable::BySize;

    fn adjust_kmalloc(config: &mut KmallocConfig) {
        tiny::adjust_kmalloc(config);
    }

    fn adjust_cache(args: &mut CacheArgs) {
        tiny::adjust_cache(args);
    }

    fn new(core: &Core) -> Self {
        Self::with_nodes(core)
    }

    fn plan(core: &Core, args: &CacheArgs) -> Result<CacheLayout, Error> {
        order::plan(core, args)
    }

    fn create(&self, core: &Core, cache: &CacheEntry, args: &CacheArgs) {
        self.nodes.set_min_partial(core, cache, args, 0);
        self.set_growth(core, cache, args);
        // What was there held objects of another size.
        for cpu in 0..core.setup.cpus {
            let magazine = &self.magazines[core.cpu_cache_index(cpu, cache.id())];
            magazine.capacity.set(0);
            magazine.misses.set(0);
            magazine.patience.set(0);
            magazine.too_soon.set(0);
            magazine.emptied_at.set(0);
        }
    }

    #[inline(always)]
    fn alloc(&self, cx: &Cx<'_>, cache: CacheId, request: Request) -> Option<ObjPtr> {
        let magazine = &self.magazines[cx.cpu_cache_index(cache)];
        let count = magazine.count.get();
        if count > 0 && request.node().is_none_or(|node| node == cx.node()) {
            magazine.count.set(count - 1);
            magazine.ops.allocs.add(1);
            return magazine.object(count - 1);
        }
        self.on(cx, cx.core.caches.get(cache)).alloc_slow(request)
    }

    #[inline(always)]
    fn free(&self, cx: &Cx<'_>, cache: CacheId, obj: ObjPtr, head: Pfn) {
        let magazine = &self.magazines[cx.cpu_cache_index(cache)];
        magazine.ops.frees.add(1);
        let local = cx.core.setup.nodes == 1 || cx.core.zones.node_of(head) == cx.node();
        if magazine.count.get() < magazine.capacity.get() && local {
            magazine.push(obj);
        } else {
            self.on(cx, cx.core.caches.get(cache)).free_slow(obj, head);
        }
    }

    fn ops(&self, index: usize) -> &OpCounts {
        &self.magazines[index].ops
    }

    fn holds(&self, index: usize) -> bool {
        self.magazines[index].count.get() != 0
    }

    fn flush(&self, cx: &Cx<'_>, cache: &CacheEntry) {
        self.on(cx, cache).shrink_to(0);
    }

    fn shrink(&self, cx: &Cx<'_>, cache: &CacheEntry) {
        self.nodes.shrink(cx, cache);
    }

    fn tick(&self, cx: &Cx<'_>, now_ns: u64) {
        self.visit_in_time(cx, now_ns);
    }

    fn attributes(
        &self,
        core: &Core,
        cache: &CacheEntry,
        _: &CacheArgs,
    ) -> Vec<(&'static str, u32)> {
        [("min_partial", self.nodes.min_partial(core, cache))].into()
    }

    fn walk(&self, core: &Core, cache: &CacheEntry, visit: Visit<'_>) {
        validate::walk(self, core, cache, visit);
    }
}
