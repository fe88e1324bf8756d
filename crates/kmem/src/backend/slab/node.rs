//! A node's part of a cache: slabs on three lists, and one slab's list of free objects.
//!
//! # Invariants
//! bits 0..16 of a slab's word are `active`, the rest is where the indexes are, in bytes
//! from the start of memory; `Page::aux` is the offset of the first object in the slab.
//!
//! Linux counterpart: `struct kmem_cache_node`, `slab_get_obj`, `slab_put_obj` @ 6.1.

use core::ops::{Deref, DerefMut};

use crate::cache::core::Core;
use crate::cache::table::CacheEntry;
use crate::ids::{ObjPtr, Pfn};
use crate::page::{Page, PageList, PageTable};
use crate::raw::local::LocalU32;
use crate::raw::lock::{Guard, Lock};
use crate::raw::sync::Ordering::Relaxed;
use crate::raw::zeroed::zeroed_struct;

zeroed_struct! {
    /// A node's part of a cache (`struct kmem_cache_node`).
    #[derive(Debug)]
    pub(super) struct Node {
        lists: Lock<Lists>,
        /// What CPUs read before they take the lock.
        counts: Counts,
        /// Colour of the last slab. CPUs race for it, as in Linux.
        pub(super) colour: LocalU32,
    }
}

zeroed_struct! {
    /// Free objects of a node: written under its lock, but read without it too. A CPU that finds
    /// none makes a slab instead of waiting, so each change must show at once, not when the lock is
    /// given up.
    #[derive(Debug)]
    pub(super) struct Counts {
        /// Free objects in all slabs.
        pub(super) free_objects: LocalU32,
        /// Objects in the shared array.
        pub(super) shared_avail: LocalU32,
    }
}

zeroed_struct! {
    /// A node's slabs of one cache, and what its CPUs share.
    #[derive(Debug, Clone, Copy)]
    pub(super) struct Lists {
        pub(super) partial: PageList,
        pub(super) full: PageList,
        pub(super) free: PageList,
        /// 1 if the shared array was used since the last reaping.
        pub(super) shared_touched: u32,
        /// 1 if a free slab was used since the last reaping.
        pub(super) free_touched: u32,
        /// Time of the next reaping of what the node's CPUs share, in ns.
        pub(super) next_reap: u64,
    }
}

impl Node {
    pub(super) fn lock(&self) -> LockedNode<'_> {
        LockedNode { lists: self.lists.lock(), counts: &self.counts }
    }

    /// Returns whether a CPU would find no free object; then it does not take the lock.
    pub(super) fn is_exhausted(&self) -> bool {
        self.counts.free_objects.get() == 0 && self.counts.shared_avail.get() == 0
    }
}

/// A node whose lock is held.
pub(super) struct LockedNode<'a> {
    lists: Guard<'a, Lists>,
    pub(super) counts: &'a Counts,
}

impl Deref for LockedNode<'_> {
    type Target = Lists;

    fn deref(&self) -> &Lists {
        &self.lists
    }
}

impl DerefMut for LockedNode<'_> {
    fn deref_mut(&mut self) -> &mut Lists {
        &mut self.lists
    }
}

impl Lists {
    /// Returns the list for a slab with `active` objects in use.
    pub(super) fn list(&mut self, active: u32, objects: u32) -> &mut PageList {
        match active {
            0 => &mut self.free,
            _ if active == objects => &mut self.full,
            _ => &mut self.partial,
        }
    }

    /// Takes a slab to allocate from off its list: a partial one, else a free one.
    pub(super) fn take_first(&mut self, pages: &PageTable) -> Option<Pfn> {
        self.partial.pop_front(pages).or_else(|| {
            self.free_touched = 1;
            self.free.pop_front(pages)
        })
    }
}

/// Returns the objects of a slab that are given out or in arrays.
pub(super) fn active(page: &Page) -> u32 {
    (page.state.load(Relaxed) & 0xffff) as u32
}

pub(super) fn set_state(page: &Page, active: u32, list_at: u64) {
    page.state.store((list_at << 16) | u64::from(active), Relaxed);
}

/// Returns where the indexes of a slab's free objects are.
pub(super) fn list_of(page: &Page) -> u64 {
    page.state.load(Relaxed) >> 16
}

/// Returns the index of a free object by its place in the slab's list, which is at `list_at`.
#[inline(always)]
pub(super) fn listed(core: &Core, slab: Pfn, list_at: u64, place: u32) -> u32 {
    match core.setup.counts() {
        true => core.links.number(slab, place),
        false => u32::from(core.arena.byte(list_at + u64::from(place))),
    }
}

/// Sets the index of a free object by its place in the slab's list, which is at `list_at`.
#[inline(always)]
pub(super) fn set_listed(core: &Core, slab: Pfn, list_at: u64, place: u32, index: u32) {
    match core.setup.counts() {
        true => core.links.set_number(slab, place, index),
        false => core.arena.set_guarded_byte(list_at + u64::from(place), index as u8),
    }
}

/// Forgets the list of a slab that is about to be given back.
pub(super) fn forget_list(core: &Core, cache: &CacheEntry, slab: Pfn) {
    if core.setup.counts() {
        core.links.give(cache, slab, core.pages.get(slab).order());
    }
}

/// Returns the object with an index.
pub(super) fn object(core: &Core, cache: &CacheEntry, slab: Pfn, index: u32) -> ObjPtr {
    let first = slab.offset() + u64::from(core.pages.get(slab).aux.get());
    ObjPtr::new(first + u64::from(index) * u64::from(cache.size.get())).expect("page 0 is nobody's")
}

/// Returns the index of an object.
pub(super) fn index_of(core: &Core, cache: &CacheEntry, slab: Pfn, obj: ObjPtr) -> u32 {
    let first = slab.offset() + u64::from(core.pages.get(slab).aux.get());
    ((obj.get() - first) / u64::from(cache.size.get())) as u32
}
