//! `slablab replay --pages`: what the page allocator makes of the page events of a trace.

use std::process::ExitCode;

use anyhow::{Result, bail};
use slablab_replay::replay_pages;

use super::Args;
use crate::answers::page_replay::PageReplayAnswer;
use crate::cli::OutputArgs;
use crate::cmd::import::open_pages;
use crate::cmd::question::check_outputs;
use crate::cmd::stat_pages::facts;
use crate::output::give;
use crate::progress::Progress;

/// Replays the page events of one trace.
pub(super) fn run(args: &Args, output: &OutputArgs) -> Result<ExitCode> {
    check_outputs(std::slice::from_ref(&args.trace), args.answer.outputs())?;
    let file = args.trace.display().to_string();
    if args.many.with(&args.trace)?.is_some() {
        bail!("--pages replays one trace: ask for each of them alone");
    }
    if !args.filter.is_empty() {
        bail!(
            "--pages replays all page events, as each changes what is free for the next: leave out --time, --cpu, --pid, \
             --comm, --cache and --site"
        );
    }
    let trace = open_pages(&args.trace, &args.filter)?;
    let Some(pages) = &trace.meta().pages else {
        bail!("{file}: holds no events of pages; record some with `slablab record --pages`");
    };
    let (total, phase, unit) = (pages.events, "replaying", "events");
    if args.memory.is_some() && trace.meta().zones.is_some() {
        bail!("{file}: says which zones its machine had: leave out --memory");
    }
    let memory_bytes = match trace.meta().memory_bytes {
        recorded if recorded > 0 && args.memory.is_none() => recorded,
        _ => args.memory(),
    };
    let mut progress = Progress::default();
    let replay = replay_pages(&trace, memory_bytes, &mut |done| {
        progress.step(slablab_trace::Progress { phase, done, total, unit });
    })?;
    drop(progress);
    let trace = Box::new(facts(trace.meta(), total));
    give(&PageReplayAnswer { replay, file, trace }, output, &args.answer)?;
    Ok(ExitCode::SUCCESS)
}
