//! SLUB: each CPU allocates from a slab of its own.
//!
//! # How it works
//! Every free object holds the offset of the next one. A CPU *freezes* a slab and moves its whole
//! free list into its [`Slot`]: allocation pops, a free of an object of that slab pushes, neither
//! with an atomic instruction. An object of any other slab is pushed on that slab's own list, one
//! compare-and-swap on the word of [`state`]. A slab that was full and gets its first free object
//! goes to the freeing CPU's *partial list*, which spills to the node's when it holds more than
//! `cpu_partial` slabs; an empty slab goes back to the page allocator once the node has
//! `min_partial` others.
//!
//! # Invariants
//! - `inuse` of a slab = objects given out + objects on the free list of the CPU that froze it.
//! - `objects = inuse + length of the slab's own free list`; [`link`] may lower both.
//! - A slab is on a node's list only if it is not frozen; on a CPU's partial list only if it is.
//! - A full slab that is not frozen is on no list.
//!
//! # Lock order
//! node `list_lock` -> (page allocator). The slab word is updated without a lock.
//!
//! Linux counterpart: `mm/slub.c` @ 6.1.
//!
//! # Differences from Linux
//! The free list is in address order at first (no `CONFIG_SLAB_FREELIST_RANDOM`); the transaction
//!  id of `this_cpu_cmpxchg` has no use, since a CPU belongs to whoever holds its handle.

mod alloc;
mod free;
mod layout;
mod link;
mod state;
mod validate;

use core::ops::{Deref, DerefMut};

use super::ops::{Mergeable, Ops, Plan, Request, Visit};
use crate::cache::args::CacheArgs;
use crate::cache::core::Core;
use crate::cache::cx::Cx;
use crate::cache::paths::OpCounts;
use crate::cache::table::Cache;
use crate::cpu::LockKind;
use crate::error::Error;
use crate::ids::{CacheId, NodeId, ObjPtr, Pfn};
use crate::page::PageList;
use crate::raw::local::{LocalU32, LocalU64};
use crate::raw::lock::{Guard, Lock};
use crate::raw::zeroed::{ZeroedSlice, zeroed_struct};

/// A node's `list_lock`: place 0 of `Ops::LOCKS`.
const LIST_LOCK: LockKind = LockKind::of_backend(0);
/// An atomic update of a slab's word: place 1.
const SLAB_WORD: LockKind = LockKind::of_backend(1);

zeroed_struct! {
    /// A CPU's part of a cache (`struct kmem_cache_cpu`), a cache line.
    #[derive(Debug)]
    #[repr(align(64))]
    struct Slot {
        /// First free object of the CPU's slab; 0: none.
        freelist: LocalU64,
        /// Page number of the CPU's slab; 0: none.
        slab: LocalU32,
        /// First slab of the partial list, linked by `Page::next`; 0: none.
        partial: LocalU32,
        /// Slabs on it.
        partial_slabs: LocalU32,
        /// Where the free pointer is in a free object: a copy, so that the fast paths look at no
        /// other line than this one, the page record and the object.
        link: LocalU32,
        ops: OpCounts,
    }
}

zeroed_struct! {
    /// A node's part of a cache (`struct kmem_cache_node`).
    #[derive(Debug)]
    struct Node {
        list: Lock<PageList>,
        /// Slabs on the list, readable without the lock (`nr_partial`).
        partial: LocalU32,
    }
}

impl Node {
    fn lock(&self, cx: &Cx<'_>) -> NodeList<'_> {
        cx.count_lock(LIST_LOCK);
        NodeList { list: self.list.lock(), partial: &self.partial }
    }
}

/// A node's list, locked; its length is published when the lock is given up.
struct NodeList<'a> {
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
    slots: ZeroedSlice<Slot>,
    /// By cache and node.
    nodes: ZeroedSlice<Node>,
}

impl Slub {
    #[inline(always)]
    fn slot(&self, cx: &Cx<'_>, id: CacheId) -> &Slot {
        &self.slots[cx.cell(id)]
    }

    fn node(&self, core: &Core, cache: &Cache, node: NodeId) -> &Node {
        &self.nodes[cache.id().index() * core.setup.nodes as usize + node.0 as usize]
    }

    /// Takes the `list_lock` of the node that a slab is on.
    fn lock_node<'a>(&'a self, cx: &Cx<'_>, cache: &Cache, slab: Pfn) -> NodeList<'a> {
        self.node(cx.core, cache, cx.core.zones.node_of(slab)).lock(cx)
    }
}

impl Ops for Slub {
    const LOCKS: &'static [&'static str] = &["list_lock", "slab_cmpxchg"];
    const MERGEABLE: Mergeable = Mergeable::BySize;

    fn new(core: &Core) -> Self {
        let caches = core.setup.caches_max as usize;
        Self {
            slots: ZeroedSlice::new(core.tallies.as_slice().len()),
            nodes: ZeroedSlice::new(caches * core.setup.nodes as usize),
        }
    }

    fn plan(core: &Core, args: &CacheArgs) -> Result<Plan, Error> {
        layout::plan(core, args)
    }

    fn create(&self, core: &Core, cache: &Cache, args: &CacheArgs) {
        layout::set_knobs(core, cache, args);
    }

    #[inline(always)]
    fn alloc(&self, cx: &Cx<'_>, cache: CacheId, request: Request) -> Option<ObjPtr> {
        let slot = self.slot(cx, cache);
        if let Some(obj) = ObjPtr::new(slot.freelist.get())
            && request.node().is_none_or(|node| node == cx.core.zones.node_of(obj.pfn()))
        {
            slot.freelist.set(if cx.hooks.checks() {
                self.next_checked(cx, cx.core.caches.get(cache), obj, 0, request.site())
            } else {
                cx.core.arena.load(obj.get() + u64::from(slot.link.get()))
            });
            slot.ops.allocs.add(1);
            return Some(obj);
        }
        self.alloc_slow(cx, cx.core.caches.get(cache), slot, request)
    }

    #[inline(always)]
    fn free(&self, cx: &Cx<'_>, cache: CacheId, obj: ObjPtr, head: Pfn) {
        let slot = self.slot(cx, cache);
        slot.ops.frees.add(1);
        if slot.slab.get() == head.0 {
            link::set(cx, obj.get() + u64::from(slot.link.get()), slot.freelist.get());
            slot.freelist.set(obj.get());
        } else {
            self.free_slow(cx, cx.core.caches.get(cache), obj, head);
        }
    }

    fn ops(&self, cell: usize) -> &OpCounts {
        &self.slots[cell].ops
    }

    fn holds(&self, cell: usize) -> bool {
        let slot = &self.slots[cell];
        slot.slab.get() != 0 || slot.partial.get() != 0
    }

    fn flush(&self, cx: &Cx<'_>, cache: &Cache) {
        self.flush_cpu(cx, cache);
    }

    fn shrink(&self, cx: &Cx<'_>, cache: &Cache) {
        self.shrink_nodes(cx, cache);
    }

    fn walk(&self, core: &Core, cache: &Cache, visit: Visit<'_>) {
        validate::walk(self, core, cache, visit);
    }
}
