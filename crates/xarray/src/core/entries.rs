//! The iterator over an array's entries.
//!
//! # How it works
//! Each step goes down from the head, as a search does. But where two entries are neighbours a leaf is likely, and
//! the rest of that leaf is visited without going down again: three times as fast in dense arrays. A leaf that a
//! writer replaces meanwhile lives as long as the section, and its entries count as those of before.

use super::find::{Found, Search, found_in, next};
use super::walk::{End, walk};
use crate::raw::dense::SLOTS;
use crate::raw::{Dense, Pin};
use crate::{Entry, RawXArray};

/// An iterator over entries with their first indices.
#[derive(Debug)]
pub struct Entries<'g> {
    array: &'g RawXArray,
    next: Option<u64>,
    max: u64,
    search: Search,
    pin: Pin<'g>,
    leaf: Option<Leaf<'g>>,
}

/// What is left of a leaf.
#[derive(Debug)]
struct Leaf<'g> {
    node: &'g Dense,
    slots: u64,
}

impl<'g> Entries<'g> {
    pub(super) fn new(
        array: &'g RawXArray,
        from: u64,
        max: u64,
        search: Search,
        pin: Pin<'g>,
    ) -> Self {
        Self { array, next: Some(from), max, search, pin, leaf: None }
    }

    /// Remembers the leaf behind this entry, if it is in one.
    fn enter_leaf(&mut self, found: Found) {
        let walk = walk(&self.array.head, found.first, self.pin);
        if let (End::Entry(_), Some((node, _))) = (walk.end, walk.path.place())
            && node.shift() == 0
            && node.last() != found.last
        {
            let visited = u64::MAX >> (SLOTS - 1 - node.digit(found.last));
            self.leaf = Some(Leaf { node, slots: self.search.candidates(node) & !visited });
        }
    }
}

impl Leaf<'_> {
    fn next(&mut self, search: Search) -> Option<Found> {
        while self.slots != 0 {
            let offset = self.slots.trailing_zeros() as usize;
            self.slots &= self.slots - 1;
            let entry = self.node.slot(offset).entry();
            if entry.sibling_of().is_none() && search.accepts(entry) {
                return Some(found_in(self.node, offset, entry));
            }
        }
        None
    }
}

impl Iterator for Entries<'_> {
    type Item = (u64, Entry);

    fn next(&mut self) -> Option<(u64, Entry)> {
        let from = self.next?;
        let found = match self.leaf.as_mut().and_then(|leaf| leaf.next(self.search)) {
            Some(found) => Some(found).filter(|found| found.first <= self.max),
            None => {
                self.leaf = None;
                let found = next(self.array, from, self.max, self.search, self.pin);
                if let Some(found) = found
                    && found.first == from
                    && from != 0
                {
                    self.enter_leaf(found);
                }
                found
            }
        };
        self.next = found.and_then(|found| found.last.checked_add(1));
        found.map(|found| (found.first.max(from), found.entry))
    }
}
