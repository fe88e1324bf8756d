//! What explains a series: columns of given form, and shifts of the level that are looked for.
//!
//! # How it works
//! A [`Model`] keeps an orthonormal base and the rest that it leaves. The next shift is the span whose level differs most from
//! the rest. Models are compared by the Bayesian information criterion.

/// Shifts of the level that a model may have.
const SHIFTS_MAX: usize = 3;
/// One is looked for among this many values at least: more of them explain whatever few values do.
const VALUES_PER_SHIFT: usize = 8;

/// Returns a model, and the same model with one shift and with more.
pub(crate) fn with_shifts(model: Model) -> Vec<Model> {
    let shifts_max = SHIFTS_MAX.min(model.rest.len() / VALUES_PER_SHIFT);
    let mut models = vec![model];
    for _ in 0..shifts_max {
        let Some(next) = models[models.len() - 1].with_best_shift() else { break };
        models.push(next);
    }
    models
}

/// An explanation of a series: an orthonormal base, and the rest that it leaves.
#[derive(Debug, Clone)]
pub(crate) struct Model {
    base: Vec<Vec<f64>>,
    rest: Vec<f64>,
    /// Spans in which the level differs: a step lasts to the end, a dip does not
    shifts: Vec<Vec<f64>>,
    /// The least that rounding leaves of the rest
    squares_min: f64,
}

impl Model {
    pub(crate) fn new(columns: &[Vec<f64>], ys: &[f64]) -> Self {
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

    /// Returns the shifts.
    pub(crate) fn shifts(&self) -> &[Vec<f64>] {
        &self.shifts
    }

    /// Returns the Bayesian information criterion. A shift has three parameters: where it begins and ends, and its height.
    pub(crate) fn criterion(&self) -> f64 {
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

/// Returns the sum of the products of what stands at one place.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
