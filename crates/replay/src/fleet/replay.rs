//! The replays of many traces: what each allocator came to on all of them together.
//!
//! How it works: [`TraceReplay`] keeps of a replay what adds up. Levels, counts, caches and sites are summed by name; the
//! peaks are those of each trace, which were not at one time. What does not add up (moments, samples over time, quantiles of
//! lifetimes) is left out.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::hosts::{ByHost, OverHosts};
use super::origin::{Fleet, FleetSum, Origin, SiteNames};
use crate::metrics::gauge::Level;
use crate::metrics::result::{Allocator, CacheUnder, Fragmentation, Replay};

/// What is kept of the replay of one trace.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TraceReplay {
    /// The trace
    #[serde(flatten)]
    pub origin: Origin,
    /// What each allocator came to
    pub allocators: Vec<Allocator>,
    /// The call sites that allocated
    pub sites: Vec<SiteSum>,
}

/// What a call site did, in one trace or in all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
pub struct SiteSum {
    /// Its name: function, offset, module; of several kernels its function
    pub site: String,
    /// The cache it allocates from; empty for kmalloc
    pub cache: String,
    /// Sites that are added up here: traces, or several places in a function
    pub sites: u64,
    /// Allocations
    pub allocs: u64,
    /// Bytes requested, all allocations together
    pub requested_bytes: u64,
    /// The most objects alive at once in each trace, together
    pub live_peak: u64,
    /// Objects alive at the end
    pub live_end: u64,
    /// Objects that another CPU freed
    pub frees_cross_cpu: u64,
    /// Internal fragmentation, the most bytes at once in each trace, together; an entry an allocator
    pub waste_bytes_peak: Vec<u64>,
}

impl TraceReplay {
    /// Keeps what a fleet needs of the replay of the trace of this origin.
    pub fn new(origin: Origin, replay: Replay) -> Self {
        let sites = replay.sites.into_iter().map(|site| SiteSum {
            site: site.site,
            cache: site.cache,
            sites: 1,
            allocs: site.allocs,
            requested_bytes: site.requested_bytes,
            live_peak: site.live_peak,
            live_end: site.live_end,
            frees_cross_cpu: site.frees_cross_cpu,
            waste_bytes_peak: site.under.iter().map(|under| under.waste_bytes_peak).collect(),
        });
        let summable = |allocator| Allocator {
            first_failure: None,
            peak_event: 0,
            fit: None,
            series: Vec::new(),
            watched: Vec::new(),
            ..allocator
        };
        Self {
            origin,
            allocators: replay.allocators.into_iter().map(summable).collect(),
            sites: sites.collect(),
        }
    }
}

/// The replays of many traces.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct FleetReplay {
    /// The traces
    #[serde(flatten)]
    pub fleet: Fleet,
    /// What each allocator came to on all of them
    pub allocators: Vec<Allocator>,
    /// Bytes held at the peaks of each host's traces; an entry an allocator
    pub held_bytes_peak_over_hosts: Vec<OverHosts>,
    /// One entry a call site that allocated, the one with most waste first
    pub sites: Vec<SiteSum>,
}

/// The replays of many traces in the making.
#[derive(Debug)]
pub struct FleetReplaySum {
    fleet: FleetSum,
    names: SiteNames,
    allocators: Vec<AllocatorSum>,
    sites: BTreeMap<(String, String), SiteSum>,
}

/// An allocator in the making.
#[derive(Debug, Default)]
struct AllocatorSum {
    sum: Allocator,
    held: ByHost,
    caches: BTreeMap<String, CacheUnder>,
}

impl FleetReplaySum {
    /// Begins with nothing.
    pub fn new(names: SiteNames) -> Self {
        let (fleet, allocators, sites) = (FleetSum::default(), Vec::new(), BTreeMap::new());
        Self { fleet, names, allocators, sites }
    }

    /// Adds a trace, which was replayed under the same allocators as those before.
    pub fn add(&mut self, trace: TraceReplay) {
        self.fleet.add(&trace.origin);
        self.allocators.resize_with(trace.allocators.len(), AllocatorSum::default);
        for (sum, allocator) in self.allocators.iter_mut().zip(trace.allocators) {
            sum.held.add(&trace.origin.host, allocator.held_bytes.peak as i64);
            sum.add(allocator);
        }
        for site in trace.sites {
            let name = (self.names.of(&site.site).to_owned(), site.cache.clone());
            match self.sites.get_mut(&name) {
                Some(sum) => sum.add(&site),
                None => _ = self.sites.insert(name.clone(), SiteSum { site: name.0, ..site }),
            }
        }
    }

    /// Returns the sum.
    pub fn finish(self) -> FleetReplay {
        let fleet = self.fleet.finish();
        let hosts = fleet.hosts.len();
        let mut sites: Vec<SiteSum> = self.sites.into_values().collect();
        let waste = |site: &SiteSum| site.waste_bytes_peak.iter().max().copied();
        sites.sort_by(|a, b| {
            waste(b).cmp(&waste(a)).then(b.allocs.cmp(&a.allocs)).then(a.site.cmp(&b.site))
        });
        FleetReplay {
            held_bytes_peak_over_hosts: self
                .allocators
                .iter()
                .map(|sum| sum.held.finish(hosts))
                .collect(),
            fleet,
            allocators: self.allocators.into_iter().map(AllocatorSum::finish).collect(),
            sites,
        }
    }
}

impl SiteSum {
    fn add(&mut self, other: &Self) {
        self.sites += other.sites;
        self.allocs += other.allocs;
        self.requested_bytes = self.requested_bytes.saturating_add(other.requested_bytes);
        self.live_peak += other.live_peak;
        self.live_end += other.live_end;
        self.frees_cross_cpu += other.frees_cross_cpu;
        let pairs = self.waste_bytes_peak.iter_mut().zip(&other.waste_bytes_peak);
        pairs.for_each(|(sum, waste)| *sum += waste);
    }
}

impl AllocatorSum {
    fn add(&mut self, other: Allocator) {
        let sum = &mut self.sum;
        sum.allocator = other.allocator;
        sum.operations += other.operations;
        sum.failed += other.failed;
        for (sum, level) in [
            (&mut sum.requested_bytes, other.requested_bytes),
            (&mut sum.allocated_bytes, other.allocated_bytes),
            (&mut sum.held_bytes, other.held_bytes),
            (&mut sum.slab_bytes, other.slab_bytes),
            (&mut sum.slabs, other.slabs),
        ] {
            let Level { peak, end, mean } = level;
            *sum = Level { peak: sum.peak + peak, end: sum.end + end, mean: sum.mean + mean };
        }
        for (sum, other) in [
            (&mut sum.at_peak, other.at_peak),
            (&mut sum.at_end, other.at_end),
            (&mut sum.on_average, other.on_average),
        ] {
            *sum = Fragmentation::new(
                sum.requested_bytes + other.requested_bytes,
                sum.allocated_bytes + other.allocated_bytes,
                sum.held_bytes + other.held_bytes,
            );
        }
        for (sum, counts) in [(&mut sum.paths, other.paths), (&mut sum.locks, other.locks)] {
            counts.into_iter().for_each(|(name, n)| *sum.entry(name).or_default() += n);
        }
        for cache in other.caches {
            match self.caches.get_mut(&cache.cache) {
                Some(sum) => add_cache(sum, &cache),
                None => _ = self.caches.insert(cache.cache.clone(), cache),
            }
        }
    }

    fn finish(self) -> Allocator {
        let mut caches: Vec<CacheUnder> = self.caches.into_values().collect();
        caches.sort_by(|a, b| {
            b.held_bytes_peak.cmp(&a.held_bytes_peak).then_with(|| a.cache.cmp(&b.cache))
        });
        Allocator { caches, ..self.sum }
    }
}

/// Adds a cache of the same name in another trace. Of sizes that differ from kernel to kernel the largest is told, and of
/// objects in a slab 0, as where slabs are not cut into equal objects.
fn add_cache(sum: &mut CacheUnder, other: &CacheUnder) {
    for alias in &other.aliases {
        if !sum.aliases.contains(alias) {
            sum.aliases.push(alias.clone());
            sum.aliases.sort_unstable();
        }
    }
    let cut = |cache: &CacheUnder| (cache.objects_per_slab, cache.slab_size_bytes, cache.order);
    if cut(sum) != cut(other) {
        sum.objects_per_slab = 0;
    }
    for (sum, most) in [
        (&mut sum.object_bytes, other.object_bytes),
        (&mut sum.slab_size_bytes, other.slab_size_bytes),
        (&mut sum.order, other.order),
    ] {
        *sum = most.max(*sum);
    }
    for (sum, more) in [
        (&mut sum.objects_end, other.objects_end),
        (&mut sum.objects_peak, other.objects_peak),
        (&mut sum.slabs_end, other.slabs_end),
        (&mut sum.slabs_peak, other.slabs_peak),
        (&mut sum.held_bytes_end, other.held_bytes_end),
        (&mut sum.held_bytes_peak, other.held_bytes_peak),
    ] {
        *sum += more;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SLOB's `task_struct`, part of a page on one host and two pages on the other, was "261.4 % used".
    #[test]
    fn objects_of_two_sizes_are_in_no_common_slab() {
        let cache = |slab_size_bytes| CacheUnder {
            cache: "task_struct".into(),
            objects_per_slab: 1,
            slab_size_bytes,
            objects_end: 20,
            ..CacheUnder::default()
        };
        let mut sum = cache(2_944);
        add_cache(&mut sum, &cache(2_944));
        assert_eq!((sum.objects_per_slab, sum.objects_end), (1, 40));
        add_cache(&mut sum, &cache(5_840));
        assert_eq!((sum.objects_per_slab, sum.objects_end), (0, 60));
        add_cache(&mut sum, &cache(5_840));
        assert_eq!(sum.objects_per_slab, 0);
    }
}
