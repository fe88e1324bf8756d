//! The rank test for two independent samples: Mann-Whitney U, also known as Wilcoxon's rank sum.
//!
//! Sources: Mann, Whitney: On a Test of Whether one of Two Random Variables is Stochastically Larger than the Other,
//! Ann. Math. Stat. 18, 1947 (the recurrence); Hollander, Wolfe, Chicken: Nonparametric Statistical Methods, 3rd ed.,
//! section 4.1 (ties, normal approximation). Continuity correction of 1/2, as R and scipy have it by default.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal};

use crate::{Error, sample};

/// Up to this many values a side the exact distribution is used; beyond, the normal one differs by less than 1e-3.
pub(crate) const EXACT_MAX: usize = 50;

/// What a rank test says.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RankTest {
    /// The statistic: U of the second sample, W+ of the differences, z of the blocks
    pub statistic: f64,
    /// The two-sided p value
    pub p: f64,
    /// How p was found: from the exact distribution or from the normal one
    pub exact: bool,
}

/// Tests whether values of `b` tend to be greater or less than those of `a`.
///
/// # Errors
///
/// If a sample is empty or has a value that is no finite number.
pub fn mann_whitney(a: &[f64], b: &[f64]) -> Result<RankTest, Error> {
    sample::check(a, 1)?;
    sample::check(b, 1)?;
    let (m, n) = (a.len() as f64, b.len() as f64);
    let joint: Vec<f64> = a.iter().chain(b).copied().collect();
    let (ranks, ties) = sample::ranks(&joint);
    let u = ranks[a.len()..].iter().sum::<f64>() - n * (n + 1.0) / 2.0;
    let far = u.max(m * n - u);
    if ties == 0.0 && a.len().max(b.len()) <= EXACT_MAX {
        let distribution = rank_sum_distribution(a.len(), b.len());
        let tail: f64 = distribution[far as usize..].iter().sum();
        return Ok(RankTest { statistic: u, p: (2.0 * tail).min(1.0), exact: true });
    }
    let total = m + n;
    let variance = m * n / 12.0 * (total + 1.0 - ties / (total * (total - 1.0)));
    Ok(RankTest { statistic: u, p: two_sided(far - m * n / 2.0, variance), exact: false })
}

/// Returns the two-sided p of a `distance` from the mean, corrected by 1/2 for continuity.
pub(crate) fn two_sided(distance: f64, variance: f64) -> f64 {
    // All values equal: nothing tells the samples apart.
    if variance <= 0.0 {
        return 1.0;
    }
    (2.0 * Normal::standard().sf((distance.abs() - 0.5) / variance.sqrt())).min(1.0)
}

/// Returns P(U = u) for u from 0 to m n, when both samples come from one distribution without ties.
///
/// P(m, n, u) = m/(m+n) P(m-1, n, u-n) + n/(m+n) P(m, n-1, u): the greatest value is in the first sample or in
/// the second. Probabilities, and not counts, so that nothing overflows.
pub(crate) fn rank_sum_distribution(m: usize, n: usize) -> Vec<f64> {
    // row[j] is the distribution for (i, j); i grows.
    let mut row: Vec<Vec<f64>> = vec![vec![1.0]; n + 1];
    for i in 1..=m {
        let mut next: Vec<Vec<f64>> = Vec::with_capacity(n + 1);
        next.push(vec![1.0]);
        for j in 1..=n {
            let share = i as f64 / (i + j) as f64;
            let mut cell = vec![0.0; i * j + 1];
            for (u, p) in row[j].iter().enumerate() {
                cell[u + j] += share * p;
            }
            for (u, p) in next[j - 1].iter().enumerate() {
                cell[u] += (1.0 - share) * p;
            }
            next.push(cell);
        }
        row = next;
    }
    row.swap_remove(n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distribution_of_small_samples_is_that_of_counting() {
        // 6 ways to place two values among four: U = 0, 1, 2, 2, 3, 4.
        let p = rank_sum_distribution(2, 2);
        let want = [1.0, 1.0, 2.0, 1.0, 1.0].map(|ways| ways / 6.0);
        assert!(p.iter().zip(want).all(|(p, want)| (p - want).abs() < 1e-15), "{p:?}");
    }

    #[test]
    fn it_sums_to_one() {
        let sum: f64 = rank_sum_distribution(50, 37).iter().sum();
        assert!((sum - 1.0).abs() < 1e-12);
    }

    #[test]
    fn equal_samples_do_not_differ() {
        assert_eq!(mann_whitney(&[1.0; 5], &[1.0; 5]).unwrap().p, 1.0);
    }
}
