//! What a machine reports about itself: amounts of memory, statistics of caches, the texts of
//! `/proc`.
//!
//! Linux counterpart: `mm/slab_common.c`, `mm/slub.c` (`CONFIG_SLUB_STATS`) @ 6.1.

mod amounts;
pub(crate) mod gauges;
mod slabinfo;

pub use amounts::{CacheStats, Gauges};
