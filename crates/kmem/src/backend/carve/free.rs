//! Giving blocks back.

use alloc::vec::Vec;

use super::heap::{Heap, Lists};
use super::layout::{self, Shape};
use super::ring::Ring;
use super::{GRANULE, HEADER, stat};
use crate::cache::core::SlabCount;
use crate::cache::cx::Cx;
use crate::cache::table::CacheEntry;
use crate::ids::{ObjPtr, Order, PAGE_SIZE, Pfn};
use crate::page::Page;
use crate::raw::lock::Guard;

impl<L: Lists> Heap<L> {
    /// Frees a cache's object.
    #[inline]
    pub(super) fn free_object(&self, cx: &Cx<'_>, cache: &CacheEntry, obj: ObjPtr, head: Pfn) {
        let (size, index) = (u64::from(cache.size.get()), cx.cpu_cache_index(cache.id()));
        if size >= PAGE_SIZE {
            self.ops[index].frees.add(1);
            cx.core.tallies[index].count(stat::FREE_SLOWPATH);
            cx.free_slab_pages(cache, head);
        } else {
            let start = obj.get() - u64::from(cache.left_pad.get());
            self.free_block(cx, index, start, u64::from(cache.inuse.get()), false);
        }
    }

    /// Frees a kmalloc block.
    pub(super) fn free_sized(&self, cx: &Cx<'_>, obj: ObjPtr) {
        let index = cx.core.carved_index(cx.cpu);
        if self.has_maps {
            // What no block begins at is nobody's to give back.
            let Some(granules) = self.carved(cx.core).marked(obj) else { return };
            let bytes = u64::from(granules) * GRANULE;
            self.free_block(cx, index, obj.get(), bytes, true);
            return cx.block_in(bytes);
        }
        let size = layout::header(&cx.core.arena, obj);
        let shape = Shape::kmalloc(size, layout::red_bytes(cx.core, size));
        self.free_block(cx, index, obj.get() - HEADER, shape.bytes, false);
        cx.block_in(u64::from(shape.granules) * GRANULE - HEADER);
    }

    fn free_block(&self, cx: &Cx<'_>, index: usize, start: u64, bytes: u64, is_marked: bool) {
        let (carved, tally) = (self.carved(cx.core), &cx.core.tallies[index]);
        self.ops[index].frees.add(1);
        tally.count(stat::FREE_SLOWPATH);
        let pfn = Pfn((start / PAGE_SIZE) as u32);
        let (place, mut rings) = self.lock_page(cx, carved.page(pfn));
        let owner = Self::owner(place).unwrap_or(cx.cpu);
        tally.add(stat::FREE_REMOTE, u64::from(owner != cx.cpu));
        let (group, ring) = Self::group(place);
        let was_full = carved.is_full(pfn);
        if is_marked {
            carved.unmark(start, bytes);
        }
        carved.put(start, bytes);
        if carved.is_empty(pfn) {
            if !was_full {
                rings[ring].remove(carved, pfn);
            }
            drop(rings);
            cx.slabs_out(None, SlabCount::entry(Order(0)));
            tally.count(stat::FREE_SLAB);
            return cx.give_pages(pfn, Order(0));
        }
        if !was_full {
            return rings[ring].grown(carved, pfn);
        }
        tally.count(stat::FREE_ADD_PARTIAL);
        let wanted = Self::place(owner, bytes);
        let (other, other_ring) = Self::group(wanted);
        if other == group {
            carved.page(pfn).cache.set(wanted);
            rings[other_ring].push(carved, pfn);
        } else if let Some(mut others) = self.lock_second(cx, group, other) {
            carved.page(pfn).cache.set(wanted);
            others[other_ring].push(carved, pfn);
        } else {
            rings[ring].push(carved, pfn);
        }
    }

    /// Takes the lock that guards a page; the page may move while we wait for it.
    fn lock_page(&self, cx: &Cx<'_>, page: &Page) -> (u32, Guard<'_, Vec<Ring>>) {
        loop {
            let place = page.cache.get();
            let rings = self.lock(cx, Self::group(place).0);
            if page.cache.get() == place {
                return (place, rings);
            }
        }
    }
}
