//! Counters of paths taken, per cache and CPU, and what they add up to.
//!
//! # How it works
//! The hot paths count one thing: [`OpCounts`], beside whatever else of the CPU's they touch. Slow
//! paths count in a [`Tally`]; the fast ones are what is left (`alloc_fastpath` = allocations less
//! `alloc_slowpath`). All is written by its CPU alone. Objects live = allocations - frees, summed
//! over the CPUs, for an object may be freed elsewhere than it was allocated.
//!
//! A thread that drives every CPU ([`crate::CpuSet`]) keeps exact books beside that: live objects
//! and their peak of each cache, and the machine's live bytes, readable at every instant without a
//! sum. With one thread a CPU the peak is the largest sum seen when it was read.
//!
//! Linux counterpart: `enum stat_item` (`CONFIG_SLUB_STATS`) in `include/linux/slub_def.h` @ 6.1.

use crate::raw::local::LocalU64;
use crate::raw::zeroed::zeroed_struct;

macro_rules! stats {
    ($($(#[$doc:meta])* $variant:ident $name:literal,)*) => {
        /// A path that an operation can take; names are those of `CONFIG_SLUB_STATS` where Linux
        /// has one.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(u8)]
        #[non_exhaustive]
        pub enum Stat { $($(#[$doc])* $variant,)* }

        impl Stat {
            /// All counters, in the order of their index.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Returns the name under `/sys/kernel/slab`.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }
    };
}

stats! {
    /// Allocation from the CPU's own free list or array.
    AllocFastpath "alloc_fastpath",
    /// Free to the CPU's own slab or array.
    FreeFastpath "free_fastpath",
    /// Allocation that had to look further.
    AllocSlowpath "alloc_slowpath",
    /// Free that had to go further.
    FreeSlowpath "free_slowpath",
    /// Free to a slab that some CPU has frozen.
    FreeFrozen "free_frozen",
    /// Free that put a slab on the node's partial list.
    FreeAddPartial "free_add_partial",
    /// Free that took a slab off the node's partial list.
    FreeRemovePartial "free_remove_partial",
    /// CPU slab taken from the node's partial list.
    AllocFromPartial "alloc_from_partial",
    /// CPU slab new from the page allocator.
    AllocSlab "alloc_slab",
    /// CPU free list refilled from the slab's own.
    AllocRefill "alloc_refill",
    /// CPU slab on the wrong node.
    AllocNodeMismatch "alloc_node_mismatch",
    /// Slab given back to the page allocator.
    FreeSlab "free_slab",
    /// CPU slab abandoned by a flush.
    CpuslabFlush "cpuslab_flush",
    /// CPU slab was full when deactivated.
    DeactivateFull "deactivate_full",
    /// CPU slab was empty when deactivated.
    DeactivateEmpty "deactivate_empty",
    /// CPU slab moved to the head of the partial list.
    DeactivateToHead "deactivate_to_head",
    /// CPU slab moved to the tail of the partial list.
    DeactivateToTail "deactivate_to_tail",
    /// Deactivated slab held remotely freed objects.
    DeactivateRemoteFrees "deactivate_remote_frees",
    /// CPU slab left because it was full.
    DeactivateBypass "deactivate_bypass",
    /// Slab had to be of the minimum order.
    OrderFallback "order_fallback",
    /// Lock-free update had to be tried again.
    CmpxchgDoubleFail "cmpxchg_double_fail",
    /// CPU slab taken from the CPU's partial list.
    CpuPartialAlloc "cpu_partial_alloc",
    /// Slab put on the CPU's partial list by a free.
    CpuPartialFree "cpu_partial_free",
    /// CPU's partial list refilled from the node's.
    CpuPartialNode "cpu_partial_node",
    /// CPU's partial list drained to the node's.
    CpuPartialDrain "cpu_partial_drain",
    /// SLAB: array refilled from the shared array.
    AllocShared "alloc_shared",
    /// SLAB: array flushed to the shared array.
    FreeShared "free_shared",
    /// Free to memory that belongs to another CPU or node.
    FreeRemote "free_remote",
    /// SLOB, SLMB: pages looked at before one fitted.
    PagesWalked "pages_walked",
}

pub(crate) const STATS: usize = 29;
const _: () = assert!(Stat::ALL.len() == STATS);

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
        /// Counters by [`Stat`].
        pub counts: [LocalU64; STATS],
    }
}

impl OpCounts {
    /// Makes both 0, for a cache that nobody uses yet.
    pub(crate) fn reset(&self) {
        self.allocs.set(0);
        self.frees.set(0);
    }
}

impl Tally {
    /// Makes all counters 0, for a cache that nobody uses yet.
    pub(crate) fn reset(&self) {
        self.counts.iter().for_each(|count| count.set(0));
    }

    /// Counts one.
    #[inline(always)]
    pub(crate) fn count(&self, stat: Stat) {
        self.counts[stat as usize].add(1);
    }
}

/// Counters of one cache, summed over the CPUs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PathCounts {
    counts: [u64; STATS],
}

impl PathCounts {
    /// Sums what the CPUs counted; the fast paths are what is left of all operations.
    pub(crate) fn sum<'a>(cpus: impl Iterator<Item = (&'a OpCounts, &'a Tally)>) -> Self {
        let mut counts = [0u64; STATS];
        let (mut allocs, mut frees) = (0, 0);
        for (ops, tally) in cpus {
            allocs += ops.allocs.get();
            frees += ops.frees.get();
            for (sum, count) in counts.iter_mut().zip(&tally.counts) {
                *sum += count.get();
            }
        }
        // A CPU at work counts a slow path before the operation: for a moment there may be more.
        let fast = |all: u64, slow: Stat| all.saturating_sub(counts[slow as usize]);
        let fast = (fast(allocs, Stat::AllocSlowpath), fast(frees, Stat::FreeSlowpath));
        (counts[Stat::AllocFastpath as usize], counts[Stat::FreeFastpath as usize]) = fast;
        Self { counts }
    }

    /// Returns one counter.
    pub fn get(&self, stat: Stat) -> u64 {
        self.counts[stat as usize]
    }

    /// Visits the counters in their order.
    pub fn iter(&self) -> impl Iterator<Item = (Stat, u64)> + '_ {
        Stat::ALL.iter().map(|&stat| (stat, self.get(stat)))
    }

    /// Adds another cache's counters.
    pub fn add(&mut self, other: &Self) {
        for (sum, count) in self.counts.iter_mut().zip(&other.counts) {
            *sum += count;
        }
    }
}
