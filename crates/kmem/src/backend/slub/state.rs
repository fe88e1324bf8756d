//! What SLUB keeps: CPU slabs, nodes, and a limit of each cache.

use crate::backend::partial::nodes::Nodes;
use crate::cache::cx::Cx;
use crate::cache::paths::OpCounts;
use crate::cache::table::CacheEntry;
use crate::ids::CacheId;
use crate::raw::local::{LocalU32, LocalU64};
use crate::raw::zeroed::{ZeroedSlice, zeroed_struct};

zeroed_struct! {
    /// A CPU's part of a cache (`struct kmem_cache_cpu`), in one cache line.
    #[derive(Debug)]
    #[repr(align(64))]
    pub(super) struct CpuSlab {
        /// First free object of the CPU's slab; 0: none.
        pub(super) freelist: LocalU64,
        /// Page number of the CPU's slab; 0: none.
        pub(super) slab: LocalU32,
        /// First slab of the partial list, linked by `Page::next`; 0: none.
        pub(super) partial: LocalU32,
        /// Slabs on the partial list.
        pub(super) partial_slabs: LocalU32,
        /// Where the free pointer is in a free object: a copy, so that the fast paths look at no
        /// other line than this one, the page record and the object.
        pub(super) link: LocalU32,
        /// Where objects are only counted: `Links::shift` of the cache.
        pub(super) shift: LocalU32,
        /// Where objects are only counted: `Links::bias` of the CPU's slab.
        pub(super) bias: LocalU64,
        pub(super) ops: OpCounts,
    }
}

/// The SLUB allocator.
#[derive(Debug)]
pub struct Slub {
    /// Limit of slabs on a CPU's partial list, by cache.
    pub(super) cpu_partial_slabs: ZeroedSlice<LocalU32>,
    /// Each CPU's part of each cache, by CPU and cache.
    pub(super) cpu_slabs: ZeroedSlice<CpuSlab>,
    pub(super) nodes: Nodes,
}

impl Slub {
    #[inline(always)]
    pub(super) fn cpu_slab(&self, cx: &Cx<'_>, id: CacheId) -> &CpuSlab {
        &self.cpu_slabs[cx.cpu_cache_index(id)]
    }

    /// Returns the number of slabs that a CPU's partial list of a cache holds at most (`cpu_partial_slabs`).
    #[inline]
    pub(super) fn cpu_partial_slabs(&self, cache: &CacheEntry) -> &LocalU32 {
        &self.cpu_partial_slabs[cache.id().index()]
    }
}
