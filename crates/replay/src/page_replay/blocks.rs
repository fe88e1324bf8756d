//! The blocks of a trace that are alive, by their slots, and which parts of them are left.

use rustc_hash::FxHashMap;

use crate::buddy::machine::Given;

/// A block as it was given, whole.
#[derive(Debug, Clone, Copy)]
struct Whole {
    given: Given,
    order: u8,
}

/// The live blocks.
#[derive(Debug)]
pub(super) struct Blocks {
    whole: Vec<Option<Whole>>,
    /// What is left of those that are freed in parts: first pages and orders
    parts: FxHashMap<u32, (Given, Vec<(u32, u8)>)>,
}

impl Blocks {
    pub(super) fn new(slots: u32) -> Blocks {
        Blocks { whole: vec![None; slots as usize], parts: FxHashMap::default() }
    }

    /// Puts a block into a slot; returns what a damaged trace left there.
    pub(super) fn put(&mut self, slot: u32, given: Option<Given>, order: u8) -> Vec<(Given, u8)> {
        let left = self.take_all(slot);
        if let Some(whole) = self.whole.get_mut(slot as usize) {
            *whole = given.map(|given| Whole { given, order });
        }
        left
    }

    /// Takes a part of this order out of a slot's block; `None` where nothing of that size is left.
    pub(super) fn take(&mut self, slot: u32, order: u8) -> Option<Given> {
        let place = self.whole.get_mut(slot as usize)?;
        if let Some(whole) = *place {
            if whole.order == order {
                *place = None;
                return Some(whole.given);
            }
            *place = None;
            self.parts.insert(slot, (whole.given, vec![(whole.given.page, whole.order)]));
        }
        let (given, parts) = self.parts.get_mut(&slot)?;
        let fits = |(at, (_, of)): (usize, &(u32, u8))| (*of >= order).then_some((*of, at));
        let (_, at) = parts.iter().enumerate().filter_map(fits).min()?;
        let (page, of_part) = parts.remove(at);
        // They stay in the order of their pages.
        let rest = (order..of_part).map(|order| (page + (1 << order), order));
        parts.splice(at..at, rest);
        let given = Given { page, ..*given };
        if parts.is_empty() {
            self.parts.remove(&slot);
        }
        Some(given)
    }

    /// Takes all that is left of a slot's block.
    fn take_all(&mut self, slot: u32) -> Vec<(Given, u8)> {
        let whole = self.whole.get_mut(slot as usize).and_then(Option::take);
        let mut left: Vec<_> = whole.map(|whole| (whole.given, whole.order)).into_iter().collect();
        if let Some((given, parts)) = self.parts.remove(&slot) {
            left.extend(parts.into_iter().map(|(page, order)| (Given { page, ..given }, order)));
        }
        left
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_that_is_freed_in_parts_ends_with_the_last() {
        let given = |page| Given { zone: 0, page, is_movable: false };
        let mut blocks = Blocks::new(2);
        assert!(blocks.put(1, Some(given(8)), 3).is_empty());
        assert_eq!(blocks.take(1, 0), Some(given(8)));
        assert_eq!(blocks.take(1, 1), Some(given(10)));
        assert_eq!(blocks.take(1, 3), None);
        assert_eq!(blocks.put(1, None, 0), [(given(9), 0), (given(12), 2)]);
        assert_eq!((blocks.take(1, 0), blocks.take(7, 0)), (None, None));
        blocks.put(0, Some(given(4)), 2);
        assert_eq!((blocks.take(0, 2), blocks.take(0, 2)), (Some(given(4)), None));
    }
}
