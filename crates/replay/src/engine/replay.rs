//! Replays a trace under each of several allocators, and assembles their results.

use std::sync::Arc;

use slablab_kmem::{Backend, Machine, WithBackend};
use slablab_trace::{Batch, Meta, TraceReader};

use crate::change::rewrite::Rewrite;
use crate::engine::broadcast::{Feed, broadcast, job};
use crate::engine::runner::{Outcome, Runner};
use crate::engine::{machine, need};
use crate::error::Error;
use crate::metrics::result::{Replay, Site, TraceFacts, sort_by_waste};
use crate::metrics::tally::Tally;
use crate::plan::ReplayPlan;

/// Replays a trace under the allocators of `plan`; `progress` is told the events done so far.
///
/// # Errors
///
/// If the trace cannot be read to its end, the machine cannot be built, or a check requested by
/// [`ReplayPlan::validate_every`] fails.
pub fn replay(
    reader: &TraceReader,
    plan: &ReplayPlan,
    progress: &mut dyn FnMut(u64),
) -> Result<Replay, Error> {
    let mut replays = replay_all(reader, std::slice::from_ref(plan), progress)?;
    Ok(replays.remove(0))
}

/// Replays a trace under several plans, in one pass if their machines fit into memory at once. Returns a result for each
/// plan, in their order.
///
/// # Errors
///
/// Fails as [`replay()`] does.
pub fn replay_all(
    reader: &TraceReader,
    plans: &[ReplayPlan],
    progress: &mut dyn FnMut(u64),
) -> Result<Vec<Replay>, Error> {
    let metas: Vec<Meta> = plans.iter().map(|plan| plan.changes.meta(reader.meta())).collect();
    let fitting = fitting(&metas);
    replay_in_passes(reader, plans, &metas, fitting, progress)
}

/// Returns how many machines fit into memory at once, whose traces are these: a change may make a cache for each of 100,000
/// call sites, and so a machine several times as large as the recorded one.
fn fitting(metas: &[Meta]) -> usize {
    let largest = metas.iter().map(need::machine_bytes).max().unwrap_or(0);
    // The tallies of sites and objects need about as much as a machine does.
    need::fitting(largest).saturating_sub(1).max(1)
}

/// Does so with at most `fitting` machines at once; `metas` are those of the plans' traces.
fn replay_in_passes(
    reader: &TraceReader,
    plans: &[ReplayPlan],
    metas: &[Meta],
    fitting: usize,
    progress: &mut dyn FnMut(u64),
) -> Result<Vec<Replay>, Error> {
    let plans = on_equal_memory(plans, metas);
    let mut tally = Tally::new(reader.meta());
    let work = plans.iter().zip(metas);
    let machines: Vec<_> = work
        .flat_map(|(plan, meta)| plan.allocators.iter().map(move |kind| (*kind, meta, plan)))
        .collect();
    let passes = machines.len().div_ceil(fitting).max(1);
    let mut outcomes = Vec::with_capacity(machines.len());
    // A pass whose machines stop early reads less than another: each row counts once, in the first pass that reads it.
    let mut tallied = 0;
    for (pass, machines) in (0..).zip(machines.chunks(machines.len().div_ceil(passes).max(1))) {
        let jobs = machines.iter().map(|&(kind, meta, plan)| {
            job(move |batches| kind.dispatch(Work { meta, plan, batches }))
        });
        let sent = |batch: &Arc<Batch>, done| {
            if done > tallied {
                tally.batch(batch);
                tallied = done;
            }
            progress((pass * reader.meta().events + done) / passes as u64);
        };
        outcomes.extend(broadcast(reader, jobs, |batch| batch, sent)?);
    }
    let mut outcomes = outcomes.into_iter();
    let assemble = |(plan, meta): (&ReplayPlan, &Meta)| {
        let outcomes = outcomes.by_ref().take(plan.allocators.len()).collect();
        assemble(meta, &Rewrite::new(&plan.changes, meta), &tally, outcomes)
    };
    Ok(plans.iter().zip(metas).map(assemble).collect())
}

/// Returns the plans with the memory that the largest of them needs, where none is asked for: the page allocator's lists by
/// CPU grow with the memory, and results are compared.
fn on_equal_memory(plans: &[ReplayPlan], metas: &[Meta]) -> Vec<ReplayPlan> {
    let usual = metas.iter().map(ReplayPlan::memory_bytes_usual).max();
    let of = |plan: &ReplayPlan| ReplayPlan {
        memory_bytes: plan.memory_bytes.or(usual),
        ..plan.clone()
    };
    plans.iter().map(of).collect()
}

/// The work of a thread once it knows its backend's type.
struct Work<'a, 'f> {
    meta: &'a Meta,
    plan: &'a ReplayPlan,
    batches: Feed<'f, Arc<Batch>>,
}

impl WithBackend for Work<'_, '_> {
    type Output = Result<Outcome, Error>;

    fn run<B: Backend>(mut self) -> Self::Output {
        let machine = machine::build::<B>(self.meta, self.plan)?;
        let outcome = self.run_on(&machine)?;
        if let (Some(kept_memory), Some(memory)) = (&self.plan.kept_memory, machine.into_memory()) {
            kept_memory.give(memory);
        }
        Ok(outcome)
    }
}

impl Work<'_, '_> {
    fn run_on<B: Backend>(&mut self, machine: &Machine<B>) -> Result<Outcome, Error> {
        let mut runner = Runner::new(machine, self.meta, self.plan)?;
        runner.warm();
        runner.begin_slab_pages();
        for batch in &mut self.batches {
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
            sites: None,
            lifetime: Some(site.lifetimes()),
            under: outcomes.iter().map(|outcome| outcome.sites.of(index)).collect(),
        })
        .collect();
    sort_by_waste(&mut sites);
    Replay {
        fleet: None,
        trace: facts(meta, tally),
        allocators: outcomes.into_iter().map(|outcome| outcome.allocator).collect(),
        sites,
    }
}

/// Returns the name of a cache; that of kmalloc is empty.
fn cache_name(meta: &Meta, cache: u32) -> String {
    meta.caches.get(cache as usize).map_or_else(String::new, |cache| cache.name.clone())
}

/// Returns what was replayed. Numbers counted in the rows replace those that the file states, since rows may have
/// been taken out.
fn facts(meta: &Meta, tally: &Tally) -> TraceFacts {
    let facts = TraceFacts::new(meta);
    if tally.rows != meta.events {
        // The trace was not replayed to its end.
        return facts;
    }
    let older = meta.quality.older_frees.min(tally.frees_without_slot);
    let (implicit_frees, older_frees) = (tally.implicit_frees, older + tally.frees_of_empty_slots);
    TraceFacts { implicit_frees, older_frees, ..facts }.with_share()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_512_cpus(caches: usize) -> Meta {
        let caches = vec![Default::default(); caches];
        Meta { cpus: 512, caches, events: u64::MAX, ..Meta::default() }
    }

    /// A change that adds caches used to be compared with the recording on a machine of less memory.
    #[test]
    fn what_is_compared_has_equal_memory() {
        let asked = ReplayPlan { memory_bytes: Some(1 << 30), ..ReplayPlan::default() };
        let plans = [ReplayPlan::default(), ReplayPlan::default(), asked];
        let equal = on_equal_memory(&plans, &[10, 3_000, 10].map(of_512_cpus));
        let memory: Vec<_> = equal.iter().map(|plan| plan.memory_bytes).collect();
        assert_eq!(memory, [Some(128 << 30), Some(128 << 30), Some(1 << 30)]);
    }

    /// What fits was computed of the recorded caches alone, so that both machines of a change ran at once.
    #[test]
    fn a_change_that_makes_many_caches_counts() {
        assert!(fitting(&[of_512_cpus(1)]) > 1);
        assert_eq!(fitting(&[10, 50_000].map(of_512_cpus)), 1);
    }

    #[test]
    fn machines_one_after_the_other_give_what_all_at_once_give() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/boot.parquet");
        let reader = TraceReader::open(path).unwrap();
        // The first pass stops early, and must not be the one that the sites are counted in.
        let plans =
            [ReplayPlan { rows_max: Some(500), ..ReplayPlan::default() }, ReplayPlan::default()];
        let metas = [reader.meta().clone(), reader.meta().clone()];
        let mut told = Vec::new();
        let mut run = |fitting| {
            let mut last = 0;
            let replays = replay_in_passes(&reader, &plans, &metas, fitting, &mut |done| {
                assert!(done >= last, "progress goes back from {last} to {done}");
                last = done;
            });
            told.push(last);
            replays.unwrap()
        };
        let at_once = run(usize::MAX);
        assert_eq!(run(1), at_once);
        assert_eq!(run(3), at_once);
        assert_eq!(told, [reader.meta().events; 3]);
    }
}
