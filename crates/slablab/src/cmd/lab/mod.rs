//! `slablab lab`: experiments, run and compared.

mod answer;
mod compare;
mod list;
pub(crate) mod run;

use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;

use crate::cli::OutputArgs;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

/// What to do in the lab.
#[derive(Subcommand, Debug)]
enum What {
    /// List the experiments, with their questions and parameters
    List,
    /// Run an experiment, or continue one that was interrupted
    Run(run::Args),
    /// Compare the variants of a result, two results, or two columns of a CSV file
    Compare(compare::Args),
}

pub(crate) fn run(args: &Args, output: &OutputArgs) -> Result<ExitCode> {
    match &args.what {
        What::List => list::run(output),
        What::Run(args) => run::run(args, output),
        What::Compare(args) => compare::run(args, output),
    }
}
