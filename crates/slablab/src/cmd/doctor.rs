//! `slablab doctor`: what works on this machine, what does not, and how to fix it.

use std::process::ExitCode;

use anyhow::Result;
use schemars::JsonSchema;
use serde::Serialize;
use slablab_trace::{Fact, State};

use crate::cli::{OutputArgs, ResultFile};
use crate::output::{Page, Report, Table, field, print};

#[derive(clap::Args, Debug)]
#[command(after_help = "Exit status: 0 when recording would work here, 1 when it would not.")]
pub(crate) struct Args {
    #[command(flatten)]
    result: ResultFile,
}

pub(crate) fn run(args: &Args, output: &OutputArgs) -> Result<ExitCode> {
    let facts: Vec<_> = slablab_trace::probe().iter().map(Finding::new).collect();
    let can_record = !facts.iter().any(|fact| fact.state == "missing");
    print(&Diagnosis { can_record, facts }, output, args.result.output.as_deref())?;
    Ok(if can_record { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// What `slablab doctor` says.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Diagnosis {
    can_record: bool,
    facts: Vec<Finding>,
}

/// One fact about this machine.
#[derive(Debug, Serialize, JsonSchema)]
struct Finding {
    name: &'static str,
    state: &'static str,
    found: String,
    remedy: String,
}

impl Finding {
    fn new(fact: &Fact) -> Self {
        let state = match fact.state {
            State::Good => "good",
            State::Fair => "fair",
            State::Missing => "missing",
        };
        Self { name: fact.name, state, found: fact.found.clone(), remedy: fact.remedy.clone() }
    }
}

impl Report for Diagnosis {
    const SCHEMA: &'static str = "slablab.doctor/1";

    fn text(&self, page: &mut Page) {
        let fields = [
            field::name("what", "name", |fact: &Finding| fact.name),
            field::name("state", "state", |fact| fact.state),
            field::name("found", "found", |fact| &fact.found),
        ];
        page.table(&Table::of(&self.facts, fields));
        let remedies: Vec<_> = self.facts.iter().filter(|fact| !fact.remedy.is_empty()).collect();
        if !remedies.is_empty() {
            page.heading("Fixes");
            for fact in remedies {
                page.line(format!("  {}: {}", fact.name, fact.remedy));
            }
        }
        page.heading(if self.can_record {
            "slablab record works here."
        } else {
            "slablab record does not work here yet; replay, stat, info and import do."
        });
    }

    fn csv(&self) -> Table {
        let fields = [
            field::name("name", "name", |fact: &Finding| fact.name),
            field::name("state", "state", |fact| fact.state),
            field::name("found", "found", |fact| &fact.found),
            field::name("remedy", "remedy", |fact| &fact.remedy),
        ];
        Table::of(&self.facts, fields)
    }
}
