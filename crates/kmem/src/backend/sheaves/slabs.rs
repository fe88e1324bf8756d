//! The layer below sheaves.

use crate::Gfp;
use crate::backend::ops::Request;
use crate::backend::partial::FreeList;
use crate::cache::cx::Cx;
use crate::cache::table::CacheEntry;
use crate::ids::{ObjPtr, Pfn};

/// Where sheaves get objects from and give them back to. It counts its own paths, the slow ones
/// among them.
pub(in crate::backend) trait Slabs {
    /// Place in `Ops::STATS`, behind the common ones, at which the sheaves' counters start.
    const STATS_AT: usize;

    /// Returns whether an allocation with these flags may fill a sheaf.
    fn may_fill(gfp: Gfp) -> bool;

    /// Takes one object.
    fn take_one(&self, cx: &Cx<'_>, cache: &CacheEntry, request: Request) -> Option<ObjPtr>;

    /// Takes `count` objects, or as many as there are; returns how many.
    fn take_many(
        &self,
        cx: &Cx<'_>,
        cache: &CacheEntry,
        request: Request,
        count: u32,
        put: &mut dyn FnMut(ObjPtr),
    ) -> u32;

    /// Gives back objects of one slab.
    fn give(&self, cx: &Cx<'_>, cache: &CacheEntry, list: FreeList);

    /// Gives back one object.
    fn give_one(&self, cx: &Cx<'_>, cache: &CacheEntry, obj: ObjPtr, slab: Pfn) {
        self.give(cx, cache, FreeList::one(slab, obj));
    }
}
