//! Runs the script on real threads under each allocator, and puts their measurements together.

use std::sync::Barrier;
use std::thread;
use std::time::Instant;

use hdrhistogram::Histogram;
use serde::Serialize;
use slablab_kmem::{Backend, BackendKind, CacheId, CpuId, Machine, Objects, WithBackend};
use slablab_trace::{Meta, TraceReader};

use crate::engine::{caches, machine};
use crate::error::Error;
use crate::plan::ReplayPlan;
use crate::timed::perform::{Part, Stage, histogram, perform, record};
use crate::timed::script::Script;

/// The measurements of a timed replay.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Timed {
    /// The allocator
    pub allocator: String,
    /// Threads that replayed
    pub threads: u32,
    /// Allocations that succeeded
    pub allocs: u64,
    /// Frees
    pub frees: u64,
    /// Allocations that found no memory
    pub failed: u64,
    /// Time from the first event of any thread to the last of all
    pub elapsed_ns: u64,
    /// Operations a second, all threads together
    pub operations_per_second: u64,
    /// How long allocations took
    pub alloc: Latency,
    /// How long frees took
    pub free: Latency,
    /// What reading the clock twice takes, which every latency includes
    pub clock_ns_p50: u64,
    /// How often an event had to wait for its turn
    pub waits: u64,
    /// Locks taken, by kind
    pub locks: std::collections::BTreeMap<String, u64>,
    /// How long the threads waited for locks that another thread held, all together
    pub lock_wait_ns: u64,
}

/// Quantiles of a latency, within 1 % (HDR histogram of three digits).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Latency {
    /// Half took at most this long
    pub p50_ns: u64,
    /// 90 of 100
    pub p90_ns: u64,
    /// 99 of 100
    pub p99_ns: u64,
    /// 999 of 1,000
    pub p999_ns: u64,
    /// The longest
    pub max_ns: u64,
}

impl Latency {
    fn of(histogram: &Histogram<u64>) -> Self {
        let at = |quantile| histogram.value_at_quantile(quantile);
        Self {
            p50_ns: at(0.5),
            p90_ns: at(0.9),
            p99_ns: at(0.99),
            p999_ns: at(0.999),
            max_ns: histogram.max(),
        }
    }
}

/// Replays a trace on `threads` threads, at most one for each CPU of the trace, under each allocator of
/// `plan`.
///
/// The whole trace is held in memory meanwhile, 32 bytes for each event.
///
/// # Errors
///
/// Fails as [`crate::replay()`] does.
///
/// # Panics
///
/// If `threads` is 0.
pub fn replay_timed(
    reader: &TraceReader,
    plan: &ReplayPlan,
    threads: u32,
) -> Result<Vec<Timed>, Error> {
    assert!(threads > 0, "a replay needs a thread");
    let meta = plan.changes.meta(reader.meta());
    let script = Script::read(reader, plan, &meta, threads.min(machine::cpus(&meta)))?;
    let perform =
        |kind: &BackendKind| kind.dispatch(Performance { meta: &meta, plan, script: &script });
    plan.allocators.iter().map(perform).collect()
}

/// The script performed under one backend.
struct Performance<'a> {
    meta: &'a Meta,
    plan: &'a ReplayPlan,
    script: &'a Script,
}

impl WithBackend for Performance<'_> {
    type Output = Result<Timed, Error>;

    fn run<B: Backend>(self) -> Self::Output {
        let machine = machine::build_with::<B>(self.meta, self.plan, Objects::InMemory)?;
        let caches: Vec<Option<CacheId>> = self
            .script
            .first
            .iter()
            .map(|event| {
                let event = event.as_ref()?;
                let made_by =
                    self.plan.changes.dedicated(&self.meta.caches[event.cache as usize].name);
                caches::serving(&machine, self.meta, self.plan, event, made_by)
            })
            .collect();
        let stage = Stage::new(self.script.slots, caches);
        let start = Barrier::new(self.script.parts.len());
        let outcomes = thread::scope(|scope| {
            let threads = self.script.parts.iter().enumerate().map(|(i, steps)| {
                let (machine, stage, start) = (&machine, &stage, &start);
                let parts = self.script.parts.len();
                scope.spawn(move || {
                    let ids = (i as u32..machine.cpu_count()).step_by(parts);
                    let cpus: Result<Vec<_>, _> = ids.map(|id| machine.cpu(CpuId(id))).collect();
                    start.wait();
                    cpus.map(|cpus| perform(stage, &cpus, parts, steps)).map_err(Error::from)
                })
            });
            let threads: Vec<_> = threads.collect();
            let join = |thread: thread::ScopedJoinHandle<'_, _>| match thread.join() {
                Ok(outcome) => outcome,
                Err(panic) => std::panic::resume_unwind(panic),
            };
            threads.into_iter().map(join).collect::<Result<Vec<Part>, Error>>()
        })?;
        Ok(summarise(&machine, &outcomes))
    }
}

fn summarise<B: Backend>(machine: &Machine<B>, parts: &[Part]) -> Timed {
    let threads = parts.len() as u32;
    let (mut alloc, mut free) = (histogram(), histogram());
    let failed = parts.iter().map(|part| part.failed).sum();
    let waits = parts.iter().map(|part| part.waits).sum();
    let lock_wait_ns = parts.iter().map(|part| part.lock_wait_ns).sum();
    let began = parts.iter().map(|part| part.began).min();
    let ended = parts.iter().map(|part| part.ended).max();
    for part in parts {
        alloc.add(&part.alloc).expect("all histograms have the same bounds");
        free.add(&part.free).expect("all histograms have the same bounds");
    }
    let (allocs, frees) = (alloc.len() - failed, free.len());
    let elapsed = began.zip(ended).map_or_else(Default::default, |(began, ended)| ended - began);
    Timed {
        allocator: B::KIND.name().to_owned(),
        threads,
        allocs,
        frees,
        failed,
        elapsed_ns: u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX),
        operations_per_second: ((allocs + frees) as f64 / elapsed.as_secs_f64().max(1e-9)) as u64,
        alloc: Latency::of(&alloc),
        free: Latency::of(&free),
        clock_ns_p50: clock_ns_p50(),
        waits,
        locks: machine::counts(BackendKind::lock_names, machine.lock_counts()),
        lock_wait_ns,
    }
}

/// Measures how long timing nothing takes.
fn clock_ns_p50() -> u64 {
    let mut nothing = histogram();
    for _ in 0..1000 {
        let start = Instant::now();
        record(&mut nothing, start);
    }
    nothing.value_at_quantile(0.5)
}
