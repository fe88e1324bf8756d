//! Taking blocks.

use super::heap::{Heap, Lists};
use super::{CarvedPages, GRANULE, HEADER, Shape, layout};
use crate::backend::ops::Request;
use crate::cache::cx::Cx;
use crate::cache::paths::Stat;
use crate::cache::table::Cache;
use crate::ids::{ObjPtr, Order, PAGE_SIZE};
use crate::page::{BlockRequest, Kind};

impl<L: Lists> Heap<L> {
    /// Allocates a cache's object: from a page, or pages of its own.
    #[inline]
    pub(super) fn alloc_object(
        &self,
        cx: &Cx<'_>,
        cache: &Cache,
        request: Request,
    ) -> Option<ObjPtr> {
        let (size, cell) = (u64::from(cache.size.get()), cx.cell(cache.id()));
        if size >= PAGE_SIZE {
            let (pfn, _) = cx.slab_pages(cache, request.gfp, request.node())?;
            let obj = ObjPtr::new(pfn.offset() + u64::from(cache.left_pad.get()))?;
            cx.core.tallies[cell].count(Stat::AllocSlowpath);
            self.ops[cell].allocs.add(1);
            self.construct(cx, cache, obj);
            return Some(obj);
        }
        let bytes = u64::from(cache.inuse.get());
        let shape =
            Shape::object(bytes, u64::from(cache.align.get()), u64::from(cache.left_pad.get()));
        let obj = self.alloc_block(cx, cell, shape, request)?;
        self.construct(cx, cache, obj);
        Some(obj)
    }

    /// Runs the constructor, at each allocation: nothing keeps a free object whole.
    #[inline]
    fn construct(&self, cx: &Cx<'_>, cache: &Cache, obj: ObjPtr) {
        if cache.has_ctor.get() != 0 {
            cx.construct(cache, obj.get(), 1, 0);
        }
    }

    /// Allocates a kmalloc block.
    pub(super) fn alloc_sized(&self, cx: &Cx<'_>, size: u64, request: Request) -> Option<ObjPtr> {
        let cell = cx.core.carved_cell(cx.cpu);
        let shape = Shape::kmalloc_zoned(size, layout::red_bytes(cx.core, size));
        let obj = self.alloc_block(cx, cell, shape, request)?;
        layout::set_header(&cx.core.arena, obj, size);
        cx.block_out(u64::from(shape.granules) * GRANULE - HEADER);
        Some(obj)
    }

    fn alloc_block(
        &self,
        cx: &Cx<'_>,
        cell: usize,
        shape: Shape,
        request: Request,
    ) -> Option<ObjPtr> {
        let core = cx.core;
        let tally = &core.tallies[cell];
        let place = Self::place(cx.cpu, shape.bytes);
        let (group, ring) = Self::group(place);
        let found = self.lock(cx, group)[ring].take(&core.pages, &self.carved, shape);
        match found {
            Ok(fit) => {
                self.ops[cell].allocs.add(1);
                tally.count(Stat::AllocSlowpath);
                tally.count(Stat::AllocFromPartial);
                tally.counts[Stat::PagesWalked as usize].add(u64::from(fit.walked));
                return Some(fit.obj);
            }
            Err(walked) => tally.counts[Stat::PagesWalked as usize].add(u64::from(walked)),
        }
        let pfn = cx.take_pages(&BlockRequest {
            order: Order(0),
            gfp: request.gfp,
            node: request.node(),
            kind: Kind::Carved,
            cache: 0,
        })?;
        cx.slab_in(None, Order(0), 0);
        self.ops[cell].allocs.add(1);
        tally.count(Stat::AllocSlowpath);
        tally.count(Stat::AllocSlab);
        self.carved.open(&core.pages, pfn);
        core.pages.get(pfn).next.set(place);
        let mut rings = self.lock(cx, group);
        let (obj, _) = self.carved.take(&core.pages, pfn, shape).expect("an empty page has room");
        if !CarvedPages::is_full(&core.pages, pfn) {
            rings[ring].push(&core.pages, &self.carved, pfn);
        }
        Some(obj)
    }
}
