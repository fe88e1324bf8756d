//! A heap of carved pages: the backend that SLOB and SLMB are two settings of.
//!
//! # How it works
//! Pages with room stand on rings, one for each range of block sizes; [`Lists`] says which ranges,
//! whether every CPU has rings of its own, and what a lock guards.
//!
//! # Invariants
//! - pages x 4096 = blocks given out + free granules x 8.
//! - `Page::next` of a carved page is its *place*, CPU * lists + list, and names the ring it is on
//!   when it has room and the lock that guards it always. It changes only under that lock, when a
//!   page that was full gets room: the size freed chooses the list, as it chose where to look.
//!
//! # Lock order
//! List locks by rising place, but for one that is only tried; none is held while the page
//! allocator is asked.

use alloc::vec::Vec;
use core::fmt::Debug;
use core::marker::PhantomData;

use super::{CarvedPages, Ring, layout, validate};
use crate::backend::ops::{Mergeable, Ops, Plan, Request, Visit};
use crate::cache::args::CacheArgs;
use crate::cache::core::Core;
use crate::cache::cx::Cx;
use crate::cache::paths::OpCounts;
use crate::cache::table::Cache;
use crate::cpu::LockKind;
use crate::error::Error;
use crate::ids::{CacheId, ObjPtr, PAGE_SIZE, Pfn};
use crate::raw::arena::Arena;
use crate::raw::lock::{Guard, Lock};
use crate::raw::zeroed::ZeroedSlice;

/// How a heap's lists are arranged.
pub trait Lists: Debug + Send + Sync + 'static {
    /// Name that its locks are counted by.
    const LOCK: &'static str;
    /// Largest block, in bytes, of each list but the last, which takes the rest.
    const BREAKS: &'static [u64];
    /// Whether every CPU has its own lists, each with a lock; otherwise one lock guards all.
    const SPREAD: Spread;
}

/// How lists and locks are dealt out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spread {
    /// One set of lists under one lock.
    One,
    /// A set of lists for every CPU, a lock for every list.
    EveryCpu,
}

/// A heap of carved pages.
#[derive(Debug)]
pub struct Heap<L: Lists> {
    pub(super) carved: CarvedPages,
    /// Rings by what guards them.
    pub(super) groups: Vec<Lock<Vec<Ring>>>,
    pub(super) ops: ZeroedSlice<OpCounts>,
    lists: PhantomData<L>,
}

impl<L: Lists> Heap<L> {
    const LISTS: usize = L::BREAKS.len() + 1;
    /// The only kind of lock there is: place 0 of `Ops::LOCKS`.
    pub(super) const LIST_LOCK: LockKind = LockKind::of_backend(0);

    /// Returns the place for blocks of `bytes` of a CPU.
    #[inline]
    pub(super) fn place(cpu: u32, bytes: u64) -> u32 {
        let list = L::BREAKS.partition_point(|&most| most < bytes);
        match L::SPREAD {
            Spread::One => list as u32,
            Spread::EveryCpu => cpu * Self::LISTS as u32 + list as u32,
        }
    }

    /// Returns the CPU whose lists a place is of; `None` if they are everybody's.
    pub(super) fn owner(place: u32) -> Option<u32> {
        match L::SPREAD {
            Spread::One => None,
            Spread::EveryCpu => Some(place / Self::LISTS as u32),
        }
    }

    /// Returns the lock that guards a place and the ring's index behind it.
    #[inline]
    pub(super) fn group(place: u32) -> (usize, usize) {
        match L::SPREAD {
            Spread::One => (0, place as usize),
            Spread::EveryCpu => (place as usize, 0),
        }
    }

    /// Takes the lock of a group.
    #[inline]
    pub(super) fn lock(&self, cx: &Cx<'_>, group: usize) -> Guard<'_, Vec<Ring>> {
        cx.count_lock(Self::LIST_LOCK);
        self.groups[group].lock()
    }
}

impl<L: Lists> Ops for Heap<L> {
    const LOCKS: &'static [&'static str] = &[L::LOCK];
    const KMALLOC_CACHES: bool = false;
    const MERGEABLE: Mergeable = Mergeable::Never;
    const CARVE_MAX: u64 = PAGE_SIZE - super::HEADER;

    fn new(core: &Core) -> Self {
        let (groups, rings) = match L::SPREAD {
            Spread::One => (1, Self::LISTS),
            Spread::EveryCpu => (Self::LISTS * core.setup.cpus as usize, 1),
        };
        let group = || Lock::new((0..rings).map(|_| Ring::new()).collect());
        Self {
            carved: CarvedPages::new(core.pages.count()),
            groups: (0..groups).map(|_| group()).collect(),
            ops: ZeroedSlice::new(core.tallies.as_slice().len()),
            lists: PhantomData,
        }
    }

    fn plan(_core: &Core, args: &CacheArgs) -> Result<Plan, Error> {
        layout::plan(args)
    }

    fn create(&self, _core: &Core, _cache: &Cache, _args: &CacheArgs) {}

    #[inline]
    fn alloc(&self, cx: &Cx<'_>, cache: CacheId, request: Request) -> Option<ObjPtr> {
        self.alloc_object(cx, cx.core.caches.get(cache), request)
    }

    #[inline]
    fn free(&self, cx: &Cx<'_>, cache: CacheId, obj: ObjPtr, head: Pfn) {
        self.free_object(cx, cx.core.caches.get(cache), obj, head);
    }

    fn ops(&self, cell: usize) -> &OpCounts {
        &self.ops[cell]
    }

    fn carve(&self, cx: &Cx<'_>, size: u64, request: Request) -> Option<ObjPtr> {
        self.alloc_sized(cx, size, request)
    }

    fn uncarve(&self, cx: &Cx<'_>, obj: ObjPtr) {
        self.free_sized(cx, obj);
    }

    fn carved_red_bytes(&self, core: &Core, size: u64) -> u64 {
        layout::red_bytes(core, size)
    }

    fn carved_size(&self, arena: &Arena, obj: ObjPtr) -> u64 {
        layout::header(arena, obj)
    }

    fn set_carved_size(&self, arena: &Arena, obj: ObjPtr, size: u64) {
        layout::set_header(arena, obj, size);
    }

    fn flush(&self, _cx: &Cx<'_>, _cache: &Cache) {}

    fn shrink(&self, _cx: &Cx<'_>, _cache: &Cache) {}

    fn walk(&self, _core: &Core, _cache: &Cache, _visit: Visit<'_>) {}

    fn walk_shared(&self, core: &Core, visit: Visit<'_>) {
        validate::walk(self, core, visit);
    }
}
