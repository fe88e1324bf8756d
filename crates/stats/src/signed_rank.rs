//! The rank test for pairs: Wilcoxon's signed rank.
//!
//! Sources: Wilcoxon: Individual Comparisons by Ranking Methods, Biometrics Bulletin 1, 1945; Hollander, Wolfe, Chicken:
//! Nonparametric Statistical Methods, 3rd ed., section 3.1. Pairs without a difference are left out of the
//! ranking, as Wilcoxon did and as R and scipy do by default.

use crate::rank_sum::{EXACT_MAX, RankTest, two_sided};
use crate::{Error, sample};

/// Tests whether the pairs `candidate - baseline` lean to one side; the statistic is the rank sum of the gains.
///
/// # Errors
///
/// If there is no pair, the two sides are not of one length, or a value is no finite number.
pub fn wilcoxon(baseline: &[f64], candidate: &[f64]) -> Result<RankTest, Error> {
    sample::check(baseline, 1)?;
    sample::check(candidate, 1)?;
    sample::check_pairs(baseline, candidate)?;
    let differences: Vec<f64> =
        candidate.iter().zip(baseline).map(|(c, b)| c - b).filter(|d| *d != 0.0).collect();
    let n = differences.len() as f64;
    let sizes: Vec<f64> = differences.iter().map(|d| d.abs()).collect();
    let (ranks, ties) = sample::ranks(&sizes);
    let gains: f64 =
        ranks.iter().zip(&differences).filter(|(_, d)| **d > 0.0).map(|(r, _)| r).sum();
    let all = n * (n + 1.0) / 2.0;
    if ties == 0.0 && differences.len() == baseline.len() && differences.len() <= EXACT_MAX {
        let near = gains.min(all - gains);
        let tail: f64 = signed_rank_distribution(differences.len())[..=near as usize].iter().sum();
        return Ok(RankTest { statistic: gains, p: (2.0 * tail).min(1.0), exact: true });
    }
    let variance = n * (n + 1.0) * (2.0 * n + 1.0) / 24.0 - ties / 48.0;
    Ok(RankTest { statistic: gains, p: two_sided(gains - all / 2.0, variance), exact: false })
}

/// Returns P(W = w) for w from 0 to n (n + 1) / 2: each rank is a gain with probability 1/2.
pub(crate) fn signed_rank_distribution(n: usize) -> Vec<f64> {
    let mut p = vec![0.0; n * (n + 1) / 2 + 1];
    p[0] = 1.0;
    for rank in 1..=n {
        for w in (0..p.len()).rev() {
            let with = if w >= rank { p[w - rank] } else { 0.0 };
            p[w] = 0.5 * (p[w] + with);
        }
    }
    p
}
