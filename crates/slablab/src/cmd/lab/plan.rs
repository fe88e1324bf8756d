//! `slablab lab plan`: what a sweep will run, written down for the machines that share it.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use slablab_lab::{Plan, Sweep, plan};

use super::request::RequestArgs;
use crate::answers::lab::PlanAnswer;
use crate::cli::{OutputArgs, ShownArgs};
use crate::output::give;
use crate::say::say;

#[derive(clap::Args, Debug)]
#[command(
    after_help = "A shard is every Nth point with all variants, so what is compared runs interleaved on one machine.\n\
                        The folder, and the input where there is one, must be seen by all machines.\n\n\
                        Examples:\n  \
                        slablab lab plan hackbench --set cpus=1,2,4 -o plan/\n  \
                        slablab lab run plan/ --shard 1/3     # on one machine; 2/3 and 3/3 on others\n  \
                        slablab lab sbatch plan/              # or all of them by Slurm\n  \
                        slablab lab merge plan/ -o result/"
)]
pub(crate) struct Args {
    /// The experiment; 'slablab lab list' has them all
    #[arg(value_name = "NAME")]
    name: String,
    #[command(flatten)]
    request: RequestArgs,
    /// The folder to make; the same plan may be there already
    #[arg(short, long, value_name = "FOLDER")]
    output: PathBuf,
    #[command(flatten)]
    answer: ShownArgs,
}

pub(crate) fn run(args: &Args, output: &OutputArgs) -> Result<ExitCode> {
    let (experiment, mut request) = args.request.of(&args.name)?;
    // Without --seed the plan that is there keeps its own.
    if let (None, Some(there)) = (args.request.seed, Plan::read(&args.output)?) {
        request.seed = there.seed;
    }
    let sweep = Sweep::create(&args.output, plan(experiment, &request)?)?;
    sweep.plan.summary().inspect(|summary| say(format_args!("slablab: {summary}")));
    give(&PlanAnswer::of(&sweep), output, &args.answer.answer())?;
    Ok(ExitCode::SUCCESS)
}
