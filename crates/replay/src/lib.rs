//! Replays a trace of kernel allocations under the allocators of `slablab-kmem`, and counts.
//!
//! # How it works
//!
//! The reader's thread decodes batches of rows and hands each to one thread an allocator ([`replay()`]). Such a
//! thread owns a simulated machine and drives all of its CPUs in the order of the trace ([`Plan`] says with
//! what memory and tunables). Memory is needed for the live objects and for a few batches, whatever the
//! length of the trace.
//!
//! What does not depend on the allocator (allocations, sizes and lifetimes by call site) is counted once, in the
//! reader's thread. [`PerfKmem`] counts like `perf kmem stat` instead, for those who know its numbers.
//!
//! # Invariants
//!
//! The same trace and plan give the same [`Replay`], to the byte, on any machine: no address of the host, no
//! clock, no hash order and no thread timing gets into it.
#![forbid(unsafe_code)]

mod advice;
mod advise;
mod books;
mod caches;
mod change;
mod deal;
mod error;
mod gauge;
mod lifetimes;
mod locality;
mod moment;
mod perf_kmem;
mod plan;
mod replay;
mod result;
mod runner;
mod select;
mod sentence;
mod series;
mod skeleton;
mod survey;
mod tally;
mod timed;
mod trial;
mod watch;
mod whatif;

pub use advice::{Advice, AdviceList, Change, Layout, Worth};
pub use advise::advise;
pub use change::{Changes, Dedicated, Dedication, Sharing};
pub use error::Error;
pub use gauge::Level;
pub use lifetimes::LifetimeSummary;
pub use moment::{Moment, at_peak};
pub use perf_kmem::{PerfAlloc, PerfKmem, PerfSite, PerfTotals};
pub use plan::Plan;
pub use replay::{replay, replay_all};
pub use result::{Allocator, Cache, Fragmentation, Replay, Site, SiteUnder, TraceFacts};
pub use select::{SelectError, nearest_name, select_sites};
pub use series::Sample;
pub use skeleton::patch_skeleton;
pub use timed::{Latency, Timed, replay_timed};
pub use whatif::{ChangeError, Difference, WhatIf, what_if};
