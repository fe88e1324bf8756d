//! The way from the head to an index, remembered so that marks and removals can go back up.

use crate::Entry;
use crate::raw::dense::SLOTS;
use crate::raw::{Bucket, Child, Dense, Pin, Place, Slot, Word};

/// Levels of a tree over 64-bit indices with 6 bits each.
pub(crate) const LEVELS_MAX: usize = 11;

/// The dense nodes on the way, each with the slot taken; if one bucket or entry has several slots, the
/// first of them.
#[derive(Clone, Copy)]
pub(crate) struct Path<'w> {
    steps: [Place<'w>; LEVELS_MAX],
    len: usize,
}

/// A path, or its upper part. It is passed by reference, since copies would cost more than the
/// walk.
pub(crate) type Steps<'p, 'w> = &'p [Place<'w>];

/// Returns the slot at the end of the way; `None` is the head.
pub(crate) fn place<'w>(steps: Steps<'_, 'w>) -> Place<'w> {
    steps.last().copied().flatten()
}

/// Returns the lowest node, the slot taken, and the way to it.
pub(crate) fn split_last<'p, 'w>(
    steps: Steps<'p, 'w>,
) -> Option<(&'w Dense, usize, Steps<'p, 'w>)> {
    let (&last, above) = steps.split_last()?;
    last.map(|(node, offset)| (node, offset, above))
}

/// Returns the low index bits that the slot at the end covers.
pub(crate) fn bits(steps: Steps<'_, '_>) -> u32 {
    place(steps).map_or(64, |(node, _)| node.shift())
}

impl<'w> Path<'w> {
    pub(crate) fn new() -> Self {
        Self { steps: [None; LEVELS_MAX], len: 0 }
    }

    pub(crate) fn push(&mut self, node: &'w Dense, offset: usize) {
        self.steps[self.len] = Some((node, offset));
        self.len += 1;
    }

    pub(crate) fn steps(&self) -> Steps<'_, 'w> {
        &self.steps[..self.len]
    }

    /// Returns the slot at the end of the way; `None` is the head.
    pub(crate) fn place(&self) -> Place<'w> {
        place(self.steps())
    }
}

/// What stands at the end of the way.
#[derive(Clone, Copy)]
pub(crate) enum End<'w> {
    /// An empty slot: in a leaf, in an inner node, or the head.
    Empty,
    /// An entry at this index, in its canonical slot.
    Entry(Entry),
    /// The head holds the entry of index 0, and this is another index.
    Single(Entry),
    /// A node that covers other indices: the levels skipped above it differ.
    Other(&'w Dense),
    /// A bucket, which may or may not hold the index.
    Bucket(Bucket<'w>),
}

/// A way and its end.
#[derive(Clone, Copy)]
pub(crate) struct Walk<'w> {
    pub(crate) path: Path<'w>,
    pub(crate) end: End<'w>,
}

/// Goes down to an index. As a lookup, it compares a node's prefix only if levels were skipped above it.
pub(crate) fn walk<'w>(head: &Slot, index: u64, pin: Pin<'w>) -> Walk<'w> {
    // The value stands in the caller's place from the start, because copying a way would take as
    // long as walking it.
    let mut walk = Walk { path: Path::new(), end: End::Empty };
    let mut word = head.load();
    let mut must_check = true;
    loop {
        walk.end = match word.child(pin) {
            Child::Empty => End::Empty,
            Child::Entry(entry) if walk.path.len == 0 && index != 0 => End::Single(entry),
            Child::Entry(entry) => End::Entry(entry),
            Child::Bucket(bucket) => End::Bucket(bucket),
            Child::Dense(node) if (must_check || word.skips()) && !node.covers(index) => {
                End::Other(node)
            }
            Child::Dense(node) => {
                let is_leaf = word.is_last();
                let mut offset = (index >> word.shift()) as usize % SLOTS;
                word = node.slot(offset).load();
                if let Some(canonical) = word.entry().sibling_of() {
                    offset = canonical;
                    word = node.slot(offset).load();
                }
                if !is_leaf {
                    offset = word.run_start(offset);
                }
                walk.path.push(node, offset);
                must_check = false;
                if !is_leaf {
                    continue;
                }
                // A leaf's slots are opaque: an odd pointer there may look like a node.
                if word == Word::NULL { End::Empty } else { End::Entry(word.entry()) }
            }
        };
        return walk;
    }
}

/// Returns the slot that holds the entry at this index.
#[cfg(feature = "capi")]
pub(crate) fn slot<'w>(head: &'w Slot, index: u64, pin: Pin<'w>) -> Option<&'w Slot> {
    let walk = walk(head, index, pin);
    match walk.end {
        End::Empty | End::Single(_) | End::Other(_) => None,
        End::Entry(_) => Some(walk.path.place().map_or(head, |(node, at)| node.slot(at))),
        End::Bucket(bucket) => bucket.find(index).map(|number| bucket.slot(number)),
    }
}
