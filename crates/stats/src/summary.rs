//! One sample in a few numbers.

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::sample;

/// Consistency factor that makes the MAD estimate the standard deviation of a normal sample: 1 / quantile(3/4).
///
/// Source: Rousseeuw, Croux: Alternatives to the Median Absolute Deviation, JASA 88, 1993.
pub(crate) const MAD_TO_SIGMA: f64 = 1.482_602_218_505_602;

/// A sample in a few numbers, all in the unit of the sample.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Summary {
    /// How many values
    pub n: usize,
    /// The least
    pub min: f64,
    /// The first quartile
    pub q1: f64,
    /// The middle
    pub median: f64,
    /// The third quartile
    pub q3: f64,
    /// The greatest
    pub max: f64,
    /// The mean
    pub mean: f64,
    /// The standard deviation, with n - 1; zero for one value
    pub stddev: f64,
    /// The median absolute deviation from the median, scaled to estimate the standard deviation
    pub mad: f64,
}

impl Summary {
    /// Sums up `sample`.
    ///
    /// # Errors
    ///
    /// If it is empty or has a value that is not a finite number.
    pub fn of(sample: &[f64]) -> Result<Self, Error> {
        sample::check(sample, 1)?;
        let mut sorted = sample.to_vec();
        sorted.sort_by(f64::total_cmp);
        let median = quantile_sorted(&sorted, 0.5);
        Ok(Self {
            n: sample.len(),
            min: sorted[0],
            q1: quantile_sorted(&sorted, 0.25),
            median,
            q3: quantile_sorted(&sorted, 0.75),
            max: sorted[sorted.len() - 1],
            mean: mean(sample),
            stddev: {
                let scale = PowerOfTwo::of(sample);
                scale.back(variance(&scale.apply(sample)).sqrt())
            },
            mad: MAD_TO_SIGMA * mad(sample, median),
        })
    }
}

/// A power of two that brings values near 1, where their squares neither overflow nor vanish.
///
/// Multiplying by it loses nothing; it is applied in halves, since 2^1074 is not a number of its own.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PowerOfTwo {
    half: i32,
}

impl PowerOfTwo {
    /// Returns such a power for the largest of `values`.
    pub(crate) fn of<'a>(values: impl IntoIterator<Item = &'a f64>) -> Self {
        let largest = values.into_iter().fold(0.0f64, |most, x| most.max(x.abs()));
        let half = if largest > 0.0 { (-largest.log2() / 2.0) as i32 } else { 0 };
        Self { half }
    }

    /// Returns `sample` near 1.
    pub(crate) fn apply(self, sample: &[f64]) -> Vec<f64> {
        let factor = 2f64.powi(self.half);
        sample.iter().map(|x| x * factor * factor).collect()
    }

    /// Returns a value of the scaled sample in the unit of the sample.
    pub(crate) fn back(self, value: f64) -> f64 {
        let factor = 2f64.powi(-self.half);
        value * factor * factor
    }
}

/// Returns the arithmetic mean; NaN for an empty slice.
#[must_use]
pub fn mean(sample: &[f64]) -> f64 {
    let (sum, n) = (sample.iter().sum::<f64>(), sample.len() as f64);
    if sum.is_finite() {
        return sum / n;
    }
    // The mean of finite values is finite, even where their sum is not, and where rounding is upward.
    sample.iter().map(|x| x / n).sum::<f64>().clamp(f64::MIN, f64::MAX)
}

/// Returns the unbiased variance (n - 1); zero for one value, NaN for none.
#[must_use]
pub fn variance(sample: &[f64]) -> f64 {
    if sample.len() == 1 {
        return 0.0;
    }
    let mean = mean(sample);
    sample.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (sample.len() as f64 - 1.0)
}

/// Returns the median, and leaves `scratch` in another order.
///
/// # Panics
///
/// If it is empty.
pub fn median(scratch: &mut [f64]) -> f64 {
    let n = scratch.len();
    let (below, &mut upper, _) = scratch.select_nth_unstable_by(n / 2, f64::total_cmp);
    if n % 2 == 1 {
        return upper;
    }
    let lower = below.iter().copied().max_by(f64::total_cmp).expect("n is even and not zero");
    f64::midpoint(lower, upper)
}

/// Returns the quantile `p` of `sample` by linear interpolation.
///
/// Source: type 7 of Hyndman, Fan: Sample Quantiles in Statistical Packages, The American Statistician 50, 1996;
/// R's `quantile` and numpy's `quantile` use it by default.
///
/// # Errors
///
/// If the sample is empty or not finite, or `p` is not in [0, 1].
pub fn quantile(sample: &[f64], p: f64) -> Result<f64, Error> {
    sample::check(sample, 1)?;
    if !(0.0..=1.0).contains(&p) {
        return Err(Error::NotAProbability { value: p });
    }
    let mut sorted = sample.to_vec();
    sorted.sort_by(f64::total_cmp);
    Ok(quantile_sorted(&sorted, p))
}

/// Returns the quantile `p` of values in ascending order.
pub(crate) fn quantile_sorted(sorted: &[f64], p: f64) -> f64 {
    let place = (sorted.len() - 1) as f64 * p;
    let below = place.floor() as usize;
    let (low, high) = (sorted[below], sorted[(below + 1).min(sorted.len() - 1)]);
    let (share, range) = (place - place.floor(), high - low);
    if range.is_finite() { low + share * range } else { low * (1.0 - share) + high * share }
}

/// Returns the median distance from `center`, unscaled.
pub(crate) fn mad(sample: &[f64], center: f64) -> f64 {
    let mut distances: Vec<f64> = sample.iter().map(|x| (x - center).abs()).collect();
    median(&mut distances)
}
