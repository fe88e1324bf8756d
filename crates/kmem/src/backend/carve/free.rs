//! Giving blocks back.

use alloc::vec::Vec;

use super::heap::{Heap, Lists};
use super::{CarvedPages, GRANULE, HEADER, Ring, Shape, layout};
use crate::cache::cx::Cx;
use crate::cache::paths::Stat;
use crate::cache::table::Cache;
use crate::ids::{ObjPtr, Order, PAGE_SIZE, Pfn};
use crate::raw::lock::Guard;

impl<L: Lists> Heap<L> {
    /// Frees a cache's object.
    #[inline]
    pub(super) fn free_object(&self, cx: &Cx<'_>, cache: &Cache, obj: ObjPtr, head: Pfn) {
        let (size, cell) = (u64::from(cache.size.get()), cx.cell(cache.id()));
        if size >= PAGE_SIZE {
            self.ops[cell].frees.add(1);
            cx.core.tallies[cell].count(Stat::FreeSlowpath);
            cx.free_slab_pages(cache, head);
        } else {
            let start = obj.get() - u64::from(cache.left_pad.get());
            self.free_block(cx, cell, start, u64::from(cache.inuse.get()));
        }
    }

    /// Frees a kmalloc block.
    pub(super) fn free_sized(&self, cx: &Cx<'_>, obj: ObjPtr) {
        let cell = cx.core.carved_cell(cx.cpu);
        let size = layout::header(&cx.core.arena, obj);
        let shape = Shape::kmalloc_zoned(size, layout::red_bytes(cx.core, size));
        self.free_block(cx, cell, obj.get() - HEADER, shape.bytes);
        cx.block_in(u64::from(shape.granules) * GRANULE - HEADER);
    }

    fn free_block(&self, cx: &Cx<'_>, cell: usize, start: u64, bytes: u64) {
        let pages = &cx.core.pages;
        let tally = &cx.core.tallies[cell];
        self.ops[cell].frees.add(1);
        tally.count(Stat::FreeSlowpath);
        let pfn = Pfn((start / PAGE_SIZE) as u32);
        let (place, mut rings) = self.lock_page(cx, pfn);
        let owner = Self::owner(place);
        let remote = owner.is_some_and(|cpu| cpu != cx.cpu);
        tally.counts[Stat::FreeRemote as usize].add(u64::from(remote));
        let (group, ring) = Self::group(place);
        let was_full = CarvedPages::is_full(pages, pfn);
        let run = self.carved.put(pages, start, bytes);
        if CarvedPages::is_empty(pages, pfn) {
            if !was_full {
                rings[ring].remove(pages, pfn);
            }
            drop(rings);
            cx.slab_out(None, Order(0), 0);
            tally.count(Stat::FreeSlab);
            cx.give_pages(pfn, Order(0));
            return;
        }
        if !was_full {
            return rings[ring].grown(pages, pfn, run);
        }
        tally.count(Stat::FreeAddPartial);
        let wanted = Self::place(owner.unwrap_or(cx.cpu), bytes);
        let (other, other_ring) = Self::group(wanted);
        if other == group {
            pages.get(pfn).next.set(wanted);
            rings[other_ring].push(pages, &self.carved, pfn);
        } else if let Some(mut others) = self.lock_second(cx, group, other) {
            pages.get(pfn).next.set(wanted);
            others[other_ring].push(pages, &self.carved, pfn);
        } else {
            rings[ring].push(pages, &self.carved, pfn);
        }
    }

    /// Takes the lock that guards a page; the page may move while we wait for it.
    fn lock_page(&self, cx: &Cx<'_>, pfn: Pfn) -> (u32, Guard<'_, Vec<Ring>>) {
        let page = cx.core.pages.get(pfn);
        loop {
            let place = page.next.get();
            let rings = self.lock(cx, Self::group(place).0);
            if page.next.get() == place {
                return (place, rings);
            }
        }
    }

    /// Takes the lock of group `other` while that of `held` is held: waiting would be against the
    /// lock order when `other` is the lower, so then it is only tried.
    fn lock_second(&self, cx: &Cx<'_>, held: usize, other: usize) -> Option<Guard<'_, Vec<Ring>>> {
        if other > held {
            return Some(self.lock(cx, other));
        }
        cx.count_lock(Self::LIST_LOCK);
        self.groups[other].try_lock()
    }
}
