//! Allocation once the CPU's array is empty.

use super::layout::Mode;
use super::node::{self, Node};
use super::stat;
use super::state::{Array, Slab};
use crate::backend::ops::{Ops, Request};
use crate::cache::core::Core;
use crate::cache::cx::Cx;
use crate::cache::table::Cache;
use crate::gfp::Gfp;
use crate::ids::{NodeId, ObjPtr, Order, Pfn, Site};

/// Objects in the first batch of an array that was not used lately (`BATCHREFILL_LIMIT`).
const COLD_BATCH_MAX: u32 = 16;

impl Slab {
    /// Takes the next free object of a slab, of which there is one.
    pub(super) fn take_object(&self, core: &Core, cache: &Cache, slab: Pfn) -> ObjPtr {
        let page = core.pages.get(slab);
        let (active, at) = (node::active(page), node::list_of(page));
        let index = core.arena.byte(at + u64::from(active));
        node::set_state(page, active + 1, at);
        node::object(core, cache, slab, u32::from(index))
    }

    /// Refills the CPU's array and takes an object from it (`cache_alloc_refill`).
    #[cold]
    #[inline(never)]
    pub(super) fn alloc_slow(
        &self,
        cx: &Cx<'_>,
        cache: &Cache,
        request: Request,
    ) -> Option<ObjPtr> {
        if let Some(node) = request.node().filter(|&node| node != cx.node()) {
            let got = self.alloc_on_node(cx, cache, request, node);
            return got.or_else(|| self.alloc_elsewhere(cx, cache, request, node));
        }
        let cell = cx.cell(cache.id());
        let (array, tally) = (&self.arrays[cell], cx.tally(cache.id()));
        if array.avail.get() == 0 {
            array.limit.set(self.colours(cache).limit.get());
            let cold = array.touched.get() == 0;
            let batch = self.colours(cache).batch.get();
            let batch = if cold { batch.min(COLD_BATCH_MAX) } else { batch };
            self.refill(cx, cache, cell, batch);
            if array.avail.get() == 0 && self.grow(cx, cache, cell, batch, request).is_none() {
                return self.alloc_elsewhere(cx, cache, request, cx.node());
            }
            tally.count(stat::ALLOC_SLOWPATH);
        }
        array.touched.set(1);
        array.ops.allocs.add(1);
        self.pop(cell, array)
    }

    /// Allocates one object from any node but `not` (`fallback_alloc`).
    fn alloc_elsewhere(
        &self,
        cx: &Cx<'_>,
        cache: &Cache,
        request: Request,
        not: NodeId,
    ) -> Option<ObjPtr> {
        let nodes = cx.core.setup.nodes;
        if request.gfp.has(Gfp::THISNODE) {
            return None;
        }
        let mut others = (1..nodes).map(|i| NodeId((not.0 + i) % nodes));
        others.find_map(|node| self.alloc_on_node(cx, cache, request, node))
    }

    fn pop(&self, cell: usize, array: &Array) -> Option<ObjPtr> {
        array.avail.sub(1);
        ObjPtr::new(self.entry(cell, array.avail.get()).get())
    }

    fn push(&self, cell: usize, obj: ObjPtr) {
        let array = &self.arrays[cell];
        self.entry(cell, array.avail.get()).set(obj.get());
        array.avail.add(1);
    }

    /// Fills the array from the shared array, else from the node's slabs.
    fn refill(&self, cx: &Cx<'_>, cache: &Cache, cell: usize, batch: u32) {
        let (home, tally) = (cx.node(), cx.tally(cache.id()));
        let mut node = self.lock_node(cx, cache, home);
        let from_shared = batch.min(node.shared_avail);
        if from_shared > 0 {
            // The last entries, in their order.
            node.shared_avail -= from_shared;
            let first = node.shared_avail;
            for i in first..first + from_shared {
                let obj = self.shared_entry(cx.core, cache, home, i).get();
                self.push(cell, ObjPtr::new(obj).expect("arrays hold objects"));
            }
            node.shared_touched = 1;
            tally.count(stat::ALLOC_SHARED);
            return;
        }
        let mut wanted = batch;
        while wanted > 0 {
            let Some(slab) = node.take_first(&cx.core.pages) else { break };
            wanted = self.take_batch(cx, cache, cell, &mut node, slab, wanted);
            tally.count(stat::ALLOC_FROM_PARTIAL);
        }
    }

    /// Moves up to `wanted` objects of a slab that is on no list to the array, then puts the slab
    /// on the list where it belongs. Returns what is still wanted.
    fn take_batch(
        &self,
        cx: &Cx<'_>,
        cache: &Cache,
        cell: usize,
        node: &mut Node,
        slab: Pfn,
        mut wanted: u32,
    ) -> u32 {
        let (page, objects) = (cx.core.pages.get(slab), cache.objects.get());
        while node::active(page) < objects && wanted > 0 {
            self.push(cell, self.take_object(cx.core, cache, slab));
            node.free_objects -= 1;
            wanted -= 1;
        }
        node.list(node::active(page), objects).push_front(&cx.core.pages, slab);
        wanted
    }

    /// Makes a slab and fills the array from it.
    fn grow(
        &self,
        cx: &Cx<'_>,
        cache: &Cache,
        cell: usize,
        batch: u32,
        request: Request,
    ) -> Option<()> {
        let slab = self.new_slab(cx, cache, request, cx.node())?;
        let mut node = self.lock_node(cx, cache, cx.core.zones.node_of(slab));
        node.free_objects += cache.objects.get();
        self.take_batch(cx, cache, cell, &mut node, slab, batch);
        Some(())
    }

    /// Allocates one object from a node that is not the CPU's (`____cache_alloc_node`).
    fn alloc_on_node(
        &self,
        cx: &Cx<'_>,
        cache: &Cache,
        request: Request,
        home: NodeId,
    ) -> Option<ObjPtr> {
        let (pages, tally) = (&cx.core.pages, cx.tally(cache.id()));
        let mut node = self.lock_node(cx, cache, home);
        let slab = match node.take_first(pages) {
            Some(slab) => slab,
            None => {
                drop(node);
                let slab = self.new_slab(cx, cache, request, home)?;
                node = self.lock_node(cx, cache, cx.core.zones.node_of(slab));
                node.free_objects += cache.objects.get();
                slab
            }
        };
        let obj = self.take_object(cx.core, cache, slab);
        node.free_objects -= 1;
        let active = node::active(pages.get(slab));
        node.list(active, cache.objects.get()).push_front(pages, slab);
        tally.count(stat::ALLOC_SLOWPATH);
        tally.count(stat::ALLOC_NODE_MISMATCH);
        self.arrays[cx.cell(cache.id())].ops.allocs.add(1);
        Some(obj)
    }

    /// Makes a slab of fresh pages, on no list, all objects free (`cache_grow_begin`).
    fn new_slab(&self, cx: &Cx<'_>, cache: &Cache, request: Request, home: NodeId) -> Option<Pfn> {
        let (core, objects) = (cx.core, cache.objects.get());
        // From this node or not at all: an array holds objects of its CPU's node only.
        let (gfp, node) = match core.setup.nodes {
            1 => (request.gfp, None),
            _ => (request.gfp | Gfp::THISNODE, Some(home)),
        };
        let (slab, order) = cx.slab_pages(cache, gfp, node)?;
        let colour = self.next_colour(cx, cache, slab);
        let page = core.pages.get(slab);
        page.aux.set(colour + cache.left_pad.get());
        let list = match self.colours(cache).mode() {
            Mode::InObject => node::object(core, cache, slab, objects - 1).get(),
            Mode::OnSlab => list_behind(slab, order, objects),
            Mode::OffSlab => match self.alloc_list(cx, objects, request.gfp) {
                Some(list) => list.get(),
                None => {
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
            core.arena.set_byte(list + u64::from(index), index as u8);
        }
        Some(slab)
    }

    /// Returns the offset at which the next slab starts: each time one step further.
    fn next_colour(&self, cx: &Cx<'_>, cache: &Cache, slab: Pfn) -> u32 {
        let colours = self.colours(cache);
        let mut node = self.lock_node(cx, cache, cx.core.zones.node_of(slab));
        node.colour += 1;
        if node.colour >= colours.count.get() {
            node.colour = 0;
        }
        node.colour * colours.step.get()
    }

    /// Takes a kmalloc block for the indexes of a slab; it counts as any other object.
    fn alloc_list(&self, cx: &Cx<'_>, objects: u32, gfp: Gfp) -> Option<ObjPtr> {
        let id = cx.core.kmalloc.cache(u64::from(objects), Gfp::NONE, Site(0))?;
        let request = Request::new(gfp.without(Gfp::ZERO), Site(0));
        let list = self.alloc(cx, id, request)?;
        // What is written there is nobody's write after free.
        cx.core.tracks.clear(list);
        if cx.hooks.exact() {
            cx.book_alloc(id);
        }
        Some(list)
    }
}

/// Returns where the indexes of a slab are that keeps them behind its objects.
fn list_behind(slab: Pfn, order: Order, objects: u32) -> u64 {
    slab.offset() + order.bytes() - u64::from(objects)
}
