//! Slabs of a replay that came and went: what it asked the page allocator for, in the order of the trace.
//!
//! # Invariants
//! A slab's number belongs to it alone from when it comes until it goes. Slabs that are older than the trace are not there.

use slablab_trace::NONE;

/// A slab that came or went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlabPage {
    /// When, by the trace's clock
    pub time_ns: u64,
    /// The slab's number
    pub slab: u32,
    /// Index into [`SlabPages::caches`] of a slab that came, [`NONE`] of one that went
    pub cache: u32,
    /// The flags of the allocation that needed it, 0 where it went
    pub gfp: u32,
    /// The CPU it happened on
    pub cpu: u16,
}

impl SlabPage {
    /// Returns whether the slab came.
    #[must_use]
    pub fn is_made(&self) -> bool {
        self.cache != NONE
    }
}

/// A cache whose slabs came and went.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SlabCache {
    /// Its name
    pub name: String,
    /// Its slabs have two to the power of this pages,
    pub order: u8,
    /// or of this where no such block is free.
    pub order_min: u8,
}

/// The slabs of a replay that came and went.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SlabPages {
    /// What happened, in the order of the trace
    pub changes: Vec<SlabPage>,
    /// The caches
    pub caches: Vec<SlabCache>,
}
