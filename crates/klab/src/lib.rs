//! Experiments in real kernels: what to vary, in which order, what came out, and what it proves.
//!
//! # How it works
//!
//! An [`Experiment`] is data: variants (a kernel and boot parameters), loads (shell snippets that send rows),
//! metrics (unit, direction). A [`Plan`] is the experiment times CPU counts times rounds, in an order drawn
//! from a seed. [`run()`] builds the kernels, boots the plan and appends every row to `raw.jsonl` as it comes.
//! [`Analysis`] reads that file, and nothing else, into medians, intervals and verdicts: the three steps run
//! alone, and the last one as often as one likes.
//!
//! # Invariants
//!
//! - One boot is one variant; within a round every variant runs once, in random order, so that a drift of the
//!   host hits all of them alike. Round i of one variant is paired with round i of another.
//! - Raw rows are never rewritten and none is left out of an analysis.
//!
//! # Linux counterpart
//!
//! None; mmtests and lkp-tests are the relatives that run on bare metal.
#![forbid(unsafe_code)]

mod analysis;
mod error;
mod experiment;
mod plan;
mod profile;
mod raw;
mod run;

pub use analysis::{Analysis, Cell, Group};
pub use error::{Error, Result};
pub use experiment::{Experiment, Load, Metric, Size, Tool, Variant};
pub use experiment::{audit_cache, hackbench, kprobes};
pub use plan::{Plan, PlannedBoot};
pub use profile::{Profile, ProfileLoad, profile};
pub use raw::{Header, KernelNote, Observation, Raw, read_raw};
pub use run::{Lab, Progress, Summary, run};
