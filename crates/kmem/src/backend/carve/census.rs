//! What is known of pages without looking at their bits, and the count of it over a ring.
//!
//! # How it works
//! Three bounds serve three kinds of request. Most blocks may start anywhere: the longest run
//! bounds them. Objects aligned to cache lines need a run that starts on a line. A kmalloc of a
//! power of two from 16 to 2048 bytes is aligned to its size behind its header, and each of these
//! eight *classes* fits a page or not: one bit each.
//!
//! # Invariants
//! A census' `runs[n]` = entries whose `run` is `n`, and so on; `occupied` has the bits of those
//! that are not 0.

use alloc::vec;
use alloc::vec::Vec;

use super::{GRANULES, Shape};

const LENGTHS: usize = GRANULES as usize + 1;
/// Classes of naturally aligned kmalloc blocks.
const CLASSES: usize = 8;

/// Upper bounds of what fits in a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Facts {
    /// Granules of the longest run, at most.
    pub(crate) run: u16,
    /// Granules of the longest run that starts on a cache line, at most.
    pub(crate) line_run: u16,
    /// Classes that may fit.
    pub(crate) fits: u8,
}

impl Facts {
    /// Nothing fits.
    pub(crate) const NONE: Self = Self { run: 0, line_run: 0, fits: 0 };

    /// Returns what a run of so many granules can hold at best.
    #[inline]
    pub(crate) fn of_run(run: u32) -> Self {
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

    /// Returns the facts once `shape` was found not to fit in a page whose longest run is `longest`;
    /// it may be long enough, and badly aligned.
    #[inline]
    pub(crate) fn without(mut self, shape: Shape, longest: u32) -> Self {
        self.run = self.run.min(longest as u16);
        self.line_run = self.line_run.min(self.run);
        self.fits &= classes_within(u32::from(self.run));
        if shape.on_line() {
            self.line_run = self.line_run.min(shape.granules as u16 - 1);
        }
        self.fits &= !shape.class;
        self
    }

    /// Tells whether the facts allow `shape`.
    #[inline]
    pub(crate) fn allow(self, shape: Shape) -> bool {
        if shape.class != 0 {
            return self.fits & shape.class != 0;
        }
        let run = if shape.on_line() { self.line_run } else { self.run };
        u32::from(run) >= shape.granules
    }
}

/// Returns the classes whose blocks are no longer than `run`: class i takes `2^(i+1) + 1` granules.
#[inline]
fn classes_within(run: u32) -> u8 {
    match run {
        0..3 => 0,
        _ => ((1u32 << (run - 1).ilog2()) - 1) as u8,
    }
}

/// How many pages of a ring have which facts.
#[derive(Debug)]
pub(crate) struct Census {
    runs: Lengths,
    line_runs: Lengths,
    fits: [u32; CLASSES],
}

/// A histogram that knows its largest length.
#[derive(Debug)]
struct Lengths {
    counts: Vec<u32>,
    occupied: [u64; LENGTHS.div_ceil(64)],
}

impl Lengths {
    fn new() -> Self {
        Self { counts: vec![0; LENGTHS], occupied: [0; LENGTHS.div_ceil(64)] }
    }

    #[inline]
    fn add(&mut self, length: u16) {
        self.counts[usize::from(length)] += 1;
        self.occupied[usize::from(length) / 64] |= 1 << (length % 64);
    }

    #[inline]
    fn sub(&mut self, length: u16) {
        let count = &mut self.counts[usize::from(length)];
        *count -= 1;
        if *count == 0 {
            self.occupied[usize::from(length) / 64] &= !(1 << (length % 64));
        }
    }

    #[inline]
    fn any_from(&self, length: u32) -> bool {
        let (word, bit) = (length as usize / 64, length % 64);
        self.occupied[word] >> bit != 0 || self.occupied[word + 1..].iter().any(|w| *w != 0)
    }
}

impl Census {
    pub(crate) fn new() -> Self {
        Self { runs: Lengths::new(), line_runs: Lengths::new(), fits: [0; CLASSES] }
    }

    /// Tells whether some page may hold `shape`.
    #[inline]
    pub(crate) fn may_fit(&self, shape: Shape) -> bool {
        match shape.class {
            0 if shape.on_line() => self.line_runs.any_from(shape.granules),
            0 => self.runs.any_from(shape.granules),
            class => self.fits[class.trailing_zeros() as usize] > 0,
        }
    }

    /// Counts a page in.
    pub(crate) fn enter(&mut self, facts: Facts) {
        self.runs.add(facts.run);
        self.line_runs.add(facts.line_run);
        each_class(facts.fits, |class| self.fits[class] += 1);
    }

    /// Counts a page out.
    pub(crate) fn leave(&mut self, facts: Facts) {
        self.runs.sub(facts.run);
        self.line_runs.sub(facts.line_run);
        each_class(facts.fits, |class| self.fits[class] -= 1);
    }

    /// Counts a page whose facts changed.
    #[inline]
    pub(crate) fn change(&mut self, before: Facts, after: Facts) {
        if before.run != after.run {
            self.runs.sub(before.run);
            self.runs.add(after.run);
        }
        if before.line_run != after.line_run {
            self.line_runs.sub(before.line_run);
            self.line_runs.add(after.line_run);
        }
        each_class(before.fits & !after.fits, |class| self.fits[class] -= 1);
        each_class(after.fits & !before.fits, |class| self.fits[class] += 1);
    }
}

#[inline]
fn each_class(mut classes: u8, mut visit: impl FnMut(usize)) {
    while classes != 0 {
        visit(classes.trailing_zeros() as usize);
        classes &= classes - 1;
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::classes_within;
    use crate::backend::carve::Shape;

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
}
