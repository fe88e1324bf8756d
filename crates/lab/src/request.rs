//! The words of the lab: what a user requests, and what an experiment makes of it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use slablab_stats::{Direction, Pairing};

/// Where something runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Engine {
    /// Our library in a process
    User,
    /// A real Linux in QEMU
    Kernel,
}

impl std::fmt::Display for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::User => "user",
            Self::Kernel => "kernel",
        })
    }
}

/// How thoroughly to measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// A smoke run: seconds, to see that it works
    Smoke,
    /// As many runs as the answer needs
    Full,
}

/// Whether a number differs from run to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Nature {
    /// A time: each run is a sample, and the machine's other work affects those of a round alike
    Sampled,
    /// The memory of a machine that was started for the run, however fast it ran: each run is a sample by
    /// itself
    Independent,
    /// A count: each run gives the same, and one is enough
    Exact,
}

/// A quantity that is measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metric {
    /// Its name in rows, unit last: `held_bytes_peak`
    pub key: String,
    /// Its name for people
    pub name: String,
    /// Its unit
    pub unit: String,
    /// Whether less or more is better
    pub direction: Direction,
    /// Whether it differs from run to run
    pub nature: Nature,
}

impl Metric {
    /// Returns how runs of two variants are compared; `None` where every run gives the same.
    pub(crate) fn pairing(&self) -> Option<Pairing> {
        match self.nature {
            Nature::Sampled => Some(Pairing::Paired),
            Nature::Independent => Some(Pairing::Independent),
            Nature::Exact => None,
        }
    }

    /// Makes a metric for which less is better.
    pub(crate) fn less(key: &str, name: &str, unit: &str, nature: Nature) -> Self {
        Self {
            key: key.to_owned(),
            name: name.to_owned(),
            unit: unit.to_owned(),
            direction: Direction::LessIsBetter,
            nature,
        }
    }

    /// Makes a metric for which more is better.
    pub(crate) fn more(key: &str, name: &str, unit: &str, nature: Nature) -> Self {
        Self { direction: Direction::MoreIsBetter, ..Self::less(key, name, unit, nature) }
    }
}

/// A user's request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// Where
    pub engine: Engine,
    /// How thoroughly
    pub scale: Scale,
    /// Parameters of the experiment
    pub params: BTreeMap<String, String>,
    /// A file that the experiment works on: a trace
    pub input: Option<PathBuf>,
    /// The number of rounds, instead of that of the scale
    pub rounds: Option<usize>,
    /// The RNG seed of the random order
    pub seed: u64,
}

#[cfg(test)]
impl Request {
    /// Returns a request in the engine kernel with these parameters, for tests.
    pub(crate) fn for_guests(params: &[(&str, &str)]) -> Self {
        let params = params.iter().map(|(name, value)| ((*name).into(), (*value).into()));
        Self {
            engine: Engine::Kernel,
            scale: Scale::Full,
            params: params.collect(),
            input: None,
            rounds: None,
            seed: 1,
        }
    }
}

/// What to run: every variant at every point, in every round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Design {
    /// What is compared; the first is the baseline
    pub variants: Vec<String>,
    /// The quantity of the points, such as `probes`; empty when there is only one point
    pub point_name: String,
    /// At which values
    pub points: Vec<String>,
    /// The number of rounds
    pub rounds: usize,
    /// The number of rounds that run first and do not count
    pub warmups: usize,
    /// The number of points that one cell goes through, as a boot that runs several loads
    #[serde(default = "one")]
    pub points_per_cell: usize,
}

fn one() -> usize {
    1
}

impl Design {
    /// Returns a design of `variants` at `points`, with a cell for each of them.
    pub(crate) fn at_points(
        variants: impl IntoIterator<Item = impl Into<String>>,
        (point_name, points): (&str, Vec<String>),
        rounds: usize,
        warmups: usize,
    ) -> Self {
        let variants = variants.into_iter().map(Into::into).collect();
        Self {
            variants,
            point_name: point_name.to_owned(),
            points,
            rounds,
            warmups,
            points_per_cell: 1,
        }
    }

    /// Returns a design in which only variants differ.
    pub fn without_points(
        variants: impl IntoIterator<Item = impl Into<String>>,
        rounds: usize,
        warmups: usize,
    ) -> Self {
        Self::at_points(variants, ("", vec![String::new()]), rounds, warmups)
    }
}
