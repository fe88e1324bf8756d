//! The operations of a heap, as a machine calls them.

use super::heap::{Heap, Lists};
use super::map::MAP_BYTES;
use super::{GRANULE, HEADER, layout, stat, validate};
use crate::backend::ops::{CacheLayout, Mergeable, Names, Ops, Request, Visit};
use crate::cache::args::{CacheArgs, Tunable};
use crate::cache::core::Core;
use crate::cache::cx::Cx;
use crate::cache::paths::OpCounts;
use crate::cache::table::CacheEntry;
use crate::error::Error;
use crate::ids::{CacheId, ObjPtr, PAGE_SIZE, Pfn};
use crate::raw::arena::Arena;

impl<L: Lists> Ops for Heap<L> {
    const LOCKS: &'static [&'static str] = &[L::LOCK];
    const STATS: Names = &[stat::NAMES];
    const KMALLOC_CACHES: bool = false;
    const MERGEABLE: Mergeable = Mergeable::Never;
    const PADDING_IS_USABLE: bool = false;
    const SMALL_PAGES_ONLY: bool = true;
    const TUNABLES: &'static [Tunable] = L::TUNABLES;

    fn new(core: &Core) -> Self {
        Self::with_rings(core)
    }

    fn plan(_core: &Core, args: &CacheArgs) -> Result<CacheLayout, Error> {
        layout::plan(args)
    }

    fn create(&self, _core: &Core, _cache: &CacheEntry, _args: &CacheArgs) {}

    type Row<'m> = ();

    fn row<'m>(&'m self, _: &'m Core, _: u32) {}

    #[inline]
    fn alloc(&self, cx: &Cx<'_>, cache: CacheId, request: Request) -> Option<ObjPtr> {
        self.alloc_object(cx, cx.core.caches.get(cache), request)
    }

    #[inline]
    fn free(&self, cx: &Cx<'_>, cache: CacheId, obj: ObjPtr, head: Pfn) {
        self.free_object(cx, cx.core.caches.get(cache), obj, head);
    }

    fn ops(&self, index: usize) -> &OpCounts {
        &self.ops[index]
    }

    fn carve_max(&self) -> u64 {
        if self.has_maps { PAGE_SIZE - MAP_BYTES + 1 } else { PAGE_SIZE - HEADER }
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

    fn carved_size(&self, core: &Core, obj: ObjPtr) -> u64 {
        match self.has_maps {
            true => {
                self.carved(core).marked(obj).map_or(0, |granules| u64::from(granules) * GRANULE)
            }
            false => layout::header(&core.arena, obj),
        }
    }

    fn carved_room(&self, core: &Core, obj: ObjPtr) -> u64 {
        if self.has_maps {
            return self.carved_size(core, obj);
        }
        // The word in front of an address that is not a block may hold anything.
        let at = obj.get() % PAGE_SIZE;
        if at < HEADER || !at.is_multiple_of(GRANULE) {
            return 0;
        }
        let size = layout::header(&core.arena, obj);
        if size <= PAGE_SIZE - at { size } else { 0 }
    }

    fn room_for(&self, size: u64) -> u64 {
        if self.has_maps { layout::Shape::marked(size).bytes } else { size }
    }

    fn set_carved_size(&self, arena: &Arena, obj: ObjPtr, size: u64) {
        layout::set_header(arena, obj, size);
    }

    fn end_grace_periods(&self, cx: &Cx<'_>) {
        self.free_waiting(cx);
    }

    fn waits(&self) -> bool {
        !self.waiting.lock().is_empty()
    }

    fn flush(&self, _cx: &Cx<'_>, _cache: &CacheEntry) {}

    fn shrink(&self, _cx: &Cx<'_>, _cache: &CacheEntry) {}

    fn walk(&self, _core: &Core, _cache: &CacheEntry, _visit: Visit<'_>) {}

    fn walk_shared(&self, core: &Core, visit: Visit<'_>) {
        validate::walk(self, core, visit);
    }
}
