//! `slablab kernel`: real kernels, listed, built, booted and cleaned away.
//!
//! One file per sub-command; `options` holds what they share, `check` what the doctor says of them. Experiments in real
//! kernels are the lab's.

mod boot;
mod build;
pub(in crate::cmd) mod check;
mod clean;
mod list;
pub(in crate::cmd) mod options;

use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;

use crate::cli::OutputArgs;

/// What these commands print as JSON.
#[cfg(feature = "manual")]
pub(super) const SCHEMAS: &[crate::schema::Published] = {
    use crate::answers::kernel::{BootAnswer, BuildAnswer, CleanAnswer, KernelsAnswer};
    use crate::schema::Published;
    &[
        Published::answer::<KernelsAnswer>(),
        Published::answer::<BuildAnswer>(),
        Published::answer::<BootAnswer>(),
        Published::answer::<CleanAnswer>(),
    ]
};

/// List, build and boot real kernels
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

/// What to do with real kernels.
#[derive(Subcommand, Debug)]
enum Command {
    /// List kernels, what was built, modules and patches
    List(list::Args),
    /// Build kernels, or find them in the cache
    Build(build::Args),
    /// Boot a kernel and run a command in it
    Boot(boot::Args),
    /// Remove builds that no command needs any more from the cache
    Clean(clean::Args),
}

/// Runs `slablab kernel`.
pub(crate) fn run(args: &Args, output: &OutputArgs) -> Result<ExitCode> {
    match &args.command {
        Command::List(args) => list::run(args, output),
        Command::Build(args) => build::run(args, output),
        Command::Boot(args) => boot::run(args, output),
        Command::Clean(args) => clean::run(args, output),
    }
}
