//! Pages with free space, in a circle, with a search that skips what cannot fit.
//!
//! # How it works
//! Order in the circle is Linux's list order; the head is where the next search starts. Entries
//! stand in chunks of up to 32, and a search asks three questions of falling size: can any page of
//! the ring fit, any of this chunk, which of these 32. What is known of a page is its [`Facts`],
//! upper bounds that a failed search lowers and a free raises, so every look at a page that fails
//! is paid for by a free. That answers at once what Linux walks its whole list for: whether a new
//! page is needed. A ring's memory grows with its pages, by doubling.
//!
//! # Invariants
//! - `Page::aux` of an entry's page is its chunk and the slot it had when last looked for; a
//!   chunk's `most` bounds its entries' facts.
//! - The [`Census`] counts the facts of all entries.
//! - The chunks of a ring form one circle; none is empty but the only one of an empty ring.

use alloc::vec;
use alloc::vec::Vec;

use super::census::{Census, Facts};
use super::{CarvedPages, Shape, bitmap};
use crate::ids::{ObjPtr, Pfn};
use crate::page::PageTable;

const CHUNK: usize = 32;
const HALF: usize = CHUNK / 2;
/// Two neighbours with this many entries together become one.
const MERGE: usize = 16;

/// A stretch of the circle; facts in arrays, so that many are compared at a time.
#[derive(Debug, Clone)]
struct Chunk {
    next: u32,
    prev: u32,
    count: usize,
    most: Facts,
    pages: [u32; CHUNK],
    facts: FactsArray,
}

/// The facts of a chunk's entries; nothing is known to fit where there is no entry.
#[derive(Debug, Clone)]
struct FactsArray {
    runs: [u16; CHUNK],
    line_runs: [u16; CHUNK],
    fits: [u8; CHUNK],
}

impl FactsArray {
    const NONE: Self = Self { runs: [0; CHUNK], line_runs: [0; CHUNK], fits: [0; CHUNK] };

    fn get(&self, slot: usize) -> Facts {
        Facts { run: self.runs[slot], line_run: self.line_runs[slot], fits: self.fits[slot] }
    }

    fn set(&mut self, slot: usize, facts: Facts) {
        self.runs[slot] = facts.run;
        self.line_runs[slot] = facts.line_run;
        self.fits[slot] = facts.fits;
    }

    fn shift(&mut self, from: core::ops::Range<usize>, to: usize) {
        self.runs.copy_within(from.clone(), to);
        self.line_runs.copy_within(from.clone(), to);
        self.fits.copy_within(from, to);
    }

    /// Returns a bit for each slot whose facts allow `shape`.
    #[inline]
    fn candidates(&self, shape: Shape) -> u32 {
        let mut mask = 0u32;
        if shape.class != 0 {
            for (i, fits) in self.fits.iter().enumerate() {
                mask |= u32::from(fits & shape.class != 0) << i;
            }
        } else {
            let runs = if shape.on_line() { &self.line_runs } else { &self.runs };
            for (i, &run) in runs.iter().enumerate() {
                mask |= u32::from(u32::from(run) >= shape.granules) << i;
            }
        }
        mask
    }
}

const EMPTY: Chunk = Chunk {
    next: 0,
    prev: 0,
    count: 0,
    most: Facts::NONE,
    pages: [0; CHUNK],
    facts: FactsArray::NONE,
};

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
    census: Census,
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
        let census = Census::new();
        Self { chunks: vec![EMPTY], vacant: Vec::new(), head: (0, 0), len: 0, census }
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

    /// Takes a block from the first page, from the head on, in which it fits; the head moves there
    /// unless the page is now full and leaves the ring. `Err` tells how many pages Linux would have
    /// walked for nothing.
    pub(crate) fn take(
        &mut self,
        pages: &PageTable,
        carved: &CarvedPages,
        shape: Shape,
    ) -> Result<Fit, u32> {
        if !self.census.may_fit(shape) {
            return Err(self.len);
        }
        let (start, first) = self.head;
        // Most often the page of the last success has room once more.
        if self.chunks[start as usize].facts.get(first).allow(shape) {
            let pfn = Pfn(self.chunks[start as usize].pages[first]);
            if let Some(obj) = carved.take(pages, pfn, shape) {
                return Ok(self.taken(pages, self.head, obj, 1));
            }
            self.learn(carved, start, first, shape);
        }
        let upper = !0u32 << first;
        if let Some((slot, obj)) = self.take_in(pages, carved, start, upper, shape) {
            return Ok(self.taken(pages, (start, slot), obj, slot - first + 1));
        }
        let mut walked = self.chunks[start as usize].count - first;
        let mut chunk = self.chunks[start as usize].next;
        while chunk != start {
            if let Some((slot, obj)) = self.take_in(pages, carved, chunk, !0, shape) {
                return Ok(self.taken(pages, (chunk, slot), obj, walked + slot + 1));
            }
            walked += self.chunks[chunk as usize].count;
            chunk = self.chunks[chunk as usize].next;
        }
        match self.take_in(pages, carved, start, !upper, shape) {
            Some((slot, obj)) => Ok(self.taken(pages, (start, slot), obj, walked + slot + 1)),
            None => Err(self.len),
        }
    }

    /// Tries the pages of one chunk's `slots` whose facts allow it.
    #[inline]
    fn take_in(
        &mut self,
        pages: &PageTable,
        carved: &CarvedPages,
        chunk: u32,
        slots: u32,
        shape: Shape,
    ) -> Option<(usize, ObjPtr)> {
        let of = &self.chunks[chunk as usize];
        if !of.most.allow(shape) {
            return None;
        }
        let mut candidates = of.facts.candidates(shape) & slots;
        while candidates != 0 {
            let slot = candidates.trailing_zeros() as usize;
            candidates &= candidates - 1;
            let pfn = Pfn(self.chunks[chunk as usize].pages[slot]);
            if let Some(obj) = carved.take(pages, pfn, shape) {
                return Some((slot, obj));
            }
            self.learn(carved, chunk, slot, shape);
        }
        None
    }

    /// Enters that `shape` was found not to fit.
    fn learn(&mut self, carved: &CarvedPages, chunk: u32, slot: usize, shape: Shape) {
        let of = &self.chunks[chunk as usize];
        let bits = carved.bits(Pfn(of.pages[slot]));
        let facts = of.facts.get(slot).without(shape, bitmap::longest_run(bits));
        self.set_facts(chunk, slot, facts);
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

    /// Puts a page at the head; `run` is the length of its longest run, or more.
    pub(crate) fn push(&mut self, pages: &PageTable, pfn: Pfn, run: u32) {
        let (mut chunk, mut slot) = self.head;
        if self.chunks[chunk as usize].count == CHUNK {
            self.split(pages, chunk);
            if slot >= HALF {
                (chunk, slot) = (self.chunks[chunk as usize].next, slot - HALF);
            }
        }
        self.head = (chunk, slot);
        let of = &mut self.chunks[chunk as usize];
        of.pages.copy_within(slot..of.count, slot + 1);
        of.facts.shift(slot..of.count, slot + 1);
        of.count += 1;
        of.pages[slot] = pfn.0;
        of.facts.set(slot, Facts::NONE);
        self.len += 1;
        self.census.enter(Facts::NONE);
        pages.get(pfn).aux.set(place(chunk, slot));
        self.set_facts(chunk, slot, Facts::of_run(run));
    }

    /// Takes a page off the ring.
    pub(crate) fn remove(&mut self, pages: &PageTable, pfn: Pfn) {
        let at = self.find(pages, pfn);
        self.remove_at(pages, at);
    }

    /// Enters that a free made a run of `run` granules in a page.
    pub(crate) fn grown(&mut self, pages: &PageTable, pfn: Pfn, run: u32) {
        let (chunk, slot) = self.find(pages, pfn);
        let facts = self.chunks[chunk as usize].facts.get(slot);
        self.set_facts(chunk, slot, facts.max(Facts::of_run(run)));
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

    #[inline]
    fn set_facts(&mut self, chunk: u32, slot: usize, facts: Facts) {
        let of = &mut self.chunks[chunk as usize];
        let before = of.facts.get(slot);
        if before == facts {
            return;
        }
        of.facts.set(slot, facts);
        self.census.change(before, facts);
        self.widen_or_narrow(chunk, before, facts);
    }

    /// Brings a chunk's bound up to date after one entry changed.
    fn widen_or_narrow(&mut self, chunk: u32, before: Facts, after: Facts) {
        let of = &mut self.chunks[chunk as usize];
        of.most = of.most.max(after);
        // The bound may be this entry's alone: look at the others.
        if before.run == of.most.run && after.run < before.run {
            of.most.run = of.facts.runs.iter().copied().fold(0, u16::max);
        }
        if before.line_run == of.most.line_run && after.line_run < before.line_run {
            of.most.line_run = of.facts.line_runs.iter().copied().fold(0, u16::max);
        }
        if before.fits & !after.fits != 0 {
            of.most.fits = of.facts.fits.iter().fold(0, |all, fits| all | fits);
        }
    }

    fn remove_at(&mut self, pages: &PageTable, (chunk, slot): (u32, usize)) {
        let of = &mut self.chunks[chunk as usize];
        let (before, last) = (of.facts.get(slot), of.count - 1);
        of.pages.copy_within(slot + 1..of.count, slot);
        of.facts.shift(slot + 1..of.count, slot);
        of.facts.set(last, Facts::NONE);
        of.count = last;
        self.census.leave(before);
        self.widen_or_narrow(chunk, before, Facts::NONE);
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
        let from = self.chunks[next as usize].clone();
        let into = &mut self.chunks[chunk as usize];
        for slot in 0..from.count {
            into.pages[count + slot] = from.pages[slot];
            into.facts.set(count + slot, from.facts.get(slot));
            pages.get(Pfn(from.pages[slot])).aux.set(place(chunk, count + slot));
        }
        into.count += from.count;
        into.most = into.most.max(from.most);
        if self.head.0 == next {
            self.head = (chunk, self.head.1 + count);
        }
        self.unlink(next);
    }

    fn unlink(&mut self, chunk: u32) {
        let (next, prev) = (self.chunks[chunk as usize].next, self.chunks[chunk as usize].prev);
        self.chunks[prev as usize].next = next;
        self.chunks[next as usize].prev = prev;
        self.chunks[chunk as usize] = EMPTY;
        self.vacant.push(chunk);
    }

    /// Moves the upper half of a full chunk to a new one behind it.
    fn split(&mut self, pages: &PageTable, chunk: u32) {
        let new = self.vacant.pop().unwrap_or_else(|| {
            self.chunks.push(EMPTY);
            (self.chunks.len() - 1) as u32
        });
        let mut upper = Chunk { count: HALF, prev: chunk, ..EMPTY };
        let lower = &mut self.chunks[chunk as usize];
        upper.next = lower.next;
        for slot in 0..HALF {
            upper.pages[slot] = lower.pages[HALF + slot];
            upper.facts.set(slot, lower.facts.get(HALF + slot));
            lower.facts.set(HALF + slot, Facts::NONE);
            pages.get(Pfn(upper.pages[slot])).aux.set(place(new, slot));
        }
        // Upper bounds of the whole are upper bounds of the halves.
        upper.most = lower.most;
        lower.count = HALF;
        lower.next = new;
        let after = upper.next;
        self.chunks[new as usize] = upper;
        // A chunk alone is its own neighbour on both sides.
        self.chunks[after as usize].prev = new;
    }
}
