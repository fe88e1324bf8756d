//! Confidence intervals by resampling: the percentile bootstrap.
//!
//! # How it works
//! The bootstrap draws a sample of the same size with replacement and computes the statistic, many
//! times; the middle of these values is the interval.
//!
//! Source: B. Efron, R. Tibshirani: An Introduction to the Bootstrap, 1993, chapter 13.

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::rng::Rng;
use crate::sample;
use crate::summary::median;
use crate::summary::quantile_sorted;

/// A confidence interval, in the unit of the statistic.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Interval {
    /// The lower end
    pub low: f64,
    /// The upper end
    pub high: f64,
    /// The share of such intervals that contain the true value: 0.95, for example
    pub confidence: f64,
}

impl Interval {
    /// Returns whether `value` lies in it, ends included.
    #[must_use]
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

/// How to resample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bootstrap {
    /// How many samples to draw; Efron and Tibshirani recommend at least 1,000
    pub resamples: usize,
    /// The share of intervals that should contain the true value
    pub confidence: f64,
    /// The seed of the random numbers
    pub seed: u64,
}

impl Default for Bootstrap {
    /// 10,000 resamples, 95 %, seed 1.
    fn default() -> Self {
        Self { resamples: 10_000, confidence: 0.95, seed: 1 }
    }
}

impl Bootstrap {
    /// Returns the percentile interval of `statistic` over one sample.
    ///
    /// The statistic gets a scratch copy that it may reorder.
    ///
    /// # Errors
    ///
    /// If the sample has fewer than two values or one that is not finite, or the confidence is not a
    /// probability.
    pub fn percentile(
        &self,
        sample: &[f64],
        statistic: impl Fn(&mut [f64]) -> f64,
    ) -> Result<Interval, Error> {
        sample::check_probability(self.confidence)?;
        sample::check(sample, 2)?;
        let mut rng = Rng::new(self.seed);
        let mut drawn = sample.to_vec();
        let mut values: Vec<f64> = (0..self.resamples.max(1))
            .map(|_| {
                drawn.iter_mut().for_each(|slot| *slot = sample[rng.below(sample.len())]);
                statistic(&mut drawn)
            })
            .collect();
        values.sort_by(f64::total_cmp);
        Ok(Interval {
            low: quantile_sorted(&values, (1.0 - self.confidence) / 2.0),
            high: quantile_sorted(&values, f64::midpoint(1.0, self.confidence)),
            confidence: self.confidence,
        })
    }
}

/// Returns the percentile interval of the median of `sample`.
///
/// # Errors
///
/// Fails as [`Bootstrap::percentile`] does.
pub fn median_interval(sample: &[f64], bootstrap: &Bootstrap) -> Result<Interval, Error> {
    bootstrap.percentile(sample, median)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skewed(n: usize, seed: u64) -> Vec<f64> {
        let mut rng = Rng::new(seed);
        (0..n).map(|_| rng.normal().exp()).collect()
    }

    #[test]
    fn the_same_seed_gives_the_same_interval() {
        let sample = skewed(31, 5);
        let bootstrap = Bootstrap { resamples: 500, ..Bootstrap::default() };
        assert_eq!(median_interval(&sample, &bootstrap), median_interval(&sample, &bootstrap));
        let other = Bootstrap { seed: 2, ..bootstrap };
        assert_ne!(median_interval(&sample, &bootstrap), median_interval(&sample, &other));
    }

    #[test]
    fn intervals_contain_the_truth_about_as_often_as_they_say() {
        let bootstrap = Bootstrap { resamples: 400, ..Bootstrap::default() };
        // The median of a log-normal distribution is 1.
        let contains = |seed| median_interval(&skewed(60, seed), &bootstrap).unwrap().contains(1.0);
        // The median takes few values, so the share falls a little short of 380.
        let held = (0..400).filter(|seed| contains(*seed)).count();
        assert!((355..=395).contains(&held), "{held} of 400");
    }

    #[test]
    fn one_value_and_values_that_are_not_numbers_are_refused() {
        let bootstrap = Bootstrap::default();
        assert_eq!(median_interval(&[1.0], &bootstrap), Err(Error::TooFew { have: 1, need: 2 }));
        let nan = median_interval(&[f64::NAN, 1.0], &bootstrap);
        assert!(matches!(nan, Err(Error::NotFinite { index: 0, .. })));
        let sure = Bootstrap { confidence: 1.0, ..bootstrap };
        assert_eq!(median_interval(&[1.0, 2.0], &sure), Err(Error::NotAProbability { value: 1.0 }));
    }
}
