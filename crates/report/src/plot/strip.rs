//! Every sample as a mark, with one column for each variant and the quartiles behind.
//!
//! Marks are moved sideways so that equal values do not hide each other; the amount follows from their order, so that
//! the same samples give the same drawing. Outliers are hollow and stay where they are.

use slablab_stats::{Summary, outliers};

use super::area::{Area, Draw, Drawn, Fill, Mark};
use super::axis::Axis;
use super::width::Width;
use crate::color::Palette;

/// Samples of several groups side by side.
#[derive(Debug, Clone, Default)]
pub struct Strip {
    /// The kind of the groups: variants, hosts
    pub label: String,
    /// The quantity of the values
    pub quantity: String,
    /// Their unit
    pub unit: String,
    /// The groups
    pub groups: Vec<Group>,
}

/// The samples of one group.
#[derive(Debug, Clone, Default)]
pub struct Group {
    /// Its name
    pub name: String,
    /// Its samples, in the order in which they were taken
    pub values: Vec<f64>,
}

/// How far marks go from the middle of their column at most.
const REACH: f64 = 0.32;

impl Draw for Strip {
    fn is_empty(&self) -> bool {
        self.groups.iter().all(|group| group.values.is_empty())
    }

    fn height(&self, width: Width) -> u32 {
        if width == Width::Wide { 340 } else { 300 }
    }

    fn draw(&self, area: &Area<'_>, palette: &mut Palette) -> Drawn {
        let names = self.groups.iter().map(|g| g.name.clone()).collect();
        let x = Axis::names(&self.label, names);
        let all = self.groups.iter().flat_map(|g| g.values.iter().copied());
        let y = Axis::linear(&self.quantity, &self.unit, all, None);
        let axes = area.axes(&x, &y)?;
        for (at, group) in self.groups.iter().enumerate() {
            let (Ok(summary), Ok(flags)) = (Summary::of(&group.values), outliers(&group.values))
            else {
                continue;
            };
            let (middle, color) = (at as f64 + 0.5, palette.color(&group.name));
            let (left, right) = (middle - REACH - 0.06, middle + REACH + 0.06);
            axes.area((left, summary.q3), (right, summary.q1), color, 0.12)?;
            axes.line(&[(left, summary.median), (right, summary.median)], color, 2.5)?;
            for (i, (value, outlier)) in group.values.iter().zip(flags).enumerate() {
                let fill = if outlier { Fill::Hollow } else { Fill::Full };
                let radius = if group.values.len() > 100 { 2.0 } else { 3.0 };
                axes.mark((middle + REACH * sideways(i), *value), Mark { color, radius, fill })?;
            }
        }
        Ok(())
    }
}

/// Returns a number in -1..1 for the i-th mark: multiples of the golden ratio never crowd.
fn sideways(i: usize) -> f64 {
    (i as f64 * 0.618_033_988_749_895).fract() * 2.0 - 1.0
}
