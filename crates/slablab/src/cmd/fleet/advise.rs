//! `slablab advise` on many traces: each on a machine of its own, as many at once as there are processors.
//!
//! Memory is needed for as many traces as are being replayed. With `--resume FOLDER` what came of each trace is kept there, under
//! the identity of the trace and of the question, and taken from there the next time.

use std::fs;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::thread;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use slablab_host::{Access, KeyHasher, write_whole};
use slablab_kmem::BackendKind;
use slablab_replay::{TraceAdvice, advise, fleet_advice};
use slablab_trace::TraceReader;

use super::answer::Answer;
use super::inputs::{self, Input};
use crate::progress::Progress;

/// The schema of what is kept of a trace.
const SCHEMA: &str = "slablab.advise.trace/1";

/// What is asked of every trace.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Question<'a> {
    pub(crate) allocator: BackendKind,
    pub(crate) memory_bytes: u64,
    /// Where what came of each trace is kept
    pub(crate) resume: Option<&'a Path>,
    pub(crate) lines: usize,
}

/// What is kept of a trace.
#[derive(Serialize, Deserialize)]
struct Kept {
    schema: String,
    #[serde(flatten)]
    advice: TraceAdvice,
}

/// Advises over all traces that `paths` mean.
pub(crate) fn of_many(paths: &[&Path], question: &Question<'_>) -> Result<Answer> {
    let traces = inputs::find(paths)?;
    if let Some(folder) = question.resume {
        fs::create_dir_all(folder)
            .with_context(|| format!("{}: cannot make the folder of --resume", folder.display()))?;
    }
    let events = traces.iter().map(|trace| trace.events * 2).sum();
    let progress = Progress::new("trying", events);
    let (next, done) = (AtomicUsize::new(0), AtomicU64::new(0));
    let found: Vec<Mutex<Option<Result<TraceAdvice>>>> =
        traces.iter().map(|_| Mutex::new(None)).collect();
    let work = || {
        while let Some(trace) = traces.get(next.fetch_add(1, Relaxed)) {
            let at = traces.iter().position(|other| std::ptr::eq(other, trace));
            let advice = of_one(trace, question, &mut |events| {
                progress.set(done.fetch_add(events, Relaxed) + events);
            });
            if advice.is_err() {
                // What is wrong with one trace is said at once, and not after hours.
                next.store(traces.len(), Relaxed);
            }
            if let Some(slot) = at.and_then(|at| found.get(at)) {
                *slot.lock().expect("no thread panics while it holds it") = Some(advice);
            }
        }
    };
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(traces.len());
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    drop(progress);
    let found = found.into_iter().map(|slot| slot.into_inner().expect("no thread panicked"));
    // After an error the rest was not begun.
    let advice: Vec<TraceAdvice> = found.flatten().collect::<Result<_>>()?;
    Ok(Answer::new(
        question.allocator.name(),
        fleet_advice(&advice),
        inputs::same(&traces),
        question.lines,
    ))
}

/// Advises on one trace, or takes what was kept of it; `progress` is told of further events.
fn of_one(
    trace: &Input,
    question: &Question<'_>,
    progress: &mut dyn FnMut(u64),
) -> Result<TraceAdvice> {
    let kept = question.resume.map(|folder| folder.join(file_name(trace, question)));
    if let Some(advice) = kept.as_deref().and_then(|path| read(path, trace)) {
        progress(trace.events * 2);
        return Ok(advice);
    }
    let name = || trace.path.display().to_string();
    let reader = TraceReader::open(&trace.path)?;
    let mut before = 0;
    let list = advise(&reader, question.allocator, question.memory_bytes, &mut |events| {
        // Each pass begins at nothing.
        progress(events.saturating_sub(before));
        before = events;
    })
    .with_context(name)?;
    let advice = TraceAdvice::new(trace.key.clone(), trace.host.clone(), reader.meta(), &list);
    if let Some(path) = kept {
        let kept = Kept { schema: SCHEMA.to_owned(), advice: advice.clone() };
        let text = serde_json::to_vec(&kept)?;
        write_whole(&path, &text, Access::Private)
            .with_context(|| format!("{}: cannot keep what came of a trace", path.display()))?;
    }
    Ok(advice)
}

/// Returns the name under which the answer to this question about this trace is kept.
fn file_name(trace: &Input, question: &Question<'_>) -> PathBuf {
    let mut hasher = KeyHasher::new("advice on a trace");
    let memory = question.memory_bytes.to_string();
    let pieces =
        [&trace.key, &trace.host, question.allocator.name(), &memory, env!("CARGO_PKG_VERSION")];
    pieces.iter().for_each(|piece| hasher.update(piece));
    PathBuf::from(format!("{}.json", hasher.finish()))
}

/// Reads what was kept of `trace`; nothing where it is not there, or not whole.
fn read(path: &Path, trace: &Input) -> Option<TraceAdvice> {
    let kept: Kept = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
    (kept.schema == SCHEMA && kept.advice.key == trace.key).then_some(kept.advice)
}
