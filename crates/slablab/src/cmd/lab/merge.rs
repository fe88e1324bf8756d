//! `slablab lab merge`: the shards of a plan become one result.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use slablab_lab::{Holes, Sweep, merge};

use crate::answers::lab::MergeAnswer;
use crate::cli::{OutputArgs, ShownArgs};
use crate::output::give;

#[derive(clap::Args, Debug)]
#[command(
    after_help = "Rows are copied as they were written. A round is taken whole from one machine. Cells that no shard has are\n\
                        named, and nothing is written, unless --partial is given; the exit status is 1 then. Duplicates are\n\
                        named, and the older round counts; counts that differ between two runs of a cell are an error.\n\n\
                        Examples:\n  \
                        slablab lab merge plan/ -o result/ && slablab lab compare result/\n  \
                        slablab lab merge here/plan there/plan -o result/   # copies of one plan"
)]
pub(crate) struct Args {
    /// The folder of the plan, or its copies from several clusters
    #[arg(value_name = "PLAN", required = true)]
    plans: Vec<PathBuf>,
    /// The result folder to make
    #[arg(short, long, value_name = "FOLDER")]
    output: PathBuf,
    /// Make a result although cells are missing
    #[arg(long)]
    partial: bool,
    #[command(flatten)]
    answer: ShownArgs,
}

pub(crate) fn run(args: &Args, output: &OutputArgs) -> Result<ExitCode> {
    let sweeps: Vec<Sweep> =
        args.plans.iter().map(|folder| Sweep::open(folder)).collect::<slablab_lab::Result<_>>()?;
    let holes = if args.partial { Holes::Keep } else { Holes::Refuse };
    let merged = merge(&sweeps, &args.output, holes)?;
    let is_whole = merged.holes.is_empty();
    let folder = args.output.exists().then(|| args.output.clone());
    give(&MergeAnswer { folder, merged }, output, &args.answer.answer())?;
    Ok(if is_whole { ExitCode::SUCCESS } else { ExitCode::from(1) })
}
