//! The blocks of a trace that are alive, by their slots, and which parts of them are left.

use rustc_hash::FxHashMap;

use crate::buddy::machine::Given;

/// A block as it was given, whole.
#[derive(Debug, Clone, Copy)]
struct Whole {
    given: Given,
    order: u8,
    /// The number of its first page in the recorded kernel, where the trace tells
    pfn: Option<u64>,
}

/// What is left of a block that is freed in parts.
#[derive(Debug)]
struct Left {
    whole: Whole,
    /// First pages and orders
    parts: Vec<(u32, u8)>,
}

/// The live blocks.
#[derive(Debug)]
pub(super) struct Blocks {
    whole: Vec<Option<Whole>>,
    /// Those that are freed in parts
    parts: FxHashMap<u32, Left>,
}

impl Blocks {
    pub(super) fn new(slots: u32) -> Blocks {
        Blocks { whole: vec![None; slots as usize], parts: FxHashMap::default() }
    }

    /// Puts a block into a slot; returns what a damaged trace left there.
    pub(super) fn put(
        &mut self,
        slot: u32,
        given: Option<Given>,
        order: u8,
        pfn: Option<u64>,
    ) -> Vec<(Given, u8)> {
        let left = self.take_all(slot);
        if let Some(whole) = self.whole.get_mut(slot as usize) {
            *whole = given.map(|given| Whole { given, order, pfn });
        }
        left
    }

    /// Takes a part of this order out of a slot's block, the one at that page of the recorded kernel where it is told; `None`
    /// where nothing of that size is left.
    pub(super) fn take(&mut self, slot: u32, order: u8, pfn: Option<u64>) -> Option<Given> {
        let place = self.whole.get_mut(slot as usize)?;
        if let Some(whole) = place.take() {
            if whole.order == order {
                return Some(whole.given);
            }
            let parts = vec![(whole.given.page, whole.order)];
            self.parts.insert(slot, Left { whole, parts });
        }
        let left = self.parts.get_mut(&slot)?;
        let page = left.take(order, pfn)?;
        let given = Given { page, ..left.whole.given };
        if left.parts.is_empty() {
            self.parts.remove(&slot);
        }
        Some(given)
    }

    /// Returns whether a slot's block was larger than this order when it was given.
    pub(super) fn is_larger(&self, slot: u32, order: u8) -> bool {
        let whole = self.whole.get(slot as usize).copied().flatten();
        let whole = whole.or_else(|| self.parts.get(&slot).map(|left| left.whole));
        whole.is_some_and(|whole| whole.order > order)
    }

    /// Takes all that is left of a slot's block.
    fn take_all(&mut self, slot: u32) -> Vec<(Given, u8)> {
        let whole = self.whole.get_mut(slot as usize).and_then(Option::take);
        let mut left: Vec<_> = whole.map(|whole| (whole.given, whole.order)).into_iter().collect();
        if let Some(Left { whole, parts }) = self.parts.remove(&slot) {
            let part = |(page, order)| (Given { page, ..whole.given }, order);
            left.extend(parts.into_iter().map(part));
        }
        left
    }
}

impl Left {
    /// Takes a part; without its place the first one of the smallest.
    fn take(&mut self, order: u8, pfn: Option<u64>) -> Option<u32> {
        let wanted = self.whole.pfn.zip(pfn).map(|(first, pfn)| {
            u64::from(self.whole.given.page).wrapping_add(pfn.wrapping_sub(first))
        });
        let has_it = |(page, size): (u32, u8)| {
            let pages = u64::from(page)..u64::from(page) + (1 << size);
            size >= order && wanted.is_none_or(|wanted| pages.contains(&wanted))
        };
        let fits = |(at, part): (usize, &(u32, u8))| has_it(*part).then_some((part.1, at));
        let (_, at) = self.parts.iter().enumerate().filter_map(fits).min()?;
        let (mut page, size) = self.parts.remove(at);
        // They stay in the order of their pages.
        let mut behind = at;
        for order in (order..size).rev() {
            let high = page + (1 << order);
            if wanted.is_some_and(|wanted| wanted >= u64::from(high)) {
                self.parts.insert(behind, (page, order));
                behind += 1;
                page = high;
            } else {
                self.parts.insert(behind, (high, order));
            }
        }
        Some(page)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_that_is_freed_in_parts_ends_with_the_last() {
        let given = |page| Given { zone: 0, page, is_movable: false };
        let mut blocks = Blocks::new(2);
        assert!(blocks.put(1, Some(given(8)), 3, None).is_empty());
        assert_eq!(blocks.take(1, 0, None), Some(given(8)));
        assert_eq!(blocks.take(1, 1, None), Some(given(10)));
        assert_eq!(blocks.take(1, 3, None), None);
        assert_eq!(blocks.put(1, None, 0, None), [(given(9), 0), (given(12), 2)]);
        assert_eq!((blocks.take(1, 0, None), blocks.take(7, 0, None)), (None, None));
        blocks.put(0, Some(given(4)), 2, None);
        assert_eq!((blocks.take(0, 2, None), blocks.take(0, 2, None)), (Some(given(4)), None));
    }

    #[test]
    fn the_part_that_is_freed_is_the_one_at_the_recorded_page() {
        let given = |page| Given { zone: 0, page, is_movable: true };
        let mut blocks = Blocks::new(1);
        blocks.put(0, Some(given(8)), 3, Some(640));
        assert_eq!(blocks.take(0, 0, Some(645)), Some(given(13)));
        assert_eq!(blocks.take(0, 0, Some(645)), None);
        assert_eq!(blocks.take(0, 1, Some(642)), Some(given(10)));
        assert_eq!(blocks.put(0, None, 0, None), [(given(8), 1), (given(12), 0), (given(14), 1)]);
    }
}
