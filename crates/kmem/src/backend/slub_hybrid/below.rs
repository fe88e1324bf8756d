//! The classic allocator, as the layer from which sheaves are filled and into which they are
//! emptied.
//!
//! Linux counterpart: `__kmem_cache_alloc_bulk`, `do_slab_free` in `mm/slub.c` @ 6.18.

use super::stat;
use crate::Gfp;
use crate::backend::ops::{Ops, Request};
use crate::backend::partial::FreeList;
use crate::backend::sheaves::Slabs;
use crate::backend::slub::Slub;
use crate::cache::cx::Cx;
use crate::cache::paths::common;
use crate::cache::table::CacheEntry;
use crate::ids::{ObjPtr, Pfn};

impl Slabs for Slub {
    const STATS_AT: usize = stat::SHEAVES_AT;

    fn may_fill(gfp: Gfp) -> bool {
        gfp.has(Gfp::DIRECT_RECLAIM)
    }

    fn take_one(&self, cx: &Cx<'_>, cache: &CacheEntry, request: Request) -> Option<ObjPtr> {
        self.alloc(cx, cache.id(), request)
    }

    fn take_many(
        &self,
        cx: &Cx<'_>,
        cache: &CacheEntry,
        request: Request,
        count: u32,
        put: &mut dyn FnMut(ObjPtr),
    ) -> u32 {
        let anywhere = Request::new(request.gfp, request.site());
        let objects = (0..count).map_while(|_| self.alloc(cx, cache.id(), anywhere));
        let taken = objects.map(put).count();
        // The fast path's count is that of objects given out, and these are not given out yet.
        cx.tally(cache.id()).add(common::ALLOC_FASTPATH, taken as u64);
        taken as u32
    }

    fn give_one(&self, cx: &Cx<'_>, cache: &CacheEntry, obj: ObjPtr, slab: Pfn) {
        self.free(cx, cache.id(), obj, slab);
    }

    fn give(&self, cx: &Cx<'_>, cache: &CacheEntry, list: FreeList) {
        // The same holds for frees: the slow path counts one for a list.
        let count = if self.free_list(cx, cache, list) { list.count } else { 1 };
        cx.tally(cache.id()).add(common::FREE_FASTPATH, u64::from(count));
    }
}
