//! Frees once the CPU's magazine is full.

use super::magazine::{CAPACITY_MAX, OnCpu};
use super::stat;
use crate::backend::partial::word::State;
use crate::backend::partial::{link, nodes};
use crate::ids::{NodeId, ObjPtr, Pfn};
use crate::page::PageList;

/// A slab is sparse if at most one in this many of its objects is in use; those in magazines count
/// as used.
const SPARSE_PARTS: u32 = 2;

/// Objects of this many bytes and more lie in about as many slabs as there are objects.
const READ_AHEAD_BYTES: u32 = 512;

impl OnCpu<'_> {
    /// Makes room in the magazine, or gives an object that cannot wait there to its slab.
    #[cold]
    #[inline(never)]
    pub(super) fn free_slow(self, obj: ObjPtr, slab: Pfn) {
        self.tally.count(stat::FREE_SLOWPATH);
        let (magazine, home) = (self.magazine, self.cx.core.zones.node_of(slab));
        if home != self.cx.node() {
            self.tally.count(stat::FREE_REMOTE);
            return self.free_to_slabs(home, [obj].into_iter());
        }
        self.miss();
        if magazine.count.get() >= magazine.capacity.get() {
            self.flush_oldest(magazine.count.get() - magazine.capacity.get() / 2);
        }
        if magazine.count.get() < magazine.capacity.get() {
            self.push(obj);
        } else {
            self.free_to_slabs(home, [obj].into_iter());
        }
    }

    /// Gives back to their slabs the `count` objects that have waited longest, the newest of them first.
    pub(super) fn flush_oldest(self, count: u32) {
        let magazine = self.magazine;
        if count == 0 {
            return;
        }
        let going = (0..count).rev().filter_map(|place| self.objects.object(place));
        self.free_to_slabs(self.cx.node(), going);
        magazine.count.sub(count);
        for place in 0..magazine.count.get() {
            self.objects.entry(place).set(self.objects.entry(place + count).get());
        }
    }

    /// Gives back to their slabs the objects that keep a sparse one.
    pub(super) fn flush_sparse(self) {
        let (magazine, all) = (self.magazine, self.magazine.count.get());
        // All of them are chosen before the first goes, because each that goes makes its slab
        // sparser.
        let mut sparse = [false; CAPACITY_MAX as usize];
        let mut kept = 0;
        for place in 0..all {
            let is_sparse = self.objects.object(place).is_some_and(|obj| self.is_sparse(obj));
            sparse[place as usize] = is_sparse;
            kept += u32::from(!is_sparse);
        }
        if kept == all {
            return;
        }
        let is_going = |place: &u32| sparse[*place as usize];
        let going = (0..all).rev().filter(is_going).filter_map(|place| self.objects.object(place));
        self.free_to_slabs(self.cx.node(), going);
        for (to, from) in (0..all).filter(|place| !is_going(place)).enumerate() {
            self.objects.entry(to as u32).set(self.objects.entry(from).get());
        }
        magazine.count.set(kept);
    }

    /// Returns whether an object's slab is sparse: a page or two that this object alone may keep.
    fn is_sparse(self, obj: ObjPtr) -> bool {
        let pages = &self.cx.core.pages;
        let state = State::load(pages.get(pages.head(obj.pfn())));
        state.inuse() <= (state.objects() / SPARSE_PARTS).max(1)
    }

    /// Gives objects of a node back to their slabs, under one hold of the node's `list_lock`. Slabs that are empty then go
    /// to the page allocator, if the node has enough of them.
    ///
    /// Consecutive objects often belong to one slab. Each such group is freed at once: the slab's word, which says how many
    /// objects are in use and where its free list begins, and the node's list are written once for each group.
    fn free_to_slabs(self, node: NodeId, objects: impl Iterator<Item = ObjPtr> + Clone) {
        let (cx, pages) = (self.cx, &self.cx.core.pages);
        let mut empty = PageList::default();
        if self.cache.size.get() >= READ_AHEAD_BYTES {
            // Another CPU may have filled the slabs, so that reading each one's record waits for that CPU's cache. Here
            // nothing depends on what is read, so the processor waits for all of them together. The sum itself is not used;
            // `black_box` keeps the compiler from removing the reads.
            let records = objects.clone().fold(0, |all, obj| all ^ pages.head(obj.pfn()).0);
            core::hint::black_box(records);
        }
        let mut list = self.dense.nodes.get(cx.core, self.cache, node).lock(cx);
        let mut objects = objects.peekable();
        while let Some(first) = objects.peek() {
            // The group: how many of the next objects lie in the slab of the first.
            let slab = pages.head(first.pfn());
            let page = pages.get(slab);
            let (before, end) = (State::load(page), slab.0 + page.order().pages());
            let is_of_slab = |obj: &ObjPtr| (slab.0..end).contains(&obj.pfn().0);
            let count = objects.clone().take_while(is_of_slab).count() as u32;
            let inuse = before.inuse() - count;
            // The node lists the slabs that have free objects.
            let listed = before.has_free();
            // One by one, the first object would bring a full slab to the list, and the last take the empty slab off it:
            // Linux counts both, and looks at the length of the list in between. A slab of one object never comes to the
            // list.
            let comes = !listed && before.inuse() > 1;
            if inuse == 0 && list.has_enough_with(u32::from(comes)) {
                // The slab is given back, so no CPU will follow links between its objects. They are not written, because
                // its memory may be in another CPU's cache.
                objects.by_ref().take(count as usize).for_each(drop);
                if listed {
                    list.remove(pages, slab);
                }
                if comes {
                    self.tally.count(stat::FREE_ADD_PARTIAL);
                }
                if listed || comes {
                    self.tally.count(stat::FREE_REMOVE_PARTIAL);
                }
                empty.push_back(pages, slab);
                continue;
            }
            // The slab stays: the group goes in front of its free list, the last object first.
            let mut top = before.free(slab);
            for obj in objects.by_ref().take(count as usize) {
                link::set(cx, self.cache, slab, obj, top.map_or(0, ObjPtr::get));
                top = Some(obj);
            }
            before.with_inuse(inuse).with_free(slab, top).store(page);
            if !listed {
                self.tally.count(stat::FREE_ADD_PARTIAL);
                list.push_back(pages, slab);
            }
        }
        // The list's lock is released first: the page allocator has its own.
        drop(list);
        nodes::free_slabs(cx, self.cache, empty);
    }
}
