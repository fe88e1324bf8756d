//! The lab: experiments, runs that can be interrupted, and comparisons.
//!
//! How it works: three steps that run alone. An [`Experiment`] turns a [`Request`] into a [`Plan`]: which variants, at
//! which points, how often, in which random order. [`run()`] carries the plan out cell by cell and appends one row each
//! to `raw.jsonl` ([`Journal`]). [`Outcome`] reads rows and compares variants.
//!
//! To add an experiment: one file in `experiments/` with a struct that implements [`Experiment`], one line in
//! [`experiments`].
//!
//! Invariants: a row is written once and never edited; a cell has one row or none, whenever the run was killed. The
//! order of the cells follows from the seed in the plan. Rows of warm-up cells are kept and never counted. Rows of
//! different hosts are never thrown together.
#![forbid(unsafe_code)]

mod compare;
mod environment;
mod error;
mod experiment;
mod experiments;
pub mod guest;
mod journal;
mod plan;
mod run;
mod samples;

pub use compare::{Outcome, Side, compare_hosts, compare_runs};
pub use environment::Environment;
pub use error::{Error, Result};
pub use experiment::{
    Bench, Design, Engine, Experiment, Metric, Nature, Observation, Part, Request, Scale, Setup,
};
pub use experiments::{experiments, find};
pub use journal::{Journal, Row};
pub use plan::{Cell, Plan};
pub use run::{Progress, begin, run};
pub use samples::{Pair, read_csv};
