//! `slablab fit`: whether the load fits into a memory, and what makes it fit.

use std::process::ExitCode;

use anyhow::Result;
use slablab_replay::{Budget, Configured, Contender, budget};

use super::aged::AgedArgs;
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
    #[command(flatten)]
    aged: AgedArgs,
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
    let setting = contender_to_show(&budget).map(|contender| &contender.setting);
    let rest = args.aged.rest_of_setting(&trace, question.is_about_all(), kind, setting)?;
    give(&FitAnswer { file: question.file(), budget, rest }, output, &question.answer)?;
    Ok(if fits { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Returns the setting of the recorded allocator whose cost for the rest of the machine is shown: the first that fits, or
/// else the first that differs from the recorded one.
fn contender_to_show(budget: &Budget) -> Option<&Contender> {
    let is_setting = |contender: &&Contender| {
        let setting = &contender.setting;
        !setting.is_recorded() && setting.configured == Configured::Recorded
    };
    let mut fitting = budget.contenders.iter().filter(|contender| contender.fits());
    fitting.find(is_setting).or_else(|| budget.contenders.iter().find(is_setting))
}
