//! The rank tests: Mann-Whitney's U for independent samples (Wilcoxon's rank sum), Wilcoxon's signed rank for pairs.
//!
//! # How it works
//! Equal values share the mean of their ranks. For small samples p is exact: the distribution of the statistic over all
//! ways to assign the ranks that were found (to the samples, or to gains and losses), ties included. Doubled mean ranks
//! are integers, so the distribution is a table of shares that grows rank by rank. Beyond 50 values on a side it is the
//! normal approximation with its correction for ties and for continuity (1/2).
//!
//! Pairs without a difference are left out of the ranking, as Wilcoxon did and as R and scipy do by default.
//!
//! Sources: Mann, Whitney: On a Test of Whether one of Two Random Variables is Stochastically Larger than the Other,
//! Ann. Math. Stat. 18, 1947; Wilcoxon: Individual Comparisons by Ranking Methods, Biometrics Bulletin 1, 1945; Hollander,
//! Wolfe, Chicken: Nonparametric Statistical Methods, 3rd ed., sections 3.1 and 4.1 (conditional distribution with ties).
//! R's package coin and scipy's `permutation_test` compute the same.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal};

use crate::error::Error;
use crate::sample;

/// Up to this many values on a side the exact distribution is used; beyond, the normal one differs by less than
/// 1e-3.
pub(crate) const EXACT_MAX: usize = 50;

/// The result of a rank test.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct RankTest {
    /// The statistic: U of the second sample, or W+, the rank sum of the pairs with a gain
    pub statistic: f64,
    /// The two-sided p value
    pub p: f64,
    /// Whether p is from the exact distribution or from the normal one
    pub exact: bool,
}

/// Tests whether values of `b` tend to be greater or less than those of `a`.
///
/// # Errors
///
/// If a sample is empty or has a value that is not a finite number.
pub fn mann_whitney(a: &[f64], b: &[f64]) -> Result<RankTest, Error> {
    sample::check(a, 1)?;
    sample::check(b, 1)?;
    let (m, n) = (a.len() as f64, b.len() as f64);
    let joint: Vec<f64> = a.iter().chain(b).copied().collect();
    let (ranks, ties) = sample::ranks(&joint);
    let rank_sum: f64 = ranks[a.len()..].iter().sum();
    let total = m + n;
    let (least, mean) = (n * (n + 1.0) / 2.0, n * (total + 1.0) / 2.0);
    let exact = a.len().max(b.len()) <= EXACT_MAX;
    let p = if exact {
        let (ranks, scale) = integers(&ranks, ties);
        tails(&rank_sum_distribution(ranks, b.len()), scale * rank_sum, scale * mean)
    } else {
        let variance = m * n / 12.0 * (total + 1.0 - ties / (total * (total - 1.0)));
        two_sided(rank_sum - mean, variance)
    };
    Ok(RankTest { statistic: rank_sum - least, p, exact })
}

/// Tests whether the pairs `candidate - baseline` tend to be gains or losses; the statistic is the rank sum of the gains.
///
/// # Errors
///
/// If there is no pair, the two sides are not of one length, or a value is not a finite number.
pub fn wilcoxon(baseline: &[f64], candidate: &[f64]) -> Result<RankTest, Error> {
    let differences = sample::differences(baseline, candidate)?;
    let mut sizes: Vec<f64> = differences.iter().map(|d| d.abs()).collect();
    let largest = baseline.iter().chain(candidate).fold(0.0f64, |most, x| most.max(x.abs()));
    sample::level(&mut sizes, largest);
    let pairs = sizes.into_iter().zip(differences).filter(|(size, _)| *size > 0.0);
    let (sizes, differences): (Vec<f64>, Vec<f64>) = pairs.unzip();
    let n = sizes.len() as f64;
    let (ranks, ties) = sample::ranks(&sizes);
    let gains: f64 =
        ranks.iter().zip(&differences).filter(|(_, d)| **d > 0.0).map(|(r, _)| r).sum();
    let mean = n * (n + 1.0) / 4.0;
    let exact = sizes.len() <= EXACT_MAX;
    let p = if exact {
        let (ranks, scale) = integers(&ranks, ties);
        tails(&signed_rank_distribution(&ranks), scale * gains, scale * mean)
    } else {
        let variance = n * (n + 1.0) * (2.0 * n + 1.0) / 24.0 - ties / 48.0;
        two_sided(gains - mean, variance)
    };
    Ok(RankTest { statistic: gains, p, exact })
}

/// Returns the two-sided p of a `distance` from the mean, corrected by 1/2 for continuity.
fn two_sided(distance: f64, variance: f64) -> f64 {
    // If all values are equal, nothing tells the samples apart.
    if variance <= 0.0 {
        return 1.0;
    }
    (2.0 * Normal::standard().sf((distance.abs() - 0.5) / variance.sqrt())).min(1.0)
}

/// Returns ranks as integers, and the factor by which they were multiplied: 2 where there are ties.
fn integers(ranks: &[f64], ties: f64) -> (Vec<usize>, f64) {
    let scale = if ties > 0.0 { 2.0 } else { 1.0 };
    (ranks.iter().map(|rank| (scale * rank) as usize).collect(), scale)
}

/// Returns the two-sided p of a statistic: twice the tail beyond it of its `distribution` (by value, from 0).
fn tails(distribution: &[f64], statistic: f64, mean: f64) -> f64 {
    let at = statistic as usize;
    let tail: f64 = match statistic <= mean {
        true => distribution[..=at].iter().sum(),
        false => distribution[at..].iter().sum(),
    };
    (2.0 * tail).min(1.0)
}

/// Returns P(W = w) for w from 0, W being the sum of `chosen` of the `ranks`, all choices equally likely.
pub(crate) fn rank_sum_distribution(mut ranks: Vec<usize>, chosen: usize) -> Vec<f64> {
    ranks.sort_unstable_by(|a, b| b.cmp(a));
    // ways[j][w]: the share, among all choices so far of j ranks, of those with the sum w. Shares do not overflow.
    // The ranks fall, so no choice of j has a sum above that of the first j.
    let most = |j: usize| ranks[..j].iter().sum::<usize>();
    let mut ways: Vec<Vec<f64>> = (0..=chosen).map(|j| vec![0.0; most(j) + 1]).collect();
    ways[0][0] = 1.0;
    for (seen, rank) in ranks.iter().enumerate() {
        for j in (1..=chosen.min(seen + 1)).rev() {
            // Of the choices of j among seen + 1 ranks, the share j / (seen + 1) has the new one.
            let with = j as f64 / (seen + 1) as f64;
            let (fewer, same) = ways.split_at_mut(j);
            let (fewer, same) = (&fewer[j - 1], &mut same[0]);
            same.iter_mut().for_each(|share| *share *= 1.0 - with);
            let moved = same[*rank..].iter_mut().zip(fewer);
            moved.for_each(|(share, before)| *share += with * before);
        }
    }
    ways.swap_remove(chosen)
}

/// Returns P(W = w) for w from 0, W being the sum of the `ranks` that are gains, each with probability 1/2.
pub(crate) fn signed_rank_distribution(ranks: &[usize]) -> Vec<f64> {
    let mut shares = vec![1.0];
    for rank in ranks {
        let mut next = vec![0.0; shares.len() + rank];
        for (w, share) in shares.iter().enumerate() {
            next[w] += 0.5 * share;
            next[w + rank] += 0.5 * share;
        }
        shares = next;
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distribution_of_small_samples_is_that_of_counting() {
        // 6 ways to choose two of four ranks: sums 3, 4, 5, 5, 6, 7.
        let p = rank_sum_distribution(vec![1, 2, 3, 4], 2);
        let ways: Vec<f64> = p.iter().map(|p| (p * 6.0).round()).collect();
        assert_eq!(ways, [0.0, 0.0, 0.0, 1.0, 1.0, 2.0, 1.0, 1.0]);
        // 8 ways to sign three ranks: sums 0, 1, 2, 3, 3, 4, 5, 6.
        let p = signed_rank_distribution(&[1, 2, 3]);
        let ways: Vec<f64> = p.iter().map(|p| p * 8.0).collect();
        assert_eq!(ways, [1.0, 1.0, 1.0, 2.0, 1.0, 1.0, 1.0]);
    }

    #[test]
    fn it_sums_to_one() {
        let sum: f64 = rank_sum_distribution((1..=87).collect(), 37).iter().sum();
        assert!((sum - 1.0).abs() < 1e-12);
        let ranks: Vec<usize> = (1..=50).collect();
        let sum: f64 = signed_rank_distribution(&ranks).iter().sum();
        assert!((sum - 1.0).abs() < 1e-12);
    }

    #[test]
    fn ties_have_the_p_of_counting_all_assignments() {
        let p = |a: &[f64], b: &[f64]| mann_whitney(a, b).unwrap().p;
        // 2 of the 20 ways to choose three of six are as extreme; the normal approximation used to give
        // 0.0469.
        assert!((p(&[1.0; 3], &[2.0; 3]) - 0.1).abs() < 1e-15);
        assert_eq!(p(&[1.0; 5], &[1.0; 5]), 1.0);
        // Five gains of one size: 2 of 32 ways; the normal approximation used to give 0.0368.
        let pairs = wilcoxon(&[1.0; 5], &[2.0; 5]).unwrap();
        assert!((pairs.p - 0.0625).abs() < 1e-15 && pairs.exact);
        assert_eq!(wilcoxon(&[1.0; 5], &[1.0; 5]).unwrap().p, 1.0);
    }

    /// Equal differences used to be told apart by how doubles round them, so p depended on the unit of the values.
    #[test]
    fn differences_that_only_rounding_tells_apart_are_ties() {
        // The ratios are x 3/2, x 2, x 3, x 1/3, x 6/5. Those by 3, up and down, share the ranks 4
        // and 5.
        let a = [2.0, 1.0, 2.0, 3.0, 5.0].map(f64::ln);
        let b = [3.0, 2.0, 6.0, 1.0, 6.0].map(f64::ln);
        let ratios = wilcoxon(&a, &b).unwrap();
        assert_eq!(ratios.statistic, 1.0 + 2.0 + 3.0 + 4.5);
        let p = |a: &[f64], b: &[f64]| wilcoxon(a, b).unwrap().p;
        let (a, b) = ([0.1, 0.2, 0.7, 0.3], [0.2, 0.3, 0.6, 0.3]);
        let tenths = |x: [f64; 4]| x.map(|x| (x * 10.0).round());
        assert_eq!(p(&a, &b), p(&tenths(a), &tenths(b)));
        assert_eq!(p(&[0.1 + 0.2], &[0.3]), 1.0);
    }
}
