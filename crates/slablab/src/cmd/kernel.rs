//! `slablab kernel`: real kernels, built, booted and measured.

use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::cli::OutputArgs;

/// Build, boot and measure real kernels
#[derive(clap::Args, Debug)]
pub(crate) struct Args {}

/// Runs `slablab kernel`.
pub(crate) fn run(_args: &Args, _output: &OutputArgs) -> Result<ExitCode> {
    bail!("kernel: not built yet")
}
