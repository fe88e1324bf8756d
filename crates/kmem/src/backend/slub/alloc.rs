//! Allocation once the CPU's free list is empty.

use super::stat;
use super::state::{CpuSlab, Slub};
use crate::backend::ops::Request;
use crate::backend::partial::word::State;
use crate::backend::partial::{link, nodes};
use crate::cache::cx::Cx;
use crate::cache::links::Links;
use crate::cache::table::CacheEntry;
use crate::ids::{NodeId, ObjPtr, Pfn, Site};

impl CpuSlab {
    /// Makes `slab` the CPU's slab.
    fn adopt(&self, cx: &Cx<'_>, slab: Pfn, cache: &CacheEntry) {
        self.slab.set(slab.0);
        if cx.hooks.counts() {
            let shift = Links::shift(cache);
            self.shift.set(shift);
            self.bias.set(cx.core.links.bias(slab, shift));
        }
        self.link.set(cache.free_offset.get());
    }
}

impl Slub {
    /// Looks for an object in the CPU's slab, its partial list, the nodes, the page allocator.
    #[cold]
    #[inline(never)]
    pub(super) fn alloc_slow(
        &self,
        cx: &Cx<'_>,
        cache: &CacheEntry,
        cpu_slab: &CpuSlab,
        request: Request,
    ) -> Option<ObjPtr> {
        let tally = cx.tally(cache.id());
        if cpu_slab.slab.get() != 0 && self.wrong_node(cx, cpu_slab, request) {
            tally.count(stat::ALLOC_NODE_MISMATCH);
            self.deactivate(cx, cache, cpu_slab);
        }
        tally.count(stat::ALLOC_SLOWPATH);
        if cpu_slab.slab.get() != 0 {
            if let Some(obj) = self.refill(cx, Pfn(cpu_slab.slab.get())) {
                tally.count(stat::ALLOC_REFILL);
                return Some(self.pop(cx, cache, cpu_slab, obj, request.site()));
            }
            cpu_slab.slab.set(0);
            tally.count(stat::DEACTIVATE_BYPASS);
        }
        while let Some(slab) = self.pop_partial(cx, cpu_slab) {
            cpu_slab.adopt(cx, slab, cache);
            tally.count(stat::CPU_PARTIAL_ALLOC);
            if self.wrong_node(cx, cpu_slab, request) {
                tally.count(stat::ALLOC_NODE_MISMATCH);
                self.deactivate(cx, cache, cpu_slab);
                continue;
            }
            let obj = self.refill(cx, slab).expect("a slab on the partial list has free objects");
            tally.count(stat::ALLOC_REFILL);
            return Some(self.pop(cx, cache, cpu_slab, obj, request.site()));
        }
        if let Some((slab, obj)) = self.take_partial(cx, cache, cpu_slab, request) {
            cpu_slab.adopt(cx, slab, cache);
            return Some(self.pop(cx, cache, cpu_slab, obj, request.site()));
        }
        let Some((slab, obj, objects)) = nodes::new_slab(cx, cache, request) else {
            // The fast path's count is that of objects given out less this one, and no object is
            // given out here.
            tally.uncount(stat::ALLOC_SLOWPATH);
            return None;
        };
        State::full(objects).freeze().store(cx.core.pages.get(slab));
        cpu_slab.adopt(cx, slab, cache);
        Some(self.pop(cx, cache, cpu_slab, obj, request.site()))
    }

    /// Takes `first` off the CPU's list, which begins with it.
    #[inline(always)]
    fn pop(
        &self,
        cx: &Cx<'_>,
        cache: &CacheEntry,
        cpu_slab: &CpuSlab,
        first: ObjPtr,
        site: Site,
    ) -> ObjPtr {
        let slab = Pfn(cpu_slab.slab.get());
        cpu_slab.freelist.set(link::next(cx, cache, slab, first, 0, site));
        cpu_slab.ops.allocs.add(1);
        first
    }

    fn wrong_node(&self, cx: &Cx<'_>, cpu_slab: &CpuSlab, request: Request) -> bool {
        let on = cx.core.zones.node_of(Pfn(cpu_slab.slab.get()));
        request.node().is_some_and(|node| node != on)
    }

    /// Takes over the slab's own free list; thaws the slab if that is empty (`get_freelist`).
    fn refill(&self, cx: &Cx<'_>, slab: Pfn) -> Option<ObjPtr> {
        let (old, _) = State::update(cx, cx.core.pages.get(slab), |old| {
            let new = old.with_inuse(old.objects()).with_free(slab, None);
            if old.has_free() { new } else { new.thaw() }
        });
        old.free(slab)
    }

    fn pop_partial(&self, cx: &Cx<'_>, cpu_slab: &CpuSlab) -> Option<Pfn> {
        let first = cpu_slab.partial.get();
        if first == 0 {
            return None;
        }
        cpu_slab.partial.set(cx.core.pages.get(Pfn(first)).next.get());
        cpu_slab.partial_slabs.sub(1);
        Some(Pfn(first))
    }

    /// Takes a slab from the node's partial list, and up to half a CPU partial list more
    /// (`get_partial`). If its own node has none, it takes them from other nodes that can spare
    /// one.
    fn take_partial(
        &self,
        cx: &Cx<'_>,
        cache: &CacheEntry,
        cpu_slab: &CpuSlab,
        request: Request,
    ) -> Option<(Pfn, ObjPtr)> {
        let home = request.node().unwrap_or_else(|| cx.node());
        let found = self.take_partial_node(cx, cache, cpu_slab, home, 0);
        if found.is_some() || request.node().is_some() {
            return found;
        }
        let nodes = cx.core.setup.nodes;
        (1..nodes).map(|i| NodeId((home.0 + i) % nodes)).find_map(|node| {
            let spare = self.nodes.get(cx.core, cache, node).min_partial.get();
            self.take_partial_node(cx, cache, cpu_slab, node, spare)
        })
    }

    fn take_partial_node(
        &self,
        cx: &Cx<'_>,
        cache: &CacheEntry,
        cpu_slab: &CpuSlab,
        node: NodeId,
        spare: u32,
    ) -> Option<(Pfn, ObjPtr)> {
        let pages = &cx.core.pages;
        let tally = cx.tally(cache.id());
        let node = self.nodes.get(cx.core, cache, node);
        let mut list = node.lock_beyond(cx, spare)?;
        let first = list.first()?;
        let obj = self.freeze(cx, first, true)?;
        list.remove(pages, first);
        tally.count(stat::ALLOC_FROM_PARTIAL);
        let (limit, mut moved) = (self.cpu_partial_slabs(cache).get(), 0);
        while limit > 0 && moved <= limit / 2 {
            let Some(slab) = list.first() else { break };
            self.freeze(cx, slab, false);
            list.remove(pages, slab);
            self.push_partial(cx, cpu_slab, slab);
            tally.count(stat::CPU_PARTIAL_NODE);
            moved += 1;
        }
        Some((first, obj))
    }

    /// Freezes a slab of the node's list; with `take_all` the caller also gets its free list.
    fn freeze(&self, cx: &Cx<'_>, slab: Pfn, take_all: bool) -> Option<ObjPtr> {
        let (old, _) = State::update(cx, cx.core.pages.get(slab), |old| match take_all {
            true => old.freeze().with_inuse(old.objects()).with_free(slab, None),
            false => old.freeze(),
        });
        old.free(slab)
    }

    /// Puts a frozen slab in front of the CPU's partial list.
    pub(super) fn push_partial(&self, cx: &Cx<'_>, cpu_slab: &CpuSlab, slab: Pfn) {
        cx.core.pages.get(slab).next.set(cpu_slab.partial.get());
        cpu_slab.partial.set(slab.0);
        cpu_slab.partial_slabs.add(1);
    }
}
