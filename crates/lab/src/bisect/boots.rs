//! The boots of a bisection: a result folder for each version, and its values from there.
//!
//! # How it works
//! A folder `NUMBER` below that of the bisection is a result of the experiment `load` with one kernel, planned with as many
//! rounds as may be needed at most; only those that are needed are run. The two versions of a comparison take turns.
//! `bisect.json` says what was asked for, so that another bisection is not continued by accident.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use slablab_host::{Access, write_whole};

use super::found;
use super::job::Bisect;
use super::search::{Measure, Measured};
use super::version::Version;
use crate::error::{Error, Result, with_schema};
use crate::experiments::find;
use crate::journal::Row;
use crate::outcome::Outcome;
use crate::plan::{Cell, Plan};
use crate::planning::plan;
use crate::request::{Metric, Nature};
use crate::run::{Stage, carry_out};
use crate::slabs::{self, CacheChange};

/// The file that says what was asked for.
const FILE: &str = "bisect.json";
const SCHEMA: &str = "slablab.lab.bisect.plan/1";
/// The experiment whose guests are booted.
const EXPERIMENT: &str = "load";

/// The progress of a bisection.
#[derive(Debug)]
pub enum BisectStage<'a> {
    /// This version is measured in this run, from 1
    Run {
        /// The name of the version
        version: &'a str,
        /// The number of the run
        run: usize,
    },
    /// This version cannot be measured
    Unusable {
        /// The name of the version
        version: &'a str,
        /// Why
        why: &'a str,
    },
    /// What the run does
    Inner(Stage<'a>),
}

/// What was asked for, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Stored {
    schema: String,
    versions: Vec<String>,
    metric: String,
    runs_max: usize,
}

/// The versions, each with its plan and what it gave so far.
pub(crate) struct Boots<'a> {
    versions: &'a [Version],
    plans: Vec<Plan>,
    values: Vec<Vec<f64>>,
    metric: Metric,
    folder: PathBuf,
    progress: &'a mut dyn FnMut(BisectStage<'_>),
}

impl<'a> Boots<'a> {
    /// Makes the folder of `bisect`, or opens it again.
    ///
    /// # Errors
    ///
    /// If a version is not a kernel, the metric is unknown, there are several points, or the folder is of another bisection.
    pub(crate) fn open(
        bisect: &'a Bisect,
        folder: &Path,
        progress: &'a mut dyn FnMut(BisectStage<'_>),
    ) -> Result<Self> {
        let (plans, metric) = plans(bisect)?;
        let stored = Stored {
            schema: SCHEMA.to_owned(),
            versions: bisect.versions.iter().map(|version| version.name.clone()).collect(),
            metric: bisect.metric.clone(),
            runs_max: bisect.runs_max,
        };
        claim(folder, &stored)?;
        let values = vec![Vec::new(); plans.len()];
        let folder = folder.to_owned();
        Ok(Self { versions: &bisect.versions, plans, values, metric, folder, progress })
    }

    /// Returns the metric.
    pub(crate) fn metric(&self) -> &Metric {
        &self.metric
    }

    /// Returns the values of each version.
    pub(crate) fn into_values(self) -> Vec<Vec<f64>> {
        self.values
    }

    /// Returns the caches in which two versions differ.
    pub(crate) fn changes(&self, from: usize, to: usize) -> Result<Vec<CacheChange>> {
        let (before, after) = (Outcome::read(&self.place(from))?, Outcome::read(&self.place(to))?);
        let point = &self.plans[from].design.points[0];
        Ok(slabs::changes(before.rows.iter(), after.rows.iter(), point))
    }

    fn place(&self, version: usize) -> PathBuf {
        found::place(&self.folder, version)
    }

    /// Makes run `run` of a version, unless it has a row.
    fn boot(&mut self, version: usize, run: usize) -> Result<()> {
        let (plan, folder) = (&self.plans[version], self.place(version));
        let name = &self.versions[version].name;
        // A variant with boot parameters stands behind its kernel as it is.
        let wanted = plan.design.variants.last();
        let is_wanted = |cell: &Cell| cell.round == run && Some(&cell.variant) == wanted;
        let cells: Vec<Cell> = plan.cells().into_iter().filter(is_wanted).collect();
        (self.progress)(BisectStage::Run { version: name, run: run + 1 });
        let mut inner = |stage: Stage<'_>| (self.progress)(BisectStage::Inner(stage));
        carry_out(find(EXPERIMENT)?, plan, &folder, &cells, &mut inner).map(drop)
    }

    /// Reads the values of the first `runs` runs of a version.
    fn read(&self, version: usize, runs: usize) -> Result<Vec<f64>> {
        let outcome = Outcome::read(&self.place(version))?;
        let point = &self.plans[version].design.points[0];
        let values = outcome.rows.iter().filter(|row| row.round < runs);
        let mut values: Vec<_> = values
            .filter_map(|row| Some((row.round, value(row, point, &self.metric.key)?)))
            .collect();
        values.sort_by_key(|(round, _)| *round);
        Ok(values.into_iter().map(|(_, value)| value).collect())
    }
}

impl Measure for Boots<'_> {
    fn measure(&mut self, versions: [usize; 2], runs: usize) -> Result<Measured> {
        for run in 0..runs {
            for version in versions {
                if run < self.values[version].len() {
                    continue;
                }
                match self.boot(version, run) {
                    Ok(()) => {}
                    Err(error) if is_of_the_version(&error) => {
                        let (why, version_name) = (error.to_string(), &self.versions[version].name);
                        (self.progress)(BisectStage::Unusable { version: version_name, why: &why });
                        return Ok(Measured::Unusable(version, format!("{version_name}: {why}")));
                    }
                    Err(error) => return Err(error),
                }
            }
        }
        for version in versions {
            if self.values[version].len() >= runs {
                continue;
            }
            self.values[version] = self.read(version, runs)?;
            if self.values[version].len() < runs {
                let name = &self.versions[version].name;
                let why = without_value(&self.metric);
                (self.progress)(BisectStage::Unusable { version: name, why: &why });
                return Ok(Measured::Unusable(version, format!("{name}: {why}")));
            }
        }
        Ok(Measured::Values(versions.map(|version| self.values[version][..runs].to_vec())))
    }
}

/// Returns the plan of each version, and the metric.
pub(super) fn plans(bisect: &Bisect) -> Result<(Vec<Plan>, Metric)> {
    let experiment = find(EXPERIMENT)?;
    let of =
        |version: &Version| plan(experiment, &version.request(&bisect.request, bisect.runs_max));
    let plans: Vec<Plan> = bisect.versions.iter().map(of).collect::<Result<_>>()?;
    let first = &plans[0];
    if first.design.points.len() * first.design.points_per_cell != 1 {
        return Err(Error::Request(
            "a bisection has one point: give one number of --cpus, and one of --set groups"
                .to_owned(),
        ));
    }
    let known = || first.metrics.iter().find(|metric| metric.key == bisect.metric).cloned();
    let metric = derived(&bisect.metric).or_else(known).ok_or_else(|| {
        let known: Vec<_> = first.metrics.iter().map(|metric| metric.key.as_str()).collect();
        let known = known.join(", ");
        Error::Request(format!("there is no metric '{}'; there are: {known}", bisect.metric))
    })?;
    Ok((plans, metric))
}

/// The metric of a cache: its slabs after the load, as the guest lists them.
const OF_CACHE: &str = "cache:";
/// The metric that counts what guests under `--accel icount` do.
const INSTRUCTIONS: &str = "instructions";
/// Instructions in a second of such a guest's clock, in millions: it advances by 2 ns with each (`-icount shift=1`), and by
/// what is left to the next timer when the processor idles.
const MILLIONS_PER_SECOND: f64 = 500.0;

/// Returns a metric that is made of what rows have besides their values.
fn derived(key: &str) -> Option<Metric> {
    if key == INSTRUCTIONS {
        let name = "instruction count with idle time";
        return Some(Metric::less(key, name, "million instructions", Nature::Independent));
    }
    let cache = key.strip_prefix(OF_CACHE).filter(|cache| !cache.is_empty())?;
    let name = format!("memory in slabs of {cache}");
    Some(Metric::less(key, &name, "KiB", Nature::Independent))
}

/// Returns the value of a metric in a run.
fn value(row: &Row, point: &str, key: &str) -> Option<f64> {
    match key.strip_prefix(OF_CACHE) {
        Some(cache) => Some(slabs::held_bytes(row, point, cache)? as f64 / 1024.0),
        None if key == INSTRUCTIONS => Some(row.values.get("seconds")? * MILLIONS_PER_SECOND),
        None => row.values.get(key).copied(),
    }
}

/// Says why runs have no value.
fn without_value(metric: &Metric) -> String {
    match metric.key.strip_prefix(OF_CACHE) {
        Some(cache) => format!(
            "slabinfo does not list {cache}: the kernel has no such cache, or has merged it with another (slab_nomerge \
             keeps it apart)"
        ),
        None => format!("its runs give no {}", metric.name),
    }
}

/// Returns whether it is the version that cannot be built or booted, and not the machine that cannot build.
fn is_of_the_version(error: &Error) -> bool {
    use slablab_vm::Error as Vm;
    match error {
        Error::Vm(error) => matches!(
            error,
            Vm::Patch { .. }
                | Vm::Config { .. }
                | Vm::Tool { .. }
                | Vm::Guest { .. }
                | Vm::Results { .. }
        ),
        Error::Cell { .. } => true,
        _ => false,
    }
}

/// Writes what is asked for into `folder`, or refuses a folder that has something else.
fn claim(folder: &Path, stored: &Stored) -> Result<()> {
    let path = folder.join(FILE);
    if path.exists() {
        let text = fs::read(&path).map_err(Error::io(&path, "read what was asked for"))?;
        let there: Stored =
            with_schema(&text, "bisection", SCHEMA).map_err(Error::unreadable(&path))?;
        return match there == *stored {
            true => Ok(()),
            false => Err(Error::Request(format!(
                "{}: has another bisection ({} versions, {}, {} runs); take another folder, or give the same \
                 parameters to continue it",
                folder.display(),
                there.versions.len(),
                there.metric,
                there.runs_max
            ))),
        };
    }
    fs::create_dir_all(folder).map_err(Error::io(folder, "make the result folder"))?;
    let text = serde_json::to_string_pretty(stored).expect("names and numbers are JSON");
    write_whole(&path, text.as_bytes(), Access::Umask)
        .map_err(Error::io(&path, "write what is asked for"))
}
