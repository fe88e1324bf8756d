//! The words of the lab: what a user asks for, and what an experiment makes of it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use slablab_stats::{Direction, Pairing};

/// Where something runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
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
    /// A time: each run is a sample, and those of a round are alike in what the machine did meanwhile
    Sampled,
    /// What a machine that was started for the run holds, however fast it ran: each run is a sample by itself
    Independent,
    /// A count: each run gives the same, and one is enough
    Exact,
}

/// Something that is measured.
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

    /// Makes a metric of which less is better.
    pub(crate) fn less(key: &str, name: &str, unit: &str, nature: Nature) -> Self {
        Self {
            key: key.to_owned(),
            name: name.to_owned(),
            unit: unit.to_owned(),
            direction: Direction::LessIsBetter,
            nature,
        }
    }

    /// Makes a metric of which more is better.
    pub(crate) fn more(key: &str, name: &str, unit: &str, nature: Nature) -> Self {
        Self { direction: Direction::MoreIsBetter, ..Self::less(key, name, unit, nature) }
    }
}

/// What a user asks for.
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
    /// How many rounds, instead of what the scale says
    pub rounds: Option<usize>,
    /// The RNG seed of the random order
    pub seed: u64,
}

/// What to run: every variant at every point, in every round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Design {
    /// What is compared; the first is the baseline
    pub variants: Vec<String>,
    /// What the points are: `probes`; empty when there is one only
    pub point_name: String,
    /// At which values
    pub points: Vec<String>,
    /// How often
    pub rounds: usize,
    /// How many rounds to run first and not to count
    pub warmups: usize,
    /// How many points one cell goes through: a boot that runs several loads
    #[serde(default = "one")]
    pub points_per_cell: usize,
}

fn one() -> usize {
    1
}

impl Design {
    /// Returns a design of `variants` at `points`, a cell for each of them.
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
