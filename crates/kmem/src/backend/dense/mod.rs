//! Dense: SLUB_TINY's memory, with locks taken for a whole batch. This allocator is ours, not
//! Linux's.
//!
//! # How it works
//! Slabs, their free lists and their nodes are SLUB_TINY's: a slab has few pages ([`order`]), is on its node's
//! only list while it has free objects, and is given back with its last object. In front of them each CPU has a
//! [`magazine`] of every cache, a small stack of free objects from any slab. A magazine adapts ([`adapt`]), which
//! keeps memory dense. It holds nothing until operations of its CPU repeatedly come to the node's lock, then 4
//! objects, 8, 16 and more as long as they come, within bounds in bytes. Once the CPU leaves the cache alone it
//! holds nothing again, and waits longer for that the more often it was emptied too soon. One turn of the lock
//! fills half of an empty magazine, or empties half of a full one.
//!
//! # Invariants
//! - `inuse` of a slab = objects given out + objects in magazines. A slab is on its node's list exactly while it has
//!   free objects of its own. Once another CPU can know a slab, its word changes only under the node's lock.
//! - Objects in a CPU's magazine belong to the CPU's node; their number never exceeds its
//!   capacity.
//! - A magazine with a capacity is on its CPU's warm list.
//!
//! # Lock order
//! node `list_lock` -> nothing: pages are taken and given with the lock released.
//!
//! Linux counterpart: none. Slabs are as with `CONFIG_SLUB_TINY` in `mm/slub.c` @ 6.12, magazines as the sheaves of
//! 7.0 with a capacity that changes.

mod adapt;
mod alloc;
mod free;
mod magazine;
#[cfg(all(test, loom))]
mod models;
mod ops;
mod order;
mod stat;
mod validate;

pub use magazine::Dense;

#[cfg(all(test, not(loom)))]
mod tests;
