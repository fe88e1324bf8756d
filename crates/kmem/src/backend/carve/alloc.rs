//! Takes blocks from pages: the allocation side of a heap.

use super::heap::{Heap, Lists};
use super::layout::{self, Shape};
use super::{GRANULE, HEADER, stat};
use crate::backend::ops::Request;
use crate::cache::cx::Cx;
use crate::cache::table::CacheEntry;
use crate::ids::{ObjPtr, Order, PAGE_SIZE};
use crate::page::{BlockRequest, Kind};

impl<L: Lists> Heap<L> {
    /// Allocates a cache's object from a page, or gives it pages of its own.
    #[inline]
    pub(super) fn alloc_object(
        &self,
        cx: &Cx<'_>,
        cache: &CacheEntry,
        request: Request,
    ) -> Option<ObjPtr> {
        let (size, index) = (u64::from(cache.size.get()), cx.cpu_cache_index(cache.id()));
        if size >= PAGE_SIZE {
            let (pfn, _) = cx.slab_pages(cache, request.gfp, request.node())?;
            let obj = ObjPtr::new(pfn.offset() + u64::from(cache.left_pad.get()))?;
            cx.tally_at(index).count(stat::ALLOC_SLOWPATH);
            self.ops[index].allocs.add(1);
            self.construct(cx, cache, obj);
            return Some(obj);
        }
        let obj = self.alloc_block(cx, index, Shape::object(cache), request)?;
        self.construct(cx, cache, obj);
        Some(obj)
    }

    /// Runs the constructor at each allocation, since nothing keeps the contents of a free object.
    #[inline]
    fn construct(&self, cx: &Cx<'_>, cache: &CacheEntry, obj: ObjPtr) {
        if cache.has_ctor.get() != 0 {
            cx.construct(cache, obj.get(), 1, 0);
        }
    }

    /// Allocates a kmalloc block.
    pub(super) fn alloc_sized(&self, cx: &Cx<'_>, size: u64, request: Request) -> Option<ObjPtr> {
        let index = cx.core.carved_index(cx.cpu);
        if self.has_maps {
            let shape = Shape::marked(size);
            let obj = self.alloc_block(cx, index, shape, request)?;
            cx.block_out(shape.bytes);
            return Some(obj);
        }
        let shape = Shape::kmalloc(size, layout::red_bytes(cx.core, size));
        let obj = self.alloc_block(cx, index, shape, request)?;
        layout::set_header(&cx.core.arena, obj, size);
        cx.block_out(u64::from(shape.granules) * GRANULE - HEADER);
        Some(obj)
    }

    fn alloc_block(
        &self,
        cx: &Cx<'_>,
        index: usize,
        shape: Shape,
        request: Request,
    ) -> Option<ObjPtr> {
        let (carved, tally) = (self.carved(cx.core), cx.tally_at(index));
        let place = Self::place(cx.cpu, shape.bytes);
        let (group, ring) = Self::group(place);
        let (found, walked) = self.lock(cx, group)[ring].take(carved, shape);
        tally.add(stat::PAGES_WALKED, u64::from(walked));
        let (obj, path) = match found {
            Some(obj) => (obj, stat::ALLOC_FROM_PARTIAL),
            None => match self.alloc_page(cx, place, shape, request) {
                Some(obj) => (obj, stat::ALLOC_SLAB),
                None => (self.take_any(cx, place, shape)?, stat::ALLOC_FROM_PARTIAL),
            },
        };
        self.ops[index].allocs.add(1);
        tally.count(stat::ALLOC_SLOWPATH);
        tally.count(path);
        Some(obj)
    }

    /// Takes a block from the pages of any CPU and of any sizes, the longer ones first, when no page can be had. SLOB
    /// gives up instead.
    #[cold]
    fn take_any(&self, cx: &Cx<'_>, place: u32, shape: Shape) -> Option<ObjPtr> {
        if !L::PER_CPU {
            return None;
        }
        let (carved, list) = (self.carved(cx.core), place % Self::LISTS);
        let lists = (0..Self::LISTS).map(|i| (list + i) % Self::LISTS);
        let mut places =
            lists.flat_map(|list| (0..cx.core.setup.cpus).map(move |cpu| cpu * Self::LISTS + list));
        places.find_map(|place| {
            let (group, ring) = Self::group(place);
            self.lock(cx, group)[ring].take(carved, shape).0
        })
    }

    /// Takes a block from a new page.
    fn alloc_page(
        &self,
        cx: &Cx<'_>,
        place: u32,
        shape: Shape,
        request: Request,
    ) -> Option<ObjPtr> {
        let (order, gfp, node) = (Order(0), request.gfp, request.node());
        let block = BlockRequest { order, gfp, node, kind: Kind::Carved, cache: place };
        let pfn = cx.take_pages(&block)?;
        cx.slab_in(None, order);
        let (carved, (group, ring)) = (self.carved(cx.core), Self::group(place));
        carved.open(pfn);
        let mut rings = self.lock(cx, group);
        let obj = carved.take(pfn, shape).expect("an empty page has room");
        if !carved.is_full(pfn) {
            rings[ring].push(carved, pfn);
        }
        Some(obj)
    }
}
