//! Tests of means: Welch's t for independent samples, Student's t for pairs.
//!
//! How it works: the values are first brought near 1 by a power of two, so that no square overflows or vanishes; the
//! answer is scaled back.
//!
//! Sources: Welch: The Generalization of Student's Problem when Several Different Population Variances are Involved,
//! Biometrika 34, 1947; Satterthwaite: An Approximate Distribution of Estimates of Variance Components, 1946.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::bootstrap::Interval;
use crate::error::Error;
use crate::sample;
use crate::summary::PowerOfTwo;
use crate::summary::{mean, variance};

/// What a t test says of the difference of means, candidate - baseline.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema, Deserialize)]
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
    let scale = PowerOfTwo::of(baseline.iter().chain(candidate));
    let (a, b) = (scale.apply(baseline), scale.apply(candidate));
    let (m, n) = (a.len() as f64, b.len() as f64);
    let (va, vb) = (variance(&a) / m, variance(&b) / n);
    let df = (va + vb).powi(2) / (va * va / (m - 1.0) + vb * vb / (n - 1.0));
    Ok(t_test(mean(&b) - mean(&a), va + vb, df, confidence, scale))
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
    sample::check_probability(confidence)?;
    sample::check_pairs(baseline, candidate, 2)?;
    let scale = PowerOfTwo::of(baseline.iter().chain(candidate));
    let (a, b) = (scale.apply(baseline), scale.apply(candidate));
    let differences: Vec<f64> = b.iter().zip(a).map(|(c, b)| c - b).collect();
    let n = differences.len() as f64;
    Ok(t_test(mean(&differences), variance(&differences) / n, n - 1.0, confidence, scale))
}

/// Makes the test of a `difference` with the square of its standard error, both scaled.
fn t_test(
    difference: f64,
    error_squared: f64,
    df: f64,
    confidence: f64,
    scale: PowerOfTwo,
) -> Option<TTest> {
    // Squares that vanish, or a df that is not a number: as good as no spread.
    if error_squared <= 0.0 || df.is_nan() || df <= 0.0 {
        return None;
    }
    let error = error_squared.sqrt();
    let t = difference / error;
    let student = StudentsT::new(0.0, 1.0, df).ok()?;
    let reach = student.inverse_cdf(f64::midpoint(1.0, confidence)) * error;
    let interval = Interval {
        low: scale.back(difference - reach),
        high: scale.back(difference + reach),
        confidence,
    };
    let p = (2.0 * student.sf(t.abs())).min(1.0);
    Some(TTest { t, df, p, difference: scale.back(difference), interval })
}
