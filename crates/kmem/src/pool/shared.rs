//! What the caches and objects of a pool share: its machine, the holders of its CPUs, and the work
//! that waits for a CPU.
//!
//! # How it works
//! A CPU is borrowed for one operation by a compare-and-swap ([`Machine::free_cpu`]). If none is free, a thread
//! that holds a CPU uses that one; `holders` tells, since threads have numbers. Another thread waits if it
//! wants memory. If it wants to free, it leaves the object in `waiting`: the holders of the CPUs may keep them
//! for long, or wait for this very thread. The next thread that has a CPU frees what waits.
//!
//! A cache is destroyed when its last handle and object are gone. A CPU that another thread holds may keep a
//! part of it; then it waits, too, until that CPU is given back or the next cache is created.

use alloc::vec::Vec;
use core::mem::{ManuallyDrop, take};
use core::ops::Deref;
use std::io::Write;
use std::time::{Duration, Instant};

use crate::backend::Backend;
use crate::cpu::Hooks;
use crate::front::cpu::Cpu;
use crate::ids::{CacheId, ObjPtr, Site};
use crate::machine::Machine;
use crate::raw::lock::Lock;
use crate::raw::sync::{AtomicBool, AtomicU32, Ordering, fence, relax};

/// Attempts to borrow a CPU before a free is left to others: a borrowed one comes back within an operation.
const ATTEMPTS: u32 = 64;
/// Failed allocations from one reclaim to the next, while nothing is freed.
const FAILURES: u32 = 64;

/// Spins from one look at the clock to the next, while a thread waits for a CPU.
const SPINS_TO_LOOK: u32 = 1 << 10;
/// A wait that is reported: no operation takes as long.
const LONG_WAIT: Duration = Duration::from_secs(5);

/// Says, once for each process, that other threads have held all CPUs for long.
#[cold]
fn say_that_it_waits() {
    static SAID: std::sync::Once = std::sync::Once::new();
    SAID.call_once(|| {
        let _ = writeln!(
            std::io::stderr(),
            "slablab-kmem: an operation has waited for {} s: other threads hold all CPUs of the pool. Drop a PoolCpu, or take \
             more CPUs: one that is forgotten keeps its CPU",
            LONG_WAIT.as_secs()
        );
    });
}

std::thread_local! {
    static THREAD: u32 = {
        static THREADS: AtomicU32 = AtomicU32::new(1);
        THREADS.fetch_add(1, Ordering::Relaxed)
    };
}

/// Returns this thread's number; 0 while it ends, when it holds no CPU.
fn thread() -> u32 {
    THREAD.try_with(|number| *number).unwrap_or(0)
}

#[derive(Debug)]
pub(super) struct Shared<B: Backend> {
    pub(super) machine: Machine<B>,
    /// The thread that holds each CPU by a [`super::PoolCpu`]; 0: none.
    holders: Vec<AtomicU32>,
    waiting: Lock<Waiting>,
    /// Whether objects wait.
    objects_wait: AtomicBool,
    /// Allocations that found no memory since something was last freed.
    failures: AtomicU32,
}

/// Work that waits for a CPU.
#[derive(Debug, Default)]
struct Waiting {
    /// Objects to be freed; their values are gone.
    objects: Vec<(CacheId, ObjPtr)>,
    /// Caches to be destroyed; none of their objects is in use.
    caches: Vec<CacheId>,
}

/// A CPU for an operation.
pub(super) enum AnyCpu<'p, B: Backend> {
    /// One that no thread held; it is given back afterwards.
    Borrowed(Cpu<'p, B>),
    /// One that this thread holds.
    Held(ManuallyDrop<Cpu<'p, B>>),
}

impl<'p, B: Backend> Deref for AnyCpu<'p, B> {
    type Target = Cpu<'p, B>;

    fn deref(&self) -> &Cpu<'p, B> {
        match self {
            Self::Borrowed(cpu) => cpu,
            Self::Held(cpu) => cpu,
        }
    }
}

impl<B: Backend> Shared<B> {
    pub(super) fn new(machine: Machine<B>) -> Self {
        let holders = (0..machine.cpu_count()).map(|_| AtomicU32::new(0)).collect();
        let waiting = Lock::new(Waiting::default());
        Self {
            machine,
            holders,
            waiting,
            objects_wait: AtomicBool::new(false),
            failures: AtomicU32::new(0),
        }
    }

    /// Enters that this thread holds a CPU.
    pub(super) fn hold(&self, cpu: u32) {
        self.holders[cpu as usize].store(thread(), Ordering::Relaxed);
    }

    /// Enters that this thread no longer holds a CPU, before it is free for others.
    pub(super) fn release(&self, cpu: u32) {
        self.holders[cpu as usize].store(0, Ordering::Relaxed);
        self.freed();
    }

    /// Returns a CPU, waiting until another thread gives one back. Says so when that takes long: a [`super::PoolCpu`] that
    /// was forgotten keeps its CPU.
    pub(super) fn wait_for_cpu(&self) -> AnyCpu<'_, B> {
        let (mut spins, mut since) = (0u32, None);
        loop {
            if let Some(cpu) = self.any_cpu() {
                return cpu;
            }
            relax(spins);
            spins = spins.wrapping_add(1);
            if spins.is_multiple_of(SPINS_TO_LOOK) {
                let begin: &mut Option<Instant> = since.get_or_insert_with(|| Some(Instant::now()));
                if begin.is_some_and(|begin| begin.elapsed() > LONG_WAIT) {
                    *begin = None;
                    say_that_it_waits();
                }
            }
        }
    }

    /// Frees an object whose value is gone: now or, if no CPU can be had, soon.
    pub(super) fn free(&self, cache: CacheId, obj: ObjPtr) {
        for spins in 0..ATTEMPTS {
            if let Some(cpu) = self.any_cpu() {
                cpu.free(cache, obj, Site(0));
                return self.freed();
            }
            relax(spins);
        }
        let mut waiting = self.waiting.lock();
        waiting.objects.push((cache, obj));
        self.objects_wait.store(true, Ordering::Relaxed);
        drop(waiting);
        self.settle();
    }

    /// Destroys a cache that no longer has a handle or an object, now or soon.
    pub(super) fn destroy(&self, cache: CacheId) {
        self.waiting.lock().caches.push(cache);
        self.settle_caches();
    }

    /// Does the work that waits for a CPU, if one can be had.
    pub(super) fn settle(&self) {
        // The fence stands between a thread's own change (what it left or gave back) and its look at
        // another's. Each sees the other's, or a free would be left for ever.
        fence(Ordering::SeqCst);
        if self.objects_wait.load(Ordering::Relaxed) {
            self.any_cpu();
        }
    }

    /// Destroys the caches that wait, if a CPU can be had.
    pub(super) fn settle_caches(&self) {
        let Some(cpu) = self.any_cpu() else { return };
        let caches = take(&mut self.waiting.lock().caches);
        for cache in caches {
            self.own_cpus().for_each(|own| own.flush(cache));
            // A free that waited may be under way on another thread.
            let unused = self.machine.live(cache) == 0;
            if !unused || cpu.cache_destroy(cache, Site(0)).is_err() {
                self.waiting.lock().caches.push(cache);
            }
        }
    }

    /// Returns a CPU that no thread holds, or one that this thread holds; frees on it what waits.
    fn any_cpu(&self) -> Option<AnyCpu<'_, B>> {
        let free = self.machine.free_cpu().map(AnyCpu::Borrowed);
        let cpu = free.or_else(|| self.own_cpus().next().map(AnyCpu::Held))?;
        self.settle_on(&cpu);
        Some(cpu)
    }

    /// Frees what waits on a CPU that the caller has.
    #[inline]
    pub(super) fn settle_on(&self, cpu: &Cpu<'_, B>) {
        if self.objects_wait.load(Ordering::Relaxed) {
            self.free_waiting(cpu);
        }
    }

    /// Enters that memory was freed, so that reclaiming may be worthwhile again.
    #[inline]
    pub(super) fn freed(&self) {
        if self.failures.load(Ordering::Relaxed) != 0 {
            self.failures.store(0, Ordering::Relaxed);
        }
    }

    /// Gives memory that is free but kept somewhere back to the page allocator. That looks at every cache: of
    /// allocations that fail one after the other, the first does it, and then one of [`FAILURES`], since a free
    /// on another thread may come between.
    #[cold]
    pub(super) fn reclaim(&self, cpu: &Cpu<'_, B>) {
        if self.failures.fetch_add(1, Ordering::Relaxed).is_multiple_of(FAILURES) {
            self.free_waiting(cpu);
            cpu.reclaim();
        }
    }

    #[cold]
    fn free_waiting(&self, cpu: &Cpu<'_, B>) {
        let mut waiting = self.waiting.lock();
        self.objects_wait.store(false, Ordering::Relaxed);
        let objects = take(&mut waiting.objects);
        drop(waiting);
        for (cache, obj) in objects {
            cpu.free(cache, obj, Site(0));
            self.freed();
        }
    }

    /// Returns the CPUs that this thread holds; no operation is under way on them.
    fn own_cpus(&self) -> impl Iterator<Item = ManuallyDrop<Cpu<'_, B>>> {
        let own = thread();
        let held =
            move |cpu: &u32| own != 0 && self.holders[*cpu as usize].load(Ordering::Relaxed) == own;
        let cpus = (0..self.machine.cpu_count()).filter(held);
        // It must not be dropped: the CPU stays with its holder.
        cpus.map(|cpu| ManuallyDrop::new(Cpu::new(&self.machine, cpu, Hooks::NONE)))
    }
}

/// Does the work that waited for a CPU when it is dropped.
#[derive(Debug)]
pub(super) struct Settle<'p, B: Backend>(pub(super) &'p Shared<B>);

impl<B: Backend> Drop for Settle<'_, B> {
    fn drop(&mut self) {
        self.0.settle();
        self.0.settle_caches();
    }
}
