//! `slablab advise` on many traces: what a cache of its own saves at each call site, on all of them.

use anyhow::Result;
use slablab_kmem::BackendKind;
use slablab_replay::{TraceAdvice, advise, fleet_advice};

use super::answer::Answer;
use super::args::Many;
use super::each::{Question, each};
use super::inputs;

/// Traces of at most so many events are decoded once for all passes: 50 MiB a processor.
const EVENTS_DECODED: u64 = 1 << 20;

/// What is asked of every trace.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked {
    pub(crate) allocator: BackendKind,
    pub(crate) memory_bytes: u64,
    pub(crate) lines: usize,
}

/// Advises over all traces that were named.
pub(crate) fn of_many(many: &Many<'_>, asked: &Asked) -> Result<Answer> {
    let traces = inputs::find(&many.paths, many.damaged)?;
    let &Asked { allocator, memory_bytes, lines } = asked;
    let question = Question {
        schema: "slablab.advise.trace/2",
        asked: vec![allocator.name().to_owned(), memory_bytes.to_string()],
        resume: many.resume,
        doing: "trying",
        passes: 2,
    };
    let of_one = |trace: &inputs::Input, progress: &mut dyn FnMut(u64)| {
        let reader = trace.open()?.decoded_without_pid(EVENTS_DECODED)?;
        let list = advise(&reader, allocator, memory_bytes, progress)?;
        Ok(TraceAdvice::new(trace.origin.clone(), &list))
    };
    let mut advice: Vec<TraceAdvice> = Vec::new();
    each(&traces, &question, of_one, |trace| advice.push(trace))?;
    Ok(Answer::new(allocator.name(), fleet_advice(&advice), inputs::remarks(&traces), lines))
}
