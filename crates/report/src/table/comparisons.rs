//! Candidates against one baseline, for one metric, at one or several points: effects and verdicts.

use slablab_stats::{Comparison, Direction, Estimate, Verdict};

use super::{mmtests, text};
use crate::human;
use crate::unit::figures;

/// Comparisons of one metric with one baseline.
#[derive(Debug, Clone)]
pub struct Comparisons {
    /// What is measured: `time per run`
    pub metric: String,
    /// Its unit, one that [`human`] knows if possible
    pub unit: String,
    /// What is compared with
    pub baseline: String,
    /// What the points are: `groups`; empty when there is one only
    pub point: String,
    /// One row a point and candidate
    pub rows: Vec<Row>,
}

/// One comparison.
#[derive(Debug, Clone)]
pub struct Row {
    /// At which point: `4`; empty when there is one only
    pub point: String,
    /// What is compared
    pub candidate: String,
    /// What came out
    pub comparison: Comparison,
}

impl Row {
    /// Returns the verdict in words.
    pub(crate) fn verdict(&self, unit: &str) -> String {
        let comparison = &self.comparison;
        let words = comparison.verdict.words(unit, comparison.direction);
        match comparison.verdict {
            Verdict::NoDifferenceShown if comparison.is_too_small() => {
                format!("{words} (too few runs)")
            }
            _ => words.to_owned(),
        }
    }

    /// Returns the effect: the change in per cent, or the difference where there is no ratio.
    pub(crate) fn effect(&self, unit: &str) -> String {
        match &self.comparison.ratio {
            Some(ratio) => percent(ratio.value),
            None => signed(self.comparison.difference.value, unit),
        }
    }

    /// Returns the interval of the effect.
    pub(crate) fn interval(&self, unit: &str) -> String {
        let between = |low: String, high: String| format!("{low} .. {high}");
        match &self.comparison.ratio {
            Some(Estimate { interval: i, .. }) => between(percent(i.low), percent(i.high)),
            None => {
                let i = &self.comparison.difference.interval;
                between(signed(i.low, unit), signed(i.high, unit))
            }
        }
    }

    /// Returns p as reviewers write it.
    pub(crate) fn p(&self) -> String {
        match self.comparison.p {
            p if p < 0.0001 => "< 0.0001".to_owned(),
            p => format!("{p:.4}"),
        }
    }
}

impl Comparisons {
    /// Returns one sentence a row: the answer before any table.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        self.rows.iter().map(|row| self.sentence(row)).collect()
    }

    fn sentence(&self, row: &Row) -> String {
        let at = match row.point.is_empty() {
            true => String::new(),
            false => format!(" at {} {}", self.point, row.point),
        };
        let comparison = &row.comparison;
        let runs = match (comparison.baseline.n, comparison.candidate.n) {
            (a, b) if a == b => format!("{a} runs each"),
            (a, b) => format!("{b} runs against {a}"),
        };
        let Self { unit, baseline, metric, .. } = self;
        let candidate = &row.candidate;
        let tail = format!(
            "{} ({:.0} % interval {}), p = {}, {runs}",
            row.effect(unit),
            comparison.difference.interval.confidence * 100.0,
            row.interval(unit),
            row.p(),
        )
        .replace("p = <", "p <");
        match comparison.verdict {
            Verdict::NoDifferenceShown => {
                format!(
                    "No difference in {metric} shown between {candidate} and {baseline}{at}: {tail}."
                )
            }
            _ => format!("{candidate} is {} than {baseline}{at}: {tail}.", row.verdict(unit)),
        }
    }

    /// Returns the table as plain text.
    #[must_use]
    pub fn plain(&self) -> String {
        text::plain(&self.head(), &self.cells())
    }

    /// Returns the table as Markdown.
    #[must_use]
    pub fn markdown(&self) -> String {
        text::markdown(&self.head(), &self.cells())
    }

    /// Returns the table in the layout of mmtests' compare-mmtests.pl.
    #[must_use]
    pub fn mmtests(&self) -> String {
        mmtests::render(self)
    }

    /// Returns the headings of the table's columns.
    pub(crate) fn head(&self) -> Vec<String> {
        let mut head = Vec::new();
        if !self.point.is_empty() {
            head.push(self.point.clone());
        }
        let confidence =
            self.rows.first().map_or(0.95, |row| row.comparison.difference.interval.confidence);
        let interval = format!("{:.0} % interval", confidence * 100.0);
        let columns = [
            "candidate",
            "median",
            "baseline",
            "median",
            "change",
            &interval,
            "p",
            "runs",
            "verdict",
        ];
        head.extend(columns.map(str::to_owned));
        head
    }

    /// Returns the cells of the table, row by row.
    pub(crate) fn cells(&self) -> Vec<Vec<String>> {
        self.rows.iter().map(|row| self.row_cells(row)).collect()
    }

    fn row_cells(&self, row: &Row) -> Vec<String> {
        let comparison = &row.comparison;
        let mut cells = Vec::new();
        if !self.point.is_empty() {
            cells.push(row.point.clone());
        }
        cells.extend([
            row.candidate.clone(),
            human(comparison.candidate.median, &self.unit),
            self.baseline.clone(),
            human(comparison.baseline.median, &self.unit),
            row.effect(&self.unit),
            row.interval(&self.unit),
            row.p(),
            format!("{} + {}", comparison.baseline.n, comparison.candidate.n),
            row.verdict(&self.unit),
        ]);
        cells
    }

    /// Returns whether less of the metric is better.
    pub(crate) fn less_is_better(&self) -> bool {
        self.rows.first().is_none_or(|r| r.comparison.direction == Direction::LessIsBetter)
    }
}

/// Writes a ratio as a change: 1.02 is `+2.00 %`.
fn percent(ratio: f64) -> String {
    let percent = (ratio - 1.0) * 100.0;
    let decimals = if percent.abs() < 9.995 { 2 } else { 1 };
    format!("{percent:+.decimals$} %")
}

fn signed(value: f64, unit: &str) -> String {
    let sign = if value > 0.0 { "+" } else { "" };
    match unit {
        "" => format!("{sign}{}", figures(value)),
        _ => format!("{sign}{}", human(value, unit)),
    }
}
