//! Amounts of memory and statistics of a cache, as plain values.

use alloc::string::String;
use alloc::vec::Vec;

use crate::cache::paths::PathCounts;
use crate::ids::Order;

/// The statistics of one cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheStats {
    /// Name.
    pub name: String,
    /// Names merged into it.
    pub aliases: Vec<String>,
    /// Bytes the caller uses of each object.
    pub object_size: u32,
    /// Bytes from one object to the next.
    pub slab_size: u32,
    /// Alignment in bytes.
    pub align: u32,
    /// Usual order of a slab.
    pub order: Order,
    /// Objects in a slab of the usual order.
    pub objs_per_slab: u32,
    /// Slabs now.
    pub slabs: u64,
    /// Most slabs at any time.
    pub slabs_peak: u64,
    /// Bytes of these slabs.
    pub slab_bytes: u64,
    /// Objects given out.
    pub objects_live: u64,
    /// Most objects given out at any time (see the module).
    pub objects_live_peak: u64,
    /// Objects that the slabs hold, given out or not.
    pub objects_total: u64,
    /// Paths taken.
    pub paths: PathCounts,
}

/// Machine-wide amounts, each readable at any time without a walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Gauges {
    /// Bytes of pages that slabs (or carved pages) own.
    pub slab_bytes: u64,
    /// Number of slabs (or carved pages).
    pub slabs: u64,
    /// Bytes of pages that large kmallocs own.
    pub large_bytes: u64,
    /// Bytes given to callers: slab sizes, and whole pages for large kmallocs.
    pub live_bytes: u64,
}

impl Gauges {
    /// Returns the bytes held in pages for slabs and large kmallocs.
    pub fn held_bytes(&self) -> u64 {
        self.slab_bytes + self.large_bytes
    }
}
