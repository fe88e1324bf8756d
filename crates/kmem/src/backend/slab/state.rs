//! What SLAB keeps: per-CPU arrays, shared arrays, nodes, and numbers of each cache.

use super::layout::{Colours, LIMIT_MAX, SHARED_MAX};
use super::node::{LockedNode, Node};
use crate::cache::core::Core;
use crate::cache::cx::Cx;
use crate::cache::paths::{OpCounts, Tally};
use crate::cache::table::CacheEntry;
use crate::cpu::LockKind;
use crate::ids::{NodeId, ObjPtr};
use crate::raw::local::{LocalU32, LocalU64};
use crate::raw::zeroed::{ZeroedSlice, zeroed_struct};

/// A node's `list_lock`: place 0 of `Ops::LOCKS`.
pub(super) const LIST_LOCK: LockKind = LockKind::of_backend(0);
zeroed_struct! {
    /// A CPU's array of a cache (`struct array_cache`); its entries are in a table of their own.
    #[derive(Debug)]
    pub(super) struct Array {
        pub(super) avail: LocalU32,
        /// 1 if used since the last reaping.
        pub(super) touched: LocalU32,
        /// Objects it may hold: 0 until the CPU first uses the cache.
        pub(super) limit: LocalU32,
        pub(super) ops: OpCounts,
    }
}

/// The SLAB allocator.
#[derive(Debug)]
pub struct Slab {
    pub(super) arrays: ZeroedSlice<Array>,
    /// The arrays' entries: [`LIMIT_MAX`] for each, rounded up to 256.
    pub(super) entries: ZeroedSlice<LocalU64>,
    /// Nodes by cache and node.
    pub(super) nodes: ZeroedSlice<Node>,
    /// The shared arrays' entries: [`SHARED_MAX`] for each node of a cache.
    pub(super) shared: ZeroedSlice<LocalU64>,
    pub(super) colours: ZeroedSlice<Colours>,
    /// Time of each CPU's next reaping in ns; 0 before the clock has started.
    pub(super) next_reap: ZeroedSlice<LocalU64>,
}

pub(super) const ENTRIES: usize = (LIMIT_MAX as usize).next_power_of_two();

impl Slab {
    #[inline(always)]
    pub(super) fn entry(&self, index: usize, i: u32) -> &LocalU64 {
        &self.entries[index * ENTRIES + i as usize]
    }

    /// Returns the entries of the array that a node's CPUs share.
    pub(super) fn shared(&self, core: &Core, cache: &CacheEntry, node: NodeId) -> &[LocalU64] {
        let at = Self::node_index(core, cache, node) * SHARED_MAX as usize;
        &self.shared.as_slice()[at..at + SHARED_MAX as usize]
    }

    pub(super) fn node(&self, core: &Core, cache: &CacheEntry, node: NodeId) -> &Node {
        &self.nodes[Self::node_index(core, cache, node)]
    }

    fn node_index(core: &Core, cache: &CacheEntry, node: NodeId) -> usize {
        cache.id().index() * core.setup.nodes as usize + node.0 as usize
    }

    pub(super) fn colours(&self, cache: &CacheEntry) -> &Colours {
        &self.colours[cache.id().index()]
    }

    /// Returns a cache as the slow paths of a CPU see it.
    pub(super) fn on<'a>(&'a self, cx: &'a Cx<'a>, cache: &'a CacheEntry) -> OnCpu<'a> {
        let (place, colours) = (cx.cpu_cache_index(cache.id()), self.colours(cache));
        let (array, tally) = (&self.arrays[place], cx.tally(cache.id()));
        let entries = &self.entries.as_slice()[place * ENTRIES..(place + 1) * ENTRIES];
        OnCpu { slab: self, cx, cache, array, entries, colours, tally }
    }
}

/// A cache on a CPU at work, which the slow paths work on.
#[derive(Clone, Copy)]
pub(super) struct OnCpu<'a> {
    pub(super) slab: &'a Slab,
    pub(super) cx: &'a Cx<'a>,
    pub(super) cache: &'a CacheEntry,
    pub(super) array: &'a Array,
    /// The array's entries, all [`ENTRIES`] of them.
    pub(super) entries: &'a [LocalU64],
    pub(super) colours: &'a Colours,
    pub(super) tally: &'a Tally,
}

impl<'a> OnCpu<'a> {
    pub(super) fn shared(self, node: NodeId) -> &'a [LocalU64] {
        self.slab.shared(self.cx.core, self.cache, node)
    }

    pub(super) fn node(self, node: NodeId) -> &'a Node {
        self.slab.node(self.cx.core, self.cache, node)
    }

    pub(super) fn lock_node(self, node: NodeId) -> LockedNode<'a> {
        self.cx.count_lock(LIST_LOCK);
        self.node(node).lock()
    }
}

/// Copies as many entries as both slices have.
pub(super) fn copy(from: &[LocalU64], to: &[LocalU64]) {
    from.iter().zip(to).for_each(|(from, to)| to.set(from.get()));
}

/// Returns the objects that entries hold.
pub(super) fn objects(entries: &[LocalU64]) -> impl Iterator<Item = ObjPtr> {
    entries.iter().filter_map(|entry| ObjPtr::new(entry.get()))
}
