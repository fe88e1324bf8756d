//! The slabs of a machine that have objects in them, with the trace's numbers of these.

use std::collections::BTreeMap;

use slablab_kmem::{Backend, CacheId};

use super::Runner;

/// A slab with at least one object in it.
#[derive(Debug)]
pub(crate) struct Occupied {
    /// Its cache
    pub(crate) cache: CacheId,
    /// Slots of the trace's objects in it
    pub(crate) slots: Vec<usize>,
    /// How many of its objects are older than the trace
    pub(crate) older: u32,
}

impl<B: Backend> Runner<'_, B> {
    /// Keeps the addresses of all objects that are older than the trace, for [`Runner::occupied`].
    pub(crate) fn keep_older(&mut self) {
        self.warm.keeps_others = true;
    }

    /// Returns the slabs that have objects in them, in the order of their addresses. What lies in no slab, as large blocks of
    /// kmalloc do, is not among them.
    pub(crate) fn occupied(&self) -> Vec<Occupied> {
        let mut slabs = BTreeMap::new();
        let empty = |cache| Occupied { cache, slots: Vec::new(), older: 0 };
        for (slot, live) in self.objects.entries() {
            let Some((cache, pfn, _)) = live.address.and_then(|at| self.machine.object_at(at))
            else {
                continue;
            };
            slabs.entry(pfn).or_insert_with(|| empty(cache)).slots.push(slot);
        }
        for (cache, pfn, _) in self.warm.alive().filter_map(|at| self.machine.object_at(at)) {
            slabs.entry(pfn).or_insert_with(|| empty(cache)).older += 1;
        }
        slabs.into_values().collect()
    }
}
