//! Gives the page rows of a trace the page numbers that an import of them expects.
//!
//! # How it works
//! Rows say which pages they are of. Those of earlier versions do not: there a slot stands for a range of pages, as large as
//! the largest block. Of a block that is freed in parts each part is then taken where its size is left, by halves as in the
//! buddy system: what fits once fits in any order.

use rustc_hash::FxHashMap;

use crate::page_event::ORDER_MAX;
use crate::{NO_PAGE, NONE, PageEvent, PageKind, RawEvent};

/// A page of a block that is not in the rows: larger than those of all slots.
const UNKNOWN_PAGE: u64 = 1 << 63;

/// Set in the numbers of pages that slots stand for, which no real page has.
const MADE_UP: u64 = 1 << 60;

/// What is left of the blocks in slots: first pages, and orders.
#[derive(Debug, Default)]
pub(super) struct PageAddresses {
    left: FxHashMap<u32, Vec<(u64, u8)>>,
}

impl PageAddresses {
    /// Returns the row as a source that knows its pages by number gives it, with this stack.
    pub(super) fn raw(&mut self, row: &PageEvent, stack: u32) -> RawEvent {
        let PageEvent { time_ns, pid, gfp, cpu, page, .. } = *row;
        let ptr = match (page.kind, row.object) {
            (PageKind::Alloc, NONE) => NO_PAGE,
            (_, NONE) => row.first_page().unwrap_or(UNKNOWN_PAGE),
            (PageKind::Alloc, slot) => {
                let first = row.first_page().unwrap_or_else(|| first(slot));
                self.left.insert(slot, vec![(first, page.order)]);
                first
            }
            (_, slot) => self.part(slot, page.order, row.first_page()),
        };
        let (cpu, page) = (u32::from(cpu), Some(page));
        RawEvent { time_ns, pid, gfp, cpu, stack, ptr, page, ..RawEvent::EMPTY }
    }

    /// Takes a part out of the block in a slot: the one that begins at a page, or where the row has no page number, any.
    fn part(&mut self, slot: u32, order: u8, page: Option<u64>) -> u64 {
        let other = page.unwrap_or_else(|| first(slot));
        let Some(left) = self.left.get_mut(&slot) else { return other };
        let has_it = |first: u64, size: u8| {
            let end = first.saturating_add(1 << size);
            size >= order && page.is_none_or(|page| (first..end).contains(&page))
        };
        let fits = left.iter().enumerate().filter(|(_, (first, size))| has_it(*first, *size));
        let Some(place) = fits.min_by_key(|(_, (_, size))| *size).map(|(place, _)| place) else {
            return other;
        };
        let (mut first, size) = left.swap_remove(place);
        for order in (order..size).rev() {
            let high = first.saturating_add(1 << order);
            let (taken, rest) =
                if page.is_some_and(|page| page >= high) { (high, first) } else { (first, high) };
            left.push((rest, order));
            first = taken;
        }
        if left.is_empty() {
            self.left.remove(&slot);
        }
        first
    }
}

fn first(slot: u32) -> u64 {
    MADE_UP | (u64::from(slot) + 1) << (ORDER_MAX + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RawPage;

    #[test]
    fn parts_of_a_block_are_all_of_its_pages_once() {
        let mut addresses = PageAddresses::default();
        let mut of = |kind, order| {
            let page = RawPage { order, ..RawPage::new(kind) };
            let (time_ns, object, pid, gfp, stack, cpu, pfn) = (0, 0, 0, 0, 0, 0, NO_PAGE);
            let row = PageEvent { time_ns, object, pid, gfp, stack, cpu, pfn, page };
            addresses.raw(&row, NONE).ptr - first(0)
        };
        assert_eq!(of(PageKind::Alloc, 3), 0);
        let mut pages = Vec::new();
        for order in [0, 1, 0, 2] {
            let part = of(PageKind::Free, order);
            pages.extend(part..part + (1 << order));
        }
        pages.sort_unstable();
        assert_eq!(pages, (0..8).collect::<Vec<_>>());
    }
}
