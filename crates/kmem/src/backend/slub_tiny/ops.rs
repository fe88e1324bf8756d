//! SLUB_TINY's operations.

use alloc::vec::Vec;

use super::stat;
use crate::Gfp;
use crate::backend::ops::{CacheLayout, Mergeable, Names, Ops, Request, Visit};
use crate::backend::partial::nodes::{self, Node, Nodes};
use crate::backend::partial::validate::check_slab;
use crate::backend::partial::word::State;
use crate::backend::partial::{layout, link, tiny};
use crate::cache::KmallocConfig;
use crate::cache::args::{CacheArgs, Tunable};
use crate::cache::core::Core;
use crate::cache::cx::Cx;
use crate::cache::paths::OpCounts;
use crate::cache::table::CacheEntry;
use crate::error::Error;
use crate::ids::{CacheId, NodeId, ObjPtr, Pfn, Site};
use crate::raw::zeroed::ZeroedSlice;

/// Empty slabs that a node keeps (`MIN_PARTIAL`).
const MIN_PARTIAL: u32 = 0;

/// The SLUB_TINY allocator.
#[derive(Debug)]
pub struct SlubTiny {
    nodes: Nodes,
    /// Operations by CPU and cache.
    ops: ZeroedSlice<OpCounts>,
}

impl SlubTiny {
    /// Takes an object from the first slab of a node's list (`alloc_single_from_partial`).
    fn take_partial(
        &self,
        cx: &Cx<'_>,
        cache: &CacheEntry,
        node: &Node,
        site: Site,
    ) -> Option<ObjPtr> {
        let mut list = node.lock_beyond(cx, 0)?;
        let slab = list.first()?;
        let page = cx.core.pages.get(slab);
        let old = State::load(page);
        let obj = old.free(slab)?;
        let next = ObjPtr::new(link::next(cx, cache, slab, obj, 0, site));
        // A damaged link may just have lowered the counts.
        let old = State::load(page);
        old.with_inuse(old.inuse() + 1).with_free(slab, next).store(page);
        if next.is_none() {
            list.remove(&cx.core.pages, slab);
        }
        Some(obj)
    }

    /// Takes the first object of a new slab (`alloc_single_from_new_slab`).
    fn take_new(&self, cx: &Cx<'_>, cache: &CacheEntry, request: Request) -> Option<ObjPtr> {
        let (slab, first, objects) = nodes::new_slab(cx, cache, request)?;
        let next = ObjPtr::new(link::next(cx, cache, slab, first, 0, request.site()));
        let state = State::full(objects).with_inuse(1).with_free(slab, next);
        state.store(cx.core.pages.get(slab));
        let mut list = self.nodes.lock(cx, cache, slab);
        if objects > 1 {
            list.push_front(&cx.core.pages, slab);
        }
        Some(first)
    }
}

impl Ops for SlubTiny {
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
        Self { nodes: Nodes::new(core), ops: ZeroedSlice::new(core.cpu_caches()) }
    }

    fn plan(core: &Core, args: &CacheArgs) -> Result<CacheLayout, Error> {
        let setup = &core.setup;
        let order_max = if setup.order_max_is_asked {
            setup.order_max
        } else {
            setup.order_max.min(tiny::ORDER_MAX)
        };
        layout::plan(core, args, setup.min_objects, order_max)
    }

    fn create(&self, core: &Core, cache: &CacheEntry, args: &CacheArgs) {
        self.nodes.set_min_partial(core, cache, args, MIN_PARTIAL);
    }

    type Row<'m> = ();

    fn row<'m>(&'m self, _: &'m Core, _: u32) {}

    #[inline]
    fn alloc(&self, cx: &Cx<'_>, cache: CacheId, request: Request) -> Option<ObjPtr> {
        let (index, cache) = (cx.cpu_cache_index(cache), cx.core.caches.get(cache));
        let home = request.node().unwrap_or_else(|| cx.node());
        let own = self.nodes.get(cx.core, cache, home);
        let anywhere = request.node().is_none() || !request.gfp.has(Gfp::THISNODE);
        let others = cx.core.setup.nodes * u32::from(anywhere);
        let obj = self.take_partial(cx, cache, own, request.site()).or_else(|| {
            let other = (1..others).map(|i| NodeId((home.0 + i) % others));
            let mut other = other.map(|node| self.nodes.get(cx.core, cache, node));
            other.find_map(|node| {
                let spare = node.partial.get() > node.min_partial.get();
                spare.then(|| self.take_partial(cx, cache, node, request.site())).flatten()
            })
        });
        let obj = obj.or_else(|| self.take_new(cx, cache, request))?;
        cx.tally(cache.id()).count(stat::ALLOC_SLOWPATH);
        self.ops[index].allocs.add(1);
        Some(obj)
    }

    #[inline]
    fn free(&self, cx: &Cx<'_>, cache: CacheId, obj: ObjPtr, head: Pfn) {
        let (index, cache) = (cx.cpu_cache_index(cache), cx.core.caches.get(cache));
        let (tally, pages) = (cx.tally(cache.id()), &cx.core.pages);
        self.ops[index].frees.add(1);
        tally.count(stat::FREE_SLOWPATH);
        let mut list = self.nodes.lock(cx, cache, head);
        let page = pages.get(head);
        let old = State::load(page);
        let before = old.free(head).map_or(0, ObjPtr::get);
        link::set(cx, cache, head, obj, before);
        old.with_inuse(old.inuse() - 1).with_free(head, Some(obj)).store(page);
        let empty = old.inuse() == 1 && list.has_enough();
        if empty && old.has_free() {
            list.remove(pages, head);
            tally.count(stat::FREE_REMOVE_PARTIAL);
        } else if !empty && !old.has_free() {
            list.push_back(pages, head);
            tally.count(stat::FREE_ADD_PARTIAL);
        }
        drop(list);
        if empty {
            nodes::free_slab(cx, cache, head);
        }
    }

    fn ops(&self, index: usize) -> &OpCounts {
        &self.ops[index]
    }

    fn flush(&self, _cx: &Cx<'_>, _cache: &CacheEntry) {}

    fn shrink(&self, cx: &Cx<'_>, cache: &CacheEntry) {
        self.nodes.shrink(cx, cache);
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
        for node in self.nodes.of(core, cache) {
            let list = node.list.lock();
            list.iter(&core.pages).for_each(|slab| check_slab(core, cache, slab, None, visit));
        }
    }
}
