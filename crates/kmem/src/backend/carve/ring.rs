//! Pages with free space, in a circle, with a search that skips what cannot fit.
//!
//! # How it works
//! Order in the circle is Linux's list order; the head is where the next search starts. Entries stand in
//! [`Chunk`]s of up to 32, and a search narrows down: is a run in the ring long enough, one in this chunk, those of
//! which of these 32 pages. The longest run of each page is known; chunks and the ring have upper bounds, which a
//! free raises, and a search that finds nothing lowers. That answers at once what Linux walks its whole list
//! for: whether a new page is needed. A ring's memory grows with its pages, by doubling.
//!
//! # Invariants
//! - `Page::aux` of an entry's page is its chunk and the slot it had when last looked for.
//! - The ring's `most` >= `most` of its chunks >= the runs of their entries.
//! - The chunks of a ring form one circle; none is empty but the only one of an empty ring.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use super::chunk::{CHUNK, Chunk};
use super::{CarvedPages, Shape};
use crate::ids::{ObjPtr, Pfn};
use crate::page::PageTable;

const HALF: usize = CHUNK / 2;
/// Two neighbours with this many entries together become one.
const MERGE: usize = 16;

/// Returns what `Page::aux` says of an entry.
fn place(chunk: u32, slot: usize) -> u32 {
    chunk * CHUNK as u32 + slot as u32
}

/// A circle of pages.
#[derive(Debug)]
pub(crate) struct Ring {
    chunks: Vec<Chunk>,
    vacant: Vec<u32>,
    /// Where the next search starts.
    head: (u32, usize),
    len: u32,
    /// Granules of the longest run, at most.
    most: u16,
}

/// A successful search.
#[derive(Debug)]
pub(crate) struct Fit {
    pub(crate) obj: ObjPtr,
    /// Pages from the head to the one that fitted, that one included.
    pub(crate) walked: u32,
}

impl Ring {
    pub(crate) fn new() -> Self {
        let chunks = vec![Chunk::EMPTY];
        Self { chunks, vacant: Vec::new(), head: (0, 0), len: 0, most: 0 }
    }

    /// Visits the pages, from the head on.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Pfn> + '_ {
        let (mut chunk, mut slot) = self.head;
        (0..self.len).map(move |_| {
            while slot >= self.chunks[chunk as usize].count {
                chunk = self.chunks[chunk as usize].next;
                slot = 0;
            }
            slot += 1;
            Pfn(self.chunks[chunk as usize].pages[slot - 1])
        })
    }

    /// Returns a page of which something wrong is known, and what; `None` if all is well.
    pub(crate) fn check(&self, carved: &CarvedPages) -> Option<(Pfn, &'static str)> {
        self.chunks.iter().find_map(|chunk| {
            chunk.pages[..chunk.count].iter().enumerate().find_map(|(slot, &page)| {
                let (pfn, run) = (Pfn(page), chunk.run(slot));
                if run > chunk.most || run > self.most {
                    return Some((pfn, "its longest run is longer than its ring's bounds"));
                }
                let longest = carved.map(pfn).longest();
                (u32::from(run) != longest).then_some((pfn, "its longest run is not as entered"))
            })
        })
    }

    /// Takes a block from the first page, from the head on, in which it fits; the head moves there
    /// unless the page is now full and leaves the ring. `Err` tells how many pages Linux would have
    /// walked for nothing.
    pub(crate) fn take(
        &mut self,
        pages: &PageTable,
        carved: &CarvedPages,
        shape: Shape,
    ) -> Result<Fit, u32> {
        if u32::from(self.most) < shape.granules {
            return Err(self.len);
        }
        let (start, first) = self.head;
        if let Some((slot, obj)) = self.take_in(pages, carved, start, first..CHUNK, shape) {
            return Ok(self.taken(pages, (start, slot), obj, slot - first + 1));
        }
        let mut walked = self.chunks[start as usize].count - first;
        let mut chunk = self.chunks[start as usize].next;
        while chunk != start {
            if let Some((slot, obj)) = self.take_in(pages, carved, chunk, 0..CHUNK, shape) {
                return Ok(self.taken(pages, (chunk, slot), obj, walked + slot + 1));
            }
            walked += self.chunks[chunk as usize].count;
            chunk = self.chunks[chunk as usize].next;
        }
        if let Some((slot, obj)) = self.take_in(pages, carved, start, 0..first, shape) {
            return Ok(self.taken(pages, (start, slot), obj, walked + slot + 1));
        }
        self.most = self.chunks.iter().map(|chunk| chunk.most).max().unwrap_or(0);
        Err(self.len)
    }

    /// Tries the pages of one chunk's `slots` that may have room.
    #[inline]
    fn take_in(
        &mut self,
        pages: &PageTable,
        carved: &CarvedPages,
        chunk: u32,
        slots: Range<usize>,
        shape: Shape,
    ) -> Option<(usize, ObjPtr)> {
        let of = &mut self.chunks[chunk as usize];
        if u32::from(of.most) < shape.granules {
            return None;
        }
        let within = (1u64 << slots.end) - (1u64 << slots.start);
        let mut candidates = of.candidates(shape) & within as u32;
        while candidates != 0 {
            let slot = candidates.trailing_zeros() as usize;
            let pfn = Pfn(of.pages[slot]);
            if let Some((obj, run)) = carved.take(pages, pfn, shape) {
                // Unless it was the longest that was cut, that is what it was.
                if run == u32::from(of.run(slot)) {
                    of.shrink(slot, carved.map(pfn).longest() as u16);
                }
                return Some((slot, obj));
            }
            of.miss(slot, shape);
            candidates &= candidates - 1;
        }
        of.bound();
        None
    }

    #[inline]
    fn taken(&mut self, pages: &PageTable, at: (u32, usize), obj: ObjPtr, walked: usize) -> Fit {
        if CarvedPages::is_full(pages, obj.pfn()) {
            self.remove_at(pages, at);
        } else {
            self.head = at;
        }
        Fit { obj, walked: walked as u32 }
    }

    /// Puts a page at the head.
    pub(crate) fn push(&mut self, pages: &PageTable, carved: &CarvedPages, pfn: Pfn) {
        let (mut chunk, mut slot) = self.head;
        if self.chunks[chunk as usize].count == CHUNK {
            self.split(pages, chunk);
            if slot >= HALF {
                (chunk, slot) = (self.chunks[chunk as usize].next, slot - HALF);
            }
        }
        self.head = (chunk, slot);
        self.len += 1;
        pages.get(pfn).aux.set(place(chunk, slot));
        let run = carved.map(pfn).longest() as u16;
        self.chunks[chunk as usize].insert(slot, pfn.0, run);
        self.most = self.most.max(run);
    }

    /// Takes a page off the ring.
    pub(crate) fn remove(&mut self, pages: &PageTable, pfn: Pfn) {
        let at = self.find(pages, pfn);
        self.remove_at(pages, at);
    }

    /// Enters that a block was given back to a page of the ring, which made a run of `run` granules.
    #[inline]
    pub(crate) fn grown(&mut self, pages: &PageTable, pfn: Pfn, run: u32) {
        let (chunk, slot) = self.find(pages, pfn);
        self.chunks[chunk as usize].grow(slot, run as u16);
        self.most = self.most.max(run as u16);
    }

    fn find(&self, pages: &PageTable, pfn: Pfn) -> (u32, usize) {
        let at = pages.get(pfn).aux.get();
        let (chunk, guess) = (at / CHUNK as u32, at as usize % CHUNK);
        let of = &self.chunks[chunk as usize];
        if of.pages[guess] == pfn.0 && guess < of.count {
            return (chunk, guess);
        }
        let slot = of.pages[..of.count].iter().position(|&page| page == pfn.0);
        let slot = slot.expect("a page of this ring");
        pages.get(pfn).aux.set(place(chunk, slot));
        (chunk, slot)
    }

    fn remove_at(&mut self, pages: &PageTable, (chunk, slot): (u32, usize)) {
        self.chunks[chunk as usize].remove(slot);
        self.len -= 1;
        if self.head.0 == chunk && slot < self.head.1 {
            self.head.1 -= 1;
        }
        self.tidy(pages, chunk);
        let head = &self.chunks[self.head.0 as usize];
        if self.head.1 >= head.count {
            self.head = (head.next, 0);
        }
    }

    /// Drops an empty chunk, or joins a small one with the next.
    fn tidy(&mut self, pages: &PageTable, chunk: u32) {
        let (next, count) = (self.chunks[chunk as usize].next, self.chunks[chunk as usize].count);
        if next == chunk {
            return;
        }
        if count == 0 {
            if self.head.0 == chunk {
                self.head = (next, 0);
            }
            self.unlink(chunk);
            return;
        }
        if count + self.chunks[next as usize].count > MERGE {
            return;
        }
        let mut from = core::mem::replace(&mut self.chunks[next as usize], Chunk::EMPTY);
        from.move_to(0, &mut self.chunks[chunk as usize]);
        self.chunks[next as usize] = from;
        self.place_from(pages, chunk, count);
        if self.head.0 == next {
            self.head = (chunk, self.head.1 + count);
        }
        self.unlink(next);
    }

    fn unlink(&mut self, chunk: u32) {
        let (next, prev) = (self.chunks[chunk as usize].next, self.chunks[chunk as usize].prev);
        self.chunks[prev as usize].next = next;
        self.chunks[next as usize].prev = prev;
        self.chunks[chunk as usize] = Chunk::EMPTY;
        self.vacant.push(chunk);
    }

    /// Moves the upper half of a full chunk to a new one behind it.
    fn split(&mut self, pages: &PageTable, chunk: u32) {
        let new = self.vacant.pop().unwrap_or_else(|| {
            self.chunks.push(Chunk::EMPTY);
            (self.chunks.len() - 1) as u32
        });
        let lower = &mut self.chunks[chunk as usize];
        let mut upper = Chunk::EMPTY;
        (upper.next, upper.prev) = (lower.next, chunk);
        lower.move_to(HALF, &mut upper);
        lower.next = new;
        let after = upper.next;
        self.chunks[new as usize] = upper;
        // A chunk alone is its own neighbour on both sides.
        self.chunks[after as usize].prev = new;
        self.place_from(pages, new, 0);
    }

    /// Enters the places of a chunk's pages from `slot` on.
    fn place_from(&self, pages: &PageTable, chunk: u32, slot: usize) {
        let of = &self.chunks[chunk as usize];
        for (slot, &page) in of.pages[..of.count].iter().enumerate().skip(slot) {
            pages.get(Pfn(page)).aux.set(place(chunk, slot));
        }
    }
}
