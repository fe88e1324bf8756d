//! Changes tried out, many at a time, each on the part of the machine that it can touch.
//!
//! How it works: under SLUB and SLAB a cache's slabs depend on that cache's own events only. So what a change to one
//! kmalloc site does can be seen on a machine that replays nothing but the classes the site allocates from: once as
//! recorded, once changed. That costs the events of a class or two instead of those of the trace, and makes it
//! affordable to try every site that matters. All trials share one pass over the trace, part to as many threads as
//! there are processors; which rows belong to which class is found out once for all ([`crate::advice::partition`]).
//!
//! Differences from a whole replay: other caches are not there to take pages in between, so numbers of slabs and
//! pages are exact and distances between slabs are not.

use std::num::NonZero;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use slablab_kmem::{Backend, BackendKind, Machine, WithBackend};
use slablab_trace::{Meta, TraceReader};

use crate::advice::partition::{Partition, PartitionedBatch};
use crate::advice::survey::{ClassSet, Classes};
use crate::engine::machine;
use crate::engine::runner::{Outcome, Runner};
use crate::error::Error;
use crate::metrics::result::{Allocator, SiteUnder};
use crate::plan::Plan;

/// A change to try, and the kmalloc classes that it can touch.
#[derive(Debug, Clone)]
pub(crate) struct Trial {
    /// The change; none for the classes as recorded
    pub(crate) plan: Plan,
    /// The classes of the recorded kernel that take part
    pub(crate) classes: ClassSet,
}

/// What a trial's part of the machine held.
#[derive(Debug, Clone)]
pub(crate) struct TrialResult {
    pub(crate) allocator: Allocator,
    pub(crate) sites: Vec<SiteUnder>,
    /// Bytes held when the whole machine held most
    pub(crate) held_bytes_at_peak: u64,
}

/// Tries everything in one pass; `meta` has the caches of all trials, each under a name of its own, and `peak_event`
/// is the row in which the whole machine held most.
pub(crate) fn try_all(
    reader: &TraceReader,
    meta: &Meta,
    kind: BackendKind,
    classes: &Classes,
    trials: &[Trial],
    peak_event: u64,
    progress: &mut dyn FnMut(u64),
) -> Result<Vec<TrialResult>, Error> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let share = trials.len().div_ceil(threads).max(1);
    thread::scope(|scope| {
        let mut partition = Partition::new(classes, meta.events);
        let mut workers = Vec::new();
        for trials in trials.chunks(share) {
            let (sender, batches) = sync_channel::<Arc<PartitionedBatch>>(2);
            let work = Work { meta, trials, peak_event, batches };
            workers.push((sender, scope.spawn(move || kind.dispatch(work))));
        }
        let mut done = 0;
        for batch in reader.batches_without_pid() {
            let batch = batch?;
            machine::check_cpus(meta, &batch, done)?;
            let part = Arc::new(partition.batch(batch));
            done += part.batch.len() as u64;
            for (sender, _) in &workers {
                // A worker that has gone says why when it is joined.
                let _ = sender.send(Arc::clone(&part));
            }
            progress(done);
        }
        let mut results = Vec::with_capacity(trials.len());
        for (sender, worker) in workers {
            drop(sender);
            match worker.join() {
                Ok(found) => results.extend(found?),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        Ok(results)
    })
}

/// One thread's trials.
struct Work<'a> {
    meta: &'a Meta,
    trials: &'a [Trial],
    peak_event: u64,
    batches: Receiver<Arc<PartitionedBatch>>,
}

impl WithBackend for Work<'_> {
    type Output = Result<Vec<TrialResult>, Error>;

    fn run<B: Backend>(self) -> Self::Output {
        let machines: Result<Vec<Machine<B>>, Error> =
            self.trials.iter().map(|t| machine::build(self.meta, &t.plan)).collect();
        let machines = machines?;
        let pairs = machines.iter().zip(self.trials);
        let runners: Result<Vec<_>, Error> =
            pairs.map(|(machine, trial)| Runner::new(machine, self.meta, &trial.plan)).collect();
        let mut runners = runners?;
        let mut held_bytes_at_peak = vec![0; runners.len()];
        let mut seen = 0;
        for part in &self.batches {
            let (batch, rows) = (&part.batch, part.batch.len());
            // The row behind the peak's, if the peak is in this batch.
            let split = self.peak_event.checked_sub(seen).map(|row| row as usize + 1);
            let split = split.filter(|row| *row <= rows);
            for (i, runner) in runners.iter_mut().enumerate() {
                let classes = self.trials[i].classes;
                let object = |row: usize| part.number(row, classes);
                let first = split.unwrap_or(0);
                runner.rows(batch, 0..first, object)?;
                if split.is_some() {
                    held_bytes_at_peak[i] = machines[i].gauges().held_bytes();
                }
                runner.rows(batch, first..rows, object)?;
            }
            seen += rows as u64;
        }
        let ends = runners.into_iter().zip(held_bytes_at_peak);
        ends.map(|(runner, held_bytes_at_peak)| {
            let Outcome { allocator, sites } = runner.finish()?;
            Ok(TrialResult { allocator, sites, held_bytes_at_peak })
        })
        .collect()
    }
}
