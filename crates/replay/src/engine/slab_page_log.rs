//! Keeps which slabs of a machine come and go, and when.
//!
//! # How it works
//! The machine logs the slabs that it makes and gives back; whoever takes these changes tells them here, with the row they
//! belong to. Slabs from before the first row are not kept, and neither is that they go.

use rustc_hash::{FxHashMap, FxHashSet};
use slablab_kmem::geometry::Arch;
use slablab_kmem::{Backend, CacheId, Machine, SlabChange};
use slablab_trace::{Event, NONE};

use crate::metrics::slab_pages::{SlabCache, SlabPage, SlabPages};

/// The slabs that came and went so far.
#[derive(Debug, Default)]
pub(crate) struct SlabPageLog {
    changes: Vec<SlabPage>,
    /// Caches in the order in which they got their first slabs, and their places
    caches: Vec<CacheId>,
    places: FxHashMap<CacheId, u32>,
    /// First pages of the slabs that are there
    alive: FxHashSet<u32>,
}

impl SlabPageLog {
    /// Notes what changed at a row.
    pub(crate) fn note(&mut self, changes: &[SlabChange], event: &Event) {
        let (time_ns, cpu) = (event.time_ns, event.cpu);
        for change in changes {
            match *change {
                SlabChange::Made(slab, id) => {
                    self.alive.insert(slab.0);
                    let cache = self.place(id);
                    let gfp = event.gfp;
                    self.changes.push(SlabPage { time_ns, slab: slab.0, cache, gfp, cpu });
                }
                SlabChange::Gone(slab) if self.alive.remove(&slab.0) => {
                    let (cache, gfp) = (NONE, 0);
                    self.changes.push(SlabPage { time_ns, slab: slab.0, cache, gfp, cpu });
                }
                SlabChange::Gone(_) => {}
            }
        }
    }

    fn place(&mut self, id: CacheId) -> u32 {
        *self.places.entry(id).or_insert_with(|| {
            self.caches.push(id);
            self.caches.len() as u32 - 1
        })
    }

    /// Returns what was kept, with the names and orders of the machine's caches.
    pub(crate) fn finish<B: Backend>(self, machine: &Machine<B>, arch: Arch) -> SlabPages {
        let cache = |id: &CacheId| {
            let Some(stats) = machine.cache_stats(*id) else { return SlabCache::default() };
            let order = arch.order_in_pages(stats.order).0;
            let least = arch.order_for_bytes(stats.slab_size.into()).unwrap_or(stats.order);
            let order_min = arch.order_in_pages(least).0.min(order);
            SlabCache { name: stats.name, order, order_min }
        };
        SlabPages { caches: self.caches.iter().map(cache).collect(), changes: self.changes }
    }
}
