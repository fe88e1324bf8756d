//! Frees once the CPU's magazine is full.

use super::magazine::OnCpu;
use super::stat;
use crate::backend::partial::word::State;
use crate::backend::partial::{link, nodes};
use crate::ids::{NodeId, ObjPtr, Pfn};
use crate::page::PageList;

/// A slab is sparse with one in so many of its objects in use, those in magazines among them.
const SPARSE_PARTS: u32 = 2;

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
            self.flush_oldest(magazine.capacity.get() / 2);
        }
        if magazine.count.get() < magazine.capacity.get() {
            magazine.push(obj);
        } else {
            self.free_to_slabs(home, [obj].into_iter());
        }
    }

    /// Gives the `count` objects that have waited longest back to their slabs.
    pub(super) fn flush_oldest(self, count: u32) {
        let magazine = self.magazine;
        if count == 0 {
            return;
        }
        self.free_to_slabs(self.cx.node(), (0..count).filter_map(|place| magazine.object(place)));
        magazine.count.sub(count);
        for place in 0..magazine.count.get() {
            magazine.entry(place).set(magazine.entry(place + count).get());
        }
    }

    /// Gives those objects back to their slabs that keep a sparse one.
    pub(super) fn flush_sparse(self) {
        let (magazine, all) = (self.magazine, self.magazine.count.get());
        if !(0..all).filter_map(|place| magazine.object(place)).any(|obj| self.is_sparse(obj)) {
            return;
        }
        let mut kept = 0;
        let going = (0..all).filter_map(|place| {
            let obj = magazine.object(place)?;
            if self.is_sparse(obj) {
                return Some(obj);
            }
            magazine.entry(kept).set(magazine.entry(place).get());
            kept += 1;
            None
        });
        self.free_to_slabs(self.cx.node(), going);
        magazine.count.set(kept);
    }

    /// Tells whether an object's slab is sparse: a page or two that the object may be all that keeps.
    fn is_sparse(self, obj: ObjPtr) -> bool {
        let pages = &self.cx.core.pages;
        let state = State::load(pages.get(pages.head(obj.pfn())));
        state.inuse() <= (state.objects() / SPARSE_PARTS).max(1)
    }

    /// Gives objects of a node back to their slabs; slabs that are empty then, to the page allocator.
    fn free_to_slabs(self, node: NodeId, objects: impl Iterator<Item = ObjPtr>) {
        let (cx, pages) = (self.cx, &self.cx.core.pages);
        let mut empty = PageList::default();
        let mut list = self.dense.nodes.get(cx.core, self.cache, node).lock(cx);
        for obj in objects {
            let slab = pages.head(obj.pfn());
            let page = pages.get(slab);
            let old = State::load(page);
            let before = old.free(slab).map_or(0, ObjPtr::get);
            link::set(cx, obj.get() + u64::from(self.cache.free_offset.get()), before);
            old.with_inuse(old.inuse() - 1).with_free(slab, Some(obj)).store(page);
            if old.inuse() == 1 && list.has_enough() {
                if old.has_free() {
                    list.remove(pages, slab);
                    self.tally.count(stat::FREE_REMOVE_PARTIAL);
                }
                empty.push_back(pages, slab);
            } else if !old.has_free() {
                list.push_back(pages, slab);
                self.tally.count(stat::FREE_ADD_PARTIAL);
            }
        }
        drop(list);
        while let Some(slab) = empty.pop_front(pages) {
            nodes::free_slab(cx, self.cache, slab);
        }
    }
}
