//! One thread's part of a timed replay: it waits for the turn of each step, does it, and notes how long it took.

use std::hint;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use hdrhistogram::Histogram;
use slablab_kmem::{Backend, CacheId, Cpu, Gfp, ObjPtr, Site, lock_wait_ns};
use slablab_trace::NONE;

use crate::timed::script::Step;

/// Latencies beyond a second are counted as one.
const LATENCY_NS_MAX: u64 = 1_000_000_000;
/// The content of a slot after a failed allocation: offset 1, at which no object lies.
const FAILED: u64 = 1;

/// The state that the threads share: the turn of each slot, and its content.
#[derive(Debug)]
pub(crate) struct Stage {
    turns: Vec<AtomicU32>,
    addresses: Vec<AtomicU64>,
    caches: Vec<Option<CacheId>>,
}

impl Stage {
    pub(crate) fn new(slots: usize, caches: Vec<Option<CacheId>>) -> Self {
        Self {
            turns: (0..slots).map(|_| AtomicU32::new(0)).collect(),
            addresses: (0..slots).map(|_| AtomicU64::new(0)).collect(),
            caches,
        }
    }

    /// Waits until it is `turn`'s turn; returns whether that took any time.
    #[inline]
    fn wait(&self, slot: usize, turn: u32) -> bool {
        // Acquire: what the previous step stored in `addresses` is seen.
        if self.turns[slot].load(Ordering::Acquire) == turn {
            return false;
        }
        let mut spins = 0u32;
        while self.turns[slot].load(Ordering::Acquire) != turn {
            spins += 1;
            // With fewer processors than threads, a thread that spins keeps the one it waits for
            // from running.
            if spins.is_multiple_of(64) { thread::yield_now() } else { hint::spin_loop() }
        }
        true
    }

    #[inline]
    fn done(&self, slot: usize, turn: u32) {
        self.turns[slot].store(turn.wrapping_add(1), Ordering::Release);
    }
}

/// The measurements of one thread.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) alloc: Histogram<u64>,
    pub(crate) free: Histogram<u64>,
    pub(crate) failed: u64,
    pub(crate) waits: u64,
    pub(crate) lock_wait_ns: u64,
    pub(crate) began: Instant,
    pub(crate) ended: Instant,
}

pub(crate) fn histogram() -> Histogram<u64> {
    Histogram::new_with_max(LATENCY_NS_MAX, 3).expect("the bounds are constants")
}

/// Does one thread's steps. `cpus[i]` is CPU `first + i * parts`.
pub(crate) fn perform<B: Backend>(
    stage: &Stage,
    cpus: &[Cpu<'_, B>],
    parts: usize,
    steps: &[Step],
) -> Part {
    let lock_wait_before_ns = lock_wait_ns();
    let began = Instant::now();
    let mut part = Part {
        alloc: histogram(),
        free: histogram(),
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
        let cache = match step.cache {
            NONE => None,
            cache => Some(stage.caches.get(cache as usize).copied().flatten()),
        };
        if step.is_alloc {
            let (gfp, site) = (Gfp(step.gfp), Site(step.site));
            let start = Instant::now();
            let object = match cache {
                None => cpu.kmalloc(u64::from(step.bytes_req), gfp, site),
                Some(cache) => cache.and_then(|cache| cpu.alloc(cache, gfp, site)),
            };
            record(&mut part.alloc, start);
            part.failed += u64::from(object.is_none());
            stage.addresses[slot].store(object.map_or(FAILED, ObjPtr::get), Ordering::Relaxed);
        } else {
            let address = stage.addresses[slot].load(Ordering::Relaxed);
            if let Some(object) = ObjPtr::new(address).filter(|_| address != FAILED) {
                let site = Site(step.site);
                let start = Instant::now();
                match cache.flatten() {
                    None => cpu.kfree(object, site),
                    Some(cache) => cpu.free(cache, object, site),
                }
                record(&mut part.free, start);
            }
        }
        stage.done(slot, step.turn);
    }
    part.ended = Instant::now();
    part.lock_wait_ns = lock_wait_ns() - lock_wait_before_ns;
    part
}

#[inline]
pub(crate) fn record(histogram: &mut Histogram<u64>, start: Instant) {
    let ns = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
    histogram.saturating_record(ns);
}
