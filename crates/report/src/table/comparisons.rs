//! Candidates against one baseline, for one metric, at one or several points: effects and verdicts.

use slablab_stats::{Comparison, Direction, Estimate, Verdict};

use super::cell::Cell;
use super::field::{self, Field};
use super::grid::Table;
use crate::unit::{counted, figures, human};

/// Up to this many comparisons each get a sentence.
const SENTENCES_MAX: usize = 4;
/// The number of sentences before a table, at most.
const ANSWERS_MAX: usize = 4;
/// Below this change of a size, the difference in bytes tells more than the percentage.
const CHANGE_SHARE_MIN: f64 = 0.01;

/// Comparisons of one metric with one baseline.
#[derive(Debug, Clone)]
pub struct Comparisons {
    /// The measured quantity: `time per run`
    pub metric: String,
    /// Its unit, one that [`human`] knows if possible
    pub unit: String,
    /// The variant that the others are compared with
    pub baseline: String,
    /// The kind of the points: `groups`, or `groups, CPUs`; empty when there is only one
    pub point: String,
    /// One row for each point and candidate
    pub rows: Vec<ComparisonRow>,
}

/// One comparison.
#[derive(Debug, Clone)]
pub struct ComparisonRow {
    /// The point: `4`, or `10, 4`; empty when there is only one
    pub point: String,
    /// The variant that is compared
    pub candidate: String,
    /// The result
    pub comparison: Comparison,
}

impl ComparisonRow {
    /// Returns the verdict in words.
    pub(crate) fn verdict(&self, unit: &str) -> &'static str {
        self.comparison.verdict.words(unit, self.comparison.direction)
    }

    /// Returns how many runs were too few, and how many are enough.
    fn needs(&self) -> String {
        let Comparison { baseline, candidate, runs_needed, .. } = &self.comparison;
        format!("{} runs cannot decide, {runs_needed} can", baseline.n.min(candidate.n))
    }

    /// Returns the effect: the change in per cent, or the difference where there is no ratio, or only a small one of a size.
    pub(crate) fn effect(&self, unit: &str) -> String {
        let (estimate, words) = self.shown(unit);
        words(estimate.value, unit)
    }

    /// Returns the interval of the effect, with its unit once: `-1.52 .. +0.28 %`.
    pub(crate) fn interval(&self, unit: &str) -> String {
        let (estimate, words) = self.shown(unit);
        let (low, high) = (words(estimate.interval.low, unit), words(estimate.interval.high, unit));
        match (low.rsplit_once(' '), high.rsplit_once(' ')) {
            (Some((number, of)), Some((_, other))) if of == other => format!("{number} .. {high}"),
            _ => format!("{low} .. {high}"),
        }
    }

    /// Returns the estimate that is shown, and how it is written.
    fn shown(&self, unit: &str) -> (&Estimate, fn(f64, &str) -> String) {
        let is_size = ["B", "kB", "KB", "MB", "GB", "KiB", "MiB", "GiB", "bytes"].contains(&unit);
        match &self.comparison.ratio {
            Some(ratio) if !(is_size && (ratio.value - 1.0).abs() < CHANGE_SHARE_MIN) => {
                (ratio, |ratio, _| percent(ratio))
            }
            _ => (&self.comparison.difference, signed),
        }
    }

    /// Returns the confidence of the interval: `95 %`.
    pub(crate) fn confidence(&self) -> String {
        format!("{} %", (self.comparison.effect().0.interval.confidence * 1e3).round() / 10.0)
    }

    /// Returns whether the change has another sign than the difference of the medians.
    pub(crate) fn crosses_medians(&self) -> bool {
        let Comparison { baseline, candidate, difference, ratio, .. } = &self.comparison;
        let change = ratio.as_ref().map_or(difference.value, |ratio| ratio.value - 1.0);
        change * (candidate.median - baseline.median) < 0.0
    }

    /// Returns p in the form in which reviewers write it.
    pub(crate) fn p(&self) -> String {
        match self.comparison.p {
            p if p < 0.0001 => "< 0.0001".to_owned(),
            p => format!("{p:.4}"),
        }
    }
}

impl Comparisons {
    /// Returns one sentence for each row: the answer before any table.
    pub fn sentences(&self) -> Vec<String> {
        self.rows.iter().map(|row| self.sentence(row)).collect()
    }

    /// Returns what a reader wants to know first: all sentences if they are few, or else those that show a
    /// difference, and the number that show none. Comparisons that are undecided are counted in one
    /// sentence.
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

    /// Returns how a change can have another sign than the difference of the medians, where one
    /// has.
    pub fn note(all: &[Self]) -> Option<String> {
        let crosses = all.iter().flat_map(|of| &of.rows).any(ComparisonRow::crosses_medians);
        crosses.then(|| {
            "A change is the middle of the ratios between runs (Hodges-Lehmann), of the same round where rounds are \
             pairs: the medians of the two can differ the other way."
                .to_owned()
        })
    }

    /// Returns the table of all comparisons: people read effects in words, programs numbers.
    pub fn table(all: &[Self]) -> Table {
        let rows: Vec<CompareRow<'_>> =
            all.iter().flat_map(|of| of.rows.iter().map(move |row| (of, row))).collect();
        let mut fields = vec![
            field::name("metric", "metric", |(of, _): &CompareRow<'_>| &of.metric),
            field::name("unit", "unit", |(of, _): &CompareRow<'_>| &of.unit).as_data(),
            field::name("point", "point", |(_, row): &CompareRow<'_>| &row.point).as_data(),
        ];
        if all.len() == 1 {
            let metric = fields.remove(0);
            fields.insert(0, metric.as_data());
        }
        fields.extend(places(all).into_iter().enumerate().map(|(at, place)| {
            field::text_by(&place, "", move |(of, row): &CompareRow<'_>| {
                of.parts(row).nth(at).unwrap_or_default().to_owned()
            })
        }));
        fields.extend(words(all));
        fields.extend(numbers());
        // The last column is what a page colours.
        fields.push(field::name("verdict", "verdict", |(of, row)| row.verdict(&of.unit)));
        Table::of_fields(&rows, fields)
    }

    /// Returns the verdict of each row of the table.
    pub(crate) fn verdicts(all: &[Self]) -> impl Iterator<Item = Verdict> {
        all.iter().flat_map(|of| of.rows.iter().map(|row| row.comparison.verdict))
    }

    /// Returns whether less of the metric is better.
    pub(crate) fn less_is_better(&self) -> bool {
        self.rows.first().is_none_or(|r| r.comparison.direction == Direction::LessIsBetter)
    }
}

/// A row of the table: a comparison, and those that it is one of.
type CompareRow<'a> = (&'a Comparisons, &'a ComparisonRow);

/// Returns the names of a point's components, if all comparisons have the same.
fn places(all: &[Comparisons]) -> Vec<String> {
    let Some(first) = all.first() else { return Vec::new() };
    match all.iter().all(|of| of.point == first.point) {
        true => first.places().map(str::to_owned).collect(),
        false => vec!["point".to_owned()],
    }
}

/// Returns the columns that people read.
fn words(all: &[Comparisons]) -> Vec<Field<'_, CompareRow<'_>>> {
    let confidence = all.iter().flat_map(|of| &of.rows).next();
    let confidence = confidence.map_or_else(|| "95 %".to_owned(), ComparisonRow::confidence);
    let interval = format!("{confidence} interval");
    let candidate =
        field::name("candidate", "candidate", |(_, row): &CompareRow<'_>| &row.candidate);
    let mut candidates = all.iter().flat_map(|of| &of.rows).map(|row| &row.candidate);
    let first = candidates.next();
    // The sentences name a single one.
    let is_one = candidates.all(|candidate| Some(candidate) == first);
    vec![
        if is_one { candidate.where_room() } else { candidate },
        field::name("against", "baseline", |(of, _): &CompareRow<'_>| &of.baseline).where_room(),
        field::cell("change", "", |(of, row)| Cell::Text(row.effect(&of.unit))),
        field::cell(&interval, "", |(of, row)| Cell::Text(row.interval(&of.unit))),
        field::cell("median run", "candidate_median", |(of, row): &CompareRow<'_>| {
            Cell::Quantity(row.comparison.candidate.median, of.unit.clone())
        })
        .where_room(),
        field::cell("of baseline", "baseline_median", |(of, row): &CompareRow<'_>| {
            Cell::Quantity(row.comparison.baseline.median, of.unit.clone())
        })
        .where_room(),
        field::cell("p", "", |(_, row): &CompareRow<'_>| Cell::Text(row.p())).where_room(),
        field::cell("runs", "", |(_, row): &CompareRow<'_>| {
            let Comparison { baseline, candidate, .. } = &row.comparison;
            Cell::Text(format!("{} + {}", baseline.n, candidate.n))
        })
        .where_room(),
    ]
}

/// Returns the columns that programs read.
fn numbers<'a>() -> Vec<Field<'a, CompareRow<'a>>> {
    fn number<'a>(key: &str, read: fn(&Comparison) -> f64) -> Field<'a, CompareRow<'a>> {
        field::by(key, key, move |(_, row): &CompareRow<'a>| Cell::Number(read(&row.comparison), 9))
            .as_data()
    }
    fn ratio<'a>(key: &str, read: fn(&Estimate) -> f64) -> Field<'a, CompareRow<'a>> {
        field::by(key, key, move |(_, row): &CompareRow<'a>| {
            let ratio = row.comparison.ratio.as_ref();
            ratio.map_or(Cell::Missing, |ratio| Cell::Number(read(ratio), 9))
        })
        .as_data()
    }
    fn count<'a>(key: &str, read: fn(&Comparison) -> usize) -> Field<'a, CompareRow<'a>> {
        field::by(key, key, move |(_, row): &CompareRow<'a>| {
            Cell::Count(read(&row.comparison) as u64)
        })
        .as_data()
    }
    vec![
        count("baseline_n", |c| c.baseline.n),
        count("candidate_n", |c| c.candidate.n),
        number("baseline_mean", |c| c.baseline.mean),
        number("candidate_mean", |c| c.candidate.mean),
        ratio("ratio", |ratio| ratio.value),
        ratio("ratio_low", |ratio| ratio.interval.low),
        ratio("ratio_high", |ratio| ratio.interval.high),
        number("difference", |c| c.difference.value),
        number("difference_low", |c| c.difference.interval.low),
        number("difference_high", |c| c.difference.interval.high),
        number("p", |c| c.p),
        count("runs_needed", |c| c.runs_needed),
    ]
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
        let lines = Comparisons::table(std::slice::from_ref(&two)).lines();
        let columns =
            |line: &str| line.split_whitespace().take(3).map(str::to_owned).collect::<Vec<_>>();
        assert!(lines[0].contains("groups  CPUs  candidate"), "{}", lines[0]);
        assert_eq!(columns(&lines[1])[..2], ["10", "4"]);
        assert!(two.sentences()[0].contains("at groups 10, CPUs 4:"), "{}", two.sentences()[0]);
        // A comma in the point of a single component has no meaning.
        let one = table("variant", &[("slub 10, 4", 2.0)]);
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
        let table = Comparisons::table(std::slice::from_ref(&few));
        assert!(table.lines()[1].ends_with("undecided"));
        few.rows.pop();
        let said = "Undecided whether b and a differ in time at groups 1: 8 runs cannot decide, 12 can; +100.0 % (";
        assert!(few.answers()[0].starts_with(said), "{:?}", few.answers());
    }

    #[test]
    fn many_comparisons_are_answered_by_those_that_show_something() {
        let mut rows = vec![("1", 1.0); 4];
        assert_eq!(table("n", &rows).answers().len(), 4);
        rows.push(("2", 2.0));
        let answers = table("n", &rows).answers();
        assert_eq!(answers.len(), 2, "{answers:?}");
        assert!(answers[0].starts_with("b is slower than a at n 2"), "{answers:?}");
        assert_eq!(answers[1], "No difference in time shown in 4 of 5 comparisons.");
    }

    #[test]
    fn a_program_reads_numbers_and_no_words_but_names() {
        let csv = Comparisons::table(&[table("groups, CPUs", &[("10, 4", 2.0)])]).csv();
        let (head, row) = csv.trim_end().split_once('\n').unwrap();
        let of = |key: &str| {
            let row = row.replace("\"10, 4\"", "10;4");
            let row: Vec<&str> = row.split(',').collect();
            row[head.split(',').position(|name| name == key).expect(key)].to_owned()
        };
        assert_eq!(of("ratio").parse::<f64>().unwrap(), 2.0);
        assert_eq!(
            (of("point"), of("verdict"), of("baseline_n")),
            ("10;4".into(), "slower".into(), "8".into())
        );
        assert!(!head.split(',').any(str::is_empty) && !head.contains("interval"), "{head}");
    }

    #[test]
    fn a_small_change_of_a_size_is_said_in_bytes() {
        let mut sizes = table("", &[("", 1.001)]);
        sizes.unit = "KiB".into();
        let sentence = &sizes.sentences()[0];
        assert!(
            sentence.contains("KiB (95 % interval ") && !sentence.contains("+0.10 %"),
            "{sentence}"
        );
        sizes.rows = table("", &[("", 1.5)]).rows;
        assert!(sizes.sentences()[0].contains("+50.0 %"), "{}", sizes.sentences()[0]);
    }

    #[test]
    fn a_change_against_the_medians_is_explained() {
        // In every pair but one the candidate is faster; the medians say the opposite.
        let base = [10.0, 11.0, 12.0, 20.0, 21.0];
        let other = [9.0, 10.0, 19.0, 19.5, 20.5];
        let comparison = compare(&base, &other, Pairing::Paired, &Question::default()).unwrap();
        let mut of = table("", &[("", 1.0)]);
        assert!(Comparisons::note(std::slice::from_ref(&of)).is_none());
        of.rows[0].comparison = comparison;
        assert!(Comparisons::note(&[of]).is_some_and(|note| note.contains("Hodges-Lehmann")));
    }
}
