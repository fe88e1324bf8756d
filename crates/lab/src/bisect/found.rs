//! What a bisection found.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use slablab_stats::Estimate;

use crate::error::Result;
use crate::outcome::Outcome;
use crate::slabs::CacheChange;

/// What was found.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Bisection {
    /// What was measured
    pub metric: String,
    /// Its unit
    pub unit: String,
    /// The versions in their order
    pub versions: Vec<VersionRuns>,
    /// The comparisons in the order in which they were made
    pub comparisons: Vec<Compared>,
    /// What moved the metric, in the order of the versions
    pub steps: Vec<Step>,
    /// How probable a step is at most where there is none
    pub alpha: f64,
    /// Runs of a version at most
    pub runs_max: usize,
}

impl Bisection {
    /// Reads the rows of the versions that were measured, by their places, from the folder of the bisection.
    ///
    /// # Errors
    ///
    /// If the rows of a version cannot be read.
    pub fn outcomes(&self, folder: &Path) -> Result<Vec<(usize, Outcome)>> {
        let measured = self.versions.iter().enumerate();
        let measured = measured.filter(|(_, version)| !version.values.is_empty());
        measured.map(|(at, _)| Ok((at, Outcome::read(&place(folder, at))?))).collect()
    }
}

/// Returns the result folder of a version, below that of the bisection.
pub(super) fn place(folder: &Path, version: usize) -> PathBuf {
    folder.join(format!("{version:03}"))
}

/// A version, and what it gave.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct VersionRuns {
    /// Its name
    pub name: String,
    /// The values of its runs
    pub values: Vec<f64>,
    /// Why it could not be built or booted
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unusable: Option<String>,
}

/// Two versions that were compared, by their places.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Compared {
    /// The earlier one
    pub from: usize,
    /// The later one
    pub to: usize,
    /// Later / earlier
    pub ratio: Estimate,
    /// What was decided
    pub decision: Decision,
    /// Runs of each that decided it
    pub runs: usize,
}

/// What a comparison showed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// They differ
    Differs,
    /// They differ by at most what is ignored
    Same,
    /// The runs are used up, and neither is shown
    Open,
}

/// A change of the metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Step {
    /// The last version before it
    pub from: usize,
    /// The first version after it; others between the two could not be told apart, or not measured
    pub to: usize,
    /// After / before
    pub ratio: Estimate,
    /// The caches that hold more or less after it, the one with the largest difference first
    pub caches: Vec<CacheChange>,
    /// Whether usable versions lie between the two, and each moves too little to be seen
    pub is_spread: bool,
}
