//! Frees once the CPU's array is full, and everything that gives slabs back.

use super::layout::Mode;
use super::node::{self, LockedNode};
use super::stat;
use super::state::{self, OnCpu};
use crate::backend::ops::Ops;
use crate::backend::own_blocks;
use crate::ids::{NodeId, ObjPtr, Pfn};
use crate::page::PageList;
use crate::raw::local::{LocalU32, LocalU64};

impl OnCpu<'_> {
    /// Makes room in the array, or hands an object of another node to that node.
    #[cold]
    #[inline(never)]
    pub(super) fn free_slow(self, obj: ObjPtr, slab: Pfn) {
        self.tally.count(stat::FREE_SLOWPATH);
        let on = self.cx.core.zones.node_of(slab);
        if on != self.cx.node() {
            self.tally.count(stat::FREE_REMOTE);
            return self.free_locked(on, |node, empty| {
                self.free_to_slabs(node, [obj].into_iter(), empty);
            });
        }
        if self.array.limit.get() == 0 {
            // The CPU has not allocated from this cache yet.
            self.array.limit.set(self.colours.limit.get());
        } else {
            self.flush_batch();
        }
        self.push(obj);
    }

    /// Frees under a node's lock; then frees, without it, the slabs that `free` found empty.
    fn free_locked(self, home: NodeId, free: impl FnOnce(&mut LockedNode<'_>, &mut PageList)) {
        let mut empty = PageList::default();
        free(&mut self.lock_node(home), &mut empty);
        self.destroy(empty);
    }

    /// Gives the oldest batch of the array to the shared array, else to the slabs
    /// (`cache_flusharray`).
    fn flush_batch(self) {
        let home = self.cx.node();
        let mut count = self.colours.batch.get().min(self.array.avail.get());
        self.free_locked(home, |node, empty| {
            let room = self.colours.shared.get().saturating_sub(node.counts.shared_avail.get());
            if room > 0 {
                count = count.min(room);
                let to = &self.shared(home)[node.counts.shared_avail.get() as usize..];
                state::copy(&self.entries[..count as usize], to);
                node.counts.shared_avail.add(count);
                self.tally.count(stat::FREE_SHARED);
            } else {
                self.free_oldest(count, node, empty);
            }
        });
        self.drop_oldest(count);
    }

    /// Frees the first `count` objects of the array to their slabs; they stay in the array.
    fn free_oldest(self, count: u32, node: &mut LockedNode<'_>, empty: &mut PageList) {
        self.free_to_slabs(node, state::objects(&self.entries[..count as usize]), empty);
    }

    /// Takes the first `count` objects out of the array after the node's lock is given up, because other CPUs
    /// wait for it.
    fn drop_oldest(self, count: u32) {
        drop_oldest(self.entries, &self.array.avail, count);
    }

    /// Puts objects of one node back into their slabs; free slabs beyond the node's limit go to
    /// `empty` (`free_block`).
    fn free_to_slabs(
        self,
        node: &mut LockedNode<'_>,
        objects: impl Iterator<Item = ObjPtr>,
        empty: &mut PageList,
    ) {
        let (pages, per_slab) = (&self.cx.core.pages, self.cache.objects.get());
        for obj in objects {
            let slab = pages.head(obj.pfn());
            let page = pages.get(slab);
            node.list(node::active(page), per_slab).remove(pages, slab);
            self.put_object(slab, obj);
            node.counts.free_objects.add(1);
            if node::active(page) == 0 {
                node.free.push_front(pages, slab);
            } else {
                // The slab goes to the end, so that its other objects come back before it is used
                // again.
                node.partial.push_back(pages, slab);
            }
        }
        while node.counts.free_objects.get() > self.free_limit() && self.retire_last(node, empty) {}
    }

    /// Gives an object back to its slab's list.
    fn put_object(self, slab: Pfn, obj: ObjPtr) {
        let core = self.cx.core;
        let page = core.pages.get(slab);
        let (before, mut at) = (node::active(page), node::list_of(page));
        if self.colours.mode() == Mode::InObject && before == self.cache.objects.get() {
            // The first object freed of a full slab keeps the list: it will be allocated last.
            at = obj.get();
        }
        node::set_state(page, before - 1, at);
        let index = node::index_of(core, self.cache, slab, obj);
        node::set_listed(core, slab, at, before - 1, index);
    }

    /// Moves the free slab freed longest ago to `empty`; `false` if there is none.
    fn retire_last(self, node: &mut LockedNode<'_>, empty: &mut PageList) -> bool {
        let Some(slab) = node.free.last() else { return false };
        node.free.remove(&self.cx.core.pages, slab);
        node.counts.free_objects.sub(self.cache.objects.get());
        empty.push_back(&self.cx.core.pages, slab);
        true
    }

    /// Returns the free objects that a node may keep.
    pub(super) fn free_limit(self) -> u32 {
        let cpus = self.cx.core.setup.cpus / self.cx.core.setup.nodes;
        (1 + cpus) * self.colours.batch.get() + self.cache.objects.get()
    }

    /// Gives slabs that are on no list back to the page allocator.
    fn destroy(self, mut slabs: PageList) {
        let (cx, pages) = (self.cx, &self.cx.core.pages);
        while let Some(slab) = slabs.pop_front(pages) {
            let list = ObjPtr::new(node::list_of(pages.get(slab)));
            node::forget_list(cx.core, self.cache, slab);
            cx.free_slab_pages(self.cache, slab);
            if let (Mode::OffSlab, Some(list)) = (self.colours.mode(), list) {
                let head = pages.head(list.pfn());
                self.slab.free(cx, own_blocks::give(cx, head), list, head);
            }
        }
    }

    /// Gives up to `count` of the array's oldest objects back to their slabs.
    pub(super) fn drain_array(self, count: u32) {
        let count = count.min(self.array.avail.get());
        if count > 0 {
            self.free_locked(self.cx.node(), |node, empty| self.free_oldest(count, node, empty));
            self.drop_oldest(count);
        }
    }

    /// Gives up to `count` of a node's shared objects back to their slabs.
    pub(super) fn drain_shared(self, home: NodeId, count: u32) {
        self.free_locked(home, |node, empty| {
            let count = count.min(node.counts.shared_avail.get());
            let shared = self.shared(home);
            self.free_to_slabs(node, state::objects(&shared[..count as usize]), empty);
            drop_oldest(shared, &node.counts.shared_avail, count);
        });
    }

    /// Gives up to `count` free slabs of a node back to the page allocator.
    pub(super) fn drain_free(self, home: NodeId, count: u32) {
        self.free_locked(home, |node, empty| {
            let _ = (0..count).all(|_| self.retire_last(node, empty));
        });
    }

    /// Empties the shared arrays and frees every free slab.
    pub(super) fn shrink_nodes(self) {
        for home in (0..self.cx.core.setup.nodes).map(NodeId) {
            self.drain_shared(home, u32::MAX);
            self.drain_free(home, u32::MAX);
        }
    }
}

/// Takes the first `count` of an array's `avail` entries out; the others move up.
fn drop_oldest(entries: &[LocalU64], avail: &LocalU32, count: u32) {
    let left = avail.get() - count;
    state::copy(&entries[count as usize..][..left as usize], entries);
    avail.set(left);
}
