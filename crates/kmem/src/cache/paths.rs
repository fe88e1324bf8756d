//! Counters of paths taken, per cache and CPU, and what they add up to.
//!
//! # How it works
//! What all backends share counts the [`common`] paths; a backend declares its own ([`backend_stats`]).
//! Names are those of `CONFIG_SLUB_STATS` where Linux has one.
//!
//! The hot paths count one thing: [`OpCounts`], beside whatever else of the CPU's they touch. Slow
//! paths count in a [`Tally`]; the rest are fast ones (`alloc_fastpath` = allocations less
//! `alloc_slowpath`). Each CPU alone writes its counters. Objects live = allocations - frees,
//! summed over the CPUs, for an object may be freed elsewhere than it was allocated.
//!
//! A thread that drives every CPU ([`crate::CpuSet`]) also keeps exact totals: live objects and
//! their peak of each cache, and the machine's live bytes, readable at every instant without a sum.
//! With one thread for each CPU the peak is the largest sum that a reader saw.
//!
//! Linux counterpart: `enum stat_item` (`CONFIG_SLUB_STATS`) in `include/linux/slub_def.h` @ 6.1.

use crate::raw::local::LocalU64;
use crate::raw::zeroed::zeroed_struct;

/// A path that an operation can take: the place of its counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stat(u8);

impl Stat {
    /// Counters that a cache has at most: the common ones and a backend's own.
    pub(crate) const MAX: usize = 48;

    /// Returns the counter at a place.
    pub(crate) const fn at(place: usize) -> Self {
        assert!(place < Self::MAX, "a backend names too many counters");
        Self(place as u8)
    }

    /// Returns the counter that stands `places` further on.
    pub(crate) const fn after(self, places: usize) -> Self {
        Self::at(self.0 as usize + places)
    }
}

/// Declares counters from a place on: a constant for each, and `NAMES` in their order.
macro_rules! stats {
    ($first:expr; $($stat:ident $name:literal,)*) => {
        pub(crate) const NAMES: &[&str] = &[$($name,)*];
        #[allow(non_camel_case_types, reason = "it only numbers the constants")]
        enum Place { $($stat,)* }
        $(pub(crate) const $stat: Stat = Stat::at($first + Place::$stat as usize);)*
    };
}

/// Declares the counters of a backend, for its `Ops::STATS`, beside the [`common`] ones.
macro_rules! backend_stats {
    ($($stats:tt)*) => {
        use $crate::cache::paths::Stat;
        pub(crate) use $crate::cache::paths::common::*;
        $crate::cache::paths::stats! { $crate::cache::paths::common::NAMES.len(); $($stats)* }
    };
}
pub(crate) use {backend_stats, stats};

/// Paths that all backends count.
pub(crate) mod common {
    use super::Stat;
    stats! { 0;
        ALLOC_FASTPATH "alloc_fastpath", // from the CPU's own free list or array
        FREE_FASTPATH "free_fastpath", // to the CPU's own slab or array
        ALLOC_SLOWPATH "alloc_slowpath",
        FREE_SLOWPATH "free_slowpath",
        ALLOC_SLAB "alloc_slab", // from the page allocator
        FREE_SLAB "free_slab", // to the page allocator
        ORDER_FALLBACK "order_fallback", // a slab of the least order that does
    }
}

zeroed_struct! {
    /// One cache's operations on one CPU.
    #[derive(Debug)]
    pub struct OpCounts {
        /// Objects allocated.
        pub allocs: LocalU64,
        /// Objects freed.
        pub frees: LocalU64,
    }
}

zeroed_struct! {
    /// One cache's slow paths on one CPU.
    #[derive(Debug)]
    pub(crate) struct Tally {
        counts: [LocalU64; Stat::MAX],
    }
}

impl OpCounts {
    /// Makes both 0, for a cache that is not in use yet.
    pub(crate) fn reset(&self) {
        self.allocs.set(0);
        self.frees.set(0);
    }
}

impl Tally {
    /// Makes all counters 0, for a cache that is not in use yet.
    pub(crate) fn reset(&self) {
        self.counts.iter().for_each(|count| count.set(0));
    }

    /// Counts one.
    #[inline(always)]
    pub(crate) fn count(&self, stat: Stat) {
        self.add(stat, 1);
    }

    /// Counts several.
    #[inline(always)]
    pub(crate) fn add(&self, stat: Stat, count: u64) {
        self.counts[usize::from(stat.0)].add(count);
    }

    /// Takes one back.
    pub(crate) fn uncount(&self, stat: Stat) {
        self.counts[usize::from(stat.0)].sub(1);
    }
}

/// Counters of one cache, summed over the CPUs: those of all backends, then the backend's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathCounts {
    own: &'static [&'static [&'static str]],
    counts: [u64; Stat::MAX],
}

impl Default for PathCounts {
    fn default() -> Self {
        Self { own: &[], counts: [0; Stat::MAX] }
    }
}

impl PathCounts {
    /// Sums what the CPUs counted. The fast paths are all operations less the slow ones, plus what a backend counts
    /// as fast itself; that number may be negative, and wraps then.
    pub(crate) fn sum<'a>(
        own: &'static [&'static [&'static str]],
        ops: impl Iterator<Item = &'a OpCounts>,
        tallies: impl Iterator<Item = &'a Tally>,
    ) -> Self {
        let mut counts = [0u64; Stat::MAX];
        let (mut allocs, mut frees) = (0, 0);
        for ops in ops {
            allocs += ops.allocs.get();
            frees += ops.frees.get();
        }
        for tally in tallies {
            for (sum, count) in counts.iter_mut().zip(&tally.counts) {
                *sum = sum.wrapping_add(count.get());
            }
        }
        // A CPU at work counts a slow path before the operation, so for a moment there may be more
        // slow paths than operations.
        let mut fast = |all: u64, fast: Stat, slow: Stat| {
            let left = all.saturating_sub(counts[usize::from(slow.0)]);
            let sum = left.wrapping_add(counts[usize::from(fast.0)]);
            counts[usize::from(fast.0)] = if sum > u64::MAX / 2 { 0 } else { sum };
        };
        fast(allocs, common::ALLOC_FASTPATH, common::ALLOC_SLOWPATH);
        fast(frees, common::FREE_FASTPATH, common::FREE_SLOWPATH);
        Self { own, counts }
    }

    /// Returns a counter by its name; 0 if the backend has none of that name.
    pub fn get(&self, name: &str) -> u64 {
        self.iter().find(|(known, _)| *known == name).map_or(0, |(_, count)| count)
    }

    /// Visits the counters with their names, in their order.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        common::NAMES.iter().chain(self.own.iter().copied().flatten()).copied().zip(self.counts)
    }

    /// Adds another cache's counters.
    pub fn add(&mut self, other: &Self) {
        for (sum, count) in self.counts.iter_mut().zip(&other.counts) {
            *sum += count;
        }
    }
}
