//! Ends the lives of objects whose frees made no event, by what the kernel itself counted meanwhile.
//!
//! How it works: bulk frees and batches of `kfree_rcu` make no event, so objects seem to live on until their address
//! is allocated again. At each sample of slabinfo a cache's live objects are compared with those that the kernel has
//! in use: what is more has been freed, unseen. Of the objects of which no free will be seen ([`Unfreed`]), the
//! oldest go first; then those that are older than the recording.
//!
//! kmalloc's caches are told by the bytes given and the gfp flags, as `kmalloc_type` chooses them @ 6.18, and by the
//! call sites that have caches of their own (`kmem_buckets_create`).
//!
//! Invariants: no object of which a free is seen later is ended here. Live objects of a cache, those older than the
//! recording counted in, are at most what the last sample said, if enough of them were freed unseen.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use crate::source::raw;
use crate::{Error, Event, Kind, NONE, RecordedCache, SampledCache, Samples, TraceReader};

/// gfp flags that choose a kmalloc cache.
const GFP_DMA: u32 = 1;
const GFP_RECLAIMABLE: u32 = 0x10;
const GFP_ACCOUNT: u32 = 0x40_0000;

/// Which allocations, by their number, are never freed by an event that is seen.
#[derive(Debug, Default)]
pub(crate) struct Unfreed {
    allocs: u64,
    freed: Vec<u64>,
    live: FxHashMap<u64, u64>,
}

impl Unfreed {
    /// Looks at all rows of a trace.
    pub(super) fn of(trace: &TraceReader) -> Result<Unfreed, Error> {
        let mut unfreed = Unfreed::default();
        for batch in trace.batches() {
            for row in batch?.events() {
                // What ends an object unseen is no event.
                if !matches!(row.kind, Kind::ImplicitFree | Kind::EstimatedFree) {
                    unfreed.note(row.kind, raw(row).ptr);
                }
            }
        }
        Ok(unfreed)
    }

    /// Looks at an event, in the order of the recording.
    pub(crate) fn note(&mut self, kind: Kind, ptr: u64) {
        if kind.is_alloc() {
            self.live.insert(ptr, self.allocs);
            self.allocs += 1;
        } else if let Some(number) = self.live.remove(&ptr) {
            let word = (number / 64) as usize;
            self.freed.resize(self.freed.len().max(word + 1), 0);
            self.freed[word] |= 1 << (number % 64);
        }
    }

    fn is_unfreed(&self, number: u64) -> bool {
        self.freed.get((number / 64) as usize).is_none_or(|word| word >> (number % 64) & 1 == 0)
    }
}

/// A sampled cache.
#[derive(Debug, Default)]
struct Cache {
    /// Objects older than the recording.
    older: u64,
    /// Of objects older than the recording, frees that were seen.
    older_frees: u64,
    live: u64,
    /// Objects of which no free is seen, by age: address and number. Some may have ended.
    unfreed: VecDeque<(u64, u64)>,
    slab_objects: u64,
    is_kmalloc: bool,
}

/// What is alive of each cache, and what the kernel says of it.
#[derive(Debug)]
pub(super) struct Population {
    samples: Samples,
    next: usize,
    /// In the order of the names in `samples`
    caches: Vec<Cache>,
    /// Places in `caches` by name, by the writer's ids, and of kmalloc's by kind and bytes given.
    by_name: FxHashMap<String, u32>,
    by_id: Vec<u32>,
    by_class: FxHashMap<(&'static str, u64), u32>,
    /// By slot: the place of its cache, and its number among the allocations.
    live: Vec<(u32, u64)>,
    unfreed: Unfreed,
    allocs: u64,
    /// Frees of kmalloc's objects that are older than the recording: their caches are not known.
    older_kfrees: u64,
}

/// What has been freed unseen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    /// The object at this address.
    Object(u64),
    /// One that is older than the recording.
    Older,
}

impl Population {
    pub(super) fn new(samples: &Samples, unfreed: Unfreed) -> Population {
        let cache = |(name, cache): (&String, &SampledCache)| Cache {
            older: u64::from(cache.at(0).0),
            slab_objects: u64::from(cache.slab_objects),
            is_kmalloc: name.contains("kmalloc-"),
            ..Cache::default()
        };
        Population {
            next: 1,
            caches: samples.caches.iter().map(cache).collect(),
            by_name: samples.caches.keys().cloned().zip(0..).collect(),
            by_id: Vec::new(),
            by_class: FxHashMap::default(),
            live: Vec::new(),
            unfreed,
            allocs: 0,
            older_kfrees: 0,
            samples: samples.clone(),
        }
    }

    /// Notes the names of the writer's caches that are new.
    pub(super) fn name(&mut self, caches: &[RecordedCache]) {
        let names = caches[self.by_id.len()..].iter().map(|cache| cache.name.as_str());
        self.by_id.extend(names.map(|name| self.by_name.get(name).copied().unwrap_or(NONE)));
    }

    /// Counts an event, also one that is not used: allocations are numbered as in [`Unfreed::note`].
    pub(super) fn count(&mut self, kind: Kind) {
        self.allocs += u64::from(kind.is_alloc());
    }

    /// Notes an object; `site` is the name of its call site.
    pub(super) fn alloc(&mut self, slot: u32, ptr: u64, event: &Event, site: &str) {
        let number = self.allocs - 1;
        let place = match event.kind {
            Kind::KmemCacheAlloc => self.by_id.get(event.cache as usize).copied().unwrap_or(NONE),
            _ => self.kmalloc(event, site),
        };
        let slot = slot as usize;
        self.live.resize(self.live.len().max(slot + 1), (NONE, 0));
        self.live[slot] = (place, number);
        let Some(cache) = self.caches.get_mut(place as usize) else { return };
        cache.live += 1;
        if self.unfreed.is_unfreed(number) {
            cache.unfreed.push_back((ptr, number));
        }
    }

    /// Notes the end of an object.
    pub(super) fn free(&mut self, slot: u32) {
        let (place, _) = self.live[slot as usize];
        if let Some(cache) = self.caches.get_mut(place as usize) {
            cache.live -= 1;
        }
    }

    /// Notes the free of an object that is older than the recording.
    pub(super) fn free_older(&mut self, event: &Event) {
        let place = self.by_id.get(event.cache as usize).copied().unwrap_or(NONE);
        match self.caches.get_mut(place as usize) {
            Some(cache) => {
                cache.older = cache.older.saturating_sub(1);
                cache.older_frees += 1;
            }
            None => self.older_kfrees += 1,
        }
    }

    /// Returns when the next sample was taken, if that was not behind `time_ns`.
    #[inline]
    pub(super) fn due_ns(&self, time_ns: u64) -> Option<u64> {
        self.samples.times_ns.get(self.next).copied().filter(|at| *at <= time_ns)
    }

    /// Looks at the next sample: returns what it shows to be freed, with the names of the caches. `slot_of` tells
    /// which slot an address has.
    pub(super) fn look(&mut self, slot_of: impl Fn(u64) -> Option<u32>) -> Vec<(String, Ended)> {
        let mut ended = Vec::new();
        let sample = self.next;
        self.next += 1;
        for (cache, (name, sampled)) in self.caches.iter_mut().zip(&self.samples.caches) {
            let in_use = u64::from(sampled.at(sample).0);
            let excess = (cache.live + cache.older).saturating_sub(in_use);
            // Less than a slab may be what happened while the sample was taken.
            if excess <= cache.slab_objects {
                continue;
            }
            let known =
                if cache.is_kmalloc { excess.min(self.older_kfrees).min(cache.older) } else { 0 };
            self.older_kfrees -= known;
            let mut objects = Vec::new();
            while ((objects.len() as u64) < excess - known)
                && let Some((ptr, number)) = cache.unfreed.pop_front()
            {
                let slot = slot_of(ptr).filter(|slot| self.live[*slot as usize].1 == number);
                objects.extend(slot.map(|_| (name.clone(), Ended::Object(ptr))));
            }
            let older = (excess - objects.len() as u64).min(cache.older);
            cache.older -= older;
            ended.append(&mut objects);
            ended.extend((0..older).map(|_| (name.clone(), Ended::Older)));
        }
        ended
    }

    /// Says in the first sample, where nobody took it, which objects must have been there before the first event: those
    /// that the last one has, or that were freed, and whose allocation no event tells of.
    pub(super) fn older_than_events(&self, samples: &mut Samples) {
        let last = samples.times_ns.len().saturating_sub(1);
        for (name, place) in &self.by_name {
            let in_use = samples.caches.get(name).map_or(0, |cache| u64::from(cache.at(last).0));
            let Cache { live, older_frees, .. } = self.caches[*place as usize];
            samples.begin_with(name, (in_use + older_frees).saturating_sub(live));
        }
    }

    /// Returns the place of the kmalloc cache that served an event.
    fn kmalloc(&mut self, event: &Event, site: &str) -> u32 {
        let (kind, bytes) = (kmalloc_kind(event.gfp, site), event.bytes_alloc);
        let by_name = &self.by_name;
        *self
            .by_class
            .entry((kind, bytes))
            .or_insert_with(|| by_name.get(&class_name(kind, bytes)).copied().unwrap_or(NONE))
    }
}

/// Returns the name of the kmalloc cache that gives `bytes` to the call site called `site`.
pub(crate) fn kmalloc_cache(bytes: u64, gfp: u32, site: &str) -> String {
    class_name(kmalloc_kind(gfp, site), bytes)
}

/// Returns which of kmalloc's caches of a size serves an allocation.
fn kmalloc_kind(gfp: u32, site: &str) -> &'static str {
    match (site.split('+').next().unwrap_or_default(), gfp) {
        ("alloc_msg" | "load_msg", _) => "msg_msg",
        ("memdup_user" | "vmemdup_user" | "strndup_user", _) => "memdup_user",
        (_, gfp) if gfp & GFP_DMA != 0 => "dma-kmalloc",
        (_, gfp) if gfp & GFP_RECLAIMABLE != 0 => "kmalloc-rcl",
        (_, gfp) if gfp & GFP_ACCOUNT != 0 => "kmalloc-cg",
        _ => "kmalloc",
    }
}

fn class_name(kind: &str, bytes: u64) -> String {
    match bytes {
        1024..=8192 => format!("{kind}-{}k", bytes / 1024),
        _ => format!("{kind}-{bytes}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(kind: Kind, cache: u32) -> Event {
        Event {
            kind,
            cache,
            bytes_req: 200,
            bytes_alloc: 256,
            ..crate::RawEvent::EMPTY.to_row(NONE)
        }
    }

    /// Samples of one cache, 4 objects a slab.
    fn samples(name: &str, objects: &[u64]) -> Samples {
        let mut samples = Samples::default();
        for (time_ns, objects) in (0..).zip(objects) {
            samples.begin(10 * time_ns);
            samples.note(name, *objects, 9).slab_objects = 4;
        }
        samples
    }

    #[test]
    fn of_objects_without_a_free_the_oldest_go_and_then_those_of_before() {
        let mut unfreed = Unfreed::default();
        (1..=20).for_each(|ptr| unfreed.note(Kind::KmemCacheAlloc, ptr));
        unfreed.note(Kind::KmemCacheFree, 1);
        let mut population = Population::new(&samples("c", &[10, 27, 4]), unfreed);
        population.name(&[RecordedCache { name: "c".into(), ..Default::default() }]);
        for ptr in 1..=20 {
            population.count(Kind::KmemCacheAlloc);
            population.alloc(ptr as u32, ptr, &event(Kind::KmemCacheAlloc, 0), "f+0x1");
        }
        assert_eq!((population.due_ns(9), population.due_ns(11)), (None, Some(10)));
        let slot_of = |ptr: u64| Some(ptr as u32);
        // 3 more than in use: less than a slab, so it may be what happened meanwhile.
        assert_eq!(population.look(slot_of), []);
        let ended: Vec<_> = population.look(slot_of).into_iter().map(|(_, ended)| ended).collect();
        let objects = (2..=20).map(Ended::Object);
        assert_eq!(ended, objects.chain([Ended::Older; 7]).collect::<Vec<_>>());
        assert_eq!(population.due_ns(u64::MAX), None);
    }

    #[test]
    fn kmalloc_caches_are_told_by_size_flags_and_site() {
        let mut population = Population::new(&samples("kmalloc-cg-256", &[0]), Unfreed::default());
        let mut place =
            |gfp, site| population.kmalloc(&Event { gfp, ..event(Kind::Kmalloc, NONE) }, site);
        assert_eq!((place(0x40_0cc0, "f+0x1"), place(0xcc0, "f+0x1")), (0, NONE));
        assert_eq!(place(0x40_0cc0, "alloc_msg+0x1"), NONE);
    }
}
