//! Whether a series rises over its whole length: a slope with its interval, told from chance, steps, waves and reclaims.
//!
//! # How it works
//! The series is cut into at most [`BLOCKS_MAX`] blocks of equal time; the median of each stands for it, so that spikes and
//! short dips do not count. The slope is the median of the slopes of all pairs (Theil 1950, Sen 1968), or that of a line over
//! a wave. Kendall's test of ranks decides alone where values are few, as all of them have to be in order. With more of them
//! it takes values for independent, which memory is not. Then the slope has to exceed its error besides, which [`slope`]
//! finds of values that follow their neighbours, or are a random walk. Short dips are left out of that error, and steps are
//! not, since memory that climbs and is taken back has both. With enough blocks a straight line has to explain the series
//! better than shifts of the level alone do (steps, dips), by the Bayesian information criterion. Where a period is known and
//! was passed about three times, all models have a wave of it. Before that, a wave alone must not explain the series.
//!
//! # What it cannot tell
//! It cannot tell a rise that is part of a wave with less than one period in the series, or of one that it does not know, nor a
//! rise that will end.

use statrs::distribution::{ContinuousCDF, Normal};

use crate::explanation::{Model, with_shifts};
use crate::regression::{Slope, slope};
use crate::summary::median;

/// Blocks that stand for a series.
const BLOCKS_MAX: usize = 48;
/// A trend is shown below this p of a test on both sides.
const P_MAX: f64 = 0.02;
/// Up to this number of values the test of ranks is exact: the normal distribution finds no rise in five that all rise.
const EXACT_MAX: usize = 10;
/// From this many blocks on a slope has to exceed its error.
const BLOCKS_FOR_ERRORS: usize = 8;
/// Models are compared from this many blocks on.
const BLOCKS_FOR_MODELS: usize = 12;
/// A slope of these counts from this many standard errors on.
const ERRORS_MIN: f64 = 4.0;
/// And of fewer blocks, whose correlation is little known, from this many on.
const ERRORS_MIN_FEW: f64 = 5.0;
/// Waves of the period and of its parts.
const HARMONICS: usize = 2;
/// A wave is looked for from this many blocks on.
const BLOCKS_FOR_WAVES: usize = 24;
/// With fewer blocks in a period its waves look alike, and none can be told from another.
const BLOCKS_PER_PERIOD_MIN: f64 = (2 * HARMONICS + 2) as f64;
/// A wave may explain a series from this many periods on.
const PERIODS_FOR_DOUBT: f64 = 0.9;
/// What rises over a wave is told from it from this many periods on; the last one need not be whole.
const PERIODS_MIN: f64 = 2.9;
/// The criterion of a line has to be less by this much; 6 is strong evidence (Kass and Raftery
/// 1995).
const CRITERION_MIN: f64 = 6.0;
/// A dip is at most one of this number of parts of the series.
const DIP_PARTS_MIN: usize = 8;

/// The direction of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrendKind {
    /// It rises
    Rises,
    /// It falls
    Falls,
    /// It may rise; a wave, what is taken back, or values that follow their neighbours explain it as well
    MayRise,
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
    if slopes.is_empty() {
        return Trend { kind: TrendKind::None, slope: 0.0, low: 0.0, high: 0.0 };
    }
    let (low, high) = interval(&slopes, blocks.len());
    let slope = median(&mut slopes);
    let is_ordered = kendall_p(&slopes, blocks.len()) < P_MAX;
    let ranked = Trend { kind: kind(is_ordered, slope), slope, low, high };
    if blocks.len() < BLOCKS_FOR_ERRORS {
        return ranked;
    }
    let series = Series::new(&blocks, Wave::of(&blocks, period));
    let plain = series.line(&series.straight(&[]));
    if blocks.len() < BLOCKS_FOR_MODELS {
        let proof = match plain.is_some_and(|line| line.errors() > ERRORS_MIN_FEW) {
            true if is_ordered => Proof::Shown,
            _ if is_ordered => Proof::Doubtful,
            _ => Proof::None,
        };
        return series.judged(ranked, plain, proof);
    }
    // Of few blocks a line explains much by chance: then the rank test has to agree, which a wave would deceive.
    let agrees = blocks.len() >= BLOCKS_FOR_WAVES || is_ordered;
    match series.explained_by_line().filter(|_| agrees) {
        Some(line) if line.errors() > ERRORS_MIN => series.judged(ranked, Some(line), Proof::Shown),
        Some(line) if is_ordered => series.judged(ranked, Some(line), Proof::Doubtful),
        None if series.rises_beside_wave() => series.judged(ranked, plain, Proof::Doubtful),
        _ => series.judged(ranked, plain, Proof::None),
    }
}

/// What speaks for a slope.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Proof {
    Shown,
    /// As much speaks for something else
    Doubtful,
    None,
}

/// Returns the kind of a slope that is shown, or is not.
fn kind(is_shown: bool, slope: f64) -> TrendKind {
    match is_shown {
        true if slope > 0.0 => TrendKind::Rises,
        true if slope < 0.0 => TrendKind::Falls,
        _ => TrendKind::None,
    }
}

/// What is known of a wave.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Wave {
    /// No period is known, or too little of it was seen
    None,
    /// It may explain the series, and what rises over it cannot be told from it
    Possible(f64),
    /// It was seen often enough
    Seen(f64),
}

impl Wave {
    fn of(blocks: &[(f64, f64)], period: Option<f64>) -> Self {
        let n = blocks.len() as f64;
        let span = blocks[blocks.len() - 1].0 - blocks[0].0;
        // Blocks end half a block before the series does.
        let span = span * (1.0 + 1.0 / n);
        let fits = |period: &f64| {
            blocks.len() >= BLOCKS_FOR_WAVES && n * period / span >= BLOCKS_PER_PERIOD_MIN
        };
        match period.filter(fits) {
            Some(period) if span >= PERIODS_MIN * period => Self::Seen(period),
            Some(period) if span >= PERIODS_FOR_DOUBT * period => Self::Possible(period),
            _ => Self::None,
        }
    }
}

/// A series, and the columns that explain it beside shifts.
struct Series {
    xs: Vec<f64>,
    ys: Vec<f64>,
    wave: Wave,
    /// Ones, and the wave if it was seen
    level: Vec<Vec<f64>>,
}

impl Series {
    fn new(blocks: &[(f64, f64)], wave: Wave) -> Self {
        let (xs, ys): (Vec<f64>, Vec<f64>) = blocks.iter().copied().unzip();
        let mut level = vec![vec![1.0; xs.len()]];
        if let Wave::Seen(period) = wave {
            level.extend(waves(&xs, period));
        }
        Self { xs, ys, wave, level }
    }

    fn span(&self) -> f64 {
        self.xs[self.xs.len() - 1] - self.xs[0]
    }

    /// Returns the columns of a line beside the level and `shifts`; the line is the last.
    fn straight(&self, shifts: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let line = self.xs.iter().map(|x| (x - self.xs[0]) / self.span()).collect();
        self.level.iter().chain(shifts).cloned().chain([line]).collect()
    }

    fn line(&self, columns: &[Vec<f64>]) -> Option<Slope> {
        // Of a shift its begin and its end are chosen.
        let guessed = 2 * (columns.len() - self.level.len() - 1);
        slope(&self.xs, columns, guessed, &self.ys)
    }

    /// Returns the line if it explains the series better than shifts and a wave do.
    fn explained_by_line(&self) -> Option<Slope> {
        let mut others = least(&self.models(&[]));
        if let Wave::Possible(period) = self.wave {
            others = others.min(least(&self.models(&waves(&self.xs, period))));
        }
        let lines = self.models(&self.line_alone());
        let best = lines.iter().min_by(|a, b| a.criterion().total_cmp(&b.criterion()))?;
        if best.criterion() + CRITERION_MIN >= others {
            return None;
        }
        // A step that lasts stays in the error: it says how far the series moves by itself.
        let dips: Vec<_> = best.shifts().iter().filter(|shift| is_dip(shift)).cloned().collect();
        self.line(&self.straight(&dips))
    }

    /// Tells whether a line and a wave that was seen too seldom explain the series better than that wave alone.
    fn rises_beside_wave(&self) -> bool {
        let Wave::Possible(period) = self.wave else { return false };
        let wave = waves(&self.xs, period);
        let both = [wave.clone(), self.line_alone()].concat();
        least(&self.models(&both)) + CRITERION_MIN < least(&self.models(&wave))
    }

    /// Returns the models of the level, `more` columns, and shifts.
    fn models(&self, more: &[Vec<f64>]) -> Vec<Model> {
        with_shifts(Model::new(&[&self.level, more].concat(), &self.ys))
    }

    fn line_alone(&self) -> Vec<Vec<f64>> {
        self.straight(&[]).split_off(self.level.len())
    }

    /// Returns the trend that `line` gives; `ranked` is that of ranks alone. The interval is never less than that of ranks.
    fn judged(&self, ranked: Trend, line: Option<Slope>, proof: Proof) -> Trend {
        let Some(line) = line else { return Trend { kind: TrendKind::None, ..ranked } };
        let reach = line.reach() / self.span();
        let (slope, low, high) = match self.wave {
            Wave::Seen(_) => {
                let slope = line.value / self.span();
                (slope, slope - reach, slope + reach)
            }
            _ => {
                let slope = ranked.slope;
                (slope, ranked.low.min(slope - reach), ranked.high.max(slope + reach))
            }
        };
        let is_apart = low > 0.0 || high < 0.0;
        let kind = match proof {
            Proof::Shown if is_apart => kind(true, slope),
            Proof::Shown | Proof::Doubtful if slope > 0.0 => TrendKind::MayRise,
            _ => TrendKind::None,
        };
        Trend { kind, slope, low, high }
    }
}

/// Returns the least criterion of models.
fn least(models: &[Model]) -> f64 {
    models.iter().map(Model::criterion).fold(f64::INFINITY, f64::min)
}

/// Tells whether a shift is short and ends before the series does.
fn is_dip(shift: &[f64]) -> bool {
    let length = shift.iter().filter(|value| **value > 0.0).count();
    shift[shift.len() - 1] == 0.0 && length * DIP_PARTS_MIN <= shift.len()
}

/// Returns the columns of a wave of any form, by its first parts.
fn waves(xs: &[f64], period: f64) -> Vec<Vec<f64>> {
    let turns = (1..=HARMONICS).map(|harmonic| std::f64::consts::TAU * harmonic as f64 / period);
    turns
        .flat_map(|turn| {
            let of = |form: fn(f64) -> f64| xs.iter().map(|x| form(x * turn)).collect();
            [of(f64::sin), of(f64::cos)]
        })
        .collect()
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

#[cfg(test)]
mod tests;
