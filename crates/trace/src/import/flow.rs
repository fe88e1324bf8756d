//! How many objects of each cache came and went between two samples, as far as events tell.
//!
//! # How it works
//! All events are looked at before the first one is imported. Those of a cache are counted together: of a
//! cache that the kernel merged with a class of kmalloc's both have the class's name. Allocations of the recorder's own
//! threads are counted apart: they have no rows, but slabinfo counts them.
//!
//! How many of a cache's objects live while a sample is read is noted beside ([`Living`]).
//!
//! # Invariants
//! Memory grows with the caches that are used between two samples, not with the events. They are counted
//! in the interval in which the import has them, since both go by the order of the events.

use rustc_hash::FxHashMap;

use super::kmalloc::{class_name, kmalloc_bucket, kmalloc_kind};
use super::living::{Living, Reading};
use crate::kmalloc::joined;
use crate::source::Facts;
use crate::{Kind, NONE, RawEvent, Samples, Site, Symbols};

/// The objects of a cache that came and went in one interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Flow {
    /// The place of the sample at its beginning.
    pub(super) interval: u32,
    pub(super) allocs: u32,
    /// Objects of the recorder's own threads: how many more, or fewer, there are.
    pub(super) own: i32,
}

/// Bits that the number of an origin has. A kernel has some hundred caches; what a damaged recording has beyond that is
/// counted under any.
pub(super) const ORIGIN_BITS: u32 = 24;

/// What tells the cache of an allocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Origin {
    /// The number of its name
    Named(u32),
    /// A kind of kmalloc's caches, and the bytes that it gives
    Kmalloc(&'static str, u64),
}

/// The events of one cache, summed up.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// In the order of the intervals.
    pub(super) flows: Vec<Flow>,
    /// Samples at which the fewest live objects changed, and their number.
    pub(super) living: Vec<(u32, i64)>,
}

/// What came and went of a cache, while it is counted.
#[derive(Debug)]
struct OfCache {
    name: String,
    /// Objects older than the recording that have not been freed.
    older: u64,
    flows: Vec<Flow>,
    living: Living,
}

/// What came and went, while it is counted.
#[derive(Debug, Default)]
pub(super) struct Flows {
    samples: Samples,
    interval: u32,
    /// By call site: the kind of kmalloc's caches that is its own.
    buckets: Vec<Option<&'static str>>,
    /// The names of caches by the numbers that events have
    caches: Vec<String>,
    origins: FxHashMap<Origin, u32>,
    /// Origins of all events but those of kmalloc's, by the number of the cache and one more; [`NONE`] until one comes
    of_names: Vec<u32>,
    /// By call site and one more: flags, bytes and origin of its last event of kmalloc's
    of_sites: Vec<(u32, u64, u32)>,
    by_name: FxHashMap<String, u32>,
    /// By origin
    of_caches: Vec<OfCache>,
}

impl Flows {
    pub(super) fn new(samples: &Samples) -> Flows {
        Flows { samples: joined(samples), ..Flows::default() }
    }

    /// Notes a sample that was taken meanwhile. No event is counted before its sample is known, if it is not before all of
    /// them.
    pub(super) fn sampled(&mut self, begin_ns: u64, ends_ns: Vec<u32>) {
        self.samples.begin_reading(begin_ns, ends_ns);
    }

    /// Takes the samples as they are at the end. Returns whether all that was counted would have been the same with them,
    /// and with these names.
    pub(super) fn go_on(&mut self, samples: &Samples, facts: &Facts) -> bool {
        let buckets = facts.names.sites.iter().map(|site| bucket(site, &facts.symbols));
        let samples = joined(samples);
        let is_same = samples.go_on_from(&self.samples) && buckets.eq(self.buckets.iter().copied());
        self.samples = samples;
        is_same
    }

    /// Begins a new interval if a sample was taken up to the time of the next event.
    #[inline]
    pub(super) fn reach(&mut self, time_ns: u64) {
        while self.samples.times_ns.get(self.interval as usize + 1).is_some_and(|at| *at <= time_ns)
        {
            self.interval += 1;
        }
    }

    /// Notes the names of call sites and caches that are new, before their first events.
    pub(super) fn name(&mut self, facts: &Facts) {
        let Facts { names, symbols, .. } = facts;
        let new = names.sites[self.buckets.len()..].iter();
        self.buckets.extend(new.map(|site| bucket(site, symbols)));
        self.caches.extend_from_slice(&names.caches[self.caches.len()..]);
    }

    /// Returns what events of the same cache are counted under. Those of caches without a name are one.
    #[inline]
    pub(super) fn origin(&mut self, event: &RawEvent) -> u32 {
        // A map would be asked for each event, twice: it took a tenth of an import's time.
        if event.kind == Kind::Kmalloc {
            let place = event.site.wrapping_add(1) as usize;
            match self.of_sites.get(place) {
                Some(&(gfp, bytes, known))
                    if (gfp, bytes) == (event.gfp, event.bytes_alloc) && known != NONE =>
                {
                    known
                }
                _ => {
                    let origin = self.look_up(event);
                    self.of_sites.resize(self.of_sites.len().max(place + 1), (0, 0, NONE));
                    self.of_sites[place] = (event.gfp, event.bytes_alloc, origin);
                    origin
                }
            }
        } else {
            let place = event.cache.wrapping_add(1) as usize;
            match self.of_names.get(place) {
                Some(&known) if known != NONE => known,
                _ => {
                    let origin = self.look_up(event);
                    self.of_names.resize(self.of_names.len().max(place + 1), NONE);
                    self.of_names[place] = origin;
                    origin
                }
            }
        }
    }

    #[cold]
    fn look_up(&mut self, event: &RawEvent) -> u32 {
        let bucket = || self.buckets.get(event.site as usize).copied().flatten();
        let origin = match event.kind {
            Kind::Kmalloc => Origin::Kmalloc(kmalloc_kind(event.gfp, bucket()), event.bytes_alloc),
            _ => Origin::Named(event.cache),
        };
        if let Some(known) = self.origins.get(&origin) {
            return *known;
        }
        let name = match origin {
            Origin::Named(cache) => self.caches.get(cache as usize).cloned().unwrap_or_default(),
            Origin::Kmalloc(kind, bytes) => class_name(kind, bytes),
        };
        let (of_caches, samples) = (&mut self.of_caches, &self.samples);
        if of_caches.len() == 1 << ORIGIN_BITS {
            return 0;
        }
        let place = *self.by_name.entry(name).or_insert_with_key(|name| {
            let older = samples.caches.get(name).map_or(0, |cache| u64::from(cache.at(0).0));
            let (flows, living) = (Vec::new(), Living::new(reading(samples, name, 0)));
            of_caches.push(OfCache { name: name.clone(), older, flows, living });
            of_caches.len() as u32 - 1
        });
        self.origins.insert(origin, place);
        place
    }

    /// Returns the name of the cache of an origin.
    pub(super) fn name_of(&self, origin: u32) -> &str {
        &self.of_caches[origin as usize].name
    }

    /// Returns what came and went of an origin in this interval.
    pub(super) fn now(&mut self, origin: u32) -> &mut Flow {
        let (interval, flows) = (self.interval, &mut self.of_caches[origin as usize].flows);
        if flows.last().is_none_or(|flow| flow.interval != interval) {
            flows.push(Flow { interval, ..Flow::default() });
        }
        flows.last_mut().expect("it was pushed")
    }

    /// Counts objects of an origin that come, or go where `by` is negative.
    pub(super) fn change(&mut self, origin: u32, time_ns: u64, by: i64) {
        let (of_cache, samples) = (&mut self.of_caches[origin as usize], &self.samples);
        let name = &of_cache.name;
        of_cache.living.change(time_ns, by, |sample| reading(samples, name, sample));
    }

    /// Counts the free of an object of an origin whose allocation has no event. When no older ones can be left, it was
    /// allocated unseen, and nothing is known to be one less.
    pub(super) fn free_older(&mut self, origin: u32, time_ns: u64) {
        let of_cache = &mut self.of_caches[origin as usize];
        if of_cache.older > 0 {
            of_cache.older -= 1;
            self.change(origin, time_ns, -1);
        }
    }

    /// Returns what events tell by the names of the caches.
    pub(super) fn by_cache(self) -> FxHashMap<String, Told> {
        let samples = &self.samples;
        let told = self.of_caches.into_iter().map(|OfCache { name, flows, living, .. }| {
            let living = living.finish(|sample| reading(samples, &name, sample));
            (name, Told { flows, living })
        });
        told.filter(|(name, _)| !name.is_empty()).collect()
    }
}

/// Returns the kind of kmalloc's caches that is a call site's own.
fn bucket(site: &Site, symbols: &Symbols) -> Option<&'static str> {
    match site.name.as_str() {
        "" => kmalloc_bucket(&symbols.site_name(site.address)),
        name => kmalloc_bucket(name),
    }
}

/// Returns when the numbers of a cache were read for a sample.
fn reading(samples: &Samples, cache: &str, sample: u32) -> Reading {
    let sample = sample as usize;
    let is_there = sample < samples.times_ns.len();
    let sampled = samples.caches.get(cache).filter(|_| is_there)?;
    Some(samples.reading_ns(sample, sampled))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_merged_cache_is_counted_with_its_class_and_a_bucket_apart() {
        let mut facts = Facts::default();
        facts.names.caches = vec!["kmalloc-64".into()];
        for name in ["f+0x1", "alloc_msg+0x2"] {
            facts.names.sites.push(crate::Site { name: name.into(), ..crate::Site::default() });
        }
        let mut flows = Flows::new(&Samples { times_ns: vec![0, 10, 20], ..Samples::default() });
        flows.name(&facts);
        let of_class =
            |site| RawEvent { site, bytes_alloc: 64, kind: Kind::Kmalloc, ..RawEvent::EMPTY };
        let named = RawEvent { cache: 0, kind: Kind::KmemCacheAlloc, ..RawEvent::EMPTY };
        for (time_ns, event) in [(1, of_class(0)), (9, named), (10, of_class(1)), (20, named)] {
            flows.reach(time_ns);
            let origin = flows.origin(&event);
            flows.now(origin).allocs += 1;
        }
        let by_cache = flows.by_cache();
        let of = |name: &str| -> Vec<(u32, u32)> {
            by_cache[name].flows.iter().map(|flow| (flow.interval, flow.allocs)).collect()
        };
        assert_eq!((of("kmalloc-64"), of("msg_msg-64")), (vec![(0, 2), (2, 1)], vec![(1, 1)]));
    }
}
