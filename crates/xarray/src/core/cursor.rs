//! The advanced interface: a cursor that stands somewhere in an array, under a section or lock that its user holds.
//!
//! # How it works
//! A cursor remembers an index and the last index of the entry found there, not nodes: every step goes down
//! from the head again (3 to 10 ns when the way is in the cache). So nothing that a writer does in between can
//! mislead it, and there are no retry entries to meet. Its state and the moves between states are those of
//! Linux's `xa_state`, errors included: an error stays until [`State::set`], and makes every operation do nothing.
//!
//! Linux counterpart: `struct xa_state` and `xas_*` of lib/xarray.c @ 6.1.
//!
//! # Differences from Linux
//! Memory is allocated inside the operation, not between two tries; the
//! protocol of `xas_nomem` works all the same.

use super::find::{Found, Search};
use super::id::next_free;
use super::walk::LEVELS_MAX;
use crate::raw::Pin;
use crate::raw::dense::DIGIT_BITS;
use crate::{ArrayBody, Entry, Filter, Flags, Gfp, Mark};

/// Where a cursor stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Position {
    /// At no place yet: the next operation starts at the index.
    Restart,
    /// Behind the last entry.
    Bounds,
    /// At an index, which may be empty.
    At,
    /// At index 0 of an array that has nothing else.
    Head,
    /// An operation failed with this errno (positive).
    Error(i32),
}

/// A cursor's state. C knows the layout: `struct xa_state` of include/linux/xarray.h.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct State {
    pub(crate) index: u64,
    /// The last index of the entry that the cursor stands on.
    pub(super) last: u64,
    /// [`RESTART`], [`BOUNDS`], [`HEAD`], an errno shifted, or else the address of a [`NodeView`].
    pub(super) node: usize,
    pub(super) gfp: u32,
    pub(super) order: u8,
    /// The order of the entry that the cursor stands on. Linux: `xas_get_order`.
    pub(super) found_order: u8,
    pub(super) has_retried: bool,
}

const HEAD: usize = 0;
const BOUNDS: usize = 1;
pub(super) const RESTART: usize = 3;

/// The part of a node that C may see: the shift. One view for each shift stands for all nodes of
/// that shift.
#[derive(Debug)]
#[repr(C, align(64))]
struct NodeView {
    shift: u8,
    /// Slot, counts, array and list head of Linux's node: always zero here.
    _rest: [u8; 63],
}

static VIEWS: [NodeView; LEVELS_MAX] = {
    let mut views = [const { NodeView { shift: 0, _rest: [0; 63] } }; LEVELS_MAX];
    let mut level = 0;
    while level < LEVELS_MAX {
        views[level].shift = level as u8 * DIGIT_BITS as u8;
        level += 1;
    }
    views
};

impl State {
    /// Returns a cursor for the `2^order` indices around `index`. Linux: `XA_STATE_ORDER`.
    pub(crate) const fn new(index: u64, order: u32) -> Self {
        let index = index >> order << order;
        Self {
            index,
            last: index,
            node: RESTART,
            gfp: Gfp::NOWAIT.bits(),
            order: order as u8,
            found_order: 0,
            has_retried: false,
        }
    }

    /// Returns where the cursor stands.
    pub(crate) const fn position(&self) -> Position {
        match self.node {
            HEAD => Position::Head,
            BOUNDS => Position::Bounds,
            RESTART => Position::Restart,
            error if error & 3 == 2 => Position::Error(-((error as isize >> 2) as i32)),
            _ => Position::At,
        }
    }

    pub(crate) fn stand_at(&mut self) {
        let level = u32::from(self.found_order) / DIGIT_BITS;
        self.node = (&raw const VIEWS[level as usize]).expose_provenance();
    }

    /// Returns the order of the cursor: it covers `2^order` indices.
    pub(crate) const fn order(&self) -> u32 {
        self.order as u32
    }

    /// Returns the errno (positive) of the operation that failed, or 0.
    pub(crate) const fn error(&self) -> i32 {
        match self.position() {
            Position::Error(errno) => errno,
            _ => 0,
        }
    }

    /// Moves to another index. Linux: `xas_set_order`.
    pub(crate) const fn set(&mut self, index: u64, order: u32) {
        self.index = index >> order << order;
        self.last = self.index;
        self.order = order as u8;
        self.node = RESTART;
    }

    /// Steps behind the entry it stands on, so that the section or lock can be left. Linux: `xas_pause`.
    pub(crate) fn pause(&mut self) {
        if matches!(self.position(), Position::At | Position::Head) {
            match self.last.checked_add(1) {
                Some(index) => (self.index, self.node) = (index, RESTART),
                None => (self.index, self.node) = (0, BOUNDS),
            }
        }
    }

    fn stand_on(&mut self, array: &ArrayBody, found: Option<Found>) -> Entry {
        let found =
            found.unwrap_or(Found { entry: Entry::NULL, first: self.index, last: self.index });
        self.index = found.first.max(self.index);
        self.last = found.last;
        self.found_order = found.order() as u8;
        let is_head = found.last == 0 && !array.head.load().is_node();
        if is_head {
            self.node = HEAD;
        } else {
            self.stand_at();
        }
        found.entry
    }

    /// Returns the entry at the index. Linux: `xas_load`.
    pub(crate) fn load(&mut self, array: &ArrayBody, pin: Pin<'_>) -> Entry {
        if self.error() != 0 {
            return Entry::NULL;
        }
        if self.index != 0 && !array.head.load().is_node() {
            self.node = BOUNDS;
            return Entry::NULL;
        }
        let found = array.next(self.index, Search::all(self.index), pin);
        self.stand_on(array, found)
    }

    /// Returns the next entry after the one it stands on (or at the index, if it stands nowhere), at `max` at
    /// most. Linux: `xas_find`.
    pub(crate) fn find(&mut self, array: &ArrayBody, max: u64, pin: Pin<'_>) -> Entry {
        if self.index > max && self.error() == 0 {
            self.node = BOUNDS;
        }
        self.find_matching(array, Filter::Present, max, pin)
    }

    fn find_matching(&mut self, array: &ArrayBody, of: Filter, max: u64, pin: Pin<'_>) -> Entry {
        let Some(from) = self.next_index() else {
            return Entry::NULL;
        };
        match array.next(from, Search::stored(array, max, of), pin) {
            Some(found) => {
                self.index = from;
                self.stand_on(array, Some(found))
            }
            None => self.run_out(max),
        }
    }

    /// Returns where a search begins.
    fn next_index(&mut self) -> Option<u64> {
        match self.position() {
            Position::Error(_) | Position::Bounds => None,
            Position::Restart => Some(self.index),
            Position::At | Position::Head => {
                let next = self.last.checked_add(1);
                self.node = if next.is_none() { BOUNDS } else { self.node };
                next
            }
        }
    }

    fn run_out(&mut self, max: u64) -> Entry {
        match max.checked_add(1) {
            // A later search may go on from here.
            Some(next) => (self.index, self.node) = (next.max(self.index), RESTART),
            None => self.node = BOUNDS,
        }
        Entry::NULL
    }

    /// Does as [`State::find`], for entries with a mark. In an array that hands out ids, [`Mark::M0`]
    /// finds free indices, also those without an entry. Linux: `xas_find_marked`.
    pub(crate) fn find_marked(
        &mut self,
        array: &ArrayBody,
        max: u64,
        mark: Mark,
        pin: Pin<'_>,
    ) -> Entry {
        if self.index > max && self.error() == 0 {
            self.node = RESTART;
            return Entry::NULL;
        }
        if mark != Mark::FREE || !array.flags().has(Flags::TRACK_FREE) {
            return self.find_matching(array, Filter::Marked(mark), max, pin);
        }
        let Some(from) = self.next_index() else {
            return Entry::NULL;
        };
        let from = if array.flags().has(Flags::ZERO_BUSY) { from.max(1) } else { from };
        match next_free(&array.head, from, max, pin) {
            Some(free) => {
                self.index = free;
                let found = array.next(free, Search::all(free), pin);
                self.stand_on(array, found)
            }
            None => self.run_out(max),
        }
    }

    /// Returns the next entry that covers any of the cursor's indices, which do not move. Linux:
    /// `xas_find_conflict`.
    pub(crate) fn find_conflict(&mut self, array: &ArrayBody, pin: Pin<'_>) -> Entry {
        let index = self.index;
        let end = self.range_end();
        let from = self.next_index();
        let found = from.and_then(|from| array.next(from, Search::all(end), pin));
        let mut entry = Entry::NULL;
        if found.is_some() {
            entry = self.stand_on(array, found);
        } else if self.error() == 0 {
            self.node = RESTART;
        }
        self.index = index;
        entry
    }

    pub(crate) fn range_end(&self) -> u64 {
        self.index | ((1 << self.order) - 1)
    }

    /// Moves one index up, or stays if it stood nowhere, and returns the entry there. Linux: `xas_next`.
    pub(crate) fn next(&mut self, array: &ArrayBody, pin: Pin<'_>) -> Entry {
        self.step(1, array, pin)
    }

    /// Moves one index down, or stays if it stood nowhere, and returns the entry there. Linux: `xas_prev`.
    pub(crate) fn prev(&mut self, array: &ArrayBody, pin: Pin<'_>) -> Entry {
        self.step(u64::MAX, array, pin)
    }

    fn step(&mut self, delta: u64, array: &ArrayBody, pin: Pin<'_>) -> Entry {
        if !matches!(self.position(), Position::Error(_) | Position::Restart) {
            self.index = self.index.wrapping_add(delta);
        }
        self.load(array, pin)
    }
}
