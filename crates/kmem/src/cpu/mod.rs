//! The simulated CPU: what an operation knows of the CPU it runs on, and what that CPU counts.
//!
//! # How it works
//! A [`CpuContext`] is made when a CPU is claimed and handed down to every operation. Its counters
//! are written by that CPU alone, so that counting needs no atomic instruction.
//!
//! Linux counterpart: `smp_processor_id`, `numa_node_id`; lock counts as in `CONFIG_LOCK_STAT`.

mod context;
mod locks;

pub(crate) use context::{CpuContext, CpuCounters, Hooks};
pub(crate) use locks::LockKind;
