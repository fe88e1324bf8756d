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
    /// What a CPU knows about its free objects of a cache, in one cache line.
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
        /// Operations of the CPU on the cache up to the last visit; the low half of their number.
        pub(super) ops_seen: LocalU32,
        /// The same number when the CPU last needed a new slab.
        pub(super) ops_at_slab: LocalU32,
        /// 1 if it was looked through for sparse slabs since it was used.
        pub(super) looked: LocalU32,
    }
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<Magazine>() == 64);

zeroed_struct! {
    /// The objects of a magazine. They stand apart from [`Magazine`] so that the place of both in their tables is a
    /// shift away: a free waits for it.
    #[derive(Debug)]
    pub(super) struct Objects {
        objects: [LocalU64; CAPACITY_MAX as usize],
    }
}

impl Objects {
    /// Returns the entry at a place, which is below [`CAPACITY_MAX`].
    #[inline(always)]
    pub(super) fn entry(&self, place: u32) -> &LocalU64 {
        &self.objects[(place % CAPACITY_MAX) as usize]
    }

    /// Returns the object at a place below the magazine's count.
    #[inline(always)]
    pub(super) fn object(&self, place: u32) -> Option<ObjPtr> {
        ObjPtr::new(self.entry(place).get())
    }

    /// Reverses the order of the objects at the places from `low` to before `high`.
    pub(super) fn reverse(&self, mut low: u32, mut high: u32) {
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

impl Magazine {
    /// Takes the object on top, if there is one, and enters that.
    #[inline(always)]
    pub(super) fn pop(&self, objects: &Objects) -> Option<ObjPtr> {
        let last = self.count.get().checked_sub(1)?;
        self.count.set(last);
        self.ops.allocs.add(1);
        objects.object(last)
    }

    /// Puts an object on top and enters that; `false` if there is no room.
    #[inline(always)]
    pub(super) fn push(&self, objects: &Objects, obj: ObjPtr) -> bool {
        let count = self.count.get();
        let room = count < self.capacity.get();
        if room {
            objects.entry(count).set(obj.get());
            self.count.set(count + 1);
            self.ops.frees.add(1);
        }
        room
    }

    /// Returns the low half of the number of operations so far.
    pub(super) fn ops_so_far(&self) -> u32 {
        self.ops.allocs.get().wrapping_add(self.ops.frees.get()) as u32
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
    /// Magazines by CPU and cache.
    pub(super) magazines: ZeroedSlice<Magazine>,
    /// Their objects, also by CPU and cache.
    pub(super) objects: ZeroedSlice<Objects>,
    /// Each CPU's list of warm magazines.
    pub(super) warm: ZeroedSlice<Warm>,
    /// How many small slabs each cache has first.
    pub(super) grows: ZeroedSlice<LocalU32>,
}

impl Dense {
    pub(super) fn with_nodes(core: &Core) -> Self {
        Self {
            nodes: Nodes::new(core),
            magazines: ZeroedSlice::new(core.cpu_caches()),
            objects: ZeroedSlice::new(core.cpu_caches()),
            warm: ZeroedSlice::new(core.setup.cpus as usize),
            grows: ZeroedSlice::new(core.setup.caches_max as usize),
        }
    }

    /// Returns a cache as a CPU's slow paths see it.
    pub(super) fn on<'a>(&'a self, cx: &'a Cx<'a>, cache: &'a CacheEntry) -> OnCpu<'a> {
        let index = cx.cpu_cache_index(cache.id());
        let (magazine, objects) = (&self.magazines[index], &self.objects[index]);
        OnCpu { dense: self, cx, cache, magazine, objects, tally: cx.tally(cache.id()) }
    }
}

/// A cache on a CPU at work, which the slow paths work on.
#[derive(Clone, Copy)]
pub(super) struct OnCpu<'a> {
    pub(super) dense: &'a Dense,
    pub(super) cx: &'a Cx<'a>,
    pub(super) cache: &'a CacheEntry,
    pub(super) magazine: &'a Magazine,
    pub(super) objects: &'a Objects,
    pub(super) tally: &'a Tally,
}

impl OnCpu<'_> {
    /// Puts an object on top of the magazine, which has room.
    pub(super) fn push(self, obj: ObjPtr) {
        self.objects.entry(self.magazine.count.get()).set(obj.get());
        self.magazine.count.add(1);
    }
}
