//! The checks that every function makes before it computes.

use crate::Error;

/// Checks that `sample` has at least `need` values, all finite.
pub(crate) fn check(sample: &[f64], need: usize) -> Result<(), Error> {
    if sample.len() < need {
        return Err(Error::TooFew { have: sample.len(), need });
    }
    match sample.iter().position(|x| !x.is_finite()) {
        Some(index) => Err(Error::NotFinite { index, value: sample[index] }),
        None => Ok(()),
    }
}

/// Checks that `p` lies strictly between 0 and 1.
pub(crate) fn check_probability(p: f64) -> Result<(), Error> {
    if p > 0.0 && p < 1.0 { Ok(()) } else { Err(Error::NotAProbability { value: p }) }
}
