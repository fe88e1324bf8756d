//! A plan: the cells and their order. It is written before the first run and never changes.
//!
//! # How it works
//! Warm-up rounds come first, then the counted ones; each round contains every variant at every point once, in
//! an order of its own that follows from the seed. So a drift of the machine hits all variants alike, and the
//! rows of a round are pairs.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use slablab_host::{Access, KeyHasher, write_whole};
use slablab_report::counted;
use slablab_stats::{Rng, runs_needed};

use crate::environment::Environment;
use crate::error::{Error, Result, with_schema};
use crate::request::{Design, Engine, Metric, Request, Scale};

/// Parameters that select variants and points, or how to work, and do not change what a cell measures.
const NOT_WORK: [&str; 13] = [
    "allocators",
    "append",
    "cpus",
    "first",
    "kernels",
    "mirror",
    "groups",
    "probes",
    "sizes",
    "threads",
    "jobs",
    "cache",
    "silence",
];
/// The alpha that plans are made for: the default of a comparison.
const ALPHA: f64 = 0.05;

/// The schema of `plan.json`; the number goes up when a field changes its meaning.
pub(crate) const SCHEMA: &str = "slablab.lab.plan/1";
/// The name of the file in a result folder.
pub(crate) const FILE: &str = "plan.json";

/// The runs that will be made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The schema
    pub(crate) schema: String,
    /// The experiment
    pub experiment: String,
    /// Its question
    pub question: String,
    /// Where it runs
    pub engine: Engine,
    /// How thoroughly
    pub scale: Scale,
    /// Parameters that were set
    pub params: BTreeMap<String, String>,
    /// The file that it works on
    pub input: Option<PathBuf>,
    /// A hash of its content; empty without one and in plans of the first version
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub input_key: String,
    /// Variants, points and rounds
    pub design: Design,
    /// What is measured
    pub metrics: Vec<Metric>,
    /// The RNG seed of the random order
    pub seed: u64,
    /// The machine it was planned on
    pub environment: Environment,
}

/// One run of one variant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    /// Its place in the order, from 0
    pub index: usize,
    /// Its round, from 0; warm-ups have rounds of their own
    pub round: usize,
    /// Whether it is run but not counted
    pub warmup: bool,
    /// The variant
    pub variant: String,
    /// The point; empty when there is only one
    pub point: String,
}

impl Cell {
    /// Returns it in words.
    pub fn words(&self) -> String {
        let at = if self.point.is_empty() { String::new() } else { format!(" at {}", self.point) };
        let kind = if self.warmup { "warm-up" } else { "round" };
        format!("{}{at}, {kind} {}", self.variant, self.round + 1)
    }
}

impl Plan {
    /// Returns the cells in the order in which they run.
    pub fn cells(&self) -> Vec<Cell> {
        let mut rng = Rng::new(self.seed);
        let Design { variants, points, rounds, warmups, .. } = &self.design;
        let mut cells = Vec::with_capacity((rounds + warmups) * variants.len() * points.len());
        for turn in 0..warmups + rounds {
            let warmup = turn < *warmups;
            let mut round: Vec<Cell> = points
                .iter()
                .flat_map(|point| variants.iter().map(move |variant| (point, variant)))
                .map(|(point, variant)| Cell {
                    index: 0,
                    round: if warmup { turn } else { turn - warmups },
                    warmup,
                    variant: variant.clone(),
                    point: point.clone(),
                })
                .collect();
            rng.shuffle(&mut round);
            cells.extend(round);
        }
        for (index, cell) in cells.iter_mut().enumerate() {
            cell.index = index;
        }
        cells
    }

    /// Returns what a cell measures, apart from its variant, point and accelerator: each part with the name of the
    /// factor.
    pub fn work(&self) -> BTreeMap<String, String> {
        let params = self.params.iter().filter(|(key, _)| !NOT_WORK.contains(&key.as_str()));
        let mut work: BTreeMap<String, String> =
            params.map(|(key, value)| (key.clone(), value.clone())).collect();
        let scale = if self.scale == Scale::Full { "full" } else { "smoke" };
        work.insert("scale".to_owned(), scale.to_owned());
        let name = |path: &PathBuf| path.file_name().map(|n| n.to_string_lossy().into_owned());
        if let Some(name) = self.input.as_ref().and_then(name) {
            // Twelve digits tell files apart; the whole key is part of the identity.
            let digits = self.input_key.get(..12).unwrap_or(&self.input_key);
            work.insert("input".to_owned(), format!("{name} {digits}").trim_end().to_owned());
        }
        work
    }

    /// Returns the identity of the work under `accelerator` (empty in a process): a hash of the experiment, the
    /// engine, the content of the input, and the parameters.
    pub fn work_key(&self, accelerator: &str) -> String {
        let mut hasher = KeyHasher::new("work of a measurement");
        [&self.experiment, &self.engine.to_string(), accelerator, &self.input_key]
            .iter()
            .for_each(|piece| hasher.update(piece));
        for (name, value) in self.work().iter().filter(|(name, _)| *name != "input") {
            hasher.update(name);
            hasher.update(value);
        }
        hasher.finish().to_string()
    }

    /// Returns how many comparisons with the baseline are made of a metric, and corrected together.
    pub fn comparisons(&self) -> usize {
        let Design { variants, points, points_per_cell, .. } = &self.design;
        points.len() * points_per_cell * (variants.len() - 1)
    }

    /// Returns how many rounds can decide the comparisons of every metric.
    pub fn rounds_needed(&self) -> usize {
        self.rounds_by_metric().map(|(_, rounds)| rounds).max().unwrap_or(1)
    }

    /// Returns the metrics that differ from run to run, each with how many rounds can decide its comparisons.
    fn rounds_by_metric(&self) -> impl Iterator<Item = (&Metric, usize)> {
        let needed = |pairing| runs_needed(pairing, self.comparisons(), ALPHA);
        self.metrics.iter().filter_map(move |metric| Some((metric, needed(metric.pairing()?))))
    }

    /// Returns a summary of the runs, which tells whether `rounds` rounds can decide anything; `None` where every
    /// run gives the same.
    pub fn summary(&self) -> Option<String> {
        let Design { variants, points, rounds, warmups, .. } = &self.design;
        self.rounds_by_metric().next()?;
        let runs = variants.len() * points.len() * (rounds + warmups);
        let scale = if self.scale == Scale::Full { "full" } else { "smoke run" };
        let (comparisons, needed) = (self.comparisons(), self.rounds_needed());
        let plan = format!(
            "{} in the engine {}, {scale}: {} ({}, {})",
            self.experiment,
            self.engine,
            counted(runs as u64, "run"),
            counted(variants.len() as u64, "variant"),
            counted(*rounds as u64, "round")
        );
        if *rounds >= needed || *rounds == 1 {
            return Some(plan);
        }
        let (decided, undecided): (Vec<_>, Vec<_>) =
            self.rounds_by_metric().partition(|(_, needed)| rounds >= needed);
        let names: Vec<&str> = undecided.iter().map(|(metric, _)| metric.name.as_str()).collect();
        let of = if decided.is_empty() { "a metric".to_owned() } else { names.join(" and ") };
        Some(format!(
            "{plan}; {rounds} rounds cannot decide {} of {of}, {needed} can: --rounds {needed}",
            counted(comparisons as u64, "comparison")
        ))
    }

    /// Returns whether `other` runs the same cells for the same question.
    pub fn is_same_work(&self, other: &Self) -> bool {
        let strip = |plan: &Self| Self { environment: Environment::default(), ..plan.clone() };
        strip(self) == strip(other)
    }

    /// Returns whether it names no machine, because it is to be run in shards, or its rows come
    /// from several.
    pub fn is_for_any_machine(&self) -> bool {
        self.environment == Environment::default()
    }

    /// Returns in what `other` differs from this plan, apart from the machine: the first field with both values.
    pub fn difference(&self, other: &Self) -> Option<String> {
        let value = |plan: &Self| {
            let plan = Self { environment: Environment::default(), ..plan.clone() };
            serde_json::to_value(plan).unwrap_or_default()
        };
        differs("", &value(self), &value(other))
    }

    /// Returns the request from which it was made.
    pub fn request(&self) -> Request {
        Request {
            engine: self.engine,
            scale: self.scale,
            params: self.params.clone(),
            input: self.input.clone(),
            rounds: Some(self.design.rounds),
            seed: self.seed,
        }
    }

    /// Reads the plan of a result folder; `None` when it has none.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or is of another version.
    pub fn read(folder: &Path) -> Result<Option<Self>> {
        let path = folder.join(FILE);
        let text = match fs::read(&path) {
            Ok(text) => text,
            // A folder that cannot exist is reported when it is to be made.
            Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                return Ok(None);
            }
            Err(e) => return Err(Error::io(&path, "read the plan")(e)),
        };
        with_schema(&text, "plan", SCHEMA).map(Some).map_err(Error::unreadable(&path))
    }

    /// Removes the plan of a result folder.
    pub(crate) fn remove(folder: &Path) -> std::io::Result<()> {
        fs::remove_file(folder.join(FILE))
    }

    /// Writes the plan into a result folder, whole or not at all.
    ///
    /// # Errors
    ///
    /// If the folder cannot be written.
    pub fn write(&self, folder: &Path) -> Result<()> {
        let path = folder.join(FILE);
        let failed = || Error::io(&path, "write the plan");
        let text = serde_json::to_string_pretty(self).map_err(|e| failed()(e.into()))?;
        write_whole(&path, text.as_bytes(), Access::Umask).map_err(failed())
    }
}

/// Returns the first field in which two JSON values differ, with both values in short form.
fn differs(name: &str, a: &serde_json::Value, b: &serde_json::Value) -> Option<String> {
    if let (Some(mine), Some(theirs)) = (a.as_object(), b.as_object()) {
        let names: BTreeSet<&String> = mine.keys().chain(theirs.keys()).collect();
        let field = |key: &String| match name {
            "" => key.clone(),
            _ => format!("{name}.{key}"),
        };
        return names.into_iter().find_map(|key| differs(&field(key), &a[key], &b[key]));
    }
    let short = |value: &serde_json::Value| value.to_string().chars().take(60).collect::<String>();
    (a != b).then(|| format!("{name} ({} and {})", short(a), short(b)))
}
