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
            Filter::Present => node.shown(),
            // An inverted bit sums up "nothing free below", which says nothing of single entries: look at all.
            Filter::Marked(_) if self.is_inverted && node.shift() != 0 => node.shown(),
            Filter::Marked(mark) if self.is_inverted => node.shown() & !node.marks(mark),
            Filter::Marked(mark) => node.marks(mark),
        }
    }

    /// Returns the slots of a bucket that may hold what is looked for, or nothing if it is all of them.
    pub(super) fn bucket_candidates(&self, bucket: Bucket<'_>) -> Option<u128> {
        match self.filter {
            Filter::Present => None,
            Filter::Marked(mark) if self.is_inverted => Some(!bucket.marks(mark)),
            Filter::Marked(mark) => Some(bucket.marks(mark)),
        }
    }
}

/// Where an entry was found.
#[derive(Debug, Clone, Copy)]
pub(super) enum Leaf<'a> {
    Dense(&'a Dense),
    Bucket(Bucket<'a>),
    /// The head or an inner node, where neighbours are elsewhere.
    None,
}

/// Returns the first entry that covers an index from `from` to `max`.
pub(crate) fn next(
    array: &RawXArray,
    from: u64,
    max: u64,
    search: Search,
    pin: Pin<'_>,
) -> Option<Found> {
    next_with_leaf(array, from, max, search, pin).map(|(found, _)| found)
}

/// As [`next`], with where it is.
pub(super) fn next_with_leaf<'a>(
    array: &RawXArray,
    from: u64,
    max: u64,
    search: Search,
    pin: Pin<'a>,
) -> Option<(Found, Leaf<'a>)> {
    if from > max {
        return None;
    }
    if let Some(found) = next_near(array, from, search, pin) {
        return Some(found).filter(|(found, _)| found.first <= max);
    }
    let found = match array.head.child(pin) {
        Child::Empty => None,
        Child::Entry(entry) => {
            let matches = match search.filter {
                Filter::Present => true,
                Filter::Marked(mark) => array.is_marked(mark),
            };
            let found = Found { entry, first: 0, last: 0 };
            (from == 0 && matches && search.accepts(entry)).then_some((found, Leaf::None))
        }
        Child::Dense(node) => next_in_dense(node, from, max, search, pin),
        Child::Bucket(bucket) => in_bucket(bucket, from, search),
    };
    found.filter(|(found, _)| found.first <= max)
}

/// Looks only where an entry at `from` would be, which is where the next one most often is, too.
fn next_near<'a>(
    array: &RawXArray,
    from: u64,
    search: Search,
    pin: Pin<'a>,
) -> Option<(Found, Leaf<'a>)> {
    let mut child = array.head.child(pin);
    loop {
        child = match child {
            Child::Bucket(bucket) => return in_bucket(bucket, from, search),
            Child::Dense(node) if node.covers(from) && node.shift() == 0 => {
                let found = next_in_leaf(node, node.canonical(node.digit(from)), search);
                return found.map(|found| (found, Leaf::Dense(node)));
            }
            Child::Dense(node) if node.covers(from) => node.slot(node.digit(from)).child(pin),
            Child::Dense(_) | Child::Empty | Child::Entry(_) => return None,
        }
    }
}

fn next_in_dense<'a>(
    node: &'a Dense,
    from: u64,
    max: u64,
    search: Search,
    pin: Pin<'a>,
) -> Option<(Found, Leaf<'a>)> {
    if node.last() < from || node.first() > max {
        return None;
    }
    let mut start = if from <= node.first() { 0 } else { node.canonical(node.digit(from)) };
    if node.shift() == 0 {
        return next_in_leaf(node, start, search).map(|found| (found, Leaf::Dense(node)));
    }
    while start < SLOTS {
        // A bucket may begin before the slot, also as a run has just been divided. So the slot is looked at first.
        let is_shared = node.slot(start).load().run_log2() != 0;
        let candidates = search.candidates(node) >> start << start;
        let offset = if is_shared { start } else { candidates.trailing_zeros() as usize };
        if offset >= SLOTS || node.index_of(offset) > max {
            return None;
        }
        let word = node.slot(offset).load();
        let found = match word.child(pin) {
            Child::Dense(child) => next_in_dense(child, from, max, search, pin),
            Child::Bucket(bucket) => in_bucket(bucket, from, search),
            Child::Entry(entry) if entry.sibling_of().is_none() && search.accepts(entry) => {
                Some((found_in(node, offset, entry), Leaf::None))
            }
            Child::Empty | Child::Entry(_) => None,
        };
        if found.is_some() {
            return found;
        }
        start = word.run_start(offset) + (1 << word.run_log2());
    }
    None
}

/// Returns the first entry in slot `start` of a leaf or after it.
#[inline]
pub(super) fn next_in_leaf(node: &Dense, start: usize, search: Search) -> Option<Found> {
    let mut candidates = search.candidates(node) >> start << start;
    while candidates != 0 {
        let offset = candidates.trailing_zeros() as usize;
        let entry = node.slot(offset).entry();
        if entry.sibling_of().is_none() && search.accepts(entry) {
            return Some(found_in(node, offset, entry));
        }
        candidates &= candidates - 1;
    }
    None
}

pub(super) fn found_in(node: &Dense, offset: usize, entry: Entry) -> Found {
    let last = offset + node.span(offset) - 1;
    let low_bits = (1_u64 << node.shift()) - 1;
    Found { entry, first: node.index_of(offset), last: node.index_of(last % SLOTS) | low_bits }
}

fn in_bucket(bucket: Bucket<'_>, from: u64, search: Search) -> Option<(Found, Leaf<'_>)> {
    next_in_bucket(bucket, from, search).map(|found| (found, Leaf::Bucket(bucket)))
}

fn next_in_bucket(bucket: Bucket<'_>, from: u64, search: Search) -> Option<Found> {
    let Some(marks) = search.bucket_candidates(bucket) else {
        return next_of_all(bucket, from, search);
    };
    let marked = (0..bucket.len()).filter(|&number| marks >> number & 1 != 0);
    let found = marked.map(|number| (bucket.index(number), bucket.slot(number).entry()));
    let found = found.filter(|&(index, entry)| index >= from && search.accepts(entry));
    let (index, entry) = found.min_by_key(|&(index, _)| index)?;
    Some(Found { entry, first: index, last: index })
}

fn next_of_all(bucket: Bucket<'_>, mut from: u64, search: Search) -> Option<Found> {
    loop {
        let (number, index) = bucket.find_next(from)?;
        let entry = bucket.slot(number).entry();
        if search.accepts(entry) {
            return Some(Found { entry, first: index, last: index });
        }
        from = index.checked_add(1)?;
    }
}

impl Writer<'_> {
    /// Returns the first entry that covers an index from `from` to `max`, reserved ones included.
    pub(crate) fn next_entry(&self, from: u64, max: u64) -> Option<Found> {
        let search = Search::stored(self.array(), Filter::Present);
        next(self.array(), from, max, search, self.pin())
    }
}
