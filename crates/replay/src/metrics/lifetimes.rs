//! How long objects live: a histogram by powers of two of nanoseconds.
//!
//! Bucket `i` holds lifetimes of 2^i up to 2^(i+1) - 1 ns; bucket 0 also holds 0. A quantile is the upper
//! edge of its bucket, so it is never too small and at most twice too large.

use serde::{Deserialize, Serialize};

/// 2^40 ns are 18 minutes; what lives longer is counted there.
const BUCKETS: usize = 41;

/// Counts lifetimes.
#[derive(Debug, Clone)]
pub(crate) struct Lifetimes {
    counts: [u32; BUCKETS],
    sum_ns: u64,
}

/// What is left of the lifetimes at the end of the trace.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LifetimeSummary {
    /// Objects that were freed in the trace
    pub ended: u64,
    /// Mean, rounded down
    pub mean_ns: u64,
    /// Half of them lived at most this long
    pub p50_ns: u64,
    /// 99 of 100 lived at most this long
    pub p99_ns: u64,
}

impl Default for Lifetimes {
    fn default() -> Self {
        Self { counts: [0; BUCKETS], sum_ns: 0 }
    }
}

impl Lifetimes {
    /// Counts an object that lived for `ns`.
    #[inline]
    pub(crate) fn add(&mut self, ns: u64) {
        let bucket = ns.max(1).ilog2() as usize;
        let count = &mut self.counts[bucket.min(BUCKETS - 1)];
        *count = count.saturating_add(1);
        self.sum_ns = self.sum_ns.saturating_add(ns);
    }

    /// Returns the figures of the whole.
    pub(crate) fn summary(&self) -> LifetimeSummary {
        let ended: u64 = self.counts.iter().copied().map(u64::from).sum();
        LifetimeSummary {
            ended,
            mean_ns: self.sum_ns.checked_div(ended).unwrap_or(0),
            p50_ns: self.quantile_ns(ended.div_ceil(2)),
            p99_ns: self.quantile_ns((ended * 99).div_ceil(100)),
        }
    }

    /// Returns the upper edge of the bucket in which the `rank`-th shortest lifetime lies.
    fn quantile_ns(&self, rank: u64) -> u64 {
        if rank == 0 {
            return 0;
        }
        let mut seen = 0;
        for (bucket, count) in self.counts.iter().enumerate() {
            seen += u64::from(*count);
            if seen >= rank {
                return (2u64 << bucket) - 1;
            }
        }
        u64::MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_upper_edges_of_their_bucket() {
        let mut lifetimes = Lifetimes::default();
        for ns in [0, 1, 5, 6, 1000] {
            lifetimes.add(ns);
        }
        let summary = lifetimes.summary();
        assert_eq!((summary.ended, summary.mean_ns), (5, 1012 / 5));
        assert_eq!((summary.p50_ns, summary.p99_ns), (7, 1023));
    }

    #[test]
    fn nothing_ended_is_all_zeros() {
        assert_eq!(Lifetimes::default().summary(), LifetimeSummary::default());
    }

    #[test]
    fn the_longest_lifetimes_share_the_last_bucket() {
        let mut lifetimes = Lifetimes::default();
        lifetimes.add(u64::MAX);
        assert_eq!(lifetimes.summary().p99_ns, (1 << 41) - 1);
    }
}
