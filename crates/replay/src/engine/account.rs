//! A runner's account of the cost of each cache, kept if a caller wants it, and of allocations that
//! failed.

use slablab_kmem::{Backend, CacheId, Machine, ObjPtr};
use slablab_trace::Event;

use crate::engine::runner::Runner;
use crate::metrics::failure::{Failure, FreeBlocks};
use crate::metrics::ledger::{CacheCost, Ledger};

/// The cost of a cache.
#[derive(Debug, Clone)]
pub(crate) struct NamedCost {
    /// Its name; empty for blocks that are in no cache
    pub(crate) cache: String,
    /// Bytes from one object to the next
    pub(crate) slab_size: u32,
    pub(crate) cost: CacheCost,
}

impl<B: Backend> Runner<'_, B> {
    /// Keeps the account from now on, and stops the snapshots of where objects lie, because they are not a
    /// cost.
    pub(crate) fn keep_ledger(&mut self) {
        self.ledger = Some(Ledger::default());
        self.next_snapshot = u64::MAX;
    }

    /// Notes what the caches hold now.
    pub(crate) fn look(&mut self) {
        let Some(ledger) = &mut self.ledger else { return };
        let ids = self.machine.caches().into_iter();
        let caches = ids.map(|id| (id, self.machine.cache_slab_bytes(id)));
        ledger.look(caches, self.machine.gauges().large_bytes);
    }

    /// Returns what each cache cost.
    pub(crate) fn take_ledger(&mut self) -> Vec<NamedCost> {
        let ledger = self.ledger.take().unwrap_or_default();
        ledger
            .finish()
            .map(|(id, cost)| {
                let stats = id.and_then(|id| self.machine.cache_stats(id));
                let (cache, slab_size) =
                    stats.map_or_else(Default::default, |s| (s.name, s.slab_size));
                NamedCost { cache, slab_size, cost }
            })
            .collect()
    }

    /// Counts an allocation that found no memory, and notes the first.
    #[cold]
    pub(super) fn fail(&mut self, event: &Event, cache: u32) {
        self.failed += 1;
        let (meta, machine) = (self.meta, self.machine);
        let site = || meta.sites.get(event.site as usize).map(|site| site.name.clone());
        let cache = || meta.caches.get(cache as usize).map(|cache| cache.name.clone());
        self.first_failure.get_or_insert_with(|| Failure {
            event: self.events,
            time_ns: event.time_ns.saturating_sub(meta.time_first_ns),
            site: site().unwrap_or_else(|| "(call site not recorded)".to_owned()),
            cache: cache().unwrap_or_default(),
            requested_bytes: event.bytes_req,
            held_bytes: machine.gauges().held_bytes(),
            free: FreeBlocks(machine.free_blocks()),
        });
    }

    /// Returns whether the operations that take locks are counted.
    #[inline]
    pub(super) fn counts_locks(&self) -> bool {
        self.ledger.is_some() || self.plan.slow_paths
    }

    /// Returns the locks that a CPU took so far.
    #[cold]
    pub(super) fn locks(&self, cpu: u16) -> u64 {
        self.machine.locks_of_cpu(u32::from(cpu))
    }

    /// Returns the locks that a CPU took so far, and the cache, if known, of the object that it is about to free.
    #[cold]
    pub(super) fn before_free(
        &self,
        cpu: u16,
        object: ObjPtr,
        known: Option<CacheId>,
    ) -> (u64, Option<CacheId>) {
        let find = || self.machine.object_at(object).map(|(id, _, _)| id);
        let of = if self.ledger.is_some() { known.or_else(find) } else { None };
        (self.locks(cpu), of)
    }

    /// Charges the locks that a CPU took since there were `before` to the cache of an object, and counts the operation as
    /// a slow one of the call site whose account is in this place.
    #[cold]
    pub(super) fn charge(
        &mut self,
        cpu: u16,
        before: u64,
        place: usize,
        of: impl FnOnce(&Machine<B>) -> Option<CacheId>,
    ) {
        let locks = self.locks(cpu) - before;
        if locks == 0 {
            return;
        }
        self.sites.at(place).slow_operations += 1;
        if let Some(ledger) = &mut self.ledger {
            ledger.add_locks(of(self.machine), locks);
        }
    }
}
