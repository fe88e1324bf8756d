//! What is known of every object: a record for every 8 bytes of memory.
//!
//! # How it works
//! A [`Track`] says whether an object starts at its place, of which cache, how long it is if only
//! its own header knows, and the call sites of its last allocation and free.
//!
//! # Invariants
//! A track is live exactly while its object is given out; tracks of a block are cleared when its
//! pages are claimed anew.
//!
//! Linux counterpart: `struct track` in `mm/slub.c` @ 6.1.

use alloc::string::{String, ToString};

use super::core::Core;
use super::findings::{Finding, FindingKind};
use crate::cache::table::Cache;
use crate::ids::{CacheId, ObjPtr, Order, PAGE_SIZE, Pfn, Site};
use crate::raw::sync::{AtomicU64, Ordering};
use crate::raw::zeroed::zeroed_struct;

pub(super) const LIVE: u64 = 1;
pub(super) const FREED: u64 = 2;
const SIZE_SHIFT: u32 = 2;
const SIZE_MASK: u64 = 0xffff;

zeroed_struct! {
    /// What is known of the object that starts at some 8 bytes.
    #[derive(Debug)]
    pub(crate) struct Track {
        /// Bits 0 and 1 live or freed; bits 2 to 17 the bytes of a carved kmalloc; from bit 32
        /// the cache's raw id, 0 for kmalloc.
        pub state: AtomicU64,
        /// Low half the site of the last allocation, high half that of the last free.
        pub sites: AtomicU64,
    }
}

impl Track {
    pub(super) fn site_of(&self, state: u64) -> Option<Site> {
        let sites = self.sites.load(Ordering::Relaxed);
        match state & (LIVE | FREED) {
            LIVE => Some(Site(sites as u32)),
            FREED => Some(Site((sites >> 32) as u32)),
            _ => None,
        }
    }
}

impl Core {
    pub(super) fn track(&self, obj: ObjPtr) -> Option<&Track> {
        self.tracks.as_slice().get((obj.get() / 8) as usize)
    }

    /// Forgets what was known of one object: the allocator itself is about to use it.
    pub(crate) fn clear_track(&self, obj: ObjPtr) {
        if let Some(track) = self.track(obj) {
            track.state.store(0, Ordering::Relaxed);
        }
    }

    /// Forgets what was known of a block's objects: 512 records a page, where there are any.
    pub(crate) fn clear_tracks(&self, pfn: Pfn, order: Order) {
        for page in (pfn.0..pfn.0 + order.pages()).map(Pfn) {
            let Some(tracked) = self.tracked.as_slice().get(page.0 as usize) else { return };
            if tracked.load(Ordering::Relaxed) == 0 {
                continue;
            }
            tracked.store(0, Ordering::Relaxed);
            let words = (page.offset() / 8) as usize..((page.offset() + PAGE_SIZE) / 8) as usize;
            for track in self.tracks.as_slice().get(words).unwrap_or_default() {
                track.state.store(0, Ordering::Relaxed);
            }
        }
    }

    /// Returns the record of an object given out, in a page that is to be cleared from now on.
    pub(super) fn track_new(&self, obj: ObjPtr) -> Option<&Track> {
        let tracked = self.tracked.as_slice().get(obj.pfn().0 as usize)?;
        if tracked.load(Ordering::Relaxed) == 0 {
            tracked.store(1, Ordering::Relaxed);
        }
        self.track(obj)
    }

    /// Returns a live object of a cache and where it was allocated, if tracks are kept.
    pub(crate) fn first_live(&self, id: CacheId) -> Option<(ObjPtr, Site)> {
        let wanted = u64::from(id.0) << 32 | LIVE;
        let tracks = self.tracks.as_slice().iter().enumerate();
        let mut live = tracks.filter(|(_, t)| t.state.load(Ordering::Relaxed) == wanted);
        let (at, track) = live.next()?;
        Some((ObjPtr::new(at as u64 * 8)?, Site(track.sites.load(Ordering::Relaxed) as u32)))
    }

    /// Returns how many objects of a slab are given out, as the tracks know it.
    pub(crate) fn live_objects(&self, cache: &Cache, slab: Pfn) -> u64 {
        let page = self.pages.get(slab);
        let (base, size) = (slab.offset() + u64::from(page.aux.get()), u64::from(cache.size.get()));
        let objects = (0..self.slab_objects(cache, page.order())).map(|i| base + i * size);
        let tracks = objects.filter_map(|at| self.track(ObjPtr::new(at)?));
        tracks.filter(|track| track.state.load(Ordering::Relaxed) & LIVE != 0).count() as u64
    }

    /// Reports a free object whose link to the next was written over.
    #[cold]
    pub(crate) fn report_link(&self, cache: &Cache, obj: ObjPtr, site: Site) {
        let track = self.track(obj);
        self.findings.report(Finding {
            kind: FindingKind::FreeListCorrupt,
            cache: self.cache_name(Some(cache.id())),
            object: Some(obj),
            offset: i64::from(cache.free_offset.get()),
            site,
            site_before: track.and_then(|t| t.site_of(t.state.load(Ordering::Relaxed))),
            detail: "expected the link to a free object of the slab: it was written over".into(),
        });
    }

    pub(super) fn cache_name(&self, id: Option<CacheId>) -> String {
        let registry = self.registry.lock();
        let name = id.and_then(|id| registry.entry(id)).map(|e| e.args.name.clone());
        name.unwrap_or_else(|| "kmalloc".to_string())
    }
}

/// Returns the state of a carved block given out.
pub(super) fn carved_state(size: u64) -> u64 {
    LIVE | size << SIZE_SHIFT
}

/// Returns the bytes of a carved block, as they were when it was given out.
pub(super) fn carved_size(state: u64) -> u64 {
    state >> SIZE_SHIFT & SIZE_MASK
}

/// A raw id of 0 would be cache 0 of generation 0, which never lives.
pub(super) fn tracked_cache(state: u64) -> Option<CacheId> {
    let raw = (state >> 32) as u32;
    (raw != 0).then_some(CacheId(raw))
}
