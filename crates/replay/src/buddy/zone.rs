//! A zone: its free lists, the types of its page blocks, its watermarks.
//!
//! # How it works
//! Pages are numbered from a multiple of the greatest block on, so that a block's buddy is one bit away.

use super::lists::{End, FreeLists, ORDERS};
use super::migrate::Migrate;
use super::rules::{Rules, Stealing};

/// A block of another migrate type that was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Taken {
    pub(crate) order: u8,
    pub(crate) migrate: Migrate,
    pub(crate) fallback_order: u8,
    pub(crate) fallback: Migrate,
}

/// How much of a zone stays free.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Marks {
    pub(crate) min: u64,
    pub(crate) low: u64,
    pub(crate) high: u64,
}

/// A zone.
#[derive(Debug)]
pub(crate) struct Zone {
    pub(crate) rules: Rules,
    pub(crate) lists: FreeLists,
    /// The type of each page block
    pub(crate) blocks: Vec<Migrate>,
    /// Of each page block the pages that were allocated as movable
    pub(super) movable: Vec<u32>,
    pub(crate) managed: u64,
    pub(crate) marks: Marks,
    /// By the index of the highest zone that an allocation may use: what is kept from it
    pub(crate) protection: Vec<u64>,
    /// Pages of page blocks that are kept for atomic allocations
    pub(crate) reserved: u64,
    /// Blocks of other types that were taken since this was emptied
    pub(crate) taken: Vec<Taken>,
    /// Blocks that left the free lists
    pub(crate) left: u64,
}

impl Zone {
    /// Makes a zone of this many pages; none is free, and all blocks are movable.
    pub(crate) fn new(rules: Rules, pages: u32) -> Zone {
        let blocks = pages.div_ceil(rules.block_pages()) as usize;
        Zone {
            rules,
            lists: FreeLists::new(pages),
            blocks: vec![Migrate::Movable; blocks],
            movable: vec![0; blocks],
            managed: pages.into(),
            marks: Marks::default(),
            protection: Vec::new(),
            reserved: 0,
            taken: Vec::new(),
            left: 0,
        }
    }

    /// Returns how many pages it has, those of no memory among them.
    pub(crate) fn pages(&self) -> u32 {
        self.lists.all_pages()
    }

    /// Returns the type of the page block that a page lies in.
    pub(crate) fn block_type(&self, page: u32) -> Migrate {
        self.blocks[(page >> self.rules.block_order) as usize]
    }

    /// Gives a type to all page blocks that a block has, at least to the one it lies in.
    pub(crate) fn set_block_types(&mut self, page: u32, order: u8, migrate: Migrate) {
        let first = (page >> self.rules.block_order) as usize;
        let count = 1usize << order.saturating_sub(self.rules.block_order);
        let end = (first + count).min(self.blocks.len());
        self.blocks[first..end].fill(migrate);
    }

    /// Takes a block off the free lists of a migrate type, and of another one's where these have none.
    pub(crate) fn take(&mut self, order: u8, migrate: Migrate, way: Way) -> Option<u32> {
        let page = match self.take_smallest(order, migrate) {
            Some(page) => page,
            None => self.take_other(order, migrate, way)?,
        };
        self.left += 1;
        Some(page)
    }

    /// Takes the smallest block of a type that is large enough, and gives back the rest of it.
    pub(crate) fn take_smallest(&mut self, order: u8, migrate: Migrate) -> Option<u32> {
        let orders = order..=self.rules.max_order;
        let from = |from: u8| self.lists.first(from, migrate);
        let page = orders.into_iter().find_map(from)?;
        self.take_part(page, order, migrate);
        Some(page)
    }

    /// Takes the lowest part of a free block; the rest goes to the lists of a type.
    pub(crate) fn take_part(&mut self, page: u32, order: u8, rest: Migrate) {
        let (whole, _) = self.lists.remove(page);
        for order in (order..whole).rev() {
            self.lists.push(page + (1 << order), order, rest, End::First);
        }
    }

    /// Frees a block to the lists of a type; it merges with its buddy, as long as that is free.
    pub(crate) fn free(&mut self, page: u32, order: u8, migrate: Migrate) {
        let (mut page, mut order, max_order) = (page, order, self.rules.max_order);
        while order < max_order {
            let buddy = page ^ (1 << order);
            let Some((of_buddy, _)) = self.lists.block_at(buddy) else { break };
            if of_buddy != order || !self.may_merge(page, buddy, order, migrate) {
                break;
            }
            self.lists.remove(buddy);
            if order >= self.rules.block_order && self.rules.stealing != Stealing::Mixed {
                self.set_block_types(buddy, order, migrate);
            }
            (page, order) = (page & buddy, order + 1);
        }
        let end = if self.is_likely_to_merge(page, order) { End::Last } else { End::First };
        self.lists.push(page, order, migrate, end);
    }

    /// Returns whether two buddies may become one: page blocks merge only if all are of usual types, or of the same.
    fn may_merge(&self, page: u32, buddy: u32, order: u8, migrate: Migrate) -> bool {
        if order < self.rules.block_order {
            return true;
        }
        let other = self.block_type(buddy);
        debug_assert_eq!(page ^ buddy, 1 << order);
        other == migrate || (other.is_usual() && migrate.is_usual())
    }

    /// Returns whether the block that this one and its buddy make has a free buddy: then it is better left for last.
    fn is_likely_to_merge(&self, page: u32, order: u8) -> bool {
        if order + 1 >= self.rules.max_order {
            return false;
        }
        let whole = page & !(1 << order);
        let other = whole ^ (1 << (order + 1));
        self.lists.block_at(other).is_some_and(|(of_other, _)| of_other == order + 1)
    }

    /// Notes that pages were given as movable, or that such pages were freed.
    pub(crate) fn note_movable(&mut self, page: u32, order: u8, is_given: bool) {
        let first = (page >> self.rules.block_order) as usize;
        let pages = 1u32 << order.min(self.rules.block_order);
        let count = 1usize << order.saturating_sub(self.rules.block_order);
        for block in self.movable.iter_mut().skip(first).take(count) {
            *block = if is_given { *block + pages } else { block.saturating_sub(pages) };
        }
    }

    /// Returns how many pages of a page block were given as movable.
    pub(crate) fn movable_pages(&self, page: u32) -> u32 {
        self.movable[(page >> self.rules.block_order) as usize]
    }

    /// Returns the free blocks that begin in the page block of a page, with their orders.
    pub(crate) fn free_in_block(&self, page: u32) -> Vec<(u32, u8)> {
        let first = page & !(self.rules.block_pages() - 1);
        let (mut at, end) = (first, first + self.rules.block_pages());
        let mut found = Vec::new();
        while at < end {
            match self.lists.block_at(at) {
                Some((order, _)) => {
                    found.push((at, order));
                    at += 1 << order;
                }
                None => at += 1,
            }
        }
        found
    }

    /// Returns whether so much is free above a mark that an allocation may have it.
    pub(crate) fn is_above(
        &self,
        mark: u64,
        order: u8,
        highest: u8,
        may_use_reserve: bool,
    ) -> bool {
        let kept = self.protection.get(usize::from(highest)).copied().unwrap_or(0);
        let reserve = if may_use_reserve { 0 } else { self.reserved };
        let asked = (1u64 << order) - 1;
        let free = self.lists.pages().saturating_sub(asked).saturating_sub(reserve);
        if free <= mark + kept {
            return false;
        }
        let has = |order: u8| {
            let usual = Migrate::ALL.into_iter().filter(|migrate| {
                migrate.is_usual() || (may_use_reserve && *migrate == Migrate::HighAtomic)
            });
            usual.into_iter().any(|migrate| self.lists.first(order, migrate).is_some())
        };
        order == 0 || (order..=self.rules.max_order).any(has)
    }

    /// Returns free blocks by order.
    pub(crate) fn free_blocks(&self) -> [u64; ORDERS] {
        std::array::from_fn(|order| self.lists.of_order(order as u8))
    }
}

/// How an allocation may use blocks of other migrate types.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Way {
    /// Only whole page blocks of other types: first other zones are looked at.
    pub(crate) is_tidy: bool,
}
