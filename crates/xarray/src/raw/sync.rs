//! The atomics of buckets and slots. tests/loom.rs compiles the same files with loom's.

pub(super) use std::sync::atomic::{AtomicPtr, AtomicU8, AtomicU64, Ordering};

/// Defines a function that is const, except with loom's atomics.
macro_rules! const_fn {
    ($(#[$attribute:meta])* $visibility:vis fn $($rest:tt)*) => {
        $(#[$attribute])* $visibility const fn $($rest)*
    };
}
pub(super) use const_fn;
