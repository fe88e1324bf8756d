//! The unsafe part of the typed interface: it turns owners into entries and back.

use std::marker::PhantomData;
use std::sync::Arc;

use crate::Entry;

/// Owners that fit an entry. A value taken out of an array is dropped later, by whichever thread then
/// comes along, so owners borrow nothing and may be sent.
///
/// ```compile_fail
/// use std::rc::Rc;
/// use slablab_xarray::XArray;
///
/// let array = XArray::new();
/// array.store(7, Box::new(Rc::new(5))).expect("memory");
/// ```
///
/// # Safety
///
/// - `into_entry` returns an entry that users may store and that is not NULL.
/// - `borrow` and `from_entry` are sound on such an entry while, or once, the owner that it was is not used
///   in another way.
pub unsafe trait Stored: Sized + Send + 'static {
    /// What a reader sees of it.
    type Ref<'g>
    where
        Self: 'g;

    /// Gives the owner up for an entry.
    fn into_entry(self) -> Entry;

    /// Takes the owner back.
    ///
    /// # Safety
    ///
    /// The entry came from `into_entry`, is taken back once, and no reader holds it any more.
    unsafe fn from_entry(entry: Entry) -> Self;

    /// Looks at what the entry owns.
    ///
    /// # Safety
    ///
    /// The entry came from `into_entry` and is not taken back before `'g` ends.
    unsafe fn borrow<'g>(entry: Entry) -> Self::Ref<'g>
    where
        Self: 'g;
}

/// An integer of up to 63 bits, stored in the entry itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Value(usize);

impl Value {
    /// Returns the value for this integer, if that fits 63 bits.
    #[must_use]
    pub const fn new(integer: usize) -> Option<Self> {
        if integer <= Entry::VALUE_MAX { Some(Self(integer)) } else { None }
    }

    /// Returns the integer.
    #[must_use]
    pub const fn get(self) -> usize {
        self.0
    }
}

/// SAFETY: nothing is owned.
unsafe impl Stored for Value {
    type Ref<'g> = Self;

    fn into_entry(self) -> Entry {
        Entry::value(self.0)
    }

    unsafe fn from_entry(entry: Entry) -> Self {
        Self(entry.as_value().expect("an integer went in"))
    }

    unsafe fn borrow<'g>(entry: Entry) -> Self
    where
        Self: 'g,
    {
        // SAFETY: as the caller promises.
        unsafe { Self::from_entry(entry) }
    }
}

/// Boxes and arcs of less than four bytes' alignment would look like tagged or internal entries.
const fn assert_aligned<T>() {
    const { assert!(align_of::<T>() >= 4, "an entry points to something aligned to four bytes") };
    const { assert!(size_of::<T>() > 0, "an entry points to something") };
}

macro_rules! stored_owner {
    ($owner:ident: $($bound:ident),*) => {
        /// SAFETY: the pointer is not null and aligned; what it points to does not move.
        unsafe impl<T: $($bound +)* 'static> Stored for $owner<T> {
            type Ref<'g>
                = &'g T
            where
                T: 'g;

            fn into_entry(self) -> Entry {
                assert_aligned::<T>();
                Entry::from_ptr(Self::into_raw(self))
            }

            unsafe fn from_entry(entry: Entry) -> Self {
                // SAFETY: as the caller promises.
                unsafe { Self::from_raw(entry.as_ptr().cast()) }
            }

            unsafe fn borrow<'g>(entry: Entry) -> &'g T
            where
                T: 'g,
            {
                // SAFETY: as the caller promises.
                unsafe { &*entry.as_ptr().cast() }
            }
        }
    };
}

stored_owner!(Box: Send);
stored_owner!(Arc: Send, Sync);

/// SAFETY: nothing is owned.
unsafe impl<T: Sync> Stored for &'static T {
    type Ref<'g> = &'static T;

    fn into_entry(self) -> Entry {
        assert_aligned::<T>();
        Entry::from_ptr(self)
    }

    unsafe fn from_entry(entry: Entry) -> Self {
        // SAFETY: as the caller promises.
        unsafe { &*entry.as_ptr().cast() }
    }

    unsafe fn borrow<'g>(entry: Entry) -> &'static T
    where
        Self: 'g,
    {
        // SAFETY: as the caller promises.
        unsafe { &*entry.as_ptr().cast() }
    }
}

/// What was taken out of an array, which readers may still be looking at. Dropping it drops the owner once
/// the last of them has moved on ([`slablab_rcu::drop_later`]), for which it takes a few bytes of memory;
/// [`Removed::wait`] takes none.
///
/// Readers may be looking at it, so another thread may have it only if it may be shared:
///
/// ```compile_fail
/// use std::cell::Cell;
/// use slablab_xarray::{XArray, pin};
///
/// let array = XArray::new();
/// array.store(7, Box::new(Cell::new(5))).expect("memory");
/// let section = pin();
/// let cell = array.load(7, &section);
/// let removed = array.remove(7);
/// std::thread::spawn(move || removed.map(|removed| removed.get().set(6)));
/// ```
#[derive(Debug)]
#[must_use = "dropping it drops what was stored, later"]
pub struct Removed<P: Stored> {
    entry: Entry,
    _owner: Owner<P>,
}

/// Owns a `P` that readers may be looking at, so it is sent only if it may also be shared.
type Owner<P> = PhantomData<(P, &'static P)>;

impl<P: Stored> Removed<P> {
    /// Returns the owner of an entry that has just been taken out of an array of `P`s.
    pub(crate) fn new(entry: Entry) -> Option<Self> {
        (!entry.is_null()).then(|| Self { entry, _owner: PhantomData })
    }

    /// Looks at it.
    #[must_use]
    pub fn get(&self) -> P::Ref<'_> {
        // SAFETY: only dropping or waiting takes the owner back.
        unsafe { P::borrow(self.entry) }
    }

    /// Waits for all current readers, and takes the owner.
    ///
    /// # Panics
    ///
    /// If this thread is in a read-side section itself.
    #[must_use]
    pub fn wait(self) -> P {
        slablab_rcu::synchronize();
        let entry = self.entry;
        std::mem::forget(self);
        // SAFETY: it was taken out before the wait, so no reader is left.
        unsafe { P::from_entry(entry) }
    }
}

impl<P: Stored> Drop for Removed<P> {
    fn drop(&mut self) {
        // An integer, or a reference that lives for ever, is not dropped at all.
        if std::mem::needs_drop::<P>() {
            slablab_rcu::drop_later(Unread::<P>(self.entry, PhantomData));
        }
    }
}

/// An owner that no reader will find any more.
struct Unread<P: Stored>(Entry, PhantomData<P>);

impl<P: Stored> Drop for Unread<P> {
    fn drop(&mut self) {
        drop(take_back::<P>(self.0));
    }
}

/// Borrows what an array of `P`s returned under a guard that lives for `'g`, as the array does.
pub(crate) fn borrow<'g, P: Stored + 'g>(entry: Entry) -> Option<P::Ref<'g>> {
    // SAFETY: arrays of `P`s hold only what into_entry made, and it is taken back only after the guard.
    (!entry.is_null()).then(|| unsafe { P::borrow(entry) })
}

/// Takes back the owner of an entry that was not stored, or that no reader can have seen.
pub(crate) fn take_back<P: Stored>(entry: Entry) -> P {
    // SAFETY: never visible, or the array is exclusively borrowed.
    unsafe { P::from_entry(entry) }
}
