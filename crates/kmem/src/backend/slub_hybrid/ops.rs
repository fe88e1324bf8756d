//! The operations of SLUB of 6.18: sheaves where a cache has them, else the classic allocator.

use alloc::vec::Vec;

use super::stat;
use crate::backend::ops::{CacheLayout, Mergeable, Names, Ops, Request, Visit};
use crate::backend::sheaves::{self, NewSheaf, Sheaves};
use crate::backend::slub::{self, Slub};
use crate::cache::args::{CacheArgs, Tunable};
use crate::cache::core::Core;
use crate::cache::cx::Cx;
use crate::cache::paths::{OpCounts, common};
use crate::cache::table::CacheEntry;
use crate::error::Error;
use crate::ids::{CacheId, ObjPtr, Pfn};

/// The SLUB allocator of Linux 6.18.
#[derive(Debug)]
pub struct SlubHybrid {
    sheaves: Sheaves,
    slub: Slub,
    /// Range of a CPU's cells.
    row: usize,
}

impl Ops for SlubHybrid {
    const LOCKS: &'static [&'static str] = &["list_lock", "slab_cmpxchg", "barn_lock"];
    const STATS: Names = &[slub::stat::NAMES, sheaves::stat::NAMES, stat::NAMES];
    const TUNABLES: &'static [Tunable] = Slub::TUNABLES;
    const TAKES_GEOMETRY: bool = true;
    const MERGEABLE: Mergeable = Mergeable::BySize;

    fn adjust_cache(args: &mut CacheArgs) {
        sheaves::adjust_cache(args);
    }

    fn new(core: &Core) -> Self {
        let row = core.setup.caches_max as usize + 1;
        Self { sheaves: Sheaves::new(core), slub: Slub::new(core), row }
    }

    fn plan(core: &Core, args: &CacheArgs) -> Result<CacheLayout, Error> {
        Slub::plan(core, args)
    }

    fn create(&self, core: &Core, cache: &CacheEntry, args: &CacheArgs) {
        self.slub.create(core, cache, args);
        let capacity = sheaves::asked_capacity(core, cache, args);
        self.sheaves.set_up(core, cache, args, capacity);
        for index in (0..core.setup.cpus).map(|cpu| core.cpu_cache_index(cpu, cache.id())) {
            // Only one of them is read, and the cache decides which one.
            self.slub.ops(index).reset();
            self.sheaves.at(index).ops.reset();
        }
    }

    type Row<'m> = ();

    fn row<'m>(&'m self, _: &'m Core, _: u32) {}

    fn alloc(&self, cx: &Cx<'_>, id: CacheId, request: Request) -> Option<ObjPtr> {
        if self.sheaves.capacity(id) == 0 {
            return self.slub.alloc(cx, id, request);
        }
        let (index, cache) = (cx.cpu_cache_index(id), cx.core.caches.get(id));
        let taken = self.sheaves.take(&self.slub, cx, cache, request, NewSheaf::Allowed);
        if taken.is_ok() {
            let tally = cx.tally(id);
            tally.count(stat::ALLOC_CPU_SHEAF);
            tally.uncount(common::ALLOC_FASTPATH);
        }
        let obj = taken.ok().or_else(|| self.slub.alloc(cx, id, request))?;
        self.sheaves.at(index).ops.allocs.add(1);
        Some(obj)
    }

    fn free(&self, cx: &Cx<'_>, id: CacheId, obj: ObjPtr, head: Pfn) {
        if self.sheaves.capacity(id) == 0 {
            return self.slub.free(cx, id, obj, head);
        }
        let (index, cache) = (cx.cpu_cache_index(id), cx.core.caches.get(id));
        self.sheaves.at(index).ops.frees.add(1);
        let local = cx.core.zones.node_of(head) == cx.node();
        if local && self.sheaves.put(&self.slub, cx, cache, obj) {
            let tally = cx.tally(id);
            tally.count(stat::FREE_CPU_SHEAF);
            tally.uncount(common::FREE_FASTPATH);
        } else {
            self.slub.free(cx, id, obj, head);
        }
    }

    fn free_rcu(&self, cx: &Cx<'_>, id: CacheId, obj: ObjPtr, head: Pfn) -> bool {
        let local = cx.core.zones.node_of(head) == cx.node();
        let put = local && self.sheaves.put_rcu(&self.slub, cx, cx.core.caches.get(id), obj);
        if put {
            self.sheaves.at(cx.cpu_cache_index(id)).ops.frees.add(1);
            cx.tally(id).uncount(common::FREE_FASTPATH);
        }
        put
    }

    fn end_grace_periods(&self, cx: &Cx<'_>) {
        self.sheaves.end_grace_periods(&self.slub, cx);
    }

    fn waits(&self) -> bool {
        self.sheaves.wait()
    }

    fn ops(&self, index: usize) -> &OpCounts {
        match self.sheaves.capacity_at(index % self.row) {
            0 => self.slub.ops(index),
            _ => &self.sheaves.at(index).ops,
        }
    }

    fn holds(&self, index: usize) -> bool {
        self.sheaves.holds(index) || self.slub.holds(index)
    }

    fn flush(&self, cx: &Cx<'_>, cache: &CacheEntry) {
        self.sheaves.flush(&self.slub, cx, cache);
        self.slub.flush(cx, cache);
    }

    fn shrink(&self, cx: &Cx<'_>, cache: &CacheEntry) {
        self.sheaves.shrink(&self.slub, cx, cache);
        self.slub.shrink(cx, cache);
    }

    fn attributes(
        &self,
        core: &Core,
        cache: &CacheEntry,
        args: &CacheArgs,
    ) -> Vec<(&'static str, u32)> {
        let mut attributes = self.slub.attributes(core, cache, args);
        attributes.push(("sheaf_capacity", self.sheaves.capacity(cache.id())));
        attributes
    }

    fn walk(&self, core: &Core, cache: &CacheEntry, visit: Visit<'_>) {
        self.sheaves.walk(core, cache, visit);
        self.slub.walk(core, cache, visit);
    }
}
