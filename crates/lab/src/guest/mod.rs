//! Real kernels in QEMU: what the experiments of the kernel engine share.
//!
//! How it works: a [`Recipe`] is data: variants (a kernel and its boot parameters) and loads (shell snippets that send
//! rows). [`prepare`] builds the kernels; then each cell is one boot of one variant, which goes through all loads in
//! random order and gives a [`Part`](crate::Part) for every row that the guest sends. Kernels are kept in the store,
//! what a guest said in the result folder.
//!
//! Invariants: a row has the accelerator and the kernel that it came from. A boot in trouble gives no row at all.
//!
//! Linux counterpart: none; mmtests and lkp-tests are the relatives that run on bare metal.

mod boots;
mod options;
mod profile;
mod recording;

use serde_json::Value;
use slablab_vm::Spec;

use crate::{Error, Request, Result};

pub(crate) use boots::prepare;
pub(crate) use options::Options;
pub use options::PARAMETERS;
pub use profile::{Profile, ProfileLoad, profile};
pub use recording::{Recorder, Recording};

/// Virtual CPUs of the guests: the parameter that is a point of most experiments.
pub(crate) const CPUS: (&str, &str) =
    ("cpus", "virtual CPUs of the guests, by comma; 2 by default; engine kernel only");

/// What is built, booted and run.
#[derive(Debug, Clone)]
pub(crate) struct Recipe {
    /// What is compared; the first is the baseline
    pub(crate) variants: Vec<Variant>,
    /// What each boot runs, in random order
    pub(crate) loads: Vec<Load>,
    /// Fields of a guest's rows that are its values
    pub(crate) metrics: &'static [&'static str],
    /// Where a row stands, of its load, the number of CPUs and the row itself
    pub(crate) point: fn(&Load, u32, &Value) -> String,
    /// Programs that a guest needs besides busybox
    pub(crate) tools: &'static [&'static str],
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
}

/// Something that a guest runs and that sends rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Load {
    /// What tells it from the experiment's other loads
    pub(crate) name: String,
    /// A snippet for busybox's shell; its rows have `"kind":"observation"` and the metrics
    pub(crate) script: String,
}

/// Returns the point of a row that is told by the number of CPUs alone.
pub(crate) fn by_cpus(_: &Load, cpus: u32, _: &Value) -> String {
    cpus.to_string()
}

/// Returns the numbers of virtual CPUs that the request asks for, as points.
///
/// # Errors
///
/// If one is none, or more than the kernels are built for.
pub(crate) fn cpus(request: &Request) -> Result<Vec<String>> {
    let list = request.list("cpus", &["2"]);
    // CONFIG_NR_CPUS of kernel/config/base.config.
    let wrong = list.iter().find(|text| !text.parse().is_ok_and(|cpus| (1..=16).contains(&cpus)));
    match wrong {
        Some(text) => {
            Err(Error::Request(format!("cpus={text}: the kernels are built for 1 to 16 CPUs")))
        }
        None => Ok(list),
    }
}

/// Returns the number that parameter `key` asks for, or else `default`.
///
/// # Errors
///
/// If it is no number from 1 to `most`.
pub(crate) fn count(request: &Request, key: &str, default: u32, most: u32) -> Result<u32> {
    let Some(text) = request.params.get(key) else { return Ok(default) };
    match text.parse() {
        Ok(count) if (1..=most).contains(&count) => Ok(count),
        _ => Err(Error::Request(format!("{key}={text}: a number from 1 to {most} is needed"))),
    }
}
