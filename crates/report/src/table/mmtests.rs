//! The layout that mm reviewers know: that of mmtests' `compare-mmtests.pl --print-significance`.
//!
//! # How it works
//! The baseline is the first column; each other column has the value and, in parentheses, how much
//! better it is in per cent: more is always better here, so a time that falls gives a positive number. Stars in
//! place of the parentheses mark a shown difference.

use std::collections::BTreeSet;
use std::fmt::Write;

use slablab_stats::{Direction, Summary, Verdict};

use super::comparisons::{ComparisonRow, Comparisons};

/// One statistic of a sample.
type Statistic = fn(&Summary) -> f64;

/// The statistics of each block, as mmtests names them.
const STATISTICS: [(&str, Statistic); 5] = [
    ("Min", |s| s.min),
    ("Amean", |s| s.mean),
    ("Stddev", |s| s.stddev),
    ("CoeffVar", |s| if s.mean == 0.0 { 0.0 } else { 100.0 * s.stddev / s.mean }),
    ("Max", |s| s.max),
];

/// Spread is noise: less of it is better, whatever is measured.
const SPREADS: [&str; 2] = ["Stddev", "CoeffVar"];

impl Comparisons {
    /// Returns the table in the layout of mmtests' compare-mmtests.pl.
    pub fn mmtests(&self) -> String {
        render(self)
    }
}

fn render(table: &Comparisons) -> String {
    let mut seen = BTreeSet::new();
    let points: Vec<&str> =
        table.rows.iter().map(|row| row.point.as_str()).filter(|p| seen.insert(*p)).collect();
    let mut seen = BTreeSet::new();
    let candidates: Vec<&str> =
        table.rows.iter().map(|row| row.candidate.as_str()).filter(|c| seen.insert(*c)).collect();
    let width = points.iter().map(|p| p.len()).max().unwrap_or(0).max(1);
    let mut text = format!("{} ({})\n", table.metric, table.unit);
    let _ = write!(text, "{:9} {:>width$} {:>24}", "", "", table.baseline);
    for candidate in &candidates {
        let _ = write!(text, " {candidate:>24}");
    }
    text.push('\n');
    for (name, statistic) in STATISTICS {
        for point in &points {
            let rows: Vec<&ComparisonRow> = candidates
                .iter()
                .filter_map(|c| table.rows.iter().find(|r| r.point == *point && r.candidate == *c))
                .collect();
            line(&mut text, name, point, width, &rows, statistic);
        }
    }
    text
}

fn line(
    text: &mut String,
    name: &str,
    point: &str,
    width: usize,
    rows: &[&ComparisonRow],
    statistic: Statistic,
) {
    let Some(first) = rows.first() else { return };
    let base = statistic(&first.comparison.baseline);
    let _ = write!(text, "{name:9} {point:>width$} {base:12.4} ({:8.2}%)", 0.0);
    for row in rows {
        let value = statistic(&row.comparison.candidate);
        let gain = gain(base, value, name, row.comparison.direction);
        let shown = matches!(row.comparison.verdict, Verdict::Better | Verdict::Worse);
        let shown = name == "Amean" && shown;
        let (open, close) = if shown { ('*', '*') } else { ('(', ')') };
        let _ = write!(text, " {value:12.4} {open}{gain:8.2}%{close}");
    }
    text.push('\n');
}

fn gain(base: f64, value: f64, name: &str, direction: Direction) -> f64 {
    if base == 0.0 {
        return 0.0;
    }
    let growth = 100.0 * (value - base) / base;
    match direction {
        Direction::MoreIsBetter if !SPREADS.contains(&name) => growth,
        _ => 0.0 - growth,
    }
}
