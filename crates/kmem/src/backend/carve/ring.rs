//! Pages with free space, in a circle: order is Linux's list order, the head where the next search
//! starts.
//!
//! An array of page numbers instead of links from record to record: a search then waits for no record
//! to know the next, which makes it three times as fast where thousands of pages have room.
//!
//! # Invariants
//! `most` is at least what each page's hint says, so a search that could find nothing is none.

use alloc::vec::Vec;

use super::layout::Shape;
use super::pages::{Carved, Hint};
use crate::ids::{ObjPtr, Pfn};

/// A circle of pages.
#[derive(Debug)]
pub(super) struct Ring {
    pages: Vec<Pfn>,
    /// Where the next search starts; 0 of an empty ring.
    head: usize,
    /// Granules of the longest run of any page, at most.
    most: u32,
}

impl Ring {
    pub(super) const EMPTY: Self = Self { pages: Vec::new(), head: 0, most: 0 };

    /// Visits the places in the array, from the head on.
    fn places(&self) -> impl Iterator<Item = usize> + use<> {
        (self.head..self.pages.len()).chain(0..self.head)
    }

    /// Visits the pages, from the head on.
    pub(super) fn iter(&self) -> impl Iterator<Item = Pfn> {
        self.places().map(|place| self.pages[place])
    }

    /// Takes a block from the first page, from the head on, in which it fits; the head moves there
    /// unless the page is now full and leaves the ring. Also returns how many pages Linux would have
    /// walked, the one that fitted included.
    pub(super) fn take(&mut self, carved: Carved<'_>, shape: Shape) -> (Option<ObjPtr>, u32) {
        let len = self.pages.len() as u32;
        if self.most < shape.granules {
            return (None, len);
        }
        let mut most = 0;
        for (place, walked) in self.places().zip(1..) {
            let pfn = self.pages[place];
            let page = carved.page(pfn);
            if Hint::of(page).allows(shape)
                && let Some(obj) = carved.take(pfn, shape)
            {
                if carved.is_full(pfn) {
                    self.remove_at(place);
                } else {
                    self.head = place;
                }
                return (Some(obj), walked);
            }
            most = most.max(Hint::of(page).longest());
        }
        self.most = most;
        (None, len)
    }

    /// Puts a page at the head.
    pub(super) fn push(&mut self, carved: Carved<'_>, pfn: Pfn) {
        self.pages.insert(self.head, pfn);
        self.grown(carved, pfn);
    }

    /// Takes a page off the ring.
    pub(super) fn remove(&mut self, pfn: Pfn) {
        let place = self.pages.iter().position(|&page| page == pfn);
        self.remove_at(place.expect("a page of this ring"));
    }

    fn remove_at(&mut self, place: usize) {
        self.pages.remove(place);
        self.head -= usize::from(place < self.head);
        if self.head == self.pages.len() {
            self.head = 0;
        }
    }

    /// Enters that a block was given back to a page of the ring.
    pub(super) fn grown(&mut self, carved: Carved<'_>, pfn: Pfn) {
        self.most = self.most.max(Hint::of(carved.page(pfn)).longest());
    }

    /// Returns a page whose hint is wrong, or more than the ring's; `None` if all is well.
    pub(super) fn check(&self, carved: Carved<'_>) -> Option<Pfn> {
        self.pages.iter().copied().find(|&pfn| {
            let hint = Hint::of(carved.page(pfn)).longest();
            hint < carved.map(pfn).longest() || hint > self.most
        })
    }
}
