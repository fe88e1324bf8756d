//! Allocation once the CPU's array is empty.

use super::layout::Mode;
use super::node::{self, LockedNode};
use super::stat;
use super::state::{self, OnCpu};
use crate::Gfp;
use crate::backend::ops::{Ops, Request};
use crate::backend::own_blocks;
use crate::cache::cx::Cx;
use crate::ids::{NodeId, ObjPtr, Pfn, Site};

/// Objects in the first batch of an array that was idle lately (`BATCHREFILL_LIMIT`).
const COLD_BATCH_MAX: u32 = 16;

impl OnCpu<'_> {
    /// Refills the CPU's array and takes an object from it (`cache_alloc_refill`).
    #[cold]
    #[inline(never)]
    pub(super) fn alloc_slow(self, request: Request) -> Option<ObjPtr> {
        if let Some(node) = request.node().filter(|&node| node != self.cx.node()) {
            let got = self.alloc_on_node(request, node);
            return got.or_else(|| self.alloc_elsewhere(request, node));
        }
        let array = self.array;
        if array.avail.get() == 0 {
            array.limit.set(self.colours.limit.get());
            let cold = array.touched.get() == 0;
            let batch = self.colours.batch.get();
            let batch = if cold { batch.min(COLD_BATCH_MAX) } else { batch };
            self.refill(batch);
            if array.avail.get() == 0 && self.grow(batch, request).is_none() {
                return self.alloc_elsewhere(request, self.cx.node());
            }
            self.tally.count(stat::ALLOC_SLOWPATH);
        }
        array.touched.set(1);
        array.ops.allocs.add(1);
        array.avail.sub(1);
        ObjPtr::new(self.entries[array.avail.get() as usize].get())
    }

    /// Allocates one object from any node but `not` (`fallback_alloc`).
    fn alloc_elsewhere(self, request: Request, not: NodeId) -> Option<ObjPtr> {
        let nodes = self.cx.core.setup.nodes;
        if request.gfp.has(Gfp::THISNODE) {
            return None;
        }
        let mut others = (1..nodes).map(|i| NodeId((not.0 + i) % nodes));
        others.find_map(|node| self.alloc_on_node(request, node))
    }

    /// Puts an object on top of the CPU's array, which has room.
    pub(super) fn push(self, obj: ObjPtr) {
        self.entries[self.array.avail.get() as usize].set(obj.get());
        self.array.avail.add(1);
    }

    /// Fills the array from the shared array, else from the node's slabs.
    fn refill(self, batch: u32) {
        let home = self.cx.node();
        if self.node(home).is_exhausted() {
            return;
        }
        let mut node = self.lock_node(home);
        let from_shared = batch.min(node.counts.shared_avail.get());
        if from_shared > 0 {
            // The last entries, in their order.
            let left = node.counts.shared_avail.get() - from_shared;
            node.counts.shared_avail.set(left);
            let last = &self.shared(home)[left as usize..][..from_shared as usize];
            state::copy(last, &self.entries[self.array.avail.get() as usize..]);
            self.array.avail.add(from_shared);
            node.shared_touched = 1;
            self.tally.count(stat::ALLOC_SHARED);
            return;
        }
        let mut wanted = batch;
        while wanted > 0 {
            let Some(slab) = node.take_first(&self.cx.core.pages) else { break };
            wanted = self.take_batch(&mut node, slab, wanted);
            self.tally.count(stat::ALLOC_FROM_PARTIAL);
        }
    }

    /// Moves up to `wanted` objects of a slab that is on no list to the array, then puts the slab
    /// on the list where it belongs. Returns how many are still wanted.
    fn take_batch(self, node: &mut LockedNode<'_>, slab: Pfn, mut wanted: u32) -> u32 {
        let (page, objects) = (self.cx.core.pages.get(slab), self.cache.objects.get());
        while node::active(page) < objects && wanted > 0 {
            self.push(self.take_object(node, slab));
            wanted -= 1;
        }
        node.list(node::active(page), objects).push_front(&self.cx.core.pages, slab);
        wanted
    }

    /// Takes the next free object of a slab, which has one.
    fn take_object(self, node: &mut LockedNode<'_>, slab: Pfn) -> ObjPtr {
        let core = self.cx.core;
        let page = core.pages.get(slab);
        let (active, at) = (node::active(page), node::list_of(page));
        let index = node::listed(core, slab, at, active);
        node::set_state(page, active + 1, at);
        node.counts.free_objects.sub(1);
        node::object(core, self.cache, slab, index)
    }

    /// Makes a slab and fills the array from it.
    fn grow(self, batch: u32, request: Request) -> Option<()> {
        let slab = self.new_slab(request, self.cx.node())?;
        let mut node = self.lock_node(self.cx.core.zones.node_of(slab));
        node.counts.free_objects.add(self.cache.objects.get());
        self.take_batch(&mut node, slab, batch);
        Some(())
    }

    /// Allocates one object from a node that is not the CPU's (`____cache_alloc_node`).
    fn alloc_on_node(self, request: Request, home: NodeId) -> Option<ObjPtr> {
        let pages = &self.cx.core.pages;
        let mut node = self.lock_node(home);
        let slab = match node.take_first(pages) {
            Some(slab) => slab,
            None => {
                drop(node);
                let slab = self.new_slab(request, home)?;
                node = self.lock_node(self.cx.core.zones.node_of(slab));
                node.counts.free_objects.add(self.cache.objects.get());
                slab
            }
        };
        let obj = self.take_object(&mut node, slab);
        let active = node::active(pages.get(slab));
        node.list(active, self.cache.objects.get()).push_front(pages, slab);
        self.tally.count(stat::ALLOC_SLOWPATH);
        self.tally.count(stat::ALLOC_NODE_MISMATCH);
        self.array.ops.allocs.add(1);
        Some(obj)
    }

    /// Makes a slab of fresh pages, on no list, all objects free (`cache_grow_begin`).
    fn new_slab(self, request: Request, home: NodeId) -> Option<Pfn> {
        let (core, cx, cache) = (self.cx.core, self.cx, self.cache);
        let objects = cache.objects.get();
        // The slab comes from this node or not at all: an array holds only objects of its CPU's
        // node.
        let (gfp, node) = match core.setup.nodes {
            1 => (request.gfp, None),
            _ => (request.gfp | Gfp::THISNODE, Some(home)),
        };
        let (slab, order) = cx.slab_pages(cache, gfp, node)?;
        if core.setup.counts() && !core.links.take(cache, slab, order) {
            cx.free_slab_pages(cache, slab);
            return None;
        }
        let page = core.pages.get(slab);
        page.aux.set(self.next_colour(core.zones.node_of(slab)) + cache.left_pad.get());
        let list = match self.colours.mode() {
            Mode::InObject => node::object(core, cache, slab, objects - 1).get(),
            Mode::OnSlab => slab.offset() + order.bytes() - u64::from(objects),
            Mode::OffSlab => match self.alloc_list(cx, request.gfp) {
                Some(list) => list.get(),
                None => {
                    node::forget_list(core, cache, slab);
                    cx.free_slab_pages(cache, slab);
                    return None;
                }
            },
        };
        node::set_state(page, 0, list);
        if cache.has_ctor.get() != 0 {
            let first = node::object(core, cache, slab, 0).get();
            cx.construct(cache, first, u64::from(objects), u64::from(cache.size.get()));
        }
        for index in 0..objects {
            node::set_listed(core, slab, list, index, index);
        }
        Some(slab)
    }

    /// Returns the offset at which the next slab starts: one step further each time.
    fn next_colour(self, node: NodeId) -> u32 {
        let last = &self.node(node).colour;
        let next = last.get() + 1;
        last.set(if next < self.colours.count.get() { next } else { 0 });
        last.get() * self.colours.step.get()
    }

    /// Takes a kmalloc block for the indexes of a slab; it counts like any other object.
    fn alloc_list(self, cx: &Cx<'_>, gfp: Gfp) -> Option<ObjPtr> {
        let objects = u64::from(self.cache.objects.get());
        let id = cx.core.kmalloc.cache(objects, Gfp::NONE, Site(0))?;
        let list = self.slab.alloc(cx, id, Request::new(gfp.without(Gfp::ZERO), Site(0)))?;
        own_blocks::take(cx, id, list);
        Some(list)
    }
}
