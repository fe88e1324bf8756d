//! `slablab info`: what a trace holds, and how far it can be trusted.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;

use super::filter::FilterArgs;
use super::import::{self, Opened};
use super::question::check_outputs;
use super::traces;
use super::traces::args::{DamagedArgs, FILTERS, refuse};
use crate::answers::info::InfoAnswer;
use crate::answers::snapshot::SnapshotAnswer;
use crate::cli::{AnswerArgs, OutputArgs};
use crate::output::give;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The trace, a recording that can be imported, or snapshots of /proc/slabinfo or allocinfo; - is standard input
    #[arg(value_name = "TRACE")]
    trace: PathBuf,
    /// Further traces, or folders and patterns of them: a row for each
    #[arg(value_name = "TRACES")]
    further: Vec<PathBuf>,
    #[command(flatten)]
    damaged: DamagedArgs,
    #[command(flatten)]
    filter: FilterArgs,
    #[command(flatten)]
    answer: AnswerArgs,
}

pub(crate) fn run(args: &Args, output: &OutputArgs) -> Result<ExitCode> {
    let further = args.further.iter().map(PathBuf::as_path);
    let paths: Vec<&Path> = [args.trace.as_path()].into_iter().chain(further).collect();
    check_outputs(&paths, args.answer.outputs())?;
    let answer = if traces::inputs::are_several(&paths) {
        refuse(&[(FILTERS, !args.filter.is_empty())])?;
        InfoAnswer::of_many(&paths, args.damaged.policy())?
    } else {
        match import::open_any(&args.trace, &args.filter)? {
            Opened::Trace(trace) => InfoAnswer::of_one(&trace),
            Opened::Snapshots(snapshots) => {
                let answer = SnapshotAnswer::new(&args.trace, &snapshots);
                give(&answer, output, &args.answer)?;
                return Ok(ExitCode::SUCCESS);
            }
        }
    };
    give(&answer, output, &args.answer)?;
    Ok(ExitCode::SUCCESS)
}
