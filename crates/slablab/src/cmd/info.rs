//! `slablab info`: what a trace holds and how far it can be trusted, or what holds slab memory by the tables of a text.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail};
use slablab_census::Census;

use super::filter::FilterArgs;
use super::import::{self, Opened};
use super::memory::MemoryArgs;
use super::question::check_outputs;
use super::tables::{self, TableArgs};
use super::traces;
use super::traces::args::{DamagedArgs, FILTERS, refuse};
use crate::answers::census::CensusAnswer;
use crate::answers::info::InfoAnswer;
use crate::cli::{AnswerArgs, OutputArgs};
use crate::output::give;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// A trace, a recording that can be imported, or a text with tables of slab memory; - is standard input
    #[arg(value_name = "FILE", required_unless_present_any = ["paste", "census"])]
    trace: Option<PathBuf>,
    /// Further traces, or folders and patterns of them: a row for each; or further moments of a table
    #[arg(value_name = "FILES")]
    further: Vec<PathBuf>,
    #[command(flatten)]
    tables: TableArgs,
    /// Look at the running kernel: where the free objects of each cache lie, and how full its slabs are (root, BPF)
    #[arg(long, conflicts_with_all = ["trace", "paste", "every"])]
    census: bool,
    #[command(flatten)]
    damaged: DamagedArgs,
    #[command(flatten)]
    filter: FilterArgs,
    #[command(flatten)]
    answer: AnswerArgs,
    #[command(flatten)]
    ram: MemoryArgs,
}

pub(crate) fn run(args: &Args, output: &OutputArgs) -> Result<ExitCode> {
    args.ram.keep();
    let paths: Vec<&Path> = args.trace.iter().chain(&args.further).map(PathBuf::as_path).collect();
    check_outputs(&paths, args.answer.outputs())?;
    if args.census {
        refuse_of_census(args)?;
        let census = Census::take()?;
        give(&CensusAnswer::now(census), output, &args.answer)?;
        return Ok(ExitCode::SUCCESS);
    }
    let [first, ..] = paths[..] else {
        tables::of_paste(&args.tables)?.give(output, &args.answer)?;
        return Ok(ExitCode::SUCCESS);
    };
    let answer = if traces::inputs::are_several(&paths) {
        if let Some(files) = tables::files(&paths)? {
            tables::refuse_filter(first, &args.filter)?;
            tables::of_files(&files, &args.tables)?.give(output, &args.answer)?;
            return Ok(ExitCode::SUCCESS);
        }
        refuse(&[(FILTERS, !args.filter.is_empty())])?;
        InfoAnswer::of_many(&paths, args.damaged.policy())?
    } else {
        match import::open_any(first, &args.filter)? {
            Opened::Trace(trace) => InfoAnswer::of_one(&trace),
            Opened::Tables(input) => {
                tables::of_input(input, &args.tables)?.give(output, &args.answer)?;
                return Ok(ExitCode::SUCCESS);
            }
        }
    };
    give(&answer, output, &args.answer)?;
    Ok(ExitCode::SUCCESS)
}

/// Refuses what has no meaning for the running kernel.
fn refuse_of_census(args: &Args) -> Result<()> {
    if !args.filter.is_empty() {
        bail!(
            "{FILTERS} takes a part of a trace, and --census looks at the running kernel: leave one of them out"
        );
    }
    Ok(())
}
