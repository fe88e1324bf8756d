//! SLUB_TINY: SLUB for small memories, in which nothing belongs to a CPU.
//!
//! # How it works
//! Every allocation takes one object from the first slab on its node's list, under the node's lock, and every free
//! gives one back in the same way. A slab leaves the list when it is full, comes back to the end of it with its first
//! free object, and goes to the page allocator with its last. Slabs are of order 1 at most where the object allows it.
//! There is no kmalloc cache of reclaimable memory, and merging does not look at that flag.
//!
//! # Invariants
//! A slab is on its node's list exactly while it has free objects; its word changes only under the node's lock.
//!
//! # Lock order
//! node `list_lock` -> nothing: pages are taken and given with the lock released.
//!
//! Linux counterpart: `mm/slub.c` with `CONFIG_SLUB_TINY` @ 6.12; 7.3 does the same.
//!
//! # Differences from Linux
//! `CONFIG_SLUB_STATS` excludes `SLUB_TINY`, so the counters are those that the code would count.

mod ops;
mod stat;

pub use ops::SlubTiny;

#[cfg(all(test, not(loom)))]
mod tests;
