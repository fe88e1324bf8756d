//! Pages with free space, in a circle, with a search that skips what cannot fit.
//!
//! # How it works
//! Order in the circle is Linux's list order; the head is where the next search starts. Entries
//! stand in chunks of up to 32 with their hints beside them, so that a search looks at one line of
//! hints instead of 32 pages, and at one number for a chunk that has nothing. A histogram of hints
//! answers "nothing fits" at once: the case in which Linux walks the whole list before it takes a
//! new page. A ring's memory grows with its pages, by doubling.
//!
//! # Invariants
//! - `Page::aux` of an entry's page is its chunk; a chunk's `longest` is the largest of its hints.
//! - `histogram[h]` = entries whose hint is `h`; bit `h` of `occupied` is set where that is not 0.
//! - The chunks of a ring form one circle; none is empty but the only one of an empty ring.

use alloc::vec;
use alloc::vec::Vec;

use super::{CarvedPages, GRANULES, Shape, bitmap};
use crate::ids::{ObjPtr, Pfn};
use crate::page::PageTable;

const CHUNK: usize = 32;
/// Two neighbours with this many entries together become one.
const MERGE: usize = 16;
const HINTS: usize = GRANULES as usize + 1;

/// What is known of a page without looking at its bits.
#[derive(Debug, Clone, Copy, Default)]
struct Entry {
    page: u32,
    /// Upper bound of the longest run, in granules.
    hint: u16,
    /// The same for runs that start on a cache line.
    hint_line: u16,
    /// Kmalloc shapes that fit nowhere.
    misfits: u8,
}

/// A stretch of the circle; entries in arrays, so that hints can be compared many at a time.
#[derive(Debug, Clone, Copy)]
struct Chunk {
    next: u32,
    prev: u32,
    count: u16,
    longest: u16,
    hints: [u16; CHUNK],
    entries: [Entry; CHUNK],
}

const EMPTY: Chunk = Chunk {
    next: 0,
    prev: 0,
    count: 0,
    longest: 0,
    hints: [0; CHUNK],
    entries: [Entry { page: 0, hint: 0, hint_line: 0, misfits: 0 }; CHUNK],
};

/// A circle of pages.
#[derive(Debug)]
pub(crate) struct Ring {
    chunks: Vec<Chunk>,
    vacant: Vec<u32>,
    /// Where the next search starts.
    head: (u32, usize),
    len: u32,
    histogram: Vec<u32>,
    occupied: [u64; HINTS.div_ceil(64)],
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
        Self {
            chunks: vec![EMPTY],
            vacant: Vec::new(),
            head: (0, 0),
            len: 0,
            histogram: vec![0; HINTS],
            occupied: [0; HINTS.div_ceil(64)],
        }
    }

    /// Returns the number of pages.
    pub(crate) fn len(&self) -> u32 {
        self.len
    }

    /// Visits the pages, from the head on.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Pfn> + '_ {
        let (mut chunk, mut slot) = self.head;
        (0..self.len).map(move |_| {
            while slot >= usize::from(self.chunks[chunk as usize].count) {
                chunk = self.chunks[chunk as usize].next;
                slot = 0;
            }
            slot += 1;
            Pfn(self.chunks[chunk as usize].entries[slot - 1].page)
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
        if !self.may_fit(shape.granules) {
            return Err(self.len);
        }
        let (start, first) = self.head;
        let mut walked = self.chunks[start as usize].count as u32 - first as u32;
        let upper = first as u32..CHUNK as u32;
        if let Some((slot, obj)) = self.take_in(pages, carved, start, upper, shape) {
            let walked = (slot - first) as u32 + 1;
            return Ok(self.taken(pages, (start, slot), obj, walked));
        }
        let mut chunk = self.chunks[start as usize].next;
        while chunk != start {
            if let Some((slot, obj)) = self.take_in(pages, carved, chunk, 0..CHUNK as u32, shape) {
                let walked = walked + slot as u32 + 1;
                return Ok(self.taken(pages, (chunk, slot), obj, walked));
            }
            walked += u32::from(self.chunks[chunk as usize].count);
            chunk = self.chunks[chunk as usize].next;
        }
        match self.take_in(pages, carved, start, 0..first as u32, shape) {
            Some((slot, obj)) => {
                Ok(self.taken(pages, (start, slot), obj, walked + slot as u32 + 1))
            }
            None => Err(self.len),
        }
    }

    /// Tells whether some hint is at least `granules`.
    fn may_fit(&self, granules: u32) -> bool {
        let (word, bit) = (granules as usize / 64, granules % 64);
        self.occupied[word] >> bit != 0 || self.occupied[word + 1..].iter().any(|w| *w != 0)
    }

    /// Tries the pages of one chunk's `slots` whose hints allow it.
    fn take_in(
        &mut self,
        pages: &PageTable,
        carved: &CarvedPages,
        chunk: u32,
        slots: core::ops::Range<u32>,
        shape: Shape,
    ) -> Option<(usize, ObjPtr)> {
        let of = &self.chunks[chunk as usize];
        if u32::from(of.longest) < shape.granules || slots.is_empty() {
            return None;
        }
        let mut candidates = 0u32;
        for (i, &hint) in of.hints.iter().enumerate() {
            candidates |= u32::from(u32::from(hint) >= shape.granules) << i;
        }
        candidates &= (u32::MAX >> (32 - (slots.end - slots.start))) << slots.start;
        while candidates != 0 {
            let slot = candidates.trailing_zeros() as usize;
            candidates &= candidates - 1;
            let entry = self.chunks[chunk as usize].entries[slot];
            let line = shape.on_line() && u32::from(entry.hint_line) < shape.granules;
            if line || entry.misfits & shape.misfit != 0 {
                continue;
            }
            let pfn = Pfn(entry.page);
            if let Some(obj) = carved.take(pages, pfn, shape) {
                return Some((slot, obj));
            }
            self.learn(carved, chunk, slot, shape);
        }
        None
    }

    /// Lowers the hints of a page in which `shape` did not fit: no run is as long, or none that
    /// is aligned.
    #[cold]
    fn learn(&mut self, carved: &CarvedPages, chunk: u32, slot: usize, shape: Shape) {
        let mut entry = self.chunks[chunk as usize].entries[slot];
        let bits = carved.bits(Pfn(entry.page));
        if bitmap::first_fit(bits, shape.granules, 1, 0).is_none() {
            entry.hint = (shape.granules - 1) as u16;
        }
        if shape.on_line() {
            entry.hint_line = (shape.granules - 1) as u16;
        }
        entry.misfits |= shape.misfit;
        self.set_entry(chunk, slot, entry);
    }

    fn taken(&mut self, pages: &PageTable, at: (u32, usize), obj: ObjPtr, walked: u32) -> Fit {
        if CarvedPages::is_full(pages, obj.pfn()) {
            self.remove_at(pages, at);
        } else {
            self.head = at;
        }
        Fit { obj, walked }
    }

    /// Puts a page at the head; `run` is the length of its longest run, or more.
    pub(crate) fn push(&mut self, pages: &PageTable, pfn: Pfn, run: u32) {
        let (mut chunk, mut slot) = self.head;
        if usize::from(self.chunks[chunk as usize].count) == CHUNK {
            self.split(pages, chunk);
            if slot >= CHUNK / 2 {
                (chunk, slot) = (self.chunks[chunk as usize].next, slot - CHUNK / 2);
            }
        }
        self.head = (chunk, slot);
        let of = &mut self.chunks[chunk as usize];
        let count = usize::from(of.count);
        of.hints.copy_within(slot..count, slot + 1);
        of.entries.copy_within(slot..count, slot + 1);
        of.count += 1;
        of.hints[slot] = 0;
        of.entries[slot] = Entry::default();
        self.len += 1;
        self.count_hint(0, 1);
        pages.get(pfn).aux.set(chunk);
        let entry = Entry { page: pfn.0, hint: run as u16, hint_line: run as u16, misfits: 0 };
        self.set_entry(chunk, slot, entry);
    }

    /// Takes a page off the ring.
    pub(crate) fn remove(&mut self, pages: &PageTable, pfn: Pfn) {
        let at = self.find(pages, pfn);
        self.remove_at(pages, at);
    }

    /// Enters that a free made a run of `run` granules in a page.
    pub(crate) fn grown(&mut self, pages: &PageTable, pfn: Pfn, run: u32) {
        let (chunk, slot) = self.find(pages, pfn);
        let mut entry = self.chunks[chunk as usize].entries[slot];
        entry.hint = entry.hint.max(run as u16);
        entry.hint_line = entry.hint_line.max(run as u16);
        entry.misfits = 0;
        self.set_entry(chunk, slot, entry);
    }

    fn find(&self, pages: &PageTable, pfn: Pfn) -> (u32, usize) {
        let chunk = pages.get(pfn).aux.get();
        let of = &self.chunks[chunk as usize];
        let entries = &of.entries[..usize::from(of.count)];
        let slot = entries.iter().position(|e| e.page == pfn.0).expect("a page of this ring");
        (chunk, slot)
    }

    fn set_entry(&mut self, chunk: u32, slot: usize, entry: Entry) {
        let of = &mut self.chunks[chunk as usize];
        let before = core::mem::replace(&mut of.hints[slot], entry.hint);
        of.entries[slot] = entry;
        if entry.hint >= of.longest {
            of.longest = entry.hint;
        } else if before == of.longest {
            of.longest = of.hints[..usize::from(of.count)].iter().copied().max().unwrap_or(0);
        }
        if before != entry.hint {
            self.count_hint(before, -1);
            self.count_hint(entry.hint, 1);
        }
    }

    fn count_hint(&mut self, hint: u16, by: i32) {
        let (word, bit) = (usize::from(hint) / 64, hint % 64);
        let count = &mut self.histogram[usize::from(hint)];
        *count = count.wrapping_add_signed(by);
        if *count == 0 {
            self.occupied[word] &= !(1 << bit);
        } else {
            self.occupied[word] |= 1 << bit;
        }
    }

    fn remove_at(&mut self, pages: &PageTable, (chunk, slot): (u32, usize)) {
        let of = &mut self.chunks[chunk as usize];
        let (hint, count) = (of.hints[slot], usize::from(of.count));
        of.hints.copy_within(slot + 1..count, slot);
        of.entries.copy_within(slot + 1..count, slot);
        of.hints[count - 1] = 0;
        of.count -= 1;
        if hint == of.longest {
            of.longest = of.hints.iter().copied().max().unwrap_or(0);
        }
        self.count_hint(hint, -1);
        self.len -= 1;
        if self.head.0 == chunk && slot < self.head.1 {
            self.head.1 -= 1;
        }
        self.tidy(pages, chunk);
        let head = &self.chunks[self.head.0 as usize];
        if self.head.1 >= usize::from(head.count) {
            self.head = (head.next, 0);
        }
    }

    /// Drops an empty chunk, or joins a small one with its neighbour.
    fn tidy(&mut self, pages: &PageTable, chunk: u32) {
        let of = self.chunks[chunk as usize];
        if of.next == chunk {
            return;
        }
        if of.count == 0 {
            if self.head.0 == chunk {
                self.head = (of.next, 0);
            }
            self.unlink(chunk);
            return;
        }
        let next = self.chunks[of.next as usize];
        let (count, more) = (usize::from(of.count), usize::from(next.count));
        if count + more > MERGE {
            return;
        }
        let into = &mut self.chunks[chunk as usize];
        into.hints[count..count + more].copy_from_slice(&next.hints[..more]);
        into.entries[count..count + more].copy_from_slice(&next.entries[..more]);
        into.count += next.count;
        into.longest = into.longest.max(next.longest);
        for entry in &next.entries[..more] {
            pages.get(Pfn(entry.page)).aux.set(chunk);
        }
        if self.head.0 == of.next {
            self.head = (chunk, self.head.1 + count);
        }
        self.unlink(of.next);
    }

    fn unlink(&mut self, chunk: u32) {
        let Chunk { next, prev, .. } = self.chunks[chunk as usize];
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
        const HALF: usize = CHUNK / 2;
        let mut of = self.chunks[chunk as usize];
        let mut upper = Chunk { next: of.next, prev: chunk, count: HALF as u16, ..EMPTY };
        upper.hints[..HALF].copy_from_slice(&of.hints[HALF..]);
        upper.entries[..HALF].copy_from_slice(&of.entries[HALF..]);
        upper.longest = upper.hints.iter().copied().max().unwrap_or(0);
        of.hints[HALF..].fill(0);
        of.count = HALF as u16;
        of.longest = of.hints.iter().copied().max().unwrap_or(0);
        for entry in &upper.entries[..HALF] {
            pages.get(Pfn(entry.page)).aux.set(new);
        }
        // A chunk alone is its own neighbour.
        let after = if of.next == chunk { chunk } else { of.next };
        of.next = new;
        if after == chunk {
            of.prev = new;
        }
        self.chunks[chunk as usize] = of;
        self.chunks[new as usize] = upper;
        if after != chunk {
            self.chunks[after as usize].prev = new;
        }
    }
}
