//! SLAB: per-CPU arrays of free objects in front of slabs on three lists.
//!
//! # How it works
//! Each CPU has an [`state::Array`] of free objects, a stack: allocation pops, free pushes. An empty array
//! is refilled by a *batch* from the array that all CPUs of a node share, else from the node's
//! partial slabs, else free ones, else a new slab; a full one gives a batch back the same way. A
//! slab keeps the indexes of its free objects in an array of bytes, which lives in the slab's last
//! free object if it fits ([`layout::Mode`]), behind the objects, or in a kmalloc block. Slabs start at
//! different offsets (*colours*), so that like objects of different slabs fall on different cache
//! lines. Every two seconds of `tick` a CPU gives a fifth of an idle array back.
//!
//! # Invariants
//! - `active` of a slab = objects given out + objects in arrays; it is on the full list at
//!   `objects`, on the free list at 0, else on the partial list.
//! - The objects in a CPU's array and in a node's shared array are of that node.
//! - `free_objects` of a node = sum over its slabs of `objects - active`.
//!
//! # Lock order
//! node `list_lock` -> (page allocator: never under it). The shared array is under `list_lock`.
//!
//! Linux counterpart: `mm/slab.c` @ 6.1.
//!
//! # Differences from Linux
//! No alien caches (as with `noaliencache`): an object of another node goes to that node's lists at
//! once. The free list of a new slab is in address order (no `CONFIG_SLAB_FREELIST_RANDOM`).

mod alloc;
mod free;
mod layout;
mod node;
mod ops;
mod reap;
mod stat;
mod state;
mod validate;

pub use state::Slab;

#[cfg(all(test, not(loom)))]
mod tests;
