//! What experiments of the kernel engine state about their guests, as data.

use serde_json::Value;
use slablab_vm::Spec;

/// The guests that are built and booted, and the loads that they run.
#[derive(Debug, Clone)]
pub(crate) struct Recipe {
    /// The variants that are compared; the first is the baseline
    pub(crate) variants: Vec<Variant>,
    /// What each boot runs
    pub(crate) loads: Vec<Load>,
    /// Whether the loads run in the order of the list, each on what those before it left, or in a random order
    pub(crate) is_in_order: bool,
    /// Fields of a guest's rows that hold the metrics
    pub(crate) metrics: Vec<String>,
    /// Returns the point of a row from its load, the number of CPUs and the row itself
    pub(crate) point: fn(&Load, u32, &Value) -> String,
    /// Programs that a guest needs besides busybox
    pub(crate) tools: Vec<String>,
    /// Memory of a guest in MiB
    pub(crate) memory_mib: u32,
    /// A snippet that runs once after the boot, before the loads
    pub(crate) setup: String,
    /// The longest a boot may take, in seconds
    pub(crate) limit_seconds: u64,
}

/// A kernel and how it is booted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Variant {
    /// What tables call it
    pub(crate) name: String,
    /// Which kernel
    pub(crate) spec: Spec,
    /// Boot parameters
    pub(crate) arguments: Vec<String>,
    /// Its guests' memory in MiB, where it is not the recipe's
    pub(crate) memory_mib: Option<u32>,
}

/// A program that a guest runs and that sends rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Load {
    /// The name that tells it from the experiment's other loads
    pub(crate) name: String,
    /// A snippet for busybox's shell; its rows have `"kind":"observation"` and the metrics
    pub(crate) script: String,
}

/// Returns the point of a row, which the number of CPUs alone determines.
pub(crate) fn by_cpus(_: &Load, cpus: u32, _: &Value) -> String {
    cpus.to_string()
}
