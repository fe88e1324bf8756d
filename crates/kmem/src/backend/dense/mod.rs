//! Dense: SLUB_TINY's memory with locks taken for a batch; ours, not Linux's.
//!
//! # How it works
//! Slabs, their free lists and their nodes are SLUB_TINY's: of few pages ([`order`]), on one list a node while
//! they have free objects, given back with their last. In front of them each CPU has a [`magazine`] of every
//! cache, a small stack of free objects that are of any slab. What makes it dense is that a magazine adapts
//! ([`adapt`]): it holds nothing until operations of its CPU come one after the other to the node's lock, then 4
//! objects, 8, 16 and more, as long as they come, within bounds in bytes; and nothing again once the CPU leaves
//! the cache alone, the later the more often that was too soon. An empty magazine is half filled from one turn of
//! the lock, a full one half emptied.
//!
//! # Invariants
//! - `inuse` of a slab = objects given out + objects in magazines. A slab is on its node's list exactly while it has
//!   free objects of its own; its word changes under the node's lock only, once another CPU can know of it.
//! - Objects in a CPU's magazine are of the CPU's node; there are no more than its capacity.
//! - A magazine with a capacity is on its CPU's warm list.
//!
//! # Lock order
//! node `list_lock` -> nothing: pages are taken and given with the lock released.
//!
//! Linux counterpart: none; slabs as with `CONFIG_SLUB_TINY` in `mm/slub.c` @ 6.12, magazines as the sheaves of 7.0
//! with a capacity that changes.

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
