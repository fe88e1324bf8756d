//! A histogram by powers of two, each cut into equal parts.
//!
//! Bucket `i` holds values of 2^i up to 2^(i+1) - 1; bucket 0 also holds 0, and the last holds all larger ones. A
//! quantile is the upper edge of its part, so it is never too small, and too large by one of `PARTS` at most.

/// Counts values in `PARTS` parts of `N` buckets.
#[derive(Debug, Clone)]
pub(crate) struct Histogram<const N: usize, const PARTS: usize>([[u32; PARTS]; N]);

impl<const N: usize, const PARTS: usize> Default for Histogram<N, PARTS> {
    fn default() -> Self {
        Self([[0; PARTS]; N])
    }
}

impl<const N: usize, const PARTS: usize> Histogram<N, PARTS> {
    /// Counts a value.
    #[inline]
    pub(crate) fn add(&mut self, value: u64) {
        let value = value.clamp(1, (2 << (N - 1)) - 1);
        let bucket = value.ilog2();
        let part = ((value - (1 << bucket)) * PARTS as u64) >> bucket;
        let count = &mut self.0[bucket as usize][part as usize];
        *count = count.saturating_add(1);
    }

    /// Returns how many values were counted.
    pub(crate) fn total(&self) -> u64 {
        self.0.as_flattened().iter().copied().map(u64::from).sum()
    }

    /// Returns the upper edge of the part in which the `rank`-th smallest value lies, counted from 1; 0 if there is none.
    pub(crate) fn quantile(&self, rank: u64) -> u64 {
        let mut seen = 0;
        let place = self.0.as_flattened().iter().position(|count| {
            seen += u64::from(*count);
            seen >= rank
        });
        place.filter(|_| rank > 0).map_or(0, |place| {
            let (start, part) = (1_u64 << (place / PARTS), (place % PARTS) as u64);
            start + ((part + 1) * start).div_ceil(PARTS as u64) - 1
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_upper_edges_of_their_bucket() {
        let mut values = Histogram::<41, 1>::default();
        assert_eq!((values.quantile(0), values.quantile(1)), (0, 0));
        [0, 1, 5, 6, 1000].into_iter().for_each(|value| values.add(value));
        assert_eq!((values.total(), values.quantile(3), values.quantile(5)), (5, 7, 1023));
        values.add(u64::MAX);
        assert_eq!(values.quantile(6), (1 << 41) - 1);
    }

    #[test]
    fn parts_are_as_many_times_finer() {
        for value in (0..200).chain([1_000, 1_023, 1_024, 12_345, (1 << 30) + 1]) {
            let mut values = Histogram::<41, 8>::default();
            values.add(value);
            let quantile = values.quantile(1);
            let value = value.max(1);
            assert!((value..=value + value / 8).contains(&quantile), "{value}: {quantile}");
        }
    }
}
