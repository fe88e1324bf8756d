//! Pages: the documents that `slablab_report::html` turns into one file for a browser, one module a kind of result.
//!
//! # How it works
//! A page takes a finished result and returns a [`slablab_report::Document`]; it computes nothing that the result does
//! not say. [`fidelity`] is about a trace, [`run`], [`hosts`] and [`pair`] about measurements. Stored results go through
//! [`read`], which finds out what they are.
//!
//! # To add one
//! One file with a function that returns a `Document`, one line here; where the result is stored, one variant of
//! [`Stored`].
#![forbid(unsafe_code)]

mod fidelity;
mod hosts;
mod pair;
mod run;
mod stored;

pub use fidelity::{KernelAndModel, caches as fidelity_caches, fidelity, paths as fidelity_paths};
pub use hosts::hosts;
pub use pair::pair;
pub use run::run;
pub use stored::{Stored, join, read};

/// How verdicts are found.
const VERDICTS: &str = "The change is the Hodges-Lehmann estimate of the ratio to the baseline, with the interval of the ratios \
    that the rank test would not reject; rounds of one plan are compared as pairs, but for what a guest holds that was booted \
    for its run. A difference is shown when p, corrected for all comparisons of the metric by Holm's method, is below 0.05 \
    and the interval excludes 0 %. Where no outcome of so few runs could have shown one, the comparison is undecided. No run \
    was left out; outliers are hollow marks.";
