//! Tests of means: Welch's t for independent samples, Student's t for pairs.
//!
//! Sources: Welch: The Generalization of Student's Problem when Several Different Population Variances are Involved,
//! Biometrika 34, 1947; Satterthwaite: An Approximate Distribution of Estimates of Variance Components, 1946.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::{Error, Interval, mean, sample, variance};

/// What a t test says of the difference of means, candidate - baseline.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TTest {
    /// The difference over its standard error
    pub t: f64,
    /// The degrees of freedom
    pub df: f64,
    /// The two-sided p value
    pub p: f64,
    /// The difference of means
    pub difference: f64,
    /// Its interval
    pub interval: Interval,
}

/// Tests the difference of means of two independent samples; `None` when neither has any spread.
///
/// # Errors
///
/// If a sample has fewer than two values or one that is not finite, or `confidence` is no probability.
pub fn welch(baseline: &[f64], candidate: &[f64], confidence: f64) -> Result<Option<TTest>, Error> {
    sample::check(baseline, 2)?;
    sample::check(candidate, 2)?;
    sample::check_probability(confidence)?;
    let (m, n) = (baseline.len() as f64, candidate.len() as f64);
    let (va, vb) = (variance(baseline) / m, variance(candidate) / n);
    let df = (va + vb).powi(2) / (va * va / (m - 1.0) + vb * vb / (n - 1.0));
    Ok(t_test(mean(candidate) - mean(baseline), va + vb, df, confidence))
}

/// Tests the mean difference of pairs; `None` when all differences are equal.
///
/// # Errors
///
/// If there are fewer than two pairs, the sides differ in length, a value is not finite, or `confidence` is no
/// probability.
pub fn paired_t(
    baseline: &[f64],
    candidate: &[f64],
    confidence: f64,
) -> Result<Option<TTest>, Error> {
    sample::check(baseline, 2)?;
    sample::check(candidate, 2)?;
    sample::check_pairs(baseline, candidate)?;
    sample::check_probability(confidence)?;
    let differences: Vec<f64> = candidate.iter().zip(baseline).map(|(c, b)| c - b).collect();
    let n = differences.len() as f64;
    Ok(t_test(mean(&differences), variance(&differences) / n, n - 1.0, confidence))
}

fn t_test(difference: f64, error_squared: f64, df: f64, confidence: f64) -> Option<TTest> {
    if error_squared <= 0.0 {
        return None;
    }
    let error = error_squared.sqrt();
    let t = difference / error;
    let student =
        StudentsT::new(0.0, 1.0, df).expect("df is positive: there are two values or more");
    let reach = student.inverse_cdf(f64::midpoint(1.0, confidence)) * error;
    let interval = Interval { low: difference - reach, high: difference + reach, confidence };
    Some(TTest { t, df, p: (2.0 * student.sf(t.abs())).min(1.0), difference, interval })
}
