//! What a replay counts, and the plain data that results. Nothing here runs an allocator.

pub(crate) mod failure;
pub(crate) mod fit;
pub(crate) mod gauge;
pub(crate) mod groups;
pub(crate) mod held;
pub(crate) mod histogram;
pub(crate) mod ledger;
pub(crate) mod lifetimes;
pub(crate) mod locality;
pub(crate) mod moments;
pub(crate) mod page_groups;
pub(crate) mod page_waits;
pub(crate) mod pages;
pub(crate) mod perf_kmem;
pub(crate) mod perf_pages;
pub(crate) mod perf_sum;
pub(crate) mod pins;
pub(crate) mod requests;
pub(crate) mod result;
pub(crate) mod series;
pub(crate) mod span_peaks;
pub(crate) mod sum;
pub(crate) mod tally;
pub(crate) mod timeline;
pub(crate) mod vectors;
pub(crate) mod watched_objects;
