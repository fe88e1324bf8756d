//! How long objects live.

use serde::{Deserialize, Serialize};

use crate::metrics::histogram::Histogram;

/// Histogram of two of nanoseconds: 2^52 are 52 days. Longer lifetimes are counted there.
const POWERS: usize = 52;

/// Counts lifetimes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lifetimes {
    counts: Histogram<POWERS, 8>,
    sum_ns: u64,
    longest_ns: u64,
}

/// The lifetimes at the end of the trace. Quantiles are an eighth too long at most, and never exceed the longest
/// lifetime.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
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

impl Lifetimes {
    /// Counts an object that lived for `ns`.
    #[inline]
    pub(crate) fn add(&mut self, ns: u64) {
        self.counts.add(ns);
        self.sum_ns = self.sum_ns.saturating_add(ns);
        self.longest_ns = self.longest_ns.max(ns);
    }

    /// Returns the figures of the whole.
    pub(crate) fn summary(&self) -> LifetimeSummary {
        let ended = self.counts.total();
        let quantile = |objects| self.counts.quantile(objects).min(self.longest_ns);
        LifetimeSummary {
            ended,
            mean_ns: self.sum_ns.checked_div(ended).unwrap_or(0),
            p50_ns: quantile(ended.div_ceil(2)),
            p99_ns: quantile((ended * 99).div_ceil(100)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_quantile_is_longer_than_the_longest_lifetime() {
        let mut lifetimes = Lifetimes::default();
        for ns in [3, 1_000, 1_100] {
            lifetimes.add(ns);
        }
        let summary = lifetimes.summary();
        assert_eq!((summary.ended, summary.p50_ns, summary.p99_ns), (3, 1_023, 1_100));
    }

    #[test]
    fn lifetimes_of_hours_are_told_apart() {
        let mut lifetimes = Lifetimes::default();
        let hours = 3_600_000_000_000;
        [hours, 3 * hours, 48 * hours].into_iter().for_each(|ns| lifetimes.add(ns));
        let summary = lifetimes.summary();
        assert!((3 * hours..3 * hours * 9 / 8).contains(&summary.p50_ns), "{summary:?}");
        assert_eq!(summary.p99_ns, 48 * hours);
    }
}
