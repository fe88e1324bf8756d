//! Reaping: objects and slabs that were idle for a while go back, little by little.
//!
//! Linux counterpart: `cache_reap`, `drain_array`, `drain_freelist` in `mm/slab.c` @ 6.1.

use super::state::{OnCpu, Slab};
use crate::cache::cx::Cx;

const SECOND_NS: u64 = 1_000_000_000;
/// Time between two reapings of a CPU's arrays (`REAPTIMEOUT_AC`).
const REAP_ARRAYS_NS: u64 = 2 * SECOND_NS;
/// Time between two reapings of what a node's CPUs share (`REAPTIMEOUT_NODE`).
const REAP_NODE_NS: u64 = 4 * SECOND_NS;

impl Slab {
    /// Reaps if it is time; the first reaping is a second after the clock was first seen.
    #[inline]
    pub(super) fn reap(&self, cx: &Cx<'_>, now_ns: u64) {
        let next = &self.next_reap[cx.cpu as usize];
        if next.get() == 0 {
            next.set(now_ns.saturating_add(SECOND_NS));
        } else if now_ns >= next.get() {
            next.set(now_ns.saturating_add(REAP_ARRAYS_NS));
            self.reap_caches(cx, now_ns);
        }
    }

    #[cold]
    fn reap_caches(&self, cx: &Cx<'_>, now_ns: u64) {
        for cache in cx.core.caches.slots().iter().filter(|cache| cache.alive()) {
            self.on(cx, cache).reap_cache(now_ns);
        }
    }
}

impl OnCpu<'_> {
    fn reap_cache(self, now_ns: u64) {
        let mut touched = self.array.touched.get();
        let count = spare(self.array.avail.get(), self.array.limit.get(), &mut touched);
        self.array.touched.set(touched);
        self.drain_array(count);
        let home = self.cx.node();
        let mut node = self.lock_node(home);
        if now_ns < node.next_reap {
            return;
        }
        node.next_reap = now_ns.saturating_add(REAP_NODE_NS);
        let (avail, limit) = (node.counts.shared_avail.get(), self.colours.shared.get());
        let shared = spare(avail, limit, &mut node.shared_touched);
        let used = core::mem::take(&mut node.free_touched) == 1;
        drop(node);
        self.drain_shared(home, shared);
        if !used {
            // A fifth of the objects that the node may keep, in slabs.
            self.drain_free(home, self.free_limit().div_ceil(5 * self.cache.objects.get()));
        }
    }
}

/// Returns how many objects to take from an array: none if it was used since the last time, else a
/// fifth of its limit, or half of its objects.
fn spare(avail: u32, limit: u32, touched: &mut u32) -> u32 {
    if core::mem::take(touched) == 1 {
        return 0;
    }
    let fifth = limit.div_ceil(5);
    if fifth > avail { avail.div_ceil(2) } else { fifth }
}
