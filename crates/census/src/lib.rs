//! A census of slab memory on a running machine: where the free objects of each cache lie.
//!
//! # How it works
//! BPF programs ([`slablab_bpf`], `kernel/bpf/census.bpf`) read the structures of the slab allocator, whose fields BTF tells.
//! [`Census::take`] goes from caches to CPUs and nodes, and from these to slabs and sheaves; who looks again and again keeps
//! a [`Running`].
//!
//! # Invariants
//! The kernel's memory is read and never written, without a lock. What changed meanwhile is counted. Nothing stays in the
//! kernel.
//!
//! Linux counterpart: none; `tools/mm/slabinfo` shows what sysfs has, which knows no sheaves.
//!
//! Modules, lower ones first: `error`, `cache`; `layout`, `memory`; `census`.
#![forbid(unsafe_code)]

mod cache;
mod census;
mod error;
mod layout;
mod memory;

pub use cache::{CacheCensus, FULLNESS, Lying};
pub use census::{Census, Running};
pub use error::Error;
