//! Whether a series rises over its whole length: a slope with its interval, told from chance, steps and waves.
//!
//! # How it works
//! The series is cut into at most [`BLOCKS_MAX`] blocks of equal time; the median of each stands for it, so that spikes and
//! short dips do not count. The slope is the median of the slopes of all pairs (Theil 1950, Sen 1968); its interval is
//! given by the order statistics that Kendall's test gives (Sen 1968). A rise is shown where that test has p below
//! [`P_MAX`]. With enough blocks a straight line has to explain the series better than shifts of the level alone do (steps,
//! dips), by the Bayesian information criterion. Where a period is known and was passed twice, all models have a wave of
//! it. The standard error of the line's slope is widened by the correlation of neighbouring residuals.
//!
//! # What it cannot tell
//! It cannot tell a rise that is part of a wave with less than two periods in the series, nor a rise
//! that will end.

use statrs::distribution::{ContinuousCDF, Normal};

use crate::summary::median;

/// Blocks that stand for a series.
const BLOCKS_MAX: usize = 48;
/// A trend is shown below this p of a test on both sides.
const P_MAX: f64 = 0.02;
/// Up to this number of values the test of ranks is exact: the normal distribution finds no rise in five that all rise.
const EXACT_MAX: usize = 10;
/// Models are compared from this many blocks on.
const BLOCKS_FOR_MODELS: usize = 12;
/// A slope counts from this many standard errors on.
const ERRORS_MIN: f64 = 4.0;
/// Waves of the period and of half of it.
const HARMONICS: usize = 2;
/// A wave is looked for from this many blocks on.
const BLOCKS_FOR_WAVES: usize = 24;
/// With fewer blocks in a period its waves look alike, and none can be told from another.
const BLOCKS_PER_PERIOD_MIN: f64 = (2 * HARMONICS + 2) as f64;
/// The criterion of a line has to be less by this much; 6 is strong evidence (Kass and Raftery
/// 1995).
const CRITERION_MIN: f64 = 6.0;
/// Shifts of the level that a model may have.
const SHIFTS_MAX: usize = 3;

/// The direction of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrendKind {
    /// It rises
    Rises,
    /// It falls
    Falls,
    /// Neither is shown
    None,
}

/// A slope, and whether it is more than chance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trend {
    /// The direction of the series
    pub kind: TrendKind,
    /// Its change in a unit of x
    pub slope: f64,
    /// The lower end of the interval of 95 %
    pub low: f64,
    /// Its upper end
    pub high: f64,
}

/// Returns the trend of points whose x rises; `period` is that of a wave which may be in it.
///
/// A series of fewer than two points, or whose x stands still, has no trend.
#[must_use]
pub fn trend(points: &[(f64, f64)], period: Option<f64>) -> Trend {
    let blocks = blocks(points);
    let mut slopes = slopes(&blocks);
    let none = Trend { kind: TrendKind::None, slope: 0.0, low: 0.0, high: 0.0 };
    if slopes.is_empty() {
        return none;
    }
    let (low, high) = interval(&slopes, blocks.len());
    let slope = median(&mut slopes);
    let mut kind = match (kendall_p(&slopes, blocks.len()) < P_MAX, slope) {
        (true, slope) if slope > 0.0 => TrendKind::Rises,
        (true, slope) if slope < 0.0 => TrendKind::Falls,
        _ => TrendKind::None,
    };
    let mut trend = Trend { kind, slope, low, high };
    if blocks.len() >= BLOCKS_FOR_MODELS {
        let span = blocks[blocks.len() - 1].0 - blocks[0].0;
        // Blocks end half a block before the series does.
        let span = span * (1.0 + 1.0 / blocks.len() as f64);
        let wave = period.filter(|period| {
            let blocks_per_period = blocks.len() as f64 * period / span;
            span >= 1.9 * period && blocks_per_period >= BLOCKS_PER_PERIOD_MIN
        });
        let wave = wave.filter(|_| blocks.len() >= BLOCKS_FOR_WAVES);
        // Of few blocks a line explains much by chance: then the rank test has to agree, which a wave would deceive.
        let is_shown = blocks.len() >= BLOCKS_FOR_WAVES || kind != TrendKind::None;
        if let Some(line) = explained_by_line(&blocks, wave).filter(|_| is_shown) {
            // A wave hides a small rise from a rank test.
            kind = if line.slope > 0.0 { TrendKind::Rises } else { TrendKind::Falls };
            trend = match wave {
                Some(_) => Trend {
                    kind,
                    slope: line.slope,
                    low: line.slope - 1.96 * line.error,
                    high: line.slope + 1.96 * line.error,
                },
                None => Trend { kind, ..trend },
            };
        } else {
            trend.kind = TrendKind::None;
        }
    }
    trend
}

/// Returns the blocks: the middle of their time, and the median of their values.
fn blocks(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let [first, .., last] = points else { return points.to_vec() };
    let span = last.0 - first.0;
    if points.len() <= BLOCKS_MAX || span <= 0.0 {
        return points.to_vec();
    }
    let block = |x: f64| (((x - first.0) / span * BLOCKS_MAX as f64) as usize).min(BLOCKS_MAX - 1);
    let of_block = |points: &[(f64, f64)]| {
        let mut xs: Vec<f64> = points.iter().map(|point| point.0).collect();
        let mut ys: Vec<f64> = points.iter().map(|point| point.1).collect();
        (median(&mut xs), median(&mut ys))
    };
    points.chunk_by(|a, b| block(a.0) == block(b.0)).map(of_block).collect()
}

/// Returns the slopes of all pairs, in order.
fn slopes(points: &[(f64, f64)]) -> Vec<f64> {
    let mut slopes = Vec::with_capacity(points.len() * points.len() / 2);
    for (at, a) in points.iter().enumerate() {
        let pairs = points[at + 1..].iter().filter(|b| b.0 > a.0);
        slopes.extend(pairs.map(|b| (b.1 - a.1) / (b.0 - a.0)));
    }
    slopes.retain(|slope| slope.is_finite());
    slopes.sort_by(f64::total_cmp);
    slopes
}

/// Returns the standard deviation of Kendall's S of `n` values without ties.
fn deviation(n: usize) -> f64 {
    let n = n as f64;
    (n * (n - 1.0) * (2.0 * n + 5.0) / 18.0).sqrt()
}

/// Returns p of Kendall's test that there is no trend. A pair of equal values counts for none.
fn kendall_p(slopes: &[f64], n: usize) -> f64 {
    let up = slopes.iter().filter(|slope| **slope > 0.0).count();
    let down = slopes.iter().filter(|slope| **slope < 0.0).count();
    if n <= EXACT_MAX {
        let against = up.min(down) + (n * (n - 1) / 2).saturating_sub(up + down);
        return (2.0 * orders_with(against, n)).min(1.0);
    }
    // The correction for continuity.
    let score = ((up as f64 - down as f64).abs() - 1.0).max(0.0) / deviation(n);
    let normal = Normal::standard();
    2.0 * normal.sf(score)
}

/// Returns the share of the orders of `n` values that have at most this number of inversions (Kendall 1938).
fn orders_with(inversions: usize, n: usize) -> f64 {
    // The k-th value adds between none and k inversions to each order of those before it.
    let mut shares = vec![1.0];
    for k in 1..n {
        let mut next = vec![0.0; shares.len() + k];
        for (at, share) in shares.iter().enumerate() {
            next[at..=at + k].iter_mut().for_each(|of| *of += share / (k + 1) as f64);
        }
        shares = next;
    }
    shares.iter().take(inversions + 1).sum()
}

/// Returns the interval of 95 % of the median of the slopes.
fn interval(slopes: &[f64], n: usize) -> (f64, f64) {
    let pairs = slopes.len() as f64;
    let reach = 1.96 * deviation(n);
    let at = |place: f64| slopes[(place.max(0.0) as usize).min(slopes.len() - 1)];
    (at(((pairs - reach) / 2.0).floor()), at(((pairs + reach) / 2.0).ceil()))
}

/// The slope of a line through points, and its standard error.
struct Line {
    slope: f64,
    error: f64,
}

/// Returns the line if it explains the points better than shifts do, and its slope is more than chance.
fn explained_by_line(points: &[(f64, f64)], period: Option<f64>) -> Option<Line> {
    let n = points.len();
    let ys: Vec<f64> = points.iter().map(|point| point.1).collect();
    let (start, span) = (points[0].0, points[n - 1].0 - points[0].0);
    let mut columns = vec![vec![1.0; n]];
    if let Some(period) = period {
        for harmonic in 1..=HARMONICS {
            let turn = std::f64::consts::TAU * harmonic as f64 / period;
            columns.push(points.iter().map(|(x, _)| (x * turn).sin()).collect());
            columns.push(points.iter().map(|(x, _)| (x * turn).cos()).collect());
        }
    }
    let flat = Model::new(&columns, &ys);
    columns.push(points.iter().map(|(x, _)| (x - start) / span).collect());
    let straight = Model::new(&columns, &ys);
    let others = with_shifts(flat).iter().map(Model::criterion).fold(f64::INFINITY, f64::min);
    let lines = with_shifts(straight);
    let best = lines.iter().min_by(|a, b| a.criterion().total_cmp(&b.criterion()))?;
    if best.criterion() + CRITERION_MIN >= others {
        return None;
    }
    let place = columns.len() - 1;
    columns.extend(best.shifts.iter().cloned());
    let fit = fit(&columns, &ys)?;
    let (slope, error) = (fit.of[place], fit.error(place, n));
    let is_shown = slope.abs() > ERRORS_MIN * error;
    is_shown.then_some(Line { slope: slope / span, error: error / span })
}

/// Returns a model, and the same model with one shift and with more.
fn with_shifts(model: Model) -> Vec<Model> {
    let mut models = vec![model];
    for _ in 0..SHIFTS_MAX {
        let Some(next) = models[models.len() - 1].with_best_shift() else { break };
        models.push(next);
    }
    models
}

/// An explanation of a series: an orthonormal base, and the rest that it leaves.
#[derive(Clone)]
struct Model {
    base: Vec<Vec<f64>>,
    rest: Vec<f64>,
    /// Spans in which the level differs: a step lasts to the end, a dip does not
    shifts: Vec<Vec<f64>>,
    /// The least that rounding leaves of the rest
    squares_min: f64,
}

impl Model {
    fn new(columns: &[Vec<f64>], ys: &[f64]) -> Self {
        let squares_min = f64::EPSILON * dot(ys, ys).max(f64::MIN_POSITIVE);
        let mut model =
            Self { base: Vec::new(), rest: ys.to_vec(), shifts: Vec::new(), squares_min };
        columns.iter().for_each(|column| model.push(column));
        model
    }

    /// Takes a column into the base, unless that spans it already.
    fn push(&mut self, column: &[f64]) {
        let mut new = column.to_vec();
        for known in &self.base {
            let along = dot(&new, known);
            new.iter_mut().zip(known).for_each(|(value, by)| *value -= along * by);
        }
        let length = dot(&new, &new).sqrt();
        if length < 1e-6 {
            return;
        }
        new.iter_mut().for_each(|value| *value /= length);
        let along = dot(&self.rest, &new);
        self.rest.iter_mut().zip(&new).for_each(|(value, by)| *value -= along * by);
        self.base.push(new);
    }

    /// Returns the Bayesian information criterion. A shift has three parameters: where it begins and ends, and its height.
    fn criterion(&self) -> f64 {
        let n = self.rest.len() as f64;
        let parameters = self.base.len() + 2 * self.shifts.len();
        let squares = dot(&self.rest, &self.rest).max(self.squares_min);
        n * (squares / n).ln() + parameters as f64 * n.ln()
    }

    /// Returns the model with the shift that leaves the least rest. The part of a span that lies in the base, and in
    /// the rest, is a difference of two running sums, so that each span takes as many steps as the base has columns.
    fn with_best_shift(&self) -> Option<Self> {
        let n = self.rest.len();
        let sums = |values: &Vec<f64>| {
            let mut sum = 0.0;
            let running = values.iter().map(|value| {
                sum += value;
                sum
            });
            std::iter::once(0.0).chain(running).collect::<Vec<f64>>()
        };
        let of_base: Vec<Vec<f64>> = self.base.iter().map(sums).collect();
        let of_rest = sums(&self.rest);
        let mut best = (0.0, 0, 0);
        for from in 1..n {
            for to in from + 1..=n {
                let along: f64 = of_base.iter().map(|sum| (sum[to] - sum[from]).powi(2)).sum();
                let own = (to - from) as f64 - along;
                let explained = (of_rest[to] - of_rest[from]).powi(2) / own;
                if own > 1e-6 && explained > best.0 {
                    best = (explained, from, to);
                }
            }
        }
        let (_, from, to) = best;
        if to == 0 {
            return None;
        }
        let shift: Vec<f64> =
            (0..n).map(|at| if (from..to).contains(&at) { 1.0 } else { 0.0 }).collect();
        let mut model = self.clone();
        model.push(&shift);
        model.shifts.push(shift);
        Some(model)
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// A fit by least squares.
struct Fit {
    of: Vec<f64>,
    /// The diagonal of the inverse of the normal equations
    spread: Vec<f64>,
    squares: f64,
    /// Correlation of neighbouring residuals
    correlation: f64,
}

impl Fit {
    /// Returns the standard error of a coefficient; residuals that follow each other count for fewer.
    fn error(&self, at: usize, n: usize) -> f64 {
        let free = (n - self.of.len()).max(1) as f64;
        let widened = (1.0 + self.correlation) / (1.0 - self.correlation);
        (self.squares / free * self.spread[at].max(0.0) * widened).sqrt()
    }
}

/// Fits `ys` by a sum of `columns`; `None` where columns depend on each other.
fn fit(columns: &[Vec<f64>], ys: &[f64]) -> Option<Fit> {
    let k = columns.len();
    // The normal equations beside the identity, by Gauss and Jordan.
    let mut rows: Vec<Vec<f64>> = Vec::with_capacity(k);
    for (i, a) in columns.iter().enumerate() {
        let mut row: Vec<f64> = columns.iter().map(|b| dot(a, b)).collect();
        row.push(dot(a, ys));
        row.extend((0..k).map(|j| if i == j { 1.0 } else { 0.0 }));
        rows.push(row);
    }
    for i in 0..k {
        let pivot = (i..k).max_by(|a, b| rows[*a][i].abs().total_cmp(&rows[*b][i].abs()))?;
        rows.swap(i, pivot);
        let scale = rows[i][i];
        if scale.abs() < 1e-9 {
            return None;
        }
        rows[i].iter_mut().for_each(|value| *value /= scale);
        let pivot = rows[i].clone();
        for (_, row) in rows.iter_mut().enumerate().filter(|(j, _)| *j != i) {
            let times = row[i];
            row.iter_mut().zip(&pivot).for_each(|(value, by)| *value -= times * by);
        }
    }
    let of: Vec<f64> = rows.iter().map(|row| row[k]).collect();
    let spread = (0..k).map(|i| rows[i][k + 1 + i]).collect();
    let residual =
        |at: usize| ys[at] - columns.iter().zip(&of).map(|(c, times)| c[at] * times).sum::<f64>();
    let residuals: Vec<f64> = (0..ys.len()).map(residual).collect();
    let squares = dot(&residuals, &residuals);
    let neighbours = dot(&residuals[..residuals.len() - 1], &residuals[1..]);
    let correlation = if squares > 0.0 { (neighbours / squares).clamp(0.0, 0.95) } else { 0.0 };
    Some(Fit { of, spread, squares, correlation })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;

    /// Samples of two days at a minute.
    const SAMPLES: usize = 2 * 24 * 60;
    const DAY: f64 = 86_400.0;

    /// Returns a number between -1 and 1 that is near 0 more often than not.
    fn noise(rng: &mut Rng) -> f64 {
        (0..4).map(|_| rng.unit() - 0.5).sum::<f64>() / 2.0
    }

    /// Makes a series with noise, a daily wave, steps and a dip, which rises by `rise` of its level a day.
    fn series(rng: &mut Rng, rise: f64) -> Vec<(f64, f64)> {
        let (level, loud) = (1e6 * (1.0 + rng.unit() * 99.0), rng.unit() * 0.03);
        let (wave, phase) = (rng.unit() * 0.1, rng.unit() * std::f64::consts::TAU);
        let mut steps = Vec::new();
        if rise == 0.0 {
            for _ in 0..(rng.unit() * 3.0) as usize {
                steps.push((rng.unit() * 2.0 * DAY, (rng.unit() - 0.5) * 0.3));
            }
        }
        let (dip, length) = (rng.unit() * 2.0 * DAY, rng.unit() * 3_600.0 * 3.0);
        let depth = rng.unit() * 0.3;
        (0..SAMPLES)
            .map(|at| {
                let x = at as f64 * 60.0;
                let mut y = 1.0 + rise * x / DAY + loud * noise(rng);
                y += wave * (std::f64::consts::TAU * x / DAY + phase).sin();
                y += steps.iter().filter(|(when, _)| x > *when).map(|(_, high)| high).sum::<f64>();
                if (dip..dip + length).contains(&x) {
                    y -= depth;
                }
                (x, level * y)
            })
            .collect()
    }

    #[test]
    fn of_flat_series_few_are_called_rising_and_of_leaks_nearly_all() {
        let mut rng = Rng::new(7);
        let rises = |series: &[(f64, f64)]| trend(series, Some(DAY)).kind == TrendKind::Rises;
        let flat = (0..2_000).filter(|_| rises(&series(&mut rng, 0.0))).count();
        let leaks = (0..500).filter(|_| rises(&series(&mut rng, 0.01))).count();
        assert!(flat <= 100 && leaks >= 475, "{flat} of 2,000 flat series, {leaks} of 500 leaks");
    }

    /// Twelve moments twelve hours apart, of a cache that doubled, showed no growth: a wave of a day has one value there.
    #[test]
    fn a_rise_is_seen_in_moments_that_are_hours_apart() {
        let mut rng = Rng::new(11);
        for hours in [3.0, 6.0, 8.0, 12.0, 24.0] {
            for moments in [12, 16, 24, 40] {
                let mut rises = |times: f64| {
                    let points: Vec<_> = (0..moments)
                        .map(|at| {
                            let part = f64::from(at) / f64::from(moments - 1);
                            let y = 1.0 + times * part + 0.02 * noise(&mut rng);
                            (f64::from(at) * hours * 3_600.0, 4e7 * y)
                        })
                        .collect();
                    trend(&points, Some(DAY)).kind == TrendKind::Rises
                };
                let found = (0..100).filter(|_| rises(1.0)).count();
                let wrong = (0..1_000).filter(|_| rises(0.0)).count();
                assert!(found >= 95 && wrong <= 50, "{moments} x {hours} h: {found}, {wrong}");
            }
        }
    }

    /// Five moments were asked for, and of five that rise throughout none was said to grow.
    #[test]
    fn five_values_that_rise_throughout_are_a_rise_and_four_are_not() {
        let kind = |ys: &[f64]| {
            let points: Vec<_> = (0..).zip(ys).map(|(x, y)| (f64::from(x), *y)).collect();
            trend(&points, None).kind
        };
        assert_eq!(kind(&[1.0, 2.0, 3.0, 4.0, 5.0]), TrendKind::Rises);
        assert_eq!(kind(&[5.0, 4.0, 3.0, 2.0, 1.0]), TrendKind::Falls);
        assert_eq!(kind(&[1.0, 2.0, 3.0, 4.0]), TrendKind::None);
        assert_eq!(kind(&[1.0, 2.0, 3.0, 5.0, 4.0]), TrendKind::None);
        assert_eq!(kind(&[1.0, 2.0, 3.0, 4.0, 4.0]), TrendKind::None);
        // Of six orders of three values one has no inversion, and three have at most one.
        assert!((orders_with(0, 3) - 1.0 / 6.0).abs() < 1e-12);
        assert!((orders_with(1, 3) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn a_dip_does_not_hide_a_rise_and_few_points_show_none() {
        let points =
            |ys: &[f64]| ys.iter().enumerate().map(|(x, y)| (x as f64, *y)).collect::<Vec<_>>();
        let rise = trend(&points(&[1.0, 2.0, 3.0, 4.0, 3.9, 5.0, 6.0, 7.0]), None);
        assert_eq!(rise.kind, TrendKind::Rises);
        assert!(rise.low > 0.0 && (0.8..=1.0).contains(&rise.slope), "{rise:?}");
        assert_eq!(trend(&points(&[1.0, 2.0, 3.0]), None).kind, TrendKind::None);
        assert_eq!(trend(&points(&[5.0; 40]), None).kind, TrendKind::None);
        assert_eq!(trend(&[], None).kind, TrendKind::None);
        let step: Vec<f64> = (0..40).map(|x| if x < 20 { 1.0 } else { 2.0 }).collect();
        assert_eq!(trend(&points(&step), None).kind, TrendKind::None, "a step is no growth");
    }
}
