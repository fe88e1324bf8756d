//! Many traces, added up: each is replayed alone, on a machine of its own, and what is kept of it is a few numbers.
//!
//! How it works: [`Origin`] says whose a trace is; `advice`, `replay`, `whatif` and `stat` each have what is kept of one trace
//! and the sum of it. Sites of traces of one kernel build are joined by function and offset; where there are several
//! builds, by function, since offsets move ([`SiteNames`]).
//!
//! Invariants: sums are of integers, so k copies of a trace come to k times what one does, and no order of traces shows.

pub(crate) mod advice;
pub(crate) mod hosts;
pub(crate) mod origin;
pub(crate) mod replay;
pub(crate) mod stat;
pub(crate) mod whatif;
