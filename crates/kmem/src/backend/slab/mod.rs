//! SLAB: per-CPU arrays of free objects in front of slabs on three lists.
//!
//! # How it works
//! Each CPU has an [`Array`] of free objects, a stack: allocation pops, free pushes. An empty array
//! is refilled by a *batch* from the array that all CPUs of a node share, else from the node's
//! partial slabs, else free ones, else a new slab; a full one gives a batch back the same way. A
//! slab keeps the indexes of its free objects in an array of bytes, which lives in the slab's last
//! free object if it fits ([`layout::Mode`]), behind the objects, or in a kmalloc block. Slabs start at
//! different offsets (*colours*), so that like objects of different slabs fall on different cache
//! lines. Every two seconds of `tick` a CPU gives a fifth of an idle array back.
//!
//! # Invariants
//! - `active` of a slab = objects given out + objects in arrays; it is on the full list at
//!   `objects`, on the free list at 0, else on the partial list.
//! - The objects in a CPU's array and in a node's shared array are of that node.
//! - `free_objects` of a node = sum over its slabs of `objects - active`.
//!
//! # Lock order
//! node `list_lock` -> (page allocator: never under it). The shared array is under `list_lock`.
//!
//! Linux counterpart: `mm/slab.c` @ 6.1.
//!
//! # Differences from Linux
//! No alien caches (as with `noaliencache`): an object of another node goes to that node's lists at
//! once. The free list of a new slab is in address order (no `CONFIG_SLAB_FREELIST_RANDOM`).

mod alloc;
mod free;
mod layout;
mod node;
mod reap;
mod validate;

use super::ops::{Mergeable, Ops, Plan, Request, Visit};
use crate::cache::args::CacheArgs;
use crate::cache::core::Core;
use crate::cache::cx::Cx;
use crate::cache::paths::OpCounts;
use crate::cache::table::Cache;
use crate::cpu::LockKind;
use crate::error::Error;
use crate::ids::{CacheId, NodeId, ObjPtr, Pfn};
use crate::raw::local::{LocalU32, LocalU64};
use crate::raw::lock::{Guard, Lock};
use crate::raw::zeroed::{ZeroedSlice, zeroed_struct};
use layout::Colours;
use node::Node;

/// A node's `list_lock`: place 0 of `Ops::LOCKS`.
const LIST_LOCK: LockKind = LockKind::of_backend(0);
/// Objects that a per-CPU array can hold at most.
const LIMIT_MAX: u32 = 254;
/// Objects that a shared array can hold at most.
const SHARED_MAX: u32 = 1024;

zeroed_struct! {
    /// A CPU's array of a cache (`struct array_cache`); its entries are in a table of their own.
    #[derive(Debug)]
    struct Array {
        avail: LocalU32,
        /// 1 if used since the last reaping.
        touched: LocalU32,
        /// Objects it may hold: 0 until the CPU first uses the cache.
        limit: LocalU32,
        ops: OpCounts,
    }
}

/// The SLAB allocator.
#[derive(Debug)]
pub struct Slab {
    arrays: ZeroedSlice<Array>,
    /// [`LIMIT_MAX`] entries (rounded up to 256) an array.
    entries: ZeroedSlice<LocalU64>,
    /// By cache and node.
    nodes: ZeroedSlice<Lock<Node>>,
    /// [`SHARED_MAX`] entries a node of a cache.
    shared: ZeroedSlice<LocalU64>,
    colours: ZeroedSlice<Colours>,
    /// Time of each CPU's next reaping in ns; 0: the clock has not started.
    next_reap: ZeroedSlice<LocalU64>,
}

const ENTRIES: usize = (LIMIT_MAX as usize).next_power_of_two();

impl Slab {
    #[inline(always)]
    fn entry(&self, cell: usize, i: u32) -> &LocalU64 {
        &self.entries[cell * ENTRIES + i as usize]
    }

    fn shared_entry(&self, core: &Core, cache: &Cache, node: NodeId, i: u32) -> &LocalU64 {
        &self.shared[Self::node_index(core, cache, node) * SHARED_MAX as usize + i as usize]
    }

    fn node_index(core: &Core, cache: &Cache, node: NodeId) -> usize {
        cache.id().index() * core.setup.nodes as usize + node.0 as usize
    }

    fn lock_node(&self, cx: &Cx<'_>, cache: &Cache, node: NodeId) -> Guard<'_, Node> {
        cx.count_lock(LIST_LOCK);
        self.nodes[Self::node_index(cx.core, cache, node)].lock()
    }

    fn colours(&self, cache: &Cache) -> &Colours {
        &self.colours[cache.id().index()]
    }
}

impl Ops for Slab {
    const LOCKS: &'static [&'static str] = &["list_lock"];
    const MERGEABLE: Mergeable = Mergeable::ByAlignment;
    const KMALLOC_MIN: u32 = 32;

    fn new(core: &Core) -> Self {
        let cells = core.tallies.as_slice().len();
        let nodes = core.setup.caches_max as usize * core.setup.nodes as usize;
        Self {
            arrays: ZeroedSlice::new(cells),
            entries: ZeroedSlice::new(cells * ENTRIES),
            nodes: ZeroedSlice::new(nodes),
            shared: ZeroedSlice::new(nodes * SHARED_MAX as usize),
            colours: ZeroedSlice::new(core.setup.caches_max as usize),
            next_reap: ZeroedSlice::new(core.setup.cpus as usize),
        }
    }

    fn plan(core: &Core, args: &CacheArgs) -> Result<Plan, Error> {
        layout::plan(core, args)
    }

    fn create(&self, core: &Core, cache: &Cache, args: &CacheArgs) {
        layout::set_knobs(core, cache, args);
        layout::set_colours(core, self.colours(cache), cache, args);
        for cpu in 0..core.setup.cpus {
            self.arrays[core.cell(cpu, cache.id())].limit.set(0);
        }
    }

    #[inline(always)]
    fn alloc(&self, cx: &Cx<'_>, cache: CacheId, request: Request) -> Option<ObjPtr> {
        let cell = cx.cell(cache);
        let array = &self.arrays[cell];
        let avail = array.avail.get();
        if avail > 0 && request.node().is_none() {
            array.touched.set(1);
            array.avail.set(avail - 1);
            array.ops.allocs.add(1);
            return ObjPtr::new(self.entry(cell, avail - 1).get());
        }
        self.alloc_slow(cx, cx.core.caches.get(cache), request)
    }

    #[inline(always)]
    fn free(&self, cx: &Cx<'_>, cache: CacheId, obj: ObjPtr, head: Pfn) {
        let cell = cx.cell(cache);
        let array = &self.arrays[cell];
        array.ops.frees.add(1);
        let avail = array.avail.get();
        let local = cx.core.setup.nodes == 1 || cx.core.zones.node_of(head) == cx.node();
        if avail < array.limit.get() && local {
            self.entry(cell, avail).set(obj.get());
            array.avail.set(avail + 1);
        } else {
            self.free_slow(cx, cx.core.caches.get(cache), obj, head);
        }
    }

    fn ops(&self, cell: usize) -> &OpCounts {
        &self.arrays[cell].ops
    }

    fn holds(&self, cell: usize) -> bool {
        self.arrays[cell].avail.get() != 0
    }

    fn flush(&self, cx: &Cx<'_>, cache: &Cache) {
        self.drain_array(cx, cache, u32::MAX);
    }

    fn shrink(&self, cx: &Cx<'_>, cache: &Cache) {
        self.shrink_nodes(cx, cache);
    }

    fn tick(&self, cx: &Cx<'_>, now_ns: u64) {
        self.reap(cx, now_ns);
    }

    fn walk(&self, core: &Core, cache: &Cache, visit: Visit<'_>) {
        validate::walk(self, core, cache, visit);
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
