//! Where the live objects of a few call sites lie, in the order of allocation; an address map draws them.
//!
//! # How it works
//! Only the sites of [`ReplayPlan::watched`](crate::Plan::watched) cost anything. The live objects are kept
//! by the event that made them; of the replay's snapshots, the one with most of them is kept.

use std::collections::HashMap;

/// A map does not tell more objects than this apart.
const OBJECTS_MAX: usize = 4096;

/// Follows the objects of the watched sites.
#[derive(Debug, Default)]
pub(crate) struct WatchedObjects {
    /// By place of the site in the tally; empty when nothing is watched
    watched: Vec<bool>,
    /// The event of the allocation and the address, by slot
    live: HashMap<usize, (u64, u64)>,
    fullest: Vec<u64>,
}

impl WatchedObjects {
    /// Watches `sites`, of `all` in the trace.
    pub(crate) fn new(sites: &[u32], all: usize) -> Self {
        let mut watched = Vec::new();
        if !sites.is_empty() {
            watched.resize(all, false);
            sites.iter().for_each(|site| watched[*site as usize] = true);
        }
        Self { watched, ..Self::default() }
    }

    /// Notes an allocation.
    #[inline]
    pub(crate) fn alloc(&mut self, slot: usize, site: usize, event: u64, address: u64) {
        if self.watched.get(site) == Some(&true) {
            self.live.insert(slot, (event, address));
        }
    }

    /// Notes the free of an object.
    #[inline]
    pub(crate) fn free(&mut self, slot: usize) {
        if !self.live.is_empty() {
            self.live.remove(&slot);
        }
    }

    /// Keeps the objects alive now if they are more than at any earlier snapshot.
    pub(crate) fn snapshot(&mut self) {
        if self.live.len() > self.fullest.len() && self.fullest.len() < OBJECTS_MAX {
            let mut live: Vec<_> = self.live.values().copied().collect();
            live.sort_unstable();
            self.fullest = live.into_iter().take(OBJECTS_MAX).map(|(_, address)| address).collect();
        }
    }

    /// Returns the addresses at the fullest snapshot, in the order of allocation.
    pub(crate) fn finish(mut self) -> Vec<u64> {
        self.snapshot();
        self.fullest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fullest_snapshot_is_kept_in_order_of_allocation() {
        let mut watch = WatchedObjects::new(&[1], 3);
        for (slot, site, event, address) in [(0, 1, 1, 500), (1, 0, 2, 100), (2, 1, 3, 300)] {
            watch.alloc(slot, site, event, address);
        }
        watch.snapshot();
        watch.free(0);
        watch.free(1);
        assert_eq!(watch.finish(), [500, 300]);
        let mut idle = WatchedObjects::new(&[], 3);
        idle.alloc(0, 0, 1, 500);
        assert_eq!(idle.finish(), [0; 0]);
    }
}
