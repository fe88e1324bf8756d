//! The sub-commands, one a file. Each has `Args` (its options) and `run`.

pub(crate) mod advise;
pub(crate) mod doctor;
pub(crate) mod import;
pub(crate) mod info;
pub(crate) mod insmod;
pub(crate) mod kernel;
pub(crate) mod lab;
mod question;
pub(crate) mod record;
pub(crate) mod replay;
pub(crate) mod report;
mod size;
pub(crate) mod stat;
pub(crate) mod whatif;

use std::process::ExitCode;

use anyhow::Result;

use crate::cli::{Cli, Command};

/// Runs the sub-command that was asked for.
pub(crate) fn run(cli: &Cli) -> Result<ExitCode> {
    let output = &cli.output;
    match &cli.command {
        Command::Record(args) => record::run(args, output),
        Command::Import(args) => import::run(args, output),
        Command::Info(args) => info::run(args, output),
        Command::Stat(args) => stat::run(args, output),
        Command::Replay(args) => replay::run(args, output),
        Command::Whatif(args) => whatif::run(args, output),
        Command::Advise(args) => advise::run(args, output),
        Command::Lab(args) => lab::run(args, output),
        Command::Report(args) => report::run(args),
        Command::Insmod(args) => insmod::run(args, output),
        Command::Kernel(args) => kernel::run(args, output),
        Command::Doctor(args) => doctor::run(args, output),
    }
}
