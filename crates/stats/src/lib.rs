//! The statistics behind a verdict: pure mathematics, no input, no output, no clock.
//!
//! # How it works
//! [`compare`] takes the runs of a baseline and of a candidate and answers with a [`Comparison`]: the
//! effect (the Hodges-Lehmann estimate of the ratio) with its interval, p of the rank test that the estimate and the
//! interval belong to, and a [`Verdict`]. The [`Pairing`] says how the runs belong together:
//! independent, or in pairs (the rounds of an interleaved plan, on one host or on several).
//!
//! Everything that is random takes a seed and uses [`Rng`], so the same input gives the same answer on
//! every machine, today and after an update of the dependencies.
//!
//! The modules, lower ones first, are `error`, `sample`, `rng`; `summary`, `holm`, `explanation`; `bootstrap`, `outlier`,
//! `rank_test`, `regression`; `shift`, `trend`; `compare`; `sequential`.
//!
//! # Invariants
//! No function drops a value; outliers are flagged ([`outliers`]) and stay in. A value that is not a
//! finite number is an error. Finite values never panic, however large, small or equal they are.
//!
//! Agreement: the tests compare each formula with scipy to 1e-9 (`tests/vectors.json`, made by
//! `tests/vectors.py`).
#![forbid(unsafe_code)]

mod bootstrap;
mod compare;
mod error;
mod explanation;
mod holm;
mod outlier;
mod rank_test;
mod regression;
mod rng;
mod sample;
mod sequential;
mod shift;
mod summary;
mod trend;

pub use bootstrap::{Bootstrap, Interval, median_interval};
pub use compare::{Comparison, Direction, Pairing, Question, Verdict, compare, runs_needed};
pub use error::Error;
pub use holm::holm;
pub use outlier::{OUTLIER_SCORE, outliers};
pub use rank_test::{RankTest, mann_whitney, wilcoxon};
pub use rng::Rng;
pub use sequential::{Look, Sequential, excess};
pub use shift::{Estimate, hodges_lehmann, hodges_lehmann_paired};
pub use summary::{Summary, mean, median, quantile, variance};
pub use trend::{Trend, TrendKind, trend};

/// The examples of the front page, which the tests run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct FrontPage;
