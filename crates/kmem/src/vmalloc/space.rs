//! The vmalloc range: areas in use, areas waiting for the purge, and free ranges, counted in pages.
//!
//! # Invariants
//! Free ranges do not touch each other. Every page is in one of the three exactly once, except that
//! a reserved range without an area belongs to the vmalloc that is filling it.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::ids::{PAGE_SIZE, Pfn, Site};

/// Address space that may wait for the purge, for every doubling of CPUs (`lazy_max_pages`).
const LAZY_BYTES: u64 = 32 << 20;

/// Who owns the pages of an area.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The area itself: they are freed with it.
    Area,
    /// The caller, who had them mapped (`vmap`).
    Caller,
}

/// An area's pages, in order.
#[derive(Debug)]
pub(crate) struct Area {
    pub(crate) pages: Vec<Pfn>,
    pub(crate) owner: Owner,
    pub(crate) site: Site,
}

#[derive(Debug)]
pub(crate) struct Space {
    areas: BTreeMap<u64, Area>,
    /// Free ranges: length by start.
    free: BTreeMap<u64, u64>,
    lazy: Vec<(u64, u64)>,
    lazy_pages: u64,
    lazy_pages_max: u64,
}

impl Space {
    pub(crate) fn new(pages: u64, cpus: u32) -> Self {
        // A range of no length merges with nothing; the first page stays out, as address 0 is.
        let free = BTreeMap::from([(1, pages - 1)]);
        let doublings = u64::from(u32::BITS - cpus.leading_zeros());
        let lazy_pages_max = doublings * LAZY_BYTES / PAGE_SIZE;
        Self { areas: BTreeMap::new(), free, lazy: Vec::new(), lazy_pages: 0, lazy_pages_max }
    }

    /// Returns the areas by rising start.
    pub(crate) fn areas(&self) -> impl Iterator<Item = (u64, &Area)> {
        self.areas.iter().map(|(&start, area)| (start, area))
    }

    /// Returns the area that holds a page of the range.
    pub(crate) fn at(&self, page: u64) -> Option<(u64, &Area)> {
        self.areas.range(..=page).next_back().map(|(&start, area)| (start, area))
    }

    /// Takes the lowest `count` free pages that start at a multiple of `align` pages, purging if
    /// there are none.
    pub(crate) fn reserve(&mut self, count: u64, align: u64) -> Option<u64> {
        let lowest = |free: &BTreeMap<u64, u64>| {
            let mut ranges = free.iter().map(|(&start, &length)| (start, length));
            ranges.find(|&(start, length)| start.next_multiple_of(align) + count <= start + length)
        };
        let found = lowest(&self.free).or_else(|| {
            self.purge();
            lowest(&self.free)
        });
        let (start, length) = found?;
        let (at, end) = (start.next_multiple_of(align), start + length);
        self.free.remove(&start);
        if at > start {
            self.free.insert(start, at - start);
        }
        if end > at + count {
            self.free.insert(at + count, end - at - count);
        }
        Some(at)
    }

    /// Gives a range back that has no area.
    pub(crate) fn release(&mut self, start: u64, count: u64) {
        let (mut start, mut count) = (start, count);
        if let Some((&before, &length)) = self.free.range(..start).next_back()
            && before + length == start
        {
            self.free.remove(&before);
            (start, count) = (before, count + length);
        }
        if let Some(length) = self.free.remove(&(start + count)) {
            count += length;
        }
        self.free.insert(start, count);
    }

    pub(crate) fn insert(&mut self, start: u64, area: Area) {
        self.areas.insert(start, area);
    }

    pub(crate) fn remove(&mut self, start: u64) -> Option<Area> {
        self.areas.remove(&start)
    }

    /// Lets the range of a removed area wait for the purge, which runs when enough of them wait.
    pub(crate) fn retire(&mut self, start: u64, count: u64) {
        self.lazy.push((start, count));
        self.lazy_pages += count;
        if self.lazy_pages > self.lazy_pages_max {
            self.purge();
        }
    }

    /// Frees the ranges that wait; returns their pages.
    pub(crate) fn purge(&mut self) -> u64 {
        for (start, count) in core::mem::take(&mut self.lazy) {
            self.release(start, count);
        }
        core::mem::take(&mut self.lazy_pages)
    }
}
