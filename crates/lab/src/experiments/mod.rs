//! The experiments, one a file. To add one: write it, and put it on the list.

mod audit_cache;
mod hackbench;
mod kprobes;
mod lifo;
mod locality;
mod memmax;
mod memtim;
mod modules;
mod replay;
mod traces;

use crate::{Error, Experiment, Result};

/// Returns all experiments.
#[must_use]
pub fn experiments() -> &'static [&'static dyn Experiment] {
    &[
        &hackbench::Hackbench,
        &audit_cache::AuditCache,
        &memmax::Memmax,
        &memtim::Memtim,
        &locality::Locality,
        &lifo::Lifo,
        &kprobes::Kprobes,
        &replay::Replay,
    ]
}

/// Returns the experiment of this name.
///
/// # Errors
///
/// If there is none; the message lists them all.
pub fn find(name: &str) -> Result<&'static dyn Experiment> {
    let known = || experiments().iter().map(|e| e.name()).collect::<Vec<_>>().join(", ");
    experiments().iter().copied().find(|experiment| experiment.name() == name).ok_or_else(|| {
        Error::Request(format!("there is no experiment '{name}'; there are: {}", known()))
    })
}
