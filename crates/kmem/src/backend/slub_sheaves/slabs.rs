//! The nodes' slabs, which no CPU owns: where sheaves get objects from and give them back to.
//!
//! # Invariants
//! `Page::prev` of a slab that is not full and on no list is [`OFF_LIST`]; it changes under the node's lock.
//!
//! Linux counterpart: `__refill_objects_node`, `___slab_alloc`, `__slab_free` in `mm/slub.c` @ 7.3.

use super::stat;
use crate::Gfp;
use crate::backend::ops::Request;
use crate::backend::partial::nodes::{self, NewSlab, Node, NodeList, Nodes};
use crate::backend::partial::word::State;
use crate::backend::partial::{FreeList, SLAB_WORD, link};
use crate::backend::sheaves::Slabs;
use crate::cache::cx::Cx;
use crate::cache::table::CacheEntry;
use crate::ids::{NodeId, ObjPtr, Pfn, Site};

/// Stands in place of the previous page of a slab that is on no list.
const OFF_LIST: u32 = u32::MAX;

/// The slabs of every cache.
#[derive(Debug)]
pub(super) struct NodeSlabs {
    pub(super) nodes: Nodes,
}

impl Slabs for NodeSlabs {
    const STATS_AT: usize = stat::SHEAVES_AT;

    fn may_fill(_gfp: Gfp) -> bool {
        true
    }

    fn take_one(&self, cx: &Cx<'_>, cache: &CacheEntry, request: Request) -> Option<ObjPtr> {
        let mut obj = None;
        if let Some(node) = request.node().filter(|_| !request.gfp.has(Gfp::THISNODE)) {
            // The first attempt takes only from that node, even if from a new slab; the second
            // takes from anywhere.
            let there = Request::on_node(request.gfp | Gfp::THISNODE, request.site(), node);
            obj = self.take_single(cx, cache, there);
        }
        let obj = obj.or_else(|| self.take_single(cx, cache, request))?;
        cx.tally(cache.id()).count(stat::ALLOC_SLOWPATH);
        Some(obj)
    }

    fn take_many(
        &self,
        cx: &Cx<'_>,
        cache: &CacheEntry,
        request: Request,
        count: u32,
        put: &mut dyn FnMut(ObjPtr),
    ) -> u32 {
        let (home, nodes) = (cx.node(), cx.core.setup.nodes);
        let mut taken = self.take_partial(cx, cache, home, count, put);
        for node in (1..nodes).map(|i| NodeId((home.0 + i) % nodes)) {
            let other = self.nodes.get(cx.core, cache, node);
            if taken < count && other.partial.get() > other.min_partial.get() {
                taken += self.take_partial(cx, cache, node, count - taken, put);
            }
        }
        let request = match nodes {
            1 => request,
            _ => Request::on_node(request.gfp, request.site(), home),
        };
        while taken < count {
            let Some(more) = self.take_new(cx, cache, request, count - taken, put) else { break };
            taken += more;
        }
        taken
    }

    fn give(&self, cx: &Cx<'_>, cache: &CacheEntry, list: FreeList) {
        let FreeList { slab, first, last, count } = list;
        let (page, pages) = (cx.core.pages.get(slab), &cx.core.pages);
        let tally = cx.tally(cache.id());
        let mut node: Option<NodeList<'_>> = None;
        let (old, new) = loop {
            let old = State::load(page);
            // A node lock taken for an attempt that failed may not be needed for the next.
            drop(node.take());
            link::set(cx, cache, slab, last, old.free(slab).map_or(0, ObjPtr::get));
            let new = old.with_inuse(old.inuse() - count).with_free(slab, Some(first));
            if new.inuse() == 0 || !old.has_free() {
                node = Some(self.nodes.lock(cx, cache, slab));
            }
            cx.count_lock(SLAB_WORD);
            if old.replace(page, new) {
                break (old, new);
            }
            tally.count(stat::CMPXCHG_DOUBLE_FAIL);
        };
        let Some(mut list) = node else { return };
        if old.has_free() && page.prev.get() == OFF_LIST {
            // A CPU is about to take all of its objects.
            return;
        }
        if new.inuse() == 0 && list.has_enough() {
            if old.has_free() {
                list.remove(pages, slab);
                tally.count(stat::FREE_REMOVE_PARTIAL);
            }
            drop(list);
            nodes::free_slab(cx, cache, slab);
        } else if !old.has_free() {
            list.push_back(pages, slab);
            tally.count(stat::FREE_ADD_PARTIAL);
        }
    }
}

impl NodeSlabs {
    /// Takes an object from the first slab of a node's list, else of another node's, else from a new
    /// slab (`___slab_alloc`).
    fn take_single(&self, cx: &Cx<'_>, cache: &CacheEntry, request: Request) -> Option<ObjPtr> {
        let home = request.node().unwrap_or_else(|| cx.node());
        let pinned = request.node().is_some() && request.gfp.has(Gfp::THISNODE);
        let others = if pinned { 0 } else { cx.core.setup.nodes };
        let own = self.take_first(cx, cache, self.nodes.get(cx.core, cache, home), request.site());
        let from_partial = own.or_else(|| {
            let mut others = (1..others).map(|i| NodeId((home.0 + i) % others));
            others.find_map(|node| {
                let node = self.nodes.get(cx.core, cache, node);
                let spare = node.partial.get() > node.min_partial.get();
                spare.then(|| self.take_first(cx, cache, node, request.site())).flatten()
            })
        });
        from_partial.or_else(|| {
            let mut single = None;
            self.take_new(cx, cache, request, 1, &mut |obj| single = Some(obj))?;
            single
        })
    }

    /// Takes an object from the first slab of a node's list (`get_from_partial_node`).
    fn take_first(
        &self,
        cx: &Cx<'_>,
        cache: &CacheEntry,
        node: &Node,
        site: Site,
    ) -> Option<ObjPtr> {
        let mut list = node.lock_beyond(cx, 0)?;
        let slab = list.first()?;
        let page = cx.core.pages.get(slab);
        let (old, new) = loop {
            let old = State::load(page);
            let rest = old.objects() - old.inuse() - 1;
            let new = old.with_inuse(old.inuse() + 1);
            let new = match link::follow(cx, cache, slab, old.free(slab)?, rest, site) {
                Some(next) => new.with_free(slab, ObjPtr::new(next)),
                None => new.with_free(slab, None).without_free(rest),
            };
            cx.count_lock(SLAB_WORD);
            if old.replace(page, new) {
                break (old, new);
            }
        };
        if !new.has_free() {
            list.remove(&cx.core.pages, slab);
        }
        old.free(slab)
    }

    /// Takes up to `count` objects from a node's partial slabs (`__refill_objects_node`).
    fn take_partial(
        &self,
        cx: &Cx<'_>,
        cache: &CacheEntry,
        node: NodeId,
        count: u32,
        put: &mut dyn FnMut(ObjPtr),
    ) -> u32 {
        let (node, pages) = (self.nodes.get(cx.core, cache, node), &cx.core.pages);
        let Some(mut at) = detach(cx, node, count) else { return 0 };
        let mut taken = 0;
        while at != 0 {
            let slab = Pfn(at);
            let page = pages.get(slab);
            at = page.next.get();
            if taken == count {
                // More objects were freed into the earlier slabs than were seen when they were taken, so this
                // one goes back.
                self.put_back(cx, cache, slab);
                continue;
            }
            let take_all = |old: State| old.with_inuse(old.objects()).with_free(slab, None);
            let (old, _) = State::update(cx, page, take_all);
            let free = old.objects() - old.inuse();
            let (mut next, mut seen) = (old.free(slab), 0);
            while let Some(obj) = next.filter(|_| taken < count) {
                (taken, seen) = (taken + 1, seen + 1);
                let rest = free - seen;
                let follower = link::follow(cx, cache, slab, obj, rest, Site(0));
                if follower.is_none() {
                    State::update(cx, page, |state| state.without(rest));
                }
                next = follower.and_then(ObjPtr::new);
                put(obj);
            }
            if let Some(first) = next {
                self.give_rest(cx, cache, slab, first, free - seen);
            }
        }
        taken
    }

    /// Puts a slab that was taken off its node's list back at the end.
    fn put_back(&self, cx: &Cx<'_>, cache: &CacheEntry, slab: Pfn) {
        self.nodes.lock(cx, cache, slab).push_back(&cx.core.pages, slab);
    }

    /// Gives back the rest of a slab's objects, which had all been taken. The slab is likely to be full still, and then
    /// the end of their list need not be found (`__slab_try_return_freelist`).
    fn give_rest(&self, cx: &Cx<'_>, cache: &CacheEntry, slab: Pfn, first: ObjPtr, count: u32) {
        let page = cx.core.pages.get(slab);
        let old = State::load(page);
        if !old.has_free() {
            let mut list = self.nodes.lock(cx, cache, slab);
            cx.count_lock(SLAB_WORD);
            let new = old.with_inuse(old.inuse() - count).with_free(slab, Some(first));
            if old.replace(page, new) {
                return list.push_back(&cx.core.pages, slab);
            }
        }
        let (mut last, mut length) = (first, 1);
        while length < count {
            let next = link::follow(cx, cache, slab, last, count - length, Site(0));
            let Some(next) = next.and_then(ObjPtr::new) else {
                State::update(cx, page, |state| state.without(count - length));
                break;
            };
            (last, length) = (next, length + 1);
        }
        self.give(cx, cache, FreeList { slab, first, last, count: length });
    }

    /// Takes up to `count` objects from a new slab; the rest goes to the head of its node's list
    /// (`alloc_from_new_slab`).
    fn take_new(
        &self,
        cx: &Cx<'_>,
        cache: &CacheEntry,
        request: Request,
        count: u32,
        put: &mut dyn FnMut(ObjPtr),
    ) -> Option<u32> {
        let new = NewSlab::new(cx, cache, cache.order(), request)?;
        let count = count.min(new.objects);
        let is_left = new.take(cx, cache, count);
        new.objects(0..count).for_each(put);
        if is_left {
            self.nodes.lock(cx, cache, new.pfn).push_front(&cx.core.pages, new.pfn);
        }
        Some(count)
    }
}

/// Takes slabs with about `count` free objects off a node's list; returns the first, which leads to the others by
/// `Page::next` (`get_partial_node_bulk`).
fn detach(cx: &Cx<'_>, node: &Node, count: u32) -> Option<u32> {
    if node.partial.get() == 0 {
        // As in Linux the length is read without the lock, so a slab that arrives just now is left
        // to the next caller.
        return None;
    }
    let pages = &cx.core.pages;
    let mut list = node.lock(cx);
    let (first, mut last, mut free) = (list.first()?, None::<Pfn>, 0);
    while free < count {
        let Some(slab) = list.pop_front(pages) else { break };
        let state = State::load(pages.get(slab));
        free += state.objects() - state.inuse();
        pages.get(slab).prev.set(OFF_LIST);
        pages.get(slab).next.set(0);
        if let Some(last) = last {
            pages.get(last).next.set(slab.0);
        }
        last = Some(slab);
    }
    Some(first.0)
}
