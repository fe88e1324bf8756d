//! `slablab advise`: which call sites should have a cache of their own, best first.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use slablab_kmem::BackendKind;
use slablab_replay::{AdviceList, ReplayPlan, Start, TraceAdvice, advise, fleet_advice, what_if};
use slablab_trace::TraceReader;

use super::allocators::AllocatorArgs;
use super::groups::GroupArgs;
use super::helpers::HelperArgs;
use super::question::QuestionArgs;
use super::size::asked_memory;
use super::stat_pins;
use super::traces::args::ManyArgs;
use super::traces::{Question, Traces};
use crate::answers::advise::{AdviseAnswer, Together};
use crate::cli::OutputArgs;
use crate::output::give;
use crate::progress::Progress;

/// Traces of at most this many events are decoded once for all passes: 50 MiB for each processor.
const EVENTS_DECODED: u64 = 1 << 20;

#[derive(clap::Args, Debug)]
#[command(
    after_help = "Each kmalloc call site that holds a page or more, and that a cache suits, is given one of its own, and the\n\
                        part of the trace that this can change is replayed with it. For each kmalloc size class, so is the\n\
                        one further class that fits its call sites best. Where the trace has stacks, the\n\
                        caller of a helper (kstrdup) is the call site.\n\n\
                        Examples:\n  \
                        slablab advise t.parquet\n  \
                        slablab advise t.parquet --show reasons\n  \
                        slablab advise fleet/ --resume advice/    # host=a/date=2026-11-22/t.parquet and so on"
)]
pub(crate) struct Args {
    #[command(flatten)]
    question: QuestionArgs,
    #[command(flatten)]
    many: ManyArgs,
    #[command(flatten)]
    helpers: HelperArgs,
    #[command(flatten)]
    allocator: AllocatorArgs,
}

pub(crate) fn run(args: &Args, output: &OutputArgs) -> Result<ExitCode> {
    let question = &args.question;
    question.check_outputs(&args.many.all(question.path()), &[])?;
    let traces = question.open_with(&args.many)?;
    let answer = match traces.one() {
        Some(trace) => of_one(args, trace, traces.remarks())?,
        None => of_several(args, &traces)?,
    };
    give(&answer, output, &question.answer)?;
    Ok(ExitCode::SUCCESS)
}

fn of_one(args: &Args, trace: &TraceReader, remarks: Vec<String>) -> Result<AdviseAnswer> {
    let question = &args.question;
    let kind = args.allocator.of(trace.meta());
    let owned = args.helpers.owned(trace)?;
    let trace = owned.as_ref().unwrap_or(trace);
    let sources = question.sources(trace, false)?;
    let list = tried(question, trace, kind)?;
    let together = match question.answer.report {
        Some(_) => together(trace, kind, &list)?,
        None => None,
    };
    let mut answer = AdviseAnswer::of_one(question.file(), kind.name(), list, remarks);
    (answer.sources, answer.together) = (sources, together);
    if stat_pins::lacks(trace.meta()).is_none() {
        let path = Path::new(&answer.file);
        answer.pins = Some(stat_pins::of(path, &GroupArgs::default(), trace)?);
    }
    Ok(answer)
}

/// Tries what is worth trying on the trace.
pub(super) fn tried(
    question: &QuestionArgs,
    trace: &TraceReader,
    kind: BackendKind,
) -> Result<AdviceList> {
    let progress = Progress::new("trying", trace.meta().events * 2);
    let list = advise(trace, kind, None, &mut |done| progress.set(done));
    question.with_trace_name(list)
}

/// Replays the trace with every advised cache, beginning as the advice did; `None` if none is advised.
fn together(trace: &TraceReader, kind: BackendKind, list: &AdviceList) -> Result<Option<Together>> {
    let (changes, sites) = list.together(trace.meta());
    let Some(best) = sites.first() else { return Ok(None) };
    let (allocators, watched, start) = (vec![kind], vec![*best], Start::Cold);
    let plan = ReplayPlan { allocators, changes, watched, start, ..ReplayPlan::default() };
    let progress = Progress::new("together", trace.meta().events);
    let what_if = what_if(trace, &plan, &mut |done| progress.set(done))?;
    let best = trace.meta().sites[*best as usize].name.clone();
    Ok(Some(Together { what_if, best }))
}

/// Advises over several traces together.
fn of_several(args: &Args, traces: &Traces<'_>) -> Result<AdviseAnswer> {
    args.question.refuse_of_many(&[])?;
    let kind = args.allocator.of_many();
    let question = Question {
        schema: "slablab.advise.trace/4",
        asked: [&[kind.name().to_owned(), asked_memory(None)], args.helpers.named()].concat(),
        doing: "trying",
        passes: 2,
        events_decoded: EVENTS_DECODED,
        ..Question::default()
    };
    let mut advice: Vec<TraceAdvice> = Vec::new();
    traces.each(
        &question,
        |reader, progress| {
            let owned = args.helpers.owned(reader)?;
            let reader = owned.as_ref().unwrap_or(reader);
            Ok(TraceAdvice::new(&advise(reader, kind, None, progress)?))
        },
        |origin, trace| advice.push(TraceAdvice { origin: origin.clone(), ..trace }),
    )?;
    let fleet = fleet_advice(&advice);
    Ok(AdviseAnswer::of_many(traces.name(), kind.name(), fleet, traces.remarks()))
}
