//! `slablab lab run`: carries an experiment out, row by row, and says what came of it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Result, bail};
use clap::ValueEnum;
use slablab_lab::{Engine, Outcome, Plan, Request, Scale, find, page, run as carry_out};
use slablab_stats::Question;

use super::compare::{Answer, Layout};
use crate::cli::OutputArgs;
use crate::cmd::report;
use crate::output::print;
use crate::progress::Progress;

/// Options of `slablab lab run`.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Each run is a row in FOLDER/raw.jsonl, on the disk before the next begins. A run that was interrupted\n\
                        goes on when the same command is given again.\n\n\
                        Examples:\n  \
                        slablab lab run replay --input t.parquet\n  \
                        slablab lab run lifo --full --report lifo.html"
)]
pub(crate) struct Args {
    /// The experiment; 'slablab lab list' has them all
    #[arg(value_name = "NAME")]
    name: String,
    /// Where it runs; the first engine of the experiment by default
    #[arg(long, value_enum, value_name = "ENGINE")]
    engine: Option<EngineName>,
    /// As thorough as the answer needs, instead of a smoke test of seconds
    #[arg(long)]
    full: bool,
    /// How many rounds, each with every variant once
    #[arg(long, value_name = "N")]
    rounds: Option<usize>,
    /// Where the random order starts; recorded in the plan
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// The trace or file that the experiment works on
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// Set a parameter of the experiment
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = parameter)]
    params: Vec<(String, String)>,
    /// The result folder; slablab-results/NAME-ENGINE by default
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// Write a page about it here, too
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

/// The engines.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
enum EngineName {
    /// Our library in a process
    User,
    /// A real Linux in QEMU
    Kernel,
}

fn parameter(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("write NAME=VALUE".to_owned()),
    }
}

/// Runs `slablab lab run`.
pub(crate) fn run(args: &Args, output: &OutputArgs) -> Result<ExitCode> {
    let experiment = find(&args.name)?;
    let engine = match args.engine {
        Some(EngineName::User) => Engine::User,
        Some(EngineName::Kernel) => Engine::Kernel,
        None => experiment.engines()[0],
    };
    let folder = args.output.clone().unwrap_or_else(|| {
        PathBuf::from("slablab-results").join(format!("{}-{engine}", experiment.name()))
    });
    // Without --seed an interrupted run goes on with the order that it was begun in.
    let begun = Plan::read(&folder)?.map(|plan| plan.seed);
    let params: BTreeMap<String, String> = args.params.iter().cloned().collect();
    if params.len() < args.params.len() {
        bail!("--set: a parameter is set twice");
    }
    let request = Request {
        engine,
        scale: if args.full { Scale::Full } else { Scale::Smoke },
        params,
        input: args.input.clone(),
        rounds: args.rounds,
        seed: args.seed.or(begun).unwrap_or_else(seed_of_the_clock),
    };
    let plan = Plan::new(experiment, &request)?;
    let progress = Progress::new(&args.name, plan.cells().len() as u64);
    carry_out(experiment, &plan, &folder, &mut |now| {
        progress.set(now.done as u64);
        progress.message(match now.cell {
            Some(cell) => format!("{}: {}", args.name, cell.words()),
            None => format!("{}: setting up", args.name),
        });
    })?;
    drop(progress);
    let outcome = Outcome::read(&folder)?;
    let question = Question::default();
    let answer = Answer::of_run(&outcome, outcome.compare(None, &question)?, Layout::Plain);
    print(&answer, output, None)?;
    eprintln!("slablab: the rows are in {}", folder.display());
    if let Some(file) = &args.report {
        report::write(&page::run(&outcome, None, &question)?, file)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns a seed that differs from run to run; it is recorded, so that the order can be had again.
fn seed_of_the_clock() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |t| t.as_nanos() as u64 % 1_000_000_007)
}
