//! Linux's page allocator and slab caches in user space: one machine, several allocators.
//!
//! A [`Machine`] has memory, CPUs and nodes, and boots the kmalloc caches under one backend.
//! [`Cpu`] handles allocate and free. Addresses are offsets in the machine's memory and the same in
//! every run.
//!
//! ```
//! use slablab_kmem::{CacheArgs, CpuId, Gfp, Machine, Site, Slub};
//!
//! let machine = Machine::<Slub>::builder().cpus(2).memory_bytes(64 << 20).build()?;
//! let cache = machine.cache_create(&CacheArgs::new("request", 200))?;
//! let cpu = machine.cpu(CpuId(0))?;
//! let object = cpu.alloc(cache, Gfp::KERNEL, Site(1)).expect("64 MiB suffice");
//! cpu.free(cache, object, Site(2));
//! assert_eq!(machine.cache_stats(cache).unwrap().objects_live, 0);
//! # Ok::<(), slablab_kmem::Error>(())
//! ```
//!
//! [`Pool`] and [`Cache`] are the same for Rust values: typed objects that free themselves, on any
//! thread.
//!
//! # Invariants
//! The machine's parameters bound everything; an allocation that runs out of memory returns `None`,
//! and never aborts.
//!
//! Linux counterpart: `mm/` @ 6.1.

// Under `--cfg loom` the crate uses loom's atomics, for the models in it; only code that needs statics or
// clocks is left out.
#![no_std]
#![deny(unsafe_code)]

extern crate alloc;
#[cfg(any(feature = "std", test))]
extern crate std;

mod backend;
mod cache;
mod check;
mod cpu;
mod error;
mod front;
mod ids;
mod machine;
mod page;
#[cfg(all(feature = "std", not(loom)))]
mod pool;
#[allow(unsafe_code)]
mod raw;
mod stats;
mod vmalloc;

#[cfg(all(test, not(loom)))]
mod tests;

pub use backend::*;
pub use cache::findings::{Finding, FindingKind};
pub use cache::paths::PathCounts;
pub use cache::setup::{CheckLevel, Merging, Objects, Readers};
pub use cache::slab_log::SlabChange;
pub use cache::{
    CacheArgs, CopiesApply, CopyOfSite, Ctor, Geometry, KmallocConfig, SlabFlags, Tunable,
    Tunables, geometry,
};
pub use check::Balance;
pub use error::Error;
pub use front::cpu::Cpu;
pub use front::cpuset::CpuSet;
pub use ids::{
    CACHE_LINE, CacheId, CpuId, NodeId, ObjPtr, Order, PAGE_SHIFT, PAGE_SIZE, Pfn, Site,
};
pub use machine::Machine;
pub use machine::builder::{MachineBuilder, MemorySource, NODE_BYTES_MIN};
#[cfg(feature = "std")]
pub use machine::memory::Memory;
#[cfg(all(feature = "std", not(loom)))]
pub use pool::{Cache, ConstructedCache, Object, OutOfMemory, Pool, PoolCpu};
#[cfg(all(feature = "std", not(loom)))]
pub use raw::lock::lock_wait_ns;
pub use slablab_linux::{Gfp, KmallocType};
pub use stats::{CacheStats, Gauges};
pub use vmalloc::{VmArea, VmPtr};

/// The examples of the front page, which the tests run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct FrontPage;
