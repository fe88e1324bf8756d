//! A plan: which cells, in which order. It is written before the first run and never changes.
//!
//! How it works: warm-up rounds first, then the counted ones; each round holds every variant at every point once, in an
//! order of its own that follows from the seed. So a drift of the machine hits all variants alike, and the rows
//! of a round are pairs.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use slablab_stats::Rng;

use crate::{
    Design, Engine, Environment, Error, Experiment, Metric, Request, Result, Scale, guest,
};

/// The schema of `plan.json`; the number goes up when a field changes its meaning.
const SCHEMA: &str = "slablab.lab.plan/1";
/// The name of the file in a result folder.
const FILE: &str = "plan.json";

/// What will be run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    schema: String,
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
    /// Variants, points and rounds
    pub design: Design,
    /// What is measured
    pub metrics: Vec<Metric>,
    /// Where the random order starts
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
    /// Whether it is run and not counted
    pub warmup: bool,
    /// The variant
    pub variant: String,
    /// The point; empty when there is one only
    pub point: String,
}

impl Cell {
    /// Returns it in words.
    #[must_use]
    pub fn words(&self) -> String {
        let at = if self.point.is_empty() { String::new() } else { format!(" at {}", self.point) };
        let kind = if self.warmup { "warm-up" } else { "round" };
        format!("{}{at}, {kind} {}", self.variant, self.round + 1)
    }
}

impl Plan {
    /// Plans `experiment` as `request` says.
    ///
    /// # Errors
    ///
    /// If the request does not fit the experiment.
    pub fn new(experiment: &dyn Experiment, request: &Request) -> Result<Self> {
        if !experiment.engines().contains(&request.engine) {
            let engines: Vec<String> = experiment.engines().iter().map(Engine::to_string).collect();
            return Err(Error::Request(format!(
                "{} does not run in the engine {}; it runs in: {}",
                experiment.name(),
                request.engine,
                engines.join(", ")
            )));
        }
        let guest = if request.engine == Engine::Kernel { guest::PARAMETERS } else { &[] };
        let known = experiment.parameters().iter().chain(guest).map(|(name, _)| *name);
        let known: Vec<&str> = known.collect();
        if let Some(stranger) = request.params.keys().find(|key| !known.contains(&key.as_str())) {
            return Err(Error::Request(format!(
                "{} has no parameter '{stranger}'; it has: {}",
                experiment.name(),
                if known.is_empty() { "none".to_owned() } else { known.join(", ") }
            )));
        }
        let mut design = experiment.design(request)?;
        if let Some(rounds) = request.rounds {
            design.rounds = rounds;
        }
        if design.variants.is_empty() || design.points.is_empty() || design.rounds == 0 {
            return Err(Error::Request(format!(
                "{}: nothing to run: {} variants, {} points, {} rounds",
                experiment.name(),
                design.variants.len(),
                design.points.len(),
                design.rounds
            )));
        }
        for names in [&design.variants, &design.points] {
            if let Some(twice) =
                names.iter().enumerate().find(|(at, name)| names[..*at].contains(name))
            {
                return Err(Error::Request(format!("{} is named twice", twice.1)));
            }
        }
        Ok(Self {
            schema: SCHEMA.to_owned(),
            experiment: experiment.name().to_owned(),
            question: experiment.question().to_owned(),
            engine: request.engine,
            scale: request.scale,
            params: request.params.clone(),
            input: request.input.clone(),
            design,
            metrics: experiment.metrics(),
            seed: request.seed,
            environment: Environment::of_this_machine(),
        })
    }

    /// Returns the cells in the order in which they run.
    #[must_use]
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

    /// Returns whether `other` runs the same cells for the same question.
    #[must_use]
    pub fn is_same_work(&self, other: &Self) -> bool {
        let strip = |plan: &Self| Self { environment: Environment::default(), ..plan.clone() };
        strip(self) == strip(other)
    }

    /// Returns the request that it was made of.
    #[must_use]
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
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            // A folder that cannot be there is said when it is to be made.
            Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                return Ok(None);
            }
            Err(e) => return Err(Error::io(&path, "read the plan")(e)),
        };
        let unreadable = |reason: String| Error::Unreadable { path: path.clone(), reason };
        let value: serde_json::Value = serde_json::from_str(&text)
            .map_err(|e| unreadable(format!("line {}: no plan of the lab: {e}", e.line())))?;
        match value["schema"].as_str() {
            Some(SCHEMA) => {}
            Some(other) => {
                return Err(unreadable(format!(
                    "its schema is {other}, and this slablab reads {SCHEMA}; use the version that wrote it"
                )));
            }
            None => return Err(unreadable("no plan of the lab: it has no schema".to_owned())),
        }
        serde_json::from_value(value)
            .map(Some)
            .map_err(|e| unreadable(format!("no plan of the lab: {e}")))
    }

    /// Writes the plan into a result folder, beside its name first and then renamed.
    ///
    /// # Errors
    ///
    /// If the folder cannot be written.
    pub fn write(&self, folder: &Path) -> Result<()> {
        let path = folder.join(FILE);
        let failed = || Error::io(&path, "write the plan");
        let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed())?;
        serde_json::to_writer_pretty(&mut file, self).map_err(|e| failed()(e.into()))?;
        file.as_file().sync_all().map_err(failed())?;
        file.persist(&path).map_err(|e| failed()(e.error))?;
        Ok(())
    }
}
