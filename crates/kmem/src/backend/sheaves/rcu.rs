//! Objects that readers may still see: `rcu_free` collects them, and they are used again after a grace
//! period.
//!
//! Linux counterpart: `__kfree_rcu_sheaf`, `rcu_free_sheaf` in `mm/slub.c` @ 7.3.

use super::alloc::NewSheaf;
use super::sheaf::{NO_BARN, Sheaf};
use super::slabs::Slabs;
use super::stat;
use super::state::{Sheaves, count_one};
use crate::Gfp;
use crate::cache::cx::Cx;
use crate::cache::table::CacheEntry;
use crate::ids::{NodeId, ObjPtr};

impl Sheaves {
    /// Puts an object into the CPU's `rcu_free`; `false` if no such sheaf can be had.
    pub(in crate::backend) fn put_rcu<S: Slabs>(
        &self,
        slabs: &S,
        cx: &Cx<'_>,
        cache: &CacheEntry,
        obj: ObjPtr,
    ) -> bool {
        let (cpu, arena) = (self.cpu(cx, cache), &cx.core.arena);
        let Some(sheaf) = self.rcu_sheaf(slabs, cx, cache) else {
            count_one::<S>(cx, cache, stat::FREE_RCU_SHEAF_FAIL);
            return false;
        };
        let size = sheaf.size(arena);
        sheaf.set_object(arena, size, obj);
        sheaf.set_size(arena, size + 1);
        if size + 1 == self.capacity(cache.id()) {
            cpu.rcu_free.set(0);
            self.defer(cx, sheaf, cx.node());
        }
        count_one::<S>(cx, cache, stat::FREE_RCU_SHEAF);
        true
    }

    /// Returns the CPU's `rcu_free`, which it gets if it has none.
    fn rcu_sheaf<S: Slabs>(&self, slabs: &S, cx: &Cx<'_>, cache: &CacheEntry) -> Option<Sheaf> {
        let (cpu, arena) = (self.cpu(cx, cache), &cx.core.arena);
        if let Some(sheaf) = Sheaf::at(cpu.rcu_free.get()) {
            return Some(sheaf);
        }
        if self.capacity(cache.id()) == 0 {
            return None;
        }
        let spare = cpu.spare().filter(|spare| spare.size(arena) == 0);
        let sheaf = if let Some(spare) = spare {
            cpu.set_spare(None);
            spare
        } else if let Some(empty) = self.barn(cx.core, cache.id(), cx.node()).get_empty(cx) {
            empty
        } else {
            self.make(slabs, cx, cache, Gfp::NOWARN, NewSheaf::Allowed)?
        };
        cpu.rcu_free.set(sheaf.offset());
        Some(sheaf)
    }

    /// Lets a sheaf wait for readers; then it goes to the barn of `node`.
    fn defer(&self, cx: &Cx<'_>, sheaf: Sheaf, node: NodeId) {
        sheaf.set_node(&cx.core.arena, node);
        self.waiting.lock().defer(&cx.core.arena, sheaf.block());
    }

    /// Lets the objects in a CPU's `rcu_free` wait; then they go back to slabs.
    pub(super) fn flush_rcu(&self, cx: &Cx<'_>, cache: &CacheEntry) {
        let cpu = self.cpu(cx, cache);
        if let Some(sheaf) = Sheaf::at(cpu.rcu_free.get()) {
            cpu.rcu_free.set(0);
            self.defer(cx, sheaf, NO_BARN);
        }
    }

    /// Brings the sheaves that no reader can look into any more to the barns, or their objects to slabs.
    pub(in crate::backend) fn end_grace_periods<S: Slabs>(&self, slabs: &S, cx: &Cx<'_>) {
        let arena = &cx.core.arena;
        let mut done = self.waiting.lock().passed(&cx.core.grace);
        while let Some(sheaf) = done.pop(arena).map(Sheaf::of) {
            self.take_back(slabs, cx, sheaf);
            self.waiting.lock().gone();
        }
    }

    /// Brings a sheaf that has waited to its barn, or its objects to slabs (`rcu_free_sheaf`).
    fn take_back<S: Slabs>(&self, slabs: &S, cx: &Cx<'_>, sheaf: Sheaf) {
        let arena = &cx.core.arena;
        let cache = cx.core.caches.get(sheaf.cache(arena));
        let node = sheaf.node(arena);
        sheaf.set_size(arena, sheaf.size(arena));
        let barn = (node != NO_BARN).then(|| self.barn(cx.core, cache.id(), node));
        if barn.is_some_and(|barn| barn.put_full(cx, sheaf)) {
            return count_one::<S>(cx, cache, stat::BARN_PUT);
        }
        count_one::<S>(cx, cache, stat::BARN_PUT_FAIL);
        self.flush_sheaf(slabs, cx, cache, sheaf);
        if !barn.is_some_and(|barn| barn.put_empty_if_few(cx, sheaf)) {
            self.unmake(slabs, cx, cache, sheaf);
        }
    }

    /// Returns whether any sheaf waits for readers.
    pub(in crate::backend) fn wait(&self) -> bool {
        !self.waiting.lock().is_empty()
    }
}
