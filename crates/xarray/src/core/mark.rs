//! Marks of entries, and their summaries on the way to the head.
//!
//! # How it works
//! A node has three words of bits, one word for each mark and in it one bit for each slot. They are part of the node, so
//! setting and clearing never needs memory. A search for a marked entry goes down only where bits are set.
//!
//! An array that hands out ids ([`Flags::TRACK_FREE`]) uses mark 0 for "this id is free", and looks for free ids in the
//! same way. Most ids of such an array have no entry, hence no slot whose bit could be set; they are free all the same.
//! So the bits of that mark alone are stored inverted (`is_inverted`): a set bit says "taken", and where there is no
//! slot there is nothing to store.
//!
//! # Invariants
//! For a mark that is not inverted:
//! - the bit of an entry's slot is set if the entry bears the mark;
//! - the bit of a slot with a node in it is set if any entry below bears the mark;
//! - the array's flag of the mark is set if any entry does.
//!
//! For the inverted one:
//! - the bit of an entry's slot is set if its id is taken, that is, if the entry does not bear the mark;
//! - the bit of a slot with a node in it is set if all ids below are taken. The slot of a bucket, and of a node that
//!   skips levels, leads to indices without an entry too, so its bit is never set.
//!
//! Linux counterpart: `xas_set_mark`, `xas_clear_mark`, `xas_init_marks` @ 6.1, which sets the bits of all free ids instead.

use super::walk::{End, Steps, Walk, bits, split_last, walk};
use crate::raw::dense::run_mask;
use crate::raw::{Child, Dense, Pin, Writer};
use crate::{ArrayBody, Flags, Mark};

impl Writer<'_> {
    /// Sets a mark of the entry at this index, if there is one. Never fails.
    pub fn mark(&self, index: u64, mark: Mark) {
        self.change_mark(&self.walk(index), index, mark, true);
    }

    /// Clears a mark of the entry at this index, if there is one. Never fails.
    pub fn unmark(&self, index: u64, mark: Mark) {
        self.change_mark(&self.walk(index), index, mark, false);
    }

    pub(crate) fn is_inverted(&self, mark: Mark) -> bool {
        mark == Mark::FREE && self.has(Flags::TRACK_FREE)
    }

    pub(crate) fn change_mark(&self, walk: &Walk<'_>, index: u64, mark: Mark, value: bool) {
        let bit = value != self.is_inverted(mark);
        match walk.end {
            End::Empty | End::Single(_) | End::Other(_) => {}
            End::Bucket(bucket) => {
                let Some(number) = bucket.find_live(index) else { return };
                let old = bucket.marks(mark);
                let new = old & !(1 << number) | u128::from(bit) << number;
                if new != old {
                    bucket.set_marks(mark, new);
                    self.propagate(walk.path.steps(), mark, !self.is_inverted(mark) && new != 0);
                }
            }
            End::Entry(_) => {
                let Some((node, canonical, above)) = split_last(walk.path.steps()) else {
                    return self.array().set_root_mark(mark, value);
                };
                // Free indices are looked for slot by slot, so each slot of an entry has its bit there.
                let span = if self.is_inverted(mark) { node.span(canonical) } else { 1 };
                let mask = run_mask(canonical, span);
                let old = node.marks(mark);
                let new = if bit { old | mask } else { old & !mask };
                if new != old {
                    node.set_marks(mark, new);
                    self.propagate_node(above, node, mark);
                }
            }
        }
    }

    /// Recomputes the mark bits of an inner slot from the child in it.
    pub(crate) fn summarize(&self, node: &Dense, offset: usize) {
        let child = node.slot(offset).child(self.pin());
        if matches!(child, Child::Entry(_)) {
            return;
        }
        for mark in Mark::ALL {
            let bit = u64::from(self.child_bears(node.shift(), child, mark)) << offset;
            node.set_marks(mark, node.marks(mark) & !(1 << offset) | bit);
        }
    }

    /// Returns the mark bit of a slot that covers `bits` index bits and has this child.
    #[inline]
    pub(crate) fn child_bears(&self, slot_bits: u32, child: Child<'_>, mark: Mark) -> bool {
        match child {
            // A node that skips levels leaves indices beside it, and those are free.
            Child::Dense(node) if self.is_inverted(mark) => {
                node.marks(mark) == u64::MAX && node.bits() == slot_bits
            }
            Child::Dense(node) => node.marks(mark) != 0,
            Child::Bucket(bucket) => !self.is_inverted(mark) && bucket.marks(mark) != 0,
            Child::Empty | Child::Entry(_) => false,
        }
    }

    /// Carries up from a node at the end of the path whether any entry in it bears a mark.
    #[inline]
    pub(crate) fn propagate_node(&self, path: Steps<'_, '_>, node: &Dense, mark: Mark) {
        self.propagate(path, mark, self.child_bears(bits(path), Child::Dense(node), mark));
    }

    /// Does the same, as far up as it changes anything.
    fn propagate(&self, mut path: Steps<'_, '_>, mark: Mark, mut bears: bool) {
        while let Some((node, offset, above)) = split_last(path) {
            path = above;
            let old = node.marks(mark);
            let new = old & !(1 << offset) | u64::from(bears) << offset;
            if new == old {
                return;
            }
            node.set_marks(mark, new);
            bears = self.child_bears(bits(path), Child::Dense(node), mark);
        }
        if !self.is_inverted(mark) {
            self.array().set_root_mark(mark, bears);
        }
    }
}

/// Returns whether the entry at this index bears the mark.
pub(crate) fn get_mark(array: &ArrayBody, index: u64, mark: Mark, pin: Pin<'_>) -> bool {
    let is_inverted = mark == Mark::FREE && array.flags().has(Flags::TRACK_FREE);
    let walk = walk(&array.head, index, pin);
    let bit = match walk.end {
        End::Empty | End::Single(_) | End::Other(_) => return false,
        End::Entry(_) => match walk.path.place() {
            None => return array.is_marked(mark),
            Some((node, canonical)) => node.marks(mark) >> canonical & 1 != 0,
        },
        End::Bucket(bucket) => match bucket.find_live(index) {
            Some(number) => bucket.marks(mark) >> number & 1 != 0,
            None => return false,
        },
    };
    bit != is_inverted
}
