//! The checks of levels 1 to 3.
//!
//! # How it works
//! Beside the memory stands a [`Track`] for every 8 bytes. It tells a double free, a wrong cache,
//! an interior and a foreign pointer apart under every backend alike, and knows both call sites.
//! From level 2 on, caches get the room that `slub_debug=FPZU` gives them and the checks fill it:
//! red zones around the object, poison in free objects. A carved kmalloc block has the word of its
//! size in front and, from level 2 on, a red zone behind. Level 3 validates the whole machine after
//! every operation. An operation that is refused (a free that cannot be right) is left undone;
//! damage is reported once and mended.
//!
//! Linux counterpart: `alloc_debug_processing`, `free_debug_processing` in `mm/slub.c` @ 6.1.

use alloc::format;
use alloc::string::{String, ToString};

use crate::backend::Backend;
use crate::cache::SlabFlags;
use crate::cache::findings::{Finding, FindingKind};
use crate::cache::setup::CheckLevel;
use crate::cache::table::CacheEntry;
use crate::cache::track::{FREED, LIVE, Track, WAITING, carved_size, carved_state, tracked_cache};
use crate::ids::{CacheId, ObjPtr, Order, PAGE_SIZE, Pfn, Site};
use crate::machine::Machine;
use crate::page::Kind;
use crate::raw::sync::Ordering;

/// Bytes of a free object, and its last one (`POISON_FREE`, `POISON_END`).
const POISON: (u8, u8) = (0x6b, 0xa5);
/// Bytes of the red zones of an object given out (`SLUB_RED_ACTIVE`).
const RED: u8 = 0xcc;

/// The checks of a machine.
#[derive(Debug)]
pub(crate) struct Checks<'m, B: Backend> {
    pub(crate) machine: &'m Machine<B>,
}

impl<B: Backend> Checks<'_, B> {
    fn report(
        &self,
        kind: FindingKind,
        id: Option<CacheId>,
        obj: ObjPtr,
        offset: i64,
        sites: (Site, Option<Site>),
        detail: String,
    ) {
        let core = &self.machine.core;
        let mut finding = Finding::new(kind, sites.0, detail).cache(core.cache_name(id));
        let made = core.tracks.get(obj).map(|track| track.sites.load(Ordering::Relaxed) as u32);
        finding.site_allocated = made.filter(|&site| site != 0).map(Site);
        core.findings.report(finding.object(obj, offset).before(sites.1));
    }

    /// Returns whether a cache lives; else it is a finding.
    #[inline]
    pub(crate) fn cache(&self, id: CacheId, site: Site) -> bool {
        let slot = self.machine.slot(id);
        if slot.alive() && slot.id() == id {
            return true;
        }
        let detail = "expected a living cache, this one is destroyed";
        let finding = Finding::new(FindingKind::UseAfterDestroy, site, detail);
        self.machine.core.findings.report(finding.cache(format!("#{}", id.index())));
        false
    }

    /// Reports a size beyond the largest allocation.
    pub(crate) fn bad_size(&self, size: u64, site: Site) {
        let detail = format!("{size} bytes asked for, expected {} at most", Order::MAX.bytes());
        let finding = Finding::new(FindingKind::BadSize, site, detail);
        self.machine.core.findings.report(finding.cache("kmalloc"));
    }

    /// Reports an order beyond the largest block.
    pub(crate) fn bad_order(&self, order: Order) {
        let detail = format!("order {} asked for, expected 10 at most", order.0);
        let findings = &self.machine.core.findings;
        findings.report(Finding::new(FindingKind::BadOrder, Site(0), detail));
    }

    /// Checks and enters an object just allocated; `id` is `None` for a kmalloc without a cache.
    #[cold]
    pub(crate) fn alloc(&self, id: Option<CacheId>, obj: ObjPtr, site: Site) {
        let core = &self.machine.core;
        let Some(track) = core.tracks.of_new(obj) else { return };
        let state = match id {
            Some(id) => LIVE | u64::from(id.0) << 32,
            None => carved_state(self.paint_carved(obj)),
        };
        let before = track.state.swap(state, Ordering::AcqRel);
        if before & LIVE != 0 {
            let detail = "given out twice: expected a free object on the free list".to_string();
            let sites = (site, track.site_of(before));
            self.report(FindingKind::FreeListCorrupt, id, obj, 0, sites, detail);
        }
        if let Some(cache) = id.map(|id| self.machine.slot(id)) {
            if before & FREED != 0 && tracked_cache(before) == id && poisoned(cache) {
                self.check_poison(cache, obj, (site, track.site_of(before)));
            }
            self.paint_zones(cache, obj);
        }
        let sites = track.sites.load(Ordering::Relaxed) & !0xffff_ffff;
        track.sites.store(sites | u64::from(site.0), Ordering::Relaxed);
        if core.pages.get(obj.pfn()).kind() == Kind::Carved {
            self.cover(id, obj);
        }
        self.paranoid(site);
    }

    /// Forgets the free objects that a carved block lies over, because their poison is gone.
    fn cover(&self, id: Option<CacheId>, obj: ObjPtr) {
        let core = &self.machine.core;
        let (before, size) = match id.map(|id| self.machine.slot(id)) {
            Some(cache) => {
                let (left, size, red_end) = zones(cache);
                (left, size.max(red_end))
            }
            None => {
                let size = self.machine.usable_bytes(obj);
                (8, size + self.machine.backend.carved_red_bytes(core, size))
            }
        };
        let covered = (obj.get() - before) / 8..(obj.get() + size).div_ceil(8);
        for at in covered.filter(|&at| at * 8 != obj.get()) {
            if let Some(track) = ObjPtr::new(at * 8).and_then(|obj| core.tracks.get(obj)) {
                track.state.store(0, Ordering::Relaxed);
            }
        }
        self.cover_reaching(obj, obj.get() - before);
    }

    /// Forgets the free objects of the page that begin before `start` and reach beyond it; the reach
    /// of a kmalloc block is not known. Another CPU may be given one of them meanwhile; it then is no
    /// longer free and stays known.
    fn cover_reaching(&self, obj: ObjPtr, start: u64) {
        let core = &self.machine.core;
        for at in (obj.pfn().offset() / 8..start / 8).map(|at| at * 8) {
            let Some(track) = ObjPtr::new(at).and_then(|obj| core.tracks.get(obj)) else {
                continue;
            };
            let state = track.state.load(Ordering::Relaxed);
            let reach = |id| at + u64::from(self.machine.slot(id).size.get());
            if state & FREED != 0 && tracked_cache(state).is_none_or(|id| reach(id) > start) {
                let (new, old) = (Ordering::AcqRel, Ordering::Relaxed);
                let _given_out = track.state.compare_exchange(state, 0, new, old);
            }
        }
    }

    /// Checks an object about to be freed; `false` if it must not be. `id` is the cache that the
    /// caller named, `None` for kfree.
    #[cold]
    pub(crate) fn free(&self, id: Option<CacheId>, obj: ObjPtr, site: Site) -> bool {
        if id.is_some_and(|id| !self.cache(id, site)) {
            return false;
        }
        let core = &self.machine.core;
        if !obj.get().is_multiple_of(8) {
            let detail = format!("expected a multiple of 8, got {obj}");
            let start = ObjPtr::new(obj.get() & !7).unwrap_or(obj);
            let offset = (obj.get() & 7) as i64;
            self.report(FindingKind::Unaligned, id, start, offset, (site, None), detail);
            return false;
        }
        let Some(track) = core.tracks.get(obj) else { return true };
        let state = track.state.load(Ordering::Acquire);
        let from = tracked_cache(state);
        if !self.is_of(id, obj, site) {
            return false;
        }
        let dead = state & !(LIVE | WAITING) | FREED;
        let taken = state & (LIVE | WAITING) == LIVE
            && track
                .state
                .compare_exchange(state, dead, Ordering::AcqRel, Ordering::Relaxed)
                .is_ok();
        if !taken {
            self.refuse(id.or(from), obj, state, (site, track.site_of(state)));
            return false;
        }
        if let Some(cache) = from.map(|id| self.machine.slot(id)) {
            self.check_zones(cache, obj, (site, track.site_of(state)));
            if poisoned(cache) {
                let size = u64::from(cache.object_size.get());
                core.arena.fill(obj.get(), size, POISON.0);
                core.arena.fill(obj.get() + size - 1, 1, POISON.1);
            }
        } else if core.pages.get(obj.pfn()).kind() == Kind::Carved {
            self.check_carved(obj, carved_size(state), (site, track.site_of(state)));
        }
        let sites = track.sites.load(Ordering::Relaxed) & 0xffff_ffff;
        track.sites.store(sites | u64::from(site.0) << 32, Ordering::Relaxed);
        self.paranoid(site);
        true
    }

    /// Checks that a live object is of the cache that the caller named, or of kmalloc if none was named. Where blocks are
    /// carved, only its cache knows an object's size.
    fn is_of(&self, id: Option<CacheId>, obj: ObjPtr, site: Site) -> bool {
        let core = &self.machine.core;
        let Some(track) = core.tracks.get(obj) else { return true };
        let state = track.state.load(Ordering::Acquire);
        let from = tracked_cache(state);
        let is_carved = core.pages.get(obj.pfn()).kind() == Kind::Carved;
        if state & LIVE == 0 || from == id || id.is_none() && !is_carved {
            return true;
        }
        let expected = id.map_or_else(|| "kmalloc".to_string(), |id| core.cache_name(Some(id)));
        let detail = format!("expected an object of {expected}");
        let sites = (site, track.site_of(state));
        self.report(FindingKind::WrongCache, from, obj, 0, sites, detail);
        false
    }

    /// Checks an object that is given to `kfree_rcu`, and enters that it waits; `false` if it must not.
    #[cold]
    pub(crate) fn free_later(&self, obj: ObjPtr, site: Site) -> bool {
        if !self.is_of(None, obj, site) || !self.is_object(obj, site) {
            return false;
        }
        let core = &self.machine.core;
        let Some(track) = core.tracks.get(obj) else { return true };
        let sites = track.sites.load(Ordering::Relaxed) & 0xffff_ffff;
        track.sites.store(sites | u64::from(site.0) << 32, Ordering::Relaxed);
        track.state.fetch_or(WAITING, Ordering::AcqRel);
        true
    }

    /// Enters that an object waits no longer; returns the call site that gave it to `kfree_rcu`.
    pub(crate) fn has_waited(&self, obj: ObjPtr) -> Site {
        let Some(track) = self.machine.core.tracks.get(obj) else { return Site(0) };
        let site = track.site_of(track.state.fetch_and(!WAITING, Ordering::AcqRel));
        site.unwrap_or(Site(0))
    }

    /// Checks that a pointer leads to the start of a live object that does not wait to be freed.
    #[cold]
    pub(crate) fn is_object(&self, obj: ObjPtr, site: Site) -> bool {
        let Some(track) = self.machine.core.tracks.get(obj) else { return true };
        let state = track.state.load(Ordering::Acquire);
        let is_object = state & (LIVE | WAITING) == LIVE;
        if !is_object {
            self.refuse(tracked_cache(state), obj, state, (site, track.site_of(state)));
        }
        is_object
    }

    /// Reports a free of an address that is not live: one freed already, one inside an object, or
    /// one that was never ours.
    #[cold]
    fn refuse(&self, id: Option<CacheId>, obj: ObjPtr, state: u64, sites: (Site, Option<Site>)) {
        if state & WAITING != 0 {
            let detail = "expected a live object, this one waits to be freed".to_string();
            return self.report(FindingKind::DoubleFree, id, obj, 0, sites, detail);
        }
        if state & FREED != 0 {
            let detail = "expected a live object, it is free already".to_string();
            return self.report(FindingKind::DoubleFree, id, obj, 0, sites, detail);
        }
        if let Some((start, track)) = self.enclosing(obj) {
            let state = track.state.load(Ordering::Relaxed);
            let (from, offset) = (tracked_cache(state), (obj.get() - start.get()) as i64);
            let detail = format!("expected {start}, the start of the object");
            let sites = (sites.0, track.site_of(state));
            return self.report(FindingKind::InteriorPointer, from, start, offset, sites, detail);
        }
        let detail = "expected an object given out by this machine".to_string();
        self.report(FindingKind::ForeignPointer, None, obj, 0, (sites.0, None), detail);
    }

    /// Returns the live object that a pointer leads into.
    fn enclosing(&self, obj: ObjPtr) -> Option<(ObjPtr, &Track)> {
        let core = &self.machine.core;
        let page = core.pages.try_get(obj.pfn())?;
        if !matches!(page.kind(), Kind::Slab | Kind::Carved | Kind::Large) {
            return None;
        }
        let floor = Pfn(page.head.get()).offset();
        let starts = (floor / 8..obj.get() / 8).rev();
        let mut objects = starts.filter_map(|at| ObjPtr::new(at * 8));
        let start = objects.find(|&start| {
            core.tracks.get(start).is_some_and(|t| t.state.load(Ordering::Relaxed) & LIVE != 0)
        })?;
        let track = core.tracks.get(start)?;
        let size = match tracked_cache(track.state.load(Ordering::Relaxed)) {
            Some(id) => u64::from(core.caches.get(id).object_size.get()),
            None => self.machine.usable_bytes(start),
        };
        (obj.get() - start.get() < size).then_some((start, track))
    }

    /// Fills the red zones around an object.
    fn paint_zones(&self, cache: &CacheEntry, obj: ObjPtr) {
        let arena = &self.machine.core.arena;
        let (left, size, end) = zones(cache);
        if end > 0 {
            arena.fill(obj.get() - left, left, RED);
            arena.fill(obj.get() + size, end - size, RED);
        }
    }

    /// Checks the red zones around an object.
    fn check_zones(&self, cache: &CacheEntry, obj: ObjPtr, sites: (Site, Option<Site>)) {
        let (left, size, end) = zones(cache);
        if end == 0 {
            return;
        }
        for (kind, from, to) in [
            (FindingKind::OverflowLeft, obj.get() - left, obj.get()),
            (FindingKind::OverflowRight, obj.get() + size, obj.get() + end),
        ] {
            self.check_bytes(kind, Some(cache), obj, from..to, RED, sites);
        }
    }

    /// Fills the red zone behind a carved kmalloc block; returns the block's size, or 0 for other
    /// objects.
    fn paint_carved(&self, obj: ObjPtr) -> u64 {
        let core = &self.machine.core;
        if core.pages.get(obj.pfn()).kind() != Kind::Carved {
            return 0;
        }
        let size = self.machine.backend.carved_size(core, obj);
        let red = self.carved_zone(obj, size);
        core.arena.fill(red.start, red.end - red.start, RED);
        size
    }

    /// Checks the surroundings of a carved kmalloc block, and mends the size in front of it.
    fn check_carved(&self, obj: ObjPtr, size: u64, sites: (Site, Option<Site>)) {
        let arena = &self.machine.core.arena;
        let found = self.machine.backend.carved_size(&self.machine.core, obj);
        if found != size {
            let offset = i64::from((found ^ size).trailing_zeros() / 8) - 8;
            let detail = format!("expected the size of the block, {size}, found 0x{found:x}");
            self.report(FindingKind::OverflowLeft, None, obj, offset, sites, detail);
            self.machine.backend.set_carved_size(arena, obj, size);
        }
        let red = self.carved_zone(obj, size);
        self.check_bytes(FindingKind::OverflowRight, None, obj, red, RED, sites);
    }

    /// Returns the red zone behind a carved kmalloc block; it is empty below level 2.
    fn carved_zone(&self, obj: ObjPtr, size: u64) -> core::ops::Range<u64> {
        let red = self.machine.backend.carved_red_bytes(&self.machine.core, size);
        let start = obj.get() + size;
        if red == 0 { start..start } else { start..start.next_multiple_of(8) + red }
    }

    /// Checks that a free object was not written to.
    fn check_poison(&self, cache: &CacheEntry, obj: ObjPtr, sites: (Site, Option<Site>)) {
        let end = obj.get() + u64::from(cache.object_size.get());
        let kind = FindingKind::WriteAfterFree;
        if self.check_bytes(kind, Some(cache), obj, obj.get()..end - 1, POISON.0, sites) {
            self.check_bytes(kind, Some(cache), obj, end - 1..end, POISON.1, sites);
        }
    }

    /// Checks that no object that is free was written to since.
    fn check_free_objects(&self) {
        let core = &self.machine.core;
        core.tracks.each_freed(|obj, id, site| {
            let cache = self.machine.slot(id);
            if cache.alive() && cache.id() == id && poisoned(cache) {
                self.check_poison(cache, obj, (Site(0), site));
            }
        });
    }

    /// Checks that all bytes of a range are `expected`; the first one that differs is a finding.
    fn check_bytes(
        &self,
        kind: FindingKind,
        cache: Option<&CacheEntry>,
        obj: ObjPtr,
        mut range: core::ops::Range<u64>,
        expected: u8,
        sites: (Site, Option<Site>),
    ) -> bool {
        let arena = &self.machine.core.arena;
        let Some(at) = range.find(|&at| arena.byte(at) != expected) else { return true };
        let detail = format!("expected 0x{expected:02x}, found 0x{:02x}", arena.byte(at));
        let offset = at as i64 - obj.get() as i64;
        self.report(kind, cache.map(CacheEntry::id), obj, offset, sites, detail);
        false
    }

    /// At level 3, validates the whole machine.
    #[inline]
    fn paranoid(&self, site: Site) {
        if self.machine.core.setup.check == CheckLevel::Paranoid {
            self.validate_all(site);
        }
    }

    #[cold]
    fn validate_all(&self, site: Site) {
        // In the middle of a free the object still counts as live, in all totals alike.
        for error in self.machine.validate().errors {
            let findings = &self.machine.core.findings;
            findings.report(Finding::new(FindingKind::Imbalance, site, error));
        }
    }
}

impl<B: Backend> Machine<B> {
    /// Checks the objects that are free, as their next allocation would: from level 2 on, a write to one of them is a
    /// finding. Exact when no other thread is at work.
    pub fn check_free_objects(&self) {
        if self.core.setup.check >= CheckLevel::Full {
            Checks { machine: self }.check_free_objects();
        }
    }
}

/// Returns the left red zone's size, and where the right one starts and ends; 0 stands for none.
fn zones(cache: &CacheEntry) -> (u64, u64, u64) {
    let end = u64::from(cache.red_end.get());
    (u64::from(cache.left_pad.get()), u64::from(cache.object_size.get()), end)
}

/// Returns whether free objects hold poison; those that must keep their contents do not.
fn poisoned(cache: &CacheEntry) -> bool {
    let flags = cache.flags();
    flags.has(SlabFlags::POISON)
        && !flags.has(SlabFlags::TYPESAFE_BY_RCU)
        && cache.has_ctor.get() == 0
}

const _: () = assert!(PAGE_SIZE.is_multiple_of(8));
