//! Values by metric, as they come line by line.

use super::sample::Sample;

/// The values of several metrics of one variant.
#[derive(Debug, Default)]
pub(super) struct Lines(Vec<(String, String, Vec<f64>)>);

impl Lines {
    pub(super) fn add(&mut self, metric: &str, unit: &str, value: f64) {
        match self.0.iter_mut().find(|(known, of, _)| known == metric && of == unit) {
            Some((_, _, values)) => values.push(value),
            None => self.0.push((metric.to_owned(), unit.to_owned(), vec![value])),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn samples(self, variant: &str) -> Vec<Sample> {
        let sample = |(metric, unit, values): (String, String, Vec<f64>)| {
            Sample::less(variant, &metric, &unit, values)
        };
        self.0.into_iter().map(sample).collect()
    }
}

/// Reads a number as people print it: with commas between thousands, and without a sign of infinity.
pub(super) fn number(word: &str) -> Option<f64> {
    let is_grouped = word.contains(',') && {
        let mut groups = word.split('.').next().unwrap_or(word).split(',');
        groups.next().is_some_and(|first| (1..=3).contains(&first.len()))
            && groups.all(|group| group.len() == 3 && group.bytes().all(|b| b.is_ascii_digit()))
    };
    let plain = if is_grouped { word.replace(',', "") } else { word.to_owned() };
    let has_digit = plain.bytes().any(|byte| byte.is_ascii_digit());
    plain.parse::<f64>().ok().filter(|value| has_digit && value.is_finite())
}
