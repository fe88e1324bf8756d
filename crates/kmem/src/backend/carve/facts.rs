//! What is known of the pages of a ring without looking at their bits.
//!
//! # How it works
//! The longest free run of a page decides nearly every fit, and is known exactly. Two bounds serve those
//! blocks that may not start anywhere. Objects aligned to cache lines need a run that starts on a line. A
//! kmalloc of a power of two from 16 to 2048 bytes is aligned to its size behind its header, and each of
//! these eight *classes* fits a page or not: one bit each. A failed search lowers the bounds, a free
//! raises them, so every look at a page in vain is paid for by a free.
//!
//! # Invariants
//! `runs` = the longest runs; `line_runs` and `fits` never say "does not fit" of what fits.
//!
//! # What was learned
//! When the longest run was a bound like the others, every third look at a page's bits was in vain on a
//! trace of 2 million events, and all but a few hundred of those for a run too short.

use super::freemap::FreeMap;
use super::{GRANULES, Shape};

/// Pages that a table has room for.
pub(crate) const CHUNK: usize = 32;
/// Runs that are compared at once.
const LANES: usize = 4;
/// The lowest and the highest bit of each lane.
const LOW: u64 = 0x0001_0001_0001_0001;
const HIGH: u64 = LOW << 15;

/// What fits in a page, or in any of several, at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Facts {
    /// Granules of the longest run.
    run: u16,
    /// Granules of the longest run that starts on a cache line.
    line_run: u16,
    /// Classes that may fit.
    fits: u8,
}

impl Facts {
    /// Nothing fits.
    pub(crate) const NONE: Self = Self { run: 0, line_run: 0, fits: 0 };

    /// Returns what a run of so many granules can hold at best.
    #[inline]
    pub(crate) fn of_run(run: u32) -> Self {
        debug_assert!(run <= GRANULES);
        Self { run: run as u16, line_run: run as u16, fits: classes_within(run) }
    }

    /// Returns the bound of both.
    #[inline]
    pub(crate) fn max(self, other: Self) -> Self {
        Self {
            run: self.run.max(other.run),
            line_run: self.line_run.max(other.line_run),
            fits: self.fits | other.fits,
        }
    }

    /// Tells whether the facts allow `shape`.
    #[inline]
    pub(crate) fn allow(self, shape: Shape) -> bool {
        u32::from(self.run) >= shape.granules
            && if shape.class != 0 {
                self.fits & shape.class != 0
            } else {
                !shape.on_line() || u32::from(self.line_run) >= shape.granules
            }
    }
}

/// Returns the classes whose blocks are no longer than `run`: class i takes `2^(i+1) + 1` granules.
#[inline]
fn classes_within(run: u32) -> u8 {
    // None within fewer than three.
    ((1u32 << (run.max(2) - 1).ilog2()) - 1) as u8
}

/// The facts of up to [`CHUNK`] pages, an array each; nothing fits where there is no page.
#[derive(Debug, Clone)]
pub(crate) struct FactsTable {
    runs: [u16; CHUNK],
    line_runs: [u16; CHUNK],
    fits: [u8; CHUNK],
}

impl FactsTable {
    pub(crate) const NONE: Self =
        Self { runs: [0; CHUNK], line_runs: [0; CHUNK], fits: [0; CHUNK] };

    #[inline]
    pub(crate) fn get(&self, slot: usize) -> Facts {
        Facts { run: self.runs[slot], line_run: self.line_runs[slot], fits: self.fits[slot] }
    }

    #[inline]
    pub(crate) fn set(&mut self, slot: usize, facts: Facts) {
        self.runs[slot] = facts.run;
        self.line_runs[slot] = facts.line_run;
        self.fits[slot] = facts.fits;
    }

    /// Moves consecutive pages within the table.
    pub(crate) fn shift(&mut self, from: core::ops::Range<usize>, to: usize) {
        self.runs.copy_within(from.clone(), to);
        self.line_runs.copy_within(from.clone(), to);
        self.fits.copy_within(from, to);
    }

    /// Enters that a block was taken, which left `map`.
    #[inline]
    pub(crate) fn cut(&mut self, slot: usize, map: &FreeMap) {
        self.runs[slot] = map.longest() as u16;
    }

    /// Enters that a block was given back, which made `run`; returns what may fit now.
    #[inline]
    pub(crate) fn grow(&mut self, slot: usize, run: u32) -> Facts {
        let facts = self.get(slot).max(Facts::of_run(run));
        self.set(slot, facts);
        facts
    }

    /// Enters that `shape` was found not to fit, though a run is long enough: it is badly aligned.
    #[inline]
    pub(crate) fn miss(&mut self, slot: usize, shape: Shape) {
        if shape.on_line() {
            self.line_runs[slot] = self.line_runs[slot].min(shape.granules as u16 - 1);
        }
        self.fits[slot] &= !shape.class;
    }

    /// Returns the first slot of `slots` whose facts allow `shape`.
    #[inline]
    pub(crate) fn first(&self, slots: core::ops::Range<usize>, shape: Shape) -> Option<usize> {
        let mut from = slots.start;
        while from < slots.end {
            let lanes = from / LANES;
            let mut long = at_least(&self.runs, lanes, shape.granules);
            if shape.on_line() {
                long &= at_least(&self.line_runs, lanes, shape.granules);
            }
            long &= !0 << (from % LANES * 16);
            while long != 0 {
                let slot = lanes * LANES + long.trailing_zeros() as usize / 16;
                if shape.class == 0 || self.fits[slot] & shape.class != 0 {
                    return Some(slot).filter(|slot| slots.contains(slot));
                }
                long &= long - 1;
            }
            from = (lanes + 1) * LANES;
        }
        None
    }

    /// Returns the bound of all pages.
    pub(crate) fn most(&self) -> Facts {
        let longest = |runs: &[u16; CHUNK]| runs.iter().copied().fold(0, u16::max);
        Facts {
            run: longest(&self.runs),
            line_run: longest(&self.line_runs),
            fits: self.fits.iter().fold(0, |all, fits| all | fits),
        }
    }

    /// Tells whether the page's longest run is the one that is known.
    pub(crate) fn is_sound(&self, slot: usize, map: &FreeMap) -> bool {
        map.is_sound() && u32::from(self.runs[slot]) == map.longest()
    }
}

/// Returns the high bit of each of four lanes whose run has `count` granules.
#[inline(always)]
fn at_least(runs: &[u16; CHUNK], lanes: usize, count: u32) -> u64 {
    let [a, b, c, d] = runs.as_chunks::<LANES>().0[lanes].map(u64::from);
    let runs = a | b << 16 | c << 32 | d << 48;
    ((runs | HIGH) - LOW * u64::from(count)) & HIGH
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn classes_within_agrees_with_shapes() {
        for run in 0..=512 {
            let plain = (4..12)
                .map(|shift| Shape::kmalloc(1 << shift))
                .filter(|shape| shape.granules <= run)
                .fold(0, |all, shape| all | shape.class);
            assert_eq!(classes_within(run), plain, "run of {run}");
        }
    }

    #[test]
    fn first_agrees_with_a_look_at_each() {
        let mut random = crate::tests::conformance::Random(7);
        for _ in 0..2_000 {
            let mut table = FactsTable::NONE;
            for slot in 0..CHUNK {
                let mut run = || {
                    let shift = random.below(10);
                    random.below(1 << shift) as u16
                };
                let (run, line_run) = (run(), run());
                table.set(slot, Facts { run, line_run, fits: random.below(256) as u8 });
            }
            let (from, to) = (random.below(32) as usize, random.below(33) as usize);
            let size = 1 + random.below(2048);
            for shape in
                [Shape::object(size, 64, 0), Shape::object(size, 8, 0), Shape::kmalloc(size)]
            {
                let plain = (from..to).find(|&slot| table.get(slot).allow(shape));
                assert_eq!(table.first(from..to, shape), plain);
            }
        }
    }
}
