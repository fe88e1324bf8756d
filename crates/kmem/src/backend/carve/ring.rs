//! Pages with free space, in a circle: order is Linux's list order, the head where the next search
//! starts.
//!
//! # Invariants
//! `most` is at least what each page's hint says, so a search that could find nothing is none.

use super::layout::Shape;
use super::pages::{Carved, Hint};
use crate::ids::{ObjPtr, Pfn};

/// A circle of pages, linked through their records.
#[derive(Debug)]
pub(super) struct Ring {
    /// Where the next search starts; 0 of an empty ring.
    head: Pfn,
    len: u32,
    /// Granules of the longest run of any page, at most.
    most: u32,
}

impl Ring {
    pub(super) const EMPTY: Self = Self { head: Pfn(0), len: 0, most: 0 };

    /// Visits the pages, from the head on.
    pub(super) fn iter<'a>(&self, carved: Carved<'a>) -> impl Iterator<Item = Pfn> + use<'a> {
        let next = move |&pfn: &Pfn| Some(Pfn(carved.page(pfn).next.get()));
        core::iter::successors(Some(self.head), next).take(self.len as usize)
    }

    /// Takes a block from the first page, from the head on, in which it fits; the head moves there
    /// unless the page is now full and leaves the ring. Also returns how many pages Linux would have
    /// walked, the one that fitted included.
    pub(super) fn take(&mut self, carved: Carved<'_>, shape: Shape) -> (Option<ObjPtr>, u32) {
        if self.most < shape.granules {
            return (None, self.len);
        }
        let mut most = 0;
        for (pfn, walked) in self.iter(carved).zip(1..) {
            let page = carved.page(pfn);
            if Hint::of(page).allows(shape)
                && let Some(obj) = carved.take(pfn, shape)
            {
                if carved.is_full(pfn) {
                    self.remove(carved, pfn);
                } else {
                    self.head = pfn;
                }
                return (Some(obj), walked);
            }
            most = most.max(Hint::of(page).longest());
        }
        self.most = most;
        (None, self.len)
    }

    /// Puts a page at the head.
    pub(super) fn push(&mut self, carved: Carved<'_>, pfn: Pfn) {
        let next = if self.len == 0 { pfn } else { self.head };
        let page = carved.page(pfn);
        let last = if self.len == 0 { pfn.0 } else { carved.page(next).prev.get() };
        page.next.set(next.0);
        page.prev.set(last);
        carved.page(Pfn(last)).next.set(pfn.0);
        carved.page(next).prev.set(pfn.0);
        self.head = pfn;
        self.len += 1;
        self.grown(carved, pfn);
    }

    /// Takes a page off the ring.
    pub(super) fn remove(&mut self, carved: Carved<'_>, pfn: Pfn) {
        let (next, prev) = (carved.page(pfn).next.get(), carved.page(pfn).prev.get());
        carved.page(Pfn(prev)).next.set(next);
        carved.page(Pfn(next)).prev.set(prev);
        self.len -= 1;
        if self.head == pfn {
            self.head = Pfn(next);
        }
    }

    /// Enters that a block was given back to a page of the ring.
    pub(super) fn grown(&mut self, carved: Carved<'_>, pfn: Pfn) {
        self.most = self.most.max(Hint::of(carved.page(pfn)).longest());
    }

    /// Returns a page whose hint is wrong, or more than the ring's; `None` if all is well.
    pub(super) fn check(&self, carved: Carved<'_>) -> Option<Pfn> {
        self.iter(carved).find(|&pfn| {
            let hint = Hint::of(carved.page(pfn)).longest();
            hint < carved.map(pfn).longest() || hint > self.most
        })
    }
}
