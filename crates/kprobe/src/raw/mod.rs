//! All unsafe code: structures that readers walk while a writer changes them.
//!
//! # Invariants
//! - Everything reachable from a table is freed only by `slablab_rcu::drop_later`, after it was unlinked.
//! - Writers are serialised by their table's lock.

pub(crate) mod cache;
pub(crate) mod chain;
pub(crate) mod slots;
