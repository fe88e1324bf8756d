//! A heap of carved pages: the backend that SLOB and SLMB are two settings of.
//!
//! # How it works
//! Pages with room stand on rings, one for each range of block sizes; [`Lists`] says which ranges,
//! whether every CPU has rings of its own, and what a lock guards.
//!
//! # Invariants
//! - pages x 4096 = blocks given out + free granules x 8.
//! - `Page::cache` of a carved page is its *place*, CPU * lists + list, and names the ring it is on
//!   when it has room and the lock that guards it always. It changes only under that lock, when a
//!   page that was full gets room: the size freed chooses the list, as it chose where to look.
//!
//! # Lock order
//! Locks of lists are taken by rising place, except for one that is only tried; none is held while
//! the page allocator is called.

use alloc::vec::Vec;
use core::fmt::Debug;
use core::marker::PhantomData;

use super::freemap::FreeMap;
use super::pages::Carved;
use super::ring::Ring;
use crate::cache::args::Tunable;
use crate::cache::core::Core;
use crate::cache::cx::Cx;
use crate::cache::grace::Waiting;
use crate::cache::paths::OpCounts;
use crate::cpu::LockKind;
use crate::raw::lock::{Guard, Lock};
use crate::raw::zeroed::ZeroedSlice;

/// How a heap's lists are arranged.
pub trait Lists: Debug + Send + Sync + 'static {
    /// Name under which its locks are counted.
    const LOCK: &'static str;
    /// Largest block, in bytes, of each list but the last, which takes the rest.
    const BREAKS: &'static [u64];
    /// Whether every CPU has its own lists, each with a lock; otherwise one lock guards all.
    const PER_CPU: bool;
    /// What may be tuned in it.
    const TUNABLES: &'static [Tunable];

    /// Returns whether pages have maps of where kmalloc's blocks begin and end; otherwise a size is in front of each.
    fn has_maps(core: &Core) -> bool;
}

/// A heap of carved pages.
#[derive(Debug)]
pub struct Heap<L: Lists> {
    pub(super) maps: ZeroedSlice<FreeMap>,
    /// Rings, grouped by the lock that guards them.
    pub(super) groups: Vec<Lock<Vec<Ring>>>,
    pub(super) ops: ZeroedSlice<OpCounts>,
    /// Whether pages have maps of kmalloc's blocks.
    pub(super) has_maps: bool,
    /// Objects of type-safe caches that readers may still see.
    pub(super) waiting: Lock<Waiting>,
    lists: PhantomData<L>,
}

impl<L: Lists> Heap<L> {
    pub(super) const LISTS: u32 = L::BREAKS.len() as u32 + 1;
    /// The only kind of lock that a heap has: place 0 of `Ops::LOCKS`.
    const LIST_LOCK: LockKind = LockKind::of_backend(0);

    pub(super) fn with_rings(core: &Core) -> Self {
        let lists = Self::LISTS;
        let (groups, rings) = if L::PER_CPU { (core.setup.cpus * lists, 1) } else { (1, lists) };
        let group = || Lock::new((0..rings).map(|_| Ring::EMPTY).collect());
        Self {
            maps: ZeroedSlice::new(core.pages.count() as usize),
            groups: (0..groups).map(|_| group()).collect(),
            ops: ZeroedSlice::new(core.cpu_caches()),
            has_maps: L::has_maps(core),
            waiting: Lock::default(),
            lists: PhantomData,
        }
    }

    /// Returns the machine's pages, as they are carved.
    pub(super) fn carved<'a>(&'a self, core: &'a Core) -> Carved<'a> {
        Carved { pages: &core.pages, maps: &self.maps, arena: &core.arena }
    }

    /// Returns the place for blocks of `bytes` of a CPU.
    #[inline]
    pub(super) fn place(cpu: u32, bytes: u64) -> u32 {
        let list = L::BREAKS.partition_point(|&most| most < bytes) as u32;
        if L::PER_CPU { cpu * Self::LISTS + list } else { list }
    }

    /// Returns the CPU whose lists a place is in; `None` if all CPUs share them.
    pub(super) fn owner(place: u32) -> Option<u32> {
        L::PER_CPU.then_some(place / Self::LISTS)
    }

    /// Returns the lock that guards a place and the ring's index behind it.
    #[inline]
    pub(super) fn group(place: u32) -> (usize, usize) {
        if L::PER_CPU { (place as usize, 0) } else { (0, place as usize) }
    }

    /// Takes the lock of a group.
    #[inline]
    pub(super) fn lock(&self, cx: &Cx<'_>, group: usize) -> Guard<'_, Vec<Ring>> {
        cx.count_lock(Self::LIST_LOCK);
        self.groups[group].lock()
    }

    /// Takes the lock of group `other` while that of `held` is held. Waiting for a lower one would
    /// break the lock order, so that one is only tried.
    pub(super) fn lock_second(
        &self,
        cx: &Cx<'_>,
        held: usize,
        other: usize,
    ) -> Option<Guard<'_, Vec<Ring>>> {
        if other > held {
            return Some(self.lock(cx, other));
        }
        cx.count_lock(Self::LIST_LOCK);
        self.groups[other].try_lock()
    }
}
