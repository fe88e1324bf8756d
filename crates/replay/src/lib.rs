//! Replays a trace of kernel allocations under the allocators of `slablab-kmem`, and counts.
//!
//! # How it works
//! The reader's thread decodes batches of rows and hands each to one thread for each allocator
//! ([`replay()`]). Such a thread owns a simulated machine and drives all of its CPUs in the order of the trace
//! ([`ReplayPlan`] gives the memory and the tunables). The live objects and a few batches need memory, whatever the
//! length of the trace.
//!
//! Numbers that do not depend on the allocator (allocations, sizes and lifetimes by call site) are counted once,
//! in the reader's thread. [`PerfKmem`] counts like `perf kmem stat` instead, for users who know its numbers.
//!
//! Rooms: from the bottom up, a room uses only those before it: `slots`, `kept_memory` and `change`, then `plan`, `error`
//! and `many`, `metrics`, `engine`, `whatif`, and above these `advice`, `exact` and `timed`.
//!
//! # Invariants
//! The same trace and plan give the same [`Replay`], to the byte, on any machine: it depends on no
//! address of the host, no clock, no hash order and no thread timing.
#![forbid(unsafe_code)]

mod advice;
mod buddy;
mod change;
mod engine;
mod error;
mod exact;
mod kept_memory;
mod many;
mod metrics;
mod page_replay;
mod plan;
mod slots;
mod timed;
mod whatif;

pub use advice::budget::{Budget, Contender, budget};
pub use advice::calls::{Calls, FreeCount, GfpCount, calls};
pub use advice::classes::{ClassAdvice, ClassSetFit, advise_classes};
pub use advice::fleet::{FleetAdvice, FleetSite, TraceAdvice, TriedSite, fleet_advice};
pub use advice::result::{Advice, AdviceList, Change, Layout, NotTried, NotedSite, Profile, Worth};
pub use advice::search::advise;
pub use advice::tune::result::{AdvisedSetting, AnswerKind, HeldAt, Outcome, Tuning};
pub use advice::tune::search::{tune, tune_sheaves};
pub use advice::tune::setting::{CacheSetting, Configured, Merge, Setting, Typed};
pub use change::accounting::{Accounting, AccountingChange};
pub use change::changes::{Changes, Dedicated, Dedication, PAGE_BYTES, Sharing};
pub use change::check::ChangeError;
pub use change::merging::{KernelMerging, merges_with};
pub use change::partition::Partition;
pub use change::select::{SelectError, function, nearest_name, select_sites};
pub use engine::pins::pins;
pub use engine::replay::{replay, replay_all};
pub use error::Error;
pub use exact::compact::{CompactCache, CompactTrace};
pub use exact::fidelity::{BytesAt, CachePair, Fidelity, PathPair};
pub use exact::model::{CacheMoment, MachineMoment, Replayed};
pub use kept_memory::KeptMemory;
pub use many::hosts::{HOSTS_FOR_INTERVAL, OverHosts};
pub use many::origin::{Fleet, Origin, SiteNames, build};
pub use metrics::failure::{Failure, FreeBlocks};
pub use metrics::fit::{CacheFit, Fit, SEEN_SHARE_MIN};
pub use metrics::gauge::Level;
pub use metrics::groups::{AmountBounds, Bounds, By, Group, Labels, groups};
pub use metrics::held::{Amount, Holder, Holding, Holdings, Part, holdings};
pub use metrics::lifetimes::LifetimeSummary;
pub use metrics::locality::Walk;
pub use metrics::moments::{When, passes};
pub use metrics::page_groups::{
    PageBy, PageGroup, PageLabels, USE_SLAB, USE_UNTOLD, migrate_type, page_groups,
};
pub use metrics::page_waits::{PageWaits, WaitKind, page_waits};
pub use metrics::pages::{PageHolder, PageHolding, PageHoldings, page_holdings};
pub use metrics::perf_kmem::{PerfAlloc, PerfKmem, PerfSite, PerfTotals, fragmentation_percent};
pub use metrics::perf_pages::{PerfPageAlloc, PerfPageRow, PerfPages, PerfPagesTotals};
pub use metrics::perf_sum::{PerfCounts, PerfSum, SiteStat};
pub use metrics::pins::{CacheOccupancy, Occupancy, Pin, PinGroup, SparseSlab, pin_groups};
pub use metrics::requests::SizeCount;
pub use metrics::result::{
    Allocator, CacheUnder, Fragmentation, Placement, Replay, Site, SiteUnder, TraceFacts,
};
pub use metrics::series::Sample;
pub use metrics::slab_pages::{SlabCache, SlabPage, SlabPages};
pub use metrics::span_peaks::SpanPeak;
pub use metrics::sum::ReplaySum;
pub use metrics::vectors::{VectorsOfCache, VectorsUnder};
pub use page_replay::block_frame::{BlockCell, BlockFrame, BlockOwner};
pub use page_replay::order::{OrderCall, OrderMoment, OrderRoom};
pub use page_replay::plan::RestPlan;
pub use page_replay::replay::replay_pages;
pub use page_replay::rest::{RestOfMachine, SlabsApart, rest_of_machine, rest_of_setting};
pub use page_replay::result::{
    PageFailure, PageFallback, PageFit, PageMoment, PageMoved, PageReplay, PageRoom, PageZone,
    SlabFallback, StolenBySlabs, largest_order, pages_of, unusable_share,
};
pub use plan::{ReplayPlan, Start, Vectors};
pub use timed::replay::{Latency, Timed, replay_timed};
pub use whatif::accounting::accounting_structures_bytes;
pub use whatif::compare::{Difference, WhatIf, what_if};
pub use whatif::moment::{Moment, at_peak};
pub use whatif::partition::{
    PartitionBy, PartitionCost, Partitioned, Range, Typed as TypedSites, partition_cost,
};
pub use whatif::sum::{TraceWhatIf, WhatIfSum};
pub use whatif::typed::entry::{TokenPartition, TypeHeld, Untyped};
pub use whatif::typed::level::{Leveled, Moved};
pub use whatif::typed::{TypedPartitions, sole_sizes};
