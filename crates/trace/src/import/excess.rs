//! How many objects of a cache have been freed unseen at each sample, at most.
//!
//! # How it works
//! As far as events tell, more objects live than the kernel has in use. The excess was freed unseen. It can be
//! too small, because free objects in lists of CPUs count as in use, and too large by what is not known about the beginning.
//! Objects do not come back, so at most as many were freed unseen by a sample as are in excess at any later one. (Earlier
//! versions ended the excess of two samples in a row, with both examined in the middle of a reading. On a busy machine that
//! ended, while processes exited, half of the older objects of caches whose frees are all seen.)
//!
//! # Invariants
//! The numbers do not fall from one sample to the next.

use crate::SampledCache;

/// The excess at each sample of one cache.
#[derive(Debug, Default)]
pub(super) struct Excess {
    /// The samples from which on there is such an excess, the last one first.
    at: Vec<(u32, u64)>,
}

impl Excess {
    /// `older` objects were there before the first event, and `living` more, or fewer, at the samples from which on they were
    /// ([`Living::finish`](super::living::Living::finish)).
    pub(super) fn new(sampled: &SampledCache, older: u64, living: &[(u32, i64)]) -> Excess {
        let changes = sampled.at.iter().copied().chain(living.iter().map(|(at, _)| *at));
        let mut places: Vec<u32> = changes.collect();
        places.sort_unstable_by(|a, b| b.cmp(a));
        places.dedup();
        let mut least = u64::MAX;
        let at = places.into_iter().map(|place| {
            let known = living.partition_point(|(at, _)| *at <= place);
            let living = known.checked_sub(1).map_or(0, |last| living[last].1);
            let in_use = u64::from(sampled.at(place as usize).0);
            least = least.min(older.saturating_add_signed(living).saturating_sub(in_use));
            (place, least)
        });
        Excess { at: at.collect() }
    }

    /// Returns how many it is at a sample, which is not before an earlier argument.
    pub(super) fn at(&mut self, sample: u32) -> u64 {
        while let [.., (next, _), _] = self.at[..]
            && next <= sample
        {
            self.at.pop();
        }
        self.at.last().filter(|(at, _)| *at <= sample).map_or(0, |(_, excess)| *excess)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_do_not_come_back() {
        let mut sampled = SampledCache::default();
        for (at, objects) in [(0, 10), (1, 12), (2, 30), (4, 20), (6, 25)] {
            sampled.at.push(at);
            sampled.objects.push(objects);
            sampled.slabs.push(1);
        }
        // 10 + 2 of 12 in use, 10 + 28 of 30 (a moment), 10 + 18 of 20, and 10 + 30 of 25.
        let living = [(0, 0), (1, 2), (2, 28), (3, 18), (5, 30)];
        let mut excess = Excess::new(&sampled, 10, &living);
        assert_eq!(
            [0, 1, 2, 3, 4, 5, 6, 7].map(|sample| excess.at(sample)),
            [0, 0, 0, 0, 8, 15, 15, 15]
        );
    }

    #[test]
    fn without_samples_nothing_was_freed_unseen() {
        assert_eq!(Excess::default().at(3), 0);
        let sampled =
            SampledCache { at: vec![2], objects: vec![1], slabs: vec![1], ..Default::default() };
        let mut excess = Excess::new(&sampled, 4, &[]);
        assert_eq!([0, 2, 9].map(|sample| excess.at(sample)), [0, 3, 3]);
    }
}
