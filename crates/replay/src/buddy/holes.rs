//! Pages of a zone that are in use and older than the replay.
//!
//! # How it works
//! They are kept as blocks, the largest that begin where their order lets them begin; a part that is taken leaves halves.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use super::lists::ORDERS;
use super::rules::Rules;

/// Pages in use, as blocks: their first pages, by order.
#[derive(Debug)]
pub(crate) struct Holes {
    by_order: [BTreeSet<u32>; ORDERS],
    /// Pages of these that the page allocator has given, and that may be freed
    pub(crate) freeable: u64,
    /// Whether they lie where the recorded kernel had them
    pub(crate) is_mapped: bool,
}

impl Holes {
    pub(super) fn of(rules: &Rules, pages: u32) -> Holes {
        let mut by_order: [BTreeSet<u32>; ORDERS] = Default::default();
        let step = 1usize << rules.max_order;
        by_order[usize::from(rules.max_order)].extend((0..pages).step_by(step));
        Holes { by_order, freeable: 0, is_mapped: false }
    }

    /// Has no holes yet.
    pub(super) fn empty() -> Holes {
        Holes { by_order: Default::default(), freeable: 0, is_mapped: true }
    }

    /// Adds pages in use.
    pub(super) fn put(&mut self, page: u32, order: u8) {
        self.by_order[usize::from(order)].insert(page);
    }

    /// Takes this block; returns whether all of it was in use.
    pub(crate) fn take_at(&mut self, page: u32, order: u8) -> bool {
        let first = |from: usize| page & (u32::MAX << from);
        let mut orders = usize::from(order)..ORDERS;
        let Some(found) = orders.find(|from| self.by_order[*from].remove(&first(*from))) else {
            return false;
        };
        for half in usize::from(order)..found {
            self.by_order[half].insert(first(half) ^ (1 << half));
        }
        self.freeable = self.freeable.saturating_sub(1 << order);
        true
    }

    /// Takes the lower part of a hole, of those of this order and higher the first of the smallest.
    pub(super) fn take(&mut self, order: u8, least: u8) -> Option<u32> {
        let found = (usize::from(least)..ORDERS).find(|from| !self.by_order[*from].is_empty())?;
        let page = self.by_order[found].pop_first()?;
        for order in usize::from(order)..found {
            self.by_order[order].insert(page + (1 << order));
        }
        Some(page)
    }

    /// Takes the lower part of the first hole of these orders whose first page passes a test.
    pub(super) fn take_where(
        &mut self,
        order: u8,
        orders: RangeInclusive<u8>,
        test: impl Fn(u32) -> bool,
    ) -> Option<u32> {
        for from in orders {
            let holes = &mut self.by_order[usize::from(from)];
            let Some(page) = holes.iter().copied().find(|page| test(*page)) else { continue };
            holes.remove(&page);
            for order in order..from {
                self.by_order[usize::from(order)].insert(page + (1 << order));
            }
            return Some(page);
        }
        None
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
