//! Leaks of slab memory on a running machine: objects followed from allocation to free, and a verdict on each owner.
//!
//! # How it works
//! BPF programs ([`slablab_bpf`], `kernel/bpf/hunt.bpf`) count every allocation by call site, and track a sample of objects with
//! call stack, program and cgroup until they are freed. [`Hunt::look`] reads what they wrote, and sets by call site which
//! share is tracked. Objects become groups by owner, program and cache; what a group does over time becomes its verdict.
//!
//! # Invariants
//! Memory is bounded by [`Options::ram_bytes`], however long a hunt lasts. Nothing stays in the kernel when the process ends.
//! What was not seen is counted.
//!
//! Linux counterpart: none; bcc's `memleak` is the nearest.
//!
//! Modules, lower ones first: `error`, `tables`, `slabs`, `cgroup`, `companion`; `object`, `tracer`; `sites`,
//! `stacks`, `group`; `verdict`, `pins`, `process`; `finding`; `hunt`.
#![forbid(unsafe_code)]

mod cgroup;
mod companion;
mod error;
mod finding;
mod group;
mod hunt;
mod object;
mod pins;
mod process;
mod sites;
mod slabs;
mod stacks;
mod tables;
mod tracer;
mod verdict;

pub use cgroup::cgroup_name;
pub use error::Error;
pub use finding::{Finding, Seen, Unseen};
pub use hunt::{Hunt, Options};
pub use pins::Pin;
pub use stacks::Names;
pub use verdict::Verdict;
