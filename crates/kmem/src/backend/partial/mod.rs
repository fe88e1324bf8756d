//! Slabs of linked objects, and each node's slabs that have free ones: what the generations of SLUB share.
//!
//! # How it works
//! Every free object holds the offset of the next one ([`link`]); a slab's [`word`] has the first of them and the
//! counts, and changes by one compare-and-swap, or under the lock of the slab's node. Slabs with free objects that
//! belong to no CPU are on a list of their node ([`nodes`]), which keeps `min_partial` empty ones.
//!
//! # Invariants
//! - `objects = inuse + length of the slab's own free list`; [`link`] may lower both.
//! - A full slab is on no list.
//!
//! Linux counterpart: `mm/slub.c` @ 6.1, 6.12 and 7.3, which agree in this.

pub(super) mod layout;
pub(super) mod link;
pub(super) mod nodes;
pub(super) mod tiny;
pub(super) mod validate;
pub(super) mod word;

use crate::cpu::LockKind;
use crate::ids::{ObjPtr, Pfn};

/// A node's `list_lock`: place 0 of `Ops::LOCKS` in each backend that stands on this.
pub(super) const LIST_LOCK: LockKind = LockKind::of_backend(0);
/// An atomic update of a slab's word: place 1.
pub(super) const SLAB_WORD: LockKind = LockKind::of_backend(1);

/// Free objects of one slab, linked.
#[derive(Debug, Clone, Copy)]
pub(super) struct FreeList {
    pub(super) slab: Pfn,
    pub(super) first: ObjPtr,
    pub(super) last: ObjPtr,
    pub(super) count: u32,
}

impl FreeList {
    /// Makes a list of one object.
    pub(super) fn one(slab: Pfn, obj: ObjPtr) -> Self {
        Self { slab, first: obj, last: obj, count: 1 }
    }
}
