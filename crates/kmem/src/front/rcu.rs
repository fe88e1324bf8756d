//! Frees that wait until no reader can see the object any more.
//!
//! Linux counterpart: `kvfree_call_rcu` in `mm/slab_common.c` @ 7.3.

use super::cpu::Cpu;
use crate::backend::Backend;
use crate::cache::findings::FindingKind;
use crate::ids::{CacheId, ObjPtr, Pfn, Site};
use crate::page::{Kind, Page};

impl<B: Backend> Cpu<'_, B> {
    /// Frees what [`Self::kfree`] frees, of 8 bytes at least, once all current read-side sections have ended
    /// (`kfree_rcu`). Where the backend has sheaves, the object goes into one that waits. Elsewhere, and where frees are
    /// checked, the object itself waits, and its first 8 bytes are overwritten. Under SLOB and SLMB an object of a cache
    /// is a finding, and stays, where it can be recognised: not below [`CheckLevel::Cheap`](crate::CheckLevel) where sizes
    /// stand in front of blocks.
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
        } else if in_sheaf && obj.get().is_multiple_of(8) || self.may_wait(obj, page, site) {
            machine.core.grace.objects.lock().defer(&machine.core.arena, obj);
        }
        self.end_grace_periods();
    }

    /// Returns whether `kfree_rcu` takes an object, whose first bytes are then overwritten. If not, that is a finding,
    /// unless the pointer is to nothing.
    #[inline(never)]
    fn may_wait(&self, obj: ObjPtr, page: &Page, site: Site) -> bool {
        if obj == ObjPtr::ZERO_SIZE {
            return false;
        }
        if !obj.get().is_multiple_of(8) {
            self.finding(FindingKind::Unaligned, obj, site, "expected a multiple of 8");
            return false;
        }
        if self.cx.hooks.checks() && !self.checks().free_later(obj, site) {
            return false;
        }
        let is_ours = match page.kind() {
            Kind::Slab => true,
            Kind::Large => obj.get() == Pfn(page.head.get()).offset(),
            Kind::Carved => self.machine.usable_bytes(obj) > 0,
            _ => false,
        };
        if !is_ours {
            self.finding(FindingKind::ForeignPointer, obj, site, "not from kmalloc");
        }
        is_ours
    }

    /// Frees what no reader can see any more.
    pub(super) fn end_grace_periods(&self) {
        let core = &self.machine.core;
        self.cx.end_grace_periods();
        self.machine.backend.end_grace_periods(&self.cx);
        let mut objects = core.grace.objects.lock().passed(&core.grace);
        // The loop runs by their number: an object given twice, which only checks notice, leads
        // back to itself.
        for _ in 0..objects.len() {
            let Some(obj) = objects.pop(&core.arena) else { break };
            let checks = self.cx.hooks.checks().then(|| self.checks());
            let site = checks.map_or(Site(0), |checks| checks.has_waited(obj));
            self.kfree(obj, site);
            core.grace.objects.lock().gone();
        }
    }
}
