//! Which block of pages is where, and the slots that stand for blocks.
//!
//! # How it works
//! A block is known by its first page. When a part of it is freed (a huge page that was split, a block of
//! `alloc_pages_exact`), it falls into halves until the part stands alone, as in the buddy system; all parts keep the slot,
//! which goes back when the last of them is free. What an allocation overlaps was freed unseen.
//!
//! # Invariants
//! No two parts overlap, as long as blocks begin where their order lets them begin, which a kernel's do.

use rustc_hash::FxHashMap;

use crate::page_event::{ORDER_MAX, PFN_END, PageKind, RawPage};
use crate::page_meta::PageMeta;
use crate::{Error, NO_PAGE, NONE, PageEvent, RawEvent, TraceWriter};

/// A block, or a part of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Part {
    slot: u32,
    order: u8,
}

/// The live blocks by their pages, and what was counted of them.
#[derive(Debug, Default)]
pub(super) struct Pages {
    parts: FxHashMap<u64, Part>,
    /// How many parts there are of each order
    by_order: [u64; ORDER_MAX as usize + 1],
    /// Pages that are left of each slot's block
    left: Vec<u64>,
    free_slots: Vec<u32>,
    time_ns: u64,
    /// Whether `mm_page_free` was recorded, beside which a batched free says nothing new
    has_frees: bool,
    pub(super) meta: PageMeta,
}

impl Pages {
    /// Writes the rows of an event; `stack` is its stack in the trace.
    pub(super) fn event(
        &mut self,
        raw: &RawEvent,
        page: RawPage,
        stack: u32,
        writer: &mut TraceWriter,
    ) -> Result<(), Error> {
        self.time_ns = self.time_ns.max(raw.time_ns);
        let RawEvent { pid, cpu, .. } = *raw;
        let (time_ns, cpu) = (self.time_ns, cpu as u16);
        let has_number = page.kind.is_of_block() && raw.ptr < PFN_END;
        let pfn = if has_number { raw.ptr } else { NO_PAGE };
        let mut row = PageEvent { time_ns, object: NONE, pid, gfp: 0, stack, cpu, pfn, page };
        match page.kind {
            PageKind::Alloc => {
                row.gfp = raw.gfp;
                if raw.ptr == NO_PAGE {
                    self.meta.failed_allocs += 1;
                } else {
                    for part in self.overlapped(raw.ptr, page.order) {
                        self.implicit_free(part, &row, writer)?;
                    }
                    row.object = self.insert(raw.ptr, page.order);
                }
            }
            PageKind::Free => {
                self.has_frees = true;
                row.object = self.free(raw.ptr, &row, writer)?;
            }
            PageKind::FreeBatched => {
                if !self.has_frees || self.part_at(raw.ptr, page.order).is_some() {
                    row.object = self.free(raw.ptr, &row, writer)?;
                }
            }
            // Only a trace that is imported again has them. Without its block it would say nothing.
            PageKind::ImplicitFree => match self.part_at(raw.ptr, page.order) {
                Some(at) => {
                    let part = self.take(at, raw.ptr, page.order);
                    return self.implicit_free(part, &row, writer);
                }
                None => return Ok(()),
            },
            PageKind::AllocZoneLocked | PageKind::PcpuDrain | PageKind::AllocExtfrag => {}
            PageKind::ReclaimBegin | PageKind::CgroupReclaimBegin => row.gfp = raw.gfp,
            PageKind::ReclaimEnd
            | PageKind::CgroupReclaimEnd
            | PageKind::CompactionBegin
            | PageKind::CompactionEnd => {}
        }
        writer.push_page(&row)
    }

    /// Ends a block, or a part of one, at an event of its free; returns its slot.
    fn free(&mut self, page: u64, row: &PageEvent, writer: &mut TraceWriter) -> Result<u32, Error> {
        let order = row.page.order;
        if let Some(at) = self.part_at(page, order) {
            let part = self.take(at, page, order);
            return Ok(self.end(part));
        }
        // What of it was seen allocated in smaller blocks ends unseen.
        for part in self.overlapped(page, order) {
            self.implicit_free(part, row, writer)?;
        }
        self.meta.older_frees += 1;
        self.meta.older_pages += row.pages();
        Ok(NONE)
    }

    /// Writes the row of a part that ends before `next`, which it no longer belongs to.
    fn implicit_free(
        &mut self,
        part: Part,
        next: &PageEvent,
        writer: &mut TraceWriter,
    ) -> Result<(), Error> {
        self.meta.implicit_frees += 1;
        let page = RawPage { order: part.order, ..RawPage::new(PageKind::ImplicitFree) };
        let object = self.end(part);
        writer.push_page(&PageEvent { object, gfp: 0, stack: NONE, pfn: NO_PAGE, page, ..*next })
    }

    fn insert(&mut self, page: u64, order: u8) -> u32 {
        let slot = self.free_slots.pop().unwrap_or(self.left.len() as u32);
        if slot as usize == self.left.len() {
            self.left.push(0);
        }
        self.left[slot as usize] = 1 << order;
        self.add(page, Part { slot, order });
        slot
    }

    fn add(&mut self, page: u64, part: Part) {
        self.by_order[usize::from(part.order)] += 1;
        self.parts.insert(page, part);
    }

    fn remove(&mut self, page: u64) -> Option<Part> {
        let part = self.parts.remove(&page)?;
        self.by_order[usize::from(part.order)] -= 1;
        Some(part)
    }

    /// Takes pages off a part's block; the slot goes back with the last of them.
    fn end(&mut self, part: Part) -> u32 {
        let left = &mut self.left[part.slot as usize];
        *left = left.saturating_sub(1 << part.order);
        if *left == 0 {
            self.free_slots.push(part.slot);
        } else {
            self.meta.part_frees += 1;
        }
        part.slot
    }

    /// Returns the first page of the part that has all of these pages.
    fn part_at(&self, page: u64, order: u8) -> Option<u64> {
        if self.parts.get(&page).is_some_and(|part| part.order >= order) {
            return Some(page);
        }
        let larger = (order..=ORDER_MAX).filter(|order| self.by_order[usize::from(*order)] > 0);
        larger.map(|order| (order, page & !((1 << order) - 1))).find_map(|(order, first)| {
            self.parts.get(&first).is_some_and(|part| part.order == order).then_some(first)
        })
    }

    /// Takes these pages out of the part at `first`, whose rest stays in halves.
    fn take(&mut self, first: u64, page: u64, order: u8) -> Part {
        let Some(Part { slot, order: whole }) = self.remove(first) else {
            return Part { slot: 0, order };
        };
        let mut first = first;
        for order in (order..whole).rev() {
            let (low, high) = (first, first.saturating_add(1 << order));
            let rest;
            (first, rest) = if page < high { (low, high) } else { (high, low) };
            self.add(rest, Part { slot, order });
        }
        Part { slot, order: order.min(whole) }
    }

    /// Takes out all parts that these pages overlap: a part that has them all, or the smaller ones among them.
    fn overlapped(&mut self, page: u64, order: u8) -> Vec<Part> {
        if self.parts.is_empty() {
            return Vec::new();
        }
        if let Some(first) = self.part_at(page, order) {
            return vec![self.take(first, page, order)];
        }
        let pages = 1 << order;
        if pages > self.parts.len() as u64 {
            let inside = |first: &&u64| (page..page.saturating_add(pages)).contains(*first);
            let mut firsts: Vec<u64> = self.parts.keys().filter(inside).copied().collect();
            firsts.sort_unstable();
            return firsts.into_iter().filter_map(|first| self.remove(first)).collect();
        }
        (page..page.saturating_add(pages)).filter_map(|first| self.remove(first)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds events (kind, page, order); returns the rows (kind, object, order) and what was counted.
    fn rows(events: &[(PageKind, u64, u8)]) -> (Vec<(PageKind, u32, u8)>, PageMeta) {
        let mut writer = TraceWriter::in_memory("made up".as_ref());
        let mut pages = Pages::default();
        for &(kind, ptr, order) in events {
            let page = RawPage { order, ..RawPage::new(kind) };
            let raw = RawEvent { ptr, page: Some(page), ..RawEvent::EMPTY };
            pages.event(&raw, page, NONE, &mut writer).unwrap();
        }
        let trace = writer.into_reader(crate::Meta::default()).unwrap();
        let all = trace.page_batches().flat_map(|batch| batch.unwrap().to_vec());
        (all.map(|row| (row.page.kind, row.object, row.page.order)).collect(), pages.meta)
    }

    use PageKind::{Alloc, Free, FreeBatched, ImplicitFree};

    #[test]
    fn a_block_has_a_slot_until_all_of_its_pages_are_free() {
        let (rows, meta) = rows(&[
            (Alloc, 8, 2),
            (Free, 9, 0),
            (Alloc, 9, 0),
            (Free, 10, 1),
            (Free, 8, 0),
            (Alloc, 16, 0),
            (Free, 9, 0),
        ]);
        let expected = [
            (Alloc, 0, 2),
            (Free, 0, 0),
            (Alloc, 1, 0),
            (Free, 0, 1),
            (Free, 0, 0),
            (Alloc, 0, 0),
            (Free, 1, 0),
        ];
        assert_eq!(rows, expected);
        assert_eq!((meta.older_frees, meta.implicit_frees, meta.part_frees), (0, 0, 2));
    }

    #[test]
    fn pages_that_are_given_again_were_freed_unseen() {
        let (rows, meta) = rows(&[(Alloc, 8, 2), (Alloc, 10, 0), (Alloc, 8, 3), (Free, 8, 3)]);
        let expected = [
            (Alloc, 0, 2),
            (ImplicitFree, 0, 0),
            (Alloc, 1, 0),
            // Of the first block two parts are left: pages 8 and 9, and page 11.
            (ImplicitFree, 0, 1),
            (ImplicitFree, 1, 0),
            (ImplicitFree, 0, 0),
            (Alloc, 0, 3),
            (Free, 0, 3),
        ];
        assert_eq!(rows, expected);
        assert_eq!((meta.implicit_frees, meta.older_frees), (4, 0));
    }

    #[test]
    fn a_batched_free_is_one_only_where_the_kernels_other_event_is_not_there() {
        let (batched, meta) = rows(&[(Alloc, 8, 0), (FreeBatched, 8, 0), (FreeBatched, 9, 0)]);
        assert_eq!(batched[1..], [(FreeBatched, 0, 0), (FreeBatched, NONE, 0)]);
        assert_eq!((meta.older_frees, meta.older_pages), (1, 1));
        let (both, meta) = rows(&[(Alloc, 8, 0), (Free, 8, 0), (FreeBatched, 8, 0)]);
        assert_eq!(both[1..], [(Free, 0, 0), (FreeBatched, NONE, 0)]);
        assert_eq!(meta.older_frees, 0);
    }

    #[test]
    fn an_allocation_that_failed_has_no_block_and_a_free_of_older_pages_neither() {
        let (rows, meta) = rows(&[(Alloc, NO_PAGE, 4), (Free, 64, 3)]);
        assert_eq!(rows, [(Alloc, NONE, 4), (Free, NONE, 3)]);
        assert_eq!((meta.failed_allocs, meta.older_frees, meta.older_pages), (1, 1, 8));
    }

    #[test]
    fn pages_at_the_end_of_all_numbers_are_no_damage() {
        let last = NO_PAGE - 1;
        let events = [(Alloc, last, 20), (Free, last, 0), (Alloc, last - 5, 20), (Free, last, 20)];
        let (rows, _) = rows(&events);
        assert_eq!(rows.iter().filter(|row| row.0 == Alloc).count(), 2);
    }
}
