//! Dense tables of zeroed memory that the operating system commits as they are touched.

use alloc::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use core::ops::Index;
use core::ptr::NonNull;

use super::sync::{AtomicU16, AtomicU32, AtomicU64};

/// Types for which memory full of zeroes is a valid value without a destructor.
///
/// # Safety
/// All-zero bytes must be a valid value, and dropping must be a no-op.
pub(crate) unsafe trait Zeroed {
    /// Makes such a value; those of loom's atomics are not their bytes.
    #[cfg(loom)]
    fn zero() -> Self;
}

/// States for types that all-zero bytes are the value that the expression makes.
macro_rules! zeroed {
    ($($ty:ty = $zero:expr;)*) => {$(
        // SAFETY: an integer, or an atomic, which has the layout of its integer.
        unsafe impl Zeroed for $ty {
            #[cfg(loom)]
            fn zero() -> Self {
                $zero
            }
        }
    )*};
}

zeroed! {
    u8 = 0;
    u16 = 0;
    u32 = 0;
    u64 = 0;
    AtomicU16 = AtomicU16::new(0);
    AtomicU32 = AtomicU32::new(0);
    AtomicU64 = AtomicU64::new(0);
}

// SAFETY: an array of zeroed values is zeroed memory.
unsafe impl<T: Zeroed, const N: usize> Zeroed for [T; N] {
    #[cfg(loom)]
    fn zero() -> Self {
        core::array::from_fn(|_| T::zero())
    }
}

/// Tables of this many bytes and more are mapped.
#[cfg(feature = "std")]
const MAPPED_MIN: usize = 1 << 16;

/// Defines a struct whose fields are all [`Zeroed`], and marks it so.
macro_rules! zeroed_struct {
    ($(#[$meta:meta])* $vis:vis struct $name:ident {
        $($(#[$fmeta:meta])* $fvis:vis $field:ident: $ty:ty),* $(,)?
    }) => {
        $(#[$meta])*
        $vis struct $name { $($(#[$fmeta])* $fvis $field: $ty),* }

        const _: () = {
            const fn zeroed<T: $crate::raw::zeroed::Zeroed>() {}
            $(zeroed::<$ty>();)*
        };
        #[allow(unsafe_code)]
        // SAFETY: every field is `Zeroed`, which the constant above makes the compiler prove.
        unsafe impl $crate::raw::zeroed::Zeroed for $name {
            #[cfg(loom)]
            fn zero() -> Self {
                Self { $($field: $crate::raw::zeroed::Zeroed::zero()),* }
            }
        }
    };
}
pub(crate) use zeroed_struct;

/// A boxed slice that starts as zeroes and costs memory only where it was touched.
pub(crate) struct ZeroedSlice<T: Zeroed> {
    base: NonNull<T>,
    len: usize,
}

// SAFETY: owns its elements as a `Box<[T]>` does.
unsafe impl<T: Zeroed + Send> Send for ZeroedSlice<T> {}
// SAFETY: shares its elements as a `Box<[T]>` does.
unsafe impl<T: Zeroed + Sync> Sync for ZeroedSlice<T> {}

impl<T: Zeroed> ZeroedSlice<T> {
    /// Makes a slice of `len` zeroed elements. Large ones are fresh pages of the operating system:
    /// `calloc` would do as well for the first machine of a process, but clears by hand what it
    /// recycles, and so commits all of it.
    pub(crate) fn new(len: usize) -> Self {
        let layout = Self::layout(len);
        if layout.size() == 0 {
            return Self { base: NonNull::dangling(), len };
        }
        let base = match layout.size() {
            #[cfg(feature = "std")]
            MAPPED_MIN.. => super::mapping::map(layout.size()),
            // SAFETY: the layout is not of size 0.
            _ => NonNull::new(unsafe { alloc_zeroed(layout) }),
        };
        match base {
            Some(base) => {
                let base = base.cast::<T>();
                #[cfg(loom)]
                for i in 0..len {
                    // SAFETY: in bounds of the memory of `len` elements just taken.
                    let place = unsafe { base.add(i) };
                    // SAFETY: as above, and aligned.
                    unsafe { place.write(T::zero()) };
                }
                Self { base, len }
            }
            None => handle_alloc_error(layout),
        }
    }

    fn layout(len: usize) -> Layout {
        Layout::array::<T>(len).expect("a table larger than the address space")
    }

    /// Returns the elements.
    #[inline(always)]
    pub(crate) fn as_slice(&self) -> &[T] {
        // SAFETY: `base` points to `len` zero-initialised, hence valid, elements that live as long
        // as `self`.
        unsafe { core::slice::from_raw_parts(self.base.as_ptr(), self.len) }
    }
}

/// Parts of two tables that have an element for each of the same things.
pub(crate) struct Pairs<'a, A, B> {
    first: &'a [A],
    /// A table as long as the first.
    second: &'a [B],
}

impl<A, B> Clone for Pairs<'_, A, B> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A, B> Copy for Pairs<'_, A, B> {}

impl<'a, A, B> Pairs<'a, A, B> {
    /// Pairs two slices of one length.
    pub(crate) fn new(first: &'a [A], second: &'a [B]) -> Self {
        assert_eq!(first.len(), second.len(), "pairs are of slices of one length");
        Self { first, second }
    }

    /// Returns the elements at a place of both, for the price of one check against the length.
    #[inline(always)]
    pub(crate) fn get(&self, i: usize) -> Option<(&'a A, &'a B)> {
        let first = self.first.get(i)?;
        // SAFETY: in bounds of the first, which is as long (asserted when the pairs were made).
        let second = unsafe { self.second.get_unchecked(i) };
        Some((first, second))
    }
}

impl<A, B> core::fmt::Debug for Pairs<'_, A, B> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Pairs").field("len", &self.first.len()).finish_non_exhaustive()
    }
}

impl<T: Zeroed> Drop for ZeroedSlice<T> {
    fn drop(&mut self) {
        let layout = Self::layout(self.len);
        match layout.size() {
            0 => {}
            #[cfg(feature = "std")]
            // SAFETY: mapped in `new` with this size.
            MAPPED_MIN.. => unsafe { super::mapping::unmap(self.base.cast(), layout.size()) },
            // SAFETY: allocated in `new` with this layout.
            _ => unsafe { dealloc(self.base.as_ptr().cast(), layout) },
        }
    }
}

impl<T: Zeroed> Index<usize> for ZeroedSlice<T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, i: usize) -> &T {
        &self.as_slice()[i]
    }
}

impl<T: Zeroed> core::fmt::Debug for ZeroedSlice<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("ZeroedSlice").field("len", &self.len).finish_non_exhaustive()
    }
}
