//! How many objects were free in the slabs that CPUs kept for themselves when a recording began: slabinfo counts all of
//! them as in use.
//!
//! How it works: a CPU takes objects from its slab until that has no more, then from one slab of its partial list after the
//! other, and only then from others. So those that it kept are the first ones from which it takes objects that
//! were free before the first event. An object was free then if the first event of its address is an allocation. (That half
//! of them are free kept 35 slabs of `bio-184` where the kernel had 20: all were, and slabs that look as if they had living
//! objects are never given back.)
//!
//! Invariants: memory is bounded for each cache by [`ADDRESSES_MAX`]; a cache is done with when every CPU has used up what
//! it kept. Caches with sheaves are left out: their CPUs take objects from those.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{RawEvent, SampledCache, Samples};

/// Of a cache of which more addresses were seen no more is found out.
const ADDRESSES_MAX: usize = 1 << 16;

/// A CPU keeps fewer slabs: `cpu_partial` is 120 objects at most, unless somebody has set it.
const SLABS_MAX: usize = 1 << 12;

/// The slabs that CPUs kept, of all caches that were sampled.
#[derive(Debug, Default)]
pub(super) struct CpuSlabs {
    /// By name, until the first event
    unseen: FxHashMap<String, OfCache>,
    /// By what an event's cache is known by
    caches: Vec<Option<(String, OfCache)>>,
    /// Addresses of objects of kmalloc's that were there before: their frees do not tell their cache
    older_kmallocs: FxHashSet<u64>,
}

/// The slabs of one cache.
#[derive(Debug, Default)]
struct OfCache {
    slab_bytes: u64,
    slab_objects: u32,
    /// By CPU: how many slabs it kept
    kept: Vec<usize>,
    /// Free objects of the first slabs that each CPU took objects from, in that order
    free: Vec<Vec<u32>>,
    /// CPUs that took an object from one more
    done: Vec<bool>,
    addresses: FxHashSet<u64>,
    /// By the number of a slab: the CPU that was the first to take an object from it, and its place in `free`
    slabs: FxHashMap<u64, (usize, usize)>,
}

impl CpuSlabs {
    pub(super) fn new(samples: &Samples) -> CpuSlabs {
        let sampled = samples.caches.iter();
        let keeping = sampled.filter(|(_, cache)| cache.cpu_slabs > 0 && cache.sheaf_capacity == 0);
        let unseen = keeping.map(|(name, cache)| (name.clone(), OfCache::new(cache))).collect();
        CpuSlabs { unseen, ..CpuSlabs::default() }
    }

    /// Tells whether the cache of an event has yet to be named.
    pub(super) fn is_new(&self, origin: u32) -> bool {
        self.caches.len() <= origin as usize
    }

    /// Names the cache of events that are known by `origin`.
    pub(super) fn name(&mut self, origin: u32, name: &str) {
        self.caches.resize_with(self.caches.len().max(origin as usize + 1), || None);
        self.caches[origin as usize] = self.unseen.remove_entry(name);
    }

    /// Looks at the free of an object of kmalloc's that is older than the recording.
    pub(super) fn note_older_kfree(&mut self, ptr: u64) {
        self.older_kmallocs.insert(ptr);
    }

    /// Looks at an event that tells its cache, in the order of the recording.
    pub(super) fn note(&mut self, origin: u32, event: &RawEvent) {
        if let Some(Some((_, cache))) = self.caches.get_mut(origin as usize) {
            cache.note(event, &self.older_kmallocs);
        }
    }

    /// Says in the samples what was found out.
    pub(super) fn tell(&mut self, samples: &mut Samples) {
        for (name, cache) in std::mem::take(&mut self.caches).into_iter().flatten() {
            if let Some(sampled) = samples.caches.get_mut(&name) {
                sampled.cpu_free_objects = cache.free();
            }
        }
    }
}

impl OfCache {
    fn new(sampled: &SampledCache) -> OfCache {
        let cpus = sampled.cpu_partial_slabs.len().max(sampled.cpu_slabs_current() as usize);
        let partial = |cpu| sampled.cpu_partial_slabs.get(cpu).copied().unwrap_or(0) as usize;
        OfCache {
            slab_bytes: sampled.slab_bytes.max(1),
            slab_objects: sampled.slab_objects,
            kept: (0..cpus).map(|cpu| partial(cpu) + 1).collect(),
            free: vec![Vec::new(); cpus],
            done: vec![false; cpus],
            ..OfCache::default()
        }
    }

    fn note(&mut self, event: &RawEvent, older: &FxHashSet<u64>) {
        let is_over = self.addresses.len() == ADDRESSES_MAX || self.done.iter().all(|done| *done);
        if is_over || !self.addresses.insert(event.ptr) {
            return;
        }
        let cpu = event.cpu as usize;
        if !event.kind.is_alloc() || older.contains(&event.ptr) || cpu >= self.kept.len() {
            return;
        }
        let slab = event.ptr / self.slab_bytes;
        let next = self.free[cpu].len();
        let (of, place) = *self.slabs.entry(slab).or_insert((cpu, next));
        if let Some(free) = self.free[of].get_mut(place) {
            *free += 1;
        } else if next < self.kept[of] && of == cpu {
            self.free[of].push(1);
        } else {
            self.done[of] = true;
        }
        if self.done.iter().all(|done| *done) {
            (self.addresses, self.slabs) = Default::default();
        }
    }

    /// Returns the free objects of all slabs that were kept. Of those from which no object was taken, and of the last one
    /// of a CPU that did not use up what it kept, as many are free as of the others in the mean, but at least half, which is
    /// what the kernel itself assumes.
    fn free(mut self) -> Vec<Vec<u32>> {
        let known = self.free.iter().zip(&self.done);
        let used_up: Vec<u32> = known
            .flat_map(|(free, done)| &free[..free.len().saturating_sub(usize::from(!done))])
            .copied()
            .collect();
        let mean = used_up.iter().sum::<u32>().checked_div(used_up.len() as u32).unwrap_or(0);
        let unknown = mean.max(self.slab_objects / 2);
        for ((free, done), kept) in self.free.iter_mut().zip(&self.done).zip(&self.kept) {
            if let Some(last) = free.last_mut().filter(|_| !done) {
                *last = unknown.max(*last);
            }
            // What a damaged snapshot says may be impossible.
            free.resize((*kept).min(SLABS_MAX), unknown);
        }
        self.free
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;

    #[test]
    fn what_a_cpu_takes_first_was_free_in_its_own_slabs() {
        let mut samples = Samples::default();
        samples.begin(0);
        let cache = samples.note("c", 32, 4);
        (cache.slab_objects, cache.slab_bytes) = (8, 0x1000);
        (cache.cpu_slabs, cache.cpu_partial_slabs) = (3, vec![1]);
        let mut slabs = CpuSlabs::new(&samples);
        assert!(slabs.is_new(0));
        slabs.name(0, "c");
        assert!(!slabs.is_new(0));
        let mut events = |events: &[(u32, Kind, u64)]| {
            for &(cpu, kind, ptr) in events {
                slabs.note(0, &RawEvent { cpu, kind, ptr, ..RawEvent::EMPTY });
            }
        };
        let (alloc, free) = (Kind::KmemCacheAlloc, Kind::KmemCacheFree);
        // Three of CPU 0's slab; one of them again; an older object, which was not free; one of its partial list; and
        // one of another slab, at which it has used up what it kept.
        events(&[(0, alloc, 0x1000), (0, alloc, 0x1008), (0, alloc, 0x1010)]);
        events(&[(1, free, 0x1008), (0, alloc, 0x1008)]);
        events(&[(0, free, 0x2000), (0, alloc, 0x2000), (0, alloc, 0x2008), (0, alloc, 0x3000)]);
        events(&[(0, alloc, 0x3008), (1, alloc, 0x3010)]);
        // CPU 1 takes from its own only, and not all; there is no CPU 7.
        events(&[(1, alloc, 0x4000), (7, alloc, 0x5000)]);
        slabs.tell(&mut samples);
        assert_eq!(samples.caches["c"].cpu_free_objects, [vec![3, 1], vec![4]]);
    }

    #[test]
    fn slabs_from_which_nothing_was_taken_are_as_free_as_the_others() {
        let mut samples = Samples::default();
        samples.begin(0);
        let cache = samples.note("c", 32, 4);
        (cache.slab_objects, cache.slab_bytes) = (8, 0x1000);
        (cache.cpu_slabs, cache.cpu_partial_slabs) = (4, vec![3]);
        let mut slabs = CpuSlabs::new(&samples);
        slabs.name(0, "c");
        let places = (0..8).map(|place| 0x1000 + 8 * place).chain([0x2000]);
        for ptr in places {
            slabs.note(0, &RawEvent { ptr, kind: Kind::KmemCacheAlloc, ..RawEvent::EMPTY });
        }
        slabs.tell(&mut samples);
        assert_eq!(samples.caches["c"].cpu_free_objects, [[8; 4]]);
    }

    #[test]
    fn nothing_is_told_of_caches_with_sheaves_or_without_slabs_of_cpus() {
        let mut samples = Samples::default();
        samples.begin(0);
        samples.note("sheaves", 8, 1).sheaf_capacity = 32;
        samples.caches.get_mut("sheaves").unwrap().cpu_slabs = 2;
        samples.note("none", 8, 1);
        let mut slabs = CpuSlabs::new(&samples);
        for (origin, name) in [(0, "sheaves"), (3, "none")] {
            slabs.name(origin, name);
            slabs.note(origin, &RawEvent { ptr: 0x1000, ..RawEvent::EMPTY });
        }
        let before = samples.clone();
        slabs.tell(&mut samples);
        assert_eq!(samples, before);
    }
}
