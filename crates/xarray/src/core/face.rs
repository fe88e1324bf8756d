//! Cursors for Rust: [`State`] tied to the section or the lock under which it moves.

use slablab_rcu::Guard;

use super::cursor::{Position, State};
use crate::raw::{Section, Writer};
use crate::{ArrayBody, Entry, Mark, Result};

/// An entry covers at most half of all indices.
const ORDER_MAX: u32 = 63;

/// A cursor that reads, inside a read-side section.
#[derive(Debug)]
pub struct Cursor<'g> {
    array: &'g ArrayBody,
    guard: &'g Guard,
    state: State,
}

/// A cursor that changes the array, under its lock. Linux: `XA_STATE_ORDER`.
#[derive(Debug)]
pub struct CursorMut<'w> {
    writer: &'w Writer<'w>,
    state: State,
}

impl ArrayBody {
    /// Returns a cursor at `index`.
    pub fn cursor<'g>(&'g self, index: u64, guard: &'g Guard) -> Cursor<'g> {
        Cursor { array: self, guard, state: State::new(index, 0) }
    }
}

impl<'w> Writer<'w> {
    /// Returns a cursor for the `2^order` indices around `index`.
    ///
    /// # Panics
    ///
    /// If the order is above 63.
    pub fn cursor(&'w self, index: u64, order: u32) -> CursorMut<'w> {
        assert!(order <= ORDER_MAX, "an entry of order {order}");
        CursorMut { writer: self, state: State::new(index, order) }
    }
}

impl Cursor<'_> {
    /// Returns the index.
    #[must_use]
    pub const fn index(&self) -> u64 {
        self.state.index
    }

    /// Returns where it stands.
    #[must_use]
    pub const fn position(&self) -> Position {
        self.state.position()
    }

    /// Returns the order of the entry it stands on.
    #[must_use]
    pub const fn order(&self) -> u32 {
        self.state.found_order as u32
    }

    /// Moves to another index.
    pub const fn seek(&mut self, index: u64) {
        self.state.set(index, 0);
    }

    /// Returns the entry at the index.
    pub fn load(&mut self) -> Entry {
        self.state.load(self.array, self.guard.pin())
    }

    /// Returns the next entry, at `max` at most; reserved indices give the zero entry.
    pub fn find(&mut self, max: u64) -> Entry {
        self.state.find(self.array, max, self.guard.pin())
    }

    /// Returns the next entry with the mark, at `max` at most.
    pub fn find_marked(&mut self, max: u64, mark: Mark) -> Entry {
        self.state.find_marked(self.array, max, mark, self.guard.pin())
    }

    /// Moves one index up and returns the entry there.
    pub fn step_up(&mut self) -> Entry {
        self.state.next(self.array, self.guard.pin())
    }

    /// Moves one index down and returns the entry there.
    pub fn step_down(&mut self) -> Entry {
        self.state.prev(self.array, self.guard.pin())
    }

    /// Steps behind the entry it stands on.
    pub fn pause(&mut self) {
        self.state.pause();
    }
}

impl CursorMut<'_> {
    /// Returns the index.
    #[must_use]
    pub const fn index(&self) -> u64 {
        self.state.index
    }

    /// Moves to another index and order.
    ///
    /// # Panics
    ///
    /// If the order is above 63.
    pub fn seek(&mut self, index: u64, order: u32) {
        assert!(order <= ORDER_MAX, "an entry of order {order}");
        self.state.set(index, order);
    }

    /// Returns the entry at the index.
    pub fn load(&mut self) -> Entry {
        self.state.load(self.writer.array(), self.writer.pin())
    }

    /// Returns the next entry, at `max` at most; reserved indices give the zero entry.
    pub fn find(&mut self, max: u64) -> Entry {
        self.state.find(self.writer.array(), max, self.writer.pin())
    }

    /// Returns the next entry that covers any of the cursor's indices.
    pub fn find_conflict(&mut self) -> Entry {
        self.state.find_conflict(self.writer.array(), self.writer.pin())
    }

    /// Stores an entry at all the cursor's indices and returns what was at the first; NULL erases.
    ///
    /// # Errors
    ///
    /// If the entry is invalid, or memory is out.
    pub fn store(&mut self, entry: Entry) -> Result<Entry> {
        if !entry.is_storable() {
            return Err(crate::Error::Invalid);
        }
        let old = self.writer.exchange_order(self.state.index, self.state.order(), entry)?;
        self.state.load(self.writer.array(), self.writer.pin());
        Ok(old)
    }

    /// Makes sure that storing at any of the cursor's indices needs no memory. The array is not
    /// [empty](crate::ArrayBody::is_empty) any more, though nothing is found in it.
    ///
    /// # Errors
    ///
    /// If memory is out.
    pub fn create_range(&mut self) -> Result<()> {
        self.writer.create_range(self.state.index, self.state.range_end())
    }

    /// Divides the entry of `old_order` here into entries of the cursor's order, which all hold `entry` and
    /// bear the marks of the whole.
    ///
    /// # Errors
    ///
    /// If memory is out. The split is invalid if the cursor's order is not smaller, or more than one level of nodes below.
    /// It is also invalid if the entry here is not of `old_order`, or `entry` cannot be stored at several indices.
    pub fn split(&mut self, old_order: u32, entry: Entry) -> Result<()> {
        let (index, order) = (self.state.index, self.state.order());
        let found = self.writer.next_entry(index, index);
        if found.is_none_or(|found| found.order() != old_order) || !entry.fits_many_indices() {
            return Err(crate::Error::Invalid);
        }
        let split = super::range::Split::prepare(index, old_order, order, entry, self.writer.gfp)?;
        self.writer.split(index, entry, split);
        Ok(())
    }

    /// Sets a mark of the entry here.
    pub fn mark(&mut self, mark: Mark) {
        self.writer.mark(self.state.index, mark);
    }

    /// Clears a mark of the entry here.
    pub fn unmark(&mut self, mark: Mark) {
        self.writer.unmark(self.state.index, mark);
    }

    /// Steps behind the entry it stands on.
    pub fn pause(&mut self) {
        self.state.pause();
    }
}
