//! SLUB of Linux 6.18 and 6.19: the classic one, with sheaves in front of it for the caches that ask for them.
//!
//! # How it works
//! `maple_node` and `vm_area_struct` have [`super::sheaves`]s for 32 objects, which are filled from the CPU's slab of
//! [`super::slub`] as by a bulk allocation, and emptied as by a bulk free. All other caches use that allocator alone.
//!
//! # Invariants
//! The invariants of both hold. Objects that a CPU's slab counts as allocated, of a cache with
//! sheaves, may also be in sheaves.
//!
//! # Lock order
//! It is that of both; neither calls the other with a lock held.
//!
//! Linux counterpart: `mm/slub.c` @ 6.18.
//!
//! # Differences from Linux
//! They are those of both.

mod below;
mod ops;
mod stat;

pub use ops::SlubHybrid;

#[cfg(all(test, not(loom)))]
mod tests;
