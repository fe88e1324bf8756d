//! An axis: its quantity, its range, and the places of its ticks.
//!
//! # How it works
//! Values are mapped to a position first (as they are, or their logarithm), so the frame draws all axes
//! alike. Ticks are 1, 2 or 5 times a power of ten, powers of the base, or one for each name.

use std::ops::Range;

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};

use crate::unit::UnitScale;
use crate::unit::{figures, tick};

/// How many ticks an axis has at most, unless its hint wants fewer.
const TICKS_MAX: usize = 7;

/// An axis of a plot.
#[derive(Debug, Clone)]
pub(crate) struct Axis {
    label: String,
    range: Range<f64>,
    kind: Kind,
    divisor: f64,
}

#[derive(Debug, Clone)]
enum Kind {
    Linear,
    Log {
        base: f64,
    },
    /// With the middle of each
    Names(Vec<(String, f64)>),
}

impl Axis {
    /// Makes an axis that contains `values`, with a little room, in a unit that fits them; `from` is a value that it must
    /// also contain, zero for values that are compared by length.
    pub(crate) fn linear(
        quantity: &str,
        unit: &str,
        values: impl Iterator<Item = f64>,
        from: Option<f64>,
    ) -> Self {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.chain(from).filter(|v| v.is_finite()) {
            low = low.min(value);
            high = high.max(value);
        }
        let scale = UnitScale::fit(unit, low.abs().max(high.abs()));
        let room = match high - low {
            span if span > 0.0 => span * 0.05,
            _ => (high.abs() * 0.05).max(0.5 * scale.divisor),
        };
        let start = if from == Some(low) { low } else { low - room };
        let end = if from == Some(high) && high != low { high } else { high + room };
        Self {
            label: scale.label(quantity),
            range: start / scale.divisor..end / scale.divisor,
            kind: Kind::Linear,
            divisor: scale.divisor,
        }
    }

    /// Makes an axis of powers of `base` that contains `values`, all above zero, in their own unit.
    pub(crate) fn log(
        quantity: &str,
        unit: &str,
        values: impl Iterator<Item = f64>,
        base: f64,
    ) -> Self {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.filter(|v| *v > 0.0) {
            low = low.min(value.log(base));
            high = high.max(value.log(base));
        }
        let room = ((high - low) * 0.05).max(0.1);
        Self {
            label: UnitScale { divisor: 1.0, unit: unit.to_owned() }.label(quantity),
            range: low - room..high + room,
            kind: Kind::Log { base },
            divisor: 1.0,
        }
    }

    /// Makes an axis with a place of width 1 for each name.
    pub(crate) fn names(label: &str, names: Vec<String>) -> Self {
        Self::sized_names(label, names.into_iter().map(|name| (name, 1.0)))
    }

    /// Makes an axis of names, each with as much room as it is given.
    pub(crate) fn sized_names(label: &str, names: impl IntoIterator<Item = (String, f64)>) -> Self {
        let mut end = 0.0;
        let place = |(name, size): (String, f64)| {
            end += size;
            (name, end - size / 2.0)
        };
        let names = names.into_iter().map(place).collect();
        Self { label: label.to_owned(), range: 0.0..end, kind: Kind::Names(names), divisor: 1.0 }
    }

    /// Reverses it, so that the first name of a vertical axis stands on top.
    pub(crate) fn top_down(mut self) -> Self {
        self.range = self.range.end..self.range.start;
        self
    }

    /// Returns its label, with the unit.
    pub(crate) fn label(&self) -> &str {
        &self.label
    }

    /// Returns where `value` stands on it.
    pub(crate) fn place(&self, value: f64) -> f64 {
        match self.kind {
            Kind::Log { base } => value.log(base),
            Kind::Linear | Kind::Names(_) => value / self.divisor,
        }
    }

    /// Returns the longest tick label in characters.
    pub(crate) fn label_chars(&self) -> usize {
        let shown = |at: &f64| self.format_ext(at).chars().count();
        self.ticks(TICKS_MAX).iter().map(shown).max().unwrap_or(0)
    }

    fn span(&self) -> f64 {
        (self.range.end - self.range.start).abs()
    }

    fn ticks(&self, most: usize) -> Vec<f64> {
        let low = self.range.start.min(self.range.end);
        let high = self.range.start.max(self.range.end);
        match &self.kind {
            Kind::Names(names) => names.iter().map(|(_, middle)| *middle).collect(),
            Kind::Linear => steps(low, high, nice_step(self.span(), most)),
            Kind::Log { .. } => {
                let step = (self.span() / most as f64).ceil().max(1.0);
                let whole = steps(low, high, step);
                // Fewer than two powers lie within reach, so some values between them are named.
                if whole.len() >= 2 { whole } else { steps(low, high, nice_step(self.span(), 4)) }
            }
        }
    }
}

/// Returns the multiples of `step` from `low` to `high`.
fn steps(low: f64, high: f64, step: f64) -> Vec<f64> {
    let first = (low / step - 1e-9).ceil() as i64;
    let last = (high / step + 1e-9).floor() as i64;
    (first..=last).map(|i| i as f64 * step).collect()
}

/// Returns 1, 2 or 5 times a power of ten, such that at most `most` steps fit.
fn nice_step(span: f64, most: usize) -> f64 {
    let least = span / most.max(1) as f64;
    let power = 10f64.powf(least.log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0].into_iter().find(|f| f * power >= least * (1.0 - 1e-9));
    factor.unwrap_or(10.0) * power
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let share = (value - self.range.start) / (self.range.end - self.range.start);
        limit.0 + (share * f64::from(limit.1 - limit.0)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        self.ticks(hint.max_num_points().clamp(2, TICKS_MAX))
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}

impl ValueFormatter<f64> for Axis {
    fn format_ext(&self, value: &f64) -> String {
        match &self.kind {
            Kind::Names(names) => {
                let here = names.iter().find(|(_, middle)| middle == value);
                here.map(|(name, _)| name.clone()).unwrap_or_default()
            }
            Kind::Log { base } => figures((base.powf(*value) * 1e6).round() / 1e6),
            Kind::Linear => tick(*value, self.span()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_numbers_within_the_axis() {
        let axis = Axis::linear("time", "s", [0.1312, 0.1398].into_iter(), None);
        assert_eq!(axis.label(), "time (ms)");
        let ticks = axis.ticks(5);
        let shown: Vec<String> = ticks.iter().map(|t| axis.format_ext(t)).collect();
        assert_eq!(shown, ["132.0", "134.0", "136.0", "138.0", "140.0"]);
    }

    #[test]
    fn powers_of_two_stand_at_even_distance() {
        let axis = Axis::log("probes", "", [1024.0, 32768.0].into_iter(), 2.0);
        let shown: Vec<String> = axis.ticks(7).iter().map(|t| axis.format_ext(t)).collect();
        assert_eq!(shown, ["1,024", "2,048", "4,096", "8,192", "16,384", "32,768"]);
    }

    #[test]
    fn names_stand_in_the_middle_of_their_room() {
        let names = [("a".to_owned(), 3.0), ("b".to_owned(), 1.0)];
        let axis = Axis::sized_names("cache", names).top_down();
        assert_eq!(axis.ticks(7), [1.5, 3.5]);
        assert_eq!([1.5, 3.5, 2.0].map(|at| axis.format_ext(&at)), ["a", "b", ""]);
    }

    #[test]
    fn equal_values_still_make_an_axis() {
        let axis = Axis::linear("held", "B", [4096.0, 4096.0].into_iter(), Some(0.0));
        assert!(axis.span() > 0.0);
        let zero = Axis::linear("held", "B", [0.0].into_iter(), Some(0.0));
        assert!(zero.span() > 0.0);
    }
}
