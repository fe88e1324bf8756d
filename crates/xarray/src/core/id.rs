//! Finds free indices, for arrays that hand out ids.

use super::walk::{End, Walk, bits, walk};
use crate::raw::dense::align_down;
use crate::raw::{Pin, Slot, Writer};
use crate::{Entry, Error, Flags, IdLimit, Mark, Result};

/// Returns the lowest free index from `from` to `max`: one without an entry, or whose entry bears the mark.
pub(crate) fn next_free(head: &Slot, mut from: u64, max: u64, pin: Pin<'_>) -> Option<u64> {
    // Each turn looks at one way down, and either returns or goes on behind the indices that it has seen
    // to be taken.
    while from <= max {
        match first_free_near(&walk(head, from, pin), from) {
            Ok(index) => return Some(index).filter(|&index| index <= max),
            Err(next) => from = next?,
        }
    }
    None
}

/// Returns a free index at or after `from` and before any other free one, or else where to look next
/// (`None` at the end of all indices).
fn first_free_near(walk: &Walk<'_>, from: u64) -> std::result::Result<u64, Option<u64>> {
    // The highest node on the way that knows the slot to be full spares us everything below it.
    let mut taken = None;
    for (node, _) in walk.path.steps().iter().rev().flatten() {
        let digit = node.digit(from);
        if node.marks(Mark::FREE) >> digit & 1 == 0 {
            continue;
        }
        let candidates = !node.marks(Mark::FREE) >> digit << digit;
        taken = Some(match candidates.trailing_zeros() {
            64 => node.last().checked_add(1),
            next => Some(node.index_of(next as usize)),
        });
    }
    if let Some(next) = taken {
        // A leaf's clear bit stands for a free index itself.
        return match (walk.path.place(), next) {
            (Some((node, _)), Some(next)) if node.shift() == 0 && node.covers(next) => Ok(next),
            _ => Err(next),
        };
    }
    match walk.end {
        End::Empty | End::Single(_) | End::Other(_) | End::Entry(_) => Ok(from),
        End::Bucket(bucket) => {
            // At most 32 of its indices are taken.
            let region = bits(walk.path.steps());
            let end = align_down(from, region) | (u64::MAX >> (64 - region.min(64)));
            let is_free = |&index: &u64| {
                let taken = |number| bucket.marks(Mark::FREE) >> number & 1 != 0;
                !bucket.find_live(index).is_some_and(taken)
            };
            (from..=end).find(is_free).ok_or(end.checked_add(1))
        }
    }
}

impl Writer<'_> {
    /// Stores an entry at the lowest free id, and passes the id to `tell` before the entry can be
    /// seen.
    pub(crate) fn allocate(
        &self,
        entry: Entry,
        limit: IdLimit,
        tell: impl FnOnce(u32),
    ) -> Result<u32> {
        if !self.has(Flags::TRACK_FREE) {
            return Err(Error::Invalid);
        }
        let min = if self.has(Flags::ZERO_BUSY) { limit.min.max(1) } else { limit.min };
        let tell = |id| tell(id as u32);
        Ok(self.take_free(entry, u64::from(min), u64::from(limit.max), tell)? as u32)
    }

    /// Stores an entry at the lowest free index of a range, and passes the index to `tell` before the entry can be
    /// seen. NULL reserves.
    pub(crate) fn take_free(
        &self,
        entry: Entry,
        first: u64,
        last: u64,
        tell: impl FnOnce(u64),
    ) -> Result<u64> {
        if !entry.is_storable() {
            return Err(Error::Invalid);
        }
        let free = next_free(self.head(), first, last, self.pin()).ok_or(Error::Busy)?;
        tell(free);
        self.insert(free, if entry.is_null() { Entry::ZERO } else { entry })?;
        self.unmark(free, Mark::FREE);
        Ok(free)
    }

    /// Does as [`Writer::allocate`], from `*next` on and around. Returns whether it came around.
    pub(crate) fn allocate_cyclic(
        &self,
        entry: Entry,
        limit: IdLimit,
        next: &mut u32,
        mut tell: impl FnMut(u32),
    ) -> Result<(u32, bool)> {
        let start = IdLimit { min: limit.min.max(*next), ..limit };
        let mut wrapped = false;
        let mut result = self.allocate(entry, start, &mut tell);
        if result.is_ok() && self.has(Flags::ALLOC_WRAPPED) {
            self.array().change_flags(Flags::ALLOC_WRAPPED, false);
            wrapped = true;
        }
        if result.is_err() && start.min > limit.min {
            result = self.allocate(entry, limit, &mut tell);
            wrapped = true;
        }
        let id = result?;
        *next = id.wrapping_add(1);
        if *next == 0 {
            self.array().change_flags(Flags::ALLOC_WRAPPED, true);
        }
        Ok((id, wrapped))
    }
}
