//! `slablab stat` on many traces: perf's table of all of them.

use anyhow::Result;
use slablab_replay::{FleetStat, FleetStatSum, PerfCounts, TraceStat};
use slablab_trace::TraceReader;

use super::args::Many;
use super::each::{Question, each};
use super::inputs;

/// Counts all traces that were named, each by `count`; returns the sum and what a reader should know.
pub(crate) fn of_many(
    many: &Many<'_>,
    count: impl Fn(&TraceReader, &mut dyn FnMut(u64)) -> Result<PerfCounts> + Sync,
) -> Result<(FleetStat, Vec<String>)> {
    let traces = inputs::find(&many.paths, many.damaged)?;
    let question = Question {
        schema: "slablab.stat.trace/1",
        asked: Vec::new(),
        resume: many.resume,
        doing: "counting",
        passes: 1,
    };
    let of_one = |trace: &inputs::Input, progress: &mut dyn FnMut(u64)| {
        let counts = count(&trace.open()?, progress)?;
        Ok(TraceStat { origin: trace.origin.clone(), counts })
    };
    let mut sum = FleetStatSum::new(inputs::site_names(&traces));
    each(&traces, &question, of_one, |trace| sum.add(trace))?;
    Ok((sum.finish(), inputs::remarks(&traces)))
}
