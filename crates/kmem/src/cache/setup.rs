//! A machine's parameters, as built.

use super::args::Tunables;
use super::geometry::Arch;
use super::kmalloc::KmallocConfig;
#[cfg(all(test, loom))]
use crate::ids::PAGE_SIZE;
use crate::ids::{NodeId, Order};

/// Whether like caches share slabs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Merging {
    /// As Linux does by default (`CONFIG_SLAB_MERGE_DEFAULT`).
    #[default]
    Linux,
    /// Every cache has slabs of its own (`slab_nomerge`).
    Off,
}

/// What becomes of the memory of objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Objects {
    /// Each has its memory, which callers may read and write
    #[default]
    InMemory,
    /// They are only counted: no memory is touched for them, and one thread drives the machine ([`crate::CpuSet`]).
    /// Addresses, slabs and counts are the same. Checks of operations need the memory, and take it
    Counted,
}

/// How much is checked on each operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum CheckLevel {
    /// Nothing.
    #[default]
    Off = 0,
    /// Double frees, wrong caches, foreign pointers, damaged free lists.
    Cheap = 1,
    /// Also red zones, poison, and the last call sites of each object.
    Full = 2,
    /// As `Full`, and `validate()` after each operation.
    Paranoid = 3,
}

/// Whom grace periods wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Readers {
    /// CPUs inside [`Cpu::rcu_read`](crate::Cpu::rcu_read).
    #[default]
    Cpus,
    /// Also all threads of the process that are in a section of `slablab_rcu`: `pin()`, `enter()`.
    #[cfg(feature = "std")]
    Threads,
}

/// A machine's parameters, as built.
#[derive(Debug, Clone)]
pub(crate) struct Setup {
    pub(crate) cpus: u32,
    pub(crate) nodes: u32,
    pub(crate) memory_bytes: u64,
    pub(crate) arch: Arch,
    pub(crate) caches_max: u32,
    pub(crate) min_objects: u32,
    /// In pages.
    pub(crate) order_max: Order,
    /// Whether the caller set that order; otherwise a backend's default may stand instead.
    pub(crate) order_max_is_asked: bool,
    pub(crate) tunables: Tunables,
    pub(crate) merging: Merging,
    pub(crate) check: CheckLevel,
    pub(crate) objects: Objects,
    pub(crate) readers: Readers,
    pub(crate) kmalloc: KmallocConfig,
    /// Whether slabs that come and go are logged
    pub(crate) slab_log: bool,
}

impl Setup {
    /// The smallest machine on which threads meet, for loom's models: one node, `pages` pages, slabs of a page.
    #[cfg(all(test, loom))]
    pub(crate) fn of_models(
        cpus: u32,
        pages: u64,
        caches_max: u32,
        kmalloc: KmallocConfig,
    ) -> Self {
        Self {
            cpus,
            nodes: 1,
            memory_bytes: pages * PAGE_SIZE,
            arch: Arch::default(),
            caches_max,
            min_objects: 1,
            order_max: Order(0),
            order_max_is_asked: true,
            tunables: Tunables::default(),
            merging: Merging::Off,
            check: CheckLevel::Off,
            objects: Objects::default(),
            readers: Readers::default(),
            kmalloc,
            slab_log: false,
        }
    }

    /// Returns whether objects are only counted.
    pub(crate) fn counts(&self) -> bool {
        self.objects == Objects::Counted && self.check == CheckLevel::Off
    }

    #[inline]
    pub(crate) fn node_of(&self, cpu: u32) -> NodeId {
        if self.nodes == 1 { NodeId(0) } else { NodeId(cpu * self.nodes / self.cpus) }
    }
}
