//! What SLAB keeps: per-CPU arrays, shared arrays, nodes, and numbers of each cache.

use super::layout::{Colours, LIMIT_MAX, SHARED_MAX};
use super::node::Node;
use crate::cache::core::Core;
use crate::cache::cx::Cx;
use crate::cache::paths::OpCounts;
use crate::cache::table::Cache;
use crate::cpu::LockKind;
use crate::ids::NodeId;
use crate::raw::local::{LocalU32, LocalU64};
use crate::raw::lock::{Guard, Lock};
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
    /// [`LIMIT_MAX`] entries (rounded up to 256) an array.
    pub(super) entries: ZeroedSlice<LocalU64>,
    /// By cache and node.
    pub(super) nodes: ZeroedSlice<Lock<Node>>,
    /// [`SHARED_MAX`] entries a node of a cache.
    pub(super) shared: ZeroedSlice<LocalU64>,
    pub(super) colours: ZeroedSlice<Colours>,
    /// Time of each CPU's next reaping in ns; 0: the clock has not started.
    pub(super) next_reap: ZeroedSlice<LocalU64>,
}

pub(super) const ENTRIES: usize = (LIMIT_MAX as usize).next_power_of_two();

impl Slab {
    #[inline(always)]
    pub(super) fn entry(&self, cell: usize, i: u32) -> &LocalU64 {
        &self.entries[cell * ENTRIES + i as usize]
    }

    pub(super) fn shared_entry(
        &self,
        core: &Core,
        cache: &Cache,
        node: NodeId,
        i: u32,
    ) -> &LocalU64 {
        &self.shared[Self::node_index(core, cache, node) * SHARED_MAX as usize + i as usize]
    }

    pub(super) fn node_index(core: &Core, cache: &Cache, node: NodeId) -> usize {
        cache.id().index() * core.setup.nodes as usize + node.0 as usize
    }

    pub(super) fn lock_node(&self, cx: &Cx<'_>, cache: &Cache, node: NodeId) -> Guard<'_, Node> {
        cx.count_lock(LIST_LOCK);
        self.nodes[Self::node_index(cx.core, cache, node)].lock()
    }

    pub(super) fn colours(&self, cache: &Cache) -> &Colours {
        &self.colours[cache.id().index()]
    }
}
