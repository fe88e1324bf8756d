//! Giving blocks back.

use super::super::carve::{CarvedPages, GRANULE, HEADER};
use super::{Slob, layout, list_for};
use crate::cache::table::Cache;
use crate::ids::{ObjPtr, Order, PAGE_SIZE, Pfn};
use crate::machine::core::Cx;
use crate::machine::locks::LockKind;
use crate::machine::stats::Stat;

impl Slob {
    /// Frees a cache's object.
    #[inline]
    pub(super) fn free_object(&self, cx: &Cx<'_>, cache: &Cache, obj: ObjPtr, head: Pfn) {
        let (size, cell) = (u64::from(cache.size.get()), cx.cell(cache.id()));
        if size >= PAGE_SIZE {
            self.ops[cell].frees.add(1);
            cx.core.tallies[cell].count(Stat::FreeSlowpath);
            cx.free_slab_pages(cache, head);
        } else {
            self.free_block(cx, cell, obj.get(), u64::from(cache.inuse.get()));
        }
    }

    /// Frees a kmalloc block.
    pub(super) fn free_sized(&self, cx: &Cx<'_>, obj: ObjPtr) {
        let cell = cx.core.carved_cell(cx.cpu);
        let size = layout::header(&cx.core.arena, obj);
        let bytes = size.next_multiple_of(GRANULE);
        self.free_block(cx, cell, obj.get() - HEADER, size + HEADER);
        cx.block_in(bytes);
    }

    fn free_block(&self, cx: &Cx<'_>, cell: usize, start: u64, bytes: u64) {
        let pages = &cx.core.pages;
        let tally = &cx.core.tallies[cell];
        self.ops[cell].frees.add(1);
        let pfn = Pfn((start / PAGE_SIZE) as u32);
        tally.count(Stat::FreeSlowpath);
        cx.count_lock(LockKind::Slob);
        let mut lists = self.lists.lock();
        let was_full = CarvedPages::is_full(pages, pfn);
        let run = self.carved.put(pages, start, bytes);
        if CarvedPages::is_empty(pages, pfn) {
            if !was_full {
                lists[pages.get(pfn).next.get() as usize].remove(pages, pfn);
            }
            drop(lists);
            cx.slab_out(None, Order(0), 0);
            tally.count(Stat::FreeSlab);
            cx.core.zones.free(cx, pfn, Order(0));
        } else if was_full {
            // The size of what was freed chooses the list, as it chose where to look for room.
            let list = list_for(bytes);
            lists[list].push(pages, pfn, run);
            pages.get(pfn).next.set(list as u32);
            tally.count(Stat::FreeAddPartial);
        } else {
            lists[pages.get(pfn).next.get() as usize].grown(pages, pfn, run);
        }
    }
}
