//! The trait that every experiment has.
//!
//! How it works: the lab asks an experiment for its [`Design`], makes the plan, asks it to set up a [`Fixture`] once, and
//! then for one [`Observation`] a cell. An experiment knows nothing of order, files or statistics.

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
    /// Returns what it asks, where it runs, and what it measures.
    fn about(&self) -> About;

    /// Returns what it measures for `request`, where a request may ask for more.
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

    /// Returns the kernels that `request` boots: what a machine lacks for them can be installed before anything is built.
    ///
    /// # Errors
    ///
    /// If there is no such kernel.
    fn kernels(&self, _request: &Request) -> Result<Vec<Spec>> {
        Ok(Vec::new())
    }

    /// Returns what the rows say by themselves, a sentence each, and whether it is as it should be.
    fn findings(&self, _outcome: &Outcome) -> Vec<Finding> {
        Vec::new()
    }

    /// Returns what an answer shows beside comparisons and samples: address maps, say.
    fn sections(&self, _outcome: &Outcome) -> Vec<Section> {
        Vec::new()
    }
}

/// What the rows of an experiment say by themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The sentence
    pub sentence: String,
    /// Whether it is as it should be
    pub holds: bool,
}

/// What an experiment says of itself.
#[derive(Debug, Clone)]
pub struct About {
    /// The name by which it is run
    pub name: &'static str,
    /// The question
    pub question: &'static str,
    /// Where it can run, by default in the first
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
    /// What was made of it
    pub design: &'a Design,
    /// The result folder, for what is too large for a row
    pub folder: &'a Path,
    /// Is told what is being done, where that takes long
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

/// What one cell gave.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Observation {
    /// The values, by the key of their metric
    pub values: BTreeMap<String, f64>,
    /// The values at each point, where one cell goes through them all: a boot, say
    pub parts: Vec<Part>,
    /// What else was observed: addresses, counters; null when there is nothing
    pub detail: serde_json::Value,
    /// The command that repeats it, where there is one
    pub command: String,
}

impl Observation {
    /// Makes one of values, each with the key of its metric.
    pub(crate) fn of(values: impl IntoIterator<Item = (&'static str, f64)>) -> Self {
        let values = values.into_iter().map(|(key, value)| (key.to_owned(), value));
        Self { values: values.collect(), ..Self::default() }
    }
}
