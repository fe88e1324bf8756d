//! The state of sheaves: those of each CPU, of each node's barn, those that wait, and the capacity of
//! each cache.

use super::barn::{Barn, SHEAVES_MAX};
use super::sheaf::Sheaf;
use super::slabs::Slabs;
use crate::cache::SlabFlags;
use crate::cache::args::CacheArgs;
use crate::cache::blocks::BlockList;
use crate::cache::core::Core;
use crate::cache::cx::Cx;
use crate::cache::grace::Waiting;
use crate::cache::paths::{OpCounts, Stat};
use crate::cache::table::CacheEntry;
use crate::ids::{CacheId, NodeId, ObjPtr};
use crate::raw::arena::Arena;
use crate::raw::local::{LocalU32, LocalU64};
use crate::raw::lock::Lock;
use crate::raw::sync::{AtomicU64, Ordering::Relaxed};
use crate::raw::zeroed::{ZeroedSlice, zeroed_struct};

zeroed_struct! {
    /// A CPU's part of a cache (`struct slub_percpu_sheaves`), a cache line.
    #[derive(Debug)]
    #[repr(align(64))]
    pub(in crate::backend) struct CpuSheaves {
        /// Number of the word of `main` behind its last object: where the next one goes.
        top: LocalU64,
        /// Number of the word of its first object; 0 means that there is no `main`, because the CPU
        /// has not used the cache yet.
        floor: LocalU64,
        /// Number of the word behind its place for the last object.
        ceiling: LocalU64,
        /// Where `spare` is; 0: none.
        pub(super) spare: LocalU64,
        /// Where `rcu_free` is; 0: none.
        pub(super) rcu_free: LocalU64,
        pub(in crate::backend) ops: OpCounts,
    }
}

impl CpuSheaves {
    /// Takes an object off `main`, if it has one, and counts that.
    #[inline(always)]
    pub(in crate::backend) fn pop(&self, words: &[AtomicU64]) -> Option<ObjPtr> {
        let top = self.top.get();
        if top == self.floor.get() {
            return None;
        }
        let obj = words.get(top as usize - 1)?.load(Relaxed);
        self.top.set(top - 1);
        self.ops.allocs.add(1);
        ObjPtr::new(obj)
    }

    /// Puts an object on `main`; `false` if there is no room.
    #[inline(always)]
    pub(in crate::backend) fn push(&self, words: &[AtomicU64], obj: ObjPtr) -> bool {
        let top = self.top.get();
        if top == self.ceiling.get() {
            return false;
        }
        let Some(place) = words.get(top as usize) else { return false };
        place.store(obj.get(), Relaxed);
        self.top.set(top + 1);
        true
    }

    /// Returns the object that [`Self::pop`] would take.
    pub(super) fn last(&self, arena: &Arena) -> Option<ObjPtr> {
        ObjPtr::new(arena.load_numbered(self.top.get().checked_sub(1)?))
    }

    /// Returns the objects in `main`.
    #[inline(always)]
    pub(in crate::backend) fn size(&self) -> u32 {
        (self.top.get() - self.floor.get()) as u32
    }

    /// Returns the number of objects that fit in `main`; 0 if there is no `main`.
    pub(super) fn capacity(&self) -> u32 {
        (self.ceiling.get() - self.floor.get()) as u32
    }

    /// Returns whether `main` is full, or missing.
    #[inline(always)]
    pub(in crate::backend) fn is_full(&self) -> bool {
        self.top.get() == self.ceiling.get()
    }

    /// Takes the last objects off `main`; the caller has read them.
    pub(super) fn drop_last(&self, objects: u32) {
        self.top.sub(u64::from(objects));
    }

    /// Returns whether the CPU has a `main`.
    #[inline(always)]
    pub(super) fn has_main(&self) -> bool {
        self.floor.get() != 0
    }

    /// Returns `main`, if there is one; what its head says may be old.
    pub(super) fn main_if_any(&self) -> Option<Sheaf> {
        Sheaf::with_first(self.floor.get())
    }

    /// Returns `main` with its head brought up to date, so that it can be handed over.
    #[inline]
    pub(super) fn main(&self, arena: &Arena) -> Sheaf {
        let main = self.main_if_any().expect("a CPU that trades its main sheaf has one");
        main.set_size(arena, self.size());
        main
    }

    /// Makes a sheaf of `capacity` objects the CPU's `main`. The previous one may belong to another owner
    /// already.
    #[inline]
    pub(super) fn set_main(&self, arena: &Arena, sheaf: Sheaf, capacity: u32) {
        self.set_main_of(sheaf, sheaf.size(arena), capacity);
    }

    /// Does as [`Self::set_main`] for a sheaf whose size is known.
    #[inline(always)]
    pub(super) fn set_main_of(&self, sheaf: Sheaf, size: u32, capacity: u32) {
        let first = sheaf.first();
        self.floor.set(first);
        self.top.set(first + u64::from(size));
        self.ceiling.set(first + u64::from(capacity));
    }

    /// Leaves the CPU without a `main`; returns the previous one, which is empty.
    pub(super) fn take_main(&self) -> Option<Sheaf> {
        let main = self.main_if_any();
        [&self.top, &self.floor, &self.ceiling].into_iter().for_each(|word| word.set(0));
        main
    }

    pub(super) fn spare(&self) -> Option<Sheaf> {
        Sheaf::at(self.spare.get())
    }

    /// Makes a sheaf the spare one, or removes the spare; returns the previous one.
    pub(super) fn set_spare(&self, sheaf: Option<Sheaf>) -> Option<Sheaf> {
        let before = self.spare();
        self.spare.set(sheaf.map_or(0, Sheaf::offset));
        before
    }

    #[inline]
    pub(super) fn swap(&self, arena: &Arena, spare: Sheaf) {
        self.set_spare(Some(self.main(arena)));
        self.set_main(arena, spare, self.capacity());
    }

    pub(super) fn is_empty(&self) -> bool {
        !self.has_main() && self.spare.get() == 0 && self.rcu_free.get() == 0
    }
}

zeroed_struct! {
    /// What is known about a cache.
    #[derive(Debug)]
    pub(super) struct CacheSheaves {
        /// Objects in a sheaf; 0: the cache has none.
        capacity: LocalU32,
        pub(super) mains: Lock<Mains>,
    }
}

zeroed_struct! {
    /// The `main` sheaves for CPUs that have not fetched them yet.
    #[derive(Debug, Clone, Copy, Default)]
    pub(super) struct Mains {
        pub(super) list: BlockList,
        /// 1 once they have been allocated.
        pub(super) made: u32,
    }
}

/// The sheaves of a machine.
#[derive(Debug)]
pub(in crate::backend) struct Sheaves {
    /// Each CPU's part, by CPU and cache.
    cpus: ZeroedSlice<CpuSheaves>,
    /// Numbers of each cache.
    caches: ZeroedSlice<CacheSheaves>,
    /// Barns by cache and node.
    barns: ZeroedSlice<Barn>,
    /// Full `rcu_free` sheaves that readers may still look into.
    pub(super) waiting: Lock<Waiting>,
}

impl Sheaves {
    pub(in crate::backend) fn new(core: &Core) -> Self {
        let caches = core.setup.caches_max as usize;
        Self {
            cpus: ZeroedSlice::new(core.cpu_caches()),
            caches: ZeroedSlice::new(caches),
            barns: ZeroedSlice::new(caches * core.setup.nodes as usize),
            waiting: Lock::new(Waiting::default()),
        }
    }

    /// Returns a CPU's part of all caches.
    pub(in crate::backend) fn row(&self, core: &Core, cpu: u32) -> &[CpuSheaves] {
        &self.cpus.as_slice()[core.row(cpu)]
    }

    #[inline(always)]
    pub(in crate::backend) fn at(&self, index: usize) -> &CpuSheaves {
        &self.cpus[index]
    }

    #[inline(always)]
    pub(super) fn cpu(&self, cx: &Cx<'_>, cache: &CacheEntry) -> &CpuSheaves {
        &self.cpus[cx.cpu_cache_index(cache.id())]
    }

    pub(super) fn cache(&self, id: CacheId) -> &CacheSheaves {
        &self.caches[id.index()]
    }

    pub(super) fn barn(&self, core: &Core, id: CacheId, node: NodeId) -> &Barn {
        &self.barns[id.index() * core.setup.nodes as usize + node.0 as usize]
    }

    /// Returns the objects in a sheaf of a cache; 0: it has none.
    #[inline(always)]
    pub(in crate::backend) fn capacity(&self, id: CacheId) -> u32 {
        self.cache(id).capacity.get()
    }

    /// Does as [`Self::capacity`], by the index of the cache; returns 0 beyond the last.
    pub(in crate::backend) fn capacity_at(&self, index: usize) -> u32 {
        self.caches.as_slice().get(index).map_or(0, |cache| cache.capacity.get())
    }

    /// Sets the number of objects in a sheaf of a cache, and what its barns take.
    pub(in crate::backend) fn set_up(
        &self,
        core: &Core,
        cache: &CacheEntry,
        args: &CacheArgs,
        capacity: u32,
    ) {
        self.cache(cache.id()).capacity.set(capacity);
        let sheaves_max = core.tunable(args, BARN_SHEAVES).unwrap_or(SHEAVES_MAX);
        for node in (0..core.setup.nodes).map(NodeId) {
            self.barn(core, cache.id(), node).set_sheaves_max(sheaves_max);
        }
    }

    /// Returns whether a CPU has sheaves of a cache, by its index of CPUs times caches.
    pub(in crate::backend) fn holds(&self, index: usize) -> bool {
        !self.cpus[index].is_empty()
    }
}

/// Returns the default number of objects in a sheaf: it depends on the size, and is rounded up to what fills a kmalloc
/// block (Linux: `calculate_sheaf_capacity` @ 7.3). It is 0 for a cache that must have none. A machine may set the numbers by
/// size to a share of Linux's.
pub(in crate::backend) fn usual_capacity(core: &Core, cache: &CacheEntry, args: &CacheArgs) -> u32 {
    let percent = core.tunable(args, SHEAF_PERCENT).unwrap_or(100);
    if percent == 0 || !may_have_sheaves(cache) {
        return 0;
    }
    let least = match cache.size.get() {
        size if u64::from(size) >= core.setup.arch.page_bytes() => 4,
        1024.. => 12,
        256.. => 26,
        _ => 60,
    };
    let least = (least * percent / 100).max(1);
    let bytes = Sheaf::bytes(least);
    let classes = core.setup.kmalloc.classes.iter().map(|&class| u64::from(class));
    Sheaf::capacity(classes.into_iter().find(|&class| class >= bytes).unwrap_or(bytes))
}

/// Returns the number of objects in a sheaf that a cache or the machine sets.
pub(in crate::backend) fn asked_capacity(core: &Core, cache: &CacheEntry, args: &CacheArgs) -> u32 {
    let has_none = core.tunable(args, SHEAF_PERCENT) == Some(0) || !may_have_sheaves(cache);
    let asked = core.tunable(args, "sheaf_capacity").or(sheaf_capacity_of(&args.name));
    if has_none { 0 } else { asked.unwrap_or(0) }
}

/// Keeps a cache that sets a capacity from sharing slabs.
pub(in crate::backend) fn adjust_cache(args: &mut CacheArgs) {
    if sheaf_capacity_of(&args.name).is_some() {
        args.flags |= SlabFlags::NO_MERGE;
    }
}

/// Returns the number of objects in a sheaf that the kernel's cache called `name` sets.
#[must_use]
pub fn sheaf_capacity_of(name: &str) -> Option<u32> {
    ASKED.iter().find(|(known, _)| *known == name).map(|&(_, capacity)| capacity)
}

/// Caches that set a capacity themselves (`mm/vma_init.c`, `lib/maple_tree.c`).
const ASKED: [(&str, u32); 2] = [("maple_node", 32), ("vm_area_struct", 32)];

/// The tunable with the share of Linux's number of objects in a sheaf; Linux has it as constants in its source.
pub(in crate::backend) const SHEAF_PERCENT: &str = "sheaf_percent";
/// The tunable with what barns take.
pub(in crate::backend) const BARN_SHEAVES: &str = "barn_sheaves";

/// Objects in a sheaf at most: that of the largest kmalloc class.
pub(in crate::backend) const CAPACITY_MAX: u32 = (8192 - 32) / 8;

/// Returns whether a cache may have sheaves: not if it is debugged, nor if kmemleak does not trace
/// it.
fn may_have_sheaves(cache: &CacheEntry) -> bool {
    let debug = SlabFlags::RED_ZONE | SlabFlags::POISON | SlabFlags::STORE_USER;
    !cache.flags().any(debug | SlabFlags::NOLEAKTRACE)
}

/// Counts a path of sheaves.
pub(super) fn count<S: Slabs>(cx: &Cx<'_>, cache: &CacheEntry, stat: Stat, times: u32) {
    cx.tally(cache.id()).add(stat.after(S::STATS_AT), u64::from(times));
}

/// Counts a path once, as [`count`] does.
pub(super) fn count_one<S: Slabs>(cx: &Cx<'_>, cache: &CacheEntry, stat: Stat) {
    count::<S>(cx, cache, stat, 1);
}
