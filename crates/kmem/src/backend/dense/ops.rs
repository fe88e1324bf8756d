//! Dense's operations: the fast paths, and the calls of the slow ones.

use alloc::vec::Vec;

use super::magazine::{Dense, Magazine, Objects};
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
use crate::raw::zeroed::Pairs;

/// What the fast paths of a CPU look at.
#[derive(Debug, Clone, Copy)]
pub struct Row<'m> {
    /// Its magazines, by cache.
    magazines: Pairs<'m, Magazine, Objects>,
}

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
        // The index held objects of another size before.
        for cpu in 0..core.setup.cpus {
            let magazine = &self.magazines[core.cpu_cache_index(cpu, cache.id())];
            magazine.capacity.set(0);
            magazine.misses.set(0);
            magazine.patience.set(0);
            magazine.too_soon.set(0);
            magazine.emptied_at.set(0);
            magazine.looked.set(0);
        }
    }

    const FAST: bool = true;
    type Row<'m> = Row<'m>;

    fn row<'m>(&'m self, core: &'m Core, cpu: u32) -> Self::Row<'m> {
        let row = core.row(cpu);
        let magazines = &self.magazines.as_slice()[row.clone()];
        Row { magazines: Pairs::new(magazines, &self.objects.as_slice()[row]) }
    }

    #[inline(always)]
    fn alloc_fast(row: &Self::Row<'_>, cache: usize) -> Option<ObjPtr> {
        let (magazine, objects) = row.magazines.get(cache)?;
        magazine.pop(objects)
    }

    #[inline(always)]
    fn free_fast(row: &Self::Row<'_>, cache: usize, obj: ObjPtr) -> bool {
        row.magazines.get(cache).is_some_and(|(magazine, objects)| magazine.push(objects, obj))
    }

    #[inline(always)]
    fn alloc(&self, cx: &Cx<'_>, cache: CacheId, request: Request) -> Option<ObjPtr> {
        let index = cx.cpu_cache_index(cache);
        if request.node().is_none_or(|node| node == cx.node())
            && let Some(obj) = self.magazines[index].pop(&self.objects[index])
        {
            return Some(obj);
        }
        self.on(cx, cx.core.caches.get(cache)).alloc_slow(request)
    }

    #[inline(always)]
    fn free(&self, cx: &Cx<'_>, cache: CacheId, obj: ObjPtr, head: Pfn) {
        let local = cx.core.setup.nodes == 1 || cx.core.zones.node_of(head) == cx.node();
        let index = cx.cpu_cache_index(cache);
        let magazine = &self.magazines[index];
        if !local || !magazine.push(&self.objects[index], obj) {
            magazine.ops.frees.add(1);
            self.on(cx, cx.core.caches.get(cache)).free_slow(obj, head);
        }
    }

    #[inline(always)]
    fn alloc_turn(&self, cx: &Cx<'_>, cache: CacheId, request: Request) -> Option<ObjPtr> {
        self.on(cx, cx.core.caches.get(cache)).alloc_slow(request)
    }

    #[inline(always)]
    fn free_turn(&self, cx: &Cx<'_>, cache: CacheId, obj: ObjPtr, head: Pfn) {
        let of = self.on(cx, cx.core.caches.get(cache));
        of.magazine.ops.frees.add(1);
        of.free_slow(obj, head);
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
