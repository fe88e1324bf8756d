//! From one sum to another, with a step for each part: where the bytes of a change are saved and where
//! they are spent.
//!
//! # How it works
//! The first bar is the sum before, each further one floats from the end of the one above it, and the last is the sum
//! after. The steps that matter most are shown in the order of their size, the rest as one; so the steps add up to the
//! difference of the sums, whatever is left out.
//!
//! Where the steps are small beside the sums, the axis does not begin at zero: the bars of the sums are then cut,
//! which their paleness and the label of the axis show.

use super::area::{Area, Draw, Drawn};
use super::axis::Axis;
use super::bars::shorten;
use super::width::Width;
use crate::color::Palette;
use crate::unit::human;

/// Steps between two sums.
#[derive(Debug, Clone, Default)]
pub struct Waterfall {
    /// The kind of the steps' names
    pub label: String,
    /// The quantity of the values, with their unit
    pub quantity: (String, String),
    /// The sum before, with its name
    pub from: (String, f64),
    /// The sum after, with its name
    pub to: (String, f64),
    /// The steps, those that are shown in their order
    pub steps: Vec<(String, f64)>,
}

/// Steps shown by name; the rest are one.
const STEPS_MAX: usize = 12;
/// Steps that reach over less than this share of the sums are drawn without the axis' zero.
const REACH_SHARE_MIN: f64 = 0.25;

const LESS: &str = "less";
const MORE: &str = "more";
const SUM: &str = "sum";

/// A bar: its name, its beginning and end, and the text behind it.
struct Bar {
    name: String,
    ends: (f64, f64),
    note: String,
    kind: &'static str,
}

impl Waterfall {
    /// Makes the plot of `parts`, named changes in any order; what they do not explain becomes part of the rest.
    pub fn new(from: (&str, f64), to: (&str, f64), parts: Vec<(String, f64)>) -> Self {
        let mut steps: Vec<_> = parts.into_iter().filter(|(_, change)| *change != 0.0).collect();
        steps.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()).then_with(|| a.0.cmp(&b.0)));
        let others = steps.len().saturating_sub(STEPS_MAX);
        steps.truncate(STEPS_MAX);
        let rest = to.1 - from.1 - steps.iter().map(|(_, change)| change).sum::<f64>();
        if rest != 0.0 || others > 0 {
            let name = if others > 0 { format!("{others} others") } else { "others".to_owned() };
            steps.push((name, rest));
        }
        let named = |(name, value): (&str, f64)| (name.to_owned(), value);
        Self { from: named(from), to: named(to), steps, ..Self::default() }
    }

    fn bars(&self) -> Vec<Bar> {
        let unit = &self.quantity.1;
        let sum = |(name, value): &(String, f64)| Bar {
            name: name.clone(),
            ends: (0.0, *value),
            note: human(*value, unit),
            kind: SUM,
        };
        let mut bars = vec![sum(&self.from)];
        let mut level = self.from.1;
        for (name, change) in &self.steps {
            let (sign, kind) = if *change < 0.0 { ("", LESS) } else { ("+", MORE) };
            let note = format!("{sign}{}", human(*change, unit));
            let ends = (level, level + change);
            bars.push(Bar { name: name.clone(), ends, note, kind });
            level += change;
        }
        bars.push(sum(&self.to));
        bars
    }

    /// Returns the least and the greatest level between steps.
    fn reach(&self) -> (f64, f64) {
        let (mut level, mut low, mut high) = (self.from.1, self.from.1, self.from.1);
        for (_, change) in &self.steps {
            level += change;
            low = low.min(level);
            high = high.max(level);
        }
        (low, high)
    }

    /// Returns where the axis begins: at zero unless the steps would be too small to see.
    fn floor(&self) -> f64 {
        let (low, high) = self.reach();
        match high - low {
            reach if reach > 0.0 && reach < high * REACH_SHARE_MIN => (low - reach * 0.3).max(0.0),
            _ => 0.0,
        }
    }
}

impl Draw for Waterfall {
    fn names(&self) -> Vec<&str> {
        vec![SUM, MORE, LESS]
    }

    fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    fn height(&self, _width: Width) -> u32 {
        130 + 27 * (self.steps.len() as u32 + 2)
    }

    fn draw(&self, area: &Area<'_>, palette: &mut Palette) -> Drawn {
        let (bars, floor) = (self.bars(), self.floor());
        let high = self.reach().1;
        // Room for the number behind the longest bar.
        let end = high + (high - floor) * 0.5;
        let (quantity, unit) = &self.quantity;
        let cut = if floor > 0.0 { ", not from 0" } else { "" };
        let quantity = format!("{quantity}{cut}");
        let x = Axis::linear(&quantity, unit, [floor, end].into_iter(), Some(floor));
        let names = bars.iter().map(|bar| shorten(&bar.name)).collect();
        let y = Axis::names(&self.label, names).top_down();
        let axes = area.axes(&x, &y)?;
        for (at, bar) in bars.iter().enumerate() {
            let (top, bottom) = (at as f64 + 0.15, at as f64 + 0.85);
            let (left, right) = (bar.ends.0.min(bar.ends.1).max(floor), bar.ends.0.max(bar.ends.1));
            let opacity = if bar.kind == SUM && floor > 0.0 { 0.35 } else { 0.85 };
            axes.area((left, top), (right, bottom), palette.color(bar.kind), opacity)?;
            axes.note(&bar.note, (right, at as f64 + 0.5))?;
            if at + 1 < bars.len() {
                axes.rule((bar.ends.1, bottom), (bar.ends.1, bottom + 0.3))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(changes: &[f64]) -> Vec<(String, f64)> {
        changes.iter().enumerate().map(|(i, change)| (format!("site{i}"), *change)).collect()
    }

    #[test]
    fn steps_and_the_rest_add_up_to_the_difference() {
        let changes: Vec<f64> = (0..40).map(|i| f64::from(i * 37 % 41 - 20)).collect();
        let plot = Waterfall::new(("before", 5_000.0), ("after", 4_100.0), parts(&changes));
        assert_eq!(plot.steps.len(), STEPS_MAX + 1);
        assert_eq!(plot.steps.iter().map(|(_, change)| change).sum::<f64>(), -900.0);
        assert_eq!(plot.steps[STEPS_MAX].0, format!("{} others", 39 - STEPS_MAX));
        let bars = plot.bars();
        assert!(bars[1..bars.len() - 1].windows(2).all(|pair| pair[0].ends.1 == pair[1].ends.0));
    }

    #[test]
    fn a_sum_that_its_steps_explain_has_no_rest() {
        let plot = Waterfall::new(("before", 100.0), ("after", 70.0), parts(&[10.0, 0.0, -40.0]));
        let names: Vec<_> = plot.steps.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["site2", "site0"]);
    }

    #[test]
    fn small_steps_move_the_beginning_of_the_axis() {
        let floor = |from, to, changes: &[f64]| {
            Waterfall::new(("a", from), ("b", to), parts(changes)).floor()
        };
        assert_eq!(floor(100.0, 50.0, &[-50.0]), 0.0);
        assert!((floor(100.0, 90.0, &[-10.0]) - 87.0).abs() < 1e-9);
        assert_eq!(floor(0.0, 10.0, &[10.0]), 0.0);
    }
}
