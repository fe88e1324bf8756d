//! The typed interface: an array of boxes, arcs, static references or integers.

#[allow(unsafe_code, reason = "owners become entries and back, see its header")]
mod raw;

use std::marker::PhantomData;
use std::ops::RangeInclusive;

use slablab_rcu::Guard;

pub use self::raw::{Removed, Stored, Value};
use self::raw::{borrow, take_back};
use crate::{Entries, Entry, Error, Filter, Flags, IdLimit, Mark, RawXArray, Writer};

/// An array that owns what it stores: from any `u64` to a `P`.
///
/// Readers see stored values as long as their [`Guard`] lives, whatever writers do meanwhile.
///
/// ```
/// use slablab_xarray::{XArray, pin};
///
/// let array = XArray::new();
/// array.store(7, Box::new(1234_u64)).expect("memory");
/// array.store(u64::MAX, Box::new(5)).expect("memory");
///
/// let guard = pin();
/// assert_eq!(array.load(7, &guard), Some(&1234));
/// let removed = array.remove(7).expect("it is there");
/// assert_eq!(array.load(7, &guard), None);
/// assert_eq!(array.iter(&guard).collect::<Vec<_>>(), [(u64::MAX, &5)]);
/// assert_eq!(*removed.get(), 1234);
/// ```
///
/// An array of functions that take any reference is not one of functions that take static ones:
///
/// ```compile_fail
/// use slablab_xarray::XArray;
///
/// type Any = Box<for<'a> fn(&'a u8)>;
/// fn as_static(array: &XArray<Any>) -> &XArray<Box<fn(&'static u8)>> { array }
/// ```
#[derive(Debug)]
pub struct XArray<P: Stored> {
    raw: RawXArray,
    _owns: Owns<P>,
}

/// Owns `P`s, takes them in and hands them out through shared references, so one type of array cannot pass for
/// another.
type Owns<P> = PhantomData<(P, fn(P) -> P)>;

/// A value that could not be stored, given back with the reason.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct Rejected<P> {
    /// Why.
    pub error: Error,
    /// The value.
    pub value: P,
}

/// An array whose lock is held.
#[derive(Debug)]
pub struct Locked<'a, P: Stored> {
    writer: Writer<'a>,
    _owns: Owns<P>,
}

impl<P: Stored> Default for XArray<P> {
    fn default() -> Self {
        Self::new()
    }
}

impl<P: Stored> XArray<P> {
    /// Returns an empty array.
    #[must_use]
    pub const fn new() -> Self {
        Self::with_flags(Flags::NONE)
    }

    /// Returns an empty array with these flags, for instance one that hands out ids
    /// ([`Flags::ALLOC`]).
    #[must_use]
    pub const fn with_flags(flags: Flags) -> Self {
        Self { raw: RawXArray::new(flags), _owns: PhantomData }
    }

    /// Returns the bytes that the array's nodes take.
    pub fn memory_bytes(&self) -> usize {
        self.raw.memory_bytes()
    }

    /// Takes the lock for a number of changes.
    pub fn lock(&self) -> Locked<'_, P> {
        Locked { writer: self.raw.lock(), _owns: PhantomData }
    }

    /// Returns what is stored at `index`.
    #[inline]
    pub fn load<'g>(&'g self, index: u64, guard: &'g Guard) -> Option<P::Ref<'g>> {
        borrow::<P>(self.raw.load(index, guard))
    }

    /// Returns whether nothing is stored or reserved.
    pub fn is_empty(&self) -> bool {
        self.raw.is_empty()
    }

    /// Iterates over everything, in order of the index.
    pub fn iter<'g>(&'g self, guard: &'g Guard) -> Iter<'g, P> {
        self.range(0..=u64::MAX, guard)
    }

    /// Iterates over the indices of a range. An empty range, whether reversed or iterated to its end, has none.
    pub fn range<'g>(&'g self, range: RangeInclusive<u64>, guard: &'g Guard) -> Iter<'g, P> {
        // A range that was iterated to its end still has its ends.
        let (from, max) = if range.is_empty() { (1, 0) } else { range.into_inner() };
        let entries = self.raw.entries(from, max, Filter::Present, guard);
        Iter { entries, _owns: PhantomData }
    }

    /// Iterates over what bears the mark.
    pub fn marked<'g>(&'g self, mark: Mark, guard: &'g Guard) -> Iter<'g, P> {
        let entries = self.raw.entries(0, u64::MAX, Filter::Marked(mark), guard);
        Iter { entries, _owns: PhantomData }
    }

    /// Stores a value and returns the previous one.
    ///
    /// # Errors
    ///
    /// If memory is out.
    pub fn store(&self, index: u64, value: P) -> Result<Option<Removed<P>>, Rejected<P>> {
        self.lock().store(index, value)
    }

    /// Stores a value where there is none.
    ///
    /// # Errors
    ///
    /// If there is something already: busy. If memory is out.
    pub fn insert(&self, index: u64, value: P) -> Result<(), Rejected<P>> {
        self.lock().insert(index, value)
    }

    /// Stores a value at the lowest free id within the limit.
    ///
    /// # Errors
    ///
    /// If all ids are taken: busy. If the array does not hand out ids: invalid. If memory is out.
    pub fn alloc(&self, value: P, limit: IdLimit) -> Result<u32, Rejected<P>> {
        self.lock().alloc(value, limit)
    }

    /// Removes what is stored at `index`. Never fails.
    pub fn remove(&self, index: u64) -> Option<Removed<P>> {
        self.lock().remove(index)
    }

    /// Sets a mark of what is stored at `index`. Never fails.
    pub fn mark(&self, index: u64, mark: Mark) {
        self.raw.lock().mark(index, mark);
    }

    /// Clears a mark. Never fails.
    pub fn unmark(&self, index: u64, mark: Mark) {
        self.raw.lock().unmark(index, mark);
    }
}

impl<P: Stored> Locked<'_, P> {
    /// Does as [`XArray::store`], with the same errors.
    pub fn store(&self, index: u64, value: P) -> Result<Option<Removed<P>>, Rejected<P>> {
        attempt(value, |entry| self.writer.store(index, entry)).map(Removed::new)
    }

    /// Does as [`XArray::insert`], with the same errors.
    pub fn insert(&self, index: u64, value: P) -> Result<(), Rejected<P>> {
        attempt(value, |entry| self.writer.insert_new(index, entry))
    }

    /// Does as [`XArray::alloc`], with the same errors.
    pub fn alloc(&self, value: P, limit: IdLimit) -> Result<u32, Rejected<P>> {
        attempt(value, |entry| self.writer.alloc(entry, limit))
    }

    /// Does as [`XArray::remove`].
    pub fn remove(&self, index: u64) -> Option<Removed<P>> {
        Removed::new(self.writer.remove(index))
    }

    /// Makes sure that a later store at this index needs no memory.
    ///
    /// # Errors
    ///
    /// If memory is out.
    pub fn reserve(&self, index: u64) -> crate::Result<()> {
        self.writer.reserve(index)
    }

    /// Takes a reservation back.
    pub fn release(&self, index: u64) {
        self.writer.release(index);
    }
}

fn attempt<P: Stored, T>(
    value: P,
    store: impl FnOnce(Entry) -> crate::Result<T>,
) -> Result<T, Rejected<P>> {
    let entry = value.into_entry();
    store(entry).map_err(|error| Rejected { error, value: take_back(entry) })
}

/// An iterator over an array.
#[derive(Debug)]
pub struct Iter<'g, P: Stored> {
    entries: Entries<'g>,
    _owns: PhantomData<&'g P>,
}

impl<'g, P: Stored + 'g> Iterator for Iter<'g, P> {
    type Item = (u64, P::Ref<'g>);

    fn next(&mut self) -> Option<Self::Item> {
        let (index, entry) = self.entries.next()?;
        Some((index, borrow::<P>(entry)?))
    }
}

impl<P: Stored> Drop for XArray<P> {
    fn drop(&mut self) {
        // This is done under the lock instead of in a section, because values that are dropped may
        // wait for readers.
        let writer = self.raw.lock();
        for (_, entry) in writer.entries() {
            drop(take_back::<P>(entry));
        }
    }
}
