//! Gives blocks back to pages: the free side of a heap.

use alloc::vec::Vec;

use super::heap::{Heap, Lists};
use super::layout::{self, Shape};
use super::ring::Ring;
use super::{GRANULE, HEADER, stat};
use crate::cache::SlabFlags;
use crate::cache::core::{Core, SlabCount};
use crate::cache::cx::Cx;
use crate::cache::paths::Tally;
use crate::cache::table::CacheEntry;
use crate::ids::{CacheId, ObjPtr, Order, PAGE_SIZE, Pfn};
use crate::page::Page;
use crate::raw::lock::Guard;

impl<L: Lists> Heap<L> {
    /// Frees a cache's object.
    #[inline]
    pub(super) fn free_object(&self, cx: &Cx<'_>, cache: &CacheEntry, obj: ObjPtr, head: Pfn) {
        let (size, index) = (u64::from(cache.size.get()), cx.cpu_cache_index(cache.id()));
        if size >= PAGE_SIZE {
            self.count_free(cx, index);
            cx.free_slab_pages(cache, head);
        } else if cache.flags().has(SlabFlags::TYPESAFE_BY_RCU) {
            self.count_free(cx, index);
            self.free_later(cx, cache, obj);
        } else {
            let start = obj.get() - u64::from(cache.left_pad.get());
            self.free_block(cx, index, start, u64::from(cache.inuse.get()), false);
        }
    }

    /// Lets a type-safe cache's object wait for its readers: its page may hold other things at once, where a slab would
    /// wait as a whole. Linux: `call_rcu` with `kmem_rcu_free`.
    #[cold]
    fn free_later(&self, cx: &Cx<'_>, cache: &CacheEntry, obj: ObjPtr) {
        let arena = &cx.core.arena;
        let Some(block) = layout::waiting_block(cache, obj) else { return };
        arena.store(block.get() + GRANULE, u64::from(cache.id().0));
        self.waiting.lock().defer(arena, block);
        // One batch waits and one collects: where no reader is inside a section, both pass at once.
        self.free_waiting(cx);
        self.free_waiting(cx);
    }

    /// Returns the bytes of the object that waits at a block, as its cache counts them.
    pub(super) fn bytes_at(&self, core: &Core, block: ObjPtr) -> u64 {
        let cache = core.caches.get(CacheId(core.arena.load(block.get() + GRANULE) as u32));
        u64::from(cache.size.get())
    }

    /// Frees the type-safe objects that no reader can see any more.
    #[inline(never)]
    pub(super) fn free_waiting(&self, cx: &Cx<'_>) {
        let arena = &cx.core.arena;
        let mut done = self.waiting.lock().passed(&cx.core.grace);
        while let Some(block) = done.pop(arena) {
            let cache = cx.core.caches.get(CacheId(arena.load(block.get() + GRANULE) as u32));
            let start = layout::waiting_object(cache, block) - u64::from(cache.left_pad.get());
            let tally = cx.tally(cache.id());
            self.give_back(cx, tally, start, u64::from(cache.inuse.get()), false);
            self.waiting.lock().gone();
        }
    }

    /// Frees a kmalloc block.
    pub(super) fn free_sized(&self, cx: &Cx<'_>, obj: ObjPtr) {
        let index = cx.core.carved_index(cx.cpu);
        if self.has_maps {
            // An address at which no block begins cannot be given back.
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

    fn count_free(&self, cx: &Cx<'_>, index: usize) {
        self.ops[index].frees.add(1);
        cx.tally_at(index).count(stat::FREE_SLOWPATH);
    }

    /// Frees a block of the given number of bytes.
    fn free_block(&self, cx: &Cx<'_>, index: usize, start: u64, bytes: u64, is_marked: bool) {
        let tally = cx.tally_at(index);
        self.ops[index].frees.add(1);
        tally.count(stat::FREE_SLOWPATH);
        self.give_back(cx, tally, start, bytes, is_marked);
    }

    /// Gives a block whose free was counted back to its page.
    #[inline(always)]
    fn give_back(&self, cx: &Cx<'_>, tally: &Tally, start: u64, bytes: u64, is_marked: bool) {
        let carved = self.carved(cx.core);
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
