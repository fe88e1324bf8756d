//! Sheaves: arrays of free objects in front of slabs, for each CPU, and a barn of full and empty ones for each node.
//!
//! # How it works
//! A CPU has two [`sheaf::Sheaf`]s of a cache, `main` and `spare`: allocation pops `main`, a free of an object of the CPU's
//! node pushes it, without an atomic instruction. When `main` runs empty or full the two are swapped; when both are, `main`
//! is traded for another sheaf of the node's [`barn`], which keeps ten full and ten empty ones. Only when the barn cannot
//! help are objects taken from slabs, a sheaf at once, or given back to them. A third sheaf, `rcu_free`, collects what
//! readers may still see; when it is full it waits for a grace period and goes to the barn. Sheaves are kmalloc blocks
//! themselves. The layer below them implements [`Slabs`].
//!
//! # Invariants
//! - A CPU's `main` belongs to that CPU alone. Every sheaf is in one place: with a CPU, in a barn, waiting for
//!   readers, or in free memory.
//! - Objects in a CPU's sheaves belong to its node, except those that the node could not serve.
//! - A node parks at most capacity x (2 x its CPUs + 10) objects of a cache, and those in `rcu_free` or waiting.
//!
//! # Lock order
//! barn -> nothing; the list of waiting sheaves -> nothing.
//!
//! Linux counterpart: `struct slub_percpu_sheaves`, `struct node_barn` in `mm/slub.c` @ 7.3 (6.18 where noted).
//!
//! # Differences from Linux
//! - The `main` sheaves of all CPUs are allocated when a cache is first used, not when it is created.
//! - The limits of a barn always hold; Linux reads them without the lock and may go a few sheaves over.
//! - Flushing and shrinking free the sheaves too, `main` among them, straight to their slabs.

mod alloc;
mod barn;
mod free;
mod rcu;
mod sheaf;
mod slabs;
pub(super) mod stat;
mod state;
mod validate;

pub(super) use self::alloc::{Missed, NewSheaf};
pub(super) use slabs::Slabs;
pub use state::sheaf_capacity_of;
pub(super) use state::{
    BARN_SHEAVES, CAPACITY_MAX, CpuSheaves, SHEAF_PERCENT, Sheaves, adjust_cache, asked_capacity,
    usual_capacity,
};
