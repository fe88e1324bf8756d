//! A stretch of a ring: up to 32 pages in their order, each with its longest free run.
//!
//! # Invariants
//! - `runs` are the longest runs, exactly; `most` is at least each of them; beyond `count` they are 0.
//! - A bit of `misses` says that the kmalloc class of that bit does not fit, though a run is long enough: it is badly
//!   aligned. A free clears them.

use super::Shape;

/// Pages that a chunk has room for.
pub(crate) const CHUNK: usize = 32;

/// Consecutive pages of a ring.
#[derive(Debug, Clone)]
pub(crate) struct Chunk {
    pub(crate) next: u32,
    pub(crate) prev: u32,
    pub(crate) count: usize,
    /// Granules of the longest run, at most.
    pub(crate) most: u16,
    pub(crate) pages: [u32; CHUNK],
    runs: [u16; CHUNK],
    misses: [u8; CHUNK],
}

impl Chunk {
    pub(crate) const EMPTY: Self = Self {
        next: 0,
        prev: 0,
        count: 0,
        most: 0,
        pages: [0; CHUNK],
        runs: [0; CHUNK],
        misses: [0; CHUNK],
    };

    /// Returns the longest run of the page at `slot`.
    pub(crate) fn run(&self, slot: usize) -> u16 {
        self.runs[slot]
    }

    /// Enters the longest run of the page at `slot`, from which a block was taken.
    #[inline]
    pub(crate) fn shrink(&mut self, slot: usize, run: u16) {
        self.runs[slot] = run;
    }

    /// Enters that a free made a run in the page at `slot`.
    #[inline]
    pub(crate) fn grow(&mut self, slot: usize, run: u16) {
        self.runs[slot] = self.runs[slot].max(run);
        self.misses[slot] = 0;
        self.most = self.most.max(run);
    }

    /// Enters that `shape` does not fit in the page at `slot`.
    #[inline]
    pub(crate) fn miss(&mut self, slot: usize, shape: Shape) {
        self.misses[slot] |= shape.class;
    }

    /// Returns the slots whose pages may have room for `shape`, a bit each.
    #[inline]
    pub(crate) fn candidates(&self, shape: Shape) -> u32 {
        let pages = self.runs.iter().zip(&self.misses).enumerate();
        pages.fold(0, |all, (slot, (&run, misses))| {
            let fits = (u32::from(run) >= shape.granules) & (misses & shape.class == 0);
            all | u32::from(fits) << slot
        })
    }

    /// Lowers `most` to what it is.
    pub(crate) fn bound(&mut self) {
        self.most = self.runs.iter().copied().fold(0, u16::max);
    }

    /// Puts a page at `slot`, those from there on one further.
    pub(crate) fn insert(&mut self, slot: usize, page: u32, run: u16) {
        self.shift(slot..self.count, slot + 1);
        self.count += 1;
        (self.pages[slot], self.runs[slot], self.misses[slot]) = (page, run, 0);
        self.most = self.most.max(run);
    }

    /// Takes the page at `slot` out.
    pub(crate) fn remove(&mut self, slot: usize) {
        self.shift(slot + 1..self.count, slot);
        self.count -= 1;
        self.runs[self.count] = 0;
    }

    /// Moves the pages from `slot` on to the end of `to`.
    pub(crate) fn move_to(&mut self, slot: usize, to: &mut Self) {
        for from in slot..self.count {
            (to.pages[to.count], to.runs[to.count]) = (self.pages[from], self.runs[from]);
            to.misses[to.count] = self.misses[from];
            to.count += 1;
            self.runs[from] = 0;
        }
        self.count = slot;
        to.most = to.most.max(self.most);
    }

    fn shift(&mut self, from: core::ops::Range<usize>, to: usize) {
        self.pages.copy_within(from.clone(), to);
        self.runs.copy_within(from.clone(), to);
        self.misses.copy_within(from, to);
    }
}
