//! How many objects of a cache are freed unseen for each that is allocated, so that what samples tell is not late.
//!
//! How it works: each sample says how many objects were freed unseen since the one before. The middle one of the shares
//! of the last three intervals is assumed for the next allocations, so that what happens once (a process with much ends,
//! or many connections wait for a moment) has no effect; after too many were ended, as many are left out. Before there
//! are three, the share is that of allocations whose address is allocated again with no free in between, which says that
//! they were freed unseen, though not when: fewer objects than there were for a moment are better than a leak that was none.

/// Intervals until the share of frees is what samples say, and allocations that an interval needs to be one.
const SAMPLES_MIN: u32 = 3;
const ALLOCS_MIN: u64 = 64;

/// The pace of one cache.
#[derive(Debug, Default)]
pub(super) struct Pace {
    /// Since the last sample: allocations, those that were freed unseen, and objects that were ended for them.
    allocs: u64,
    unseen: u64,
    ended: u64,
    /// Samples that told something.
    samples: u32,
    /// In the two intervals before the last sample, the later one first.
    before: [f64; 2],
    /// What is assumed now.
    frees_per_alloc: f64,
    /// Frees that are due: below 0 after too many.
    due: f64,
}

impl Pace {
    /// Counts an allocation, which is or is not known to be freed unseen; returns whether another object is likely to have
    /// been by now.
    pub(super) fn alloc(&mut self, is_unseen: bool) -> bool {
        self.allocs += 1;
        self.unseen += u64::from(is_unseen);
        self.due += match self.samples {
            0..SAMPLES_MIN if self.allocs < ALLOCS_MIN => 0.0,
            0..SAMPLES_MIN => self.unseen as f64 / self.allocs as f64,
            _ => self.frees_per_alloc,
        };
        self.due >= 1.0
    }

    /// Counts an object that was ended for an allocation.
    pub(super) fn end(&mut self) {
        self.due -= 1.0;
        self.ended += 1;
    }

    /// Takes in what a sample says: so many more were freed unseen, or so many too many were ended.
    pub(super) fn sample(&mut self, more: u64, too_many: u64) {
        let too_many = too_many.min(self.ended);
        let frees = (self.ended + more - too_many) as f64;
        let now = if self.allocs == 0 { 0.0 } else { (frees / self.allocs as f64).min(1.0) };
        let [last, earlier] = self.before;
        // Of three the middle one.
        let frees_per_alloc = now.max(last).min(now.min(last).max(earlier));
        let due = -(too_many as f64);
        let samples = self.samples + u32::from(self.allocs >= ALLOCS_MIN);
        *self = Pace { before: [now, last], frees_per_alloc, due, samples, ..Pace::default() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_interval_unlike_the_others_changes_nothing() {
        let mut pace = Pace::default();
        let assumed = [0, 80, 80, 0, 80, 100, 0, 0].map(|freed| {
            pace.allocs = 100;
            pace.sample(freed, 0);
            (pace.frees_per_alloc * 100.0).round() as u64
        });
        assert_eq!(assumed, [0, 0, 80, 80, 80, 80, 80, 0]);
    }
}
