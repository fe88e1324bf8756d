//! The trait that every experiment has.
//!
//! # How it works
//! The lab gets the [`Design`] of an experiment and makes the plan. It lets the experiment set up a
//! [`Fixture`] once, and then requests one [`Observation`] for each cell. An experiment knows nothing about
//! order, files or statistics.

use std::collections::BTreeMap;
use std::path::Path;

use slablab_report::Section;
use slablab_vm::{Spec, Step};

use crate::error::Result;
use crate::journal::Part;
use crate::outcome::Outcome;
use crate::parameter::Parameter;
use crate::plan::Cell;
use crate::request::{Design, Engine, Metric, Request};

/// A question that the lab can answer.
pub trait Experiment: Sync {
    /// Returns its question, where it runs, and what it measures.
    fn about(&self) -> About;

    /// Returns the metrics for `request`, which may ask for further ones.
    ///
    /// # Errors
    ///
    /// If a metric has no name.
    fn metrics_of(&self, _request: &Request) -> Result<Vec<Metric>> {
        Ok(self.about().metrics)
    }

    /// Returns what to run for `request`.
    ///
    /// # Errors
    ///
    /// If a parameter has a value that makes no sense, or an input is missing.
    fn design(&self, request: &Request) -> Result<Design>;

    /// Sets up what all cells share: reads the trace, builds the kernels.
    ///
    /// # Errors
    ///
    /// If that fails.
    fn prepare(&self, setup: &mut Setup<'_>) -> Result<Box<dyn Fixture>>;

    /// Returns the kernels that `request` boots, so that what a machine lacks for them can be installed before anything
    /// is built.
    ///
    /// # Errors
    ///
    /// If there is no such kernel.
    fn kernels(&self, _request: &Request) -> Result<Vec<Spec>> {
        Ok(Vec::new())
    }

    /// Returns what the rows tell by themselves, a sentence each, and whether it is as it should
    /// be.
    fn findings(&self, _outcome: &Outcome) -> Vec<Finding> {
        Vec::new()
    }

    /// Returns what an answer shows beside comparisons and samples, for example address maps.
    fn sections(&self, _outcome: &Outcome) -> Vec<Section> {
        Vec::new()
    }
}

/// What the rows of an experiment tell by themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The sentence
    pub sentence: String,
    /// Whether it is as it should be
    pub holds: bool,
}

/// The description of an experiment.
#[derive(Debug, Clone)]
pub struct About {
    /// The name by which it is run
    pub name: &'static str,
    /// The question
    pub question: &'static str,
    /// Where it can run; the first is the default
    pub engines: &'static [Engine],
    /// What it measures; the first answers the question
    pub metrics: Vec<Metric>,
    /// The parameters that a request may set
    pub parameters: &'static [Parameter],
}

/// What an experiment is set up with.
pub struct Setup<'a> {
    /// What a user asked for
    pub request: &'a Request,
    /// The design made from it
    pub design: &'a Design,
    /// The result folder, for data that is too large for a row
    pub folder: &'a Path,
    /// Receives the steps of work that takes long
    pub watch: &'a mut dyn FnMut(Step<'_>),
}

impl std::fmt::Debug for Setup<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { request, design, folder, watch: _ } = self;
        f.debug_struct("Setup")
            .field("request", request)
            .field("design", design)
            .field("folder", folder)
            .finish_non_exhaustive()
    }
}

/// An experiment that is set up and takes one measurement at a time.
pub trait Fixture {
    /// Measures one cell.
    ///
    /// # Errors
    ///
    /// If it cannot be measured; the run stops, and can be resumed.
    fn observe(&mut self, cell: &Cell) -> Result<Observation>;
}

/// The result of one cell.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Observation {
    /// The values, by the key of their metric
    pub values: BTreeMap<String, f64>,
    /// The values at each point, where one cell goes through them all, as a boot does
    pub parts: Vec<Part>,
    /// Further observations, such as addresses or counters; null when there are none
    pub detail: serde_json::Value,
    /// The command that repeats it, where there is one
    pub command: String,
}

impl Observation {
    /// Makes one from values, each with the key of its metric.
    pub(crate) fn of(values: impl IntoIterator<Item = (&'static str, f64)>) -> Self {
        let values = values.into_iter().map(|(key, value)| (key.to_owned(), value));
        Self { values: values.collect(), ..Self::default() }
    }
}
