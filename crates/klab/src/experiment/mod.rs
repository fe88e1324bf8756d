//! What an experiment is: a question, variants, loads and metrics. One file for each experiment.

mod audit_cache;
mod hackbench;
mod kprobes;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use slablab_stats::Direction;
use slablab_vm::Spec;

pub use audit_cache::audit_cache;
pub use hackbench::hackbench;
pub use kprobes::kprobes;

/// An experiment, ready to be planned.
#[derive(Debug, Clone)]
pub struct Experiment {
    /// Its name, as the command knows it
    pub name: &'static str,
    /// The question it answers
    pub question: &'static str,
    /// What is compared; the first is the baseline
    pub variants: Vec<Variant>,
    /// What each boot runs, in random order
    pub loads: Vec<Load>,
    /// What is measured; the first is the one a verdict is about
    pub metrics: Vec<Metric>,
    /// Fields of a guest's rows that are not metrics but tell rows of one load apart
    pub row_params: &'static [&'static str],
    /// Programs that a guest needs
    pub tools: Vec<Tool>,
    /// Memory of a guest in MiB
    pub memory_mib: u32,
    /// How often each variant runs, unless told otherwise
    pub rounds: u32,
    /// A snippet that runs once after the boot, before the loads
    pub setup: String,
    /// The longest a boot may take, in seconds
    pub limit_seconds: u64,
}

/// A kernel and how it is booted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variant {
    /// What tables call it
    pub name: String,
    /// Which kernel
    pub spec: Spec,
    /// Boot parameters
    pub arguments: Vec<String>,
}

/// Something that a guest runs and that sends rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Load {
    /// What tells it from the experiment's other loads
    pub params: BTreeMap<String, Value>,
    /// A snippet for busybox's shell; its rows have `"kind":"observation"` and the metrics
    pub script: String,
}

/// Something that is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metric {
    /// The field of a row
    pub key: &'static str,
    /// Its unit: `s`, `kB`
    pub unit: &'static str,
    /// Whether less or more is better
    pub direction: Direction,
}

/// A program that goes into the guest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tool {
    /// Found on the PATH
    OnPath(&'static str),
    /// A file, under a name
    File(&'static str, PathBuf),
}

/// How much an experiment runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Size {
    /// As little as shows that it works
    Smoke,
    /// 2 to 20 seconds a run in an emulated guest
    Normal,
    /// Ten times that; what KVM deserves
    Full,
}

impl Size {
    /// Scales a number that is right for [`Size::Normal`].
    #[must_use]
    pub fn scale(self, normal: u32) -> u32 {
        match self {
            Self::Smoke => (normal / 20).max(1),
            Self::Normal => normal,
            Self::Full => normal * 10,
        }
    }
}

/// Seconds, the less the better.
pub(crate) const SECONDS: Metric =
    Metric { key: "seconds", unit: "s", direction: Direction::LessIsBetter };

/// Memory in slabs after the run, the less the better.
pub(crate) const SLAB_KB: Metric =
    Metric { key: "slab_kb", unit: "kB", direction: Direction::LessIsBetter };

/// Makes parameters of a load.
pub(crate) fn params<const N: usize>(pairs: [(&str, Value); N]) -> BTreeMap<String, Value> {
    pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}
