//! The rest of the slab front: what callers have beside the four hot operations.
//!
//! Linux counterpart: `mm/slab_common.c`, `mm/slab.h`, `include/linux/gfp.h` @ 6.1.

use alloc::string::ToString;
use alloc::vec::Vec;

use super::cpu::Cpu;
use crate::Gfp;
use crate::backend::Backend;
use crate::backend::ops::Request;
use crate::cache::findings::{Finding, FindingKind};
use crate::error::Error;
use crate::ids::{CacheId, NodeId, ObjPtr, Order, Pfn, Site};
use crate::page::{BlockRequest, Kind};
use crate::raw::sync::relax;

impl<B: Backend> Cpu<'_, B> {
    /// Allocates an object on a node (`kmem_cache_alloc_node`). Where the machine has no such node, the CPU's own replaces
    /// it, as in Linux for a node that is offline; with [`Gfp::THISNODE`] the result is `None`.
    #[inline]
    pub fn alloc_node(&self, cache: CacheId, gfp: Gfp, node: NodeId, site: Site) -> Option<ObjPtr> {
        self.alloc_request(cache, self.on_node(gfp, node, site)?)
    }

    /// Describes an allocation on a node, if the machine has it or another node will do.
    #[inline]
    fn on_node(&self, gfp: Gfp, node: NodeId, site: Site) -> Option<Request> {
        if node.0 < self.machine.core.setup.nodes {
            return Some(Request::on_node(gfp, site, node));
        }
        (!gfp.has(Gfp::THISNODE)).then(|| Request::new(gfp, site))
    }

    /// Allocates an object full of zeroes (`kmem_cache_zalloc`).
    #[inline]
    pub fn zalloc(&self, cache: CacheId, gfp: Gfp, site: Site) -> Option<ObjPtr> {
        self.alloc(cache, gfp | Gfp::ZERO, site)
    }

    /// Fills `objects` from a cache; all or none (`kmem_cache_alloc_bulk`). Returns whether it did.
    pub fn alloc_bulk(
        &self,
        cache: CacheId,
        gfp: Gfp,
        objects: &mut [Option<ObjPtr>],
        site: Site,
    ) -> bool {
        for i in 0..objects.len() {
            objects[i] = self.alloc(cache, gfp, site);
            if objects[i].is_none() {
                let taken = objects[..i].iter_mut().filter_map(Option::take);
                taken.for_each(|obj| self.free(cache, obj, site));
                return false;
            }
        }
        true
    }

    /// Frees many objects of one cache (`kmem_cache_free_bulk`).
    pub fn free_bulk(&self, cache: CacheId, objects: impl Iterator<Item = ObjPtr>, site: Site) {
        objects.for_each(|obj| self.free(cache, obj, site));
    }

    /// Allocates `size` bytes on a node (`kmalloc_node`). Where the machine has no such node it behaves as
    /// [`Self::alloc_node`] does.
    #[inline]
    pub fn kmalloc_node(&self, size: u64, gfp: Gfp, node: NodeId, site: Site) -> Option<ObjPtr> {
        self.kmalloc_request(size, self.on_node(gfp, node, site)?)
    }

    /// Allocates `size` bytes full of zeroes (`kzalloc`).
    #[inline]
    pub fn kzalloc(&self, size: u64, gfp: Gfp, site: Site) -> Option<ObjPtr> {
        self.kmalloc(size, gfp | Gfp::ZERO, site)
    }

    /// Makes a kmalloc block hold `size` bytes (`krealloc`): the same block if it has the room, else a new
    /// one with the old contents. `None` leaves the old block as it is; a size of 0 frees it and gives
    /// [`ObjPtr::ZERO_SIZE`]. A block that [`Self::kfree`] would report is a finding, and gives `None`.
    pub fn krealloc(&self, obj: Option<ObjPtr>, size: u64, gfp: Gfp, site: Site) -> Option<ObjPtr> {
        let Some(old) = obj.filter(|&obj| obj != ObjPtr::ZERO_SIZE) else {
            return self.kmalloc(size, gfp, site);
        };
        if size == 0 {
            self.kfree(old, site);
            return Some(ObjPtr::ZERO_SIZE);
        }
        let room = self.realloc_room(old, site)?;
        if size <= room {
            return Some(old);
        }
        let new = self.kmalloc(size, gfp, site)?;
        self.machine.core.arena.copy(old.get(), new.get(), room);
        self.kfree(old, site);
        Some(new)
    }

    /// Returns the room of a block that may be reallocated; any other address is a finding.
    fn realloc_room(&self, obj: ObjPtr, site: Site) -> Option<u64> {
        let core = &self.machine.core;
        let wrong = match core.pages.try_get(obj.pfn()) {
            None => (FindingKind::ForeignPointer, "beyond the memory"),
            Some(_) if !obj.get().is_multiple_of(8) => {
                (FindingKind::Unaligned, "expected a multiple of 8")
            }
            Some(_) if self.cx.hooks.checks() && !self.checks().is_object(obj, site) => {
                return None;
            }
            Some(page) => match (page.kind(), self.ksize(obj)) {
                (Kind::Large, _) if obj.get() != Pfn(page.head.get()).offset() => {
                    (FindingKind::InteriorPointer, "inside a large kmalloc")
                }
                (Kind::Slab | Kind::Large | Kind::Carved, room) if room > 0 => return Some(room),
                _ => (FindingKind::ForeignPointer, "not from kmalloc"),
            },
        };
        self.finding(wrong.0, obj, site, wrong.1);
        None
    }

    /// Returns the usable bytes of an object from kmalloc or a cache (`ksize`); 0 for any other address. Under SLOB and
    /// SLMB only its cache knows the size of a cache's object. There the result is also 0, or whatever the word in
    /// front of it says, unless operations are checked.
    pub fn ksize(&self, obj: ObjPtr) -> u64 {
        self.machine.ksize(obj)
    }

    /// Allocates a block of an order (`alloc_pages`), of a page at least. Orders count in
    /// [`PAGE_SIZE`](crate::PAGE_SIZE); where pages are larger, a lower order is taken as that of a page, here and in the
    /// other functions. Returns `None` when memory is out or the order is above 10.
    pub fn alloc_pages(&self, order: Order, gfp: Gfp) -> Option<Pfn> {
        let page_order = self.machine.core.setup.arch.page_order;
        if order < page_order {
            return self.alloc_page(page_order, gfp);
        }
        self.alloc_block(order, gfp)
    }

    #[cold]
    #[inline(never)]
    fn alloc_page(&self, page_order: Order, gfp: Gfp) -> Option<Pfn> {
        self.alloc_block(page_order, gfp)
    }

    #[inline(always)]
    fn alloc_block(&self, order: Order, gfp: Gfp) -> Option<Pfn> {
        let core = &self.machine.core;
        if order > Order::MAX {
            if self.cx.hooks.checks() && !gfp.has(Gfp::NOWARN) {
                self.checks().bad_order(order);
            }
            return None;
        }
        let request = BlockRequest { order, gfp, node: None, kind: Kind::Pages, cache: 0 };
        let pfn = self.cx.take_pages(&request)?;
        if gfp.has(Gfp::ZERO) {
            core.arena.fill(pfn.offset(), order.bytes(), 0);
        }
        Some(pfn)
    }

    /// Frees pages (`__free_pages`).
    pub fn free_pages(&self, pfn: Pfn, order: Order, site: Site) {
        let core = &self.machine.core;
        let Some(obj) = ObjPtr::new(pfn.offset()) else { return };
        let Some(page) = core.pages.try_get(pfn).filter(|page| page.kind() == Kind::Pages) else {
            return self.finding(FindingKind::ForeignPointer, obj, site, "not from alloc_pages");
        };
        if page.order() != order || page.head.get() != pfn.0 {
            return self.free_other_order(pfn, order, site);
        }
        self.cx.give_pages(pfn, order);
    }

    /// Frees a page that a lower order stands for; any other order is a finding.
    #[cold]
    #[inline(never)]
    fn free_other_order(&self, pfn: Pfn, order: Order, site: Site) {
        let (core, page) = (&self.machine.core, self.machine.core.pages.get(pfn));
        let page_order = core.setup.arch.page_order;
        if order < page_order && page.order() == page_order && page.head.get() == pfn.0 {
            return self.cx.give_pages(pfn, page_order);
        }
        if let Some(obj) = ObjPtr::new(pfn.offset()) {
            self.finding(FindingKind::BadOrder, obj, site, "not the block allocated");
        }
    }

    /// Allocates `size` bytes of whole pages and gives the rest of the block back
    /// (`alloc_pages_exact`); free with [`Self::free_pages_exact`].
    pub fn alloc_pages_exact(&self, size: u64, gfp: Gfp) -> Option<Pfn> {
        let order = self.machine.core.setup.arch.order_for_bytes(size)?;
        let pfn = self.alloc_pages(order, gfp)?;
        self.split_pages(pfn, order, Site(0));
        let (page_order, used) = self.whole_pages(size);
        for page in (pfn.0 + used..pfn.0 + order.pages()).step_by(page_order.pages() as usize) {
            self.cx.give_pages(Pfn(page), page_order);
        }
        Some(pfn)
    }

    /// Returns a page's order, and how many blocks of 4 KiB hold the pages of `size` bytes.
    fn whole_pages(&self, size: u64) -> (Order, u32) {
        let arch = self.machine.core.setup.arch;
        let pages = size.max(1).div_ceil(arch.page_bytes()) as u32;
        (arch.page_order, pages * arch.page_order.pages())
    }

    /// Splits a block of an order into blocks of one page (`split_page`); any other address is a
    /// finding, and nothing is split.
    pub fn split_pages(&self, pfn: Pfn, order: Order, site: Site) {
        let core = &self.machine.core;
        let Some(obj) = ObjPtr::new(pfn.offset()) else { return };
        let block = core.pages.try_get(pfn).filter(|page| page.kind() == Kind::Pages);
        let order = order.max(core.setup.arch.page_order);
        if block.is_none_or(|page| page.order() != order || page.head.get() != pfn.0) {
            return self.finding(FindingKind::BadOrder, obj, site, "not a block of that order");
        }
        core.zones.split(&core.pages, pfn, order);
    }

    /// Frees what [`Self::alloc_pages_exact`] gave.
    pub fn free_pages_exact(&self, pfn: Pfn, size: u64, site: Site) {
        let (order, used) = self.whole_pages(size);
        let pages = (pfn.0..pfn.0 + used).step_by(order.pages() as usize);
        pages.for_each(|page| self.free_pages(Pfn(page), order, site));
    }

    /// Frees a kmalloc block by its address in this process; an address of another machine, or of
    /// none, is a finding.
    pub fn kfree_address(&self, address: *const u8, site: Site) {
        match self.machine.object(address) {
            Some(obj) => self.kfree(obj, site),
            None => self.foreign(address, site),
        }
    }

    /// Frees an object by its address in this process, as [`Self::kfree_address`] does.
    pub fn free_address(&self, cache: CacheId, address: *const u8, site: Site) {
        match self.machine.object(address) {
            Some(obj) => self.free(cache, obj, site),
            None => self.foreign(address, site),
        }
    }

    /// Lets time pass on this CPU: `now_ns` on any clock that only rises (a trace's, or the real
    /// one). SLAB reaps its arrays by it every two seconds, and grace periods end.
    #[inline]
    pub fn tick(&self, now_ns: u64) {
        self.machine.backend.tick(&self.cx, now_ns);
        self.end_grace_periods();
    }

    /// Returns what the CPU holds of a cache to the shared lists.
    pub fn flush(&self, cache: CacheId) {
        self.machine.backend.flush(&self.cx, self.machine.slot(cache));
    }

    /// Gives everything of a cache that can be given back to the page allocator
    /// (`kmem_cache_shrink`), and from there to the operating system; returns the bytes that went
    /// there. What CPUs in other threads' hands hold stays; those may flush it.
    pub fn shrink(&self, cache: CacheId) -> u64 {
        self.shrink_slabs(cache);
        self.machine.release_memory()
    }

    /// Shrinks a cache as [`Self::shrink`] does, up to the page allocator.
    fn shrink_slabs(&self, cache: CacheId) {
        self.flush(cache);
        self.machine.flush_idle(cache);
        self.machine.backend.shrink(&self.cx, self.machine.slot(cache));
    }

    /// Shrinks every cache; returns the bytes that went to the operating system.
    pub fn reclaim(&self) -> u64 {
        self.machine.caches().into_iter().rev().for_each(|cache| self.shrink_slabs(cache));
        self.machine.release_memory()
    }

    /// Destroys a cache, or takes one alias off it (`kmem_cache_destroy`).
    ///
    /// # Errors
    /// Returns [`Error::Busy`] if objects are live: the cache stays, and a finding is entered.
    /// [`Error::Reading`] inside [`Self::rcu_read`]: it may have to wait for readers, and nothing changes.
    /// [`Error::CpuHolds`] if a CPU in another thread's hands still has a part of it.
    pub fn cache_destroy(&self, cache: CacheId, site: Site) -> Result<(), Error> {
        let machine = self.machine;
        if self.cx.hooks.checks() && !self.checks().cache(cache, site) {
            return Ok(());
        }
        let name = {
            let mut registry = machine.core.registry.lock();
            let entry = registry.entry_mut(cache).filter(|entry| entry.users > 0);
            let Some(entry) = entry else { return Ok(()) };
            if entry.users == 1 && self.would_wait_for_itself() {
                return Err(Error::Reading { name: entry.args.name.to_string() });
            }
            entry.users -= 1;
            if entry.users > 0 {
                return Ok(());
            }
            // No other thread destroys it or merges with it from now on.
            entry.args.name.to_string()
        };
        self.shrink_slabs(cache);
        if !machine.core.grace.objects.lock().is_empty() || machine.backend.waits() {
            self.rcu_barrier();
            self.shrink_slabs(cache);
        }
        let stays = || {
            if let Some(entry) = machine.core.registry.lock().entry_mut(cache) {
                entry.users = 1;
            }
        };
        let objects = machine.live(cache);
        if objects > 0 {
            stays();
            machine.core.findings.report(self.leak(cache, &name, objects, site));
            return Err(Error::Busy { name, objects });
        }
        if let Some(cpu) = machine.holder(cache) {
            stays();
            return Err(Error::CpuHolds { name, cpu });
        }
        machine.core.registry.lock().remove(&machine.core.caches, cache);
        Ok(())
    }

    /// Waits until no earlier reader is left, and frees what waited for them: objects, and slabs of
    /// type-safe caches (`rcu_barrier`).
    ///
    /// # Panics
    /// If this CPU itself is inside [`Self::rcu_read`], or this thread in a section that [`crate::Readers`] names: it would
    /// wait for itself.
    pub fn rcu_barrier(&self) {
        let grace = &self.machine.core.grace;
        assert!(!self.would_wait_for_itself(), "rcu_barrier inside a read-side section");
        let mut spins = 0;
        while !grace.is_empty() || self.machine.backend.waits() {
            self.end_grace_periods();
            relax(spins);
            spins += 1;
        }
    }

    /// Returns whether a grace period would not end before the caller leaves a section of its own.
    fn would_wait_for_itself(&self) -> bool {
        let core = &self.machine.core;
        // One thread drives all CPUs while totals are exact.
        let own =
            if self.cx.hooks.exact() { 0..core.setup.cpus } else { self.cx.cpu..self.cx.cpu + 1 };
        own.into_iter().any(|cpu| core.grace.reads(cpu))
    }

    /// Enters a read-side section: slabs of type-safe caches freed from now on stay until it ends
    /// (`rcu_read_lock`). Sections of one CPU do not nest.
    pub fn rcu_read<R>(&self, read: impl FnOnce() -> R) -> R {
        let _section = self.machine.core.grace.enter(self.cx.cpu);
        read()
    }

    fn leak(&self, cache: CacheId, name: &str, objects: u64, site: Site) -> Finding {
        let detail = alloc::format!("{objects} objects are live, expected none");
        let leak = Finding::new(FindingKind::DestroyWithObjects, site, detail).cache(name);
        match self.machine.core.tracks.first_live(cache) {
            Some((obj, allocated)) => leak.object(obj, 0).before(Some(allocated)),
            None => leak,
        }
    }

    #[cold]
    fn foreign(&self, address: *const u8, site: Site) {
        let detail = alloc::format!("{address:p} is not in this machine's memory");
        let findings = &self.machine.core.findings;
        findings.report(Finding::new(FindingKind::ForeignPointer, site, detail));
    }

    #[cold]
    pub(super) fn finding(&self, kind: FindingKind, obj: ObjPtr, site: Site, detail: &str) {
        self.machine.core.findings.report(Finding::new(kind, site, detail).object(obj, 0));
    }
}

impl<B: Backend> crate::machine::Machine<B> {
    /// Flushes a cache on the CPUs that no thread holds.
    pub(super) fn flush_idle(&self, cache: CacheId) {
        for cpu in 0..self.core.setup.cpus {
            if self.claim(cpu) {
                self.backend.flush(&self.cx(cpu, crate::cpu::Hooks::NONE), self.slot(cache));
                self.release(cpu);
            }
        }
    }

    /// Returns a CPU that holds a part of a cache.
    fn holder(&self, cache: CacheId) -> Option<u32> {
        let cpus = 0..self.core.setup.cpus;
        cpus.into_iter().find(|&cpu| self.backend.holds(self.core.cpu_cache_index(cpu, cache)))
    }

    /// Empties the per-CPU page lists and gives the memory of all free pages back to the operating
    /// system. Returns the bytes; the system may have had some of them already.
    pub fn release_memory(&self) -> u64 {
        self.core.zones.drain(self.core.memory());
        self.core.zones.discard(self.core.memory(), Order(0))
    }

    /// Returns the names of all caches with their ids, merged ones under every name.
    pub fn cache_names(&self) -> Vec<(alloc::string::String, CacheId)> {
        let registry = self.core.registry.lock();
        let entries = registry.entries().iter();
        entries
            .flat_map(|e| {
                core::iter::once(&e.args.name).chain(&e.aliases).map(|name| (name.clone(), e.id))
            })
            .collect()
    }
}
