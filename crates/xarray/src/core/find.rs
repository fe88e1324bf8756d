//! Finds the next entry at or after an index, in order, without a lock.

use crate::raw::dense::SLOTS;
use crate::raw::{Bucket, Child, Dense, Pin, Writer};
use crate::{Entry, Filter, Flags, Mark, RawXArray};

/// An entry and the indices that it covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) entry: Entry,
    pub(crate) first: u64,
    pub(crate) last: u64,
}

/// What a search looks for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Search {
    filter: Filter,
    /// The marks searched for are the inverted ones of free indices.
    is_inverted: bool,
    /// Reserved indices are passed over.
    skips_reserved: bool,
}

impl Search {
    /// Looks for what the normal interface shows.
    pub(crate) fn visible(array: &RawXArray, filter: Filter) -> Self {
        Self { skips_reserved: true, ..Self::stored(array, filter) }
    }

    /// Looks for everything that is stored, reserved indices too.
    pub(crate) fn stored(array: &RawXArray, filter: Filter) -> Self {
        let is_inverted =
            filter == Filter::Marked(Mark::FREE) && array.flags().has(Flags::TRACK_FREE);
        Self { filter, is_inverted, skips_reserved: false }
    }

    pub(super) fn accepts(&self, entry: Entry) -> bool {
        !(entry.is_null() || self.skips_reserved && entry.is_zero())
    }

    /// Returns the slots of a node that may lead to what is looked for.
    pub(super) fn candidates(&self, node: &Dense) -> u64 {
        match self.filter {
            Filter::Present => node.used(),
            // An inverted bit sums up "nothing free below", which says nothing of single entries: look at all.
            Filter::Marked(_) if self.is_inverted && node.shift() != 0 => node.used(),
            Filter::Marked(mark) if self.is_inverted => node.used() & !node.marks(mark),
            Filter::Marked(mark) => node.marks(mark),
        }
    }
}

/// Returns the first entry that covers an index from `from` to `max`.
pub(crate) fn next(
    array: &RawXArray,
    from: u64,
    max: u64,
    search: Search,
    pin: Pin<'_>,
) -> Option<Found> {
    if from > max {
        return None;
    }
    let found = match array.head.child(pin) {
        Child::Empty => None,
        Child::Entry(entry) => {
            let matches = match search.filter {
                Filter::Present => true,
                Filter::Marked(mark) => array.is_marked(mark),
            };
            (from == 0 && matches && search.accepts(entry)).then_some(Found {
                entry,
                first: 0,
                last: 0,
            })
        }
        Child::Dense(node) => next_in_dense(node, from, max, search, pin),
        Child::Bucket(bucket) => next_in_bucket(bucket, from, search),
    };
    found.filter(|found| found.first <= max)
}

fn next_in_dense(node: &Dense, from: u64, max: u64, search: Search, pin: Pin<'_>) -> Option<Found> {
    if node.last() < from || node.first() > max {
        return None;
    }
    let start = if from <= node.first() { 0 } else { node.canonical(node.digit(from)) };
    let mut candidates = search.candidates(node) >> start << start;
    while candidates != 0 {
        let offset = candidates.trailing_zeros() as usize;
        candidates &= candidates - 1;
        if node.index_of(offset) > max {
            return None;
        }
        let word = node.slot(offset).load();
        if node.shift() != 0 && word.is_node() {
            let found = match word.child(pin) {
                Child::Dense(child) => next_in_dense(child, from, max, search, pin),
                Child::Bucket(bucket) => next_in_bucket(bucket, from, search),
                Child::Empty | Child::Entry(_) => None,
            };
            if found.is_some() {
                return found;
            }
        } else if word.entry().sibling_of().is_none() && search.accepts(word.entry()) {
            return Some(found_in(node, offset, word.entry()));
        }
    }
    None
}

pub(super) fn found_in(node: &Dense, offset: usize, entry: Entry) -> Found {
    let last = offset + node.span(offset) - 1;
    let low_bits = (1_u64 << node.shift()) - 1;
    Found { entry, first: node.index_of(offset), last: node.index_of(last % SLOTS) | low_bits }
}

fn next_in_bucket(bucket: Bucket<'_>, from: u64, search: Search) -> Option<Found> {
    let marks = match search.filter {
        Filter::Present => u32::MAX,
        Filter::Marked(mark) if search.is_inverted => !bucket.marks(mark),
        Filter::Marked(mark) => bucket.marks(mark),
    };
    let mut best: Option<Found> = None;
    for number in (0..bucket.len()).filter(|&number| marks >> number & 1 != 0) {
        let index = bucket.index(number);
        if index < from || best.is_some_and(|best| best.first < index) {
            continue;
        }
        let entry = bucket.slot(number).entry();
        if search.accepts(entry) {
            best = Some(Found { entry, first: index, last: index });
        }
    }
    best
}

impl Writer<'_> {
    /// Returns the first entry that covers an index from `from` to `max`, reserved ones included.
    pub(crate) fn next_entry(&self, from: u64, max: u64) -> Option<Found> {
        let search = Search::stored(self.array(), Filter::Present);
        next(self.array(), from, max, search, self.pin())
    }
}
