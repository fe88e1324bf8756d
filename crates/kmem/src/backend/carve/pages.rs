//! The carved pages: their bits, and blocks taken from and given back to one page.
//!
//! # How it works
//! Bits decide fits; whether a page is full or empty is counted in Linux's units of 2 bytes, for a
//! page in which only the crumbs behind odd-sized blocks are free stays on its list.
//!
//! # Invariants
//! `Page::prev` of a carved page = its free units. Whoever changes a page holds the lock of the list that the page belongs to.

use super::freemap::FreeMap;
use super::{GRANULE, HEADER};
use crate::ids::{ObjPtr, PAGE_SIZE, Pfn};
use crate::page::PageTable;
use crate::raw::zeroed::ZeroedSlice;

/// Linux's units in a page, 2 bytes each.
const UNITS: u32 = PAGE_SIZE as u32 / 2;

fn units(bytes: u64) -> u32 {
    bytes.div_ceil(2) as u32
}

/// Size and alignment of a block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    /// Granules, header included.
    pub(crate) granules: u32,
    /// Alignment of the object, in granules.
    align: u32,
    /// Granules between the start of the block and the object.
    offset: u32,
    /// The class of a naturally aligned kmalloc, one bit; 0: none.
    pub(crate) class: u8,
    /// Bytes as Linux counts them, to choose the list.
    pub(crate) bytes: u64,
}

impl Shape {
    /// Describes a cache's object of `bytes` in all, of which `pad` come before it.
    #[inline]
    pub(crate) fn object(bytes: u64, align: u64, pad: u64) -> Self {
        let granules = bytes.div_ceil(GRANULE) as u32;
        let (align, offset) = ((align / GRANULE).max(1) as u32, (pad / GRANULE) as u32);
        Self { granules, align, offset, class: 0, bytes }
    }

    /// Describes a kmalloc of `size` bytes with `red` bytes behind it that tell an overflow.
    pub(crate) fn kmalloc_zoned(size: u64, red: u64) -> Self {
        let plain = Self::kmalloc(size);
        if red == 0 {
            return plain;
        }
        let bytes = size.next_multiple_of(GRANULE) + HEADER + red;
        Self { granules: bytes.div_ceil(GRANULE) as u32, class: 0, bytes, ..plain }
    }

    /// Describes a kmalloc of `size` bytes: its size in front, powers of two naturally aligned.
    pub(crate) fn kmalloc(size: u64) -> Self {
        let bytes = size + HEADER;
        let granules = bytes.div_ceil(GRANULE) as u32;
        let offset = (HEADER / GRANULE) as u32;
        if size.is_power_of_two() && size > GRANULE {
            // 16 to 2048 bytes: bits 0 to 7.
            let class = 1u32.checked_shl(size.ilog2() - 4).unwrap_or(0) as u8;
            Self { granules, align: (size / GRANULE) as u32, offset, class, bytes }
        } else {
            Self { granules, align: 1, offset, class: 0, bytes }
        }
    }
}

/// The bits of every page of a machine.
#[derive(Debug)]
pub(crate) struct CarvedPages {
    pages: ZeroedSlice<FreeMap>,
}

impl CarvedPages {
    pub(crate) fn new(count: u32) -> Self {
        Self { pages: ZeroedSlice::new(count as usize) }
    }

    /// Returns which granules of a page are free.
    #[inline]
    pub(crate) fn map(&self, pfn: Pfn) -> &FreeMap {
        &self.pages[pfn.0 as usize]
    }

    /// Makes a page all free.
    pub(crate) fn open(&self, pages: &PageTable, pfn: Pfn) {
        self.map(pfn).open();
        pages.get(pfn).prev.set(UNITS);
    }

    /// Takes a block; returns where the object (behind a header, if any) starts, and the length of the run that
    /// the block was in.
    #[inline]
    pub(crate) fn take(&self, pages: &PageTable, pfn: Pfn, shape: Shape) -> Option<(ObjPtr, u32)> {
        let (at, run) = self.map(pfn).take(shape.granules, shape.align, shape.offset)?;
        pages.get(pfn).prev.sub(units(shape.bytes));
        Some((ObjPtr::new(pfn.offset() + u64::from(at + shape.offset) * GRANULE)?, run))
    }

    /// Gives a block of `bytes` back; returns the length of the run it is in now.
    #[inline]
    pub(crate) fn put(&self, pages: &PageTable, start: u64, bytes: u64) -> u32 {
        let (pfn, at) = (Pfn((start / PAGE_SIZE) as u32), (start % PAGE_SIZE / GRANULE) as u32);
        pages.get(pfn).prev.add(units(bytes));
        self.map(pfn).put(at, bytes.div_ceil(GRANULE) as u32)
    }

    /// Tells whether nothing of a page is free, not even a crumb.
    #[inline]
    pub(crate) fn is_full(pages: &PageTable, pfn: Pfn) -> bool {
        pages.get(pfn).prev.get() == 0
    }

    /// Tells whether all of a page is free.
    #[inline]
    pub(crate) fn is_empty(pages: &PageTable, pfn: Pfn) -> bool {
        pages.get(pfn).prev.get() == UNITS
    }

    /// Returns the free granules of a page.
    #[inline]
    pub(crate) fn free(&self, pfn: Pfn) -> u32 {
        self.map(pfn).count()
    }
}
