//! Allocation once `main` is empty, and how sheaves are made and filled.

use super::sheaf::Sheaf;
use super::slabs::Slabs;
use super::stat;
use super::state::{CpuSheaves, Sheaves, count, count_one};
use crate::Gfp;
use crate::backend::ops::Request;
use crate::backend::own_blocks;
use crate::cache::cx::Cx;
use crate::cache::table::CacheEntry;
use crate::ids::{CacheId, ObjPtr, Site};

/// Flags that say what the object has to be like, not how the memory may be obtained (`OBJCGS_CLEAR_MASK`,
/// and the node).
const NOT_FOR_SHEAVES: Gfp = Gfp(Gfp::DMA.0
    | Gfp::RECLAIMABLE.0
    | Gfp::ACCOUNT.0
    | Gfp::NOFAIL.0
    | Gfp::THISNODE.0
    | Gfp::ZERO.0);

/// Whether an operation may allocate a sheaf. Code that allocates one for a kmalloc cache may not
/// (`SLAB_ALLOC_NO_RECURSE`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::backend) enum NewSheaf {
    Allowed,
    Forbidden,
}

/// What stands in the way of an object from a CPU's sheaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::backend) enum Missed {
    /// They are empty and stay so.
    Empty,
    /// It would be of another node than the requested one.
    Node,
}

impl Sheaves {
    /// Takes an object from the CPU's sheaves, which are filled if they have to be (`alloc_from_pcs`).
    #[inline]
    pub(in crate::backend) fn take<S: Slabs>(
        &self,
        slabs: &S,
        cx: &Cx<'_>,
        cache: &CacheEntry,
        request: Request,
        new: NewSheaf,
    ) -> Result<ObjPtr, Missed> {
        if request.node().is_some_and(|node| node != cx.node()) {
            return Err(Missed::Node);
        }
        let (cpu, arena) = (self.cpu(cx, cache), &cx.core.arena);
        if cpu.size() == 0 && !self.replace_empty(slabs, cx, cache, request, new) {
            return Err(Missed::Empty);
        }
        let last = cpu.last(arena).expect("sheaves hold objects");
        if request.node().is_some_and(|node| node != cx.core.zones.node_of(last.pfn())) {
            return Err(Missed::Node);
        }
        cpu.drop_last(1);
        Ok(last)
    }

    /// Replaces an empty `main` by a sheaf with objects (`__pcs_replace_empty_main`).
    fn replace_empty<S: Slabs>(
        &self,
        slabs: &S,
        cx: &Cx<'_>,
        cache: &CacheEntry,
        request: Request,
        new: NewSheaf,
    ) -> bool {
        let cpu = self.cpu(cx, cache);
        if !self.open(slabs, cx, cache, new) {
            return false;
        }
        if self.trade_empty::<S>(cx, cpu, cache.id()) {
            return true;
        }
        count_one::<S>(cx, cache, stat::BARN_GET_FAIL);
        self.fill_new_main(slabs, cx, cache, request, new)
    }

    /// Replaces an empty `main` by the spare sheaf or one of the barn; `false` if neither has objects. A CPU does this once
    /// in as many allocations as a sheaf holds.
    #[inline(always)]
    pub(in crate::backend) fn trade_empty<S: Slabs>(
        &self,
        cx: &Cx<'_>,
        cpu: &CpuSheaves,
        id: CacheId,
    ) -> bool {
        let (arena, capacity) = (&cx.core.arena, cpu.capacity());
        let Some(main) = cpu.main_if_any() else { return false };
        main.set_size(arena, 0);
        if let Some(spare) = cpu.spare() {
            let size = spare.size(arena);
            if size > 0 {
                cpu.set_spare(Some(main));
                cpu.set_main_of(spare, size, capacity);
                return true;
            }
        }
        let full = self.barn(cx.core, id, cx.node()).replace_empty(cx, main);
        let Some(full) = full else { return false };
        cx.tally(id).count(stat::BARN_GET.after(S::STATS_AT));
        cpu.set_main(arena, full, capacity);
        true
    }

    /// Fills a sheaf from slabs and makes it `main`, because neither the CPU nor the barn has
    /// objects.
    #[inline(never)]
    fn fill_new_main<S: Slabs>(
        &self,
        slabs: &S,
        cx: &Cx<'_>,
        cache: &CacheEntry,
        request: Request,
        new: NewSheaf,
    ) -> bool {
        let (cpu, arena) = (self.cpu(cx, cache), &cx.core.arena);
        let barn = self.barn(cx.core, cache.id(), cx.node());
        if !S::may_fill(request.gfp) {
            return false;
        }
        let empty = cpu.set_spare(None).or_else(|| barn.get_empty(cx));
        let Some(sheaf) = empty.or_else(|| self.make(slabs, cx, cache, request.gfp, new)) else {
            return false;
        };
        if !self.fill(slabs, cx, cache, request, sheaf) {
            self.flush_sheaf(slabs, cx, cache, sheaf);
            self.unmake(slabs, cx, cache, sheaf);
            return false;
        }
        // The sheaf itself may have come from this very cache, so everything may have changed
        // meanwhile.
        if cpu.size() == 0 {
            let main = cpu.main(arena);
            match cpu.spare() {
                None => _ = cpu.set_spare(Some(main)),
                Some(_) => barn.put_empty(cx, main),
            }
            cpu.set_main(arena, sheaf, cpu.capacity());
        } else if let Some(spare) = cpu.spare() {
            if spare.size(arena) == 0 {
                barn.put_empty(cx, spare);
                cpu.set_spare(Some(sheaf));
            } else {
                self.put_full_or_flush(slabs, cx, cache, sheaf);
            }
        } else {
            cpu.set_spare(Some(sheaf));
        }
        true
    }

    /// Gives the CPU a `main` sheaf if it has none; returns whether it has one then. The first CPU to use a cache
    /// makes the sheaves of all CPUs (`init_percpu_sheaves`).
    #[inline(always)]
    pub(super) fn open<S: Slabs>(
        &self,
        slabs: &S,
        cx: &Cx<'_>,
        cache: &CacheEntry,
        new: NewSheaf,
    ) -> bool {
        self.cpu(cx, cache).has_main() || self.open_first(slabs, cx, cache, new)
    }

    #[cold]
    #[inline(never)]
    fn open_first<S: Slabs>(
        &self,
        slabs: &S,
        cx: &Cx<'_>,
        cache: &CacheEntry,
        new: NewSheaf,
    ) -> bool {
        let cpu = self.cpu(cx, cache);
        let capacity = self.capacity(cache.id());
        if capacity == 0 {
            return false;
        }
        let arena = &cx.core.arena;
        let mains = &self.cache(cache.id()).mains;
        let (mine, first) = {
            let mut mains = mains.lock();
            let mine = mains.list.pop(arena).map(Sheaf::of);
            (mine, core::mem::replace(&mut mains.made, 1) == 0)
        };
        let Some(mine) = mine.or_else(|| self.make(slabs, cx, cache, Gfp::KERNEL, new)) else {
            if first {
                mains.lock().made = 0;
            }
            return false;
        };
        for _ in 1..if first { cx.core.setup.cpus } else { 1 } {
            let Some(sheaf) = self.make(slabs, cx, cache, Gfp::KERNEL, new) else { break };
            mains.lock().list.push(arena, sheaf.block());
        }
        if !cpu.has_main() {
            cpu.set_main(arena, mine, capacity);
        } else {
            self.unmake(slabs, cx, cache, mine);
        }
        true
    }

    /// Allocates an empty sheaf (`alloc_empty_sheaf`).
    pub(super) fn make<S: Slabs>(
        &self,
        slabs: &S,
        cx: &Cx<'_>,
        cache: &CacheEntry,
        gfp: Gfp,
        new: NewSheaf,
    ) -> Option<Sheaf> {
        if new == NewSheaf::Forbidden {
            return None;
        }
        let bytes = Sheaf::bytes(self.capacity(cache.id()));
        let kmalloc = &cx.core.kmalloc;
        let from = cx.core.caches.get(kmalloc.cache(bytes, Gfp::NONE, Site(0))?);
        let new = if kmalloc.has(cache.id()) { NewSheaf::Forbidden } else { NewSheaf::Allowed };
        let request = Request::new(gfp.without(NOT_FOR_SHEAVES), Site(0));
        let cpu = self.cpu(cx, from);
        let block = self.take(slabs, cx, from, request, new).ok();
        let block = block.or_else(|| slabs.take_one(cx, from, request))?;
        cpu.ops.allocs.add(1);
        own_blocks::take(cx, from.id(), block);
        count_one::<S>(cx, cache, stat::SHEAF_ALLOC);
        Some(Sheaf::make(&cx.core.arena, block, cache.id()))
    }

    /// Fills a sheaf up; `false` if memory is out before it is full (`refill_sheaf`).
    fn fill<S: Slabs>(
        &self,
        slabs: &S,
        cx: &Cx<'_>,
        cache: &CacheEntry,
        request: Request,
        sheaf: Sheaf,
    ) -> bool {
        let (arena, mut size) = (&cx.core.arena, sheaf.size(&cx.core.arena));
        let wanted = self.capacity(cache.id()) - size;
        let taken = slabs.take_many(cx, cache, request, wanted, &mut |obj| {
            sheaf.set_object(arena, size, obj);
            size += 1;
        });
        sheaf.set_size(arena, size);
        count::<S>(cx, cache, stat::SHEAF_REFILL, taken);
        taken == wanted
    }

    /// Gives a full sheaf to the barn, or what it holds to the slabs.
    pub(super) fn put_full_or_flush<S: Slabs>(
        &self,
        slabs: &S,
        cx: &Cx<'_>,
        cache: &CacheEntry,
        sheaf: Sheaf,
    ) {
        if self.barn(cx.core, cache.id(), cx.node()).put_full(cx, sheaf) {
            count_one::<S>(cx, cache, stat::BARN_PUT);
        } else {
            self.flush_sheaf(slabs, cx, cache, sheaf);
            self.unmake(slabs, cx, cache, sheaf);
        }
    }
}
