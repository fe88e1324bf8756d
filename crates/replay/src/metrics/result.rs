//! The results of a replay: plain data with units in its names, ready to be printed or stored.
//!
//! Everything is an integer except the shares, and every map is sorted, so that the same trace gives the
//! same bytes on any machine.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use slablab_trace::Meta;

use crate::many::hosts::OverHosts;
use crate::many::origin::Fleet;
use crate::metrics::failure::Failure;
use crate::metrics::fit::Fit;
use crate::metrics::gauge::Level;
use crate::metrics::lifetimes::LifetimeSummary;
use crate::metrics::locality::Walk;
use crate::metrics::series::Sample;
use crate::metrics::slab_pages::SlabPages;
use crate::metrics::span_peaks::SpanPeak;
use crate::metrics::vectors::VectorsUnder;

/// A replay of one trace under several allocators, or the sum of the replays of several traces.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Replay {
    /// The traces that were added up; `None` for one trace
    #[serde(flatten, default)]
    pub fleet: Option<Fleet>,
    /// What was replayed
    pub trace: TraceFacts,
    /// One entry for each allocator, in the order of the plan
    pub allocators: Vec<Allocator>,
    /// One entry for each call site that allocated, the one with most waste first
    pub sites: Vec<Site>,
}

/// What was replayed, and how far it can be trusted; for several traces, the sums and what all have alike.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct TraceFacts {
    /// Release of the recorded kernel
    pub kernel_release: String,
    /// CPUs of the recorded machine; the most of several traces
    pub cpus: u32,
    /// NUMA nodes of the recorded machine; the most of several traces
    pub nodes: u32,
    /// The command recorded
    pub command: Vec<String>,
    /// From the first event to the last
    pub duration_ns: u64,
    /// One in this many objects was recorded, where not all were
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub one_in: Option<u32>,
    /// Rows of the trace
    pub events: u64,
    /// Events lost by the recorder
    pub lost: u64,
    /// Objects freed without an event
    pub implicit_frees: u64,
    /// Objects that slabinfo says were freed, without an event
    #[serde(skip_serializing_if = "is_zero", default)]
    pub estimated_frees: u64,
    /// Frees of objects older than the trace, which cannot be replayed
    pub older_frees: u64,
    /// Lines and records that the import had to skip
    pub skipped: u64,
    /// What the recording lacks, in sentences
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub lacks: Vec<String>,
    /// Share of the events that the trace could not place
    pub unplaced_share: f64,
}

impl TraceFacts {
    /// Returns the facts that a trace states about itself.
    #[must_use]
    pub fn new(meta: &Meta) -> Self {
        let quality = &meta.quality;
        let facts = Self {
            kernel_release: meta.kernel_release.clone(),
            cpus: meta.cpus,
            nodes: meta.nodes,
            command: meta.command.clone(),
            duration_ns: meta.time_last_ns.saturating_sub(meta.time_first_ns),
            one_in: meta.portion.as_ref().map(|portion| portion.one_in),
            events: meta.events,
            lost: quality.lost_total(),
            implicit_frees: quality.implicit_frees,
            estimated_frees: quality.estimated_frees,
            older_frees: quality.older_frees,
            skipped: quality.skipped_total(),
            lacks: meta.lacks(),
            unplaced_share: 0.0,
        };
        facts.with_share()
    }

    /// Computes the share of events that could not be placed.
    pub(crate) fn with_share(self) -> Self {
        let happened = self.events + self.lost + self.skipped;
        let unseen = self.implicit_frees + self.estimated_frees + self.older_frees;
        let unplaced = self.lost + self.skipped + unseen;
        let unplaced_share = if happened == 0 { 0.0 } else { unplaced as f64 / happened as f64 };
        Self { unplaced_share, ..self }
    }
}

/// The result of one allocator on the trace.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Allocator {
    /// Its name
    pub allocator: String,
    /// Allocations and frees that were replayed
    pub operations: u64,
    /// Allocations that found no memory
    pub failed: u64,
    /// The first of them
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub first_failure: Option<Failure>,
    /// Bytes requested by live objects
    pub requested_bytes: Level,
    /// Bytes allocated to live objects, padding included
    pub allocated_bytes: Level,
    /// Bytes in the pages of slabs, and of allocations that went to the page allocator
    pub held_bytes: Level,
    /// Bytes in the pages of slabs only
    pub slab_bytes: Level,
    /// Slabs
    pub slabs: Level,
    /// Bytes held at the peaks of each host's traces; `None` for one trace
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub held_bytes_peak_over_hosts: Option<OverHosts>,
    /// The row of the trace, counted from 0, in which most memory was held for the first time; 0 for many traces together
    #[serde(skip_serializing_if = "is_zero", default)]
    pub peak_event: u64,
    /// Fragmentation when most memory was held
    pub at_peak: Fragmentation,
    /// Fragmentation after the last event
    pub at_end: Fragmentation,
    /// Fragmentation of the means over time
    pub on_average: Fragmentation,
    /// How often each path was taken, by the names of `SLUB_STATS` and their like
    pub paths: BTreeMap<String, u64>,
    /// How often each kind of lock, or atomic operation in place of one, was taken
    pub locks: BTreeMap<String, u64>,
    /// One entry for each cache that was used, most memory held at its peak first
    pub caches: Vec<CacheUnder>,
    /// The slabs beside the recorded kernel's, for an allocator that has its slabs
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub fit: Option<Fit>,
    /// The vectors of accounting and allocation profiling, where the replay computed them
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub vectors: Option<VectorsUnder>,
    /// Memory over time, at most 512 samples; none for many traces together
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub series: Vec<Sample>,
    /// The most held, part by part of the trace; not part of the stored result
    #[serde(skip)]
    pub span_peaks: Vec<SpanPeak>,
    /// Addresses of the objects of [`ReplayPlan::watched`](crate::Plan::watched), in the order of allocation, when
    /// most of them were alive; not part of the stored result
    #[serde(skip)]
    pub watched: Vec<u64>,
    /// The slabs that came and went, where [`ReplayPlan::slab_pages`](crate::ReplayPlan::slab_pages) asks for them; not part
    /// of the stored result
    #[serde(skip)]
    pub slab_pages: SlabPages,
}

/// Returns whether a field that only traces with samples have is left out.
#[allow(clippy::trivially_copy_pass_by_ref)]
pub(crate) fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Returns whether at most one in fifty of `allocs` objects ended.
pub(crate) fn hardly_any(ended: u64, allocs: u64) -> bool {
    const LEAK_FREES: u64 = 50;
    allocs > 0 && ended.saturating_mul(LEAK_FREES) <= allocs
}

impl Site {
    /// Returns the most bytes that it wasted at once under any allocator.
    pub(crate) fn waste_bytes_peak(&self) -> u64 {
        self.under.iter().map(|under| under.waste_bytes_peak).max().unwrap_or(0)
    }

    /// Returns its objects that were freed in the trace.
    #[must_use]
    pub fn ended(&self) -> u64 {
        self.lifetime.map_or(0, |lifetime| lifetime.ended)
    }

    /// Returns whether at most one in fifty of its objects was freed over the recording.
    #[must_use]
    pub fn frees_hardly(&self) -> bool {
        hardly_any(self.ended(), self.allocs)
    }

    /// Returns whether most of the call sites keep what they allocate, as while a machine boots: what stays is then the
    /// population that is built up. A few chosen call sites tell nothing of this.
    #[must_use]
    pub fn most_keep(sites: &[Site]) -> bool {
        const SITES_MIN: usize = 32;
        let allocating = sites.iter().filter(|site| site.allocs > 0).count();
        let keeping = sites.iter().filter(|site| site.frees_hardly()).count();
        allocating >= SITES_MIN && keeping * 2 > allocating
    }

    /// Returns the share of its frees that were seen; 1 where there were none.
    #[must_use]
    pub fn frees_seen_share(&self) -> f64 {
        1.0 - self.frees_unseen as f64 / self.ended().max(1) as f64
    }
}

/// Sorts call sites: those with most waste first.
pub(crate) fn sort_by_waste(sites: &mut [Site]) {
    sites.sort_by(|a, b| {
        let waste = b.waste_bytes_peak().cmp(&a.waste_bytes_peak());
        waste.then(b.allocs.cmp(&a.allocs)).then_with(|| a.site.cmp(&b.site))
    });
}

impl Allocator {
    /// Returns the share of allocations that took the fast path; 0 where there were none.
    #[must_use]
    pub fn alloc_fast_share(&self) -> f64 {
        share(self.alloc_paths())
    }

    /// Returns the share of frees that took the fast path; 0 where there were none.
    #[must_use]
    pub fn free_fast_share(&self) -> f64 {
        share(self.free_paths())
    }

    /// Returns the allocations that took the fast path, and all.
    #[must_use]
    pub fn alloc_paths(&self) -> (u64, u64) {
        self.fast_and_all(["alloc_fastpath", "alloc_cpu_sheaf"], "alloc_slowpath")
    }

    /// Returns the frees that took the fast path, and all.
    #[must_use]
    pub fn free_paths(&self) -> (u64, u64) {
        self.fast_and_all(["free_fastpath", "free_cpu_sheaf"], "free_slowpath")
    }

    /// Adds up the fast paths, and the slow one to them. SLUB of 6.18 counts what a CPU's sheaves serve apart from what
    /// its slab does; filling and emptying sheaves counts with the slab's.
    fn fast_and_all(&self, fast: [&str; 2], slow: &str) -> (u64, u64) {
        let count = |name| self.paths.get(name).copied().unwrap_or(0);
        let fast = fast.into_iter().map(count).sum();
        (fast, fast + count(slow))
    }
}

/// Returns a part's share of the whole; 0 if the whole is 0.
fn share((part, whole): (u64, u64)) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// Memory that is held and not requested: internal and external fragmentation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Fragmentation {
    /// Bytes requested
    pub requested_bytes: u64,
    /// Bytes allocated
    pub allocated_bytes: u64,
    /// Bytes held
    pub held_bytes: u64,
    /// Internal fragmentation: share of the allocated bytes that was not requested
    pub internal_share: f64,
    /// External fragmentation: share of the held bytes that is not allocated
    pub external_share: f64,
}

impl Fragmentation {
    /// Computes the shares.
    #[must_use]
    pub fn new(requested_bytes: u64, allocated_bytes: u64, held_bytes: u64) -> Self {
        let missing = |part: u64, whole: u64| match whole {
            0 => 0.0,
            _ => whole.saturating_sub(part) as f64 / whole as f64,
        };
        Self {
            requested_bytes,
            allocated_bytes,
            held_bytes,
            internal_share: missing(requested_bytes, allocated_bytes),
            external_share: missing(allocated_bytes, held_bytes),
        }
    }
}

/// What one cache held.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct CacheUnder {
    /// Its name
    pub cache: String,
    /// Other names of it, where like caches were merged
    pub aliases: Vec<String>,
    /// Bytes of an object that users may use
    pub object_bytes: u64,
    /// Bytes from one object to the next
    pub slab_size_bytes: u64,
    /// Objects in a slab; 0 where slabs are not cut into equal objects
    pub objects_per_slab: u64,
    /// Order of a slab
    pub order: u64,
    /// Objects alive at the end
    pub objects_end: u64,
    /// The most objects alive at once
    pub objects_peak: u64,
    /// Slabs at the end
    pub slabs_end: u64,
    /// The most slabs at once
    pub slabs_peak: u64,
    /// Bytes in slabs at the end
    pub held_bytes_end: u64,
    /// The most bytes in slabs at once
    pub held_bytes_peak: u64,
}

/// What one call site did, and its result under each allocator.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Site {
    /// `symbol+0x1c [module]`
    pub site: String,
    /// The cache it allocates from; empty for kmalloc
    pub cache: String,
    /// Allocations
    pub allocs: u64,
    /// Bytes requested, all allocations together
    pub requested_bytes: u64,
    /// The most objects alive at once
    pub live_peak: u64,
    /// Objects alive at the end
    pub live_end: u64,
    /// Objects that another CPU freed
    pub frees_cross_cpu: u64,
    /// Number of sites that are added up here, of several traces or several places in a function; `None` for
    /// one trace
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sites: Option<u64>,
    /// Objects that were freed unseen, in a trace that has samples of the kernel's own counts
    #[serde(skip_serializing_if = "is_zero", default)]
    pub frees_unseen: u64,
    /// How long objects lived; `None` for several traces, whose quantiles do not add up
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub lifetime: Option<LifetimeSummary>,
    /// One entry for each allocator, in the order of [`Replay::allocators`]
    pub under: Vec<SiteUnder>,
}

/// The result of one allocator on a call site's objects.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct SiteUnder {
    /// Bytes allocated, all allocations together
    pub allocated_bytes: u64,
    /// Internal fragmentation, the most bytes at once
    pub waste_bytes_peak: u64,
    /// Where they lay; `None` for several traces
    #[serde(flatten, default)]
    pub placement: Option<Placement>,
    /// All its objects in the snapshot with most of them; not part of the stored result
    #[serde(skip)]
    pub walk: Walk,
    /// Allocations and frees of its objects on the slow path: with a lock, or an atomic operation on memory that CPUs
    /// share. They are counted only if [`ReplayPlan::slow_paths`](crate::ReplayPlan::slow_paths) is set
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slow_operations: Option<u64>,
}

/// Where a call site's objects lay.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Placement {
    /// Allocations that lie right behind the previous one: no gap, no overlap
    pub adjacent_share: f64,
    /// Half of the allocations lie at most this far from the previous one (upper edge of a power of
    /// two)
    pub distance_bytes_p50: u64,
    /// Cache lines that hold live objects, each object's share; mean over the snapshots
    pub lines_per_object: f64,
    /// Pages that hold live objects, each object's share; mean over the snapshots
    pub pages_per_object: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_sheaves_serve_is_on_the_fast_path() {
        let paths = [("free_fastpath", 1), ("free_cpu_sheaf", 3), ("free_slowpath", 4)];
        let paths = paths.map(|(name, count)| (name.to_owned(), count)).into();
        let allocator = Allocator { paths, ..Allocator::default() };
        assert_eq!((allocator.free_fast_share(), allocator.alloc_fast_share()), (0.5, 0.0));
    }
}
