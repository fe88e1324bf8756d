//! Timed replay: real threads, real contention, and how long each allocation and free took.
//!
//! # How it works
//!
//! The trace is dealt to threads by CPU: with as many threads as CPUs each thread is a CPU; with fewer, each plays
//! several. A thread does its events in the order of the trace and as fast as it can, but an event waits for
//! its *turn*: the events of one object slot are numbered, and each waits until the one before it is done. So an
//! object is freed by the CPU that freed it, after the CPU that allocated it, and whatever is not ordered by the
//! trace runs at the same time.
//!
//! # Invariants
//!
//! * The event that comes first in the trace of all that are not done waits for nobody, so there is no stall.
//! * `turn[slot]` is even when the slot is empty, odd when it holds an object.
//!
//! # Differences from the deterministic replay
//!
//! The allocator's state depends on timing, the number of operations does not. A clock reading costs about as
//! much as a fast path; [`Timed::clock_ns_p50`] says how much of each latency it is.

use std::hint;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use hdrhistogram::Histogram;
use serde::Serialize;
use slablab_kmem::{
    Backend, BackendKind, CacheId, Cpu, CpuId, Gfp, Machine, ObjPtr, Site, WithBackend,
    lock_wait_ns,
};
use slablab_trace::{Event, Kind, Meta, NONE, TraceReader};

use crate::change::Rewrite;
use crate::error::Error;
use crate::plan::Plan;
use crate::runner::Runner;

/// Latencies beyond a second are counted as one.
const LATENCY_NS_MAX: u64 = 1_000_000_000;
/// What a slot holds whose allocation found no memory: no address, since offset 1 is in nobody's page.
const FAILED: u64 = 1;

/// What a timed replay measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
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
    /// From the first event of any thread to the last of all
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
    /// How long the threads waited for locks that another held, all together
    pub lock_wait_ns: u64,
}

/// Quantiles of a latency, within 1 % (HDR histogram of three digits).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
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

/// Replays a trace on `threads` threads, at most one a CPU of the trace, under each allocator of `plan`.
///
/// The whole trace is held in memory meanwhile, 32 bytes an event.
///
/// # Errors
///
/// As [`crate::replay()`].
///
/// # Panics
///
/// If `threads` is 0.
pub fn replay_timed(reader: &TraceReader, plan: &Plan, threads: u32) -> Result<Vec<Timed>, Error> {
    assert!(threads > 0, "a replay needs a thread");
    let meta = plan.changes.meta(reader.meta());
    let script = Script::read(reader, plan, &meta, threads.min(meta.cpus.max(1)))?;
    let perform =
        |kind: &BackendKind| kind.dispatch(Performance { meta: &meta, plan, script: &script });
    plan.allocators.iter().map(perform).collect()
}

/// An event as a thread does it.
#[derive(Debug, Clone, Copy)]
struct Step {
    slot: u32,
    turn: u32,
    bytes_req: u32,
    gfp: u32,
    site: u32,
    /// The trace's cache; [`NONE`] for kmalloc
    cache: u32,
    cpu: u16,
    is_alloc: bool,
}

/// The trace, dealt to threads.
#[derive(Debug)]
struct Script {
    parts: Vec<Vec<Step>>,
    slots: usize,
    /// The first allocation from each cache
    first: Vec<Option<Event>>,
}

impl Script {
    fn read(reader: &TraceReader, plan: &Plan, meta: &Meta, threads: u32) -> Result<Self, Error> {
        let rewrite = Rewrite::new(&plan.changes, meta);
        let slots = meta.object_slots as usize;
        let mut turns = vec![0u32; slots];
        let mut caches = vec![NONE; slots];
        let mut parts = vec![Vec::new(); threads as usize];
        let mut first = vec![None; meta.caches.len()];
        for batch in reader.batches_without_pid() {
            for mut event in batch?.events() {
                let slot = event.object as usize;
                let is_alloc = event.kind.is_alloc();
                // A free of what the trace did not see allocated has no turn.
                if slot >= slots || (!is_alloc && turns[slot].is_multiple_of(2)) {
                    continue;
                }
                if is_alloc {
                    rewrite.apply(&mut event);
                    caches[slot] = if event.kind == Kind::Kmalloc { NONE } else { event.cache };
                    if let Some(first) = first.get_mut(caches[slot] as usize) {
                        first.get_or_insert(event);
                    }
                }
                parts[usize::from(event.cpu) % threads as usize].push(Step {
                    slot: event.object,
                    turn: turns[slot],
                    bytes_req: u32::try_from(event.bytes_req).unwrap_or(u32::MAX),
                    gfp: event.gfp,
                    site: event.site,
                    cache: caches[slot],
                    cpu: event.cpu,
                    is_alloc,
                });
                turns[slot] = turns[slot].wrapping_add(1);
            }
        }
        Ok(Self { parts, slots, first })
    }
}

/// The script performed under one backend.
struct Performance<'a> {
    meta: &'a Meta,
    plan: &'a Plan,
    script: &'a Script,
}

impl WithBackend for Performance<'_> {
    type Output = Result<Timed, Error>;

    fn run<B: Backend>(self) -> Self::Output {
        let machine = Runner::<B>::machine(self.meta, self.plan)?;
        let caches: Vec<Option<CacheId>> = self
            .script
            .first
            .iter()
            .map(|event| {
                let event = event.as_ref()?;
                let args = Runner::<B>::cache_args(self.meta, self.plan, event);
                machine.cache_create(&args).ok()
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
        Ok(summarise(&machine, outcomes))
    }
}

/// What the threads share: which turn each slot has, and what it holds.
#[derive(Debug)]
struct Stage {
    turns: Vec<AtomicU32>,
    addresses: Vec<AtomicU64>,
    caches: Vec<Option<CacheId>>,
}

impl Stage {
    fn new(slots: usize, caches: Vec<Option<CacheId>>) -> Self {
        Self {
            turns: (0..slots).map(|_| AtomicU32::new(0)).collect(),
            addresses: (0..slots).map(|_| AtomicU64::new(0)).collect(),
            caches,
        }
    }

    /// Waits until it is `turn`'s turn; returns whether that took any time.
    #[inline]
    fn wait(&self, slot: usize, turn: u32) -> bool {
        // Acquire: what the step before stored in `addresses` is seen.
        if self.turns[slot].load(Ordering::Acquire) == turn {
            return false;
        }
        let mut spins = 0u32;
        while self.turns[slot].load(Ordering::Acquire) != turn {
            spins += 1;
            // With fewer processors than threads, who spins keeps the one it waits for from running.
            if spins.is_multiple_of(64) { thread::yield_now() } else { hint::spin_loop() }
        }
        true
    }

    #[inline]
    fn done(&self, slot: usize, turn: u32) {
        self.turns[slot].store(turn.wrapping_add(1), Ordering::Release);
    }
}

/// What one thread measured.
#[derive(Debug)]
struct Part {
    alloc: Histogram<u64>,
    free: Histogram<u64>,
    allocs: u64,
    frees: u64,
    failed: u64,
    waits: u64,
    lock_wait_ns: u64,
    began: Instant,
    ended: Instant,
}

fn histogram() -> Histogram<u64> {
    Histogram::new_with_max(LATENCY_NS_MAX, 3).expect("the bounds are constants")
}

/// Does one thread's steps. `cpus[i]` is CPU `first + i * parts`.
fn perform<B: Backend>(stage: &Stage, cpus: &[Cpu<'_, B>], parts: usize, steps: &[Step]) -> Part {
    let lock_wait_before_ns = lock_wait_ns();
    let began = Instant::now();
    let mut part = Part {
        alloc: histogram(),
        free: histogram(),
        allocs: 0,
        frees: 0,
        failed: 0,
        waits: 0,
        lock_wait_ns: 0,
        began,
        ended: began,
    };
    for step in steps {
        let slot = step.slot as usize;
        part.waits += u64::from(stage.wait(slot, step.turn));
        let cpu = &cpus[usize::from(step.cpu) / parts];
        // A cache that the machine refused has no id: its allocations fail.
        let cache = stage.caches.get(step.cache as usize);
        if step.is_alloc {
            let (gfp, site) = (Gfp(step.gfp), Site(step.site));
            let start = Instant::now();
            let object = match cache {
                None => cpu.kmalloc(u64::from(step.bytes_req), gfp, site),
                Some(cache) => cache.and_then(|cache| cpu.alloc(cache, gfp, site)),
            };
            record(&mut part.alloc, start);
            match object {
                Some(_) => part.allocs += 1,
                None => part.failed += 1,
            }
            stage.addresses[slot].store(object.map_or(FAILED, ObjPtr::get), Ordering::Relaxed);
        } else {
            let address = stage.addresses[slot].load(Ordering::Relaxed);
            if let Some(object) = ObjPtr::new(address).filter(|_| address != FAILED) {
                let site = Site(step.site);
                let start = Instant::now();
                match cache.copied().flatten() {
                    None => cpu.kfree(object, site),
                    Some(cache) => cpu.free(cache, object, site),
                }
                record(&mut part.free, start);
                part.frees += 1;
            }
        }
        stage.done(slot, step.turn);
    }
    part.ended = Instant::now();
    part.lock_wait_ns = lock_wait_ns() - lock_wait_before_ns;
    part
}

#[inline]
fn record(histogram: &mut Histogram<u64>, start: Instant) {
    let ns = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
    histogram.saturating_record(ns);
}

fn summarise<B: Backend>(machine: &Machine<B>, parts: Vec<Part>) -> Timed {
    let threads = parts.len() as u32;
    let (mut alloc, mut free) = (histogram(), histogram());
    let (mut allocs, mut frees, mut failed, mut waits) = (0, 0, 0, 0);
    let lock_wait_ns = parts.iter().map(|part| part.lock_wait_ns).sum();
    let began = parts.iter().map(|part| part.began).min();
    let ended = parts.iter().map(|part| part.ended).max();
    for part in parts {
        alloc.add(&part.alloc).expect("all histograms have the same bounds");
        free.add(&part.free).expect("all histograms have the same bounds");
        allocs += part.allocs;
        frees += part.frees;
        failed += part.failed;
        waits += part.waits;
    }
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
        locks: crate::runner::lock_counts(machine),
        lock_wait_ns,
    }
}

/// Measures what timing nothing takes.
fn clock_ns_p50() -> u64 {
    let mut nothing = histogram();
    for _ in 0..1000 {
        let start = Instant::now();
        record(&mut nothing, start);
    }
    nothing.value_at_quantile(0.5)
}
