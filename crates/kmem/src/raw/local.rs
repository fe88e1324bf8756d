//! Words that one CPU writes and any thread may read.
//!
//! # How it works
//! A relaxed load and a relaxed store are plain moves on every machine we know, and LLVM folds
//! `set(get() + n)` into one `add [mem], n`. So per-CPU state costs as much as a `Cell`, and yet
//! statistics and `validate()` may read it from another thread without undefined behaviour.
//!
//! # Invariants
//! At any time at most one thread writes a local: the one that holds the CPU's claim.

use super::sync::{AtomicU32, AtomicU64, Ordering::Relaxed};
use super::zeroed::Zeroed;

macro_rules! local {
    ($(#[$doc:meta])* $name:ident, $atomic:ident, $int:ty) => {
        $(#[$doc])*
        #[derive(Debug, Default)]
        #[repr(transparent)]
        #[allow(unreachable_pub, reason = "seen, though not named, through the sealed backend trait")]
        pub struct $name($atomic);

        impl $name {
            /// Returns the value.
            #[inline(always)]
            pub(crate) fn get(&self) -> $int {
                self.0.load(Relaxed)
            }

            /// Replaces the value.
            #[inline(always)]
            pub(crate) fn set(&self, value: $int) {
                self.0.store(value, Relaxed);
            }

            /// Adds without a read-modify-write instruction: only the owning CPU may call it.
            #[inline(always)]
            pub(crate) fn add(&self, n: $int) {
                self.set(self.get().wrapping_add(n));
            }

            /// Subtracts, as [`Self::add`] adds.
            #[inline(always)]
            pub(crate) fn sub(&self, n: $int) {
                self.set(self.get().wrapping_sub(n));
            }
        }

        // SAFETY: an atomic integer whose bytes are all zero is the integer 0.
        unsafe impl Zeroed for $name {
            #[cfg(loom)]
            fn zero() -> Self {
                Self::default()
            }
        }
    };
}

local!(
    /// A 32-bit word written by one CPU.
    LocalU32, AtomicU32, u32
);
local!(
    /// A 64-bit word written by one CPU.
    LocalU64, AtomicU64, u64
);
