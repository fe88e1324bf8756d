//! What several traces have and one has not: hosts, kernels, and the distribution of a number over
//! hosts.
//!
//! # How it works
//! Each trace is replayed alone, on a machine of its own. [`Origin`](crate::Origin) tells its host and kernel. Call sites
//! of traces of one kernel build are joined by function and offset; those of several builds by function, since offsets
//! move.
//!
//! # Invariants
//! Sums are of integers, so k copies of a trace give k times the numbers of one, in any order.

pub(crate) mod hosts;
pub(crate) mod origin;
