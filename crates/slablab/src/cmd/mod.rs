//! The sub-commands, one a file. Each has `Args` (its options) and `run`.

pub(crate) mod kernel;

use std::process::ExitCode;

use anyhow::Result;

use crate::cli::{Cli, Command};

/// Runs the sub-command that was asked for.
pub(crate) fn run(cli: &Cli) -> Result<ExitCode> {
    match &cli.command {
        Command::Kernel(args) => kernel::run(args, &cli.output),
    }
}
