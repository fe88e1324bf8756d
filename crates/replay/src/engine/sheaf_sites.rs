//! Allocations of the recorded allocator for itself: sheaves, since Linux 6.18. The simulated allocator makes its own, or
//! has none, so these are not replayed as if the workload had requested them. That holds for recordings from the boot on,
//! which have all of the recorded kernel's sheaves; others have a few, and are replayed as they are.
//!
//! Linux counterpart: `__alloc_empty_sheaf` and its callers, which it is inlined into (`mm/slub.c` @ 7.3).

use slablab_trace::{Event, Kind, Meta};

/// The functions that allocate sheaves.
const OF_SHEAVES: [&str; 11] = [
    "__alloc_empty_sheaf",
    "__kfree_rcu_sheaf",
    "__pcs_replace_empty_main",
    "__pcs_replace_full_main",
    "alloc_empty_sheaf",
    "alloc_full_sheaf",
    "bootstrap_cache_sheaves",
    "do_kmem_cache_create",
    "init_percpu_sheaves",
    "kmem_cache_prefill_sheaf",
    "refill_sheaf",
];

/// Size of `struct node_barn`, which is allocated where sheaves are, and which models do not have.
const BARN_BYTES: u64 = 48;

/// The call sites of sheaves.
#[derive(Debug, Default)]
pub(crate) struct SheafSites {
    /// By site of the trace; empty where there are no sheaves
    sites: Vec<bool>,
}

impl SheafSites {
    pub(crate) fn of(meta: &Meta) -> Self {
        let is_own = |name: &str| {
            let function = name.split(['+', '.']).next().unwrap_or(name);
            OF_SHEAVES.contains(&function)
        };
        if !meta.samples.is_from_boot() {
            return Self::default();
        }
        let sites: Vec<_> = meta.sites.iter().map(|site| is_own(&site.name)).collect();
        Self { sites: if sites.contains(&true) { sites } else { Vec::new() } }
    }

    /// Returns whether an allocation is that of a sheaf.
    #[inline]
    pub(crate) fn has(&self, event: &Event) -> bool {
        self.sites.get(event.site as usize).is_some_and(|own| *own)
            && event.kind == Kind::Kmalloc
            && event.bytes_req > BARN_BYTES
    }
}

#[cfg(test)]
mod tests {
    use slablab_trace::{NONE, Site};

    use crate::engine::runner::NO_EVENT;

    use super::*;

    #[test]
    fn sheaves_are_the_recorded_allocators_own_and_barns_are_not() {
        let site = |name: &str| Site { name: name.into(), ..Site::default() };
        let sites =
            ["do_kmem_cache_create+0x2b9", "do_fork+0x1", "alloc_empty_sheaf.constprop.0+0x8"];
        let mut meta = Meta { sites: sites.map(site).into(), ..Meta::default() };
        assert!(SheafSites::of(&meta).sites.is_empty(), "not recorded from the boot on");
        meta.samples.times_ns = vec![0];
        let own = SheafSites::of(&meta);
        let has = |site, bytes_req, kind| own.has(&Event { site, bytes_req, kind, ..NO_EVENT });
        assert!(has(0, 512, Kind::Kmalloc) && has(2, 64, Kind::Kmalloc));
        assert!(!has(0, 48, Kind::Kmalloc) && !has(0, 512, Kind::KmemCacheAlloc));
        assert!(!has(1, 512, Kind::Kmalloc) && !has(NONE, 512, Kind::Kmalloc));
        meta.sites = vec![site("do_fork+0x1")];
        assert!(SheafSites::of(&meta).sites.is_empty());
    }
}
