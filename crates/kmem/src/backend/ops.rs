//! What a backend does: the interface between the slab front and the allocators.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Debug;

use crate::Gfp;
use crate::cache::KmallocConfig;
use crate::cache::args::{CacheArgs, Tunable};
use crate::cache::core::Core;
use crate::cache::cx::Cx;
use crate::cache::geometry::ObjectLayout;
use crate::cache::paths::OpCounts;
use crate::cache::table::CacheEntry;
use crate::error::Error;
use crate::ids::{CacheId, NodeId, ObjPtr, Order, Pfn, Site};
use crate::raw::arena::Arena;

/// Where an allocation should come from: flags, node, call site.
///
/// It has two words, so that it travels in registers. In memory it was written in parts and read
/// whole on every allocation, which stalls a processor for longer than the rest of the fast path
/// takes.
#[derive(Debug, Clone, Copy)]
pub struct Request {
    /// Flags.
    pub gfp: Gfp,
    /// Low half the call site; high half the requested node plus 1, or 0 for the CPU's own.
    place: u64,
}

impl Request {
    /// Describes an allocation from the CPU's own node.
    #[inline(always)]
    pub fn new(gfp: Gfp, site: Site) -> Self {
        Self { gfp, place: u64::from(site.0) }
    }

    /// Describes an allocation from `node`.
    #[inline(always)]
    pub fn on_node(gfp: Gfp, site: Site, node: NodeId) -> Self {
        Self { gfp, place: (u64::from(node.0) + 1) << 32 | u64::from(site.0) }
    }

    /// Returns the requested node; `None` stands for the CPU's own.
    #[inline(always)]
    pub fn node(self) -> Option<NodeId> {
        ((self.place >> 32) as u32).checked_sub(1).map(NodeId)
    }

    /// Returns the call site.
    #[inline(always)]
    pub fn site(self) -> Site {
        Site(self.place as u32)
    }
}

/// Which caches a backend lets share slabs (Linux: `find_mergeable`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mergeable {
    /// None, because it has no slabs of a cache.
    Never,
    /// Those whose size is a multiple of the requested alignment.
    BySize,
    /// Those that are also aligned at least as strictly as requested.
    ByAlignment,
}

/// Sizes and orders of a cache under a backend.
#[derive(Debug, Clone, Copy)]
pub struct CacheLayout {
    /// Layout of an object.
    pub layout: ObjectLayout,
    /// Usual order of a slab.
    pub order: Order,
    /// Least order that holds an object.
    pub order_min: Order,
    /// Objects in a slab of the usual order.
    pub objects: u32,
}

/// What a walk over a backend's lists comes upon.
#[derive(Debug)]
pub enum Held {
    /// A slab on a list of the cache.
    Slab(Pfn),
    /// Free objects of the cache.
    Free(u64),
    /// Bytes of a slab that hold the backend's own data, not an object or slack.
    Metadata(u64),
    /// A page that serves objects of any cache.
    Page(Pfn),
    /// Bytes that are held outside any cache.
    #[allow(missing_docs, reason = "as in the balance")]
    Bytes { held: u64, live: u64, free: u64, metadata: u64 },
    /// A fault that the walk found, in words.
    Wrong(String),
}

/// Names of counters, in groups.
pub(crate) type Names = &'static [&'static [&'static str]];

/// Receives what a walk comes upon.
pub(crate) type Visit<'a> = &'a mut dyn FnMut(Held);

/// The operations of a backend. Callers hold the CPU that `cx` names.
pub trait Ops: Debug + Send + Sync + Sized + 'static {
    /// Kinds of locks that it takes beside those of the page allocator, by name.
    const LOCKS: &'static [&'static str];

    /// Paths that it counts beside those of all backends, by name: what `backend_stats!` declares.
    const STATS: Names;

    /// Whether kmalloc is served from caches of fixed classes (otherwise by [`Self::carve`]).
    const KMALLOC_CACHES: bool = true;

    /// Whether a caller may use the padding behind an object of a cache.
    const PADDING_IS_USABLE: bool = true;

    /// What may be tuned of it.
    const TUNABLES: &'static [Tunable] = &[];

    /// Whether it takes a [`Geometry`](crate::Geometry) that another kernel reported.
    const TAKES_GEOMETRY: bool = false;

    /// Which of its caches may share slabs.
    const MERGEABLE: Mergeable;

    /// Removes from a kernel's kmalloc caches those that it does without.
    fn adjust_kmalloc(_config: &mut KmallocConfig) {}

    /// Changes the flags of a new cache as its kernel does.
    fn adjust_cache(_args: &mut CacheArgs) {}

    /// Makes the backend's state for a machine.
    fn new(core: &Core) -> Self;

    /// Computes the sizes of a cache.
    ///
    /// # Errors
    /// Returns [`Error::Cache`] if no slab can hold one object.
    fn plan(core: &Core, args: &CacheArgs) -> Result<CacheLayout, Error>;

    /// Prepares a new cache, whose numbers are in the table already.
    fn create(&self, core: &Core, cache: &CacheEntry, args: &CacheArgs);

    /// Whether it has fast paths apart from [`Self::alloc`] and [`Self::free`]. Otherwise those two are inlined, for they
    /// leave the CPU too often to be tried twice.
    const FAST: bool = false;

    /// What the fast paths of a CPU look at: its part of the backend's tables.
    type Row<'m>: Debug + Copy + Send;

    /// Returns what the fast paths of a CPU look at.
    fn row<'m>(&'m self, core: &'m Core, cpu: u32) -> Self::Row<'m>;

    /// Allocates an object that the CPU has at hand, of the cache with an index, and enters it; `None` if that takes
    /// more than a few instructions. It is called only where the CPU has no `Hooks`.
    #[inline(always)]
    fn alloc_fast(_row: &Self::Row<'_>, _cache: usize) -> Option<ObjPtr> {
        None
    }

    /// Frees an object of the machine's memory to what the CPU has at hand, and enters it; `false` if nothing was done.
    /// It is called only where the CPU has no `Hooks`.
    #[inline(always)]
    fn free_fast(_row: &Self::Row<'_>, _cache: usize, _obj: ObjPtr) -> bool {
        false
    }

    /// Allocates an object.
    fn alloc(&self, cx: &Cx<'_>, cache: CacheId, request: Request) -> Option<ObjPtr>;

    /// Frees an object, `head` being the head of its slab or page.
    fn free(&self, cx: &Cx<'_>, cache: CacheId, obj: ObjPtr, head: Pfn);

    /// Like [`Self::alloc`], once [`Self::alloc_fast`] found nothing.
    #[inline(always)]
    fn alloc_turn(&self, cx: &Cx<'_>, cache: CacheId, request: Request) -> Option<ObjPtr> {
        self.alloc(cx, cache, request)
    }

    /// Like [`Self::free`], once [`Self::free_fast`] found no room.
    #[inline(always)]
    fn free_turn(&self, cx: &Cx<'_>, cache: CacheId, obj: ObjPtr, head: Pfn) {
        self.free(cx, cache, obj, head);
    }

    /// Returns the operations counted at an index of CPUs times caches ([`Core::cpu_cache_index`]).
    fn ops(&self, index: usize) -> &OpCounts;

    /// Whether it runs on pages of 4 KiB only.
    const SMALL_PAGES_ONLY: bool = false;

    /// Returns the size below which [`Self::carve`] serves the sizes that have no kmalloc cache.
    fn carve_max(&self) -> u64 {
        0
    }

    /// Allocates `size` bytes (below [`Self::carve_max`]) and remembers the size, in a word in front or in a map.
    fn carve(&self, _cx: &Cx<'_>, _size: u64, _request: Request) -> Option<ObjPtr> {
        None
    }

    /// Frees what [`Self::carve`] gave.
    fn uncarve(&self, _cx: &Cx<'_>, _obj: ObjPtr) {}

    /// Returns the bytes behind such a block that reveal an overflow, without the padding that
    /// rounds it up.
    fn carved_red_bytes(&self, _core: &Core, _size: u64) -> u64 {
        0
    }

    /// Returns what can be used of a block that [`Self::carve`] gave; 0 if none can begin there.
    fn carved_room(&self, _core: &Core, _obj: ObjPtr) -> u64 {
        0
    }

    /// Returns what can be used of a block for which [`Self::carve`] is asked.
    fn room_for(&self, size: u64) -> u64 {
        size
    }

    /// Returns the size that [`Self::carve`] was asked for, or what can be used of the block.
    fn carved_size(&self, _core: &Core, _obj: ObjPtr) -> u64 {
        0
    }

    /// Restores the size in front of a block that [`Self::carve`] gave.
    fn set_carved_size(&self, _arena: &Arena, _obj: ObjPtr, _size: u64) {}

    /// Walks what the backend holds outside any cache.
    fn walk_shared(&self, _core: &Core, _visit: Visit<'_>) {}

    /// Returns whether a CPU holds a part of a cache, by its index of CPUs times caches.
    fn holds(&self, _cell: usize) -> bool {
        false
    }

    /// Moves what the CPU holds of a cache to the shared lists.
    fn flush(&self, cx: &Cx<'_>, cache: &CacheEntry);

    /// Gives empty slabs of a cache back to the page allocator.
    fn shrink(&self, cx: &Cx<'_>, cache: &CacheEntry);

    /// Frees an object that readers may still see; `false` if the backend has no place for such
    /// objects.
    fn free_rcu(&self, _cx: &Cx<'_>, _cache: CacheId, _obj: ObjPtr, _head: Pfn) -> bool {
        false
    }

    /// Makes objects that no reader can see any more fit for use.
    fn end_grace_periods(&self, _cx: &Cx<'_>) {}

    /// Returns whether objects wait for readers.
    fn waits(&self) -> bool {
        false
    }

    /// Lets time pass: `now_ns` on a clock that only rises.
    fn tick(&self, _cx: &Cx<'_>, _now_ns: u64) {}

    /// Returns `limit`, `batchcount` and `sharedfactor` of a cache, as slabinfo shows them.
    fn array_limits(&self, _cache: &CacheEntry) -> (u32, u32, u32) {
        (0, 0, 0)
    }

    /// Returns what a cache has under `/sys/kernel/slab` beside what all caches have.
    fn attributes(
        &self,
        _core: &Core,
        _cache: &CacheEntry,
        _args: &CacheArgs,
    ) -> Vec<(&'static str, u32)> {
        Vec::new()
    }

    /// Walks everything the backend holds of a cache.
    fn walk(&self, core: &Core, cache: &CacheEntry, visit: Visit<'_>);
}
