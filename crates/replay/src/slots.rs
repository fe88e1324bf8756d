//! A table by object slot, which holds a value for each live object of a trace.
//!
//! # How it works
//! The import numbers objects densely and uses a number again after the free, so a slot is below the
//! number of rows and a vector serves. Where rows were taken out of a trace, or its numbers are damaged, few rows
//! may have large slots. Those beyond `dense_max` lie in a map, so that memory is bounded by the rows that exist,
//! not by their content.

use std::collections::BTreeMap;

/// Slots up to this many times the rows lie in the vector.
const SLOTS_PER_ROW: usize = 8;
/// The vector may have as many entries as this, however few rows there are.
const DENSE_MIN: usize = 1 << 16;

/// Entries by slot; a slot that was never written has the default.
#[derive(Debug)]
pub(crate) struct Slots<T> {
    dense: Vec<T>,
    dense_max: usize,
    sparse: BTreeMap<usize, T>,
}

impl<T: Clone + Default> Slots<T> {
    /// Makes the table of a trace of `rows` rows.
    pub(crate) fn new(rows: u64) -> Self {
        let rows = usize::try_from(rows).unwrap_or(usize::MAX);
        let dense_max = rows.saturating_mul(SLOTS_PER_ROW).max(DENSE_MIN);
        Self { dense: Vec::new(), dense_max, sparse: BTreeMap::new() }
    }

    /// Returns the entry of a slot if it was ever written.
    #[inline]
    pub(crate) fn get_mut(&mut self, slot: usize) -> Option<&mut T> {
        match self.dense.get_mut(slot) {
            Some(entry) => Some(entry),
            None => self.sparse.get_mut(&slot),
        }
    }

    /// Returns the entry of a slot, made if need be.
    #[inline]
    pub(crate) fn entry(&mut self, slot: usize) -> &mut T {
        if slot >= self.dense.len() {
            return self.make(slot);
        }
        &mut self.dense[slot]
    }

    #[cold]
    fn make(&mut self, slot: usize) -> &mut T {
        if slot >= self.dense_max {
            return self.sparse.entry(slot).or_default();
        }
        let entries = (slot + 1).next_power_of_two().min(self.dense_max);
        self.dense.resize(entries, T::default());
        &mut self.dense[slot]
    }

    /// Returns all entries that there are with their slots, in the order of these.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (usize, &T)> {
        let sparse = self.sparse.iter().map(|(slot, entry)| (*slot, entry));
        self.dense.iter().enumerate().chain(sparse)
    }

    /// Returns all entries that there are, in the order of their slots.
    pub(crate) fn values(&self) -> impl Iterator<Item = &T> {
        self.dense.iter().chain(self.sparse.values())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_slot_of_a_short_trace_takes_no_memory_for_those_below_it() {
        let mut slots = Slots::new(3);
        *slots.entry(2) = 'a';
        *slots.entry(u32::MAX as usize - 1) = 'b';
        assert_eq!(slots.get_mut(u32::MAX as usize - 1), Some(&mut 'b'));
        assert_eq!(slots.get_mut(u32::MAX as usize - 2), None);
        assert!(slots.dense.len() <= DENSE_MIN);
        let written: Vec<_> = slots.values().filter(|entry| **entry != '\0').collect();
        assert_eq!(written, [&'a', &'b']);
    }
}
