//! The array's own bytes: a lock, flags and a head.

use std::sync::atomic::{AtomicU32, Ordering};

use super::lock::Lock;
use super::slot::Slot;
use crate::{Flags, Mark};

/// An array of entries, 16 bytes like the kernel's `struct xarray`, and the same bytes as our C header's.
///
/// This is the untyped core: it owns its nodes, not what the entries point to. [`crate::XArray`] is the typed
/// face. Reading takes a [`crate::Guard`] and never a lock; changing takes the lock.
#[repr(C)]
#[derive(Debug)]
pub struct RawXArray {
    pub(super) lock: Lock,
    flags: AtomicU32,
    pub(crate) head: Slot,
}

const _: () = assert!(size_of::<RawXArray>() == 16);

impl RawXArray {
    /// Returns an empty array. Linux: `DEFINE_XARRAY_FLAGS`, `xa_init_flags`.
    #[must_use]
    pub const fn new(flags: Flags) -> Self {
        Self { lock: Lock::new(), flags: AtomicU32::new(flags.0), head: Slot::new() }
    }

    /// Returns the flags, with the marks that some entry bears.
    pub fn flags(&self) -> Flags {
        Flags(self.flags.load(Ordering::Relaxed))
    }

    /// Returns whether nothing is stored, not even a reservation. Linux: `xa_empty`.
    pub fn is_empty(&self) -> bool {
        self.head.is_empty()
    }

    /// Returns whether any entry bears the mark. Linux: `xa_marked`.
    pub fn is_marked(&self, mark: Mark) -> bool {
        self.flags.load(Ordering::Acquire) & mark.root_flag() != 0
    }

    pub(crate) fn change_flags(&self, flags: Flags, on: bool) {
        let old = self.flags().0;
        let new = if on { old | flags.0 } else { old & !flags.0 };
        if new != old {
            self.flags.store(new, Ordering::Release);
        }
    }

    pub(crate) fn set_root_mark(&self, mark: Mark, on: bool) {
        self.change_flags(Flags(mark.root_flag()), on);
    }
}
