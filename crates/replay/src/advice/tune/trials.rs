//! Many plans replayed in one pass over the trace, each on a machine of its own, with the costs of every cache.
//!
//! # How it works
//! The reader's thread decodes a batch once and hands it to as many threads as there are processors; each
//! drives its share of the machines. Memory is bounded: a few machines are replayed in a pass. The trace is read again for
//! the rest, in the same memory, because getting it anew from the operating system takes longer than decoding the trace.

use std::sync::Arc;

use slablab_kmem::{Backend, BackendKind, Machine, WithBackend};
use slablab_trace::{Batch, Meta, NONE, TraceReader};

use crate::advice::trial::Moments;
use crate::advice::tune::setting::Setting;
use crate::engine::account::NamedCost;
use crate::engine::broadcast::{Feed, broadcast, job, jobs_at_once};
use crate::engine::runner::{Outcome, Runner};
use crate::engine::{machine, need};
use crate::error::Error;
use crate::metrics::failure::FreeBlocks;
use crate::metrics::result::Allocator;
use crate::plan::ReplayPlan;

/// Machines of a thread in a pass. Fewer would decode the trace more often; more would take fresh memory.
const MACHINES_OF_THREAD: usize = 4;
/// All machines of a pass together hold about this much at most.
const PASS_BYTES_MAX: u64 = 512 << 20;
/// What a machine needs beside what it holds.
const MACHINE_BYTES: u64 = 4 << 20;
/// Objects have no memory: links and records take about this part of what is held.
const HELD_BYTES_PER_NEEDED: u64 = 16;

/// What is examined, moment by moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Looks {
    /// The bytes that each cache holds
    AtCaches,
    /// Also the page allocator's free blocks: adding these up takes as long as a dozen events
    AtFreeBlocks,
}

/// The result of a plan.
#[derive(Debug, Clone)]
pub(crate) struct Measured {
    pub(crate) allocator: Allocator,
    /// Costs by cache, in the order in which caches were made
    pub(crate) costs: Vec<NamedCost>,
    /// Free blocks of the page allocator at the end
    pub(crate) free_end: FreeBlocks,
    /// The free blocks at the moment when the largest of them was smallest; those at the beginning if
    /// they were never examined
    pub(crate) free_worst: FreeBlocks,
}

/// The result of a setting.
#[derive(Debug, Clone)]
pub(crate) struct Tried {
    pub(crate) setting: Setting,
    pub(crate) allocator: Allocator,
    pub(crate) costs: Vec<NamedCost>,
}

/// Replays settings of a trace under one allocator.
#[derive(Debug)]
pub(crate) struct Trials<'a> {
    pub(crate) reader: &'a TraceReader,
    pub(crate) kind: BackendKind,
    pub(crate) base: ReplayPlan,
    pub(crate) moments: Moments,
    /// What the machine holds at its peak as recorded; 0 if that is not known yet
    pub(crate) held_bytes_peak: u64,
}

impl Trials<'_> {
    /// Replays all settings; `progress` gets rows times settings.
    pub(crate) fn run(
        &self,
        settings: &[Setting],
        progress: &mut dyn FnMut(u64),
    ) -> Result<Vec<Tried>, Error> {
        let each = self.held_bytes_peak / HELD_BYTES_PER_NEEDED + MACHINE_BYTES;
        let jobs = jobs_at_once(self.reader);
        let needed = need::machine_bytes(self.reader.meta());
        let fitting = ((PASS_BYTES_MAX / each) as usize).max(jobs).min(need::fitting(needed));
        let passes = settings.len().div_ceil(fitting.min(MACHINES_OF_THREAD * jobs)).max(1);
        let mut tried = Vec::with_capacity(settings.len());
        for settings in settings.chunks(settings.len().div_ceil(passes).max(1)) {
            let plans: Vec<_> = settings.iter().map(|setting| self.plan(setting)).collect();
            let measured =
                run_plans(self.reader, &plans, &self.moments, Looks::AtCaches, progress)?;
            tried.extend(settings.iter().zip(measured).map(|(setting, measured)| {
                let Measured { allocator, costs, .. } = measured;
                Tried { setting: setting.clone(), allocator, costs }
            }));
        }
        Ok(tried)
    }

    fn plan(&self, setting: &Setting) -> ReplayPlan {
        // The machine has all of the memory, because the page allocator's lists by CPU grow with it, and with them the
        // number of times its lock is taken.
        setting.plan(self.kind, &self.base, self.reader.meta())
    }
}

/// Replays plans of one allocator each in one pass, and examines their machines at some moments; `progress` gets rows
/// times plans.
pub(crate) fn run_plans(
    reader: &TraceReader,
    plans: &[ReplayPlan],
    moments: &Moments,
    looks: Looks,
    progress: &mut dyn FnMut(u64),
) -> Result<Vec<Measured>, Error> {
    let meta = reader.meta();
    let share = plans.len().div_ceil(jobs_at_once(reader)).max(1);
    // All machines of a thread have one type.
    let same = |a: &ReplayPlan, b: &ReplayPlan| a.allocators == b.allocators;
    let jobs = plans.chunks(share).flat_map(|share| share.chunk_by(same)).map(|plans| {
        job(move |batches| {
            plans[0].allocators[0].dispatch(Work { meta, plans, moments, looks, batches })
        })
    });
    let sent = |batch: &Arc<Batch>, _| progress(batch.len() as u64 * plans.len() as u64);
    let measured = broadcast(reader, jobs, |batch| batch, sent)?;
    Ok(measured.into_iter().flatten().collect())
}

/// One thread's plans.
struct Work<'a, 'f> {
    meta: &'a Meta,
    plans: &'a [ReplayPlan],
    moments: &'a Moments,
    looks: Looks,
    batches: Feed<'f, Arc<Batch>>,
}

impl WithBackend for Work<'_, '_> {
    type Output = Result<Vec<Measured>, Error>;

    fn run<B: Backend>(self) -> Self::Output {
        let machines: Result<Vec<Machine<B>>, Error> =
            self.plans.iter().map(|plan| machine::build(self.meta, plan)).collect();
        let machines = machines?;
        let pairs = machines.iter().zip(self.plans);
        let runners: Result<Vec<_>, Error> =
            pairs.map(|(machine, plan)| Runner::new(machine, self.meta, plan)).collect();
        let mut runners = runners?;
        runners.iter_mut().for_each(Runner::keep_ledger);
        let free = |machine: &Machine<B>| FreeBlocks(machine.free_blocks());
        let mut worst: Vec<FreeBlocks> = machines.iter().map(free).collect();
        let mut seen = 0;
        for batch in self.batches {
            let rows = batch.len();
            let object =
                |row: usize| Some(batch.object[row] as usize).filter(|_| batch.object[row] != NONE);
            for (i, runner) in runners.iter_mut().enumerate() {
                let mut first = 0;
                for row in self.moments.within(seen, rows) {
                    runner.rows(&batch, first..row + 1, object)?;
                    runner.look();
                    first = row + 1;
                    if self.looks == Looks::AtCaches {
                        continue;
                    }
                    let now = free(&machines[i]);
                    let size = |free: &FreeBlocks| (free.largest_bytes(), free.bytes());
                    if size(&now) < size(&worst[i]) {
                        worst[i] = now;
                    }
                }
                runner.rows(&batch, first..rows, object)?;
            }
            seen += rows as u64;
        }
        let ends = runners.into_iter().zip(machines.iter().zip(worst));
        let measured = ends
            .map(|(mut runner, (machine, free_worst))| {
                let (costs, free_end) = (runner.take_ledger(), free(machine));
                let Outcome { allocator, .. } = runner.finish()?;
                Ok(Measured { allocator, costs, free_end, free_worst })
            })
            .collect();
        for (machine, plan) in machines.into_iter().zip(self.plans) {
            if let (Some(kept_memory), Some(memory)) = (&plan.kept_memory, machine.into_memory()) {
                kept_memory.give(memory);
            }
        }
        measured
    }
}
