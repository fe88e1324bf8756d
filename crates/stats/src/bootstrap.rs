//! Confidence intervals by resampling: percentile and BCa.
//!
//! How it works: draw a sample of the same size with replacement, compute the statistic, many times; the
//! middle of these values is the interval. BCa moves the two ends by the bias of the statistic (z0) and by the change
//! of its spread with its value (the acceleration, from the jackknife).
//!
//! Which to use: percentile for medians and ratios of medians (the jackknife of a median takes two values only,
//! so its acceleration says nothing); BCa for means and other smooth statistics.
//!
//! Sources: B. Efron, R. Tibshirani: An Introduction to the Bootstrap, 1993, chapters 13 (percentile), 14.3
//! (BCa), 16.2 (two samples are resampled each from itself).

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal};

use crate::summary::quantile_sorted;
use crate::{Error, Rng, median, sample};

/// A confidence interval, in the unit of the statistic.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The lower end
    pub low: f64,
    /// The upper end
    pub high: f64,
    /// The share of such intervals that hold the true value, 0.95 say
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
    /// How many samples to draw; Efron and Tibshirani ask for 1,000 at least
    pub resamples: usize,
    /// The share of intervals that shall hold the true value
    pub confidence: f64,
    /// Where the stream of lots starts
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
    /// If the sample has fewer than two values or one that is not finite, or the confidence is no probability.
    pub fn percentile(
        &self,
        sample: &[f64],
        statistic: impl Fn(&mut [f64]) -> f64,
    ) -> Result<Interval, Error> {
        self.check(&[sample])?;
        let draws = self.draws(&[sample], |scratch| statistic(&mut scratch[0]));
        Ok(self.cut(&draws, self.tails()))
    }

    /// Returns the percentile interval of `statistic` over two independent samples.
    ///
    /// # Errors
    ///
    /// As [`Bootstrap::percentile`], for either sample.
    pub fn percentile_two(
        &self,
        a: &[f64],
        b: &[f64],
        statistic: impl Fn(&mut [f64], &mut [f64]) -> f64,
    ) -> Result<Interval, Error> {
        self.check(&[a, b])?;
        let draws = self.draws(&[a, b], |scratch| {
            let [a, b] = scratch else { unreachable!("two samples were given") };
            statistic(a, b)
        });
        Ok(self.cut(&draws, self.tails()))
    }

    /// Returns the bias-corrected and accelerated interval of `statistic` over one sample.
    ///
    /// When every draw gives the same value there is no bias to correct, and the interval is that value.
    ///
    /// # Errors
    ///
    /// As [`Bootstrap::percentile`].
    pub fn bca(
        &self,
        sample: &[f64],
        statistic: impl Fn(&mut [f64]) -> f64,
    ) -> Result<Interval, Error> {
        self.bca_all(&[sample], |scratch| statistic(&mut scratch[0]))
    }

    /// Returns the bias-corrected and accelerated interval of `statistic` over two independent samples.
    ///
    /// # Errors
    ///
    /// As [`Bootstrap::percentile`], for either sample.
    pub fn bca_two(
        &self,
        a: &[f64],
        b: &[f64],
        statistic: impl Fn(&mut [f64], &mut [f64]) -> f64,
    ) -> Result<Interval, Error> {
        self.bca_all(&[a, b], |scratch| {
            let [a, b] = scratch else { unreachable!("two samples were given") };
            statistic(a, b)
        })
    }

    /// Returns the percentile interval of `statistic` over any number of samples, each resampled from itself.
    ///
    /// # Errors
    ///
    /// As [`Bootstrap::percentile`], for any of them.
    pub fn percentile_strata(
        &self,
        strata: &[&[f64]],
        statistic: impl Fn(&mut [Vec<f64>]) -> f64,
    ) -> Result<Interval, Error> {
        self.check(strata)?;
        let draws = self.draws(strata, statistic);
        Ok(self.cut(&draws, self.tails()))
    }

    fn bca_all(
        &self,
        strata: &[&[f64]],
        statistic: impl Fn(&mut [Vec<f64>]) -> f64,
    ) -> Result<Interval, Error> {
        self.check(strata)?;
        let draws = self.draws(strata, &statistic);
        let observed = statistic(&mut strata.iter().map(|s| s.to_vec()).collect::<Vec<_>>());
        let acceleration = acceleration(strata, &statistic);
        Ok(self.cut(&draws, bca_tails(&draws, observed, acceleration, self.tails())))
    }

    fn check(&self, strata: &[&[f64]]) -> Result<(), Error> {
        sample::check_probability(self.confidence)?;
        strata.iter().try_for_each(|stratum| sample::check(stratum, 2))
    }

    /// Returns the values of the statistic over all resamples, ascending.
    fn draws(&self, strata: &[&[f64]], statistic: impl Fn(&mut [Vec<f64>]) -> f64) -> Vec<f64> {
        let mut rng = Rng::new(self.seed);
        let mut scratch: Vec<Vec<f64>> = strata.iter().map(|s| s.to_vec()).collect();
        let mut draws = Vec::with_capacity(self.resamples.max(1));
        for _ in 0..self.resamples.max(1) {
            for (drawn, stratum) in scratch.iter_mut().zip(strata) {
                drawn.iter_mut().for_each(|slot| *slot = stratum[rng.below(stratum.len())]);
            }
            draws.push(statistic(&mut scratch));
        }
        draws.sort_by(f64::total_cmp);
        draws
    }

    fn tails(&self) -> (f64, f64) {
        ((1.0 - self.confidence) / 2.0, f64::midpoint(1.0, self.confidence))
    }

    fn cut(&self, draws: &[f64], (low, high): (f64, f64)) -> Interval {
        Interval {
            low: quantile_sorted(draws, low),
            high: quantile_sorted(draws, high),
            confidence: self.confidence,
        }
    }
}

/// Returns the acceleration from the jackknife, over the values of all strata: (14.15) in Efron and Tibshirani,
/// with each stratum's influence scaled by its own size as in Davison, Hinkley: Bootstrap Methods, (5.23) ff.
fn acceleration(strata: &[&[f64]], statistic: &impl Fn(&mut [Vec<f64>]) -> f64) -> f64 {
    let (mut cubes, mut squares) = (0.0, 0.0);
    for (at, stratum) in strata.iter().enumerate() {
        let n = stratum.len() as f64;
        let without: Vec<f64> = (0..stratum.len())
            .map(|left_out| {
                let mut rest: Vec<Vec<f64>> = strata.iter().map(|s| s.to_vec()).collect();
                rest[at].remove(left_out);
                statistic(&mut rest)
            })
            .collect();
        let mean = crate::mean(&without);
        for value in without {
            let influence = (n - 1.0) * (mean - value);
            cubes += influence.powi(3) / n.powi(3);
            squares += influence.powi(2) / n.powi(2);
        }
    }
    if squares == 0.0 { 0.0 } else { cubes / (6.0 * squares.powf(1.5)) }
}

/// Returns where to cut the sorted draws: (14.9) to (14.14) in Efron and Tibshirani.
///
/// Draws equal to the observed value count half, so that a statistic with few values is not taken for biased.
fn bca_tails(draws: &[f64], observed: f64, acceleration: f64, tails: (f64, f64)) -> (f64, f64) {
    let below = draws.partition_point(|&x| x < observed) as f64;
    let up_to = draws.partition_point(|&x| x <= observed) as f64;
    let share = (below + up_to) / (2.0 * draws.len() as f64);
    if share == 0.0 || share == 1.0 || draws[0] == draws[draws.len() - 1] {
        return tails;
    }
    let normal = Normal::standard();
    let bias = normal.inverse_cdf(share);
    let moved = |tail: f64| {
        let z = bias + normal.inverse_cdf(tail);
        normal.cdf(bias + z / (1.0 - acceleration * z)).clamp(0.0, 1.0)
    };
    (moved(tails.0), moved(tails.1))
}

/// Returns the percentile interval of the median of `sample`.
///
/// # Errors
///
/// As [`Bootstrap::percentile`].
pub fn median_interval(sample: &[f64], bootstrap: &Bootstrap) -> Result<Interval, Error> {
    bootstrap.percentile(sample, median)
}

/// Returns the percentile interval of median(`b`) - median(`a`).
///
/// # Errors
///
/// As [`Bootstrap::percentile`], for either sample.
pub fn median_difference_interval(
    a: &[f64],
    b: &[f64],
    bootstrap: &Bootstrap,
) -> Result<Interval, Error> {
    bootstrap.percentile_two(a, b, |a, b| median(b) - median(a))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mean;

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
    fn intervals_hold_the_truth_about_as_often_as_they_say() {
        let bootstrap = Bootstrap { resamples: 400, ..Bootstrap::default() };
        let truth = 0.5f64.exp(); // the mean of a log-normal
        let (mut percentile, mut bca) = (0, 0);
        for seed in 0..400 {
            let sample = skewed(60, seed);
            percentile +=
                u32::from(bootstrap.percentile(&sample, |s| mean(s)).unwrap().contains(truth));
            bca += u32::from(bootstrap.bca(&sample, |s| mean(s)).unwrap().contains(truth));
        }
        // Both fall a little short of 95 % on a skewed sample; BCa less so. That is why it is there.
        assert!(percentile >= 340, "percentile: {percentile} of 400");
        assert!(bca >= percentile, "BCa: {bca}, percentile: {percentile}");
    }

    #[test]
    fn a_sample_without_spread_has_an_interval_without_width() {
        let bootstrap = Bootstrap { resamples: 100, ..Bootstrap::default() };
        let flat = [3.0; 8];
        let interval = bootstrap.bca(&flat, |s| mean(s)).unwrap();
        assert_eq!((interval.low, interval.high), (3.0, 3.0));
    }

    #[test]
    fn one_value_and_no_number_are_refused() {
        let bootstrap = Bootstrap::default();
        assert_eq!(median_interval(&[1.0], &bootstrap), Err(Error::TooFew { have: 1, need: 2 }));
        assert!(matches!(
            median_difference_interval(&[1.0, 2.0], &[f64::NAN, 1.0], &bootstrap),
            Err(Error::NotFinite { index: 0, .. })
        ));
        let sure = Bootstrap { confidence: 1.0, ..bootstrap };
        assert_eq!(median_interval(&[1.0, 2.0], &sure), Err(Error::NotAProbability { value: 1.0 }));
    }
}
