//! A value in cache lines of its own: what one CPU writes does not slow down another that reads or writes its neighbour.
//!
//! # How it works
//! It takes two lines, since processors fetch the neighbour of a line with it.
//!
//! Linux counterpart: `____cacheline_internodealigned_in_smp` in `include/linux/cache.h` @ 6.1.

use core::ops::Deref;

use super::zeroed::Zeroed;

/// A value that shares its cache lines with no other.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct CacheAligned<T>(pub(crate) T);

// SAFETY: the value, and padding, which may be anything.
unsafe impl<T: Zeroed> Zeroed for CacheAligned<T> {
    #[cfg(loom)]
    fn zero() -> Self {
        Self(T::zero())
    }
}

impl<T> Deref for CacheAligned<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}
