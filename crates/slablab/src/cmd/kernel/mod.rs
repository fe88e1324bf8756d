//! `slablab kernel`: real kernels, built, booted and measured.
//!
//! One file per sub-command; `options` holds what they share.

mod boot;
mod build;
mod check;
mod clean;
mod list;
pub(in crate::cmd) mod options;
mod predict;
mod profile;
pub(in crate::cmd) mod replayer;
mod run;

use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;

use crate::cli::OutputArgs;
use crate::schema::Published;

/// What these commands print as JSON.
pub(super) const SCHEMAS: &[Published] = &[
    Published::of::<list::Listing>(),
    Published::of::<build::Built>(),
    Published::of::<boot::Booted>(),
    Published::of::<profile::Profiled>(),
    Published::of::<check::Checked>(),
    Published::of::<clean::Cleaned>(),
];
pub(super) use predict::SCHEMAS as PREDICT_SCHEMAS;

/// Build, boot and measure real kernels
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

/// What to do with real kernels.
#[derive(Subcommand, Debug)]
enum Command {
    /// List kernels, experiments, modules and patches
    List(list::Args),
    /// Check what building and booting need, and whether KVM works
    Check(check::Args),
    /// Build kernels, or find them in the cache
    Build(build::Args),
    /// Boot a kernel and run a command in it
    Boot(boot::Args),
    /// Run an experiment: build, boot, measure and compare kernels
    Run(run::Args),
    /// Compare predictions from a guest's trace with what guests then show
    Predict(predict::Args),
    /// Draw a flame graph of a kernel under hackbench
    Profile(profile::Args),
    /// Remove builds that no command needs any more from the cache
    Clean(clean::Args),
}

/// Runs `slablab kernel`.
pub(crate) fn run(args: &Args, output: &OutputArgs) -> Result<ExitCode> {
    match &args.command {
        Command::List(args) => list::run(args, output),
        Command::Check(args) => check::run(args, output),
        Command::Build(args) => build::run(args, output),
        Command::Boot(args) => boot::run(args, output),
        Command::Run(args) => run::run(args, output),
        Command::Predict(args) => predict::run(args, output),
        Command::Profile(args) => profile::run(args, output),
        Command::Clean(args) => clean::run(args, output),
    }
}
