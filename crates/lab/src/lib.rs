//! The lab: experiments, runs that can be interrupted, and comparisons.
//!
//! # How it works
//! There are three steps, which can run separately. An [`Experiment`] and a [`Request`] make a [`Plan`] ([`plan()`]): which
//! variants, at which points, how often, in which random order. [`run()`] carries the plan out cell by cell and appends one
//! row each to `raw.jsonl` ([`Journal`]). [`Outcome`] reads rows; [`compare_variants`], [`compare_runs`] and
//! [`compare_hosts`] compare them. A [`Sweep`] is a plan that several machines run in [`Shard`]s, and [`merge()`] makes one
//! result of their rows.
//!
//! To add an experiment, write one file in `experiments/` with a struct that implements [`Experiment`], and
//! add one line in [`experiments`].
//!
//! The modules, lower ones first, are `error`, `request`, `parameter`, `environment`; `plan`, `journal`, `measured`, `samples`;
//! `outcome`, `differences`, `compare`; `experiment`, `guest`, `settings`, `experiments`; `planning`, `run`, `sweep`,
//! `merge`, `bisect`, `history`.
//!
//! # Invariants
//! A row is written once and never edited; a cell has one row or none, whenever the run was killed. The
//! order of the cells follows from the seed in the plan. Rows of warm-up cells are kept and never counted. Rows of
//! different work, environments or hosts are never compared as if they were one.
#![forbid(unsafe_code)]

pub mod bisect;
mod compare;
mod differences;
mod environment;
mod error;
mod experiment;
mod experiments;
pub mod guest;
pub mod history;
mod journal;
mod measured;
mod merge;
mod outcome;
mod parameter;
pub mod patched;
mod plan;
mod planning;
mod request;
mod run;
mod samples;
mod settings;
mod slabs;
mod sweep;

pub use compare::{
    ComparedResults, HostChanges, MetricComparisons, compare_hosts, compare_runs, compare_variants,
};
pub use environment::Environment;
pub use error::{Error, Result};
pub use experiment::{About, Experiment, Finding, Fixture, Observation, Setup};
pub use experiments::{CommandVariant, Preset, Wanted, experiments, find, preset, presets};
pub use journal::{Journal, Part, Row};
pub use measured::{Asked, Measured, Sample, Side, Sides, Values, measured, sides};
pub use merge::{Holes, Merged, ShardRows, merge};
pub use outcome::Outcome;
pub use parameter::{Kind, Parameter};
pub use plan::{Cell, Plan};
pub use planning::{parameters_of, plan};
pub use request::{Design, Engine, Metric, Nature, Request, Scale};
pub use run::{Stage, begin, result_files, run};
pub use samples::{CsvText, Pair};
pub use slabs::CacheChange;
pub use sweep::{Shard, ShardRun, Sweep};
