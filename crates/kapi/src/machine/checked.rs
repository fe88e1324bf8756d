//! Checked operations: the ledger of blocks, guard bytes, poison, AddressSanitizer's shadow.

use std::sync::Mutex;

use slablab_kmem::{Backend, Gfp, ObjPtr, Order, PAGE_SIZE, Site};

use super::engine::{Engine, ZERO_SIZE_PTR, class_bytes};
use super::handle::{CacheHandle, cache_handle};
use crate::context;
use crate::event::Event;
use crate::krefs;
use crate::ledger::{FREED, FRESH, Free, GUARD, GUARD_BYTES, Ledger, Live, Source, overflow};
use crate::nodes;
use crate::order;
use crate::raw::{bytes, module};
use crate::runtime::{self, lock};

/// The largest size that comes from a slab.
const SLAB_BYTES_MAX: u64 = 8192;

/// Bytes to ask for so that a guard fits behind what a block of `size` bytes may use, where that makes no difference to
/// success: a power of two, whose blocks are aligned as a kernel aligns those without a guard.
fn with_guard(size: u64) -> u64 {
    let with_guard = class_bytes(size).saturating_add(GUARD_BYTES);
    if with_guard <= SLAB_BYTES_MAX { with_guard.next_power_of_two() } else { size }
}

/// Bytes that a block of `asked` bytes has at least.
fn room(asked: u64) -> u64 {
    match asked {
        0..=SLAB_BYTES_MAX => asked,
        _ => Order::for_bytes(asked).map_or(asked, Order::bytes),
    }
}

/// Whether readers of read-copy-update may look at such an object once it is free.
fn is_read_when_free(source: &Source) -> bool {
    matches!(source, Source::Cache(handle, _) if cache_handle(*handle as u64).is_read_when_free)
}

impl<B: Backend> Engine<B> {
    #[cold]
    pub(super) fn kmalloc_checked(&self, size: u64, gfp: Gfp, site: u64) -> u64 {
        if gfp.has(Gfp::DIRECT_RECLAIM) {
            context::may_sleep("kmalloc() with GFP_KERNEL", site);
        }
        if size == 0 {
            return ZERO_SIZE_PTR;
        }
        // AddressSanitizer needs room behind a block; without it the machine's own red zones stand there.
        let asked = if self.asan.is_some() { with_guard(size) } else { size };
        let object = self.after_quarantine(|| self.kmalloc_object(asked, gfp, site));
        let address = self.address(object);
        if address != 0 {
            let room = if self.asan.is_some() { room(asked) } else { self.machine_ksize(address) };
            self.entered(address, size, room, Source::Kmalloc, gfp, site);
        }
        address
    }

    #[cold]
    pub(super) fn cache_alloc_checked(&self, cache: &CacheHandle, gfp: Gfp, site: u64) -> u64 {
        if gfp.has(Gfp::DIRECT_RECLAIM) {
            context::may_sleep("kmem_cache_alloc() with GFP_KERNEL", site);
        }
        let object = self.after_quarantine(|| self.cache_object(cache, gfp, site));
        let address = self.address(object);
        if address != 0 {
            let size = u64::from(cache.object_bytes);
            let room = u64::from(cache.usable_bytes) + self.guard_bytes();
            let source = self.cache_source(cache);
            // What a constructor wrote has to stay, and what a reader may still look at.
            let gfp = if cache.keeps_contents { gfp | Gfp::ZERO } else { gfp };
            self.entered(address, size, room, source, gfp, site);
        }
        address
    }

    #[cold]
    pub(super) fn bucket_alloc_checked(
        &self,
        cache: &CacheHandle,
        size: u64,
        gfp: Gfp,
        site: u64,
    ) -> u64 {
        if gfp.has(Gfp::DIRECT_RECLAIM) {
            context::may_sleep("kmem_buckets_alloc() with GFP_KERNEL", site);
        }
        let object = self.cache_object(cache, gfp, site);
        let address = self.address(object);
        if address != 0 {
            let room = u64::from(cache.usable_bytes) + self.guard_bytes();
            self.entered(address, size, room, Source::Kmalloc, gfp, site);
        }
        address
    }

    /// Allocates once more without a quarantine, if there is no memory with it.
    fn after_quarantine(&self, allocate: impl Fn() -> Option<ObjPtr>) -> Option<ObjPtr> {
        allocate().or_else(|| if self.end_quarantine() { allocate() } else { None })
    }

    /// Forbids what lies before an object in its page, back to the live block before: no object lies there that may be
    /// touched.
    fn forbid_before(&self, address: u64, source: &Source, ledger: &Ledger) {
        let Some(asan) = self.asan.filter(|_| !is_read_when_free(source)) else { return };
        let page = address & !(PAGE_SIZE - 1);
        let end = ledger.end_before(address).map_or(page, |end| page.max(end.next_multiple_of(8)));
        if end < address && matches!(source, Source::Kmalloc | Source::Cache(..)) {
            asan.forbid(end, address - end);
        }
    }

    /// Bytes that every object of a cache has behind what was asked for.
    pub(super) fn guard_bytes(&self) -> u64 {
        if self.checked { GUARD_BYTES } else { 0 }
    }

    fn cache_source(&self, cache: &CacheHandle) -> Source {
        Source::Cache(std::ptr::from_ref(cache) as usize, cache.name.to_string_lossy().into())
    }

    /// Enters a new block: poison, guard bytes, ledger, shadow.
    fn entered(&self, address: u64, size: u64, room: u64, source: Source, gfp: Gfp, site: u64) {
        if let Some(asan) = self.asan {
            asan.allow(address, room, room);
        }
        if let Some(ledger) = &self.ledger {
            if !gfp.has(Gfp::ZERO) {
                bytes::block_fill(address, size, FRESH);
            }
            let live = Live { bytes: size, source, site: runtime::offset(site), guard: 0 };
            let live = self.guarded(address, live, room);
            let mut ledger = lock(ledger);
            self.forbid_before(address, &live.source, &ledger);
            ledger.enter(address, live);
        }
        if let Some(asan) = self.asan {
            asan.allow(address, size, room);
        }
    }

    /// Returns what may be used of a block, which a module that asks may then write to.
    #[cold]
    pub(super) fn ksize_checked(&self, address: u64) -> u64 {
        let bytes = self.usable(address);
        self.enter_size(address, bytes);
        bytes
    }

    /// Returns what may be used of a block.
    pub(super) fn usable_checked(&self, ledger: &Mutex<Ledger>, address: u64) -> u64 {
        let Some(live) = lock(ledger).get(address).cloned() else {
            return self.machine_ksize(address);
        };
        match live.source {
            Source::Kmalloc if self.asan.is_some() => {
                class_bytes(live.bytes).min(live.bytes + live.guard)
            }
            Source::Kmalloc => live.bytes + live.guard,
            Source::Cache(handle, _) => cache_handle(handle as u64).usable_bytes.into(),
            _ => live.bytes,
        }
    }

    /// Returns what was asked of an object that is there, or was.
    pub(crate) fn bytes_asked(&self, object: ObjPtr) -> u64 {
        let address = self.address(Some(object));
        let asked = self.ledger.as_ref().and_then(|ledger| lock(ledger).bytes_asked(address));
        asked.unwrap_or_else(|| self.machine_ksize(address))
    }

    /// Enters that a block of kmalloc is `bytes` long from now on, of those that may be used of it.
    pub(crate) fn resize(&self, address: u64, bytes: u64) {
        self.tell_resized(address, bytes);
        self.enter_size(address, bytes);
    }

    fn enter_size(&self, address: u64, bytes: u64) {
        let Some(ledger) = &self.ledger else { return };
        let is_object = |live: &&Live| matches!(live.source, Source::Kmalloc | Source::Cache(..));
        let known = lock(ledger).get(address).filter(is_object).cloned();
        let Some(live) = known else { return };
        self.look_at_guard(address, &live, None);
        let room = live.bytes + live.guard;
        let live = self.guarded(address, Live { bytes, ..live }, room);
        lock(ledger).enter(address, live);
        if let Some(asan) = self.asan {
            asan.allow(address, bytes, room);
        }
    }

    /// Writes guard bytes into what a block has behind its bytes.
    pub(super) fn guarded(&self, address: u64, mut live: Live, room: u64) -> Live {
        live.guard = room - live.bytes;
        bytes::block_fill(address + live.bytes, live.guard, GUARD);
        live
    }

    /// Reports a guard that does not stand any more.
    pub(super) fn look_at_guard(&self, address: u64, live: &Live, site: Option<u64>) {
        if let Some(event) = self.damage(address, live, site.map(runtime::offset)) {
            runtime::emit(&event);
        }
    }

    fn damage(&self, address: u64, live: &Live, site: Option<u64>) -> Option<Event> {
        if let Some(asan) = self.asan {
            asan.allow(address, live.bytes + live.guard, 0);
        }
        let at = bytes::block_first_other(address + live.bytes, live.guard, GUARD)?;
        Some(overflow(address, live, live.bytes + at, site))
    }

    #[cold]
    pub(super) fn kfree_checked(&self, address: u64, site: u64) {
        self.free_checked(address, &Source::Kmalloc, site);
    }

    #[cold]
    pub(super) fn cache_free_checked(&self, cache: &CacheHandle, address: u64, site: u64) {
        self.free_checked(address, &self.cache_source(cache), site);
    }

    fn free_checked(&self, address: u64, by: &Source, site: u64) {
        let Some(ledger) = &self.ledger else {
            return self.free_marked(address, by, site);
        };
        if let Some(live) = self.settle(ledger, address, by, site) {
            module::forget(address, live.bytes, site);
            krefs::forget(address, live.bytes, site);
            if order::forget(address, live.bytes) {
                context::frees_lock(site);
            }
            self.look_at_guard(address, &live, Some(site));
            self.free_as(&live, address, site);
        }
    }

    /// Enters a free in the ledger; returns the block if the caller is to free it. What is freed by the wrong
    /// function is reported and freed here.
    pub(super) fn settle(
        &self,
        ledger: &Mutex<Ledger>,
        address: u64,
        by: &Source,
        site: u64,
    ) -> Option<Live> {
        let outcome = lock(ledger).free(address, by, runtime::offset(site));
        match outcome {
            Free::Refused(event) => runtime::emit(&event),
            Free::Wrong(live, event) => {
                runtime::emit(&event);
                self.free_as(&live, address, site);
            }
            Free::Go(live) => return Some(live),
        }
        None
    }

    /// Frees under AddressSanitizer alone, without a ledger.
    fn free_marked(&self, address: u64, by: &Source, site: u64) {
        let room = self.object(address).map_or(0, |o| self.on_cpu(|cpu| cpu.ksize(o)));
        self.machine_free(address, by, site);
        if let Some(asan) = self.asan.filter(|_| !is_read_when_free(by)) {
            asan.forbid(address, room);
        }
    }

    /// Frees a block as what it is.
    pub(super) fn free_as(&self, live: &Live, address: u64, site: u64) {
        match live.source {
            Source::Vmalloc | Source::VMAP => return self.vfree_unchecked(address, site),
            // Only the runtime knows how, which was not asked.
            Source::Made(_) => return,
            _ => {}
        }
        if let (Source::Pages(_), Some(pfn)) = (&live.source, self.page_of(address)) {
            self.pages.clear(pfn);
        }
        let poison = match live.source {
            // Constructed objects keep their state, and those that readers may still look at.
            Source::Cache(handle, _) => !cache_handle(handle as u64).keeps_contents,
            _ => true,
        };
        if poison {
            bytes::block_fill(address, live.bytes, FREED);
        }
        let Some(asan) = self.asan.filter(|_| !is_read_when_free(&live.source)) else {
            return self.machine_free(address, &live.source, site);
        };
        asan.forbid(address, live.bytes + live.guard);
        match live.source {
            Source::Kmalloc | Source::Cache(..) => self.quarantine(address, live, site),
            _ => self.machine_free(address, &live.source, site),
        }
    }

    pub(super) fn machine_free(&self, address: u64, source: &Source, site: u64) {
        let Some(object) = self.object(address) else {
            return runtime::report_foreign("a free", address, site);
        };
        let at = Site(site as u32);
        match source {
            Source::Cache(handle, _) => {
                let id = cache_handle(*handle as u64).id;
                self.on_cpu(|cpu| cpu.free(id, object, at));
            }
            Source::Pages(order) => self.on_cpu(|cpu| {
                cpu.free_pages(object.pfn(), Order(*order as u8), at);
            }),
            Source::Kmalloc | Source::Vmalloc | Source::Made(_) => {
                self.on_cpu(|cpu| cpu.kfree(object, at));
            }
        }
    }

    #[cold]
    pub(super) fn pages_entered(&self, pfn: u32, order: u32, gfp: Gfp, site: u64) {
        if gfp.has(Gfp::DIRECT_RECLAIM) {
            context::may_sleep("alloc_pages() with GFP_KERNEL", site);
        }
        let (address, size) = (self.page_address(pfn), PAGE_SIZE << order);
        self.entered(address, size, size, Source::Pages(order), gfp, site);
    }

    /// Checks a free of pages; returns whether the caller still has to free them.
    #[cold]
    pub(super) fn pages_may_go(&self, pfn: u32, order: u32, site: u64) -> bool {
        let address = self.page_address(pfn);
        let Some(ledger) = &self.ledger else {
            if let Some(asan) = self.asan {
                asan.forbid(address, PAGE_SIZE << order);
            }
            return true;
        };
        let Some(live) = self.settle(ledger, address, &Source::Pages(order), site) else {
            return false;
        };
        bytes::block_fill(address, live.bytes, FREED);
        if let Some(asan) = self.asan {
            asan.forbid(address, live.bytes);
        }
        true
    }

    /// Enters what the runtime made for a module; each has an address of its own.
    pub(crate) fn made(&self, address: u64, bytes: u64, source: Source, site: u64) {
        if let Some(ledger) = self.ledger_of(&source) {
            let live = Live { bytes, source, site: runtime::offset(site), guard: 0 };
            lock(ledger).enter(address, live);
        }
    }

    fn ledger_of(&self, source: &Source) -> Option<&Mutex<Ledger>> {
        let ledger = if source.is_part() { &self.parts } else { &self.ledger };
        ledger.as_ref()
    }

    /// Enters that the module gives it back; false if it is not there, which is reported.
    pub(crate) fn unmade(&self, address: u64, source: &Source, site: u64) -> bool {
        let Some(ledger) = self.ledger_of(source) else { return true };
        self.settle(ledger, address, source, site).is_some()
    }

    /// What is wrong at the end: damaged guards, leaks, caches that are left.
    pub(crate) fn final_findings(&self) -> Vec<Event> {
        let Some(ledger) = &self.ledger else { return Vec::new() };
        self.end_quarantine();
        let ledger = lock(ledger);
        let damaged = ledger.iter().filter_map(|(address, live)| self.damage(address, live, None));
        let parts = self.parts.as_ref().map_or(Vec::new(), |parts| lock(parts).leaks(&[]));
        let busy = lock(&self.busy);
        damaged.chain(ledger.leaks(&busy)).chain(nodes::leaks()).chain(parts).collect()
    }

    /// Returns the object of an address, if the ledger knows it as a cache's.
    pub(crate) fn live_of_cache(&self, handle: u64) -> Option<(u64, Live)> {
        let ledger = self.ledger.as_ref()?;
        lock(ledger).of_cache(handle as usize).map(|(address, live)| (address, live.clone()))
    }
}
