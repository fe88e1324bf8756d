//! What dense keeps: magazines, nodes, and each CPU's list of warm magazines.

use crate::backend::partial::nodes::Nodes;
use crate::cache::core::Core;
use crate::cache::cx::Cx;
use crate::cache::paths::{OpCounts, Tally};
use crate::cache::table::CacheEntry;
use crate::ids::ObjPtr;
use crate::raw::local::{LocalU32, LocalU64};
use crate::raw::zeroed::{ZeroedSlice, zeroed_struct};

/// Objects that a magazine holds at most.
pub(super) const CAPACITY_MAX: u32 = 256;

zeroed_struct! {
    /// A CPU's free objects of a cache.
    #[derive(Debug)]
    #[repr(align(64))]
    pub(super) struct Magazine {
        /// Objects in it.
        pub(super) count: LocalU32,
        /// Objects it may hold.
        pub(super) capacity: LocalU32,
        pub(super) ops: OpCounts,
        /// Operations since the last visit that came to the node's lock.
        pub(super) misses: LocalU32,
        /// Index plus 1 of the next cache on the CPU's warm list; 0: none.
        pub(super) next_warm: LocalU32,
        /// 1 if it is on the warm list.
        pub(super) warm: LocalU32,
        /// Visits since it was used.
        pub(super) idle: LocalU32,
        /// Visits that it may be idle before it is emptied.
        pub(super) patience: LocalU32,
        /// Times that it was needed again soon after it was emptied as idle.
        pub(super) too_soon: LocalU32,
        /// The visit that emptied it as idle; 0: none did, or it was needed since.
        pub(super) emptied_at: LocalU32,
        /// Operations of the CPU on the cache up to the last visit.
        pub(super) ops_seen: LocalU64,
        /// The same when the CPU last needed a new slab.
        pub(super) ops_at_slab: LocalU64,
        objects: [LocalU64; CAPACITY_MAX as usize],
    }
}

impl Magazine {
    /// Returns the entry at a place, which is below [`CAPACITY_MAX`].
    #[inline(always)]
    pub(super) fn entry(&self, place: u32) -> &LocalU64 {
        &self.objects[(place % CAPACITY_MAX) as usize]
    }

    /// Returns the object at a place below `count`.
    pub(super) fn object(&self, place: u32) -> Option<ObjPtr> {
        ObjPtr::new(self.entry(place).get())
    }

    /// Puts an object on top; there is room.
    pub(super) fn push(&self, obj: ObjPtr) {
        self.entry(self.count.get()).set(obj.get());
        self.count.add(1);
    }

    /// Turns the order of the objects from a place on.
    pub(super) fn reverse(&self, first: u32) {
        let (mut low, mut high) = (first, self.count.get());
        while low + 1 < high {
            high -= 1;
            let (below, above) = (self.entry(low), self.entry(high));
            let obj = below.get();
            below.set(above.get());
            above.set(obj);
            low += 1;
        }
    }
}

zeroed_struct! {
    /// What a CPU knows of its magazines.
    #[derive(Debug)]
    #[repr(align(64))]
    pub(super) struct Warm {
        /// Index plus 1 of the first cache whose magazine has a capacity; 0: none.
        pub(super) first: LocalU32,
        /// Bytes that its magazines may hold, all together.
        pub(super) bytes: LocalU64,
        /// Visits so far, while there was anything warm.
        pub(super) visits: LocalU32,
        /// Slabs that the CPU added.
        pub(super) slabs: LocalU32,
        /// Time of the next visit in ns.
        pub(super) next_visit: LocalU64,
    }
}

/// The dense allocator.
#[derive(Debug)]
pub struct Dense {
    pub(super) nodes: Nodes,
    /// By CPU and cache.
    pub(super) magazines: ZeroedSlice<Magazine>,
    /// By CPU.
    pub(super) warm: ZeroedSlice<Warm>,
    /// By cache: how many small slabs it has first.
    pub(super) grows: ZeroedSlice<LocalU32>,
}

impl Dense {
    pub(super) fn with_nodes(core: &Core) -> Self {
        Self {
            nodes: Nodes::new(core),
            magazines: ZeroedSlice::new(core.tallies.as_slice().len()),
            warm: ZeroedSlice::new(core.setup.cpus as usize),
            grows: ZeroedSlice::new(core.setup.caches_max as usize),
        }
    }

    /// Returns a cache as the slow paths of a CPU see it.
    pub(super) fn on<'a>(&'a self, cx: &'a Cx<'a>, cache: &'a CacheEntry) -> OnCpu<'a> {
        let (magazine, tally) =
            (&self.magazines[cx.cpu_cache_index(cache.id())], cx.tally(cache.id()));
        OnCpu { dense: self, cx, cache, magazine, tally }
    }
}

/// A cache on a CPU at work: what the slow paths are about.
#[derive(Clone, Copy)]
pub(super) struct OnCpu<'a> {
    pub(super) dense: &'a Dense,
    pub(super) cx: &'a Cx<'a>,
    pub(super) cache: &'a CacheEntry,
    pub(super) magazine: &'a Magazine,
    pub(super) tally: &'a Tally,
}
