//! How many objects of each cache came and went between two samples, as far as events tell.
//!
//! How it works: all events are looked at before the first one is imported. What is alike in what tells its cache (its
//! name; of kmalloc the call site, the bytes given and the gfp flags) is counted together, and gets the name of its cache
//! when all names are known. What the recorder's own threads allocated is counted apart: no row tells of it, but slabinfo
//! counts it.
//!
//! Invariants: events are counted in the interval in which the import has them, since both go by the order of the events.

use rustc_hash::FxHashMap;

use super::kmalloc::{KMALLOC_FLAGS, kmalloc_cache};
use crate::source::Facts;
use crate::{Kind, NONE, RawEvent, Samples};

/// What came and went of a cache in one interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Flow {
    /// The place of the sample at its beginning.
    pub(super) interval: u32,
    pub(super) allocs: u32,
    /// Frees that were seen.
    pub(super) frees: u32,
    /// Objects of the recorder's own threads: how many more, or fewer, there are.
    pub(super) own: i32,
}

/// What tells the cache of an allocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Origin {
    cache: u32,
    site: u32,
    bytes: u64,
    gfp: u32,
}

impl Origin {
    fn of(event: &RawEvent) -> Origin {
        match event.kind {
            Kind::Kmalloc => Origin {
                cache: NONE,
                site: event.site,
                bytes: event.bytes_alloc,
                gfp: event.gfp & KMALLOC_FLAGS,
            },
            _ => Origin { cache: event.cache, site: NONE, bytes: 0, gfp: 0 },
        }
    }

    /// Returns the name of the cache, if there is one.
    fn cache_name(&self, facts: &Facts) -> Option<String> {
        let Facts { names, symbols, .. } = facts;
        if self.bytes == 0 {
            return names.caches.get(self.cache as usize).cloned();
        }
        let site = names.sites.get(self.site as usize).map(|site| match site.name.as_str() {
            "" => symbols.site_name(site.address),
            name => name.to_owned(),
        });
        Some(kmalloc_cache(self.bytes, self.gfp, &site.unwrap_or_default()))
    }
}

/// What came and went, while it is counted.
#[derive(Debug, Default)]
pub(super) struct Flows {
    /// When the samples were taken.
    times_ns: Vec<u64>,
    interval: u32,
    origins: FxHashMap<Origin, u32>,
    /// By origin
    flows: Vec<Vec<Flow>>,
}

impl Flows {
    pub(super) fn new(samples: &Samples) -> Flows {
        Flows { times_ns: samples.times_ns.clone(), ..Flows::default() }
    }

    /// Begins a new interval if a sample was taken up to the time of the next event.
    #[inline]
    pub(super) fn reach(&mut self, time_ns: u64) {
        while self.times_ns.get(self.interval as usize + 1).is_some_and(|at| *at <= time_ns) {
            self.interval += 1;
        }
    }

    /// Returns what an event of the same origin is counted under.
    pub(super) fn origin(&mut self, event: &RawEvent) -> u32 {
        let flows = &mut self.flows;
        *self.origins.entry(Origin::of(event)).or_insert_with(|| {
            flows.push(Vec::new());
            flows.len() as u32 - 1
        })
    }

    /// Returns what came and went of an origin in this interval.
    pub(super) fn now(&mut self, origin: u32) -> &mut Flow {
        let (interval, flows) = (self.interval, &mut self.flows[origin as usize]);
        if flows.last().is_none_or(|flow| flow.interval != interval) {
            flows.push(Flow { interval, ..Flow::default() });
        }
        flows.last_mut().expect("it was pushed")
    }

    /// Returns what came and went by the names of the caches, in the order of the intervals.
    pub(super) fn by_cache(self, facts: &Facts) -> FxHashMap<String, Vec<Flow>> {
        let mut by_cache: FxHashMap<String, Vec<Flow>> = FxHashMap::default();
        for (origin, place) in &self.origins {
            if let Some(name) = origin.cache_name(facts) {
                by_cache.entry(name).or_default().extend(&self.flows[*place as usize]);
            }
        }
        for flows in by_cache.values_mut() {
            flows.sort_unstable_by_key(|flow| flow.interval);
            flows.dedup_by(|flow, sum| {
                let is_same = flow.interval == sum.interval;
                if is_same {
                    sum.allocs += flow.allocs;
                    sum.frees += flow.frees;
                    sum.own += flow.own;
                }
                is_same
            });
        }
        by_cache
    }
}
