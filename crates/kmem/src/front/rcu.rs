//! Frees that wait until no reader can see the object any more.
//!
//! Linux counterpart: `kvfree_call_rcu` in `mm/slab_common.c` @ 7.3.

use super::cpu::Cpu;
use crate::backend::Backend;
use crate::cache::findings::FindingKind;
use crate::ids::{CacheId, ObjPtr, Pfn, Site};

impl<B: Backend> Cpu<'_, B> {
    /// Frees an object of kmalloc or a cache, of 8 bytes at least, once all read-side sections of now have ended
    /// (`kfree_rcu`). Where the backend has sheaves it goes into one that waits; elsewhere, and where frees are checked,
    /// the object itself waits, and its first 8 bytes are overwritten.
    pub fn kfree_rcu(&self, obj: ObjPtr, site: Site) {
        let (machine, cx) = (self.machine, &self.cx);
        let Some(page) = machine.core.pages.try_get(obj.pfn()) else {
            return self.finding(FindingKind::ForeignPointer, obj, site, "beyond the memory");
        };
        let (id, head) = (CacheId(page.cache.get()), Pfn(page.head.get()));
        let in_sheaf = page.is_slab() && !cx.hooks.checks();
        if in_sheaf && machine.backend.free_rcu(cx, id, obj, head) {
            if cx.hooks.exact() {
                cx.enter_free(id);
            }
        } else if obj != ObjPtr::ZERO_SIZE {
            machine.core.grace.objects.lock().defer(&machine.core.arena, obj);
        }
        self.end_grace_periods();
    }

    /// Frees what no reader can see any more.
    pub(super) fn end_grace_periods(&self) {
        let core = &self.machine.core;
        self.cx.end_grace_periods();
        self.machine.backend.end_grace_periods(&self.cx);
        let mut objects = core.grace.objects.lock().passed(&core.grace);
        while let Some(obj) = objects.pop(&core.arena) {
            self.kfree(obj, Site(0));
            core.grace.objects.lock().gone();
        }
    }
}
