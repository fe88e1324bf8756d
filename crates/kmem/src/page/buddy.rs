//! The buddy system of one zone.
//!
//! # How it works
//! Free blocks of 2^order pages, aligned to their size, are on one list for each order. A request splits the
//! smallest block that suffices; a freed block merges with its buddy (number xor 2^order) as long as that is
//! free and whole. The lists are last in, first out, as in Linux, since the block freed last is warm. A free
//! block is *dirty* until its memory was given to the operating system, so that this costs a call for each
//! block freed meanwhile and none for the others. Only blocks of [`DISCARD_ORDER`] are worth such a call by
//! themselves. The amount of memory that they may hold is always known, so memory that comes and goes stays.
//!
//! The largest blocks that were never given out are a range, not entries of a list: 16 GiB would be 4,096
//! page records, each in a page of the host's that is then touched for nothing (10 ms). They are taken
//! last and in rising order, as if they stood at the list's end.
//!
//! # Invariants
//! `pages_free = sum over orders of list length * 2^order + untouched pages`; two free buddies never stand
//! side by side; a block that is not dirty holds no memory; `pages_dirty` = pages of the dirty blocks of
//! [`DISCARD_ORDER`] and above; records of untouched pages are all zero.
//!
//! Linux counterpart: `__rmqueue_smallest`, `__free_one_page` in `mm/page_alloc.c` @ 6.1.

use core::ops::Range;

use super::list::PageList;
use super::meta::{Kind, PageTable};
use crate::ids::{Order, Pfn};

/// Smallest free block whose memory goes back to the operating system by itself: 128 KiB.
pub(super) const DISCARD_ORDER: Order = Order(5);
const ORDERS: usize = Order::MAX.0 as usize + 1;

/// The free blocks of a zone.
#[derive(Debug)]
pub(crate) struct Buddy {
    start: u32,
    end: u32,
    free: [PageList; ORDERS],
    /// Pages of the largest blocks that were never given out.
    untouched: Range<u32>,
    pages_free: u64,
    /// Pages of the large free blocks that may hold memory.
    pages_dirty: u64,
}

impl Buddy {
    /// Makes the pages `start..end` free, in the largest aligned blocks that fit.
    pub(crate) fn new(pages: &PageTable, start: u32, end: u32) -> Self {
        let largest = Order::MAX.pages();
        let from = start.next_multiple_of(largest).min(end);
        let untouched = from..from + (end - from) / largest * largest;
        let mut buddy = Self {
            start,
            end,
            free: [PageList::default(); ORDERS],
            untouched: untouched.clone(),
            pages_free: u64::from(end - start),
            pages_dirty: 0,
        };
        for edge in [start..untouched.start, untouched.end..end] {
            let mut at = edge.start;
            while at < edge.end {
                let fits = (edge.end - at).ilog2();
                let order = Order(at.trailing_zeros().min(fits) as u8);
                pages.get(Pfn(at)).set(Kind::Buddy, order);
                // Low blocks first: an untouched machine hands out rising addresses.
                buddy.free[order.0 as usize].push_back(pages, Pfn(at));
                at += order.pages();
            }
        }
        buddy
    }

    pub(crate) fn pages_free(&self) -> u64 {
        self.pages_free
    }

    /// Takes `count` blocks of `order`, or as many as there are: the same blocks in the same order as taking one after
    /// the other. `take` has to make each something else than a free block.
    ///
    /// Taken one after the other, they would be split off the same larger block, whose rest would come to a list and
    /// leave it each time. That reads two records and writes four for each page, in cache lines of another CPU that
    /// freed the pages.
    pub(crate) fn alloc_several(
        &mut self,
        pages: &PageTable,
        order: Order,
        count: u32,
        mut take: impl FnMut(Pfn),
    ) {
        let mut left = count;
        while left > 0 {
            let found = (order.0..Order::MAX.0).find(|&o| self.free[o as usize].len() > 0);
            let found = Order(found.unwrap_or(Order::MAX.0));
            let first = self.free[found.0 as usize].pop_front(pages).or_else(|| self.touch());
            let Some(Pfn(first)) = first else { return };
            self.leaves(pages, Pfn(first), found);
            let dirty = pages.get(Pfn(first)).is_dirty();
            let blocks = left.min(1 << (found.0 - order.0));
            left -= blocks;
            // No list below has a block, because the smallest that suffices was taken. So each list gets one block
            // of the rest at most.
            let (mut rest, end) = (blocks << order.0, found.pages());
            while rest < end {
                let (upper, half) = (Pfn(first + rest), Order(rest.trailing_zeros() as u8));
                pages.get(upper).set(Kind::Buddy, half);
                pages.get(upper).set_dirty(dirty);
                self.free[half.0 as usize].push_front(pages, upper);
                self.comes(pages, upper, half);
                rest += half.pages();
            }
            self.pages_free -= u64::from(blocks << order.0);
            (0..blocks).for_each(|i| take(Pfn(first + (i << order.0))));
        }
    }

    /// Takes the lowest of the largest blocks that were never given out.
    fn touch(&mut self) -> Option<Pfn> {
        let pfn = Pfn(self.untouched.start);
        if self.untouched.is_empty() {
            return None;
        }
        self.untouched.start += Order::MAX.pages();
        Some(pfn)
    }

    /// Gives a block back.
    pub(crate) fn free(&mut self, pages: &PageTable, pfn: Pfn, order: Order) {
        self.pages_free += u64::from(order.pages());
        let (mut at, mut order) = (pfn.0, order);
        while order < Order::MAX {
            let buddy = Pfn(at ^ order.pages());
            if buddy.0 < self.start || buddy.0 + order.pages() > self.end {
                break;
            }
            let page = pages.get(buddy);
            if page.kind() != Kind::Buddy || page.order() != order {
                break;
            }
            self.free[order.0 as usize].remove(pages, buddy);
            self.leaves(pages, buddy, order);
            // A block's inner pages must not look like free blocks of their own.
            page.set(Kind::Reserved, Order(0));
            pages.get(Pfn(at)).set(Kind::Reserved, Order(0));
            at = at.min(buddy.0);
            order = Order(order.0 + 1);
        }
        pages.get(Pfn(at)).set(Kind::Buddy, order);
        pages.get(Pfn(at)).set_dirty(true);
        self.free[order.0 as usize].push_front(pages, Pfn(at));
        self.comes(pages, Pfn(at), order);
    }

    /// Enters a block that has come to a list.
    fn comes(&mut self, pages: &PageTable, pfn: Pfn, order: Order) {
        if order >= DISCARD_ORDER && pages.get(pfn).is_dirty() {
            self.pages_dirty += u64::from(order.pages());
        }
    }

    /// Enters a block that has left its list.
    fn leaves(&mut self, pages: &PageTable, pfn: Pfn, order: Order) {
        if order >= DISCARD_ORDER && pages.get(pfn).is_dirty() {
            self.pages_dirty -= u64::from(order.pages());
        }
    }

    /// Returns the pages of the free blocks of [`DISCARD_ORDER`] and above that may hold memory.
    pub(crate) fn pages_dirty(&self) -> u64 {
        self.pages_dirty
    }

    /// Visits the dirty blocks of `order` and above, to give their memory to the operating system.
    pub(crate) fn discard(
        &mut self,
        pages: &PageTable,
        order: Order,
        mut discard: impl FnMut(Pfn, Order),
    ) {
        for order in (order.0..=Order::MAX.0).map(Order) {
            let blocks = self.free[order.0 as usize].iter(pages);
            for pfn in blocks.filter(|&pfn| pages.get(pfn).is_dirty()) {
                pages.get(pfn).set_dirty(false);
                if order >= DISCARD_ORDER {
                    self.pages_dirty -= u64::from(order.pages());
                }
                discard(pfn, order);
            }
        }
    }

    /// Visits every free block with the kind in its record; that of an untouched block says
    /// nothing.
    pub(crate) fn blocks(&self, pages: &PageTable, mut visit: impl FnMut(Pfn, Order, Kind)) {
        for order in (0..=Order::MAX.0).map(Order) {
            for pfn in self.free[order.0 as usize].iter(pages) {
                visit(pfn, order, Kind::Buddy);
            }
        }
        for pfn in self.untouched.clone().step_by(Order::MAX.pages() as usize) {
            visit(Pfn(pfn), Order::MAX, Kind::Reserved);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const PAGES: u32 = 4 * (1 << Order::MAX.0);

    impl Buddy {
        fn alloc(&mut self, pages: &PageTable, order: Order) -> Option<Pfn> {
            let mut taken = None;
            self.alloc_several(pages, order, 1, |pfn| taken = Some(pfn));
            taken
        }
    }

    /// Every page freed used to count as one more that may hold memory. A page in use time and again came to count as
    /// 64 MiB, and all free memory went to the operating system.
    #[test]
    fn memory_that_comes_and_goes_counts_once() {
        let pages = PageTable::new(PAGES);
        let mut buddy = Buddy::new(&pages, 1, PAGES);
        let mut free_one = |order: Order| {
            let pfn = buddy.alloc(&pages, order).unwrap();
            buddy.free(&pages, pfn, order);
            buddy.pages_dirty()
        };
        let once = free_one(Order(6));
        assert!(u64::from(Order(6).pages()) <= once && once <= u64::from(Order::MAX.pages()));
        (0..100).for_each(|_| assert_eq!(free_one(Order(6)), once));
    }

    /// Takes the blocks of one machine at once, and those of another one by one; both get the same blocks and end up alike.
    #[test]
    fn several_blocks_are_those_that_one_after_the_other_would_be() {
        let tables = [PageTable::new(PAGES), PageTable::new(PAGES)];
        let mut buddies = [0, 1].map(|i| Buddy::new(&tables[i], 1, PAGES));
        let (mut held, mut state) = (alloc::vec::Vec::new(), 5u32);
        for step in 0..5_000 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let (order, count) = (Order((state >> 16) as u8 % 4), state >> 8 & 63);
            if state >> 30 == 0 {
                let mut taken = [alloc::vec::Vec::new(), alloc::vec::Vec::new()];
                let claim = |i: usize, pfn| tables[i].claim(pfn, Kind::Pages, order, 0);
                buddies[0].alloc_several(&tables[0], order, count, |pfn| {
                    claim(0, pfn);
                    taken[0].push(pfn);
                });
                for _ in 0..count {
                    let Some(pfn) = buddies[1].alloc(&tables[1], order) else { break };
                    claim(1, pfn);
                    taken[1].push(pfn);
                }
                assert_eq!(taken[0], taken[1], "step {step}");
                held.extend(taken[0].iter().map(|pfn| (*pfn, order)));
            } else if !held.is_empty() {
                let (pfn, order) = held.swap_remove(state as usize / 64 % held.len());
                (0..2).for_each(|i| buddies[i].free(&tables[i], pfn, order));
            }
            let left = [0, 1].map(|i| {
                let mut blocks = alloc::vec::Vec::new();
                buddies[i].blocks(&tables[i], |pfn, order, kind| {
                    blocks.push((pfn, order, kind, tables[i].get(pfn).is_dirty()));
                });
                (blocks, buddies[i].pages_free(), buddies[i].pages_dirty())
            });
            assert_eq!(left[0], left[1], "step {step}");
        }
        assert!(held.len() > 100);
    }

    #[test]
    fn dirty_pages_are_those_of_large_dirty_blocks() {
        let pages = PageTable::new(PAGES);
        let mut buddy = Buddy::new(&pages, 1, PAGES);
        let (mut held, mut state) = (alloc::vec::Vec::new(), 7u32);
        for step in 0..20_000 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let order = Order((state >> 16) as u8 % (Order::MAX.0 + 1));
            if state >> 31 == 0
                && let Some(pfn) = buddy.alloc(&pages, order)
            {
                // A taker of a block does the same, which makes its record clean.
                pages.claim(pfn, Kind::Pages, order, 0);
                held.push((pfn, order));
            } else if !held.is_empty() {
                let (pfn, order) = held.swap_remove(state as usize / 64 % held.len());
                buddy.free(&pages, pfn, order);
            }
            if step % 1_000 == 999 {
                buddy.discard(&pages, DISCARD_ORDER, |_, _| {});
            }
            let mut dirty = 0;
            buddy.blocks(&pages, |pfn, order, _| {
                if order >= DISCARD_ORDER && pages.get(pfn).is_dirty() {
                    dirty += u64::from(order.pages());
                }
            });
            assert_eq!(buddy.pages_dirty(), dirty, "step {step}");
        }
        assert!(buddy.pages_free() < u64::from(PAGES));
    }
}
