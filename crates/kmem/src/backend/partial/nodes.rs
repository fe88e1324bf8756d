//! The slabs of each node that have free objects, and how slabs come and go.
//!
//! Linux counterpart: `struct kmem_cache_node`, `allocate_slab`, `free_slab`, `__kmem_cache_do_shrink` @ 6.1.

use alloc::vec::Vec;
use core::ops::{Deref, DerefMut, Range};

use super::word::State;
use super::{LIST_LOCK, link};
use crate::backend::ops::Request;
use crate::cache::args::CacheArgs;
use crate::cache::core::Core;
use crate::cache::cx::Cx;
use crate::cache::geometry;
use crate::cache::table::CacheEntry;
use crate::ids::{NodeId, ObjPtr, Order, Pfn};
use crate::page::PageList;
use crate::raw::local::LocalU32;
use crate::raw::lock::{Guard, Lock};
use crate::raw::sync::Ordering::Relaxed;
use crate::raw::zeroed::{ZeroedSlice, zeroed_struct};

zeroed_struct! {
    /// A node's part of a cache (`struct kmem_cache_node`).
    #[derive(Debug)]
    pub(crate) struct Node {
        pub(crate) list: Lock<PageList>,
        /// Slabs on the list, readable without the lock (`nr_partial`).
        pub(crate) partial: LocalU32,
        /// Slabs that it keeps before it gives empty ones back.
        pub(crate) min_partial: LocalU32,
    }
}

impl Node {
    pub(crate) fn lock(&self, cx: &Cx<'_>) -> NodeList<'_> {
        cx.count_lock(LIST_LOCK);
        NodeList { list: self.list.lock(), node: self }
    }

    /// Locks the list if it has more than `spare` slabs. As in Linux the length is read without the lock, so a slab
    /// that arrives just now is left to the next caller.
    pub(crate) fn lock_beyond(&self, cx: &Cx<'_>, spare: u32) -> Option<NodeList<'_>> {
        (self.partial.get() > spare).then(|| self.lock(cx))
    }
}

/// A node's list, locked; its length is published when the lock is given up.
pub(crate) struct NodeList<'a> {
    list: Guard<'a, PageList>,
    node: &'a Node,
}

impl NodeList<'_> {
    /// Returns whether the node has enough slabs that one more empty slab is given back.
    pub(crate) fn has_enough(&self) -> bool {
        self.has_enough_with(0)
    }

    /// Returns whether that holds once `more` slabs have come.
    pub(crate) fn has_enough_with(&self, more: u32) -> bool {
        self.list.len() + more >= self.node.min_partial.get()
    }
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
        self.node.partial.set(self.list.len());
    }
}

/// The nodes of every cache.
#[derive(Debug)]
pub(crate) struct Nodes(ZeroedSlice<Node>);

impl Nodes {
    pub(crate) fn new(core: &Core) -> Self {
        Self(ZeroedSlice::new(core.setup.caches_max as usize * core.setup.nodes as usize))
    }

    pub(crate) fn get(&self, core: &Core, cache: &CacheEntry, node: NodeId) -> &Node {
        &self.0[cache.id().index() * core.setup.nodes as usize + node.0 as usize]
    }

    /// Returns the nodes of a cache.
    pub(crate) fn of(&self, core: &Core, cache: &CacheEntry) -> impl Iterator<Item = &Node> {
        (0..core.setup.nodes).map(move |node| self.get(core, cache, NodeId(node)))
    }

    /// Sets how many slabs each node of a new cache keeps: the number that the caller set, else
    /// `usual`.
    pub(crate) fn set_min_partial(
        &self,
        core: &Core,
        cache: &CacheEntry,
        args: &CacheArgs,
        usual: u32,
    ) {
        let slabs = core.tunable(args, "min_partial").unwrap_or(usual);
        self.of(core, cache).for_each(|node| node.min_partial.set(slabs));
    }

    /// Returns how many slabs are in the lists of all nodes, and the objects in use in them.
    pub(crate) fn partial(&self, core: &Core, cache: &CacheEntry) -> (u32, u32) {
        let (mut slabs, mut objects) = (0, 0);
        for node in self.of(core, cache) {
            for slab in node.list.lock().iter(&core.pages) {
                slabs += 1;
                objects += State::load(core.pages.get(slab)).inuse();
            }
        }
        (slabs, objects)
    }

    /// Returns how many slabs each node of a cache keeps.
    pub(crate) fn min_partial(&self, core: &Core, cache: &CacheEntry) -> u32 {
        self.get(core, cache, NodeId(0)).min_partial.get()
    }

    /// Takes the `list_lock` of the node that a slab is on.
    pub(crate) fn lock<'a>(&'a self, cx: &Cx<'_>, cache: &CacheEntry, slab: Pfn) -> NodeList<'a> {
        self.get(cx.core, cache, cx.core.zones.node_of(slab)).lock(cx)
    }

    /// Frees the empty slabs of every node and sorts the rest, fullest first.
    pub(crate) fn shrink(&self, cx: &Cx<'_>, cache: &CacheEntry) {
        let pages = &cx.core.pages;
        for node in self.of(cx.core, cache) {
            let mut empty = PageList::default();
            let mut list = node.lock(cx);
            let mut slabs = Vec::new();
            while let Some(slab) = list.pop_front(pages) {
                let state = State::load(pages.get(slab));
                match state.inuse() {
                    0 => empty.push_back(pages, slab),
                    inuse => slabs.push((state.objects() - inuse, slab)),
                }
            }
            slabs.sort_by_key(|&(free, _)| free);
            slabs.into_iter().for_each(|(_, slab)| list.push_back(pages, slab));
            drop(list);
            free_slabs(cx, cache, empty);
        }
    }
}

/// Returns how many empty slabs SLUB keeps on a node by default.
pub(crate) fn usual_min_partial(cache: &CacheEntry) -> u32 {
    geometry::min_partial(cache.size.get())
}

/// A slab of fresh pages that no other CPU knows yet. Linux: `alloc_from_new_slab` @ 7.0.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NewSlab {
    pub(crate) pfn: Pfn,
    pub(crate) objects: u32,
    /// Offset of the first object in the machine's memory.
    first: u64,
    /// Bytes from one object to the next.
    size: u64,
}

impl NewSlab {
    /// Takes pages of an order for a slab of `cache`, and runs the constructor on its objects. They are not linked.
    #[inline]
    pub(crate) fn new(
        cx: &Cx<'_>,
        cache: &CacheEntry,
        order: Order,
        request: Request,
    ) -> Option<Self> {
        let (pfn, order) = cx.slab_pages_of(cache, order, request.gfp, request.node())?;
        if cx.hooks.counts() && !cx.core.links.take(cache, pfn, order) {
            cx.free_slab_pages(cache, pfn);
            return None;
        }
        let (size, objects) = (u64::from(cache.size.get()), cx.core.slab_objects(cache, order));
        let first = pfn.offset() + u64::from(cache.left_pad.get());
        if cache.has_ctor.get() != 0 {
            cx.construct(cache, first, objects, size);
        }
        Some(Self { pfn, objects: objects as u32, first, size })
    }

    /// Returns the objects from one place to before another, by rising address.
    pub(crate) fn objects(
        self,
        places: Range<u32>,
    ) -> impl DoubleEndedIterator<Item = ObjPtr> + Clone {
        places.filter_map(move |i| ObjPtr::new(self.first + u64::from(i) * self.size))
    }

    /// Links the objects behind the first `taken` by rising address, and enters both in the slab's word. Returns whether
    /// any are free. Objects that are taken at once are not touched: their memory may be in another CPU's cache.
    #[inline]
    pub(crate) fn take(self, cx: &Cx<'_>, cache: &CacheEntry, taken: u32) -> bool {
        let free = self.link(cx, cache, taken);
        let state = State::full(self.objects).with_inuse(taken).with_free(self.pfn, free);
        state.store(cx.core.pages.get(self.pfn));
        free.is_some()
    }

    /// Links the objects from a place on; returns the first of them.
    #[inline]
    fn link(self, cx: &Cx<'_>, cache: &CacheEntry, from: u32) -> Option<ObjPtr> {
        let mut rest = self.objects(from..self.objects);
        let mut next = rest.next();
        let free = next;
        while let Some(obj) = next {
            next = rest.next();
            link::set(cx, cache, self.pfn, obj, next.map_or(0, ObjPtr::get));
        }
        free
    }
}

/// Makes a slab of fresh pages, with its objects linked by rising address. Returns the first of them and their number;
/// the caller enters both in the slab's word.
pub(crate) fn new_slab(
    cx: &Cx<'_>,
    cache: &CacheEntry,
    request: Request,
) -> Option<(Pfn, ObjPtr, u32)> {
    let new = NewSlab::new(cx, cache, cache.order(), request)?;
    new.link(cx, cache, 0).map(|first| (new.pfn, first, new.objects))
}

/// Gives a slab's pages back.
pub(crate) fn free_slab(cx: &Cx<'_>, cache: &CacheEntry, slab: Pfn) {
    leaves(cx, cache, slab);
    cx.free_slab_pages(cache, slab);
}

/// Gives the pages of several slabs back.
pub(crate) fn free_slabs(cx: &Cx<'_>, cache: &CacheEntry, slabs: PageList) {
    if slabs.len() > 0 {
        slabs.iter(&cx.core.pages).for_each(|slab| leaves(cx, cache, slab));
        cx.free_pages_of_slabs(cache, slabs);
    }
}

/// Enters that a slab is about to be given back: its links, and the objects that were lost behind damaged ones.
fn leaves(cx: &Cx<'_>, cache: &CacheEntry, slab: Pfn) {
    let page = cx.core.pages.get(slab);
    if cx.hooks.counts() {
        return cx.core.links.give(cache, slab, page.order());
    }
    let objects = cx.core.slab_objects(cache, page.order());
    let lost = objects - u64::from(State::load(page).objects());
    if lost > 0 {
        cx.core.totals[cache.id().index()].lost.fetch_sub(lost, Relaxed);
    }
}
