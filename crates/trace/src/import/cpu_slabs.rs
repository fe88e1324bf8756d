//! How many objects were free in the slabs and sheaves that CPUs kept for themselves when a recording began: slabinfo counts
//! all of them as in use.
//!
//! # How it works
//! A CPU takes objects from its slab until that has no more, then from one slab of its partial list after the
//! other, and only then from others. So those that it kept are the first ones from which it takes objects that were free
//! before the first event. An object was free then if the first event of its address is an allocation. (With half of them
//! taken as free, 35 slabs of `bio-184` were kept where the kernel had 20. All were free, and slabs that seem to have
//! living objects are never given back.)
//!
//! Where a cache has sheaves its CPUs take objects from those first. So the first ones that are allocated and were free before
//! the first event lay in sheaves, up to as many as these hold in the mean: no event tells when a CPU has used them up. (Of 1,171
//! `vm_area_struct` in use at rest the processes had 806.)
//!
//! # Invariants
//! Memory is bounded for each cache by [`ADDRESSES_MAX`]; a cache is done with when every CPU has used up what
//! it kept.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{RawEvent, SampledCache, Samples};

/// When more addresses of a cache than this were seen, nothing further is found out about it.
const ADDRESSES_MAX: usize = 1 << 16;

/// A CPU keeps fewer slabs: `cpu_partial` is 120 objects at most, unless somebody has set it.
const SLABS_MAX: usize = 1 << 12;

/// The slabs that CPUs kept, of all caches that were sampled.
#[derive(Debug, Default)]
pub(super) struct CpuSlabs {
    /// By name, until the first event
    unseen: FxHashMap<String, Kept>,
    /// By the number under which events know a cache
    caches: Vec<Option<(String, Kept)>>,
    /// Addresses of objects of kmalloc's that were there before: their frees do not tell their cache
    older_kmallocs: FxHashSet<u64>,
}

/// The slabs and sheaves that CPUs kept of one cache.
#[derive(Debug)]
enum Kept {
    Slabs(OfCache),
    Sheaves(OfSheaves),
}

/// The sheaves of one cache, and the slabs that CPUs fill them from.
#[derive(Debug, Default)]
struct OfSheaves {
    addresses: FxHashSet<u64>,
    /// Addresses whose first event is an allocation
    free: u64,
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
        let kept = |(name, cache): (&String, _)| Some((name.clone(), Kept::of(cache)?));
        let unseen = samples.caches.iter().filter_map(kept).collect();
        CpuSlabs { unseen, ..CpuSlabs::default() }
    }

    /// Returns whether the cache of an event has yet to be named.
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
        match self.caches.get_mut(origin as usize) {
            Some(Some((_, Kept::Slabs(slabs)))) => slabs.note(event, &self.older_kmallocs),
            Some(Some((_, Kept::Sheaves(sheaves)))) => sheaves.note(event, &self.older_kmallocs),
            _ => {}
        }
    }

    /// Stores the findings in the samples; `cpus` are those of the machine.
    pub(super) fn tell(&mut self, samples: &mut Samples, cpus: u32) {
        for (name, kept) in std::mem::take(&mut self.caches).into_iter().flatten() {
            let Some(sampled) = samples.caches.get_mut(&name) else { continue };
            match kept {
                Kept::Slabs(slabs) => sampled.cpu_free_objects = slabs.free(),
                Kept::Sheaves(sheaves) => {
                    sampled.sheaf_free_objects = sheaves.free.min(sampled.parked_mean(cpus));
                }
            }
        }
    }
}

impl Kept {
    /// Returns `None` for a cache that CPUs kept nothing of.
    fn of(sampled: &SampledCache) -> Option<Kept> {
        match (sampled.sheaf_capacity, sampled.cpu_slabs) {
            (0, 0) => None,
            (0, _) => Some(Kept::Slabs(OfCache::new(sampled))),
            _ => Some(Kept::Sheaves(OfSheaves::default())),
        }
    }
}

impl OfSheaves {
    fn note(&mut self, event: &RawEvent, older: &FxHashSet<u64>) {
        if self.addresses.len() < ADDRESSES_MAX && self.addresses.insert(event.ptr) {
            let was_free = event.kind.is_alloc() && !older.contains(&event.ptr);
            self.free += u64::from(was_free);
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

    /// Returns the free objects of all slabs that were kept. In slabs from which no object was taken, and in the last one of
    /// a CPU that did not use up what it kept, as many are free as in the others in the mean. At least half are, which is
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
            // A damaged snapshot may contain impossible numbers.
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
        // The events are three of CPU 0's slab; one of them again; an older object, which was not free; one of its
        // partial list; and one of another slab, at which it has used up what it kept.
        events(&[(0, alloc, 0x1000), (0, alloc, 0x1008), (0, alloc, 0x1010)]);
        events(&[(1, free, 0x1008), (0, alloc, 0x1008)]);
        events(&[(0, free, 0x2000), (0, alloc, 0x2000), (0, alloc, 0x2008), (0, alloc, 0x3000)]);
        events(&[(0, alloc, 0x3008), (1, alloc, 0x3010)]);
        // CPU 1 takes from its own only, and not all; there is no CPU 7.
        events(&[(1, alloc, 0x4000), (7, alloc, 0x5000)]);
        slabs.tell(&mut samples, 2);
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
        slabs.tell(&mut samples, 2);
        assert_eq!(samples.caches["c"].cpu_free_objects, [[8; 4]]);
    }

    #[test]
    fn of_caches_with_sheaves_the_first_that_are_allocated_were_free() {
        let mut samples = Samples::default();
        samples.begin(0);
        let cache = samples.note("sheaves", 80, 10);
        (cache.slab_objects, cache.sheaf_capacity, cache.cpu_slabs) = (8, 4, 2);
        samples.note("none", 8, 1);
        let tell = |allocs: u64| {
            let (mut slabs, mut samples) = (CpuSlabs::new(&samples), samples.clone());
            for (origin, name) in [(0, "sheaves"), (3, "none")] {
                slabs.name(origin, name);
                slabs.note(origin, &RawEvent { ptr: 0x1000, ..RawEvent::EMPTY });
                slabs.note(
                    origin,
                    &RawEvent { ptr: 0x1000, kind: Kind::KmemCacheAlloc, ..RawEvent::EMPTY },
                );
            }
            for ptr in 0..allocs {
                slabs.note(0, &RawEvent { ptr, kind: Kind::KmemCacheAlloc, ..RawEvent::EMPTY });
            }
            slabs.tell(&mut samples, 2);
            samples.caches.values().map(|cache| cache.sheaf_free_objects).collect::<Vec<_>>()
        };
        assert_eq!((tell(0), tell(5)), (vec![0, 0], vec![0, 5]));
        // Ten sheaves of a barn and two of each CPU, half full, and two slabs of CPUs.
        assert_eq!(tell(100), [0, 14 * 4 / 2 + 8]);
    }
}
