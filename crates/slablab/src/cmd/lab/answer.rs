//! The answer of a comparison, in every format: sentences and tables, JSON, CSV.

use std::collections::BTreeSet;

use clap::ValueEnum;
use schemars::JsonSchema;
use serde::Serialize;
use slablab_lab::{ComparedResults, MetricComparisons, Outcome, Pair};
use slablab_report::{Comparisons, field::Field, human};
use slablab_stats::{Comparison, Estimate, Verdict};

use crate::output::{Cell, Page, Report, Table, field};

/// Up to so many comparisons of a metric are said in sentences, too.
const SENTENCES_MAX: usize = 4;

/// How a table of comparisons looks.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// For a terminal
    Plain,
    /// For a mail or a page
    Markdown,
    /// As mmtests' compare-mmtests.pl has it
    Mmtests,
}

/// The result of a comparison.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Answer {
    /// What was compared, in a line
    subject: String,
    /// What a reader should know before believing it
    remarks: Vec<String>,
    comparisons: Vec<Compared>,
    /// Metrics that are the same in every run
    counts: Vec<Count>,
    #[serde(skip)]
    layout: Layout,
}

/// The comparisons of one metric.
#[derive(Serialize, JsonSchema)]
struct Compared {
    metric: String,
    unit: String,
    baseline: String,
    rows: Vec<One>,
    #[serde(skip)]
    table: Comparisons,
}

/// One comparison.
#[derive(Serialize, JsonSchema)]
struct One {
    point: String,
    candidate: String,
    answer: &'static str,
    sentence: String,
    comparison: Comparison,
}

/// A metric that is the same in every run.
#[derive(Serialize, JsonSchema)]
struct Count {
    metric: String,
    unit: String,
    variant: String,
    point: String,
    value: f64,
}

impl Compared {
    fn of(table: Comparisons) -> Self {
        let rows = table.rows.iter().zip(table.sentences()).map(|(row, sentence)| One {
            point: row.point.clone(),
            candidate: row.candidate.clone(),
            answer: row.comparison.verdict.words(&table.unit, row.comparison.direction),
            sentence,
            comparison: row.comparison.clone(),
        });
        Self {
            metric: table.metric.clone(),
            unit: table.unit.clone(),
            baseline: table.baseline.clone(),
            rows: rows.collect(),
            table,
        }
    }
}

impl Answer {
    fn new(subject: String, tables: Vec<Comparisons>, layout: Layout) -> Self {
        let holm = "p is corrected for all comparisons of a metric by Holm's method.";
        let several = tables.iter().any(|table| table.rows.len() > 1);
        let remarks = several.then(|| holm.to_owned()).into_iter().collect();
        let comparisons = tables.into_iter().map(Compared::of).collect();
        Self { subject, remarks, comparisons, counts: Vec::new(), layout }
    }

    /// Makes the answer about two columns.
    pub(crate) fn of_pair(pair: &Pair, table: Comparisons, layout: Layout) -> Self {
        let subject = format!("{} against {}", pair.candidate.name, pair.baseline.name);
        Self::new(subject, vec![table], layout)
    }

    /// Makes the answer about the variants of one run.
    pub(crate) fn of_run(
        outcome: &Outcome,
        compared: Vec<MetricComparisons>,
        layout: Layout,
    ) -> Self {
        let plan = &outcome.plan;
        let mut answer = Self::new(
            format!("{} ({} engine): {}", outcome.name, plan.engine, plan.question),
            sides(compared),
            layout,
        );
        answer.remarks.extend(outcome.remarks());
        for metric in outcome.counts() {
            for point in &plan.design.points {
                for group in outcome.groups(&metric.key, point) {
                    answer.counts.push(Count {
                        metric: metric.name.clone(),
                        unit: metric.unit.clone(),
                        variant: group.name,
                        point: point.clone(),
                        value: group.values[0],
                    });
                }
            }
        }
        answer
    }

    /// Makes the answer about two runs that were made one after the other.
    pub(crate) fn of_runs(
        a: &Outcome,
        b: &Outcome,
        across: ComparedResults,
        layout: Layout,
    ) -> Self {
        Self::of_several(format!("{} against {}", b.name, a.name), across, layout)
    }

    /// Makes the answer about variants on several hosts.
    pub(crate) fn of_hosts(outcomes: &[Outcome], across: ComparedResults, layout: Layout) -> Self {
        let hosts: BTreeSet<&str> = outcomes.iter().flat_map(Outcome::hosts).collect();
        let names = hosts.iter().copied().collect::<Vec<_>>().join(", ");
        Self::of_several(format!("within each of {} hosts: {names}", hosts.len()), across, layout)
    }

    fn of_several(subject: String, across: ComparedResults, layout: Layout) -> Self {
        let mut answer = Self::new(subject, sides(across.sides), layout);
        answer.remarks.extend(across.remarks);
        answer
    }

    /// Returns all verdicts.
    pub(crate) fn verdicts(&self) -> impl Iterator<Item = Verdict> {
        self.comparisons.iter().flat_map(|c| c.rows.iter().map(|row| row.comparison.verdict))
    }

    fn counts_table(&self) -> Table {
        let fields = [
            field::name("count", "metric", |count: &Count| &count.metric),
            field::name("variant", "variant", |count| &count.variant),
            field::name("at", "point", |count| &count.point),
            field::cell("value", "value", |count| Cell::text(human(count.value, &count.unit))),
        ];
        Table::of(&self.counts, fields)
    }
}

impl Report for Answer {
    const SCHEMA: &'static str = "slablab.lab.compare/2";

    fn text(&self, page: &mut Page) {
        page.line(&self.subject);
        for compared in &self.comparisons {
            page.heading(&compared.metric);
            let table = match self.layout {
                Layout::Plain => compared.table.plain(),
                Layout::Markdown => compared.table.markdown(),
                Layout::Mmtests => compared.table.mmtests(),
            };
            page.lines(&table);
            // A long table says it better than as many sentences.
            if compared.rows.len() <= SENTENCES_MAX {
                page.line("");
                compared.table.answers().iter().for_each(|answer| page.line(answer));
            }
        }
        if !self.counts.is_empty() {
            page.heading("The same in every run");
            page.table(&self.counts_table());
        }
        if !self.remarks.is_empty() {
            page.line("");
            self.remarks.iter().for_each(|remark| page.line(remark));
        }
    }

    fn csv(&self) -> Table {
        if self.comparisons.is_empty() {
            return self.counts_table();
        }
        let rows = self.comparisons.iter().flat_map(|of| of.rows.iter().map(move |one| (of, one)));
        let rows: Vec<(&Compared, &One)> = rows.collect();
        fn number(key: &str, read: fn(&Comparison) -> f64) -> Field<'_, (&Compared, &One)> {
            field::by(key, key, move |(_, one): &(_, &One)| Cell::Number(read(&one.comparison), 9))
        }
        fn ratio(key: &str, read: fn(&Estimate) -> f64) -> Field<'_, (&Compared, &One)> {
            field::by(key, key, move |(_, one): &(_, &One)| {
                let ratio = one.comparison.ratio.as_ref();
                ratio.map_or(Cell::Missing, |ratio| Cell::Number(read(ratio), 9))
            })
        }
        let fields = [
            field::name("metric", "metric", |(of, _): &(&Compared, &One)| &of.metric),
            field::name("unit", "unit", |(of, _)| &of.unit),
            field::name("point", "point", |(_, one)| &one.point),
            field::name("baseline", "baseline", |(of, _)| &of.baseline),
            field::name("candidate", "candidate", |(_, one)| &one.candidate),
            field::name("verdict", "verdict", |(_, one)| one.answer),
            field::count("baseline_n", "baseline_n", |(_, one)| one.comparison.baseline.n as u64),
            field::count("candidate_n", "candidate_n", |(_, one)| {
                one.comparison.candidate.n as u64
            }),
            number("baseline_median", |c| c.baseline.median),
            number("candidate_median", |c| c.candidate.median),
            number("baseline_mean", |c| c.baseline.mean),
            number("candidate_mean", |c| c.candidate.mean),
            ratio("ratio", |ratio| ratio.value),
            ratio("ratio_low", |ratio| ratio.interval.low),
            ratio("ratio_high", |ratio| ratio.interval.high),
            number("difference", |c| c.difference.value),
            number("difference_low", |c| c.difference.interval.low),
            number("difference_high", |c| c.difference.interval.high),
            number("p", |c| c.p),
            field::count("runs_needed", "runs_needed", |(_, one)| {
                one.comparison.runs_needed as u64
            }),
        ];
        Table::of(&rows, fields)
    }
}

/// Returns the comparisons without what only the lab knows.
fn sides(sides: Vec<MetricComparisons>) -> Vec<Comparisons> {
    sides.into_iter().map(|side| side.comparisons).collect()
}
