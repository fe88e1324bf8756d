//! The cost of each cache: bytes of its slabs at chosen moments, locks and atomic operations.
//!
//! # How it works
//! Locks are counted by CPU; those that an operation adds belong to its cache. Few operations take any, so
//! only those pay for finding the cache.

use slablab_kmem::CacheId;

/// The cost of one cache.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct CacheCost {
    /// By moment: bytes of its slabs
    pub(crate) held_bytes: Vec<u64>,
    /// Locks and atomic operations
    pub(crate) locks: u64,
}

/// Costs by cache.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    /// By place of the cache; `None` where no cache was seen
    costs: Vec<Option<(CacheId, CacheCost)>>,
    /// Cost of large blocks, which belong to no cache
    large: CacheCost,
    moments: usize,
}

impl Ledger {
    /// Adds the locks of an operation.
    pub(crate) fn add_locks(&mut self, cache: Option<CacheId>, locks: u64) {
        let cost = match cache {
            Some(id) => self.cost(id),
            None => &mut self.large,
        };
        cost.locks += locks;
    }

    fn cost(&mut self, id: CacheId) -> &mut CacheCost {
        if id.index() >= self.costs.len() {
            self.costs.resize(id.index() + 1, None);
        }
        &mut self.costs[id.index()].get_or_insert_with(|| (id, CacheCost::default())).1
    }

    /// Notes what all caches hold now; `large_bytes` are in no slab.
    pub(crate) fn look(&mut self, caches: impl Iterator<Item = (CacheId, u64)>, large_bytes: u64) {
        let moments = self.moments;
        for (id, bytes) in caches {
            let held_bytes = &mut self.cost(id).held_bytes;
            // A cache that came later held nothing before.
            held_bytes.resize(moments, 0);
            held_bytes.push(bytes);
        }
        self.large.held_bytes.push(large_bytes);
        self.moments += 1;
    }

    /// Returns the costs, those of no cache first.
    pub(crate) fn finish(self) -> impl Iterator<Item = (Option<CacheId>, CacheCost)> {
        let moments = self.moments;
        let caches = self.costs.into_iter().flatten().map(|(id, cost)| (Some(id), cost));
        std::iter::once((None, self.large)).chain(caches).map(move |(id, mut cost)| {
            cost.held_bytes.resize(moments, 0);
            (id, cost)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_no_cache_has_moments_and_locks_too() {
        let mut ledger = Ledger::default();
        ledger.look([].into_iter(), 7);
        ledger.add_locks(None, 2);
        ledger.look([].into_iter(), 9);
        let costs: Vec<_> = ledger.finish().collect();
        assert_eq!(costs, [(None, CacheCost { held_bytes: vec![7, 9], locks: 2 })]);
    }
}
