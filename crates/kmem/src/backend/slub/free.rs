//! Frees to slabs that are not the CPU's, and everything that gives slabs back.

use super::stat;
use super::state::{CpuSlab, Slub};
use crate::backend::partial::nodes::{self, NodeList};
use crate::backend::partial::word::State;
use crate::backend::partial::{FreeList, SLAB_WORD, link};
use crate::cache::cx::Cx;
use crate::cache::table::CacheEntry;
use crate::ids::{ObjPtr, Pfn, Site};
use crate::page::PageList;

impl Slub {
    /// Puts a list of objects on the CPU's if they are of its slab, else on their slab's own
    /// (`do_slab_free`); returns which.
    pub(in crate::backend) fn free_list(
        &self,
        cx: &Cx<'_>,
        cache: &CacheEntry,
        list: FreeList,
    ) -> bool {
        let cpu_slab = self.cpu_slab(cx, cache.id());
        let local = cpu_slab.slab.get() == list.slab.0;
        if local {
            link::set(cx, cache, list.slab, list.last, cpu_slab.freelist.get());
            cpu_slab.freelist.set(list.first.get());
        } else {
            self.free_slow(cx, cache, list);
        }
        local
    }

    /// Pushes objects on their slab's own list (`__slab_free`).
    #[cold]
    #[inline(never)]
    pub(super) fn free_slow(&self, cx: &Cx<'_>, cache: &CacheEntry, list: FreeList) {
        let FreeList { slab, first, last, count } = list;
        let tally = cx.tally(cache.id());
        tally.count(stat::FREE_SLOWPATH);
        let page = cx.core.pages.get(slab);
        let cpu_partial = self.cpu_partial_slabs(cache).get() > 0;
        let mut node: Option<NodeList<'_>> = None;
        let (old, new) = loop {
            let old = State::load(page);
            // A node lock taken for an attempt that failed may not be needed for the next.
            drop(node.take());
            link::set(cx, cache, slab, last, old.free(slab).map_or(0, ObjPtr::get));
            let mut new = old.with_inuse(old.inuse() - count).with_free(slab, Some(first));
            if (new.inuse() == 0 || !old.has_free()) && !old.frozen() {
                if cpu_partial && !old.has_free() {
                    new = new.freeze();
                } else {
                    node = Some(self.nodes.lock(cx, cache, slab));
                }
            }
            cx.count_lock(SLAB_WORD);
            if old.replace(page, new) {
                break (old, new);
            }
            tally.count(stat::CMPXCHG_DOUBLE_FAIL);
        };
        let Some(mut list) = node else {
            if old.frozen() {
                tally.count(stat::FREE_FROZEN);
            } else if new.frozen() {
                tally.count(stat::CPU_PARTIAL_FREE);
                self.put_partial(cx, cache, slab);
            }
            return;
        };
        let pages = &cx.core.pages;
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

    /// Puts a frozen slab on the CPU's partial list, draining that first if it is full.
    fn put_partial(&self, cx: &Cx<'_>, cache: &CacheEntry, slab: Pfn) {
        let cpu_slab = self.cpu_slab(cx, cache.id());
        if cpu_slab.partial_slabs.get() >= self.cpu_partial_slabs(cache).get() {
            self.drain_partial(cx, cache, cpu_slab);
            cx.tally(cache.id()).count(stat::CPU_PARTIAL_DRAIN);
        }
        self.push_partial(cx, cpu_slab, slab);
    }

    /// Thaws the CPU's partial slabs. They go to the node's list, or back to the page allocator
    /// when they are empty and the node has enough (`__unfreeze_partials`).
    pub(super) fn drain_partial(&self, cx: &Cx<'_>, cache: &CacheEntry, cpu_slab: &CpuSlab) {
        let pages = &cx.core.pages;
        let tally = cx.tally(cache.id());
        let mut empty = PageList::default();
        let mut at = cpu_slab.partial.get();
        cpu_slab.partial.set(0);
        cpu_slab.partial_slabs.set(0);
        let mut held: Option<(crate::NodeId, NodeList<'_>)> = None;
        while at != 0 {
            let slab = Pfn(at);
            let page = pages.get(slab);
            at = page.next.get();
            let on = cx.core.zones.node_of(slab);
            if held.as_ref().is_none_or(|(node, _)| *node != on) {
                drop(held.take());
                held = Some((on, self.nodes.lock(cx, cache, slab)));
            }
            let Some((_, list)) = &mut held else { unreachable!("taken just above") };
            let (_, new) = State::update(cx, page, State::thaw);
            if new.inuse() == 0 && list.has_enough() {
                empty.push_back(pages, slab);
            } else {
                list.push_back(pages, slab);
                tally.count(stat::FREE_ADD_PARTIAL);
            }
        }
        drop(held);
        while let Some(slab) = empty.pop_front(pages) {
            tally.count(stat::DEACTIVATE_EMPTY);
            nodes::free_slab(cx, cache, slab);
        }
    }

    /// Gives up the CPU's slab: its free list returns to the slab (`deactivate_slab`).
    pub(super) fn deactivate(&self, cx: &Cx<'_>, cache: &CacheEntry, cpu_slab: &CpuSlab) {
        let slab = Pfn(cpu_slab.slab.get());
        let first = ObjPtr::new(cpu_slab.freelist.get());
        cpu_slab.slab.set(0);
        cpu_slab.freelist.set(0);
        let (core, tally) = (cx.core, cx.tally(cache.id()));
        let (mut count, mut last) = (0, None);
        let mut at = first;
        while let Some(obj) = at {
            last = at;
            at = ObjPtr::new(link::next(cx, cache, slab, obj, u64::from(count), Site(0)));
            count += 1;
        }
        let page = core.pages.get(slab);
        let remote = State::load(page).has_free();
        if remote {
            tally.count(stat::DEACTIVATE_REMOTE_FREES);
        }
        let mut list = self.nodes.lock(cx, cache, slab);
        let (_, new) = State::update(cx, page, |old| {
            let new = old.with_inuse(old.inuse() - count).thaw();
            let Some(last) = last else { return new };
            link::set(cx, cache, slab, last, old.free(slab).map_or(0, ObjPtr::get));
            new.with_free(slab, first)
        });
        if new.inuse() == 0 && list.has_enough() {
            drop(list);
            tally.count(stat::DEACTIVATE_EMPTY);
            nodes::free_slab(cx, cache, slab);
        } else if new.has_free() && remote {
            list.push_back(&core.pages, slab);
            tally.count(stat::DEACTIVATE_TO_TAIL);
        } else if new.has_free() {
            list.push_front(&core.pages, slab);
            tally.count(stat::DEACTIVATE_TO_HEAD);
        } else {
            tally.count(stat::DEACTIVATE_FULL);
        }
    }

    /// Gives up everything that a CPU holds of a cache.
    pub(super) fn flush_cpu(&self, cx: &Cx<'_>, cache: &CacheEntry) {
        let cpu_slab = self.cpu_slab(cx, cache.id());
        if cpu_slab.slab.get() != 0 {
            cx.tally(cache.id()).count(stat::CPUSLAB_FLUSH);
            self.deactivate(cx, cache, cpu_slab);
        }
        if cpu_slab.partial.get() != 0 {
            self.drain_partial(cx, cache, cpu_slab);
        }
    }
}
