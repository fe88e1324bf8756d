//! Finds the next entry at or after an index, in order, without a lock.

use crate::raw::dense::SLOTS;
use crate::raw::{Bucket, Child, Dense, Pin, Writer, bits};
use crate::{ArrayBody, Entry, Filter, Flags, Mark};

/// An entry and the indices that it covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) entry: Entry,
    pub(crate) first: u64,
    pub(crate) last: u64,
}

/// What a search looks for, and up to which index.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Search {
    max: u64,
    filter: Filter,
    /// The marks searched for are the inverted ones of free indices.
    is_inverted: bool,
    /// Reserved indices are passed over.
    skips_reserved: bool,
}

impl Search {
    /// Looks for the entries that the normal interface shows.
    pub(crate) fn visible(array: &ArrayBody, max: u64, filter: Filter) -> Self {
        Self { skips_reserved: true, ..Self::stored(array, max, filter) }
    }

    /// Looks for everything stored, reserved indices too.
    pub(crate) fn stored(array: &ArrayBody, max: u64, filter: Filter) -> Self {
        let is_free = filter == Filter::Marked(Mark::FREE);
        let is_inverted = is_free && array.flags().has(Flags::TRACK_FREE);
        Self { max, filter, is_inverted, skips_reserved: false }
    }

    /// Looks for everything that is stored.
    pub(crate) const fn all(max: u64) -> Self {
        Self { max, filter: Filter::Present, is_inverted: false, skips_reserved: false }
    }

    /// Returns what was found, if it begins where the search may look.
    pub(super) fn within<T>(self, found: Option<(Found, T)>) -> Option<(Found, T)> {
        found.filter(|(found, _)| found.first <= self.max)
    }

    pub(super) fn accepts(&self, entry: Entry) -> bool {
        !(entry.is_null() || self.skips_reserved && entry.is_zero())
    }

    /// Returns the slots of a node that may lead to what is looked for.
    pub(super) fn candidates(&self, node: &Dense) -> u64 {
        match self.filter {
            Filter::Present => node.shown(),
            // An inverted bit sums up "nothing free below", which tells nothing about single entries, so all
            // are looked at.
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
    /// The head or an inner node, whose neighbours are elsewhere.
    None,
}

impl ArrayBody {
    /// Returns the first entry that covers an index from `from` on.
    pub(crate) fn next(&self, from: u64, search: Search, pin: Pin<'_>) -> Option<Found> {
        self.next_with_leaf(from, search, pin).map(|(found, _)| found)
    }

    /// Returns the same entry, and where it is.
    pub(super) fn next_with_leaf<'a>(
        &self,
        from: u64,
        search: Search,
        pin: Pin<'a>,
    ) -> Option<(Found, Leaf<'a>)> {
        if from > search.max {
            return None;
        }
        if let Some(found) = next_near(self, from, search, pin) {
            return search.within(Some(found));
        }
        search.within(match self.head.child(pin) {
            Child::Empty => None,
            Child::Entry(entry) => {
                let matches = match search.filter {
                    Filter::Present => true,
                    Filter::Marked(mark) => self.is_marked(mark),
                };
                let found = Found { entry, first: 0, last: 0 };
                (from == 0 && matches && search.accepts(entry)).then_some((found, Leaf::None))
            }
            Child::Dense(node) => next_in_dense(node, from, search, pin),
            Child::Bucket(bucket) => next_in_bucket(bucket, from, search),
        })
    }
}

/// Looks only where an entry at `from` would be; most often the next one is there, too.
fn next_near<'a>(
    array: &ArrayBody,
    from: u64,
    search: Search,
    pin: Pin<'a>,
) -> Option<(Found, Leaf<'a>)> {
    let mut child = array.head.child(pin);
    loop {
        child = match child {
            Child::Bucket(bucket) => return next_in_bucket(bucket, from, search),
            Child::Dense(node) if node.covers(from) && node.shift() == 0 => {
                let found = next_in_leaf(node, node.canonical(node.digit(from)), search)?;
                return Some((found, Leaf::Dense(node)));
            }
            Child::Dense(node) if node.covers(from) => node.slot(node.digit(from)).child(pin),
            Child::Dense(_) | Child::Empty | Child::Entry(_) => return None,
        }
    }
}

fn next_in_dense<'a>(
    node: &'a Dense,
    from: u64,
    search: Search,
    pin: Pin<'a>,
) -> Option<(Found, Leaf<'a>)> {
    if node.last() < from || node.first() > search.max {
        return None;
    }
    let mut start = if from <= node.first() { 0 } else { node.canonical(node.digit(from)) };
    if node.shift() == 0 {
        return next_in_leaf(node, start, search).map(|found| (found, Leaf::Dense(node)));
    }
    while start < SLOTS {
        // A bucket may begin before the slot, also because a run has just been divided. So the slot is looked at
        // first.
        let is_shared = node.slot(start).load().run_log2() != 0;
        let candidates = search.candidates(node) >> start << start;
        let offset = if is_shared { start } else { candidates.trailing_zeros() as usize };
        if offset >= SLOTS || node.index_of(offset) > search.max {
            return None;
        }
        let word = node.slot(offset).load();
        let found = match word.child(pin) {
            Child::Dense(child) => next_in_dense(child, from, search, pin),
            Child::Bucket(bucket) => next_in_bucket(bucket, from, search),
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
    bits(search.candidates(node) >> start << start).find_map(|offset| {
        let entry = node.slot(offset).entry();
        let is_first = entry.sibling_of().is_none() && search.accepts(entry);
        is_first.then(|| found_in(node, offset, entry))
    })
}

fn found_in(node: &Dense, offset: usize, entry: Entry) -> Found {
    let last = offset + node.span(offset) - 1;
    let low_bits = (1_u64 << node.shift()) - 1;
    Found { entry, first: node.index_of(offset), last: node.index_of(last % SLOTS) | low_bits }
}

fn next_in_bucket(bucket: Bucket<'_>, from: u64, search: Search) -> Option<(Found, Leaf<'_>)> {
    let (index, entry) = match search.bucket_candidates(bucket) {
        None => next_of_all(bucket, from, search)?,
        Some(marks) => {
            let marked = (0..bucket.len()).filter(|&number| marks >> number & 1 != 0);
            let found = marked.map(|number| (bucket.index(number), bucket.slot(number).entry()));
            let found = found.filter(|&(index, entry)| index >= from && search.accepts(entry));
            found.min_by_key(|&(index, _)| index)?
        }
    };
    Some((Found { entry, first: index, last: index }, Leaf::Bucket(bucket)))
}

fn next_of_all(bucket: Bucket<'_>, mut from: u64, search: Search) -> Option<(u64, Entry)> {
    loop {
        let (number, index) = bucket.find_next(from)?;
        let entry = bucket.slot(number).entry();
        if search.accepts(entry) {
            return Some((index, entry));
        }
        from = index.checked_add(1)?;
    }
}

impl Writer<'_> {
    /// Returns the first entry that covers an index from `from` to `max`, reserved ones included.
    pub(crate) fn next_entry(&self, from: u64, max: u64) -> Option<Found> {
        self.array().next(from, Search::all(max), self.pin())
    }
}
