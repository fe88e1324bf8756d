//! Finds values that stand far off. They are flagged and never dropped: a slow run is a result too.

use crate::error::Error;
use crate::sample;
use crate::summary::{MAD_TO_SIGMA, mad};
use crate::summary::{mean, median};

/// A value with this modified z score or more is called an outlier.
///
/// Source: Iglewicz, Hoaglin: How to Detect and Handle Outliers, 1993, p. 11 f.
pub const OUTLIER_SCORE: f64 = 3.5;

/// Makes the mean absolute deviation estimate the standard deviation: sqrt(pi / 2). The source is
/// the same.
const MEAN_AD_TO_SIGMA: f64 = 1.253_314_137_315_500_3;

/// Returns for each value whether it stands more than [`OUTLIER_SCORE`] robust deviations from the median.
///
/// When more than half of the values are equal the MAD is zero and tells nothing; the mean absolute
/// deviation replaces it.
///
/// # Errors
///
/// If the sample is empty or has a value that is not a finite number.
pub fn outliers(sample: &[f64]) -> Result<Vec<bool>, Error> {
    sample::check(sample, 1)?;
    let center = median(&mut sample.to_vec());
    let mut sigma = MAD_TO_SIGMA * mad(sample, center);
    if sigma == 0.0 {
        let distances: Vec<f64> = sample.iter().map(|x| (x - center).abs()).collect();
        sigma = MEAN_AD_TO_SIGMA * mean(&distances);
    }
    Ok(sample.iter().map(|x| (x - center).abs() > OUTLIER_SCORE * sigma).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_far_value_is_flagged_and_its_neighbours_are_not() {
        let flags = outliers(&[10.1, 10.0, 9.9, 10.2, 9.8, 10.0, 14.0]).unwrap();
        assert_eq!(flags, [false, false, false, false, false, false, true]);
    }

    #[test]
    fn equal_values_have_no_outlier_among_them() {
        assert_eq!(outliers(&[2.0; 5]).unwrap(), [false; 5]);
        assert!(outliers(&[2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 9.0]).unwrap()[7]);
    }
}
