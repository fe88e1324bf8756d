//! `slablab replay --pages`: what the page allocator makes of the page events of a trace.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, bail};
use slablab_kmem::BackendKind;
use slablab_replay::{ReplayPlan, RestOfMachine, RestPlan, replay, replay_pages, rest_of_machine};
use slablab_trace::TraceReader;

use crate::answers::page_replay::PageReplayAnswer;
use crate::cli::{AnswerArgs, OutputArgs};
use crate::cmd::filter::FilterArgs;
use crate::cmd::import::open_pages;
use crate::cmd::question::check_outputs;
use crate::cmd::stat_pages::facts;
use crate::cmd::traces::args::ManyArgs;
use crate::output::give;
use crate::progress::Progress;

/// Memory of a machine where none is asked for.
const MEMORY_BYTES: u64 = 16 << 30;

/// Replays the page events of one trace.
pub(super) fn run(
    path: &Path,
    (many, filter): (&ManyArgs, &FilterArgs),
    memory: Option<u64>,
    answer: &AnswerArgs,
    output: &OutputArgs,
) -> Result<ExitCode> {
    check_outputs(&[path], answer.outputs())?;
    let file = path.display().to_string();
    if many.with(path)?.is_some() {
        bail!("--pages replays one trace: ask for each of them alone");
    }
    if !filter.is_empty() {
        bail!(
            "--pages replays all page events, as each changes what is free for the next: leave out --time, --cpu, --pid, \
             --comm, --cache and --site"
        );
    }
    let trace = open_pages(path, filter)?;
    let Some(pages) = &trace.meta().pages else {
        bail!("{file}: holds no events of pages; record some with `slablab record --pages`");
    };
    let (total, phase, unit) = (pages.events, "replaying", "events");
    if memory.is_some() && trace.meta().zones.is_some() {
        bail!("{file}: says which zones its machine had: leave out --memory");
    }
    let memory_bytes = match trace.meta().memory_bytes {
        recorded if recorded > 0 && memory.is_none() => recorded,
        _ => memory.unwrap_or(MEMORY_BYTES),
    };
    let rest = with_slabs(&trace, memory_bytes)?;
    let (replay, with_slabs) = match rest {
        Some(mut rest) => (rest.recorded.take().unwrap_or_default(), Some(rest)),
        None => {
            let mut progress = Progress::default();
            let mut step =
                |done| progress.step(slablab_trace::Progress { phase, done, total, unit });
            let plan = RestPlan { aged: None, memory_bytes, order: None };
            (replay_pages(&trace, plan, &mut step)?, None)
        }
    };
    let trace = Box::new(facts(trace.meta(), total));
    give(&PageReplayAnswer { replay, with_slabs, file, trace }, output, answer)?;
    Ok(ExitCode::SUCCESS)
}

/// Replays the slabs of a trace under the recorded allocator, and its page events with these slabs; `None` where it has no
/// events of slabs, or another allocator's.
fn with_slabs(trace: &TraceReader, memory_bytes: u64) -> Result<Option<RestOfMachine>> {
    let meta = trace.meta();
    let recorded = BackendKind::of_release(&meta.kernel_release);
    let Some(kind) = recorded.filter(|kind| kind.takes_geometry() && meta.events > 0) else {
        return Ok(None);
    };
    let plan = ReplayPlan::of_slab_pages(kind);
    let progress = Progress::new("replaying slabs", meta.events);
    let slabs = replay(trace, &plan, &mut |done| progress.set(done))?;
    drop(progress);
    let Some(allocator) = slabs.allocators.first() else { return Ok(None) };
    let plan = RestPlan { aged: None, memory_bytes, order: None };
    let progress = Progress::new("replaying pages", plan.rows(meta, false));
    Ok(Some(rest_of_machine(trace, plan, allocator, None, &mut |done| progress.set(done))?))
}
