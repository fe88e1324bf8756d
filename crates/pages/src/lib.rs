//! Pages: the documents that `slablab_report::html` turns into one file for a browser, one module a kind of result.
//!
//! # How it works
//! A page takes a finished result and returns a [`slablab_report::Document`]; it computes nothing that the result does
//! not say. [`advise`], [`tune`], [`budget`], [`classes`] and [`fidelity`] are
//! about a trace, [`run`], [`hosts`] and [`pair`] about measurements. Stored results go through [`read`], which finds out
//! what they are. What several pages say of a trace is in `trace`; tables that a terminal shows, too, are in [`tables`].
//!
//! # To add one
//! One file with a function that returns a `Document`, one line here; where the result is stored, one variant of
//! [`Stored`].
#![forbid(unsafe_code)]

mod advise;
mod budget;
mod classes;
mod fidelity;
mod hosts;
mod pair;
mod run;
mod sources;
mod stored;
pub mod tables;
mod trace;
mod tune;
mod whatif;

pub use advise::{Together, advise};
pub use budget::{BUDGET_COLUMNS, budget, budget_sentence, contender_name, first_failures};
pub use classes::{classes, classes_sentence};
pub use fidelity::{KernelAndModel, caches as fidelity_caches, fidelity, paths as fidelity_paths};
pub use hosts::hosts;
pub use pair::pair;
pub use run::run;
pub use sources::Sources;
pub use stored::{Stored, join, read};
pub use tune::tune;

/// How verdicts are found.
const VERDICTS: &str = "The change is the Hodges-Lehmann estimate of the ratio to the baseline, with the interval of the ratios \
    that the rank test would not reject; rounds of one plan are compared as pairs, but for what a guest holds that was booted \
    for its run. A difference is shown when p, corrected for all comparisons of the metric by Holm's method, is below 0.05 \
    and the interval excludes 0 %. Where no outcome of so few runs could have shown one, the comparison is undecided. No run \
    was left out; outliers are hollow marks.";

/// Names so many bytes, as sentences on a terminal and on a page do.
fn size(bytes: u64) -> String {
    slablab_report::short(bytes as f64, "B")
}
