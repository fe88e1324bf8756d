//! `slablab lab list`: the experiments, with their questions and parameters.

use std::process::ExitCode;

use anyhow::Result;
use schemars::JsonSchema;
use serde::Serialize;
use slablab_lab::guest::PARAMETERS;
use slablab_lab::{About, Engine, Experiment, experiments};

use crate::cli::OutputArgs;
use crate::output::{Page, Report, Table, field, print};

pub(crate) fn run(output: &OutputArgs) -> Result<ExitCode> {
    let experiments = experiments().iter().map(|experiment| Entry::of(*experiment)).collect();
    print(&List { experiments }, output, None)?;
    Ok(ExitCode::SUCCESS)
}

#[derive(Serialize, JsonSchema)]
pub(super) struct List {
    experiments: Vec<Entry>,
}

#[derive(Serialize, JsonSchema)]
struct Entry {
    name: &'static str,
    question: &'static str,
    engines: &'static [Engine],
    metric: String,
    parameters: &'static [(&'static str, &'static str)],
}

impl Entry {
    fn of(experiment: &dyn Experiment) -> Self {
        let About { name, question, engines, metrics, parameters } = experiment.about();
        let metric = metrics.into_iter().next().map(|metric| metric.name).unwrap_or_default();
        Self { name, question, engines, metric, parameters }
    }

    fn engine_names(&self) -> String {
        self.engines.iter().map(Engine::to_string).collect::<Vec<_>>().join(", ")
    }
}

impl Report for List {
    const SCHEMA: &'static str = "slablab.lab.list/1";

    fn text(&self, page: &mut Page) {
        for entry in &self.experiments {
            page.heading(&format!("{}  ({})", entry.name, entry.engine_names()));
            page.line(entry.question);
            for (name, about) in entry.parameters {
                page.line(format!("  --set {name}=...  {about}"));
            }
        }
        page.heading("Every experiment in the engine kernel");
        for (name, about) in PARAMETERS {
            page.line(format!("  --set {name}=...  {about}"));
        }
    }

    fn csv(&self) -> Table {
        let fields = [
            field::name("name", "name", |entry: &Entry| entry.name),
            field::text("engines", "engines", Entry::engine_names),
            field::name("answered by", "metric", |entry| &entry.metric),
            field::name("question", "question", |entry| entry.question),
        ];
        Table::of(&self.experiments, fields)
    }
}
