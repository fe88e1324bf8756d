//! What an operation knows of its CPU, and the CPU's machine-wide counters.

use super::locks::LockKind;
use crate::ids::NodeId;
use crate::raw::local::LocalU64;
use crate::raw::zeroed::zeroed_struct;

zeroed_struct! {
    /// A CPU's machine-wide counters.
    #[derive(Debug)]
    pub(crate) struct CpuCounters {
        /// Bytes of live blocks that no cache knows, because they are carved by size.
        pub carved_bytes: LocalU64,
        /// Slabs that the CPU made less those that it gave back, and their pages: see `SlabCount::entry`.
        pub slabs: LocalU64,
        /// Locks taken, by [`LockKind::index`].
        pub locks: [LocalU64; LockKind::MAX],
    }
}

/// What operations have to do beside their job: one byte, 0 in plain library use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hooks(u8);

impl Hooks {
    /// Nothing.
    pub(crate) const NONE: Self = Self(0);
    /// This thread drives all CPUs and keeps exact totals.
    pub(crate) const EXACT: Self = Self(1);
    /// Operations are checked (level 1 and up).
    pub(crate) const CHECKS: Self = Self(2);
    /// The machine has several nodes, so that a free has to check its object's node.
    pub(crate) const NODES: Self = Self(4);
    /// Objects have no memory: links between them are in a table.
    pub(crate) const COUNTS: Self = Self(8);

    #[inline(always)]
    pub(crate) fn any(self) -> bool {
        self.0 != 0
    }

    #[inline(always)]
    pub(crate) fn exact(self) -> bool {
        self.0 & Self::EXACT.0 != 0
    }

    #[inline(always)]
    pub(crate) fn checks(self) -> bool {
        self.0 & Self::CHECKS.0 != 0
    }

    #[inline(always)]
    pub(crate) fn counts(self) -> bool {
        self.0 & Self::COUNTS.0 != 0
    }

    pub(crate) fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// The CPU that an operation runs on. The holder of this value holds the CPU's claim.
#[derive(Debug)]
pub struct CpuContext<'m> {
    /// Number of the CPU.
    pub(crate) cpu: u32,
    /// Its node.
    pub(crate) node: NodeId,
    /// What operations have to do beside their job.
    pub(crate) hooks: Hooks,
    pub(crate) counters: &'m CpuCounters,
}

impl<'m> CpuContext<'m> {
    /// Returns the node of the CPU.
    #[inline(always)]
    pub(crate) fn node(&self) -> NodeId {
        self.node
    }

    /// Returns the CPU's counters.
    #[inline(always)]
    pub(crate) fn counters(&self) -> &'m CpuCounters {
        self.counters
    }

    /// Counts a lock taken.
    #[inline(always)]
    pub(crate) fn count_lock(&self, kind: LockKind) {
        self.counters.locks[kind.index()].add(1);
    }
}
