//! A slab's word: its free list and counters, changed by one compare-and-swap.
//!
//! # Invariants
//! bits 0..20 first free object, in 8-byte units from the slab's start, plus 1 (0: none); bits
//! 20..36 objects in use; bits 36..52 objects; bit 52 frozen. A slab of order 10 has 2^19 units.
//!
//! Linux counterpart: `freelist` and `counters` of `struct slab`, `cmpxchg_double_slab` @ 6.1.

use super::SLAB_WORD;
use crate::cache::cx::Cx;
use crate::ids::{ObjPtr, Pfn};
use crate::page::Page;
use crate::raw::sync::Ordering;

const INUSE_SHIFT: u32 = 20;
const OBJECTS_SHIFT: u32 = 36;
const FROZEN: u64 = 1 << 52;
const FREE_MASK: u64 = (1 << INUSE_SHIFT) - 1;
const COUNT_MASK: u64 = 0xffff;

/// A value of the word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct State(u64);

impl State {
    /// Makes the state of a slab whose objects are all in use.
    pub(crate) fn full(objects: u32) -> Self {
        let objects = u64::from(objects);
        Self(objects << OBJECTS_SHIFT | objects << INUSE_SHIFT)
    }

    /// Reads a slab's word.
    #[inline]
    pub(crate) fn load(page: &Page) -> Self {
        Self(page.state.load(Ordering::Acquire))
    }

    /// Writes the word of a slab that no other CPU can reach.
    pub(crate) fn store(self, page: &Page) {
        page.state.store(self.0, Ordering::Release);
    }

    /// Replaces `self` by `new`, if the word still is `self`.
    #[inline]
    pub(crate) fn replace(self, page: &Page, new: Self) -> bool {
        page.state.compare_exchange(self.0, new.0, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Changes a slab's word, trying as often as needed; returns the old and the new value.
    pub(crate) fn update(cx: &Cx<'_>, page: &Page, change: impl Fn(Self) -> Self) -> (Self, Self) {
        loop {
            let old = Self::load(page);
            let new = change(old);
            cx.count_lock(SLAB_WORD);
            if old.replace(page, new) {
                return (old, new);
            }
        }
    }

    /// Returns the first object of the slab's own free list.
    #[inline]
    pub(crate) fn free(self, slab: Pfn) -> Option<ObjPtr> {
        match self.0 & FREE_MASK {
            0 => None,
            units => ObjPtr::new(slab.offset() + (units - 1) * 8),
        }
    }

    #[inline]
    pub(crate) fn has_free(self) -> bool {
        self.0 & FREE_MASK != 0
    }

    #[inline]
    pub(crate) fn inuse(self) -> u32 {
        (self.0 >> INUSE_SHIFT & COUNT_MASK) as u32
    }

    #[inline]
    pub(crate) fn objects(self) -> u32 {
        (self.0 >> OBJECTS_SHIFT & COUNT_MASK) as u32
    }

    #[inline]
    pub(crate) fn frozen(self) -> bool {
        self.0 & FROZEN != 0
    }

    #[inline]
    #[must_use]
    pub(crate) fn with_free(self, slab: Pfn, obj: Option<ObjPtr>) -> Self {
        let units = obj.map_or(0, |obj| (obj.get() - slab.offset()) / 8 + 1);
        Self(self.0 & !FREE_MASK | units)
    }

    #[inline]
    #[must_use]
    pub(crate) fn with_inuse(self, inuse: u32) -> Self {
        Self(self.0 & !(COUNT_MASK << INUSE_SHIFT) | u64::from(inuse) << INUSE_SHIFT)
    }

    /// Returns the word with `count` objects fewer, which were free.
    #[must_use]
    pub(crate) fn without_free(self, objects: u32) -> Self {
        Self(self.0 - (u64::from(objects) << OBJECTS_SHIFT))
    }

    /// Returns the word with `count` objects fewer, which were in use.
    #[must_use]
    pub(crate) fn without(self, objects: u32) -> Self {
        let less = u64::from(objects);
        Self(self.0 - (less << OBJECTS_SHIFT) - (less << INUSE_SHIFT))
    }

    #[inline]
    #[must_use]
    pub(crate) fn freeze(self) -> Self {
        Self(self.0 | FROZEN)
    }

    #[inline]
    #[must_use]
    pub(crate) fn thaw(self) -> Self {
        Self(self.0 & !FROZEN)
    }
}
