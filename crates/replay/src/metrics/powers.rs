//! A histogram by powers of two.
//!
//! Bucket `i` holds values of 2^i up to 2^(i+1) - 1; bucket 0 also holds 0, and the last all that are larger. A quantile
//! is the upper edge of its bucket, so it is never too small and at most twice too large.

/// Counts values in `N` buckets.
#[derive(Debug, Clone)]
pub(crate) struct Powers<const N: usize>([u32; N]);

impl<const N: usize> Default for Powers<N> {
    fn default() -> Self {
        Self([0; N])
    }
}

impl<const N: usize> Powers<N> {
    /// Counts a value.
    #[inline]
    pub(crate) fn add(&mut self, value: u64) {
        let count = &mut self.0[(value.max(1).ilog2() as usize).min(N - 1)];
        *count = count.saturating_add(1);
    }

    /// Returns how many values were counted.
    pub(crate) fn total(&self) -> u64 {
        self.0.iter().copied().map(u64::from).sum()
    }

    /// Returns the upper edge of the bucket in which the `rank`-th smallest value lies, counted from 1; 0 if there is none.
    pub(crate) fn quantile(&self, rank: u64) -> u64 {
        let mut seen = 0;
        let bucket = self.0.iter().position(|count| {
            seen += u64::from(*count);
            seen >= rank
        });
        bucket.filter(|_| rank > 0).map_or(0, |bucket| (2u64 << bucket) - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_upper_edges_of_their_bucket() {
        let mut values = Powers::<41>::default();
        assert_eq!((values.quantile(0), values.quantile(1)), (0, 0));
        [0, 1, 5, 6, 1000].into_iter().for_each(|value| values.add(value));
        assert_eq!((values.total(), values.quantile(3), values.quantile(5)), (5, 7, 1023));
        values.add(u64::MAX);
        assert_eq!(values.quantile(6), (1 << 41) - 1);
    }
}
