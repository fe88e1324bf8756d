//! What is known about every object: a record for every 8 bytes of memory.
//!
//! # How it works
//! A [`Track`] says whether an object starts at its place and which cache it belongs to. It also
//! holds the object's length if only its own header knows that, and the call sites of its last
//! allocation and free.
//!
//! # Invariants
//! A track is live exactly while its object is given out; tracks of a block are cleared when its
//! pages are claimed anew.
//!
//! Linux counterpart: `struct track` in `mm/slub.c` @ 6.1.

use crate::ids::{CacheId, ObjPtr, Order, PAGE_SIZE, Pfn, Site};
use crate::raw::sync::{AtomicU32, AtomicU64, Ordering};
use crate::raw::zeroed::{ZeroedSlice, zeroed_struct};

pub(crate) const LIVE: u64 = 1;
pub(crate) const FREED: u64 = 2;
/// Set beside `LIVE`: the object is to be freed when its readers have left. The site of the free is that of
/// the caller of `kfree_rcu`.
pub(crate) const WAITING: u64 = 1 << 18;
const SIZE_SHIFT: u32 = 2;
const SIZE_MASK: u64 = 0xffff;

zeroed_struct! {
    /// What is known about the object that starts at some 8 bytes.
    #[derive(Debug)]
    pub(crate) struct Track {
        /// Bits 0 and 1 say live or freed; bits 2 to 17 hold the bytes of a carved kmalloc; bit 18 says that it waits to
        /// be freed; from bit 32 on is the cache's raw id, 0 for kmalloc.
        pub state: AtomicU64,
        /// Low half the site of the last allocation, high half that of the last free.
        pub sites: AtomicU64,
    }
}

impl Track {
    pub(crate) fn site_of(&self, state: u64) -> Option<Site> {
        let sites = self.sites.load(Ordering::Relaxed);
        match state & (LIVE | FREED | WAITING) {
            LIVE => Some(Site(sites as u32)),
            0 => None,
            _ => Some(Site((sites >> 32) as u32)),
        }
    }
}

/// The records of a machine; there are none unless operations are checked.
#[derive(Debug)]
pub(crate) struct Tracks {
    /// Pages in which an object was tracked since they were last cleared.
    pages: ZeroedSlice<AtomicU32>,
    /// One for every 8 bytes of memory.
    tracks: ZeroedSlice<Track>,
}

impl Tracks {
    /// Makes the records of `pages` pages.
    pub(crate) fn new(pages: usize) -> Self {
        let words = pages * (PAGE_SIZE / 8) as usize;
        Self { pages: ZeroedSlice::new(pages), tracks: ZeroedSlice::new(words) }
    }

    pub(crate) fn get(&self, obj: ObjPtr) -> Option<&Track> {
        self.tracks.as_slice().get((obj.get() / 8) as usize)
    }

    /// Forgets what was known about one object, because the allocator itself is about to use it.
    pub(crate) fn clear(&self, obj: ObjPtr) {
        if let Some(track) = self.get(obj) {
            track.state.store(0, Ordering::Relaxed);
        }
    }

    /// Forgets what was known about a block's objects: 512 records for each page that has any.
    pub(crate) fn clear_block(&self, pfn: Pfn, order: Order) {
        for page in (pfn.0..pfn.0 + order.pages()).map(Pfn) {
            let Some(tracked) = self.pages.as_slice().get(page.0 as usize) else { return };
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

    /// Returns the record of an object given out, and marks its page as one to be cleared later.
    pub(crate) fn of_new(&self, obj: ObjPtr) -> Option<&Track> {
        let tracked = self.pages.as_slice().get(obj.pfn().0 as usize)?;
        if tracked.load(Ordering::Relaxed) == 0 {
            tracked.store(1, Ordering::Relaxed);
        }
        self.get(obj)
    }

    /// Visits the objects of caches that are free and whose pages were not claimed anew: each with who freed it.
    pub(crate) fn each_freed(&self, mut visit: impl FnMut(ObjPtr, CacheId, Option<Site>)) {
        const TRACKS: usize = (PAGE_SIZE / 8) as usize;
        let pages = self.pages.as_slice().iter().enumerate();
        for (page, _) in pages.filter(|(_, tracked)| tracked.load(Ordering::Relaxed) != 0) {
            let first = page * TRACKS;
            for (at, track) in self.tracks.as_slice()[first..first + TRACKS].iter().enumerate() {
                let state = track.state.load(Ordering::Relaxed);
                let object = ObjPtr::new((first + at) as u64 * 8);
                if let (FREED, Some(obj), Some(id)) =
                    (state & (LIVE | FREED | WAITING), object, tracked_cache(state))
                {
                    visit(obj, id, track.site_of(state));
                }
            }
        }
    }

    /// Returns whether an object is given out.
    pub(crate) fn is_live(&self, obj: ObjPtr) -> bool {
        self.get(obj).is_some_and(|track| track.state.load(Ordering::Relaxed) & LIVE != 0)
    }

    /// Returns what is known about an object given out: its cache, or none and, if it was carved, its
    /// bytes.
    pub(crate) fn live(&self, obj: ObjPtr) -> Option<(Option<CacheId>, u64)> {
        let state = self.get(obj)?.state.load(Ordering::Relaxed);
        (state & LIVE != 0).then(|| (tracked_cache(state), carved_size(state)))
    }

    /// Returns the call site of the last operation on an object.
    pub(crate) fn last_site(&self, obj: ObjPtr) -> Option<Site> {
        self.get(obj).and_then(|track| track.site_of(track.state.load(Ordering::Relaxed)))
    }

    /// Returns a live object of a cache and where it was allocated, if tracks are kept.
    pub(crate) fn first_live(&self, id: CacheId) -> Option<(ObjPtr, Site)> {
        let wanted = u64::from(id.0) << 32 | LIVE;
        let tracks = self.tracks.as_slice().iter().enumerate();
        let mut live = tracks.filter(|(_, t)| t.state.load(Ordering::Relaxed) & !WAITING == wanted);
        let (at, track) = live.next()?;
        Some((ObjPtr::new(at as u64 * 8)?, Site(track.sites.load(Ordering::Relaxed) as u32)))
    }
}

/// Returns the state of a carved block given out.
pub(crate) fn carved_state(size: u64) -> u64 {
    LIVE | size << SIZE_SHIFT
}

/// Returns the bytes of a carved block, as they were when it was given out.
pub(crate) fn carved_size(state: u64) -> u64 {
    state >> SIZE_SHIFT & SIZE_MASK
}

/// Returns the cache in a state. A raw id of 0 would be cache 0 of generation 0, which never lives.
pub(crate) fn tracked_cache(state: u64) -> Option<CacheId> {
    let raw = (state >> 32) as u32;
    (raw != 0).then_some(CacheId(raw))
}
