//! Tables: with a column of variants and columns of metrics, or with a column for each variant.
//!
//! # How it works
//! A column that counts, or that is called like a count of runs, is none of values; rows that are counted are pairs. A column
//! of words whose values come again is that of the variants, further ones tell what was measured.

use std::collections::BTreeSet;

use super::lines::number;
use super::plain::is_counting;
use super::sample::{Measured, Sample};

/// What columns of variants are called.
const VARIANTS: [&str; 14] = [
    "variant",
    "version",
    "kernel",
    "build",
    "config",
    "command",
    "label",
    "allocator",
    "patch",
    "branch",
    "commit",
    "group",
    "case",
    "name",
];
/// Columns of words that are neither variants nor what was measured.
const NOTES: [&str; 9] =
    ["host", "hostname", "machine", "date", "time", "timestamp", "note", "comment", "status"];
/// Names of columns that count.
const COUNTERS: [&str; 14] = [
    "run",
    "runs",
    "round",
    "iteration",
    "iter",
    "i",
    "n",
    "#",
    "no",
    "index",
    "id",
    "seed",
    "pid",
    "sample",
];
/// What columns of numbers are called that say what was measured.
const PARAMETERS: [&str; 11] = [
    "threads",
    "cpus",
    "groups",
    "size",
    "bytes_per_object",
    "jobs",
    "clients",
    "processes",
    "workers",
    "depth",
    "objects",
];
/// What columns of metrics are called that name no unit.
const METRICS: [&str; 13] = [
    "elapsed",
    "user",
    "sys",
    "system",
    "real",
    "wall",
    "cpu",
    "rss",
    "maxrss",
    "memory",
    "cycles",
    "instructions",
    "throughput",
];
/// More variants than anybody compares: a column of words with as many is none of variants.
const VARIANTS_MAX: usize = 24;

/// A table, with what its columns are.
struct Table {
    head: Vec<String>,
    rows: Vec<Vec<String>>,
}

pub(super) fn read(text: &str) -> Option<Result<Measured, String>> {
    let table = Table::of(text)?;
    let variants = table.variants();
    let counts = table.columns(|table, at| table.is_counter(at));
    let metrics = table.columns(|table, at| table.is_metric(at, variants));
    if metrics.is_empty() {
        let known = table.head.join(", ");
        return Some(Err(format!("has no column of values; its columns are: {known}")));
    }
    let mut measured = match variants {
        Some(variants) => table.long(variants, &metrics),
        None => table.wide(&metrics),
    };
    measured.is_paired = variants.is_none() && !counts.is_empty();
    measured
        .notes
        .extend(counts.iter().map(|&at| format!("{} counts, and was left out.", table.head[at])));
    Some(Ok(measured))
}

/// Returns whether a table has a column of variants.
pub(crate) fn is_long(text: &str) -> bool {
    Table::of(text).is_some_and(|table| table.variants().is_some())
}

/// Returns whether a column called so with these cells counts, or says what was measured: it is none of values.
pub(crate) fn is_no_value(name: &str, cells: &[&str]) -> bool {
    let name = name.to_ascii_lowercase();
    let values: Option<Vec<f64>> = cells.iter().map(|cell| number(cell)).collect();
    COUNTERS.contains(&name.as_str())
        || PARAMETERS.contains(&name.as_str())
        || values.is_some_and(|values| is_counting(&values))
}

/// Returns whether a column is called like a metric, and not like what was run.
pub(crate) fn is_called_like_metric(name: &str) -> bool {
    unit_of(name).is_some() || METRICS.contains(&name.to_ascii_lowercase().as_str())
}

/// Returns the unit that a name ends in: `elapsed_s`, `rss_kb`.
fn unit_of(name: &str) -> Option<&'static str> {
    let (_, last) = name.rsplit_once('_')?;
    Some(match last.to_ascii_lowercase().as_str() {
        "s" | "sec" | "secs" | "seconds" => "s",
        "ms" | "msec" => "ms",
        "us" | "usec" => "us",
        "ns" | "nsec" => "ns",
        "kb" | "kib" => "KiB",
        "mb" | "mib" => "MiB",
        "b" | "bytes" => "B",
        _ => return None,
    })
}

impl Table {
    fn of(text: &str) -> Option<Self> {
        let first = text.lines().find(|line| !line.trim().is_empty() && !line.starts_with('#'))?;
        let separator = [b',', b'\t', b';']
            .into_iter()
            .max_by_key(|separator| first.bytes().filter(|byte| byte == separator).count())?;
        if !first.as_bytes().contains(&separator) {
            return None;
        }
        let reader = csv::ReaderBuilder::new()
            .delimiter(separator)
            .comment(Some(b'#'))
            .trim(csv::Trim::All)
            .flexible(true)
            .has_headers(false)
            .from_reader(text.as_bytes());
        let comma = |cell: &str| match separator {
            b';' => cell.replace(',', "."),
            _ => cell.to_owned(),
        };
        let mut rows = reader
            .into_records()
            .map_while(Result::ok)
            .map(|row| row.iter().map(comma).collect::<Vec<String>>())
            .filter(|row| row.iter().any(|cell| !cell.is_empty()));
        let head = rows.next().filter(|head| head.iter().all(|name| number(name).is_none()))?;
        let rows: Vec<Vec<String>> = rows.collect();
        (!rows.is_empty()).then_some(Self { head, rows })
    }

    fn cells(&self, at: usize) -> Vec<&str> {
        self.rows.iter().map(|row| row.get(at).map_or("", String::as_str)).collect()
    }

    fn name(&self, at: usize) -> String {
        self.head[at].to_ascii_lowercase()
    }

    fn columns(&self, is_it: impl Fn(&Self, usize) -> bool) -> Vec<usize> {
        (0..self.head.len()).filter(|at| is_it(self, *at)).collect()
    }

    fn distinct(&self, at: usize) -> BTreeSet<&str> {
        self.cells(at).into_iter().collect()
    }

    /// Returns whether all cells are numbers, but for empty ones at the end.
    fn is_number(&self, at: usize) -> bool {
        let cells = self.cells(at);
        let used = cells.iter().rposition(|cell| !cell.is_empty()).map_or(0, |last| last + 1);
        used > 0 && cells[..used].iter().all(|cell| number(cell).is_some())
    }

    fn is_counter(&self, at: usize) -> bool {
        let is_called_so = COUNTERS.contains(&self.name(at).as_str());
        let counts = self.is_number(at) && {
            let values: Vec<f64> = self.cells(at).into_iter().filter_map(number).collect();
            is_counting(&values)
        };
        counts || is_called_so && self.is_number(at)
    }

    fn is_parameter(&self, at: usize) -> bool {
        self.is_number(at) && PARAMETERS.contains(&self.name(at).as_str())
    }

    fn is_metric(&self, at: usize, variants: Option<usize>) -> bool {
        variants != Some(at) && self.is_number(at) && !self.is_counter(at) && !self.is_parameter(at)
    }

    /// Returns the column of variants: one that is called so, or else the only one of words that come again.
    fn variants(&self) -> Option<usize> {
        let comes_again = |at: &usize| {
            let distinct = self.distinct(*at).len();
            (2..=VARIANTS_MAX).contains(&distinct) && self.rows.len() >= 2 * distinct
        };
        let has_values =
            |at: usize| !self.columns(|table, of| table.is_metric(of, Some(at))).is_empty();
        let mut named =
            (0..self.head.len()).filter(|at| VARIANTS.contains(&self.name(*at).as_str()));
        if let Some(at) = named.find(|at| comes_again(at) && has_values(*at)) {
            return Some(at);
        }
        let is_note = |at: &usize| NOTES.contains(&self.name(*at).as_str());
        let words = self.columns(|table, at| !table.is_number(at) && !is_note(&at));
        words.into_iter().find(|at| comes_again(at) && has_values(*at))
    }

    /// Returns the samples of a table with a column of variants.
    fn long(&self, variants: usize, metrics: &[usize]) -> Measured {
        let is_note = |at: usize| NOTES.contains(&self.name(at).as_str());
        let points = self.columns(|table, at| {
            let is_word = !table.is_number(at) && !is_note(at);
            at != variants && (is_word || table.is_parameter(at)) && table.distinct(at).len() > 1
        });
        let mut samples: Vec<Sample> = Vec::new();
        for row in &self.rows {
            let at = |column: usize| row.get(column).map_or("", String::as_str);
            let point: Vec<String> = points
                .iter()
                .map(|&column| format!("{} {}", self.head[column], at(column)))
                .collect();
            for &metric in metrics {
                let Some(value) = number(at(metric)) else { continue };
                let name = match point.is_empty() {
                    true => self.head[metric].clone(),
                    false => format!("{} at {}", self.head[metric], point.join(", ")),
                };
                push(
                    &mut samples,
                    at(variants),
                    &name,
                    unit_of(&self.head[metric]).unwrap_or(""),
                    value,
                );
            }
        }
        Measured::new("a table with a column of variants", samples)
    }

    /// Returns the samples of a table whose columns are variants, or metrics of one variant.
    fn wide(&self, columns: &[usize]) -> Measured {
        let are_metrics = columns.iter().all(|&at| is_called_like_metric(&self.head[at]));
        let mut samples = Vec::new();
        for &at in columns {
            let (name, unit) =
                match self.head[at].strip_suffix(')').and_then(|name| name.rsplit_once(" (")) {
                    Some((name, unit)) => (name, unit),
                    None => (self.head[at].as_str(), unit_of(&self.head[at]).unwrap_or("")),
                };
            let (variant, metric) = if are_metrics { ("", name) } else { (name, "value") };
            for value in self.cells(at).into_iter().filter_map(number) {
                push(&mut samples, variant, metric, unit, value);
            }
        }
        Measured::new("a table", samples)
    }
}

fn push(samples: &mut Vec<Sample>, variant: &str, metric: &str, unit: &str, value: f64) {
    let is_it = |known: &&mut Sample| {
        known.variant == variant && known.metric == metric && known.unit == unit
    };
    match samples.iter_mut().find(is_it) {
        Some(Sample { values: super::Values::Each(values), .. }) => values.push(value),
        _ => samples.push(Sample::less(variant, metric, unit, vec![value])),
    }
}
