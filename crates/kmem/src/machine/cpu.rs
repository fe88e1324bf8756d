//! CPU handles: where allocation and free happen.

use core::cell::Cell;
use core::marker::PhantomData;

use alloc::vec::Vec;

use super::Machine;
use super::core::Cx;
use super::findings::{Finding, FindingKind};
use crate::backend::Backend;
use crate::backend::ops::Request;
use crate::error::Error;
use crate::gfp::Gfp;
use crate::ids::{CacheId, CpuId, NodeId, ObjPtr, Order, Pfn, Site};
use crate::page::Kind;
use crate::raw::sync::Ordering::Relaxed;

/// One CPU of a machine, in one thread's hands: `Send`, not `Sync`.
#[derive(Debug)]
pub struct Cpu<'m, B: Backend> {
    machine: &'m Machine<B>,
    cx: Cx<'m>,
    _not_sync: PhantomData<Cell<()>>,
}

impl<'m, B: Backend> Cpu<'m, B> {
    pub(super) fn new(machine: &'m Machine<B>, cpu: u32, exact: bool) -> Self {
        Self { machine, cx: machine.cx(cpu, exact), _not_sync: PhantomData }
    }

    /// Returns its number.
    pub fn id(&self) -> CpuId {
        CpuId(self.cx.cpu)
    }

    /// Returns its machine.
    pub fn machine(&self) -> &'m Machine<B> {
        self.machine
    }

    /// Allocates an object (`kmem_cache_alloc`); `None` when memory is out.
    #[inline]
    pub fn alloc(&self, cache: CacheId, gfp: Gfp, site: Site) -> Option<ObjPtr> {
        self.alloc_request(cache, Request { gfp, node: None, site })
    }

    /// Allocates an object on a node (`kmem_cache_alloc_node`).
    #[inline]
    pub fn alloc_node(&self, cache: CacheId, gfp: Gfp, node: NodeId, site: Site) -> Option<ObjPtr> {
        self.alloc_request(cache, Request { gfp, node: Some(node), site })
    }

    #[inline(always)]
    fn alloc_request(&self, id: CacheId, request: Request) -> Option<ObjPtr> {
        let (machine, cx) = (self.machine, &self.cx);
        let obj = machine.backend.alloc(cx, id, request)?;
        if cx.exact {
            cx.book_alloc(id);
        }
        if request.gfp.has(Gfp::ZERO) {
            let bytes = u64::from(machine.slot(id).object_size.get());
            machine.core.arena.fill(obj.get(), bytes, 0);
        }
        Some(obj)
    }

    /// Frees an object (`kmem_cache_free`).
    #[inline]
    pub fn free(&self, cache: CacheId, obj: ObjPtr, site: Site) {
        let Some(page) = self.machine.core.pages.try_get(obj.pfn()) else {
            return self.finding(FindingKind::ForeignPointer, obj, site, "beyond the memory");
        };
        self.free_at(cache, obj, Pfn(page.head.get()));
    }

    #[inline(always)]
    fn free_at(&self, id: CacheId, obj: ObjPtr, head: Pfn) {
        if self.cx.exact {
            self.cx.book_free(id);
        }
        self.machine.backend.free(&self.cx, id, obj, head);
    }

    /// Allocates `size` bytes (`kmalloc`). 0 bytes give [`ObjPtr::ZERO_SIZE`]; more than 4 MiB,
    /// or memory being out, give `None`.
    #[inline]
    pub fn kmalloc(&self, size: u64, gfp: Gfp, site: Site) -> Option<ObjPtr> {
        self.kmalloc_request(size, Request { gfp, node: None, site })
    }

    /// Allocates `size` bytes on a node (`kmalloc_node`).
    #[inline]
    pub fn kmalloc_node(&self, size: u64, gfp: Gfp, node: NodeId, site: Site) -> Option<ObjPtr> {
        self.kmalloc_request(size, Request { gfp, node: Some(node), site })
    }

    #[inline(always)]
    fn kmalloc_request(&self, size: u64, request: Request) -> Option<ObjPtr> {
        if size == 0 {
            return Some(ObjPtr::ZERO_SIZE);
        }
        match self.machine.core.kmalloc.cache(size, request.gfp, request.site) {
            Some(id) => self.alloc_request(id, request),
            None => self.kmalloc_large(size, request),
        }
    }

    #[cold]
    fn kmalloc_large(&self, size: u64, request: Request) -> Option<ObjPtr> {
        let (core, cx) = (&self.machine.core, &self.cx);
        if size < B::CARVE_MAX {
            let obj = self.machine.backend.carve(cx, size, request)?;
            if request.gfp.has(Gfp::ZERO) {
                core.arena.fill(obj.get(), size, 0);
            }
            return Some(obj);
        }
        let order = Order::for_bytes(size)?;
        let pfn = core.zones.alloc(cx, order, request.gfp, request.node)?;
        core.pages.claim(pfn, Kind::Large, order, size as u32);
        core.large_pages.fetch_add(u64::from(order.pages()), Relaxed);
        if request.gfp.has(Gfp::ZERO) {
            core.arena.fill(pfn.offset(), order.bytes(), 0);
        }
        ObjPtr::new(pfn.offset())
    }

    /// Frees what [`Self::kmalloc`] (or, under SLAB and SLUB, [`Self::alloc`]) gave (`kfree`).
    #[inline]
    pub fn kfree(&self, obj: ObjPtr, site: Site) {
        let Some(page) = self.machine.core.pages.try_get(obj.pfn()) else {
            return self.finding(FindingKind::ForeignPointer, obj, site, "beyond the memory");
        };
        if page.is_slab() {
            self.free_at(CacheId(page.cache.get()), obj, Pfn(page.head.get()));
        } else {
            self.kfree_large(obj, Pfn(page.head.get()), site);
        }
    }

    #[cold]
    fn kfree_large(&self, obj: ObjPtr, head: Pfn, site: Site) {
        let (core, cx) = (&self.machine.core, &self.cx);
        let page = core.pages.get(head);
        match page.kind() {
            _ if obj == ObjPtr::ZERO_SIZE => {}
            Kind::Carved => self.machine.backend.uncarve(cx, obj),
            Kind::Large if obj.get() == head.offset() => {
                let order = page.order();
                core.large_pages.fetch_sub(u64::from(order.pages()), Relaxed);
                core.zones.free(cx, head, order);
            }
            Kind::Large => {
                self.finding(FindingKind::InteriorPointer, obj, site, "inside a large kmalloc");
            }
            _ => self.finding(FindingKind::ForeignPointer, obj, site, "not from kmalloc"),
        }
    }

    /// Returns the usable bytes of an object from kmalloc or a cache (`ksize`).
    pub fn ksize(&self, obj: ObjPtr) -> u64 {
        let core = &self.machine.core;
        let head = core.pages.head(obj.pfn());
        let page = core.pages.get(head);
        match page.kind() {
            Kind::Slab => {
                let cache = core.caches.get(CacheId(page.cache.get()));
                u64::from(cache.object_size.get())
            }
            Kind::Large | Kind::Pages => page.order().bytes(),
            Kind::Carved => self.machine.backend.carved_size(&core.arena, obj),
            _ => 0,
        }
    }

    /// Allocates 2^order pages (`alloc_pages`); `None` when memory is out or the order is too high.
    pub fn alloc_pages(&self, order: Order, gfp: Gfp) -> Option<Pfn> {
        let core = &self.machine.core;
        let pfn = core.zones.alloc(&self.cx, order, gfp, None)?;
        core.pages.claim(pfn, Kind::Pages, order, 0);
        if gfp.has(Gfp::ZERO) {
            core.arena.fill(pfn.offset(), order.bytes(), 0);
        }
        Some(pfn)
    }

    /// Frees pages (`__free_pages`).
    pub fn free_pages(&self, pfn: Pfn, order: Order, site: Site) {
        let core = &self.machine.core;
        let Some(obj) = ObjPtr::new(pfn.offset()) else { return };
        if pfn.0 >= core.pages.count() || core.pages.get(pfn).kind() != Kind::Pages {
            return self.finding(FindingKind::ForeignPointer, obj, site, "not from alloc_pages");
        }
        if core.pages.get(pfn).order() != order {
            return self.finding(FindingKind::BadOrder, obj, site, "not the order allocated");
        }
        core.zones.free(&self.cx, pfn, order);
    }

    /// Lets time pass on this CPU: `now_ns` on any clock that only rises (a trace's, or the real
    /// one). SLAB reaps its arrays by it every two seconds; the others have no use for it.
    #[inline]
    pub fn tick(&self, now_ns: u64) {
        self.machine.backend.tick(&self.cx, now_ns);
    }

    /// Returns what the CPU holds of a cache to the shared lists.
    pub fn flush(&self, cache: CacheId) {
        self.machine.backend.flush(&self.cx, self.machine.slot(cache));
    }

    #[cold]
    fn finding(&self, kind: FindingKind, obj: ObjPtr, site: Site, detail: &str) {
        self.machine.core.findings.report(Finding {
            kind,
            cache: "-".into(),
            object: Some(obj),
            offset: 0,
            site,
            site_before: None,
            detail: detail.into(),
        });
    }
}

impl<B: Backend> Drop for Cpu<'_, B> {
    fn drop(&mut self) {
        if self.cx.exact {
            self.machine.close_books();
        }
        self.machine.release(self.cx.cpu);
    }
}

/// All CPUs of a machine in one thread's hands.
#[derive(Debug)]
pub struct CpuSet<'m, B: Backend> {
    machine: &'m Machine<B>,
    cpus: Vec<Cpu<'m, B>>,
}

impl<'m, B: Backend> CpuSet<'m, B> {
    pub(super) fn new(machine: &'m Machine<B>) -> Self {
        let cpus = (0..machine.cpu_count()).map(|cpu| Cpu::new(machine, cpu, true)).collect();
        machine.open_books();
        Self { machine, cpus }
    }

    /// Returns a CPU.
    ///
    /// # Panics
    /// If the machine has no such CPU.
    #[inline(always)]
    pub fn cpu(&self, id: CpuId) -> &Cpu<'m, B> {
        &self.cpus[id.0 as usize]
    }

    /// Returns all CPUs by number.
    pub fn iter(&self) -> impl Iterator<Item = &Cpu<'m, B>> {
        self.cpus.iter()
    }

    /// Gives everything that can be given of a cache back to the page allocator
    /// (`kmem_cache_shrink`).
    pub fn shrink(&self, cache: CacheId) {
        let slot = self.machine.slot(cache);
        self.cpus.iter().for_each(|cpu| self.machine.backend.flush(&cpu.cx, slot));
        self.machine.backend.shrink(&self.cpus[0].cx, slot);
    }

    /// Destroys a cache, or takes one alias off it (`kmem_cache_destroy`).
    ///
    /// # Errors
    /// [`Error::Busy`] if objects are live: the cache stays, and a finding is entered.
    pub fn cache_destroy(&self, cache: CacheId, site: Site) -> Result<(), Error> {
        let core = &self.machine.core;
        let mut registry = core.registry.lock();
        let Some(entry) = registry.entry_mut(cache) else { return Ok(()) };
        if entry.users > 1 {
            entry.users -= 1;
            return Ok(());
        }
        let name = entry.args.name.clone();
        self.shrink(cache);
        let objects = self.machine.live(cache);
        if objects > 0 {
            core.findings.report(Finding {
                kind: FindingKind::DestroyWithObjects,
                cache: name.clone(),
                object: None,
                offset: 0,
                site,
                site_before: None,
                detail: alloc::format!("{objects} objects are live, expected none"),
            });
            return Err(Error::Busy { name, objects });
        }
        registry.remove(&core.caches, cache);
        Ok(())
    }
}
