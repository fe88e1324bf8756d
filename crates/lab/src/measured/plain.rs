//! One value a line, and nothing else.

use super::lines::{Lines, number};
use super::sample::Measured;

/// Lines of a sample, at least.
const VALUES_MIN: usize = 2;

pub(super) fn read(text: &str) -> Option<Result<Measured, String>> {
    let lines =
        text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let values: Vec<f64> = lines.map(number).collect::<Option<_>>()?;
    if values.len() < VALUES_MIN {
        return None;
    }
    if is_counting(&values) {
        return Some(Err("counts its lines, and has no values".to_owned()));
    }
    let mut all = Lines::default();
    values.into_iter().for_each(|value| all.add("value", "", value));
    Some(Ok(Measured::new("one value a line", all.samples(""))))
}

/// Returns whether values number lines: 0 or 1, and one more each time.
pub(super) fn is_counting(values: &[f64]) -> bool {
    const ROWS_MIN: usize = 3;
    values.len() >= ROWS_MIN
        && (values[0] == 0.0 || values[0] == 1.0)
        && values.windows(2).all(|pair| pair[1] == pair[0] + 1.0)
}
