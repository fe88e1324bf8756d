//! Frees once the CPU's array is full, and what gives slabs back.

use super::layout::Mode;
use super::node::{self, Node};
use super::stat;
use super::state::Slab;
use crate::backend::ops::Ops;
use crate::cache::core::Core;
use crate::cache::cx::Cx;
use crate::cache::table::Cache;
use crate::ids::{CacheId, NodeId, ObjPtr, Pfn};
use crate::page::PageList;

impl Slab {
    /// Gives an object back to its slab's list.
    pub(super) fn put_object(&self, core: &Core, cache: &Cache, slab: Pfn, obj: ObjPtr) {
        let page = core.pages.get(slab);
        let (before, mut at) = (node::active(page), node::list_of(page));
        let in_object = self.colours(cache).mode() == Mode::InObject;
        if in_object && before == cache.objects.get() {
            // The first object freed of a full slab keeps the list: it will be allocated last.
            at = obj.get();
        }
        node::set_state(page, before - 1, at);
        let index = node::index_of(core, cache, slab, obj);
        core.arena.set_byte(at + u64::from(before - 1), index as u8);
    }

    /// Makes room in the array, or hands an object of another node to that node.
    #[cold]
    #[inline(never)]
    pub(super) fn free_slow(&self, cx: &Cx<'_>, cache: &Cache, obj: ObjPtr, slab: Pfn) {
        let cell = cx.cell(cache.id());
        let (array, tally) = (&self.arrays[cell], cx.tally(cache.id()));
        tally.count(stat::FREE_SLOWPATH);
        let on = cx.core.zones.node_of(slab);
        if on != cx.node() {
            tally.count(stat::FREE_REMOTE);
            let mut empty = PageList::default();
            let mut node = self.lock_node(cx, cache, on);
            self.free_to_slabs(cx, cache, &mut node, [obj].into_iter(), &mut empty);
            drop(node);
            return self.destroy(cx, cache, empty);
        }
        if array.limit.get() == 0 {
            // The CPU has not allocated from this cache yet.
            array.limit.set(self.colours(cache).limit.get());
        } else {
            self.flush_batch(cx, cache, cell);
        }
        self.entry(cell, array.avail.get()).set(obj.get());
        array.avail.add(1);
    }

    /// Gives the oldest batch of the array to the shared array, else to the slabs
    /// (`cache_flusharray`).
    fn flush_batch(&self, cx: &Cx<'_>, cache: &Cache, cell: usize) {
        let home = cx.node();
        let mut count = self.colours(cache).batch.get().min(self.arrays[cell].avail.get());
        let mut empty = PageList::default();
        let mut node = self.lock_node(cx, cache, home);
        let room = self.colours(cache).shared.get().saturating_sub(node.shared_avail);
        if room > 0 {
            count = count.min(room);
            for i in 0..count {
                let to = self.shared_entry(cx.core, cache, home, node.shared_avail + i);
                to.set(self.entry(cell, i).get());
            }
            node.shared_avail += count;
            cx.tally(cache.id()).count(stat::FREE_SHARED);
        } else {
            self.free_entries(cx, cache, cell, count, &mut node, &mut empty);
        }
        drop(node);
        self.drop_entries(cell, count);
        self.destroy(cx, cache, empty);
    }

    /// Frees the first `count` objects of an array to their slabs; they stay in the array.
    fn free_entries(
        &self,
        cx: &Cx<'_>,
        cache: &Cache,
        cell: usize,
        count: u32,
        node: &mut Node,
        empty: &mut PageList,
    ) {
        let entries = (0..count).filter_map(|i| ObjPtr::new(self.entry(cell, i).get()));
        self.free_to_slabs(cx, cache, node, entries, empty);
    }

    /// Takes the first `count` objects out of an array.
    fn drop_entries(&self, cell: usize, count: u32) {
        let array = &self.arrays[cell];
        array.avail.sub(count);
        for i in 0..array.avail.get() {
            self.entry(cell, i).set(self.entry(cell, i + count).get());
        }
    }

    /// Puts objects of one node back into their slabs; free slabs beyond the node's limit go to
    /// `empty` (`free_block`).
    pub(super) fn free_to_slabs(
        &self,
        cx: &Cx<'_>,
        cache: &Cache,
        node: &mut Node,
        objects: impl Iterator<Item = ObjPtr>,
        empty: &mut PageList,
    ) {
        let (pages, per_slab) = (&cx.core.pages, cache.objects.get());
        for obj in objects {
            let slab = pages.head(obj.pfn());
            let page = pages.get(slab);
            node.list(node::active(page), per_slab).remove(pages, slab);
            self.put_object(cx.core, cache, slab, obj);
            node.free_objects += 1;
            if node::active(page) == 0 {
                node.free.push_front(pages, slab);
            } else {
                // At the end: so that others of the slab come back before it is used again.
                node.partial.push_back(pages, slab);
            }
        }
        while node.free_objects > self.free_limit(cx, cache) {
            let Some(slab) = node.free.last() else { break };
            node.free.remove(pages, slab);
            node.free_objects -= per_slab;
            empty.push_back(pages, slab);
        }
    }

    /// Returns the free objects that a node may keep.
    pub(super) fn free_limit(&self, cx: &Cx<'_>, cache: &Cache) -> u32 {
        let cpus = cx.core.setup.cpus / cx.core.setup.nodes;
        (1 + cpus) * self.colours(cache).batch.get() + cache.objects.get()
    }

    /// Gives slabs that are on no list back to the page allocator.
    pub(super) fn destroy(&self, cx: &Cx<'_>, cache: &Cache, mut slabs: PageList) {
        let pages = &cx.core.pages;
        while let Some(slab) = slabs.pop_front(pages) {
            let list = ObjPtr::new(node::list_of(pages.get(slab)));
            cx.free_slab_pages(cache, slab);
            if let (Mode::OffSlab, Some(list)) = (self.colours(cache).mode(), list) {
                let page = pages.get(list.pfn());
                let (id, head) = (CacheId(page.cache.get()), Pfn(page.head.get()));
                if cx.hooks.exact() {
                    cx.book_free(id);
                }
                self.free(cx, id, list, head);
            }
        }
    }

    /// Gives up to `count` of the array's oldest objects back to their slabs.
    pub(super) fn drain_array(&self, cx: &Cx<'_>, cache: &Cache, count: u32) {
        let cell = cx.cell(cache.id());
        let count = count.min(self.arrays[cell].avail.get());
        if count == 0 {
            return;
        }
        let mut empty = PageList::default();
        let mut node = self.lock_node(cx, cache, cx.node());
        self.free_entries(cx, cache, cell, count, &mut node, &mut empty);
        drop(node);
        self.drop_entries(cell, count);
        self.destroy(cx, cache, empty);
    }

    /// Gives up to `count` of a node's shared objects back to their slabs.
    pub(super) fn drain_shared(&self, cx: &Cx<'_>, cache: &Cache, home: NodeId, count: u32) {
        let mut empty = PageList::default();
        let mut node = self.lock_node(cx, cache, home);
        let count = count.min(node.shared_avail);
        let entry = |i| self.shared_entry(cx.core, cache, home, i);
        let oldest = (0..count).filter_map(|i| ObjPtr::new(entry(i).get()));
        self.free_to_slabs(cx, cache, &mut node, oldest, &mut empty);
        node.shared_avail -= count;
        for i in 0..node.shared_avail {
            entry(i).set(entry(i + count).get());
        }
        drop(node);
        self.destroy(cx, cache, empty);
    }

    /// Gives up to `count` free slabs of a node back to the page allocator.
    pub(super) fn drain_free(&self, cx: &Cx<'_>, cache: &Cache, home: NodeId, count: u32) {
        let pages = &cx.core.pages;
        let mut empty = PageList::default();
        let mut node = self.lock_node(cx, cache, home);
        for _ in 0..count {
            let Some(slab) = node.free.last() else { break };
            node.free.remove(pages, slab);
            node.free_objects -= cache.objects.get();
            empty.push_back(pages, slab);
        }
        drop(node);
        self.destroy(cx, cache, empty);
    }

    /// Empties the shared arrays and frees every free slab.
    pub(super) fn shrink_nodes(&self, cx: &Cx<'_>, cache: &Cache) {
        for home in (0..cx.core.setup.nodes).map(NodeId) {
            self.drain_shared(cx, cache, home, u32::MAX);
            self.drain_free(cx, cache, home, u32::MAX);
        }
    }
}
