//! A zone that has the free blocks that a kernel said it had.
//!
//! # How it works
//! Where the recording has read which pages are free, they lie where they did ([`mapped`]). Otherwise it says how many blocks
//! of each order and type are free, and not where they are, and they are put into holes: a block takes the lower half of the
//! smallest hole of twice its size or more, so that its buddy is in use. Page blocks get their types from the zone's beginning
//! on, the movable ones last. What is left in holes was in use when the recording began; when pages of unknown place are
//! freed, they are taken of the largest hole, from its beginning on.
//!
//! # Invariants
//! Two free blocks of the same order that could be one are never made where the places are not known.

use slablab_trace as trace;

use super::holes::Holes;
use super::lists::End;
use super::mapped::{self, Hints};
use super::migrate::{Migrate, TYPES};
use super::rules::Rules;
use super::zone::{Marks, Zone};

/// A zone, what is in use of it, and how many of its free pages found no place.
#[derive(Debug)]
pub(crate) struct Aged {
    pub(crate) zone: Zone,
    pub(crate) holes: Holes,
    pub(crate) unplaced_pages: u64,
}

impl Aged {
    /// Makes a zone as a kernel described it. Where it did not tell the types of free blocks, they are movable, and where it
    /// did not tell their orders, they are as large as can be.
    pub(crate) fn new(rules: Rules, of: &trace::Zone, hints: &Hints) -> Aged {
        let first = first_page(of, rules.max_order);
        let pages = (of.start - first + of.spanned).next_multiple_of(1 << rules.max_order);
        let pages = u32::try_from(pages).unwrap_or(!((1 << rules.max_order) - 1));
        let mut zone = Zone::new(rules, pages);
        zone.managed = of.managed;
        zone.marks = Marks { min: of.min, low: of.low, high: of.high };
        zone.protection.clone_from(&of.protection);
        let mut aged = if of.free_runs.is_empty() {
            set_types(&mut zone, &of.blocks);
            let holes = Holes::of(&rules, pages);
            let mut aged = Aged { zone, holes, unplaced_pages: 0 };
            aged.fill(&free_blocks(&rules, of));
            aged
        } else {
            let mut holes = Holes::empty();
            mapped::place(&mut zone, &mut holes, of, (of.start - first) as u32, hints);
            Aged { zone, holes, unplaced_pages: 0 }
        };
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
        let least = (order + 1).min(self.zone.rules.max_order);
        let is_of_type = |page: u32| self.zone.block_type(page) == migrate;
        self.holes.take_where(order, least..=self.zone.rules.max_order, is_of_type)
    }

    /// Takes a page that a CPU kept, as one that is in use.
    pub(crate) fn take_kept(&mut self) -> Option<u32> {
        self.holes.take(0, 0)
    }
}

/// Returns the number of the page that the model counts from.
pub(crate) fn first_page(of: &trace::Zone, max_order: u8) -> u64 {
    of.start & !((1 << max_order) - 1)
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
        let aged = Aged::new(rules(), &of, &Hints::default());
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
        let aged = Aged::new(rules(), &described(vec![vec![], vec![20_000]]), &Hints::default());
        assert!(aged.unplaced_pages > 0);
        assert_eq!(aged.unplaced_pages + aged.zone.lists.pages(), 20_000);
    }

    #[test]
    fn pages_in_use_are_freed_as_long_as_there_are_some() {
        let mut aged = Aged::new(rules(), &described(vec![vec![], vec![0; 11]]), &Hints::default());
        aged.holes.freeable = 5;
        assert_eq!(aged.holes.take_freeable(2), Some(0));
        assert_eq!((aged.holes.take_freeable(1), aged.holes.freeable), (None, 1));
        assert!(aged.holes.take_freeable(0).is_some());
        assert_eq!(aged.holes.take_freeable(0), None);
    }

    #[test]
    fn a_zone_whose_free_blocks_are_not_known_has_large_ones() {
        let of = trace::Zone { free: 3000, ..described(Vec::new()) };
        let aged = Aged::new(rules(), &of, &Hints::default());
        assert_eq!(aged.zone.lists.pages(), 3000);
        assert_eq!(aged.zone.lists.of_order(10), 2);
    }

    fn mapped() -> trace::Zone {
        trace::Zone {
            start: 4096 + 8,
            spanned: 4088,
            managed: 4000,
            free: 8 + 4 + 1024 + 512,
            blocks: vec![2, 6, 0, 0, 0, 0],
            // In use 8 to 15, free to 23; in use to 27, free to 31; in use to 1023, free to 2559.
            free_runs: vec![8, 8, 4, 4, 1024 - 32, 1024 + 512],
            movable: vec![0, 40, 0, 0, 0, 7],
            ..trace::Zone::default()
        }
    }

    #[test]
    fn free_pages_lie_where_the_kernel_had_them_and_the_others_can_be_freed() {
        let rules = rules();
        let hints = Hints {
            types: [(3, Migrate::Reclaimable)].into_iter().collect(),
            taken: vec![1600, 20],
            early: [(8, true), (29, false)].into_iter().collect(),
            ..Hints::default()
        };
        let mut aged = Aged::new(rules, &mapped(), &hints);
        let lists = &aged.zone.lists;
        assert_eq!(lists.block_at(16).map(|(order, _)| order), Some(3));
        assert_eq!(lists.block_at(28).map(|(order, _)| order), Some(0));
        assert_eq!(lists.block_at(8).map(|(order, _)| order), Some(0));
        assert_eq!(lists.block_at(2048).map(|(order, _)| order), Some(9));
        assert_eq!((lists.of_order(10), lists.pages()), (1, 8 + 4 + 1536 + 1 - 1));
        let types: Vec<Migrate> = aged.zone.blocks.clone();
        assert_eq!(types[3], Migrate::Reclaimable);
        assert_eq!((types[0], types[1]), (Migrate::Unmovable, Migrate::Movable));
        assert_eq!(aged.zone.movable_pages(600), 40);
        assert!(!aged.holes.take_at(16, 0));
        assert_eq!((aged.holes.take_at(12, 1), aged.holes.take_at(12, 0)), (true, false));
        assert!(aged.holes.take_at(15, 0) && aged.holes.take_at(14, 0));
    }
}
