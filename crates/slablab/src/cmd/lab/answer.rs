//! The answer of a comparison, in every format: sentences and tables, JSON, CSV.

use clap::ValueEnum;
use serde::Serialize;
use slablab_lab::{ComparedResults, MetricComparisons, Nature, Outcome, Pair};
use slablab_report::{Comparisons, human};
use slablab_stats::{Comparison, Verdict};

use crate::output::{Cell, Column, Page, Report, Table};

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
#[derive(Serialize)]
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
#[derive(Serialize)]
struct Compared {
    metric: String,
    unit: String,
    baseline: String,
    rows: Vec<One>,
    #[serde(skip)]
    table: Comparisons,
}

/// One comparison.
#[derive(Serialize)]
struct One {
    point: String,
    candidate: String,
    answer: &'static str,
    sentence: String,
    comparison: Comparison,
}

/// A metric that is the same in every run.
#[derive(Serialize)]
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
        let mut remarks = Vec::new();
        if tables.iter().any(|table| table.rows.len() > 1) {
            remarks.push(
                "p is corrected for all comparisons of a metric by Holm's method.".to_owned(),
            );
        }
        let comparisons = tables.into_iter().map(Compared::of).collect();
        Self { subject, remarks, comparisons, counts: Vec::new(), layout }
    }

    /// Makes the answer about two columns.
    pub(crate) fn of_pair(pair: &Pair, table: Comparisons, layout: Layout) -> Self {
        Self::new(
            format!("{} against {}", pair.candidate.name, pair.baseline.name),
            vec![table],
            layout,
        )
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
        for metric in outcome.metrics(Nature::Exact) {
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
        Self::of_across(format!("{} against {}", b.name, a.name), across, layout)
    }

    /// Makes the answer about variants on several hosts.
    pub(crate) fn of_hosts(outcomes: &[Outcome], across: ComparedResults, layout: Layout) -> Self {
        let mut hosts: Vec<&str> =
            outcomes.iter().map(|o| o.plan.environment.host.as_str()).collect();
        hosts.sort_unstable();
        hosts.dedup();
        let subject = format!("within each of {} hosts: {}", hosts.len(), hosts.join(", "));
        Self::of_across(subject, across, layout)
    }

    fn of_across(subject: String, across: ComparedResults, layout: Layout) -> Self {
        let mut answer = Self::new(subject, sides(across.sides), layout);
        answer.remarks.extend(across.remarks);
        answer
    }

    /// Returns all verdicts.
    pub(crate) fn verdicts(&self) -> impl Iterator<Item = Verdict> {
        self.comparisons.iter().flat_map(|c| c.rows.iter().map(|row| row.comparison.verdict))
    }

    fn counts_table(&self) -> Table {
        let mut table = Table::new([
            Column::name("count", "metric"),
            Column::name("variant", "variant"),
            Column::name("at", "point"),
            Column::number("value", "value"),
        ]);
        for count in &self.counts {
            table.row([
                Cell::text(&count.metric),
                Cell::text(&count.variant),
                Cell::text(&count.point),
                Cell::text(human(count.value, &count.unit)),
            ]);
        }
        table
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
            table.lines().for_each(|line| page.line(line));
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
        let mut table = Table::new(
            [
                ("metric", "metric"),
                ("unit", "unit"),
                ("point", "point"),
                ("baseline", "baseline"),
                ("candidate", "candidate"),
                ("verdict", "verdict"),
            ]
            .map(|(head, key)| Column::name(head, key))
            .into_iter()
            .chain(
                [
                    "baseline_n",
                    "candidate_n",
                    "baseline_median",
                    "candidate_median",
                    "baseline_mean",
                    "candidate_mean",
                    "ratio",
                    "ratio_low",
                    "ratio_high",
                    "difference",
                    "difference_low",
                    "difference_high",
                    "p",
                    "runs_needed",
                ]
                .map(|key| Column::number(key, key)),
            )
            .collect::<Vec<_>>(),
        );
        for compared in &self.comparisons {
            compared.rows.iter().for_each(|row| table.row(csv_row(compared, row)));
        }
        table
    }
}

/// Returns the comparisons without what only the lab knows.
fn sides(sides: Vec<MetricComparisons>) -> Vec<Comparisons> {
    sides.into_iter().map(|side| side.comparisons).collect()
}

fn csv_row(compared: &Compared, row: &One) -> Vec<Cell> {
    let number = |x: f64| Cell::Number(x, 9);
    let c = &row.comparison;
    let ratio = |pick: fn(&slablab_stats::Estimate) -> f64| {
        c.ratio.as_ref().map_or(Cell::Missing, |ratio| number(pick(ratio)))
    };
    vec![
        Cell::text(&compared.metric),
        Cell::text(&compared.unit),
        Cell::text(&row.point),
        Cell::text(&compared.baseline),
        Cell::text(&row.candidate),
        Cell::text(row.answer),
        Cell::Count(c.baseline.n as u64),
        Cell::Count(c.candidate.n as u64),
        number(c.baseline.median),
        number(c.candidate.median),
        number(c.baseline.mean),
        number(c.candidate.mean),
        ratio(|r| r.value),
        ratio(|r| r.interval.low),
        ratio(|r| r.interval.high),
        number(c.difference.value),
        number(c.difference.interval.low),
        number(c.difference.interval.high),
        number(c.p),
        Cell::Count(c.runs_needed as u64),
    ]
}
