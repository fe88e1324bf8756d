//! The checks that every function makes before it computes.

use crate::error::Error;

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

/// Checks that there are as many values on both sides, `need` at least, all finite.
pub(crate) fn check_pairs(baseline: &[f64], candidate: &[f64], need: usize) -> Result<(), Error> {
    check(baseline, need)?;
    check(candidate, need)?;
    match (baseline.len(), candidate.len()) {
        (a, b) if a == b => Ok(()),
        (baseline, candidate) => Err(Error::Unpaired { baseline, candidate }),
    }
}

/// Returns candidate - baseline of each pair; there must be one at least.
pub(crate) fn differences(baseline: &[f64], candidate: &[f64]) -> Result<Vec<f64>, Error> {
    check_pairs(baseline, candidate, 1)?;
    Ok(candidate.iter().zip(baseline).map(|(c, b)| c - b).collect())
}

/// Differences less far apart than this share of the largest value count as one: rounding alone may tell equal ones
/// apart.
const ROUNDING: f64 = 1e-12;

/// Makes those `sizes` of differences equal that only rounding tells apart, and those 0 that rounding alone has made;
/// `largest` is the largest of the values that were subtracted, without its sign.
///
/// In doubles 0.3 - 0.2 is not 0.2 - 0.1, and ln 6 - ln 2 is not ln 3 - ln 1. In tenths the first two are equal, and p must
/// not depend on the unit.
pub(crate) fn level(sizes: &mut [f64], largest: f64) {
    let apart = largest * ROUNDING;
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by(|&i, &j| sizes[i].total_cmp(&sizes[j]));
    let mut least = 0.0;
    for i in order {
        if sizes[i] - least > apart {
            least = sizes[i];
        }
        sizes[i] = least;
    }
}

/// Returns the ranks of `values` (ties share their mean rank, from 1) and the sum of t^3 - t over the ties.
///
/// The correction term is that of Hollander, Wolfe, Chicken: Nonparametric Statistical Methods, 3rd ed., 4.1.
pub(crate) fn ranks(values: &[f64]) -> (Vec<f64>, f64) {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&i, &j| values[i].total_cmp(&values[j]));
    let mut ranks = vec![0.0; values.len()];
    let mut ties = 0.0;
    let mut start = 0;
    while start < order.len() {
        let value = values[order[start]];
        let mut end = start + 1;
        // The comparison is == and not total_cmp: -0.0 and 0.0 are a tie.
        while end < order.len() && values[order[end]] == value {
            end += 1;
        }
        let size = (end - start) as f64;
        for &i in &order[start..end] {
            ranks[i] = (start + 1 + end) as f64 / 2.0;
        }
        ties += size * size * size - size;
        start = end;
    }
    (ranks, ties)
}
