//! `slablab kernel report`: the table of an experiment, from its raw rows and nothing else.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use serde::Serialize;
use slablab_klab::{Analysis, Cell as Measured, Group, Header, read_raw};

use crate::cli::{OutputArgs, ResultFile};
use crate::output::{self, Cell, Column, Page, Report, Table};

/// Make the table of an experiment anew from its raw rows
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The raw.jsonl of a run, or the folder it is in
    #[arg(value_name = "RAW")]
    raw: PathBuf,
    /// Hold the others against this variant [default: the first]
    #[arg(long, value_name = "VARIANT")]
    baseline: Option<String>,
    #[command(flatten)]
    result: ResultFile,
}

/// What a raw file proves, with how it came about.
#[derive(Serialize)]
pub(crate) struct Findings {
    header: Header,
    #[serde(flatten)]
    analysis: Analysis,
    raw: PathBuf,
    rows: usize,
}

impl Findings {
    /// Reads and analyses a raw file.
    pub(crate) fn of(raw: &Path, baseline: Option<&str>) -> Result<Self> {
        let (header, rows) = read_raw(raw)?;
        let analysis = Analysis::of(&header, &rows, baseline)?;
        Ok(Self { header, analysis, raw: raw.to_owned(), rows: rows.len() })
    }

    /// Appends the table of one metric.
    fn metric(&self, page: &mut Page, metric: &str) {
        let groups = self.analysis.groups.iter().filter(|group| group.metric == metric);
        let groups: Vec<_> = groups.collect();
        let mut table = Table::new(self.columns());
        for group in &groups {
            group.cells.iter().for_each(|cell| table.row(self.row(group, cell)));
        }
        page.table(&table);
    }

    fn columns(&self) -> Vec<Column> {
        let baseline = &self.analysis.baseline;
        let mut columns = vec![Column::number("CPUs", "cpus")];
        let params = self.analysis.groups.first().map(|group| &group.params);
        columns.extend(params.into_iter().flatten().map(|(key, _)| Column::number(key, key)));
        columns.extend([
            Column::name("variant", "variant"),
            Column::name("metric", "metric"),
            Column::number("runs", "runs"),
            Column::number("median", "median"),
            Column::number("from", "interval_low"),
            Column::number("to", "interval_high"),
            Column::number(format!("against {baseline}"), "change_share"),
            Column::number("from", "change_low"),
            Column::number("to", "change_high"),
            Column::number("p", "p"),
            Column::name("verdict", "verdict"),
        ]);
        columns
    }

    fn row(&self, group: &Group, cell: &Measured) -> Vec<Cell> {
        let decimals = if group.unit == "s" { 3 } else { 0 };
        let number = |value: f64| Cell::Number(value, decimals);
        let mut row = vec![Cell::Count(group.cpus.into())];
        row.extend(group.params.values().map(|value| match value.as_u64() {
            Some(count) => Cell::Count(count),
            None => Cell::text(value.to_string()),
        }));
        let interval = cell.interval.map(|interval| (interval.low, interval.high));
        row.extend([
            Cell::text(&cell.variant),
            Cell::text(format!("{} {}", group.metric, group.unit)),
            Cell::Count(cell.runs as u64),
            number(cell.median),
            interval.map_or(Cell::Missing, |(low, _)| number(low)),
            interval.map_or(Cell::Missing, |(_, high)| number(high)),
        ]);
        let Some(comparison) = &cell.comparison else {
            let word = if cell.variant == self.analysis.baseline { "baseline" } else { "too few" };
            row.extend([const { Cell::Missing }; 4]);
            row.push(Cell::text(word));
            return row;
        };
        match &comparison.ratio {
            Some(ratio) => row.extend(
                [ratio.value, ratio.interval.low, ratio.interval.high]
                    .map(|ratio| Cell::Share(ratio - 1.0)),
            ),
            None => row.extend([const { Cell::Missing }; 3]),
        }
        row.push(Cell::Number(comparison.p, 4));
        let verdict = match comparison.is_too_small() {
            true => "too few runs for a verdict",
            false => comparison.verdict.words(words_unit(&group.unit), group.direction),
        };
        row.push(Cell::text(verdict));
        row
    }
}

/// Returns the unit as the words of a verdict know it.
fn words_unit(unit: &str) -> &str {
    if unit == "kB" { "KiB" } else { unit }
}

impl Report for Findings {
    const SCHEMA: &'static str = "slablab.kernel-report/1";

    fn text(&self, page: &mut Page) {
        let header = &self.header;
        page.line(format!("{}: {}", header.experiment, header.question));
        let times = match header.emulated {
            true => "times are EMULATED: fit for comparison with each other only",
            false => "times are this machine's",
        };
        page.line(format!("{} ({}); {times}", header.accel, header.accel_why));
        page.line(format!(
            "{} on {}, {} CPUs, Linux {}; seed {}; 95 % intervals; p adjusted for each group (Holm)",
            header.kernels.values().next().map_or("", |kernel| &kernel.release),
            header.host_cpu,
            header.host_cpus,
            header.host_release,
            header.seed,
        ));
        for (metric, unit, _) in &header.metrics {
            page.heading(&format!("{metric} ({unit})"));
            self.metric(page, metric);
        }
        page.line("");
        page.line(format!("{} raw rows: {}", self.rows, self.raw.display()));
    }

    fn csv(&self) -> Table {
        let mut table = Table::new(self.columns());
        for group in &self.analysis.groups {
            group.cells.iter().for_each(|cell| table.row(self.row(group, cell)));
        }
        table
    }
}

/// Runs `slablab kernel report`.
pub(crate) fn run(args: &Args, output: &OutputArgs) -> Result<ExitCode> {
    let raw = if args.raw.is_dir() { args.raw.join("raw.jsonl") } else { args.raw.clone() };
    let findings = Findings::of(&raw, args.baseline.as_deref())?;
    output::print(&findings, output, args.result.output.as_deref())?;
    Ok(ExitCode::SUCCESS)
}
