//! The objects that the recorded kernel had before the first row: they are made before it, and rows
//! free them.
//!
//! # How it works
//! The recording's first sample tells what a cache holds, and [`older_objects`] how its objects lie. Where the
//! machine has no room for all of them, the missing ones count as failed, and the model is not compared with the
//! recorded kernel.
//!
//! # Invariants
//! `warm.bytes` are the bytes that the engine gave to those that are alive.

use slablab_kmem::{Backend, CacheId, CpuId, Gfp, ObjPtr, Site};
use slablab_linux::is_kmalloc_name;
use slablab_trace::{Event, Kind, NONE, SampledCache};

use super::{KnownCache, NO_EVENT, Runner};
use crate::engine::caches;
use crate::engine::older_objects::{self, OlderCache};
use crate::metrics::fit::CacheFit;
use crate::plan::Start;

/// `MAX_OBJS_PER_PAGE` of `mm/slub.c` @ 6.1.
const SLAB_OBJECTS_MAX: u32 = 32_767;

impl<B: Backend> Runner<'_, B> {
    /// Makes the objects that the recorded kernel had before the first row, unless the plan starts cold.
    pub(crate) fn warm(&mut self) {
        let meta = self.meta;
        if self.plan.start == Start::Cold || meta.samples.is_empty() {
            return;
        }
        let mut bytes_left = self.plan.memory_bytes_for(meta);
        for (name, sampled) in &meta.samples.caches {
            let index = meta.caches.iter().position(|cache| cache.recorded_name() == name);
            let of_kmalloc = self.machine.cache_by_name(name).filter(|_| is_kmalloc_name(name));
            let (objects, slabs) = sampled.at(0);
            // A damaged trace may contain impossible numbers.
            let bytes = u64::from(slabs).saturating_mul(sampled.slab_bytes);
            let possible = sampled.slab_objects <= SLAB_OBJECTS_MAX && sampled.slab_bytes >= 4096;
            let fits = bytes <= bytes_left;
            if possible && !fits {
                self.failed += u64::from(objects);
                self.warm_failed = true;
            }
            let possible = possible && fits && objects > 0;
            let id = match of_kmalloc {
                None if possible && !is_kmalloc_name(name) => self.known_cache(name, index),
                of_kmalloc => of_kmalloc,
            };
            // Random copies keep a cache apart from the class that the recorded kernel merged it with.
            let is_its_own = |index: &usize| {
                let changes = &self.plan.changes;
                of_kmalloc.is_none()
                    || caches::merged_class(changes, &meta.caches[*index]).is_some()
            };
            if let (Some(id), Some(index)) = (id, index.filter(is_its_own)) {
                self.caches[index] = KnownCache::Made(id);
            }
            if let Some(id) = id.filter(|_| possible) {
                bytes_left -= bytes;
                let objects = self.fill(sampled, id);
                match index {
                    Some(index) => {
                        let (frees, times_ns) =
                            (meta.caches[index].older_frees, &meta.samples.times_ns);
                        self.warm.keep(index, OlderCache::new(objects, sampled, times_ns, frees));
                    }
                    None => self.warm.keep_others(objects),
                }
            }
            let of_rows = index.and_then(|index| meta.caches[index].frees_seen_share());
            let fit = CacheFit::of_sampled(name, sampled, of_rows, meta.kept_share());
            self.reality.add(id, index, fit);
        }
        self.warm.bytes = self.machine.gauges().live_bytes;
        // The requested bytes are not known any more.
        self.timeline.requested += self.warm.bytes;
        self.vectors_of_older();
        let gauges = self.machine.gauges();
        self.timeline.note(meta.time_first_ns, 0, &gauges);
        self.before = self.counts();
    }

    /// Returns the machine's cache that the recorded kernel calls `name`, made if need be.
    fn known_cache(&mut self, name: &str, index: Option<usize>) -> Option<CacheId> {
        let cache = index.map_or(NONE, |index| index as u32);
        let nobody = Event { cache, kind: Kind::KmemCacheAlloc, ..NO_EVENT };
        match index {
            Some(_) => self.cache(&nobody),
            None => {
                let known = self.meta.slabs_start.iter().find_map(|slabs| slabs.cache(name));
                self.recorded(known?, &nobody)
            }
        }
    }

    fn fill(&mut self, sampled: &SampledCache, id: CacheId) -> Vec<ObjPtr> {
        let cpu = |cpu| self.cpus.cpu(CpuId(cpu));
        let mut failed = 0;
        let alloc = |on| {
            let object = cpu(on).alloc(id, Gfp::KERNEL, Site(NONE));
            failed += u64::from(object.is_none());
            object
        };
        let free = |on, object| cpu(on).free(id, object, Site(NONE));
        let flush = |on| cpu(on).flush(id);
        let objects = older_objects::fill(sampled, self.machine.cpu_count(), alloc, free, flush);
        self.failed += failed;
        self.warm_failed |= failed > 0;
        objects
    }

    /// Frees one of the objects that are older than the trace, if there is one.
    pub(super) fn free_older(&mut self, kind: Kind, cache: u32, now_ns: u64, cpu: u16) {
        let made = self.caches.get(cache as usize).and_then(|made| made.made());
        let object = if kind == Kind::EstimatedFree {
            let slabs = made.and_then(|id| Some(self.machine.cache_stats(id)?.slabs));
            self.warm.take_unseen(cache, now_ns, slabs.unwrap_or(0))
        } else {
            self.warm.take(cache, now_ns)
        };
        let Some(object) = object else { return };
        let live_before = self.machine.gauges().live_bytes;
        let on = cpu;
        let cpu = self.cpus.cpu(CpuId(u32::from(cpu)));
        match made {
            Some(id) => cpu.free(id, object, Site(NONE)),
            None => cpu.kfree(object, Site(NONE)),
        }
        self.operations += 1;
        let freed = live_before.saturating_sub(self.machine.gauges().live_bytes);
        self.timeline.requested -= freed;
        self.warm.bytes -= freed;
        self.slabs_of_free(now_ns, on);
        let gauges = self.machine.gauges();
        self.timeline.note(now_ns, self.events, &gauges);
    }
}
