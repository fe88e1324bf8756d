//! Links between the free objects of a machine whose objects are not read: short numbers in a table of their own.
//!
//! # How it works
//! In a kernel a free object holds the link to the next one. A machine that only counts ([`Objects::Counted`]) needs no
//! memory for objects, and would touch nearly all of it for these links: of 23 GB of slabs, 23 GB. Here each slab has a run
//! of entries, one for each 2^shift bytes of it, 2^shift being the largest power of two up to an object's size. So no two
//! objects share an entry. Runs have lengths that are powers of two; one that a slab gave back serves the next slab of that
//! length, or is halved for a shorter one. An entry is the distance to the next object in bytes, 0 at the end.
//!
//! # Invariants
//! One thread drives the machine. A slab has a run from its making until it is given back; runs of slabs do not overlap.
//!
//! [`Objects::Counted`]: super::setup::Objects::Counted

use super::table::CacheEntry;
use crate::ids::{ObjPtr, Order, PAGE_SHIFT, PAGE_SIZE, Pfn};
use crate::raw::local::LocalU32;
use crate::raw::zeroed::ZeroedSlice;

/// Entries of the shortest run, in which runs are numbered.
const UNIT: u32 = 8;
/// Lengths of runs are `UNIT << length`: a slab of 4 MiB and objects of 8 bytes has the longest.
const LENGTHS: usize = 17;
/// Entries for each page: what the smallest objects need.
const ENTRIES_PER_PAGE: usize = PAGE_SIZE as usize / 8;

/// The links of a machine's slabs.
#[derive(Debug)]
pub(crate) struct Links {
    entries: ZeroedSlice<LocalU32>,
    /// By page: the run of the slab that begins there
    runs: ZeroedSlice<LocalU32>,
    /// By length: the first free run, whose first entry leads to the next one; 0: none
    free: [LocalU32; LENGTHS],
    /// The first run that was never taken
    next: LocalU32,
}

impl Links {
    /// Makes the table of a machine of `pages` pages; 0 makes none.
    pub(crate) fn new(pages: u32) -> Self {
        let next = LocalU32::default();
        // Run 0 stands for none.
        next.set(1);
        let first = if pages == 0 { 0 } else { UNIT as usize };
        let entries =
            first + (pages as usize * ENTRIES_PER_PAGE).min(u32::MAX as usize / 2 * UNIT as usize);
        Self {
            entries: ZeroedSlice::new(entries),
            runs: ZeroedSlice::new(pages as usize),
            free: Default::default(),
            next,
        }
    }

    /// Returns the power of two of the bytes that an entry stands for.
    #[inline(always)]
    pub(crate) fn shift(cache: &CacheEntry) -> u32 {
        u32::BITS - 1 - cache.size.get().leading_zeros()
    }

    fn length(cache: &CacheEntry, order: Order) -> usize {
        let entries = order.bytes() >> Self::shift(cache);
        (entries / u64::from(UNIT)).max(1).ilog2() as usize
    }

    /// Gives a new slab its run; `false` if there is no room for it.
    pub(crate) fn take(&self, cache: &CacheEntry, slab: Pfn, order: Order) -> bool {
        let length = Self::length(cache, order);
        let Some(run) = self.take_run(length) else { return false };
        self.runs[slab.0 as usize].set(run);
        true
    }

    fn take_run(&self, length: usize) -> Option<u32> {
        let found = (length..LENGTHS).find(|longer| self.free[*longer].get() != 0);
        let Some(longer) = found else {
            let (run, end) = (self.next.get(), self.next.get().checked_add(1 << length)?);
            if u64::from(end) * u64::from(UNIT) > self.entries.as_slice().len() as u64 {
                return None;
            }
            self.next.set(end);
            return Some(run);
        };
        let run = self.free[longer].get();
        self.free[longer].set(self.entry(run).get());
        // The upper halves stay free.
        (length..longer).for_each(|half| self.give_run(run + (1 << half), half));
        Some(run)
    }

    /// Takes the run of a slab that is given back.
    pub(crate) fn give(&self, cache: &CacheEntry, slab: Pfn, order: Order) {
        self.give_run(self.runs[slab.0 as usize].get(), Self::length(cache, order));
    }

    fn give_run(&self, run: u32, length: usize) {
        self.entry(run).set(self.free[length].get());
        self.free[length].set(run);
    }

    /// Returns the first entry of a run.
    fn entry(&self, run: u32) -> &LocalU32 {
        &self.entries[run as usize * UNIT as usize]
    }

    /// Returns by how much the entry of an object of the slab is further than its address, shifted.
    #[inline(always)]
    pub(crate) fn bias(&self, slab: Pfn, shift: u32) -> u64 {
        let first = u64::from(self.runs[slab.0 as usize].get()) * u64::from(UNIT);
        first.wrapping_sub((u64::from(slab.0) << PAGE_SHIFT) >> shift)
    }

    #[inline(always)]
    fn of(&self, bias: u64, shift: u32, obj: ObjPtr) -> &LocalU32 {
        &self.entries[(obj.get() >> shift).wrapping_add(bias) as usize]
    }

    /// Returns the object behind one in a list, 0 at the end.
    #[inline(always)]
    pub(crate) fn next(&self, bias: u64, shift: u32, obj: ObjPtr) -> u64 {
        match self.of(bias, shift, obj).get() {
            0 => 0,
            distance => obj.get().wrapping_add(i64::from(distance.cast_signed()).cast_unsigned()),
        }
    }

    /// Sets the object behind one in a list, 0 at the end.
    #[inline(always)]
    pub(crate) fn set(&self, bias: u64, shift: u32, obj: ObjPtr, next: u64) {
        let distance = if next == 0 { 0 } else { next.wrapping_sub(obj.get()) };
        self.of(bias, shift, obj).set(distance as u32);
    }

    /// Returns a number that a slab keeps beside its objects, by its place.
    #[inline]
    pub(crate) fn number(&self, slab: Pfn, place: u32) -> u32 {
        self.at(slab, place).get()
    }

    /// Sets a number that a slab keeps beside its objects, by its place.
    #[inline]
    pub(crate) fn set_number(&self, slab: Pfn, place: u32, number: u32) {
        self.at(slab, place).set(number);
    }

    fn at(&self, slab: Pfn, place: u32) -> &LocalU32 {
        let first = self.runs[slab.0 as usize].get() as usize * UNIT as usize;
        &self.entries[first + place as usize]
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn cache(size: u32) -> ZeroedSlice<CacheEntry> {
        let caches = ZeroedSlice::<CacheEntry>::new(1);
        caches[0].size.set(size);
        caches
    }

    #[test]
    fn links_of_two_slabs_do_not_meet_and_runs_are_used_again() {
        let links = Links::new(64);
        let (small, large) = (cache(24), cache(1000));
        let (small, large) = (&small[0], &large[0]);
        assert!(links.take(small, Pfn(8), Order(0)) && links.take(large, Pfn(16), Order(3)));
        for (cache, slab, bytes) in [(small, Pfn(8), 4096), (large, Pfn(16), 32768)] {
            let shift = Links::shift(cache);
            let (bias, size) = (links.bias(slab, shift), u64::from(cache.size.get()));
            let objects = (0..bytes / size).map(|i| ObjPtr::new(slab.offset() + i * size).unwrap());
            let objects: alloc::vec::Vec<_> = objects.collect();
            // Backwards, so that distances are negative.
            for pair in objects.windows(2) {
                links.set(bias, shift, pair[1], pair[0].get());
            }
            links.set(bias, shift, objects[0], 0);
        }
        for (cache, slab, bytes) in [(small, Pfn(8), 4096), (large, Pfn(16), 32768)] {
            let shift = Links::shift(cache);
            let (bias, size) = (links.bias(slab, shift), u64::from(cache.size.get()));
            let mut at = ObjPtr::new(slab.offset() + (bytes / size - 1) * size);
            let mut seen = 0;
            while let Some(obj) = at {
                seen += 1;
                at = ObjPtr::new(links.next(bias, shift, obj));
            }
            assert_eq!(seen, bytes / size);
        }
        let taken = links.next.get();
        for _ in 0..1000 {
            links.give(small, Pfn(8), Order(0));
            assert!(links.take(small, Pfn(24), Order(0)));
            links.give(small, Pfn(24), Order(0));
            assert!(links.take(small, Pfn(8), Order(0)));
        }
        assert_eq!(links.next.get(), taken);
        // A long run that is free serves a short one.
        links.give(small, Pfn(8), Order(0));
        assert!(links.take(large, Pfn(32), Order(2)));
        assert_eq!(links.next.get(), taken);
    }

    #[test]
    fn what_has_no_room_is_refused() {
        let links = Links::new(1);
        let cache = cache(8);
        let taken = (0..8).filter(|_| links.take(&cache[0], Pfn(0), Order(0))).count();
        assert_eq!(taken, 1);
    }
}
