//! The Hodges-Lehmann shift: by how much one sample lies above the other.
//!
//! [`compare`](crate::compare) takes the shift of the logarithms, which is a ratio.
//!
//! # How it works
//! The estimate is the median of all differences (or, for pairs, of all Walsh averages); the interval is cut off at the
//! order statistics that the rank test would not reject, so that interval and p never contradict each other. With too few
//! values for the requested confidence, the interval spans all differences and names the confidence that it has. The k-th
//! of n m differences is found without making them: the value is bisected, and two sorted lists tell how many differences
//! do not exceed it.
//!
//! Sources: Hodges, Lehmann: Estimates of Location Based on Rank Tests, Ann. Math. Stat. 34, 1963; Hollander, Wolfe, Chicken:
//! Nonparametric Statistical Methods, 3rd ed., sections 3.2, 3.3, 4.2, 4.3. R's `wilcox.test(conf.int = TRUE)`
//! computes the same.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal};

use crate::bootstrap::Interval;
use crate::error::Error;
use crate::rank_test::{EXACT_MAX, rank_sum_distribution, signed_rank_distribution};
use crate::sample;

/// A number with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Estimate {
    /// The best single number
    pub value: f64,
    /// Where the true one may lie
    pub interval: Interval,
}

impl Estimate {
    /// Applies an increasing function to the number and to both ends of its interval.
    pub(crate) fn map(self, f: impl Fn(f64) -> f64) -> Self {
        let Interval { low, high, confidence } = self.interval;
        Self { value: f(self.value), interval: Interval { low: f(low), high: f(high), confidence } }
    }
}

/// Returns by how much `candidate` lies above `baseline`, for independent samples.
///
/// # Errors
///
/// If a sample is empty or not finite, or `confidence` is not a probability.
pub fn hodges_lehmann(
    baseline: &[f64],
    candidate: &[f64],
    confidence: f64,
) -> Result<Estimate, Error> {
    sample::check(baseline, 1)?;
    sample::check(candidate, 1)?;
    sample::check_probability(confidence)?;
    let (a, b) = (sorted(baseline), sorted(candidate));
    let (m, n) = (a.len(), b.len());
    let cut = if m.max(n) <= EXACT_MAX {
        let least = n * (n + 1) / 2;
        exact_cut(&rank_sum_distribution(untied(m + n), n)[least..], confidence)
    } else {
        let (m, n) = (m as f64, n as f64);
        normal_cut(m * n / 2.0, m * n * (m + n + 1.0) / 12.0, confidence)
    };
    let count = |value: f64| {
        // As b falls, fewer values of a are small enough, so one walk over both lists suffices.
        let mut from = 0;
        let mut sum = 0u64;
        for y in &b {
            while from < m && y - a[from] > value {
                from += 1;
            }
            sum += (m - from) as u64;
        }
        sum
    };
    Ok(estimate(m as u64 * n as u64, cut, count))
}

/// Returns by how much `candidate` lies above `baseline`, for pairs.
///
/// # Errors
///
/// If there is no pair, the sides differ in length or are not finite, or `confidence` is not a
/// probability.
pub fn hodges_lehmann_paired(
    baseline: &[f64],
    candidate: &[f64],
    confidence: f64,
) -> Result<Estimate, Error> {
    sample::check_probability(confidence)?;
    shift_of(&sample::differences(baseline, candidate)?, confidence)
}

/// Returns by how much the `differences` of pairs lie above zero.
pub(crate) fn shift_of(differences: &[f64], confidence: f64) -> Result<Estimate, Error> {
    let d = sorted(differences);
    let n = d.len();
    let cut = if n <= EXACT_MAX {
        exact_cut(&signed_rank_distribution(&untied(n)), confidence)
    } else {
        let n = n as f64;
        normal_cut(n * (n + 1.0) / 4.0, n * (n + 1.0) * (2.0 * n + 1.0) / 24.0, confidence)
    };
    let count = |value: f64| {
        // Pairs i <= j with (d[i] + d[j]) / 2 <= value; the reach of i shrinks as i grows.
        let mut reach = n;
        let mut sum = 0u64;
        for (i, low) in d.iter().enumerate() {
            while reach > i && f64::midpoint(*low, d[reach - 1]) > value {
                reach -= 1;
            }
            sum += reach.saturating_sub(i) as u64;
        }
        sum
    };
    Ok(estimate(n as u64 * (n as u64 + 1) / 2, cut, count))
}

fn sorted(sample: &[f64]) -> Vec<f64> {
    let mut sorted = sample.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// Returns `many` ranks without ties.
fn untied(many: usize) -> Vec<usize> {
    (1..=many).collect()
}

/// Where an interval begins, and how sure it is.
#[derive(Clone, Copy)]
struct Cut {
    /// The rank, from 1, of its lower end among all differences
    rank: u64,
    confidence: f64,
}

/// Cuts at the exact quantile of the statistic, whose `distribution` starts at its least value.
fn exact_cut(distribution: &[f64], confidence: f64) -> Cut {
    let tail = (1.0 - confidence) / 2.0;
    let mut sum = 0.0;
    let quantile = distribution.iter().position(|p| {
        sum += p;
        // The factor is R's: it keeps a rounding error from moving the quantile.
        sum * (1.0 + 64.0 * f64::EPSILON) >= tail
    });
    match quantile {
        // Not even the most extreme order is as rare as that.
        Some(0) => Cut { rank: 1, confidence: (1.0 - 2.0 * sum).max(0.0) },
        quantile => Cut { rank: quantile.unwrap_or(0).max(1) as u64, confidence },
    }
}

/// Does the same from the normal distribution of the statistic.
fn normal_cut(mean: f64, variance: f64, confidence: f64) -> Cut {
    let z = Normal::standard().inverse_cdf(f64::midpoint(1.0, confidence));
    Cut { rank: (mean - z * variance.sqrt()).floor().max(1.0) as u64, confidence }
}

fn estimate(all: u64, cut: Cut, count: impl Fn(f64) -> u64) -> Estimate {
    let kth = |k| kth_least(k, &count);
    let Cut { rank, confidence } = cut;
    Estimate {
        value: f64::midpoint(kth(all.div_ceil(2)), kth(all / 2 + 1)),
        interval: Interval { low: kth(rank), high: kth(all + 1 - rank), confidence },
    }
}

/// Returns the least value that at least `k` of the counted values do not exceed: the k-th of them.
fn kth_least(k: u64, count: &impl Fn(f64) -> u64) -> f64 {
    let (mut low, mut high) = (to_key(f64::MIN), to_key(f64::MAX));
    while low < high {
        let middle = low + (high - low) / 2;
        if count(from_key(middle)) >= k {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    // -0.0 sorts below 0.0 but is the same number.
    from_key(low) + 0.0
}

/// Maps floats to integers of the same order.
fn to_key(value: f64) -> u64 {
    let bits = value.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

/// Undoes [`to_key`].
fn from_key(key: u64) -> f64 {
    f64::from_bits(if key >> 63 == 1 { key ^ (1 << 63) } else { !key })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn the_kth_difference_is_that_of_sorting_them_all() {
        let mut rng = Rng::new(3);
        let a: Vec<f64> = (0..70).map(|_| (rng.normal() * 8.0).round()).collect();
        let b: Vec<f64> = (0..55).map(|_| rng.normal() + 0.5).collect();
        let mut all: Vec<f64> = b.iter().flat_map(|y| a.iter().map(move |x| y - x)).collect();
        let got = hodges_lehmann(&a, &b, 0.95).unwrap();
        assert_eq!(got.value, crate::median(&mut all));
        all.sort_by(f64::total_cmp);
        let cut = normal_cut(35.0 * 55.0, 70.0 * 55.0 * 126.0 / 12.0, 0.95).rank as usize;
        assert_eq!((got.interval.low, got.interval.high), (all[cut - 1], all[all.len() - cut]));
    }

    #[test]
    fn a_pure_shift_is_found_as_it_is() {
        let a: Vec<f64> = (0..20).map(|i| f64::from(i * i)).collect();
        let b: Vec<f64> = a.iter().map(|x| x + 3.0).collect();
        assert_eq!(hodges_lehmann_paired(&a, &b, 0.95).unwrap().value, 3.0);
        assert!(hodges_lehmann(&a, &b, 0.95).unwrap().interval.contains(3.0));
    }
}
