//! The map of a page: where kmalloc's blocks begin and end, in place of a size in front of each.
//!
//! # How it works
//! A power of two is aligned to its own size, so a header in front of it leaves a gap nearly as large as the block. A map
//! has a bit for each granule, set for the first and the last one of each block; a block has two granules at least. The
//! map itself is a block of its page, carved behind the first block that needs it, and is freed with the page. Objects of
//! caches have no bits, since their cache knows their size; a page that holds nothing else has no map.
//!
//! # Invariants
//! - `Page::prev` of a carved page is the granule of its map plus one, 0 if it has none.
//! - Bits change under the lock of the page's list. The holder of a block reads the block's own bits without the lock,
//!   since they stay while the block lives.
//!
//! Linux counterpart: `slmb_mark` and `slmb_marked` in `kernel/patches/6.1/slmb`.

use super::layout::Shape;
use super::pages::{Carved, Hint};
use super::{GRANULE, GRANULES};
use crate::ids::{ObjPtr, PAGE_SIZE, Pfn};
use crate::page::Page;

/// Bytes of a map.
pub(super) const MAP_BYTES: u64 = GRANULES as u64 / 8;

impl Shape {
    /// The map of a page.
    pub(super) const MAP: Self = Self {
        granules: (MAP_BYTES / GRANULE) as u32,
        align: 1,
        offset: 0,
        class: 0,
        bytes: MAP_BYTES,
        marked: false,
    };
}

/// Returns where a page's map begins in the machine's memory, if the page has one.
fn start(page: &Page, pfn: Pfn) -> Option<u64> {
    let at = page.prev.get().checked_sub(1)?;
    Some(pfn.offset() + u64::from(at) * GRANULE)
}

/// Returns the granule that an object begins at.
fn granule(obj: ObjPtr) -> u64 {
    obj.get() % PAGE_SIZE / GRANULE
}

impl Carved<'_> {
    /// Takes a block, and with the first one of a page that has marks the page's map; `None` if either does not fit.
    #[inline]
    pub(super) fn take(self, pfn: Pfn, shape: Shape) -> Option<ObjPtr> {
        if shape.marked { self.take_marked(pfn, shape) } else { self.carve(pfn, shape) }
    }

    fn take_marked(self, pfn: Pfn, shape: Shape) -> Option<ObjPtr> {
        let page = self.page(pfn);
        let has_map = page.prev.get() != 0;
        // The count is in Linux's units; a granule has four.
        if !has_map && page.aux.get() < (shape.granules + Shape::MAP.granules) * 4 {
            return None;
        }
        let known = Hint::of(page);
        let obj = self.carve(pfn, shape)?;
        if !has_map {
            let Some(map) = self.carve(pfn, Shape::MAP) else {
                self.put_again(obj.get(), shape.bytes, known);
                return None;
            };
            page.prev.set(granule(map) as u32 + 1);
            self.arena.fill(map.get(), MAP_BYTES, 0);
        }
        self.mark(obj.get(), shape.granules);
        Some(obj)
    }

    /// Takes the marks of a block of `bytes` back.
    pub(super) fn unmark(self, start: u64, bytes: u64) {
        self.mark(start, (bytes / GRANULE) as u32);
    }

    /// Marks the first and the last granule of a block, or clears both.
    fn mark(self, at: u64, granules: u32) {
        let pfn = Pfn((at / PAGE_SIZE) as u32);
        let Some(map) = start(self.page(pfn), pfn) else { return };
        let first = at % PAGE_SIZE / GRANULE;
        for at in [first, first + u64::from(granules) - 1] {
            let word = map + at / 64 * 8;
            self.arena.store(word, self.arena.load(word) ^ 1 << (at % 64));
        }
    }

    /// Returns the granules of the block that begins at an object; `None` if none does.
    pub(super) fn marked(self, obj: ObjPtr) -> Option<u32> {
        let (map, first) = (start(self.page(obj.pfn()), obj.pfn())?, granule(obj));
        let bits = |word: u64| self.arena.load(map + word * 8);
        if !obj.get().is_multiple_of(GRANULE) || bits(first / 64) >> (first % 64) & 1 == 0 {
            return None;
        }
        let (mut word, mut above) = ((first + 1) / 64, !0 << ((first + 1) % 64));
        while word < MAP_BYTES / 8 {
            let found = bits(word) & above;
            if found != 0 {
                let last = word * 64 + u64::from(found.trailing_zeros());
                return Some((last + 1 - first) as u32);
            }
            (word, above) = (word + 1, !0);
        }
        None
    }

    /// Returns how many of Linux's units a page's map takes.
    pub(super) fn map_units(self, pfn: Pfn) -> u32 {
        if self.page(pfn).prev.get() == 0 { 0 } else { Shape::MAP.granules * 4 }
    }
}
