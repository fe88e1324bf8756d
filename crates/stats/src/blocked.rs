//! Blocked designs: the same question asked on several hosts, each compared with itself only.
//!
//! How it works: ranks are taken within a block, so a fast and a slow host never meet; van Elteren's weights
//! 1 / (N + 1) make the sum the best test against a shift common to all blocks. The effect is the geometric mean of
//! the blocks' ratios of medians, weighted by m n / (m + n), and its interval resamples each block from itself.
//!
//! Sources: van Elteren: On the Combination of Independent Two Sample Tests of Wilcoxon, Bull. Int. Stat. Inst. 37, 1960;
//! Lehmann: Nonparametrics, section 3.3 (variance with ties).

use statrs::distribution::{ContinuousCDF, Normal};

use crate::rank_sum::RankTest;
use crate::ratio::{Estimate, check_positive};
use crate::{Bootstrap, Error, median, sample};

/// The runs of one block, a host say.
#[derive(Debug, Clone, Copy)]
pub struct Block<'a> {
    /// The baseline's runs
    pub baseline: &'a [f64],
    /// The candidate's runs
    pub candidate: &'a [f64],
}

impl Block<'_> {
    /// Returns m n / (m + n), in proportion to the information in the block.
    fn weight(&self) -> f64 {
        let (m, n) = (self.baseline.len() as f64, self.candidate.len() as f64);
        m * n / (m + n)
    }
}

/// The effects over all blocks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stratified {
    /// Candidate / baseline, `None` when a value is not above zero
    pub ratio: Option<Estimate>,
    /// Candidate - baseline
    pub difference: Estimate,
}

/// Tests whether the candidate's values tend to be greater or less within the blocks; the statistic is z.
///
/// # Errors
///
/// If there is no block, or a side of one is empty or not finite.
pub fn van_elteren(blocks: &[Block<'_>]) -> Result<RankTest, Error> {
    if blocks.is_empty() {
        return Err(Error::TooFew { have: 0, need: 1 });
    }
    let (mut sum, mut variance) = (0.0, 0.0);
    for block in blocks {
        sample::check(block.baseline, 1)?;
        sample::check(block.candidate, 1)?;
        let (m, n) = (block.baseline.len() as f64, block.candidate.len() as f64);
        let all = m + n;
        let joint: Vec<f64> = block.baseline.iter().chain(block.candidate).copied().collect();
        let (ranks, ties) = sample::ranks(&joint);
        let rank_sum: f64 = ranks[block.baseline.len()..].iter().sum();
        let weight = 1.0 / (all + 1.0);
        sum += weight * (rank_sum - n * (all + 1.0) / 2.0);
        let spread = m * n / 12.0 * (all + 1.0 - ties / (all * (all - 1.0)));
        variance += weight * weight * spread;
    }
    if variance <= 0.0 {
        return Ok(RankTest { statistic: 0.0, p: 1.0, exact: false });
    }
    let z = sum / variance.sqrt();
    let p = (2.0 * Normal::standard().sf(z.abs())).min(1.0);
    Ok(RankTest { statistic: z, p, exact: false })
}

/// Returns the effects over all blocks with their intervals.
///
/// # Errors
///
/// If there is no block, or a side of one has fewer than two values or one that is not finite.
pub(crate) fn effects(blocks: &[Block<'_>], bootstrap: &Bootstrap) -> Result<Stratified, Error> {
    let strata: Vec<&[f64]> = blocks.iter().flat_map(|b| [b.baseline, b.candidate]).collect();
    let weights: Vec<f64> = blocks.iter().map(Block::weight).collect();
    let mean = |scratch: &mut [Vec<f64>], effect: &dyn Fn(f64, f64) -> f64| {
        let mut sum = 0.0;
        for (block, weight) in scratch.chunks_exact_mut(2).zip(&weights) {
            let (baseline, candidate) = (median(&mut block[0]), median(&mut block[1]));
            sum += weight * effect(baseline, candidate);
        }
        sum / weights.iter().sum::<f64>()
    };
    let estimate = |statistic: &dyn Fn(&mut [Vec<f64>]) -> f64| {
        let interval = bootstrap.percentile_strata(&strata, statistic)?;
        let mut whole: Vec<Vec<f64>> = strata.iter().map(|s| s.to_vec()).collect();
        Ok(Estimate { value: statistic(&mut whole), interval })
    };
    let difference = estimate(&|scratch| mean(scratch, &|a, b| b - a))?;
    let positive = strata.iter().all(|stratum| check_positive(stratum).is_ok());
    let ratio = if positive {
        Some(estimate(&|scratch| mean(scratch, &|a, b| (b / a).ln()).exp())?)
    } else {
        None
    };
    Ok(Stratified { ratio, difference })
}
