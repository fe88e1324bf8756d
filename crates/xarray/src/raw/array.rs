//! The array's own bytes: a lock, flags and a head.
//!
//! Each change writes the lock twice and each lookup reads the head. In Rust they lie in different lines of the CPU's
//! cache, wherever the array begins and whatever lies behind it. With both in one line a lookup beside a writer took two
//! to three times as long as alone, and a change twice as long. In C they are packed, as Linux has them.

use std::ops::Deref;
use std::sync::atomic::{AtomicU32, Ordering};

use super::lock::Lock;
use super::slot::Slot;
use crate::{Flags, Mark};

/// What readers of an array need: they take a [`crate::Guard`] and never a lock.
///
/// It has no way to change anything: the lock of its writers is that of the array that it is a part of, [`PackedXArray`] or
/// [`RawXArray`]. Two writers with two locks would be a data race:
///
/// ```compile_fail,E0599
/// use slablab_xarray::{ArrayBody, Flags, RawXArray};
///
/// let array = RawXArray::new(Flags::ALLOC);
/// let (one, body): (_, &ArrayBody) = (array.lock(), &array);
/// let other = body.lock();
/// ```
///
/// ```compile_fail,E0308
/// use slablab_xarray::{Flags, PackedXArray, RawXArray};
///
/// let array = RawXArray::new(Flags::ALLOC);
/// let packed: &PackedXArray = &array;
/// ```
#[repr(C)]
#[derive(Debug)]
pub struct ArrayBody {
    /// That of a packed array's writers; others have one of their own.
    pub(crate) lock: Lock,
    flags: AtomicU32,
    pub(crate) head: Slot,
}

/// An array of entries in 16 bytes, as the kernel's: `struct xarray` of our C header.
///
/// This is the untyped core: it owns its nodes, but not the objects that entries point to. [`crate::XArray`]
/// is the typed interface.
#[repr(transparent)]
#[derive(Debug)]
pub struct PackedXArray {
    body: ArrayBody,
}

/// The same in 128 bytes, so that readers and a writer use different lines of the CPU's cache.
#[repr(C)]
#[derive(Debug)]
pub struct RawXArray {
    lock: Lock,
    to_next_line: [u64; 6],
    body: ArrayBody,
    to_next_array: [u64; 7],
}

const LINE_BYTES: usize = 64;
const _: () = assert!(size_of::<PackedXArray>() == 16);
const _: () = assert!(
    std::mem::offset_of!(RawXArray, body) + std::mem::offset_of!(ArrayBody, head) == LINE_BYTES
);
const _: () = assert!(size_of::<RawXArray>() == 2 * LINE_BYTES);

impl Deref for RawXArray {
    type Target = ArrayBody;

    fn deref(&self) -> &ArrayBody {
        &self.body
    }
}

impl Deref for PackedXArray {
    type Target = ArrayBody;

    fn deref(&self) -> &ArrayBody {
        &self.body
    }
}

impl RawXArray {
    /// Returns an empty array. Linux: `DEFINE_XARRAY_FLAGS`, `xa_init_flags`.
    #[must_use]
    pub const fn new(flags: Flags) -> Self {
        Self {
            lock: Lock::new(),
            to_next_line: [0; 6],
            body: ArrayBody::new(flags),
            to_next_array: [0; 7],
        }
    }

    /// Returns the array's body, and the lock of all its writers.
    pub(crate) fn parts(&self) -> (&ArrayBody, &Lock) {
        (&self.body, &self.lock)
    }
}

impl PackedXArray {
    /// Returns an empty array. Linux: `DEFINE_XARRAY_FLAGS`, `xa_init_flags`.
    #[must_use]
    pub const fn new(flags: Flags) -> Self {
        Self { body: ArrayBody::new(flags) }
    }

    /// Returns the array's body, and the lock of all its writers.
    pub(crate) fn parts(&self) -> (&ArrayBody, &Lock) {
        (&self.body, &self.body.lock)
    }
}

impl ArrayBody {
    const fn new(flags: Flags) -> Self {
        Self { lock: Lock::new(), flags: AtomicU32::new(flags.0), head: Slot::new() }
    }

    /// Returns the flags, with the marks that some entry bears.
    pub fn flags(&self) -> Flags {
        Flags(self.flags.load(Ordering::Relaxed))
    }

    /// Returns whether nothing is stored, not even a reservation. Linux: `xa_empty`. Room that
    /// [`create_range`](crate::CursorMut::create_range) made counts as something, as in Linux.
    pub fn is_empty(&self) -> bool {
        self.head.is_empty()
    }

    /// Returns whether any entry bears the mark. Linux: `xa_marked`.
    pub fn is_marked(&self, mark: Mark) -> bool {
        self.flags.load(Ordering::Acquire) & mark.root_flag() != 0
    }

    /// Returns whether any entry bears any mark.
    pub(crate) fn has_marks(&self) -> bool {
        let flags = self.flags().0;
        Mark::ALL.iter().any(|mark| flags & mark.root_flag() != 0)
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
