//! Marks of entries, and their summaries on the way to the head.
//!
//! Every node has its mark bits from the start, so setting and clearing never need memory.
//!
//! # Invariants
//! - An inner slot's bit = some entry below it bears the mark; the array's flag = some entry does.
//! - In an array that hands out ids mark 0 means free, and its bits say the opposite: an entry's bit = it is
//!   not free, an inner slot's bit = none of the indices below are free. Indices without an entry have no
//!   bit to keep, and are free.

use super::walk::{End, Steps, Walk, bits, split_last, walk};
use crate::raw::dense::run_mask;
use crate::raw::{Dense, Pin, Writer};
use crate::{Flags, Mark, RawXArray};

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
                // Free indices are looked for slot by slot, so there each slot of an entry has its bit.
                let span = if self.is_inverted(mark) { node.span(canonical) } else { 1 };
                let mask = run_mask(canonical, span);
                let old = node.marks(mark);
                let new = if bit { old | mask } else { old & !mask };
                if new != old {
                    node.set_marks(mark, new);
                    self.propagate(above, mark, self.summary(node, above, mark));
                }
            }
        }
    }

    /// Returns what the slot at the end of the path has to say of the node in it.
    pub(crate) fn summary(&self, node: &Dense, path: Steps<'_, '_>, mark: Mark) -> bool {
        if self.is_inverted(mark) {
            // A node that skips levels leaves indices beside it, and those are free.
            node.marks(mark) == u64::MAX && node.bits() == bits(path)
        } else {
            node.marks(mark) != 0
        }
    }

    /// Carries a new summary up from the end of the path, as far as it changes anything.
    pub(crate) fn propagate(&self, mut path: Steps<'_, '_>, mark: Mark, mut summary: bool) {
        while let Some((node, offset, above)) = split_last(path) {
            path = above;
            let old = node.marks(mark);
            let new = old & !(1 << offset) | u64::from(summary) << offset;
            if new == old {
                return;
            }
            node.set_marks(mark, new);
            summary = self.summary(node, path, mark);
        }
        if !self.is_inverted(mark) {
            self.array().set_root_mark(mark, summary);
        }
    }
}

/// Returns whether the entry at this index bears the mark.
pub(crate) fn get_mark(array: &RawXArray, index: u64, mark: Mark, pin: Pin<'_>) -> bool {
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
