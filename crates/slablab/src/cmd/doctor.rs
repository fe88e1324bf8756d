//! `slablab doctor`: what works on this machine, what does not, and how to fix it.

use std::process::ExitCode;

use anyhow::Result;
use serde::Serialize;
use slablab_report::{Document, Item, Section};
use slablab_trace::{Fact, State};

use crate::cli::{AnswerArgs, OutputArgs};
use crate::output::{Answer, Table, field, give};

#[derive(clap::Args, Debug)]
#[command(after_help = "Exit status: 0 when recording would work here, 1 when it would not.")]
pub(crate) struct Args {
    #[command(flatten)]
    answer: AnswerArgs,
}

pub(crate) fn run(args: &Args, output: &OutputArgs) -> Result<ExitCode> {
    let probed = slablab_trace::probe().into_iter().chain(super::kernel::check::facts());
    let facts: Vec<_> = probed.map(|fact| Finding::new(&fact)).collect();
    let can_record = !facts.iter().any(|fact| fact.state == "missing");
    give(&DoctorAnswer { can_record, facts }, output, &args.answer)?;
    Ok(if can_record { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// What `slablab doctor` says.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
pub(super) struct DoctorAnswer {
    can_record: bool,
    facts: Vec<Finding>,
}

/// One fact about this machine.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
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

impl Answer for DoctorAnswer {
    const SCHEMA: &'static str = "slablab.doctor/1";

    fn document(&self) -> Document {
        let answer = match self.can_record {
            true => "slablab record works here.",
            false => "slablab record does not work here yet; replay, stat, info and import do.",
        };
        let fields = [
            field::name("what", "name", |fact: &Finding| fact.name),
            field::name("state", "state", |fact| fact.state),
            field::name("found", "found", |fact| &fact.found),
            field::name("remedy", "remedy", |fact: &Finding| &fact.remedy).as_data(),
        ];
        let table = Table::of(&self.facts, fields);
        let remedies = self.facts.iter().filter(|fact| !fact.remedy.is_empty());
        let remedies = remedies.map(|fact| Item::Text(format!("{}: {}", fact.name, fact.remedy)));
        Document {
            title: "What slablab needs of this machine".to_owned(),
            question: "Does slablab record work here?".to_owned(),
            answers: vec![answer.to_owned()],
            sections: vec![
                Section::first("requirements", "", vec![Item::table("Requirements", "", table)]),
                Section::first("fixes", "Fixes", remedies.collect()),
            ],
            ..Document::default()
        }
    }
}
