//! How large magazines are: a cold cache has none, and every few turns of the lock give more.
//!
//! # How it works
//! An operation that finds no object, or no room, takes the node's lock and is a *miss*. Every [`MISSES`] of them
//! double the capacity, from 0 to [`FIRST`] and on, up to [`MAGAZINE_BYTES`] and [`CAPACITY`] objects. A magazine
//! of that size that still misses [`MISSES_HOT`] times between two visits is doubled on, up to
//! [`MAGAZINE_BYTES_HOT`]: a batch that is larger than a magazine would come to the lock twice each time. All
//! magazines of a CPU together are bounded by their share of the memory.
//!
//! A CPU visits its warm magazines every [`VISIT_NS`] of `tick`, while it has any, and empties those that were idle for
//! longer than their patience. A magazine has no patience at first. A magazine that was emptied and needed again within
//! [`SOON`] visits more than [`TOO_SOON`] times gets patience, twice as much each time: caches that work in bursts, as a
//! database's do, keep their objects from one to the next. With every other slab that a CPU adds, magazines that were idle
//! since the last look give back the objects that keep a slab half empty. Each does so once until it is used again. When the
//! page allocator has nothing left, a CPU empties all.
//!
//! # What was measured
//! The table shows the memory held at the peak of a replay, divided by what was requested, and the locks and atomic
//! operations for 1,000 operations (SLUB_TINY takes 1,016 to 1,394 locks); more traces are in
//! `bench/results/2026-11-24-dense`:
//!
//! | trace | SLUB | SLUB_TINY | dense |
//! |---|---|---|---|
//! | boot | 1.102, 117 | 1.076 | 1.068, 11 |
//! | build | 2.408, 107 | 1.253 | 1.246, 34 |
//! | hackbench | 1.083, 762 | 1.090 | 1.075, 44 |
//! | git | 1.267, 97 | 1.077 | 1.094, 46 |
//! | sqlite | 1.167, 278 | 1.056 | 1.054, 63 |
//! | 80,000 connections | 1.075, 92 | 1.033 | 1.035, 17 |
//!
//! In the first three rows, new slabs that are taken whole need no lock. Before that change these rows had 14, 36 and 63
//! locks, and the other rows and all figures below were measured then. Before hot magazines grew further, hackbench took 210
//! and the time of `bench/kmem` was 1.32 times mimalloc's, not 0.82 (0.59 now). Without patience sqlite takes 287 (and git
//! 56, SLUB 73).
//!
//! A magazine may hold one object even where that is a page, because a build's hottest objects are pages (without
//! this: 851 locks). These were tried and rejected:
//!
//! * visits every 20 ms (build 1.32, sqlite 145) or 100 ms (build 1.42);
//! * patience from the first time on (build 1.315);
//! * magazines of 4 KiB (build 1.29), and of 0.5 to 1 KiB (as much memory, a quarter to two thirds more locks);
//! * hot after 256 misses (hackbench 136 locks) or after 64 (80 locks, but git 59, SLUB 97);
//! * two large objects (build 1.308);
//! * emptying magazines whenever a slab is added (build 1.246 and 101 locks), or whole idle ones with every other slab
//!   (1.239 and 46, but sqlite 1.164 and 45).
//!
//! The capacity at which a magazine starts makes no difference. The connections still hold objects freed in one burst,
//! 64 of them waiting in as many slabs; giving back those first that keep a sparse slab makes it 1.338.

use super::magazine::{CAPACITY_MAX, Dense, OnCpu};
use super::stat;
use crate::cache::core::Core;
use crate::cache::cx::Cx;
use crate::cache::table::CacheEntry;
use crate::ids::PAGE_SIZE;

/// Misses that double a capacity.
const MISSES: u32 = 2;
/// Objects that a magazine may hold when it gets warm.
const FIRST: u32 = 4;
/// Objects that a magazine may hold.
const CAPACITY: u32 = 64;
/// Misses between two visits that double a capacity beyond [`MAGAZINE_BYTES`] and [`CAPACITY`].
const MISSES_HOT: u32 = 16;
/// Bytes that a magazine may hold if it misses that often, with [`CAPACITY_MAX`] objects at most.
const MAGAZINE_BYTES_HOT: u64 = 1 << 20;
/// Bytes that a magazine may hold; it may hold one object of up to [`LARGE_BYTES`] in any case.
const MAGAZINE_BYTES: u64 = 3072;
const LARGE_BYTES: u64 = 2 * PAGE_SIZE;
/// Share of the memory that the magazines of all CPUs together may hold: a 128th.
const MEMORY_SHARE: u64 = 128;
/// Visits that a magazine may be idle at most before it is emptied: a quarter of a second.
const PATIENCE_MAX: u32 = 63;
/// Visits after which a magazine that is needed again was not emptied too soon: a second.
const SOON: u32 = 250;
/// Visits after which nothing changes any more if a magazine is not used.
const VISITS_MAX: u64 = PATIENCE_MAX as u64 + 3;
/// Times that a magazine has to be emptied too soon before it gets patience.
const TOO_SOON: u32 = 5;
/// Time between two visits of a CPU to its magazines: a jiffy of `CONFIG_HZ=250`.
const VISIT_NS: u64 = 4_000_000;
/// Slabs that a CPU adds between two looks at its idle magazines.
const SLABS: u32 = 2;

impl OnCpu<'_> {
    /// Enters that an operation finds no object, or no room, in the magazine; that may make it larger.
    #[inline(always)]
    pub(super) fn miss(self) {
        self.magazine.misses.add(1);
        if self.magazine.misses.get().is_multiple_of(MISSES) {
            self.grow();
        }
    }

    /// Makes the magazine larger if that is within bounds, and enough operations missed.
    fn grow(self) {
        let (magazine, warm) = (self.magazine, &self.dense.warm[self.cx.cpu as usize]);
        let misses = magazine.misses.get();
        let (old, size) = (magazine.capacity.get(), u64::from(self.cache.size.get()));
        let least = u64::from(size <= LARGE_BYTES);
        let most =
            |bytes: u64, objects: u32| (bytes / size).clamp(least, u64::from(objects)) as u32;
        // One more may be within the usual bounds. The test has no division, which most misses of a hot magazine
        // would make for nothing.
        let fits = u64::from(old + 1) * size <= MAGAZINE_BYTES || u64::from(old) < least;
        let most = match misses.is_multiple_of(MISSES_HOT) {
            _ if fits && old < CAPACITY => most(MAGAZINE_BYTES, CAPACITY),
            true => most(MAGAZINE_BYTES_HOT, CAPACITY_MAX),
            false => return,
        };
        let new = (old * 2).max(FIRST).min(most);
        let bytes = warm.bytes.get() + u64::from(new.saturating_sub(old)) * size;
        if new <= old || bytes > bytes_max(self.cx.core) {
            return;
        }
        warm.bytes.set(bytes);
        if old == 0 {
            self.return_to();
        }
        magazine.capacity.set(new);
        self.tally.count(stat::MAGAZINE_GROW);
        if magazine.warm.get() == 0 {
            magazine.warm.set(1);
            magazine.next_warm.set(warm.first.get());
            warm.first.set(self.cache.id().index() as u32 + 1);
        }
    }

    /// Empties what is above `capacity`, which is the magazine's from then on.
    pub(super) fn shrink_to(self, capacity: u32) {
        if capacity < self.magazine.capacity.get() {
            self.magazine.capacity.set(capacity);
            self.tally.count(stat::MAGAZINE_SHRINK);
        }
        self.flush_oldest(self.magazine.count.get().saturating_sub(capacity));
    }

    /// Judges from the moment at which the magazine gets a capacity again whether emptying it was
    /// worth the locks.
    fn return_to(self) {
        let (magazine, warm) = (self.magazine, &self.dense.warm[self.cx.cpu as usize]);
        let emptied_at = magazine.emptied_at.get();
        if emptied_at == 0 {
            return;
        }
        magazine.emptied_at.set(0);
        if warm.visits.get().wrapping_sub(emptied_at) > SOON {
            magazine.too_soon.set(0);
            magazine.patience.set(magazine.patience.get() / 2);
            return;
        }
        magazine.too_soon.add(1);
        if magazine.too_soon.get() > TOO_SOON {
            magazine.patience.set((magazine.patience.get() * 2 + 1).min(PATIENCE_MAX));
        }
    }

    /// Empties the magazine if it was idle for longer than its patience.
    fn visit(self) {
        let magazine = self.magazine;
        let ops = magazine.ops_so_far();
        if ops != magazine.ops_seen.get() {
            magazine.idle.set(0);
        } else if magazine.idle.get() < magazine.patience.get() {
            magazine.idle.add(1);
        } else {
            magazine.idle.set(0);
            magazine.emptied_at.set(self.dense.warm[self.cx.cpu as usize].visits.get());
            self.shrink_to(0);
        }
        magazine.misses.set(0);
        magazine.ops_seen.set(ops);
    }
}

/// Returns the bytes that the magazines of a CPU may hold.
fn bytes_max(core: &Core) -> u64 {
    (core.setup.memory_bytes / MEMORY_SHARE / u64::from(core.setup.cpus)).max(PAGE_SIZE)
}

impl Dense {
    /// Visits the CPU's magazines if it is time.
    #[inline]
    pub(super) fn visit_in_time(&self, cx: &Cx<'_>, now_ns: u64) {
        let next = &self.warm[cx.cpu as usize].next_visit;
        if now_ns < next.get() {
            return;
        }
        // No tick arrives while nothing happens; visits that were due meanwhile matter until one finds
        // nothing to do.
        let due = (now_ns - next.get()) / VISIT_NS + 1;
        next.set(now_ns.saturating_add(VISIT_NS));
        for _ in 0..due.min(VISITS_MAX) {
            self.visit_once(cx);
        }
    }

    /// Visits the CPU's magazines, unless none is warm.
    fn visit_once(&self, cx: &Cx<'_>) {
        let warm = &self.warm[cx.cpu as usize];
        if warm.first.get() != 0 {
            warm.visits.set(warm.visits.get().wrapping_add(1).max(1));
            self.visit_all(cx, |of| of.visit());
        }
    }

    /// Gives back what lies idle in a CPU's magazines and keeps a slab sparse, with every other slab that the CPU
    /// adds.
    #[inline]
    pub(super) fn visit_at_slab(&self, cx: &Cx<'_>) {
        let warm = &self.warm[cx.cpu as usize];
        let slabs = warm.slabs.get().wrapping_add(1);
        warm.slabs.set(slabs);
        if slabs.is_multiple_of(SLABS) {
            self.look_at_slab(cx, warm.first.get());
        }
    }

    /// Gives back the objects that keep a slab sparse, from the CPU's warm magazines that were idle since it last looked.
    /// Their capacity stays: it was not too large.
    fn look_at_slab(&self, cx: &Cx<'_>, mut next: u32) {
        let magazines = &self.magazines.as_slice()[cx.core.row(cx.cpu)];
        while next != 0 {
            let index = next as usize - 1;
            let magazine = &magazines[index];
            let ops = magazine.ops_so_far();
            if ops != magazine.ops_at_slab.get() {
                magazine.ops_at_slab.set(ops);
                magazine.looked.set(0);
            } else if magazine.looked.get() == 0 {
                magazine.looked.set(1);
                self.on(cx, &cx.core.caches.slots()[index]).flush_sparse();
            }
            next = magazine.next_warm.get();
        }
    }

    /// Empties all magazines of a CPU, because memory is short.
    #[cold]
    pub(super) fn flush_all(&self, cx: &Cx<'_>) {
        self.visit_all(cx, |of| of.shrink_to(0));
    }

    /// Does `visit` to the CPU's warm magazines; those without a capacity before are then no longer warm.
    fn visit_all(&self, cx: &Cx<'_>, visit: impl Fn(OnCpu<'_>)) {
        let warm = &self.warm[cx.cpu as usize];
        let caches: &[CacheEntry] = cx.core.caches.slots();
        let (mut next, mut bytes) = (warm.first.get(), 0);
        warm.first.set(0);
        while next != 0 {
            let cache = &caches[next as usize - 1];
            let of = self.on(cx, cache);
            let index = core::mem::replace(&mut next, of.magazine.next_warm.get());
            if of.magazine.capacity.get() == 0 {
                of.magazine.warm.set(0);
                continue;
            }
            visit(of);
            bytes += u64::from(of.magazine.capacity.get()) * u64::from(cache.size.get());
            of.magazine.next_warm.set(warm.first.get());
            warm.first.set(index);
        }
        warm.bytes.set(bytes);
    }
}
