//! The trait that every experiment has, and the words around it.
//!
//! How it works: the lab asks an experiment for its [`Design`], makes the plan, asks it to set up a [`Bench`] once, and
//! then for one [`Observation`] a cell. An experiment knows nothing of order, files or statistics.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use slablab_report::Section;
use slablab_stats::Direction;
use slablab_vm::Step;

use crate::{Cell, Outcome, Result};

/// A question that the lab can answer.
pub trait Experiment: Sync {
    /// Returns the name by which it is run.
    fn name(&self) -> &'static str;

    /// Returns the question.
    fn question(&self) -> &'static str;

    /// Returns where it can run.
    fn engines(&self) -> &'static [Engine];

    /// Returns what it measures; the first answers the question.
    fn metrics(&self) -> Vec<Metric>;

    /// Returns the parameters that a request may set, each with what it means.
    fn parameters(&self) -> &'static [(&'static str, &'static str)];

    /// Returns what to run for `request`.
    ///
    /// # Errors
    ///
    /// If a parameter has a value that makes no sense, or an input is missing.
    fn design(&self, request: &Request) -> Result<Design>;

    /// Sets up what all cells share: reads the trace, builds the kernels.
    ///
    /// # Errors
    ///
    /// If that fails.
    fn prepare(&self, setup: &mut Setup<'_>) -> Result<Box<dyn Bench>>;

    /// Returns what a report shows beside comparisons and samples: address maps, say.
    fn sections(&self, _outcome: &Outcome) -> Vec<Section> {
        Vec::new()
    }
}

/// What an experiment is set up with.
pub struct Setup<'a> {
    /// What a user asked for
    pub request: &'a Request,
    /// What was made of it
    pub design: &'a Design,
    /// The result folder, for what is too large for a row
    pub folder: &'a Path,
    /// Is told what is being done, where that takes long
    pub watch: &'a mut dyn FnMut(Step<'_>),
}

impl std::fmt::Debug for Setup<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { request, design, folder, watch: _ } = self;
        f.debug_struct("Setup")
            .field("request", request)
            .field("design", design)
            .field("folder", folder)
            .finish_non_exhaustive()
    }
}

/// An experiment that is set up and takes one measurement at a time.
pub trait Bench {
    /// Measures one cell.
    ///
    /// # Errors
    ///
    /// If it cannot be measured; the run stops, and can be resumed.
    fn observe(&mut self, cell: &Cell) -> Result<Observation>;
}

/// Where something runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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

/// How thorough a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// Seconds: does it work
    Smoke,
    /// As long as the answer needs
    Full,
}

/// Whether a number differs from run to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Nature {
    /// A time: each run is a sample
    Sampled,
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
    /// Where the random order starts
    pub seed: u64,
}

impl Request {
    /// Returns the comma-separated values of parameter `key`, or else `default`.
    pub(crate) fn list(&self, key: &str, default: &[&str]) -> Vec<String> {
        match self.params.get(key) {
            Some(text) => {
                text.split(',').map(|v| v.trim().to_owned()).filter(|v| !v.is_empty()).collect()
            }
            None => default.iter().map(|v| (*v).to_owned()).collect(),
        }
    }
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
}

impl Design {
    /// Returns a design in which only variants differ.
    #[must_use]
    pub fn without_points(
        variants: impl IntoIterator<Item = impl Into<String>>,
        rounds: usize,
        warmups: usize,
    ) -> Self {
        Self {
            variants: variants.into_iter().map(Into::into).collect(),
            point_name: String::new(),
            points: vec![String::new()],
            rounds,
            warmups,
        }
    }
}

/// What a cell gave at one of several points that it went through.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// The point
    pub point: String,
    /// The values, by the key of their metric
    pub values: BTreeMap<String, f64>,
}

/// What one cell gave.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Observation {
    /// The values, by the key of their metric
    pub values: BTreeMap<String, f64>,
    /// The values at each point, where one cell goes through them all: a boot, say
    pub parts: Vec<Part>,
    /// What else there is: addresses, counters; null when there is nothing
    pub detail: serde_json::Value,
    /// The command that repeats it, where there is one
    pub command: String,
}
