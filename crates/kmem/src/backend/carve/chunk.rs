//! A stretch of a ring: up to 32 pages in their order, with what is known of each.
//!
//! # Invariants
//! `most` bounds the facts of all entries; beyond `count` there are none.

use super::facts::{CHUNK, Facts, FactsTable};

/// Consecutive pages of a ring.
#[derive(Debug, Clone)]
pub(crate) struct Chunk {
    pub(crate) next: u32,
    pub(crate) prev: u32,
    pub(crate) count: usize,
    pub(crate) most: Facts,
    pub(crate) pages: [u32; CHUNK],
    pub(crate) facts: FactsTable,
}

impl Chunk {
    pub(crate) const EMPTY: Self = Self {
        next: 0,
        prev: 0,
        count: 0,
        most: Facts::NONE,
        pages: [0; CHUNK],
        facts: FactsTable::NONE,
    };

    /// Puts a page at `slot`, those from there on one further.
    pub(crate) fn insert(&mut self, slot: usize, page: u32, facts: Facts) {
        self.pages.copy_within(slot..self.count, slot + 1);
        self.facts.shift(slot..self.count, slot + 1);
        self.count += 1;
        self.pages[slot] = page;
        self.facts.set(slot, facts);
        self.most = self.most.max(facts);
    }

    /// Takes the page at `slot` out.
    pub(crate) fn remove(&mut self, slot: usize) {
        self.pages.copy_within(slot + 1..self.count, slot);
        self.facts.shift(slot + 1..self.count, slot);
        self.count -= 1;
        self.facts.set(self.count, Facts::NONE);
    }

    /// Moves the pages from `slot` on to the end of `to`.
    pub(crate) fn move_to(&mut self, slot: usize, to: &mut Self) {
        for from in slot..self.count {
            to.pages[to.count] = self.pages[from];
            to.facts.set(to.count, self.facts.get(from));
            to.count += 1;
            self.facts.set(from, Facts::NONE);
        }
        self.count = slot;
        // What bounds the whole bounds its parts.
        to.most = to.most.max(self.most);
    }
}
