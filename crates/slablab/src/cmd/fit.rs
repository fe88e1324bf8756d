//! `slablab fit`: whether the load fits into a memory, and what makes it fit.

use std::process::ExitCode;

use anyhow::{Result, bail};
use slablab_replay::{Budget, Configured, Contender, TraceFacts, budget};
use slablab_trace::TraceReader;

use super::aged::AgedArgs;
use super::allocators::AllocatorArgs;
use super::question::QuestionArgs;
use super::size::parse_bytes;
use crate::answers::fit::FitAnswer;
use crate::answers::order::OrderAnswer;
use crate::cli::OutputArgs;
use crate::output::give;
use crate::progress::Progress;

/// Machines on which the trace is replayed, about.
const REPLAYS: u64 = 56;
/// Blocks of this order have 4 GiB.
const ORDER_MAX: i64 = 20;

#[derive(clap::Args, Debug)]
#[command(
    after_help = "The trace is replayed on machines of that memory, under the recorded kernel's allocator and settings, others\n\
                        that it has, and other allocators; with --order its events of pages are. Exit status 1: it does not fit\n\
                        under the recorded allocator, or at some moment no block of the order can be had at once.\n\n\
                        Examples:\n  \
                        slablab fit t.parquet --memory 64M\n  \
                        slablab fit t.parquet --order 8"
)]
pub(crate) struct Args {
    #[command(flatten)]
    question: QuestionArgs,
    /// The memory that the load should fit into
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes, required_unless_present = "order")]
    memory: Option<u64>,
    /// Ask for blocks of 2^N pages instead
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(..=ORDER_MAX), conflicts_with = "memory")]
    order: Option<u8>,
    #[command(flatten)]
    allocator: AllocatorArgs,
    #[command(flatten)]
    aged: AgedArgs,
}

pub(crate) fn run(args: &Args, output: &OutputArgs) -> Result<ExitCode> {
    let question = &args.question;
    question.check_outputs(&[question.path()], &[])?;
    let trace = question.open()?;
    let memory_bytes = match (args.memory, args.order) {
        (Some(memory_bytes), _) => memory_bytes,
        (None, Some(order)) => return of_order(args, &trace, order, output),
        (None, None) => bail!("--memory or --order says what the load should fit into"),
    };
    let progress = Progress::new("trying", trace.meta().events * REPLAYS);
    let mut done = 0;
    let mut note = |rows: u64| {
        done += rows;
        progress.set(done);
    };
    let kind = args.allocator.of(trace.meta());
    let budget = question.with_trace_name(budget(&trace, kind, memory_bytes, &mut note))?;
    drop(progress);
    let fits = budget.contenders.first().is_some_and(Contender::fits);
    let setting = contender_to_show(&budget).map(|contender| &contender.setting);
    let rest = args.aged.rest_of_setting(&trace, question.is_about_all(), kind, setting)?;
    give(&FitAnswer { file: question.file(), budget, rest }, output, &question.answer)?;
    Ok(if fits { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Says whether blocks of an order can be had.
fn of_order(args: &Args, trace: &TraceReader, order: u8, output: &OutputArgs) -> Result<ExitCode> {
    let question = &args.question;
    if !question.is_about_all() {
        bail!("--order is about all of a machine: leave out what chooses a part of the trace");
    }
    let kind = args.allocator.of(trace.meta());
    let room = question.with_trace_name(args.aged.order_room(trace, kind, order))?;
    let is_always_there = room.is_always_there();
    let answer = OrderAnswer {
        file: question.file(),
        aged: args.aged.file(),
        room,
        trace: TraceFacts::new(trace.meta()),
    };
    give(&answer, output, &question.answer)?;
    Ok(if is_always_there { ExitCode::SUCCESS } else { ExitCode::from(1) })
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
