//! The parameters of a replay.

use std::sync::Arc;

use slablab_kmem::BackendKind;
use slablab_trace::Meta;

use crate::change::changes::Changes;
use crate::kept_memory::KeptMemory;

/// The allocators and the machine of a replay.
#[derive(Debug, Clone)]
pub struct ReplayPlan {
    /// Replay under these, in this order
    pub allocators: Vec<BackendKind>,
    /// Memory of the simulated machine; [`ReplayPlan::memory_bytes_usual`] if `None`
    pub memory_bytes: Option<u64>,
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

/// Memory of the simulated machine, as a rule.
const MEMORY_BYTES: u64 = 16 << 30;
/// Not more than this is taken unless it is asked for: page records of so much take 4 GiB of address space.
const MEMORY_BYTES_MAX: u64 = 1 << 40;
/// Caches of kmalloc beside those of a trace.
pub(crate) const KMALLOC_CACHES: u64 = 64;
/// Of a cache on a CPU that uses it: two slabs of order 3.
const CPU_CACHE_BYTES: u64 = 64 << 10;
/// Of a live object: more than most have.
const OBJECT_BYTES: u64 = 512;

impl ReplayPlan {
    /// Returns the plan of an allocator whose slabs are to be put on a machine of pages.
    #[must_use]
    pub fn of_slab_pages(kind: BackendKind) -> ReplayPlan {
        ReplayPlan { allocators: vec![kind], slab_pages: true, locality: false, ..Self::default() }
    }

    /// Returns the memory of the simulated machine for a trace: 16 GiB, or a power of two that holds slabs of each cache on
    /// each CPU. It is address space only, and as much is used as the trace needs.
    #[must_use]
    pub fn memory_bytes_usual(meta: &Meta) -> u64 {
        let caches = meta.caches.len() as u64 + KMALLOC_CACHES;
        let pairs = u64::from(meta.cpus).saturating_mul(caches).min(meta.events);
        let needed =
            pairs.saturating_mul(CPU_CACHE_BYTES) + u64::from(meta.object_slots) * OBJECT_BYTES;
        needed.clamp(MEMORY_BYTES, MEMORY_BYTES_MAX).next_power_of_two()
    }

    /// Returns the memory of the simulated machine for a trace.
    pub(crate) fn memory_bytes_for(&self, meta: &Meta) -> u64 {
        self.memory_bytes.unwrap_or_else(|| Self::memory_bytes_usual(meta))
    }

    /// Leaves out what a sum over many traces does not contain, and lets their machines use the same memory one after the
    /// other.
    #[must_use]
    pub fn of_many(self) -> Self {
        Self { locality: false, kept_memory: Some(Arc::default()), ..self }
    }
}

impl Default for ReplayPlan {
    /// The usual allocators on a machine that is large enough.
    fn default() -> Self {
        Self {
            allocators: BackendKind::USUAL.to_vec(),
            memory_bytes: None,
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine of 512 CPUs and 3,000 caches keeps 29 GiB of slabs, and used to have 16: `advise` and `tune`, which took no
    /// other number, judged a machine whose allocations fail.
    #[test]
    fn many_cpus_and_caches_get_the_memory_that_they_keep() {
        let meta = |cpus, caches, events| Meta {
            cpus,
            caches: vec![Default::default(); caches],
            events,
            ..Meta::default()
        };
        let usual =
            |cpus, caches, events| ReplayPlan::memory_bytes_usual(&meta(cpus, caches, events));
        assert_eq!(usual(2, 200, 50_000_000), 16 << 30);
        assert_eq!(usual(512, 3_000, 50_000_000), 128 << 30);
        assert_eq!(
            usual(8_192, 3_000, 20_000),
            16 << 30,
            "a cache that a CPU never uses keeps nothing"
        );
        assert_eq!(usual(u32::MAX, 1 << 20, u64::MAX), 1 << 40);
    }
}
