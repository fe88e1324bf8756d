//! `slablab lab`: experiments, run on one machine or in shards on many, and compared.

mod bars;
mod bisect;
mod compare;
mod history;
mod list;
mod merge;
mod patch;
mod plan;
mod releases;
pub(crate) mod request;
pub(crate) mod result;
pub(crate) mod run;
mod sbatch;
mod shard;

use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;

use crate::cli::OutputArgs;

/// What these commands print as JSON.
#[cfg(feature = "manual")]
pub(super) const SCHEMAS: &[crate::schema::Published] = {
    use crate::answers::bisect::BisectAnswer;
    use crate::answers::comparison::CompareAnswer;
    use crate::answers::history::HistoryAnswer;
    use crate::answers::lab::{ExperimentsAnswer, MergeAnswer, PlanAnswer, ShardAnswer};
    use crate::answers::patched::PatchedAnswer;
    use crate::schema::Published;
    &[
        Published::answer::<ExperimentsAnswer>(),
        Published::answer::<CompareAnswer>(),
        Published::answer::<BisectAnswer>(),
        Published::answer::<HistoryAnswer>(),
        Published::answer::<PatchedAnswer>(),
        Published::answer::<PlanAnswer>(),
        Published::answer::<ShardAnswer>(),
        Published::answer::<MergeAnswer>(),
    ]
};

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

/// What to do in the lab.
#[derive(Subcommand, Debug)]
enum What {
    /// List the experiments, with their questions and parameters
    List(list::Args),
    /// Run an experiment, or continue one that was interrupted
    Run(run::Args),
    /// Find the release, setting, patch or commit that moved slab memory
    Bisect(bisect::Args),
    /// Plan an experiment, to be run in shards by several machines
    Plan(plan::Args),
    /// Write the job array that runs a plan on a Slurm cluster
    Sbatch(sbatch::Args),
    /// Make one result of the shards of a plan
    Merge(merge::Args),
    /// Compare the variants of a result, two results, or two columns of a CSV file
    Compare(compare::Args),
}

pub(crate) fn run(args: &Args, output: &OutputArgs) -> Result<ExitCode> {
    match &args.what {
        What::List(args) => list::run(args, output),
        What::Run(args) => run::run(args, output),
        What::Bisect(args) => bisect::run(args, output),
        What::Plan(args) => plan::run(args, output),
        What::Sbatch(args) => sbatch::run(args),
        What::Merge(args) => merge::run(args, output),
        What::Compare(args) => compare::run(args, output),
    }
}
