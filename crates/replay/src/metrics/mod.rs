//! What a replay counts, and the plain data that results. Nothing here runs an allocator.

pub(crate) mod crests;
pub(crate) mod failure;
pub(crate) mod fit;
pub(crate) mod gauge;
pub(crate) mod ledger;
pub(crate) mod lifetimes;
pub(crate) mod locality;
pub(crate) mod perf_kmem;
pub(crate) mod perf_sum;
pub(crate) mod powers;
pub(crate) mod result;
pub(crate) mod series;
pub(crate) mod sum;
pub(crate) mod survey;
pub(crate) mod tally;
pub(crate) mod timeline;
pub(crate) mod watch;
