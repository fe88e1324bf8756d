//! The extensible array: any unsigned long to a pointer or an integer, read without a lock.
//!
//! Linux's XArray in user space, with nodes that fit their content. [`XArray`] is the typed face for Rust;
//! [`RawXArray`] is the untyped core, and [`PackedXArray`] that of the C face (`include/linux/xarray.h`, feature `capi`).
//! [`Ida`] hands out ids at which nothing is stored.
//!
//! # How it works
//! A radix tree over 6-bit digits of the index with two kinds of nodes: `raw::dense` has 64 slots, as the kernel's
//! have; `raw::bucket` has up to 128 entries of a region where few indices are used, and hangs from as many slots as
//! that region takes. Levels with a single child are skipped. A bucket that overflows is divided, or becomes a dense
//! node with buckets below it. So memory follows the content: 9 to 15 bytes for each entry wherever indices are not
//! random, 20 to 30 where they are random numbers of 62 bits.
//!
//! # Invariants
//! - A slot changes by one atomic store, so a reader sees the old entry or the new one.
//! - Erasing, overwriting, releasing, marking and unmarking need no memory and cannot fail. (The typed interface
//!   hands out an erased value as a [`Removed`]: waiting with it needs no memory, dropping it later needs some.)
//! - A failed operation leaves every index as it was.
//!
//! # Lock order
//! It is the array's lock alone. Readers take none; nodes are handed to `slablab_rcu` after it was
//! released.
//!
//! Linux counterpart: lib/xarray.c, include/linux/xarray.h @ 6.1.
//!
//! # Differences from Linux
//! - Node internals are not shown: no `xa_node` with counts for an update callback.
//! - A walker is never handed retry entries: a cursor walks down again instead.
//! - An array of Rust takes 128 bytes instead of 16, so that the lock lies in another line of the CPU's
//!   cache than what readers look at. One of C has Linux's 16.
//! - `__xa_store` never drops the lock to wait for memory, because user space does not reclaim.

#![deny(unsafe_code)]

#[cfg(feature = "capi")]
pub mod capi;
mod core;
mod entry;
mod error;
mod flags;
mod ida;
#[allow(unsafe_code, reason = "the unsafe floor, see its header")]
mod raw;
mod typed;

pub use core::cursor::Position;
pub use core::entries::Entries;
pub use core::face::{Cursor, CursorMut};
pub use entry::Entry;
pub use error::{Error, Result};
pub use flags::{Filter, Flags, Gfp, IdLimit, Mark};
pub use ida::Ida;
pub use raw::array::{ArrayBody, PackedXArray, RawXArray};
pub use raw::limbo::synchronize;
pub use raw::memory::{AllocHook, MemoryHooks, set_alloc_hook, set_memory_hooks};
pub use raw::writer::Writer;
pub use slablab_rcu::{Guard, drop_later, pin};
pub use typed::{Iter, Locked, Rejected, Removed, Stored, Value, XArray};

/// The examples of the front page, which the tests run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct FrontPage;
