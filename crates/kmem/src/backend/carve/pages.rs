//! Carved pages: what is known about each, and how blocks are taken from and given back to one.
//!
//! # How it works
//! Bits decide which blocks fit. Whether a page is full or empty is counted in Linux's units of 2
//! bytes, because a page in which only the crumbs behind odd-sized blocks are free stays on its
//! list. A free raises the hint to the run that it made; a search that fails in a page lowers it to
//! what is there.
//!
//! # Invariants
//! Of a carved page's record: `cache` is its place ([`super::heap`]), `aux` its free units, `state`
//! a [`Hint`] that never excludes what fits, `next` its chunk on the [`super::ring`], `prev` says where its
//! [`super::map`] is. Whoever changes a page
//! holds the lock of the list that the page belongs to.

use super::freemap::FreeMap;
use super::layout::Shape;
use super::{GRANULE, GRANULES};
use crate::ids::{ObjPtr, PAGE_SIZE, Pfn};
use crate::page::{Page, PageTable};
use crate::raw::arena::Arena;
use crate::raw::sync::Ordering::Relaxed;
use crate::raw::zeroed::ZeroedSlice;

/// Linux's units in a page, 2 bytes each.
const UNITS: u32 = PAGE_SIZE as u32 / 2;

fn units(bytes: u64) -> u32 {
    bytes.div_ceil(2) as u32
}

/// What a page's runs may serve. The low 16 bits hold the granules of the longest run, at most.
/// Above them is a bit for each class of kmalloc that does not fit, though a run is long enough,
/// because the run is badly aligned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hint(u64);

impl Hint {
    const UNKNOWN: Self = Self(GRANULES as u64);

    #[inline]
    pub(super) fn of(page: &Page) -> Self {
        Self(page.state.load(Relaxed))
    }

    fn store(self, page: &Page) {
        page.state.store(self.0, Relaxed);
    }

    /// Returns the granules of the longest run, at most.
    #[inline]
    pub(super) fn longest(self) -> u32 {
        self.0 as u16 as u32
    }

    /// Returns whether `shape` may fit.
    #[inline]
    pub(super) fn allows(self, shape: Shape) -> bool {
        self.longest() >= shape.granules && self.allows_class(shape.class)
    }

    /// Returns whether blocks of a class of kmalloc may fit, where a run is long enough.
    #[inline]
    pub(super) fn allows_class(self, class: u64) -> bool {
        self.0 >> 16 & class == 0
    }
}

/// The pages of a machine, as the code that carves them sees them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Carved<'a> {
    pub(super) pages: &'a PageTable,
    pub(super) maps: &'a ZeroedSlice<FreeMap>,
    /// Where the pages lie.
    pub(super) arena: &'a Arena,
}

impl<'a> Carved<'a> {
    /// Returns a page's record.
    #[inline]
    pub(super) fn page(self, pfn: Pfn) -> &'a Page {
        self.pages.get(pfn)
    }

    /// Returns which granules of a page are free.
    pub(super) fn map(self, pfn: Pfn) -> &'a FreeMap {
        &self.maps[pfn.0 as usize]
    }

    /// Makes a page all free.
    pub(super) fn open(self, pfn: Pfn) {
        self.map(pfn).open();
        self.page(pfn).aux.set(UNITS);
        self.page(pfn).prev.set(0);
        Hint::UNKNOWN.store(self.page(pfn));
    }

    /// Takes a block; returns where the object (behind a header, if any) starts. Where it does not
    /// fit, the page's hint becomes more exact.
    pub(super) fn carve(self, pfn: Pfn, shape: Shape) -> Option<ObjPtr> {
        let (page, map) = (self.page(pfn), self.map(pfn));
        let Some(at) = map.take(shape.granules, shape.align, shape.offset) else {
            let missed = Hint::of(page).0 >> 16 | shape.class;
            Hint(missed << 16 | u64::from(map.longest())).store(page);
            return None;
        };
        page.aux.sub(units(shape.bytes));
        ObjPtr::new(pfn.offset() + u64::from(at + shape.offset) * GRANULE)
    }

    /// Gives a block of `bytes` back.
    pub(super) fn put(self, start: u64, bytes: u64) {
        let (pfn, at) = (Pfn((start / PAGE_SIZE) as u32), (start % PAGE_SIZE / GRANULE) as u32);
        let run = self.map(pfn).put(at, bytes.div_ceil(GRANULE) as u32);
        let page = self.page(pfn);
        page.aux.add(units(bytes));
        Hint(u64::from(run.max(Hint::of(page).longest()))).store(page);
    }

    /// Gives back a block that was just taken; what was known about other classes still holds.
    pub(super) fn put_again(self, start: u64, bytes: u64, known: Hint) {
        self.put(start, bytes);
        let page = self.page(Pfn((start / PAGE_SIZE) as u32));
        Hint(known.0 >> 16 << 16 | u64::from(Hint::of(page).longest())).store(page);
    }

    /// Returns whether nothing of a page is free, not even a crumb.
    pub(super) fn is_full(self, pfn: Pfn) -> bool {
        self.page(pfn).aux.get() == 0
    }

    /// Returns whether all of a page is free except for its map.
    pub(super) fn is_empty(self, pfn: Pfn) -> bool {
        self.page(pfn).aux.get() + self.map_units(pfn) == UNITS
    }
}
