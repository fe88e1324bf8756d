//! `slablab fit`: whether the load fits into a memory, and what makes it fit.

use std::process::ExitCode;

use anyhow::Result;
use slablab_replay::{Contender, budget};

use super::allocators::AllocatorArgs;
use super::question::QuestionArgs;
use super::size::parse_bytes;
use crate::answers::fit::FitAnswer;
use crate::cli::OutputArgs;
use crate::output::give;
use crate::progress::Progress;

/// Machines on which the trace is replayed, about.
const REPLAYS: u64 = 56;

#[derive(clap::Args, Debug)]
#[command(
    after_help = "The trace is replayed on machines of that memory, under the recorded kernel's allocator and settings, others\n\
                        that it has, and other allocators. Exit status 1: it does not fit under the recorded allocator.\n\n\
                        Example:\n  \
                        slablab fit t.parquet --memory 64M"
)]
pub(crate) struct Args {
    #[command(flatten)]
    question: QuestionArgs,
    /// The memory that the load should fit into
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    memory: u64,
    #[command(flatten)]
    allocator: AllocatorArgs,
}

pub(crate) fn run(args: &Args, output: &OutputArgs) -> Result<ExitCode> {
    let question = &args.question;
    question.check_outputs(&[question.path()], &[])?;
    let trace = question.open()?;
    let progress = Progress::new("trying", trace.meta().events * REPLAYS);
    let mut done = 0;
    let mut note = |rows: u64| {
        done += rows;
        progress.set(done);
    };
    let kind = args.allocator.of(trace.meta());
    let budget = question.with_trace_name(budget(&trace, kind, args.memory, &mut note))?;
    drop(progress);
    let fits = budget.contenders.first().is_some_and(Contender::fits);
    give(&FitAnswer { file: question.file(), budget }, output, &question.answer)?;
    Ok(if fits { ExitCode::SUCCESS } else { ExitCode::from(1) })
}
