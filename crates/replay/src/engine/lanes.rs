//! Sends each batch of a trace to one thread for each allocator, and assembles their results.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, ScopedJoinHandle};

use slablab_kmem::{Backend, BackendKind, WithBackend};
use slablab_trace::{Batch, Meta, TraceReader};

use crate::change::rewrite::Rewrite;
use crate::engine::machine;
use crate::engine::runner::{Outcome, Runner};
use crate::error::Error;
use crate::metrics::result::{Replay, Site, SiteUnder, TraceFacts};
use crate::metrics::tally::Tally;
use crate::plan::Plan;

/// Batches on their way to an allocator: enough that a short delay of one side does not stop the other.
const BATCHES_AHEAD: usize = 2;

/// Replays a trace under the allocators of `plan`; `progress` is told the events done so far.
///
/// # Errors
///
/// When the trace cannot be read to its end, the machine cannot be built, or a check requested by
/// [`Plan::validate_every`] fails.
pub fn replay(
    reader: &TraceReader,
    plan: &Plan,
    progress: &mut dyn FnMut(u64),
) -> Result<Replay, Error> {
    let mut replays = replay_all(reader, std::slice::from_ref(plan), progress)?;
    Ok(replays.remove(0))
}

/// Replays a trace under several plans in one pass; returns a result a plan, in their order.
///
/// # Errors
///
/// As [`replay()`].
pub fn replay_all(
    reader: &TraceReader,
    plans: &[Plan],
    progress: &mut dyn FnMut(u64),
) -> Result<Vec<Replay>, Error> {
    let metas: Vec<Meta> = plans.iter().map(|plan| plan.changes.meta(reader.meta())).collect();
    let mut tally = Tally::new(reader.meta());
    let mut outcomes = thread::scope(|scope| {
        let work = plans.iter().zip(&metas);
        let mut lanes: Vec<_> = work
            .flat_map(|(plan, meta)| plan.allocators.iter().map(move |kind| (*kind, meta, plan)))
            .map(|(kind, meta, plan)| Lane::start(scope, kind, meta, plan))
            .collect();
        let read = feed(reader, &mut lanes, &mut tally, progress);
        let outcomes: Result<Vec<_>, _> = lanes.into_iter().map(Lane::finish).collect();
        // A broken trace is the cause when both fail.
        read.and(outcomes)
    })?
    .into_iter();
    let assemble = |(plan, meta): (&Plan, &Meta)| {
        let outcomes = outcomes.by_ref().take(plan.allocators.len()).collect();
        assemble(meta, &Rewrite::new(&plan.changes, meta), &tally, outcomes)
    };
    Ok(plans.iter().zip(&metas).map(assemble).collect())
}

/// Reads the trace to its end, or until every allocator has stopped.
fn feed(
    reader: &TraceReader,
    lanes: &mut [Lane<'_>],
    tally: &mut Tally,
    progress: &mut dyn FnMut(u64),
) -> Result<(), Error> {
    let mut done = 0;
    for batch in reader.batches_without_pid() {
        let batch = batch?;
        machine::check_cpus(reader.meta(), &batch, done)?;
        let mut listening = false;
        for lane in &mut *lanes {
            listening |= lane.batches.send(Arc::clone(&batch)).is_ok();
        }
        if !listening && !lanes.is_empty() {
            return Ok(());
        }
        tally.batch(&batch);
        done += batch.len() as u64;
        progress(done);
    }
    Ok(())
}

/// The thread of one allocator.
struct Lane<'scope> {
    batches: SyncSender<Arc<Batch>>,
    thread: ScopedJoinHandle<'scope, Result<Outcome, Error>>,
}

impl<'scope> Lane<'scope> {
    fn start<'env>(
        scope: &'scope thread::Scope<'scope, 'env>,
        kind: BackendKind,
        meta: &'env Meta,
        plan: &'env Plan,
    ) -> Self {
        let (batches, receiver) = sync_channel(BATCHES_AHEAD);
        let thread = scope.spawn(move || kind.dispatch(Work { meta, plan, batches: receiver }));
        Self { batches, thread }
    }

    fn finish(self) -> Result<Outcome, Error> {
        drop(self.batches);
        match self.thread.join() {
            Ok(outcome) => outcome,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}

/// What a thread does once it knows its backend's type.
struct Work<'a> {
    meta: &'a Meta,
    plan: &'a Plan,
    batches: Receiver<Arc<Batch>>,
}

impl WithBackend for Work<'_> {
    type Output = Result<Outcome, Error>;

    fn run<B: Backend>(self) -> Self::Output {
        let machine = machine::build::<B>(self.meta, self.plan)?;
        let mut runner = Runner::new(&machine, self.meta, self.plan)?;
        runner.warm();
        for batch in self.batches {
            runner.batch(&batch)?;
            if runner.rows_left() == 0 {
                break;
            }
        }
        runner.finish()
    }
}

/// Assembles the results of the allocators; `meta` is that of the changed trace.
fn assemble(meta: &Meta, rewrite: &Rewrite, tally: &Tally, outcomes: Vec<Outcome>) -> Replay {
    let mut sites: Vec<_> = tally
        .sites()
        .iter()
        .enumerate()
        .filter(|(_, site)| site.allocs > 0)
        .map(|(index, site)| Site {
            site: meta
                .sites
                .get(index)
                .map_or_else(|| "(call site not recorded)".to_owned(), |site| site.name.clone()),
            cache: cache_name(meta, rewrite.cache_of(index, site.cache)),
            allocs: site.allocs,
            requested_bytes: site.bytes_req,
            live_peak: site.live_peak,
            live_end: site.live_end(),
            frees_cross_cpu: site.frees_cross_cpu,
            frees_unseen: if meta.samples.is_empty() { 0 } else { site.frees_unseen },
            lifetime: site.lifetimes(),
            under: outcomes.iter().map(|outcome| outcome.sites[index]).collect(),
        })
        .collect();
    let waste =
        |site: &Site| site.under.iter().map(|under: &SiteUnder| under.waste_bytes_peak).max();
    sites.sort_by(|a, b| {
        waste(b).cmp(&waste(a)).then(b.allocs.cmp(&a.allocs)).then(a.site.cmp(&b.site))
    });
    Replay {
        trace: facts(meta, tally),
        allocators: outcomes.into_iter().map(|outcome| outcome.allocator).collect(),
        sites,
    }
}

/// Returns the name of a cache; none is kmalloc, which has an empty name.
fn cache_name(meta: &Meta, cache: u32) -> String {
    meta.caches.get(cache as usize).map_or_else(String::new, |cache| cache.name.clone())
}

/// Says what was replayed. What the rows show goes before what the file says of them, as rows may have been taken
/// out.
fn facts(meta: &Meta, tally: &Tally) -> TraceFacts {
    let quality = &meta.quality;
    let (lost, skipped) = (quality.lost_total(), quality.skipped_total());
    let (implicit_frees, older_frees) = match tally.rows == meta.events {
        true => {
            let older = quality.older_frees.min(tally.frees_without_slot);
            (tally.implicit_frees, older + tally.frees_of_empty_slots)
        }
        // Not replayed to its end.
        false => (quality.implicit_frees, quality.older_frees),
    };
    let happened = meta.events + lost + skipped;
    let unplaced = lost + skipped + implicit_frees + older_frees;
    TraceFacts {
        kernel_release: meta.kernel_release.clone(),
        cpus: meta.cpus,
        nodes: meta.nodes,
        command: meta.command.clone(),
        duration_ns: meta.time_last_ns.saturating_sub(meta.time_first_ns),
        events: meta.events,
        lost,
        implicit_frees,
        older_frees,
        skipped,
        unplaced_share: if happened == 0 { 0.0 } else { unplaced as f64 / happened as f64 },
    }
}
