//! Candidates against one baseline, for one metric, at one or several points: effects and verdicts.

use slablab_stats::{Comparison, Direction, Verdict};

use super::cell::Cell;
use super::column::{Column, Seen};
use super::grid::Table;
use super::text;
use crate::escape::markdown_words;
use crate::unit::{counted, figures, human};

/// Up to so many comparisons are all said in sentences.
const SENTENCES_MAX: usize = 6;
/// No more sentences than this stand before a table.
const ANSWERS_MAX: usize = 12;

/// Comparisons of one metric with one baseline.
#[derive(Debug, Clone)]
pub struct Comparisons {
    /// What is measured: `time per run`
    pub metric: String,
    /// Its unit, one that [`human`] knows if possible
    pub unit: String,
    /// The variant that the others are compared with
    pub baseline: String,
    /// What the points are: `groups`, or `groups, CPUs`; empty when there is one only
    pub point: String,
    /// One row a point and candidate
    pub rows: Vec<ComparisonRow>,
}

/// One comparison.
#[derive(Debug, Clone)]
pub struct ComparisonRow {
    /// At which point: `4`, or `10, 4`; empty when there is one only
    pub point: String,
    /// What is compared
    pub candidate: String,
    /// What came out
    pub comparison: Comparison,
}

impl ComparisonRow {
    /// Returns the verdict in words.
    pub(crate) fn verdict(&self, unit: &str) -> String {
        let comparison = &self.comparison;
        let words = comparison.verdict.words(unit, comparison.direction);
        match comparison.verdict {
            Verdict::Undecided => format!("{words} ({} runs needed)", comparison.runs_needed),
            _ => words.to_owned(),
        }
    }

    /// Says how many runs were too few, and how many are not.
    fn needs(&self) -> String {
        let Comparison { baseline, candidate, runs_needed, .. } = &self.comparison;
        format!("{} runs cannot decide, {runs_needed} can", baseline.n.min(candidate.n))
    }

    /// Returns the effect: the change in per cent, or the difference where there is no ratio.
    pub(crate) fn effect(&self, unit: &str) -> String {
        self.change(self.comparison.effect().0.value, unit)
    }

    /// Returns the interval of the effect.
    pub(crate) fn interval(&self, unit: &str) -> String {
        let interval = self.comparison.effect().0.interval;
        format!("{} .. {}", self.change(interval.low, unit), self.change(interval.high, unit))
    }

    /// Returns the confidence of the interval: `95 %`.
    pub(crate) fn confidence(&self) -> String {
        format!("{} %", (self.comparison.effect().0.interval.confidence * 1e3).round() / 10.0)
    }

    fn change(&self, value: f64, unit: &str) -> String {
        if self.comparison.ratio.is_some() { percent(value) } else { signed(value, unit) }
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
    pub fn sentences(&self) -> Vec<String> {
        self.rows.iter().map(|row| self.sentence(row)).collect()
    }

    /// Returns what a reader wants to know first: all sentences if they are few, or else those which show a
    /// difference and how many show none. Comparisons that are undecided are counted in one sentence.
    pub fn answers(&self) -> Vec<String> {
        let verdict = |row: &&ComparisonRow, verdict| row.comparison.verdict == verdict;
        let undecided: Vec<&ComparisonRow> =
            self.rows.iter().filter(|row| verdict(row, Verdict::Undecided)).collect();
        let few = self.rows.len() <= SENTENCES_MAX;
        let is_said = |row: &&ComparisonRow| match row.comparison.verdict {
            Verdict::Better | Verdict::Worse => true,
            Verdict::NoDifferenceShown => few,
            Verdict::Undecided => undecided.len() == 1,
        };
        let said = self.rows.iter().filter(is_said).map(|row| self.sentence(row));
        let mut answers: Vec<String> = said.take(ANSWERS_MAX).collect();
        let all = self.rows.len();
        let none = self.rows.iter().filter(|row| verdict(row, Verdict::NoDifferenceShown)).count();
        if none > 0 && !few {
            answers.push(format!(
                "No difference in {} shown in {none} of {}.",
                self.metric,
                counted(all as u64, "comparison")
            ));
        }
        if let [row, _, ..] = undecided[..] {
            answers.push(format!(
                "Undecided in {} of {} of {}: {}.",
                undecided.len(),
                counted(all as u64, "comparison"),
                self.metric,
                row.needs()
            ));
        }
        answers
    }

    fn sentence(&self, row: &ComparisonRow) -> String {
        let at = match row.point.is_empty() {
            true => String::new(),
            false => format!(" at {}", self.place(row)),
        };
        let comparison = &row.comparison;
        let runs = match (comparison.baseline.n, comparison.candidate.n) {
            (a, b) if a == b => format!("{a} runs each"),
            (a, b) => format!("{b} runs against {a}"),
        };
        let Self { unit, baseline, metric, .. } = self;
        let candidate = &row.candidate;
        let change =
            format!("{} ({} interval {})", row.effect(unit), row.confidence(), row.interval(unit));
        let tail = format!("{change}, p = {}, {runs}", row.p()).replace("p = <", "p <");
        match comparison.verdict {
            Verdict::NoDifferenceShown => format!(
                "No difference in {metric} shown between {candidate} and {baseline}{at}: {tail}."
            ),
            Verdict::Undecided => format!(
                "Undecided whether {candidate} and {baseline} differ in {metric}{at}: {}; {change} so far.",
                row.needs()
            ),
            _ => format!("{candidate} is {} than {baseline}{at}: {tail}.", row.verdict(unit)),
        }
    }

    /// Returns the point of a row in words: `groups 10, CPUs 4`.
    fn place(&self, row: &ComparisonRow) -> String {
        let words = self.places().zip(self.parts(row));
        words.map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", ")
    }

    /// Returns the names of a point's components.
    fn places(&self) -> impl Iterator<Item = &str> {
        self.point.split(", ").filter(|name| !name.is_empty())
    }

    /// Returns the components of a row's point, as many as there are names.
    fn parts<'a>(&self, row: &'a ComparisonRow) -> impl Iterator<Item = &'a str> {
        let many = self.places().count();
        row.point.splitn(many, ", ").chain(std::iter::repeat("")).take(many)
    }

    /// Returns the table as plain text.
    pub fn plain(&self) -> String {
        let cells = self.cells();
        text::plain(&self.head(), &cells, |at| text::side_of(&cells, at)).join("\n") + "\n"
    }

    /// Returns the table as Markdown.
    pub fn markdown(&self) -> String {
        let cells = self.cells();
        let words = |row: &Vec<String>| row.iter().map(|cell| markdown_words(cell)).collect();
        let escaped: Vec<Vec<String>> = cells.iter().map(words).collect();
        text::markdown(&words(&self.head()), &escaped, |at| text::side_of(&cells, at))
    }

    /// Returns the table of data: a terminal leaves out what a page has room for.
    pub(crate) fn table(&self) -> Table {
        let (head, cells) = (self.head(), self.cells());
        // What a sentence says, or the title.
        const SPARE: [&str; 4] = ["baseline", "median of baseline", "p", "runs"];
        let column = |(at, head): (usize, String)| {
            let key = head.replace([' ', '%'], "_");
            let seen = if SPARE.contains(&head.as_str()) { Seen::WhereRoom } else { Seen::Always };
            Column { side: text::side_of(&cells, at), seen, head, key }
        };
        let columns: Vec<Column> = head.into_iter().enumerate().map(column).collect();
        let mut table = Table::new(columns);
        for row in cells {
            table.row(row.into_iter().map(Cell::Text).collect::<Vec<_>>());
        }
        table
    }

    /// Returns the headings of the table's columns.
    pub(crate) fn head(&self) -> Vec<String> {
        let confidence =
            self.rows.first().map_or_else(|| "95 %".to_owned(), ComparisonRow::confidence);
        let interval = format!("{confidence} interval");
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
        self.places().chain(columns).map(str::to_owned).collect()
    }

    /// Returns the cells of the table, row by row.
    pub(crate) fn cells(&self) -> Vec<Vec<String>> {
        self.rows.iter().map(|row| self.row_cells(row)).collect()
    }

    fn row_cells(&self, row: &ComparisonRow) -> Vec<String> {
        let comparison = &row.comparison;
        let cells = [
            row.candidate.clone(),
            human(comparison.candidate.median, &self.unit),
            self.baseline.clone(),
            human(comparison.baseline.median, &self.unit),
            row.effect(&self.unit),
            row.interval(&self.unit),
            row.p(),
            format!("{} + {}", comparison.baseline.n, comparison.candidate.n),
            row.verdict(&self.unit),
        ];
        self.parts(row).map(str::to_owned).chain(cells).collect()
    }

    /// Returns whether less of the metric is better.
    pub(crate) fn less_is_better(&self) -> bool {
        self.rows.first().is_none_or(|r| r.comparison.direction == Direction::LessIsBetter)
    }
}

/// Writes a ratio as a change: 1.02 is `+2.00 %`.
fn percent(ratio: f64) -> String {
    let percent = (ratio - 1.0) * 100.0;
    match percent.abs() {
        size if size < 9.995 => format!("{percent:+.2} %"),
        size if size < 1e6 => format!("{percent:+.1} %"),
        _ => format!("{percent:+.2e} %"),
    }
}

fn signed(value: f64, unit: &str) -> String {
    let sign = if value > 0.0 { "+" } else { "" };
    match unit {
        "" => format!("{sign}{}", figures(value)),
        _ => format!("{sign}{}", human(value, unit)),
    }
}

#[cfg(test)]
mod tests {
    use slablab_stats::{Pairing, Question, compare};

    use super::*;

    fn table(point: &str, rows: &[(&str, f64)]) -> Comparisons {
        let base: Vec<f64> = (0..8).map(|i| 10.0 + f64::from(i) / 10.0).collect();
        let row = |(point, factor): &(&str, f64)| {
            let other: Vec<f64> = base.iter().map(|value| value * factor).collect();
            let comparison = compare(&base, &other, Pairing::Independent, &Question::default());
            ComparisonRow {
                point: (*point).into(),
                candidate: "b".into(),
                comparison: comparison.unwrap(),
            }
        };
        Comparisons {
            metric: "time".into(),
            unit: "s".into(),
            baseline: "a".into(),
            point: point.into(),
            rows: rows.iter().map(row).collect(),
        }
    }

    #[test]
    fn a_point_of_two_components_has_two_columns_and_is_said_in_words() {
        let two = table("groups, CPUs", &[("10, 4", 2.0), ("10", 2.0)]);
        assert_eq!(two.head()[..3], ["groups", "CPUs", "candidate"]);
        assert_eq!((two.cells()[0][1].as_str(), two.cells()[1][1].as_str()), ("4", ""));
        assert!(two.sentences()[0].contains("at groups 10, CPUs 4:"), "{}", two.sentences()[0]);
        // A comma in the point of a single component is nothing but a comma.
        let one = table("variant", &[("slub 10, 4", 2.0)]);
        assert_eq!(one.cells()[0].len(), one.head().len());
        assert!(one.sentences()[0].contains("at variant slub 10, 4:"), "{}", one.sentences()[0]);
        assert!(table("", &[("", 2.0)]).sentences()[0].starts_with("b is slower than a: +100"));
    }

    #[test]
    fn too_few_runs_are_said_once_and_not_as_no_difference() {
        let mut few = table("groups", &[("1", 2.0), ("10", 2.0)]);
        for row in &mut few.rows {
            row.comparison.verdict = Verdict::Undecided;
            row.comparison.runs_needed = 12;
        }
        let said = "Undecided in 2 of 2 comparisons of time: 8 runs cannot decide, 12 can.";
        assert_eq!(few.answers(), [said]);
        assert!(few.plain().contains("undecided (12 runs needed)"));
        few.rows.pop();
        let said = "Undecided whether b and a differ in time at groups 1: 8 runs cannot decide, 12 can; +100.0 % (";
        assert!(few.answers()[0].starts_with(said), "{:?}", few.answers());
    }

    #[test]
    fn many_comparisons_are_answered_by_those_that_show_something() {
        let mut rows = vec![("1", 1.0); 6];
        assert_eq!(table("n", &rows).answers().len(), 6);
        rows.push(("2", 2.0));
        let answers = table("n", &rows).answers();
        assert_eq!(answers.len(), 2, "{answers:?}");
        assert!(answers[0].starts_with("b is slower than a at n 2"), "{answers:?}");
        assert_eq!(answers[1], "No difference in time shown in 6 of 7 comparisons.");
    }
}
