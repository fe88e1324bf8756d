//! The way from the head to an index, remembered so that marks and removals can go back up.

use crate::Entry;
use crate::raw::{Bucket, Child, Dense, Pin, Place, Slot};

/// Levels of a tree over 64-bit indices with 6 bits each.
pub(crate) const LEVELS_MAX: usize = 11;

/// The dense nodes on the way, each with the slot taken.
#[derive(Clone, Copy)]
pub(crate) struct Path<'w> {
    steps: [Place<'w>; LEVELS_MAX],
    len: usize,
}

impl<'w> Path<'w> {
    pub(crate) fn new() -> Self {
        Self { steps: [None; LEVELS_MAX], len: 0 }
    }

    pub(crate) fn push(&mut self, node: &'w Dense, offset: usize) {
        self.steps[self.len] = Some((node, offset));
        self.len += 1;
    }

    /// Removes and returns the lowest step.
    pub(crate) fn pop(&mut self) -> Place<'w> {
        self.len = self.len.checked_sub(1)?;
        self.steps[self.len]
    }

    /// Returns the slot at the end of the way; `None` is the head.
    pub(crate) fn place(&self) -> Place<'w> {
        self.len.checked_sub(1).and_then(|last| self.steps[last])
    }

    /// Returns the low index bits that the slot at the end covers.
    pub(crate) fn bits(&self) -> u32 {
        self.place().map_or(64, |(node, _)| node.shift())
    }

    /// Returns the steps from the lowest up.
    pub(crate) fn upwards(&self) -> impl Iterator<Item = (&'w Dense, usize)> {
        self.steps[..self.len].iter().rev().flatten().copied()
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

/// Goes down to an index.
#[inline]
pub(crate) fn walk<'w>(head: &Slot, index: u64, pin: Pin<'w>) -> Walk<'w> {
    let mut path = Path::new();
    let mut child = head.child(pin);
    loop {
        let end = match child {
            Child::Empty => End::Empty,
            Child::Entry(entry) if path.len == 0 && index != 0 => End::Single(entry),
            Child::Entry(entry) => End::Entry(entry),
            Child::Bucket(bucket) => End::Bucket(bucket),
            Child::Dense(node) if !node.covers(index) => End::Other(node),
            Child::Dense(node) => {
                let offset = node.canonical(node.digit(index));
                path.push(node, offset);
                // A leaf's slots are opaque: an odd pointer there may look like a node.
                child = if node.shift() == 0 {
                    match node.slot(offset).entry() {
                        Entry::NULL => Child::Empty,
                        entry => Child::Entry(entry),
                    }
                } else {
                    node.slot(offset).child(pin)
                };
                continue;
            }
        };
        return Walk { path, end };
    }
}
