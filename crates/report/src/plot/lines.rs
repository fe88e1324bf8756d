//! Lines over a number: memory over time, seconds by CPUs, nanoseconds by probes.
//!
//! A point may have a spread, drawn as a bar through it. Long series are thinned to the least and the greatest value of
//! each stretch, so that no peak is lost.

use super::area::{Area, Draw, Drawn, Fill, Mark};
use super::axis::Axis;
use super::width::Width;
use crate::color::Palette;

/// Lines of several variants over one number.
#[derive(Debug, Clone)]
pub struct Lines {
    /// The quantity of the horizontal axis, with its unit
    pub x: (String, String),
    /// The quantity of the vertical axis, with its unit
    pub y: (String, String),
    /// How values are placed on the horizontal axis
    pub x_scale: AxisScale,
    /// How values are placed on the vertical axis
    pub y_scale: AxisScale,
    /// The lines
    pub series: Vec<Series>,
}

/// How an axis places its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AxisScale {
    /// Evenly
    Linear,
    /// Evenly, and zero is shown
    FromZero,
    /// By powers of two
    Log2,
    /// By powers of ten
    Log10,
}

/// One line.
#[derive(Debug, Clone, Default)]
pub struct Series {
    /// Its name
    pub name: String,
    /// Its points, from left to right
    pub points: Vec<Point>,
}

/// A point of a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Where
    pub x: f64,
    /// How much
    pub y: f64,
    /// From where to where it may be, if that is known
    pub spread: Option<(f64, f64)>,
}

/// More points than this tell nothing more on a screen.
const POINTS_MAX: usize = 600;
/// Up to this many points each get a mark of their own.
const MARKS_MAX: usize = 40;

impl Draw for Lines {
    fn names(&self) -> Vec<&str> {
        self.series.iter().map(|series| series.name.as_str()).collect()
    }

    fn is_empty(&self) -> bool {
        self.series.iter().all(|series| series.points.is_empty())
    }

    fn height(&self, width: Width) -> u32 {
        if width == Width::Wide { 360 } else { 320 }
    }

    fn draw(&self, area: &Area<'_>, palette: &mut Palette) -> Drawn {
        let points = || self.series.iter().flat_map(|series| &series.points);
        let x = axis(&self.x, self.x_scale, points().map(|p| p.x));
        let y = axis(&self.y, self.y_scale, points().flat_map(Point::heights));
        let axes = area.axes(&x, &y)?;
        for series in &self.series {
            let color = palette.color(&series.name);
            let line: Vec<_> = thin(&series.points).iter().map(|p| (p.x, p.y)).collect();
            axes.line(&line, color, 2.0)?;
            for point in &series.points {
                if let Some((low, high)) = point.spread {
                    axes.line(&[(point.x, low), (point.x, high)], color, 1.5)?;
                }
            }
            // A long line has a few marks too: their shape tells it apart where colours do not.
            let every = series.points.len().div_ceil(MARKS_MAX).max(1);
            let every = if every > 1 { series.points.len().div_ceil(8) } else { 1 };
            for point in series.points.iter().step_by(every) {
                let mark = Mark { color, radius: 3.5, fill: Fill::Full };
                axes.mark((point.x, point.y), mark)?;
            }
        }
        Ok(())
    }
}

impl Point {
    fn heights(&self) -> [f64; 3] {
        let (low, high) = self.spread.unwrap_or((self.y, self.y));
        [low, self.y, high]
    }
}

fn axis(
    (quantity, unit): &(String, String),
    place: AxisScale,
    values: impl Iterator<Item = f64>,
) -> Axis {
    match place {
        AxisScale::Linear => Axis::linear(quantity, unit, values, None),
        AxisScale::FromZero => Axis::linear(quantity, unit, values, Some(0.0)),
        AxisScale::Log2 => Axis::log(quantity, unit, values, 2.0),
        AxisScale::Log10 => Axis::log(quantity, unit, values, 10.0),
    }
}

/// Keeps the first and the last point, and the least and the greatest of each stretch.
fn thin(points: &[Point]) -> Vec<Point> {
    if points.len() <= POINTS_MAX {
        return points.to_vec();
    }
    let stretch = points.len().div_ceil(POINTS_MAX / 2);
    let mut kept = Vec::with_capacity(POINTS_MAX + 2);
    kept.push(points[0]);
    for chunk in points.chunks(stretch) {
        let by_height = |a: &&Point, b: &&Point| a.y.total_cmp(&b.y);
        let (Some(low), Some(high)) =
            (chunk.iter().min_by(by_height), chunk.iter().max_by(by_height))
        else {
            continue;
        };
        let (first, second) = if low.x <= high.x { (low, high) } else { (high, low) };
        kept.extend([*first, *second]);
    }
    kept.push(points[points.len() - 1]);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinning_keeps_the_peak() {
        let mut points: Vec<Point> =
            (0..100_000).map(|i| Point { x: f64::from(i), y: 1.0, spread: None }).collect();
        points[77_777].y = 9.0;
        let kept = thin(&points);
        assert!(kept.len() <= POINTS_MAX + 2);
        assert!(kept.iter().any(|p| p.y == 9.0 && p.x == 77_777.0));
    }
}
