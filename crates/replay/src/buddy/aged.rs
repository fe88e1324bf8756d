//! A zone that has the free blocks that a kernel said it had.
//!
//! # How it works
//! A kernel says how many blocks of each order and type are free, and not where they are. They are put into holes: a block
//! takes the lower half of the smallest hole of twice its size or more, so that its buddy is in use. Page blocks get their
//! types from the zone's beginning on, the movable ones last. What is left in holes was in use when the recording began;
//! when pages of unknown place are freed, they are taken of the largest hole, from its beginning on.
//!
//! # Invariants
//! Two free blocks of the same order that could be one are never made.

use std::collections::BTreeSet;

use slablab_trace as trace;

use super::lists::{End, ORDERS};
use super::migrate::{Migrate, TYPES};
use super::rules::Rules;
use super::zone::{Marks, Zone};

/// Pages in use, as blocks: their first pages, by order.
#[derive(Debug)]
pub(crate) struct Holes {
    by_order: [BTreeSet<u32>; ORDERS],
    /// Pages of these that the page allocator has given, and that may be freed
    pub(crate) freeable: u64,
}

/// A zone, what is in use of it, and how many of its free pages found no place.
#[derive(Debug)]
pub(crate) struct Aged {
    pub(crate) zone: Zone,
    pub(crate) holes: Holes,
    pub(crate) unplaced_pages: u64,
}

impl Holes {
    fn of(rules: &Rules, pages: u32) -> Holes {
        let mut by_order: [BTreeSet<u32>; ORDERS] = Default::default();
        let step = 1usize << rules.max_order;
        by_order[usize::from(rules.max_order)].extend((0..pages).step_by(step));
        Holes { by_order, freeable: 0 }
    }

    /// Takes the lower part of a hole, of those of this order and higher the first of the smallest.
    fn take(&mut self, order: u8, least: u8) -> Option<u32> {
        let found = (usize::from(least)..ORDERS).find(|from| !self.by_order[*from].is_empty())?;
        let page = self.by_order[found].pop_first()?;
        for order in usize::from(order)..found {
            self.by_order[order].insert(page + (1 << order));
        }
        Some(page)
    }

    /// Takes pages that the trace frees and never saw allocated; `None` where none is left.
    pub(crate) fn take_freeable(&mut self, order: u8) -> Option<u32> {
        if self.freeable < 1 << order {
            return None;
        }
        let found =
            (usize::from(order)..ORDERS).rev().find(|from| !self.by_order[*from].is_empty())?;
        let page = self.by_order[found].pop_first()?;
        for order in usize::from(order)..found {
            self.by_order[order].insert(page + (1 << order));
        }
        self.freeable -= 1 << order;
        Some(page)
    }
}

impl Aged {
    /// Makes a zone as a kernel described it. Where it did not say of which types free blocks were, they are movable, and of
    /// which order they were, they are as large as can be.
    pub(crate) fn new(rules: Rules, of: &trace::Zone) -> Aged {
        let first = of.start & !((1 << rules.max_order) - 1);
        let pages = (of.start - first + of.spanned).next_multiple_of(1 << rules.max_order);
        let pages = u32::try_from(pages).unwrap_or(u32::MAX & !((1 << rules.max_order) - 1));
        let mut zone = Zone::new(rules, pages);
        zone.managed = of.managed;
        zone.marks = Marks { min: of.min, low: of.low, high: of.high };
        zone.protection.clone_from(&of.protection);
        set_types(&mut zone, &of.blocks);
        let holes = Holes::of(&rules, pages);
        let mut aged = Aged { zone, holes, unplaced_pages: 0 };
        aged.fill(&free_blocks(&rules, of));
        let kept: u64 = of.cpus.iter().map(|cpu| cpu.count).sum();
        let free = aged.zone.lists.pages() + aged.unplaced_pages + kept;
        aged.holes.freeable = of.managed.saturating_sub(free);
        aged
    }

    /// Puts the free blocks into holes, the largest first.
    fn fill(&mut self, free: &[Vec<u64>]) {
        let max_order = self.zone.rules.max_order;
        for order in (0..=max_order).rev() {
            for migrate in Migrate::ALL {
                let count = free.get(migrate as usize).and_then(|of| of.get(usize::from(order)));
                for done in 0..count.copied().unwrap_or(0) {
                    let left = count.copied().unwrap_or(0) - done;
                    if !self.put(order, migrate) {
                        self.unplaced_pages += left << order;
                        break;
                    }
                }
            }
        }
    }

    /// Puts a free block into a hole; returns whether there was one.
    fn put(&mut self, order: u8, migrate: Migrate) -> bool {
        let max_order = self.zone.rules.max_order;
        let least = (order + 1).min(max_order);
        let Some(page) =
            self.hole_of_type(order, migrate).or_else(|| self.holes.take(order, least))
        else {
            return false;
        };
        if self.zone.block_type(page) != migrate && order >= self.zone.rules.block_order {
            self.zone.set_block_types(page, order, migrate);
        }
        self.zone.lists.push(page, order, migrate, End::Last);
        true
    }

    /// Takes a hole of page blocks of a type, where there is one of the right size.
    fn hole_of_type(&mut self, order: u8, migrate: Migrate) -> Option<u32> {
        let max_order = usize::from(self.zone.rules.max_order);
        let least = (usize::from(order) + 1).min(max_order);
        for from in least..=max_order {
            let is_of_type = |page: &&u32| self.zone.block_type(**page) == migrate;
            let Some(&page) = self.holes.by_order[from].iter().find(is_of_type) else { continue };
            self.holes.by_order[from].remove(&page);
            for order in usize::from(order)..from {
                self.holes.by_order[order].insert(page + (1 << order));
            }
            return Some(page);
        }
        None
    }

    /// Takes a page that a CPU kept, as one that is in use.
    pub(crate) fn take_kept(&mut self) -> Option<u32> {
        self.holes.take(0, 0)
    }
}

/// Gives page blocks their types, as many as the kernel said.
fn set_types(zone: &mut Zone, blocks: &[u64]) {
    let types = Migrate::ALL.into_iter().filter(|migrate| *migrate != Migrate::Movable);
    let mut at = 0;
    for migrate in types {
        for _ in 0..blocks.get(migrate as usize).copied().unwrap_or(0) {
            let Some(block) = zone.blocks.get_mut(at) else { return };
            *block = migrate;
            at += 1;
        }
        if migrate == Migrate::HighAtomic {
            let reserved = blocks.get(migrate as usize).copied().unwrap_or(0);
            zone.reserved = reserved << zone.rules.block_order;
        }
    }
}

/// Returns free blocks by type and order.
fn free_blocks(rules: &Rules, of: &trace::Zone) -> Vec<Vec<u64>> {
    if !of.free_blocks.is_empty() {
        return of.free_blocks.clone();
    }
    let mut movable = vec![0; usize::from(rules.max_order) + 1];
    movable[usize::from(rules.max_order)] = of.free >> rules.max_order;
    let mut free = vec![Vec::new(); TYPES];
    for (order, count) in movable.iter_mut().enumerate().take(usize::from(rules.max_order)) {
        *count = of.free >> order & 1;
    }
    free[Migrate::Movable as usize] = movable;
    free
}

#[cfg(test)]
mod tests {
    use slablab_linux::Release;

    use super::*;

    fn rules() -> Rules {
        Rules::of(Some(Release(6, 12)), 10, 9)
    }

    fn described(free_blocks: Vec<Vec<u64>>) -> trace::Zone {
        trace::Zone {
            start: 4096,
            spanned: 16 << 10,
            managed: 15_000,
            free_blocks,
            blocks: vec![8, 22, 2, 0, 0, 0],
            ..trace::Zone::default()
        }
    }

    #[test]
    fn a_zone_has_the_free_blocks_that_the_kernel_had_and_none_could_be_merged() {
        let unmovable = vec![7, 5, 3, 2, 1, 1, 0, 0, 1, 0, 0];
        let movable = vec![40, 31, 20, 9, 5, 4, 3, 2, 1, 1, 6];
        let of = described(vec![unmovable.clone(), movable.clone()]);
        let aged = Aged::new(rules(), &of);
        let lists = &aged.zone.lists;
        for order in 0..=10 {
            let counts = |migrate| lists.count(order, migrate);
            let expected = (unmovable[usize::from(order)], movable[usize::from(order)]);
            assert_eq!((counts(Migrate::Unmovable), counts(Migrate::Movable)), expected, "{order}");
        }
        assert_eq!(aged.unplaced_pages, 0);
        assert_eq!(aged.holes.freeable, 15_000 - lists.pages());
        for page in 0..16 << 10 {
            let Some((order, _)) = lists.block_at(page) else { continue };
            let buddy = lists.block_at(page ^ 1 << order).map(|(order, _)| order);
            assert!(order == 10 || buddy != Some(order), "{page} {order}");
        }
    }

    #[test]
    fn pages_that_no_hole_can_have_are_counted() {
        let aged = Aged::new(rules(), &described(vec![vec![], vec![20_000]]));
        assert!(aged.unplaced_pages > 0);
        assert_eq!(aged.unplaced_pages + aged.zone.lists.pages(), 20_000);
    }

    #[test]
    fn pages_in_use_are_freed_as_long_as_there_are_some() {
        let mut aged = Aged::new(rules(), &described(vec![vec![], vec![0; 11]]));
        aged.holes.freeable = 5;
        assert_eq!(aged.holes.take_freeable(2), Some(0));
        assert_eq!((aged.holes.take_freeable(1), aged.holes.freeable), (None, 1));
        assert!(aged.holes.take_freeable(0).is_some());
        assert_eq!(aged.holes.take_freeable(0), None);
    }

    #[test]
    fn a_zone_whose_free_blocks_are_not_known_has_large_ones() {
        let of = trace::Zone { free: 3000, ..described(Vec::new()) };
        let aged = Aged::new(rules(), &of);
        assert_eq!(aged.zone.lists.pages(), 3000);
        assert_eq!(aged.zone.lists.of_order(10), 2);
    }
}
