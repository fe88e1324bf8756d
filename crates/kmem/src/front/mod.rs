//! CPU handles: what callers allocate and free with.
//!
//! # How it works
//! A [`cpu::Cpu`] is the only handle of its CPU, so that per-CPU state needs no atomic instruction;
//! [`cpuset::CpuSet`] is all of them, for a thread that plays every CPU in turn; [`borrow`] lends a
//! CPU for one operation.

mod borrow;
mod claim;
pub(crate) mod cpu;
pub(crate) mod cpuset;
mod objects;
mod rcu;
mod vmalloc;
