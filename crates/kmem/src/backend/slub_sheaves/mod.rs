//! SLUB as it is since Linux 7.0: sheaves for every cache, and no slab that belongs to a CPU.
//!
//! # How it works
//! A CPU allocates from and frees to its [`super::sheaves`]s. They are filled from as many partial slabs of its node as
//! it takes, then from those of other nodes, then from new slabs. The rest of a new slab goes to the head of the node's
//! list. Sheaves are emptied slab by slab. A slab comes to the end of the list with its first free object, and goes to
//! the page allocator with its last once the node has `min_partial` others. An allocation for another node than the CPU's
//! takes, as does one for which no sheaf can be had, a single object from the first partial slab, or from a new one.
//!
//! # Invariants
//! - `inuse` of a slab = objects given out + objects in sheaves.
//! - A slab that is not full is on its node's list, except while a CPU fills a sheaf from it; `slabs` marks such
//!   slabs.
//!
//! # Lock order
//! node `list_lock` -> nothing. The slab word is updated without a lock.
//!
//! Linux counterpart: `mm/slub.c` @ 7.3.
//!
//! # Differences from Linux
//! Those of [`super::sheaves`] apply. Bulk operations are single ones, one after the other, and there are no prefilled
//! sheaves. Other nodes' slabs are always looked at (`remote_node_defrag_ratio` leaves out 2 in 100), and the
//! allocator waits for their lock.

#[cfg(all(test, loom))]
mod models;
mod ops;
mod slabs;
mod stat;

pub use ops::SlubSheaves;

#[cfg(all(test, not(loom)))]
mod tests;
