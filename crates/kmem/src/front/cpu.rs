//! CPU handles: where allocation and free happen.
//!
//! # How it works
//! The hot paths are inlined and contain what the backend does without leaving the CPU. Everything else that an
//! operation may need (slabs, exact totals, checks, zeroing, other nodes) is behind one call. That call is the last
//! thing that such a path does, so it needs no stack. One byte of the handle says whether any of it may be needed; it is
//! 0 in plain library use.

use core::cell::Cell;
use core::marker::PhantomData;

use crate::Gfp;
use crate::backend::Backend;
use crate::backend::ops::Request;
use crate::cache::cx::Cx;
use crate::cache::findings::FindingKind;
use crate::cache::kmalloc::Kmalloc;
use crate::check::Checks;
use crate::cpu::Hooks;
use crate::ids::{CacheId, CpuId, ObjPtr, Pfn, Site};
use crate::machine::Machine;
use crate::page::{BlockRequest, Kind, Page};
use crate::raw::sync::Ordering::Relaxed;

/// One CPU of a machine, in one thread's hands: `Send`, not `Sync`.
#[derive(Debug)]
pub struct Cpu<'m, B: Backend> {
    pub(super) machine: &'m Machine<B>,
    pub(super) cx: Cx<'m>,
    /// What the fast paths look at: the backend's part, the caches of plain kmallocs by size, the pages.
    row: B::Row<'m>,
    kmalloc: &'m [CacheId],
    pages: &'m [Page],
    _not_sync: PhantomData<Cell<()>>,
}

impl<'m, B: Backend> Cpu<'m, B> {
    pub(crate) fn new(machine: &'m Machine<B>, cpu: u32, exact: Hooks) -> Self {
        let core = &machine.core;
        Self {
            machine,
            cx: machine.cx(cpu, exact),
            row: machine.backend.row(core, cpu),
            kmalloc: core.kmalloc.plain(),
            pages: core.pages.as_slice(),
            _not_sync: PhantomData,
        }
    }

    /// Returns its number.
    pub fn id(&self) -> CpuId {
        CpuId(self.cx.cpu)
    }

    /// Returns its machine.
    pub fn machine(&self) -> &'m Machine<B> {
        self.machine
    }

    pub(crate) fn cx(&self) -> &Cx<'m> {
        &self.cx
    }

    pub(super) fn checks(&self) -> Checks<'m, B> {
        Checks { machine: self.machine }
    }

    /// Allocates an object (`kmem_cache_alloc`); `None` when memory is out.
    #[inline]
    pub fn alloc(&self, cache: CacheId, gfp: Gfp, site: Site) -> Option<ObjPtr> {
        self.alloc_request(cache, Request::new(gfp, site))
    }

    #[inline(always)]
    pub(super) fn alloc_request(&self, id: CacheId, request: Request) -> Option<ObjPtr> {
        if !self.cx.hooks.any() && !request.gfp.has(Gfp::ZERO) && request.node().is_none() {
            if !B::FAST {
                return self.machine.backend.alloc(&self.cx, id, request);
            }
            return match B::alloc_fast(&self.row, id.index()) {
                Some(obj) => Some(obj),
                None => self.alloc_turn(id, request),
            };
        }
        self.alloc_any(id, request)
    }

    /// Allocates what the fast path cannot, with no other job to do.
    #[inline(never)]
    fn alloc_turn(&self, id: CacheId, request: Request) -> Option<ObjPtr> {
        self.machine.backend.alloc_turn(&self.cx, id, request)
    }

    /// Allocates, with all jobs that may have to be done beside it.
    #[inline(never)]
    fn alloc_any(&self, id: CacheId, request: Request) -> Option<ObjPtr> {
        let (machine, cx) = (self.machine, &self.cx);
        if cx.hooks.checks() && !self.checks().cache(id, request.site()) {
            return None;
        }
        let obj = machine.backend.alloc(cx, id, request)?;
        if cx.hooks.exact() {
            cx.enter_alloc(id);
        }
        if cx.hooks.checks() {
            self.checks().alloc(Some(id), obj, request.site());
        }
        if request.gfp.has(Gfp::ZERO) {
            self.zero(id, obj);
        }
        Some(obj)
    }

    #[cold]
    fn zero(&self, id: CacheId, obj: ObjPtr) {
        let bytes = u64::from(self.machine.slot(id).object_size.get());
        self.machine.core.arena.fill(obj.get(), bytes, 0);
    }

    /// Frees an object (`kmem_cache_free`).
    #[inline]
    pub fn free(&self, cache: CacheId, obj: ObjPtr, site: Site) {
        match self.pages.get(obj.page()) {
            Some(page) if !self.cx.hooks.any() => self.free_inline(cache, obj, page),
            _ => self.free_any(cache, obj, site),
        }
    }

    /// Frees an object whose free needs no other job.
    #[inline(always)]
    fn free_inline(&self, cache: CacheId, obj: ObjPtr, page: &Page) {
        if !B::FAST {
            self.machine.backend.free(&self.cx, cache, obj, Pfn(page.head.get()));
        } else if !B::free_fast(&self.row, cache.index(), obj) {
            self.free_turn(cache, obj, page);
        }
    }

    /// Frees what the fast path has no room for, with no other job to do.
    #[inline(never)]
    fn free_turn(&self, cache: CacheId, obj: ObjPtr, page: &Page) {
        self.machine.backend.free_turn(&self.cx, cache, obj, Pfn(page.head.get()));
    }

    #[inline(never)]
    fn free_any(&self, cache: CacheId, obj: ObjPtr, site: Site) {
        self.free_known(Some(cache), obj, site);
    }

    #[inline(never)]
    fn kfree_any(&self, obj: ObjPtr, site: Site) {
        self.free_known(None, obj, site);
    }

    /// Frees an object of a slab, or of a cache if the caller named it, or whatever kfree frees; does all jobs that may
    /// have to be done beside it.
    #[inline(always)]
    fn free_known(&self, id: Option<CacheId>, obj: ObjPtr, site: Site) {
        let Some(page) = self.machine.core.pages.try_get(obj.pfn()) else {
            return self.finding(FindingKind::ForeignPointer, obj, site, "beyond the memory");
        };
        if self.cx.hooks.any() && !self.before_free(id, obj, page, site) {
            return;
        }
        let head = Pfn(page.head.get());
        match id {
            Some(id) => self.machine.backend.free(&self.cx, id, obj, head),
            None if page.is_slab() => {
                self.machine.backend.free(&self.cx, CacheId(page.cache.get()), obj, head);
            }
            None => self.kfree_other(obj, head, site),
        }
    }

    /// Does what a free has to do beside its job; `false` if it must not be done.
    #[inline]
    fn before_free(&self, id: Option<CacheId>, obj: ObjPtr, page: &Page, site: Site) -> bool {
        if self.cx.hooks.checks() && obj != ObjPtr::ZERO_SIZE && !self.checks().free(id, obj, site)
        {
            return false;
        }
        let of_slab = page.is_slab().then(|| CacheId(page.cache.get()));
        if let (true, Some(id)) = (self.cx.hooks.exact(), id.or(of_slab)) {
            self.cx.enter_free(id);
        }
        true
    }

    /// Allocates `size` bytes (`kmalloc`). 0 bytes give [`ObjPtr::ZERO_SIZE`]; more than 4 MiB, or
    /// a lack of memory, gives `None`.
    #[inline]
    pub fn kmalloc(&self, size: u64, gfp: Gfp, site: Site) -> Option<ObjPtr> {
        self.kmalloc_request(size, Request::new(gfp, site))
    }

    #[inline(always)]
    pub(super) fn kmalloc_request(&self, size: u64, request: Request) -> Option<ObjPtr> {
        match self.kmalloc.get(Kmalloc::index(size)) {
            Some(&id) if Kmalloc::is_plain(request.gfp) => self.alloc_request(id, request),
            _ => self.kmalloc_typed(size, request),
        }
    }

    /// Serves requests that are not of the plain type, or that no cache serves.
    #[inline(never)]
    fn kmalloc_typed(&self, size: u64, request: Request) -> Option<ObjPtr> {
        match self.machine.core.kmalloc.cache(size, request.gfp, request.site()) {
            Some(id) => self.alloc_request(id, request),
            None => self.kmalloc_other(size, request),
        }
    }

    /// Serves requests that no kmalloc cache serves: nothing, carved blocks, whole pages.
    #[cold]
    fn kmalloc_other(&self, size: u64, request: Request) -> Option<ObjPtr> {
        let (core, cx) = (&self.machine.core, &self.cx);
        if size == 0 {
            return Some(ObjPtr::ZERO_SIZE);
        }
        let (obj, bytes) = if size < self.machine.backend.carve_max() {
            let backend = &self.machine.backend;
            (backend.carve(cx, size, request)?, backend.room_for(size))
        } else {
            let Some(order) = core.setup.arch.order_for_bytes(size) else {
                if cx.hooks.checks() && !request.gfp.has(Gfp::NOWARN) {
                    self.checks().bad_size(size, request.site());
                }
                return None;
            };
            let pfn = cx.take_pages(&BlockRequest {
                order,
                gfp: request.gfp,
                node: request.node(),
                kind: Kind::Large,
                cache: size as u32,
            })?;
            core.large_pages.fetch_add(u64::from(order.pages()), Relaxed);
            (ObjPtr::new(pfn.offset())?, order.bytes())
        };
        if cx.hooks.checks() {
            self.checks().alloc(None, obj, request.site());
        }
        if request.gfp.has(Gfp::ZERO) {
            core.arena.fill(obj.get(), bytes, 0);
        }
        Some(obj)
    }

    /// Frees what [`Self::kmalloc`] gave (`kfree`). Where there are slabs, not under SLOB and SLMB, it also frees what
    /// [`Self::alloc`] gave.
    #[inline]
    pub fn kfree(&self, obj: ObjPtr, site: Site) {
        match self.pages.get(obj.page()) {
            Some(page) if !self.cx.hooks.any() && page.is_slab() => {
                self.free_inline(CacheId(page.cache.get()), obj, page);
            }
            _ => self.kfree_any(obj, site),
        }
    }

    #[cold]
    fn kfree_other(&self, obj: ObjPtr, head: Pfn, site: Site) {
        let (core, cx) = (&self.machine.core, &self.cx);
        let page = core.pages.get(head);
        match page.kind() {
            _ if obj == ObjPtr::ZERO_SIZE => {}
            Kind::Carved => self.machine.backend.uncarve(cx, obj),
            Kind::Large if obj.get() == head.offset() => {
                let order = page.order();
                core.large_pages.fetch_sub(u64::from(order.pages()), Relaxed);
                cx.give_pages(head, order);
            }
            Kind::Large => {
                self.finding(FindingKind::InteriorPointer, obj, site, "inside a large kmalloc");
            }
            _ => self.finding(FindingKind::ForeignPointer, obj, site, "not from kmalloc"),
        }
    }
}

impl<B: Backend> Drop for Cpu<'_, B> {
    fn drop(&mut self) {
        if self.cx.hooks.exact() {
            self.machine.end_exact_totals();
        }
        self.machine.release(self.cx.cpu);
    }
}
