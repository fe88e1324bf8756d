//! Doubly linked lists of pages, linked through the page records.
//!
//! # Invariants
//! A page is on one list at most; 0 ends a list, since page 0 is never free.

use super::meta::PageTable;
use crate::ids::Pfn;
use crate::raw::zeroed::zeroed_struct;

zeroed_struct! {
    /// A list of pages. The owner of it (a lock, a CPU) owns the links of its pages.
    #[derive(Debug, Clone, Copy, Default)]
    pub(crate) struct PageList {
        head: u32,
        tail: u32,
        len: u32,
    }
}

impl PageList {
    /// Returns the number of pages on the list.
    #[inline(always)]
    pub(crate) fn len(&self) -> u32 {
        self.len
    }

    /// Returns the first page.
    #[inline(always)]
    pub(crate) fn first(&self) -> Option<Pfn> {
        (self.head != 0).then_some(Pfn(self.head))
    }

    /// Returns the last page.
    #[inline(always)]
    pub(crate) fn last(&self) -> Option<Pfn> {
        (self.tail != 0).then_some(Pfn(self.tail))
    }

    /// Puts a page in front.
    #[inline]
    pub(crate) fn push_front(&mut self, pages: &PageTable, pfn: Pfn) {
        let page = pages.get(pfn);
        page.prev.set(0);
        page.next.set(self.head);
        if self.head == 0 {
            self.tail = pfn.0;
        } else {
            pages.get(Pfn(self.head)).prev.set(pfn.0);
        }
        self.head = pfn.0;
        self.len += 1;
    }

    /// Puts a page at the end.
    #[inline]
    pub(crate) fn push_back(&mut self, pages: &PageTable, pfn: Pfn) {
        let page = pages.get(pfn);
        page.next.set(0);
        page.prev.set(self.tail);
        if self.tail == 0 {
            self.head = pfn.0;
        } else {
            pages.get(Pfn(self.tail)).next.set(pfn.0);
        }
        self.tail = pfn.0;
        self.len += 1;
    }

    /// Takes a page off the list.
    #[inline]
    pub(crate) fn remove(&mut self, pages: &PageTable, pfn: Pfn) {
        debug_assert!(self.len > 0);
        let page = pages.get(pfn);
        let (prev, next) = (page.prev.get(), page.next.get());
        if prev == 0 {
            self.head = next;
        } else {
            pages.get(Pfn(prev)).next.set(next);
        }
        if next == 0 {
            self.tail = prev;
        } else {
            pages.get(Pfn(next)).prev.set(prev);
        }
        self.len -= 1;
    }

    /// Takes the first page off the list.
    #[inline]
    pub(crate) fn pop_front(&mut self, pages: &PageTable) -> Option<Pfn> {
        let first = self.first()?;
        self.remove(pages, first);
        Some(first)
    }

    /// Visits the pages from first to last.
    pub(crate) fn iter<'a>(&self, pages: &'a PageTable) -> impl Iterator<Item = Pfn> + use<'a> {
        let mut at = self.head;
        core::iter::from_fn(move || {
            (at != 0).then(|| {
                let pfn = Pfn(at);
                at = pages.get(pfn).next.get();
                pfn
            })
        })
    }
}
