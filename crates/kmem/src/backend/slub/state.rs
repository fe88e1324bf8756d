//! What SLUB keeps: CPU slabs, nodes, and limits of each cache.

use core::ops::{Deref, DerefMut};

use super::layout::Limits;
use crate::cache::core::Core;
use crate::cache::cx::Cx;
use crate::cache::paths::OpCounts;
use crate::cache::table::Cache;
use crate::cpu::LockKind;
use crate::ids::{CacheId, NodeId, Pfn};
use crate::page::PageList;
use crate::raw::local::{LocalU32, LocalU64};
use crate::raw::lock::{Guard, Lock};
use crate::raw::zeroed::{ZeroedSlice, zeroed_struct};

/// A node's `list_lock`: place 0 of `Ops::LOCKS`.
pub(super) const LIST_LOCK: LockKind = LockKind::of_backend(0);
/// An atomic update of a slab's word: place 1.
pub(super) const SLAB_WORD: LockKind = LockKind::of_backend(1);

zeroed_struct! {
    /// A CPU's part of a cache (`struct kmem_cache_cpu`), a cache line.
    #[derive(Debug)]
    #[repr(align(64))]
    pub(super) struct CpuSlab {
        /// First free object of the CPU's slab; 0: none.
        pub(super) freelist: LocalU64,
        /// Page number of the CPU's slab; 0: none.
        pub(super) slab: LocalU32,
        /// First slab of the partial list, linked by `Page::next`; 0: none.
        pub(super) partial: LocalU32,
        /// Slabs on it.
        pub(super) partial_slabs: LocalU32,
        /// Where the free pointer is in a free object: a copy, so that the fast paths look at no
        /// other line than this one, the page record and the object.
        pub(super) link: LocalU32,
        pub(super) ops: OpCounts,
    }
}

zeroed_struct! {
    /// A node's part of a cache (`struct kmem_cache_node`).
    #[derive(Debug)]
    pub(super) struct Node {
        pub(super) list: Lock<PageList>,
        /// Slabs on the list, readable without the lock (`nr_partial`).
        pub(super) partial: LocalU32,
    }
}

impl Node {
    pub(super) fn lock(&self, cx: &Cx<'_>) -> NodeList<'_> {
        cx.count_lock(LIST_LOCK);
        NodeList { list: self.list.lock(), partial: &self.partial }
    }
}

/// A node's list, locked; its length is published when the lock is given up.
pub(super) struct NodeList<'a> {
    list: Guard<'a, PageList>,
    partial: &'a LocalU32,
}

impl Deref for NodeList<'_> {
    type Target = PageList;

    fn deref(&self) -> &PageList {
        &self.list
    }
}

impl DerefMut for NodeList<'_> {
    fn deref_mut(&mut self) -> &mut PageList {
        &mut self.list
    }
}

impl Drop for NodeList<'_> {
    fn drop(&mut self) {
        self.partial.set(self.list.len());
    }
}

/// The SLUB allocator.
#[derive(Debug)]
pub struct Slub {
    /// By cache.
    pub(super) limits: ZeroedSlice<Limits>,
    /// By CPU and cache.
    pub(super) cpu_slabs: ZeroedSlice<CpuSlab>,
    /// By cache and node.
    pub(super) nodes: ZeroedSlice<Node>,
}

impl Slub {
    #[inline(always)]
    pub(super) fn cpu_slab(&self, cx: &Cx<'_>, id: CacheId) -> &CpuSlab {
        &self.cpu_slabs[cx.cell(id)]
    }

    pub(super) fn node(&self, core: &Core, cache: &Cache, node: NodeId) -> &Node {
        &self.nodes[cache.id().index() * core.setup.nodes as usize + node.0 as usize]
    }

    /// Takes the `list_lock` of the node that a slab is on.
    pub(super) fn lock_node<'a>(&'a self, cx: &Cx<'_>, cache: &Cache, slab: Pfn) -> NodeList<'a> {
        self.node(cx.core, cache, cx.core.zones.node_of(slab)).lock(cx)
    }

    /// Returns a cache's limits.
    #[inline]
    pub(super) fn limits(&self, cache: &Cache) -> &Limits {
        &self.limits[cache.id().index()]
    }
}
