//! SLUB: each CPU allocates from a slab of its own.
//!
//! # How it works
//! A CPU *freezes* a slab ([`super::partial`]) and moves its whole
//! free list into its [`state::CpuSlab`]: allocation pops, a free of an object of that slab pushes, neither
//! with an atomic instruction. An object of any other slab is pushed on that slab's own list, one
//! compare-and-swap on its word. A slab that was full and gets its first free object
//! goes to the freeing CPU's *partial list*, which spills to the node's when it holds more than
//! `cpu_partial` slabs; an empty slab goes back to the page allocator once the node has
//! `min_partial` others.
//!
//! # Invariants
//! - `inuse` of a slab = objects given out + objects on the free list of the CPU that froze it.
//! - A slab is on a node's list only if it is not frozen; on a CPU's partial list only if it is.
//!
//! # Lock order
//! node `list_lock` -> (page allocator). The slab word is updated without a lock.
//!
//! Linux counterpart: `mm/slub.c` @ 6.1.
//!
//! # Differences from Linux
//! The free list is in address order at first (no `CONFIG_SLAB_FREELIST_RANDOM`); the transaction
//!  id of `this_cpu_cmpxchg` has no use, since a CPU belongs to whoever holds its handle.

mod alloc;
mod free;
mod layout;
#[cfg(all(test, loom))]
mod models;
mod ops;
pub(super) mod stat;
mod state;
mod validate;

pub use state::Slub;
