//! Frees once `main` is full, and how sheaves are emptied and given back.

use alloc::vec::Vec;

use super::alloc::NewSheaf;
use super::barn::Refusal;
use super::sheaf::Sheaf;
use super::slabs::Slabs;
use super::stat;
use super::state::{CpuSheaves, Sheaves, count, count_one};
use crate::Gfp;
use crate::backend::own_blocks;
use crate::backend::partial::{FreeList, link};
use crate::cache::cx::Cx;
use crate::cache::table::CacheEntry;
use crate::ids::{CacheId, NodeId, ObjPtr};

/// Objects of `main` that are flushed at once (`PCS_BATCH_MAX`).
const FLUSH_BATCH: u32 = 32;
/// Objects of other slabs that end the search for more of one slab.
const LOOK_AHEAD: u32 = 3;

impl Sheaves {
    /// Puts an object of the CPU's node into its sheaves; `false` if they have no room and get none (`free_to_pcs`).
    #[inline]
    pub(in crate::backend) fn put<S: Slabs>(
        &self,
        slabs: &S,
        cx: &Cx<'_>,
        cache: &CacheEntry,
        obj: ObjPtr,
    ) -> bool {
        let cpu = self.cpu(cx, cache);
        if cpu.is_full() && !self.replace_full(slabs, cx, cache) {
            return false;
        }
        cpu.push(cx.core.arena.words(), obj)
    }

    /// Replaces a full `main` by a sheaf with room (`__pcs_replace_full_main`).
    fn replace_full<S: Slabs>(&self, slabs: &S, cx: &Cx<'_>, cache: &CacheEntry) -> bool {
        let cpu = self.cpu(cx, cache);
        if !self.open(slabs, cx, cache, NewSheaf::Allowed) {
            return false;
        }
        if !cpu.is_full() {
            return true;
        }
        let refused = match (self.trade_full::<S>(cx, cpu, cache.id()), cpu.spare()) {
            (Ok(()), _) => return true,
            (Err(_), None) => match self.barn(cx.core, cache.id(), cx.node()).get_empty(cx) {
                Some(empty) => {
                    self.install_empty(slabs, cx, cache, empty);
                    return true;
                }
                None => None,
            },
            (Err(Refusal::TooManyFull), Some(spare)) => {
                count_one::<S>(cx, cache, stat::BARN_PUT_FAIL);
                cpu.set_spare(None);
                self.flush_sheaf(slabs, cx, cache, spare);
                self.install_empty(slabs, cx, cache, spare);
                return true;
            }
            (Err(refusal), Some(_)) => Some(refusal),
        };
        if let Some(empty) = self.make(slabs, cx, cache, Gfp::NOWARN, NewSheaf::Allowed) {
            self.install_empty(slabs, cx, cache, empty);
        } else {
            if refused.is_some() {
                count_one::<S>(cx, cache, stat::BARN_PUT_FAIL);
            }
            self.flush_main(slabs, cx, cache);
        }
        !cpu.is_full()
    }

    /// Replaces a full `main` by the spare sheaf, or by an empty one of the barn where the spare is full too. A CPU does
    /// this once in as many frees as a sheaf holds.
    #[inline(always)]
    pub(in crate::backend) fn trade_full<S: Slabs>(
        &self,
        cx: &Cx<'_>,
        cpu: &CpuSheaves,
        id: CacheId,
    ) -> Result<(), Refusal> {
        let (arena, capacity) = (&cx.core.arena, cpu.capacity());
        let (Some(main), Some(spare)) = (cpu.main_if_any(), cpu.spare()) else {
            return Err(Refusal::NoEmpty);
        };
        main.set_size(arena, capacity);
        let size = spare.size(arena);
        if size < capacity {
            cpu.set_spare(Some(main));
            cpu.set_main_of(spare, size, capacity);
            return Ok(());
        }
        let empty = self.barn(cx.core, id, cx.node()).replace_full(cx, main)?;
        debug_assert_eq!(empty.size(arena), 0, "a barn's empty sheaf has objects");
        cx.tally(id).count(stat::BARN_PUT.after(S::STATS_AT));
        cpu.set_main_of(empty, 0, capacity);
        Ok(())
    }

    /// Makes an empty sheaf `main`, and the full one that was there the spare; or finds another
    /// place for either (`__pcs_install_empty_sheaf`).
    fn install_empty<S: Slabs>(&self, slabs: &S, cx: &Cx<'_>, cache: &CacheEntry, empty: Sheaf) {
        let (cpu, arena) = (self.cpu(cx, cache), &cx.core.arena);
        let barn = self.barn(cx.core, cache.id(), cx.node());
        match cpu.spare() {
            None => {
                cpu.set_spare(Some(cpu.main(arena)));
                cpu.set_main(arena, empty, cpu.capacity());
            }
            // The sheaf itself may have come from this very cache, so everything may have changed
            // meanwhile.
            Some(_) if !cpu.is_full() => barn.put_empty(cx, empty),
            Some(spare) if spare.size(arena) < cpu.capacity() => {
                cpu.swap(arena, spare);
                barn.put_empty(cx, empty);
            }
            Some(_) => {
                let main = cpu.main(arena);
                cpu.set_main(arena, empty, cpu.capacity());
                self.put_full_or_flush(slabs, cx, cache, main);
            }
        }
    }

    /// Gives all objects of `main` back to their slabs, a batch at a time (`sheaf_flush_main`).
    fn flush_main<S: Slabs>(&self, slabs: &S, cx: &Cx<'_>, cache: &CacheEntry) {
        let cpu = self.cpu(cx, cache);
        let Some(main) = cpu.main_if_any() else { return };
        while cpu.size() > 0 {
            let batch = cpu.size().min(FLUSH_BATCH);
            cpu.drop_last(batch);
            self.flush_range(slabs, cx, cache, main, cpu.size(), batch);
        }
    }

    /// Gives all objects of a sheaf that no CPU works with back to their slabs (`sheaf_flush_unused`).
    pub(super) fn flush_sheaf<S: Slabs>(
        &self,
        slabs: &S,
        cx: &Cx<'_>,
        cache: &CacheEntry,
        sheaf: Sheaf,
    ) {
        let size = sheaf.size(&cx.core.arena);
        self.flush_range(slabs, cx, cache, sheaf, 0, size);
        sheaf.set_size(&cx.core.arena, 0);
    }

    /// Gives `count` objects of a sheaf back; objects of a slab that stand near each other go at
    /// once (`build_detached_freelist`).
    fn flush_range<S: Slabs>(
        &self,
        slabs: &S,
        cx: &Cx<'_>,
        cache: &CacheEntry,
        sheaf: Sheaf,
        from: u32,
        objects: u32,
    ) {
        let arena = &cx.core.arena;
        let slab_of = |obj: ObjPtr| cx.core.pages.head(obj.pfn());
        let mut end = from + objects;
        while end > from {
            end -= 1;
            let last = sheaf.object(arena, end);
            let mut list = FreeList { slab: slab_of(last), first: last, last, count: 1 };
            link::set(cx, cache, list.slab, last, 0);
            let (mut at, mut others) = (end, 0);
            while at > from && others < LOOK_AHEAD {
                at -= 1;
                let obj = sheaf.object(arena, at);
                if slab_of(obj) != list.slab {
                    others += 1;
                    continue;
                }
                link::set(cx, cache, list.slab, obj, list.first.get());
                (list.first, list.count) = (obj, list.count + 1);
                end -= 1;
                // The object that stands at the end now is of another slab, and moves to this
                // place.
                sheaf.set_object(arena, at, sheaf.object(arena, end));
            }
            slabs.give(cx, cache, list);
        }
        count::<S>(cx, cache, stat::SHEAF_FLUSH, objects);
    }

    /// Frees an empty sheaf (`free_empty_sheaf`), straight to its slab. The CPU's sheaves of kmalloc's caches are not
    /// touched, since they may be about to be flushed.
    pub(super) fn unmake<S: Slabs>(
        &self,
        slabs: &S,
        cx: &Cx<'_>,
        cache: &CacheEntry,
        sheaf: Sheaf,
    ) {
        let block = sheaf.block();
        let slab = cx.core.pages.head(block.pfn());
        let id = own_blocks::give(cx, slab);
        let of = cx.core.caches.get(id);
        self.cpu(cx, of).ops.frees.add(1);
        slabs.give_one(cx, of, block, slab);
        count_one::<S>(cx, cache, stat::SHEAF_FREE);
    }

    /// Gives everything that the CPU holds of a cache back to slabs, the sheaves too
    /// (`pcs_flush_all`).
    pub(in crate::backend) fn flush<S: Slabs>(&self, slabs: &S, cx: &Cx<'_>, cache: &CacheEntry) {
        let cpu = self.cpu(cx, cache);
        if let Some(spare) = cpu.set_spare(None) {
            self.flush_sheaf(slabs, cx, cache, spare);
            self.unmake(slabs, cx, cache, spare);
        }
        self.flush_rcu(cx, cache);
        self.flush_main(slabs, cx, cache);
        if let Some(main) = cpu.take_main() {
            self.unmake(slabs, cx, cache, main);
        }
    }

    /// Gives everything in the barns of a cache back to slabs, the sheaves too (`barn_shrink`).
    pub(in crate::backend) fn shrink<S: Slabs>(&self, slabs: &S, cx: &Cx<'_>, cache: &CacheEntry) {
        let arena = &cx.core.arena;
        let unused = core::mem::take(&mut *self.cache(cache.id()).mains.lock()).list;
        let mut lists = Vec::from([unused]);
        for node in (0..cx.core.setup.nodes).map(NodeId) {
            let all = self.barn(cx.core, cache.id(), node).clear(cx);
            lists.extend([all.full, all.empty]);
        }
        for mut list in lists {
            while let Some(sheaf) = list.pop(arena).map(Sheaf::of) {
                self.flush_sheaf(slabs, cx, cache, sheaf);
                self.unmake(slabs, cx, cache, sheaf);
            }
        }
    }
}
