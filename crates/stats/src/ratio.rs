//! The ratio of two medians: the effect in per cent that a reader asks for first.

use serde::{Deserialize, Serialize};

use crate::{Bootstrap, Error, Interval, median, sample};

/// A number with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The best single number
    pub value: f64,
    /// Where the true one may lie
    pub interval: Interval,
}

/// Returns median(`candidate`) / median(`baseline`) with a percentile bootstrap interval.
///
/// # Errors
///
/// If a sample has fewer than two values or one that is not finite, or if one is not above zero.
pub fn ratio_of_medians(
    baseline: &[f64],
    candidate: &[f64],
    bootstrap: &Bootstrap,
) -> Result<Estimate, Error> {
    check_positive(baseline)?;
    check_positive(candidate)?;
    let ratio = |a: &mut [f64], b: &mut [f64]| median(b) / median(a);
    let interval = bootstrap.percentile_two(baseline, candidate, ratio)?;
    Ok(Estimate { value: ratio(&mut baseline.to_vec(), &mut candidate.to_vec()), interval })
}

/// Checks that a ratio of these values, or of any resample of them, exists.
pub(crate) fn check_positive(values: &[f64]) -> Result<(), Error> {
    sample::check(values, 2)?;
    match values.iter().copied().find(|x| *x <= 0.0) {
        Some(value) => Err(Error::NotPositive { value }),
        None => Ok(()),
    }
}
