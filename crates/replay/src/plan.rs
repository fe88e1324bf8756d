//! The parameters of a replay.

use std::sync::Arc;

use slablab_kmem::BackendKind;

use crate::change::changes::Changes;
use crate::kept_memory::KeptMemory;

/// The allocators and the machine of a replay.
#[derive(Debug, Clone)]
pub struct ReplayPlan {
    /// Replay under these, in this order
    pub allocators: Vec<BackendKind>,
    /// Memory of the simulated machine; it is address space only, and as much is used as the trace
    /// needs
    pub memory_bytes: u64,
    /// The differences from the recorded kernel
    pub changes: Changes,
    /// Check all invariants of the engine after each such number of events; never if `None`
    pub validate_every: Option<u64>,
    /// Whether the machine has objects before the first row
    pub start: Start,
    /// Stop after this many rows of the trace; at its end if `None`
    pub rows_max: Option<u64>,
    /// Keep where the live objects of these call sites lie (places in
    /// [`Meta::sites`](slablab_trace::Meta::sites)), for [`Allocator::watched`](crate::Allocator::watched)
    pub watched: Vec<u32>,
    /// Count by call site which operations leave the fast path, for
    /// [`SiteUnder::slow_operations`](crate::SiteUnder::slow_operations); takes time
    pub slow_paths: bool,
    /// Examine now and then the cache lines and pages that the objects of a call site lie in, for
    /// [`Placement::lines_per_object`](crate::Placement::lines_per_object) and its sibling, which are 0
    /// otherwise; takes time
    pub locality: bool,
    /// Where the vectors of accounting and allocation profiling come from
    pub vectors: Vectors,
    /// Keep when slabs come and go, for [`Allocator::slab_pages`](crate::Allocator::slab_pages)
    pub slab_pages: bool,
    /// Where machines get their memory and leave it; each has its own if `None`
    pub kept_memory: Option<Arc<KeptMemory>>,
}

/// How a replay begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// With the objects and slabs that the recorded kernel had, where the trace has samples of them
    Warm,
    /// With no objects
    Cold,
}

/// Where the vectors come from that a kernel keeps beside slabs for accounting and allocation profiling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Vectors {
    /// The replay computes them for the slabs that it makes, and the recorded ones are left out, where the trace begins with the
    /// machine's boot; else as recorded
    #[default]
    FromBoot,
    /// The replay computes them
    Computed,
    /// They are objects of the trace like any others
    Recorded,
}

impl ReplayPlan {
    /// Leaves out what a sum over many traces does not contain, and lets their machines use the same memory one after the
    /// other.
    #[must_use]
    pub fn of_many(self) -> Self {
        Self { locality: false, kept_memory: Some(Arc::default()), ..self }
    }
}

impl Default for ReplayPlan {
    /// The usual allocators on a machine of 16 GiB.
    fn default() -> Self {
        Self {
            allocators: BackendKind::USUAL.to_vec(),
            memory_bytes: 16 << 30,
            changes: Changes::default(),
            start: Start::Warm,
            validate_every: None,
            rows_max: None,
            watched: Vec::new(),
            slow_paths: false,
            locality: true,
            vectors: Vectors::default(),
            slab_pages: false,
            kept_memory: None,
        }
    }
}
