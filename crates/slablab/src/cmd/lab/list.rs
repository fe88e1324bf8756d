//! `slablab lab list`: the experiments, with their questions and parameters.

use std::process::ExitCode;

use anyhow::Result;
use serde::Serialize;
use slablab_lab::guest::PARAMETERS;
use slablab_lab::{Engine, Experiment, experiments};

use crate::cli::OutputArgs;
use crate::output::{Cell, Column, Page, Report, Table, print};

/// Runs `slablab lab list`.
pub(crate) fn run(output: &OutputArgs) -> Result<ExitCode> {
    let experiments = experiments().iter().map(|experiment| Entry::of(*experiment)).collect();
    print(&List { experiments }, output, None)?;
    Ok(ExitCode::SUCCESS)
}

#[derive(Serialize)]
struct List {
    experiments: Vec<Entry>,
}

#[derive(Serialize)]
struct Entry {
    name: &'static str,
    question: &'static str,
    engines: Vec<Engine>,
    metric: String,
    parameters: Vec<(&'static str, &'static str)>,
}

impl Entry {
    fn of(experiment: &dyn Experiment) -> Self {
        Self {
            name: experiment.name(),
            question: experiment.question(),
            engines: experiment.engines().to_vec(),
            metric: experiment
                .metrics()
                .first()
                .map(|metric| metric.name.clone())
                .unwrap_or_default(),
            parameters: experiment.parameters().to_vec(),
        }
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
            for (name, about) in &entry.parameters {
                page.line(format!("  --set {name}=...  {about}"));
            }
        }
        page.heading("Every experiment in the engine kernel");
        for (name, about) in PARAMETERS {
            page.line(format!("  --set {name}=...  {about}"));
        }
    }

    fn csv(&self) -> Table {
        let mut table = Table::new([
            Column::name("name", "name"),
            Column::name("engines", "engines"),
            Column::name("answered by", "metric"),
            Column::name("question", "question"),
        ]);
        for entry in &self.experiments {
            table.row([
                Cell::text(entry.name),
                Cell::text(entry.engine_names()),
                Cell::text(&entry.metric),
                Cell::text(entry.question),
            ]);
        }
        table
    }
}
