//! The slope of a series beside other columns, with an error that holds where neighbouring values follow each other.
//!
//! # How it works
//! Least squares leave residuals. The correlation of neighbours among them is corrected for what a fit takes from it (Kendall
//! 1954); one that cannot be told from 1 is taken for 1 (Perron and Yabu 2009). The series and its columns are then freed
//! of it (Prais and Winsten 1954), and least squares are taken again: of a random walk they see its steps alone. What
//! correlation is left widens the error (Newey and West 1987). Gaps between values count by their length.

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::explanation::dot;
use crate::summary::median;

/// A slope and how far it is known.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slope {
    /// The change over the length of the line
    pub(crate) value: f64,
    /// Its standard error
    error: f64,
    /// Values beyond those that the columns take
    free: f64,
}

impl Slope {
    /// Returns how many standard errors it is from 0.
    pub(crate) fn errors(&self) -> f64 {
        if self.value == 0.0 { 0.0 } else { self.value.abs() / self.error }
    }

    /// Returns half of the length of its interval of 95 %.
    pub(crate) fn reach(&self) -> f64 {
        let students = StudentsT::new(0.0, 1.0, self.free);
        students.map_or(0.0, |students| students.inverse_cdf(0.975)) * self.error
    }
}

/// Returns the slope along the last of `columns`, of values at `xs`; the first column is that of ones. `None` where columns
/// depend on each other, or are as many as values. `guessed` are numbers that were chosen so that the columns fit.
pub(crate) fn slope(xs: &[f64], columns: &[Vec<f64>], guessed: usize, ys: &[f64]) -> Option<Slope> {
    let (n, k) = (ys.len(), columns.len() + guessed);
    if n <= k + 1 {
        return None;
    }
    let first = Fit::new(columns, ys)?;
    let follows = corrected(correlation(&first.residuals, ys), n, k);
    let freed = Freed::new(xs, follows);
    // What is freed of all of its level has none.
    let from = usize::from(follows >= 1.0);
    let columns: Vec<Vec<f64>> = columns[from..].iter().map(|column| freed.of(column)).collect();
    let ys = freed.of(ys);
    let fit = Fit::new(&columns, &ys)?;
    let free = ys.len().checked_sub(columns.len() + guessed).filter(|free| *free > 0)? as f64;
    let error =
        (dot(&fit.residuals, &fit.residuals) / free * fit.spread * left(&fit.residuals, &ys))
            .sqrt();
    Some(Slope { value: fit.factors[columns.len() - 1], error, free })
}

/// Returns the correlation of neighbouring residuals; 0 of those that rounding leaves.
fn correlation(residuals: &[f64], ys: &[f64]) -> f64 {
    let squares = dot(residuals, residuals);
    if squares <= 1e-20 * dot(ys, ys) {
        return 0.0;
    }
    dot(&residuals[1..], &residuals[..residuals.len() - 1]) / squares
}

/// Returns the correlation without what `k` fitted columns take from that of `n` values, at least 0; 1 where it is near.
fn corrected(found: f64, n: usize, k: usize) -> f64 {
    let (n, k) = (n as f64, k as f64);
    let follows = (found + (k + (k + 2.0) * found) / n).max(0.0);
    if follows >= 1.0 - 1.0 / n.sqrt() { 1.0 } else { follows }
}

/// Returns by how much correlation that is left widens a variance.
fn left(residuals: &[f64], ys: &[f64]) -> f64 {
    let (n, squares) = (residuals.len(), dot(residuals, residuals));
    if squares <= 1e-20 * dot(ys, ys) {
        return 1.0;
    }
    // Twice the third root of the number.
    let lags = ((2.0 * (n as f64).cbrt()) as usize).min(n.saturating_sub(1));
    let weighed = (1..=lags).map(|lag| {
        let together = dot(&residuals[lag..], &residuals[..n - lag]) / squares;
        (1.0 - lag as f64 / (lags + 1) as f64) * together
    });
    (1.0 + 2.0 * weighed.sum::<f64>()).max(1.0)
}

/// How values are freed of the part that follows from their neighbours.
struct Freed {
    follows: f64,
    /// By value but the first: what is taken of its neighbour, and what the rest is divided by
    steps: Vec<(f64, f64)>,
}

impl Freed {
    fn new(xs: &[f64], follows: f64) -> Self {
        let mut apart: Vec<f64> = xs.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let usual = median(&mut apart.clone());
        // Values at one time are as far apart as others.
        let length = |apart: f64| if apart > 0.0 && usual > 0.0 { apart / usual } else { 1.0 };
        apart.iter_mut().for_each(|of| *of = length(*of));
        let step = |length: &f64| match follows {
            0.0 => (0.0, 1.0),
            1.0 => (1.0, length.sqrt()),
            _ => {
                let taken = follows.powf(*length);
                (taken, ((1.0 - taken * taken) / (1.0 - follows * follows)).sqrt())
            }
        };
        Self { follows, steps: apart.iter().map(step).collect() }
    }

    fn of(&self, values: &[f64]) -> Vec<f64> {
        let first =
            (self.follows < 1.0).then(|| values[0] * (1.0 - self.follows * self.follows).sqrt());
        let pairs = values.windows(2).zip(&self.steps);
        let others = pairs.map(|(pair, (taken, by))| (pair[1] - taken * pair[0]) / by);
        first.into_iter().chain(others).collect()
    }
}

/// A fit by least squares.
struct Fit {
    factors: Vec<f64>,
    /// The place of the last factor on the diagonal of the inverse of the normal equations
    spread: f64,
    residuals: Vec<f64>,
}

impl Fit {
    /// Fits `ys` by a sum of `columns`; `None` where columns depend on each other.
    fn new(columns: &[Vec<f64>], ys: &[f64]) -> Option<Self> {
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
        let factors: Vec<f64> = rows.iter().map(|row| row[k]).collect();
        let fitted =
            |at: usize| columns.iter().zip(&factors).map(|(c, by)| c[at] * by).sum::<f64>();
        let residuals = (0..ys.len()).map(|at| ys[at] - fitted(at)).collect();
        Some(Self { factors, spread: rows[k - 1][2 * k].max(0.0), residuals })
    }
}
