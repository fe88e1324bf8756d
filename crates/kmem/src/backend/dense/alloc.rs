//! Allocation once the CPU's magazine is empty.

use super::magazine::OnCpu;
use super::stat;
use crate::Gfp;
use crate::backend::ops::Request;
use crate::backend::partial::link;
use crate::backend::partial::nodes::{NewSlab, Node};
use crate::backend::partial::word::State;
use crate::ids::{NodeId, ObjPtr, Pfn, Site};

impl OnCpu<'_> {
    /// Takes an object from a slab and, from the CPU's own node, as many as fill half of the magazine.
    #[inline(always)]
    pub(super) fn alloc_slow(self, request: Request) -> Option<ObjPtr> {
        // A magazine does not help an allocation that has to come from another node.
        if request.node().is_none_or(|node| node == self.cx.node()) {
            self.miss();
        }
        let obj = match self.take(request) {
            Some(obj) => obj,
            None => self.take_when_short(request)?,
        };
        self.tally.count(stat::ALLOC_SLOWPATH);
        self.magazine.ops.allocs.add(1);
        Some(obj)
    }

    /// Takes objects when memory is short: giving back the objects of this and other caches that only wait may
    /// make a slab empty.
    #[cold]
    #[inline(never)]
    fn take_when_short(self, request: Request) -> Option<ObjPtr> {
        self.dense.flush_all(self.cx);
        self.take(request)
    }

    /// Takes objects from slabs of the requested node, else from other nodes with slabs to spare, else from a new
    /// slab.
    #[inline(always)]
    fn take(self, request: Request) -> Option<ObjPtr> {
        let (setup, site) = (&self.cx.core.setup, request.site());
        let home = request.node().unwrap_or_else(|| self.cx.node());
        let node = self.node(home);
        if node.partial.get() > 0
            && let Some(obj) = self.take_partial(node, self.wanted(home), site)
        {
            return Some(obj);
        }
        if setup.nodes > 1
            && let Some(obj) = self.take_elsewhere(home, request)
        {
            return Some(obj);
        }
        self.take_new(request)
    }

    /// Takes an object of another node that has slabs to spare, unless only the requested node will do.
    #[cold]
    fn take_elsewhere(self, home: NodeId, request: Request) -> Option<ObjPtr> {
        if request.node().is_some() && request.gfp.has(Gfp::THISNODE) {
            return None;
        }
        let nodes = self.cx.core.setup.nodes;
        let others = (1..nodes).map(|i| self.node(NodeId((home.0 + i) % nodes)));
        let mut spare = others.filter(|node| node.partial.get() > node.min_partial.get());
        spare.find_map(|node| self.take_partial(node, 1, request.site()))
    }

    fn node(&self, node: NodeId) -> &Node {
        self.dense.nodes.get(self.cx.core, self.cache, node)
    }

    /// Returns how many objects to take from a node at once: one, or for the CPU's own node as many as fill half of the
    /// magazine.
    fn wanted(self, node: NodeId) -> u32 {
        (self.magazine.capacity.get() / 2).clamp(1, self.room(node) + 1)
    }

    /// Returns how many objects of a node the magazine has room for. It may be full where the CPU's own node stands in
    /// for another, which has no memory.
    fn room(self, node: NodeId) -> u32 {
        let (capacity, count) = (self.magazine.capacity.get(), self.magazine.count.get());
        if node == self.cx.node() { capacity.saturating_sub(count) } else { 0 }
    }

    /// Takes an object from the slabs on a node's list if there are any, and up to `wanted` in all.
    #[inline(never)]
    fn take_partial(self, node: &Node, wanted: u32, site: Site) -> Option<ObjPtr> {
        let mut list = node.lock_beyond(self.cx, 0)?;
        let (mut left, mut taken) = (wanted, None);
        while let Some(slab) = list.first().filter(|_| left > 0) {
            if !self.take_from(slab, &mut left, &mut taken, site) {
                list.remove(&self.cx.core.pages, slab);
            }
        }
        if taken.is_some() {
            self.tally.count(stat::ALLOC_FROM_PARTIAL);
        }
        taken
    }

    /// Returns how many objects to take of a new slab. No other CPU can use them yet, so they may fill the
    /// magazine.
    fn wanted_new(self, node: NodeId) -> u32 {
        match self.wanted(node) {
            1 => 1,
            _ => self.room(node) + 1,
        }
    }

    /// Takes an object of a new slab, and others into the magazine.
    #[inline(always)]
    fn take_new(self, request: Request) -> Option<ObjPtr> {
        self.dense.visit_at_slab(self.cx);
        let order = self.dense.next_order(self.cx, self.cache);
        let new = NewSlab::new(self.cx, self.cache, order, request)?;
        let node = self.cx.core.zones.node_of(new.pfn);
        let count = self.wanted_new(node).min(new.objects);
        let is_left = new.take(self.cx, self.cache, count);
        // The object pushed last is allocated first.
        new.objects(1..count).rev().for_each(|obj| self.push(obj));
        if is_left {
            let mut list = self.dense.nodes.get(self.cx.core, self.cache, node).lock(self.cx);
            list.push_front(&self.cx.core.pages, new.pfn);
        }
        new.objects(0..1).next()
    }

    /// Takes up to `left` objects of a slab whose node's list is locked. The first one that is taken at all becomes
    /// `taken`; the others go to the magazine, from which they come in the order of the slab's free list. Returns
    /// whether the slab still has free objects, and so belongs on the list.
    fn take_from(self, slab: Pfn, left: &mut u32, taken: &mut Option<ObjPtr>, site: Site) -> bool {
        let page = self.cx.core.pages.get(slab);
        let enter = |objects: u32, next: Option<ObjPtr>| {
            let old = State::load(page);
            old.with_inuse(old.inuse() + objects).with_free(slab, next).store(page);
        };
        let checks = self.cx.hooks.checks();
        let first = self.magazine.count.get();
        let (mut next, mut count, mut places) = (State::load(page).free(slab), 0, first);
        while let Some(obj) = next.filter(|_| *left > 0) {
            *left -= 1;
            next = ObjPtr::new(link::next(self.cx, self.cache, slab, obj, 0, site));
            match taken {
                None => *taken = Some(obj),
                Some(_) => {
                    self.objects.entry(places).set(obj.get());
                    places += 1;
                }
            }
            if checks {
                // Objects lost behind a damaged link are counted from the slab's word.
                enter(1, next);
            } else {
                count += 1;
            }
        }
        if count > 0 {
            enter(count, next);
        }
        self.magazine.count.set(places);
        self.objects.reverse(first, places);
        next.is_some()
    }
}
