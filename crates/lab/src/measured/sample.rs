//! What a file of results has: values of a metric, by variant.

use slablab_stats::Direction;

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
    pub(super) fn less(variant: &str, metric: &str, unit: &str, values: Vec<f64>) -> Self {
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
    pub(super) fn new(kind: &'static str, samples: Vec<Sample>) -> Self {
        Self { kind, samples, is_paired: false, notes: Vec::new() }
    }
}

/// Returns whether more is better: of rates, and of nothing else that is known.
pub(super) fn direction(metric: &str, unit: &str) -> Direction {
    let metric = metric.to_ascii_lowercase();
    let is_rate = unit.contains("/s")
        || unit.ends_with("ps")
        || ["throughput", "bandwidth", "ops_per", "per_second", "iops"]
            .iter()
            .any(|word| metric.contains(word));
    if is_rate { Direction::MoreIsBetter } else { Direction::LessIsBetter }
}
