//! The functions that C calls. Each one checks, converts and calls the core.
//!
//! Entries pass as pointers; errors come back as Linux gives them, as `-errno` or as an error entry. C checks types for
//! us.
//!
//! # Safety
//! One contract holds for all `unsafe` functions here, that of include/linux/xarray.h and idr.h. The caller holds the lock
//! that `__xa_*`, `xas_*` and an unlock require, and keeps other writers of an IDR away. Pointers to results may be written,
//! and the array that `n` describes has room for `n` elements. Callbacks may be called, and their arguments belong to them
//! until then. Every function requires of C that a reference is to an initialised array, IDR, IDA, lock or cursor.

#![allow(clippy::missing_safety_doc, reason = "one contract for all of them, above")]

use std::ffi::c_void;

use crate::{ArrayBody, Entry, Error, Filter, Gfp, IdLimit, Mark, PackedXArray, Result, Writer};

/// Makes functions for C: those that are `safe` require only what every function requires.
macro_rules! exported {
    (@safe [$($doc:tt)*] $($function:tt)*) => {
        $($doc)*
        #[unsafe(no_mangle)]
        pub extern "C" $($function)*
    };
    (@unsafe [$($doc:tt)*] $($function:tt)*) => {
        $($doc)*
        #[unsafe(no_mangle)]
        pub unsafe extern "C" $($function)*
    };
    ($($(#[$doc:meta])* $kind:ident fn $name:ident($($arg:ident: $type:ty),*) $(-> $result:ty)? $body:block)*) => {
        $(exported!(@$kind [$(#[$doc])*] fn $name($($arg: $type),*) $(-> $result)? $body);)*
    };
}

pub mod advanced;
pub mod idr;
pub mod normal;
pub mod process;

/// C's `void *`, most often an entry. (Indices are `unsigned long`, which has 64 bits here: nodes do not support
/// fewer.)
type Ptr = *mut c_void;

/// Returns an entry as C sees it.
fn to_c(entry: Entry) -> Ptr {
    entry.as_ptr().cast()
}

/// Returns C's pointer as an entry.
fn from_c(entry: Ptr) -> Entry {
    Entry::from_ptr(entry)
}

/// Returns an entry, or the error as an entry. Linux: `xas_result`.
fn entry_or_error(result: Result<Entry>) -> Ptr {
    let error = |error: Error| {
        std::ptr::without_provenance_mut((-(error.errno() as isize) << 2 | 2) as usize)
    };
    result.map_or_else(error, to_c)
}

/// Returns 0, or `-errno`.
fn zero_or_error(result: Result<()>) -> i32 {
    result.map_or_else(|error| -error.errno(), |()| 0)
}

/// Returns the filter of this number: a mark, or everything (`XA_PRESENT` is 8).
fn filter_from_c(filter: u32) -> Filter {
    Mark::from_number(filter).map_or(Filter::Present, Filter::Marked)
}

/// Runs a search in a read-side section.
fn reading<T>(search: impl FnOnce(&slablab_rcu::Guard) -> T) -> T {
    search(&slablab_rcu::pin())
}
