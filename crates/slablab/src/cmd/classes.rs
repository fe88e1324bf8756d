//! `slablab classes`: which further kmalloc size classes fit the trace best.

use std::process::ExitCode;

use anyhow::Result;
use slablab_replay::advise_classes;

use super::allocators::AllocatorArgs;
use super::question::QuestionArgs;
use crate::answers::classes::ClassesAnswer;
use crate::cli::OutputArgs;
use crate::output::give;
use crate::progress::Progress;

#[derive(clap::Args, Debug)]
#[command(
    after_help = "Of all sets with one further class, two, and so on, those are found that allocate least; what slabs then\n\
                        hold is replayed.\n\n\
                        Example:\n  \
                        slablab classes t.parquet --further 2"
)]
pub(crate) struct Args {
    #[command(flatten)]
    question: QuestionArgs,
    /// Propose at most this number of further classes
    #[arg(long, value_name = "K", default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=16))]
    further: u8,
    #[command(flatten)]
    allocator: AllocatorArgs,
}

pub(crate) fn run(args: &Args, output: &OutputArgs) -> Result<ExitCode> {
    let question = &args.question;
    question.check_outputs(&[question.path()], &[])?;
    let trace = question.open()?;
    let progress = Progress::new("replaying", trace.meta().events);
    let kind = args.allocator.of(trace.meta());
    let mut note = |done| progress.set(done);
    let advice = advise_classes(&trace, kind, None, args.further.into(), &mut note);
    let advice = question.with_trace_name(advice)?;
    drop(progress);
    give(&ClassesAnswer { file: question.file(), advice }, output, &question.answer)?;
    Ok(ExitCode::SUCCESS)
}
