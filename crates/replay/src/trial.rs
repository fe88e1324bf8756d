//! Changes tried out, many at a time, each on the part of the machine that it can touch.
//!
//! # How it works
//!
//! Under SLUB and SLAB a cache's slabs depend on that cache's own events only. So what a change to one kmalloc
//! site does can be seen on a machine that replays nothing but the classes the site allocates from: once as
//! recorded, once changed. That costs the events of a class or two instead of those of the trace, and makes it
//! affordable to try every site that matters. All trials share one pass over the trace, dealt to two threads.
//!
//! # Differences from a whole replay
//!
//! Other caches are not there to take pages in between, so numbers of slabs and pages are exact and distances
//! between slabs are not.

use std::num::NonZero;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use slablab_kmem::{Backend, BackendKind, Machine, WithBackend};
use slablab_trace::{Batch, Event, Kind, Meta, TraceReader};

use crate::error::Error;
use crate::plan::Plan;
use crate::result::{Allocator, SiteUnder};
use crate::runner::Runner;
use crate::survey::{ClassSet, Classes};

/// A change to try, and the kmalloc classes that it can touch.
#[derive(Debug, Clone)]
pub(crate) struct Trial {
    /// The change; none for the classes as recorded
    pub(crate) plan: Plan,
    /// The metadata of the trace so changed
    pub(crate) meta: Meta,
    /// The classes of the recorded kernel that take part
    pub(crate) classes: ClassSet,
}

impl Trial {
    pub(crate) fn new(recorded: &Meta, plan: Plan, classes: ClassSet) -> Self {
        Self { meta: plan.changes.meta(recorded), plan, classes }
    }
}

/// What a trial's part of the machine held.
#[derive(Debug, Clone)]
pub(crate) struct Verdict {
    pub(crate) allocator: Allocator,
    pub(crate) sites: Vec<SiteUnder>,
    /// Bytes held when the whole machine held most
    pub(crate) held_bytes_at_peak: u64,
}

/// Tries everything in one pass; `peak_event` is the row in which the whole machine held most.
pub(crate) fn try_all(
    reader: &TraceReader,
    kind: BackendKind,
    classes: &Classes,
    trials: &[Trial],
    peak_event: u64,
    progress: &mut dyn FnMut(u64),
) -> Result<Vec<Verdict>, Error> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let share = trials.len().div_ceil(threads).max(1);
    thread::scope(|scope| {
        let mut workers = Vec::new();
        for trials in trials.chunks(share) {
            let (sender, batches) = sync_channel::<Arc<Batch>>(2);
            let work = Work { classes, trials, peak_event, batches };
            workers.push((sender, scope.spawn(move || kind.dispatch(work))));
        }
        let mut done = 0;
        for batch in reader.batches() {
            let batch = batch?;
            done += batch.len() as u64;
            for (sender, _) in &workers {
                // A worker that has gone says why when it is joined.
                let _ = sender.send(Arc::clone(&batch));
            }
            progress(done);
        }
        let mut verdicts = Vec::with_capacity(trials.len());
        for (sender, worker) in workers {
            drop(sender);
            match worker.join() {
                Ok(found) => verdicts.extend(found?),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        Ok(verdicts)
    })
}

/// One thread's trials.
struct Work<'a> {
    classes: &'a Classes,
    trials: &'a [Trial],
    peak_event: u64,
    batches: Receiver<Arc<Batch>>,
}

impl WithBackend for Work<'_> {
    type Output = Result<Vec<Verdict>, Error>;

    fn run<B: Backend>(self) -> Self::Output {
        let machines: Result<Vec<Machine<B>>, Error> =
            self.trials.iter().map(|t| Runner::<B>::machine(&t.meta, &t.plan)).collect();
        let machines = machines?;
        let pairs = machines.iter().zip(self.trials);
        let runners: Result<Vec<_>, Error> =
            pairs.map(|(machine, trial)| Runner::new(machine, &trial.meta, &trial.plan)).collect();
        let mut runners = runners?;
        let mut held_bytes_at_peak = vec![0; runners.len()];
        let mut seen = 0;
        for batch in &self.batches {
            let rows = batch.len();
            // The row behind the peak's, if the peak is in this batch.
            let split = self.peak_event.checked_sub(seen).map(|row| row as usize + 1);
            let split = split.filter(|row| *row <= rows);
            for (i, runner) in runners.iter_mut().enumerate() {
                let matters = |event: &Event| self.matters(&self.trials[i], event);
                let first = split.unwrap_or(0);
                runner.rows(&batch, 0..first, matters)?;
                if split.is_some() {
                    held_bytes_at_peak[i] = machines[i].gauges().held_bytes();
                }
                runner.rows(&batch, first..rows, matters)?;
            }
            seen += rows as u64;
        }
        let ends = runners.into_iter().zip(held_bytes_at_peak);
        ends.map(|(runner, held_bytes_at_peak)| {
            let outcome = runner.finish()?;
            let (allocator, sites) = (outcome.allocator, outcome.sites);
            Ok(Verdict { allocator, sites, held_bytes_at_peak })
        })
        .collect()
    }
}

impl Work<'_> {
    #[inline]
    fn matters(&self, trial: &Trial, event: &Event) -> bool {
        event.kind == Kind::Kmalloc
            && self.classes.of(event.bytes_req).is_some_and(|class| trial.classes.has(class))
    }
}
