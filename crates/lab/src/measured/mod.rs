//! What other programs measured: their own output, or tables that people keep of it.
//!
//! # How it works
//! A file is known by what is in it, and each kind has a reader of its own, which gives [`Sample`]s: the values of one metric
//! of one variant. [`sides`] finds which of them belong together: the variants of a file, or the same metrics of two files.
//!
//! # Invariants
//! Only values of the same metric are compared, and a column that counts is left out. What has a mean and a deviation alone
//! is never tested.

mod hackbench;
mod hyperfine;
mod lines;
mod mean;
mod perf_bench;
mod perf_stat;
mod plain;
mod sides;
mod table;
mod time;

use std::io::Read;
use std::path::Path;

use slablab_stats::Direction;

use crate::error::{Error, Result};

pub use self::sides::{Side, Sides, sides};
pub(crate) use self::table::{is_called_like_metric, is_long, is_no_value};

/// Bytes of a file of results at most.
const BYTES_MAX: u64 = 256 << 20;

/// The values of one metric of one variant.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// What was run; empty where the file has one variant only, which is then called like the file
    pub variant: String,
    /// What was measured
    pub metric: String,
    /// Its unit
    pub unit: String,
    /// Whether less or more is better
    pub direction: Direction,
    /// The values
    pub values: Values,
}

/// What a file tells of a metric.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Each value
    Each(Vec<f64>),
    /// The mean and the standard deviation of values that are not told
    Mean {
        /// The mean
        mean: f64,
        /// The deviation
        deviation: f64,
    },
}

/// What a file has.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// What the file is, in words
    pub kind: &'static str,
    /// Its samples
    pub samples: Vec<Sample>,
    /// Whether values of two variants at one place belong together
    pub is_paired: bool,
    /// What was left out, in sentences
    pub notes: Vec<String>,
}

impl Sample {
    fn less(variant: &str, metric: &str, unit: &str, values: Vec<f64>) -> Self {
        Self {
            variant: variant.to_owned(),
            metric: metric.to_owned(),
            unit: unit.to_owned(),
            direction: direction(metric, unit),
            values: Values::Each(values),
        }
    }
}

impl Measured {
    fn new(kind: &'static str, samples: Vec<Sample>) -> Self {
        Self { kind, samples, is_paired: false, notes: Vec::new() }
    }
}

/// Returns whether more is better: of rates, and of nothing else that is known.
fn direction(metric: &str, unit: &str) -> Direction {
    let metric = metric.to_ascii_lowercase();
    let is_rate = unit.contains("/s")
        || unit.ends_with("ps")
        || ["throughput", "bandwidth", "ops_per", "per_second", "iops"]
            .iter()
            .any(|word| metric.contains(word));
    if is_rate { Direction::MoreIsBetter } else { Direction::LessIsBetter }
}

/// A reader of a kind of text: nothing if the text is of another kind.
type ReadText = fn(&str) -> Option<std::result::Result<Measured, String>>;

/// The readers; those that are known by words that nothing else has come first.
const READERS: [ReadText; 8] = [
    hyperfine::read,
    perf_stat::read,
    perf_bench::read,
    hackbench::read,
    time::read,
    mean::read,
    plain::read,
    table::read,
];

/// What is read, as refusals say it.
const READABLE: &str = "what is read: the output of hackbench, perf stat, perf bench, time and hyperfine (also its JSON), tables \
    with commas, tabs or semicolons, one value a line, and lines with a mean and a deviation";

/// Reads what a program measured (`-` is standard input).
///
/// # Errors
///
/// If the file cannot be read, or is of no kind that is known.
pub fn measured(path: &Path) -> Result<Measured> {
    let file: Box<dyn Read> = match path == Path::new("-") {
        true => Box::new(std::io::stdin()),
        false => Box::new(std::fs::File::open(path).map_err(Error::io(path, "read the results"))?),
    };
    let mut bytes = Vec::new();
    file.take(BYTES_MAX).read_to_end(&mut bytes).map_err(Error::io(path, "read the results"))?;
    of_text(&String::from_utf8_lossy(&bytes)).map_err(Error::unreadable(path))
}

/// As [`measured`], of a text.
pub(crate) fn of_text(text: &str) -> std::result::Result<Measured, String> {
    if text.trim().is_empty() {
        return Err("is empty".to_owned());
    }
    match READERS.iter().find_map(|read| read(text)) {
        Some(measured) => measured,
        None => Err(format!("has no values that are known; {READABLE}")),
    }
}

#[cfg(test)]
mod tests;
