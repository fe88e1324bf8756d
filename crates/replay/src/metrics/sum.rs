//! The sum of the replays of several traces: the numbers of each allocator on all of them together.
//!
//! # How it works
//! Levels, counts, caches and call sites are summed by name; the peaks are those of each trace, which were not at one time.
//! Parts that do not add up (moments, samples over time, quantiles of lifetimes, places of objects) are left out. The sum
//! of one trace is its replay, whole.

use std::collections::{BTreeMap, BTreeSet};

use crate::many::hosts::ByHost;
use crate::many::origin::{FleetSum, Origin, SiteNames};
use crate::metrics::gauge::Level;
use crate::metrics::result::{
    Allocator, CacheUnder, Fragmentation, Replay, Site, TraceFacts, sort_by_waste,
};

impl Replay {
    /// Leaves out the parts that do not add up.
    #[must_use]
    pub fn summable(mut self) -> Self {
        for allocator in &mut self.allocators {
            allocator.first_failure = None;
            allocator.peak_event = 0;
            allocator.fit = None;
            allocator.series = Vec::new();
            allocator.watched = Vec::new();
        }
        for site in &mut self.sites {
            (site.sites, site.lifetime) = (Some(1), None);
            site.under.iter_mut().for_each(|under| under.placement = None);
        }
        self
    }
}

/// A sum of replays, while they are being added up.
#[derive(Debug)]
pub struct ReplaySum {
    names: SiteNames,
    fleet: FleetSum,
    /// The first trace, as long as it is the only one
    only: Option<(Origin, Replay)>,
    trace: TraceFacts,
    releases: BTreeSet<String>,
    commands: BTreeSet<Vec<String>>,
    allocators: Vec<AllocatorSum>,
    sites: BTreeMap<(String, String), Site>,
}

/// The sum for one allocator.
#[derive(Debug, Default)]
struct AllocatorSum {
    sum: Allocator,
    held: ByHost,
    caches: BTreeMap<String, CacheUnder>,
}

impl ReplaySum {
    /// Begins with no trace; `names` tell how call sites are joined.
    pub fn new(names: SiteNames) -> Self {
        Self {
            names,
            fleet: FleetSum::default(),
            only: None,
            trace: TraceFacts::default(),
            releases: BTreeSet::new(),
            commands: BTreeSet::new(),
            allocators: Vec::new(),
            sites: BTreeMap::new(),
        }
    }

    /// Adds the replay of the trace of this origin, under the same allocators as the earlier ones.
    pub fn add(&mut self, origin: &Origin, replay: Replay) {
        if self.fleet.is_empty() && self.only.is_none() {
            self.only = Some((origin.clone(), replay));
            return;
        }
        if let Some((origin, replay)) = self.only.take() {
            self.add_up(&origin, replay);
        }
        self.add_up(origin, replay);
    }

    fn add_up(&mut self, origin: &Origin, replay: Replay) {
        let replay = replay.summable();
        self.fleet.add(origin);
        self.add_facts(replay.trace);
        self.allocators.resize_with(replay.allocators.len(), AllocatorSum::default);
        for (sum, allocator) in self.allocators.iter_mut().zip(replay.allocators) {
            sum.held.add(&origin.host, allocator.held_bytes.peak as i64);
            sum.add(allocator);
        }
        for site in replay.sites {
            let name = (self.names.of(&site.site).to_owned(), site.cache.clone());
            match self.sites.get_mut(&name) {
                Some(sum) => add_site(sum, &site),
                None => _ = self.sites.insert(name.clone(), Site { site: name.0, ..site }),
            }
        }
    }

    fn add_facts(&mut self, trace: TraceFacts) {
        let sum = &mut self.trace;
        sum.cpus = sum.cpus.max(trace.cpus);
        sum.nodes = sum.nodes.max(trace.nodes);
        sum.one_in = trace.one_in;
        for (sum, more) in [
            (&mut sum.duration_ns, trace.duration_ns),
            (&mut sum.events, trace.events),
            (&mut sum.lost, trace.lost),
            (&mut sum.implicit_frees, trace.implicit_frees),
            (&mut sum.older_frees, trace.older_frees),
            (&mut sum.skipped, trace.skipped),
        ] {
            *sum += more;
        }
        self.releases.insert(trace.kernel_release);
        self.commands.insert(trace.command);
    }

    /// Returns the sum; that of no trace is `None`.
    #[must_use]
    pub fn finish(self) -> Option<Replay> {
        if let Some((_, replay)) = self.only {
            return Some(replay);
        }
        if self.fleet.is_empty() {
            return None;
        }
        let fleet = self.fleet.finish();
        let hosts = fleet.hosts.len();
        let mut sites: Vec<Site> = self.sites.into_values().collect();
        sort_by_waste(&mut sites);
        let releases: Vec<_> = self.releases.into_iter().filter(|name| !name.is_empty()).collect();
        let mut commands = self.commands.into_iter();
        let command = match (commands.next(), commands.next()) {
            (Some(command), None) => command,
            _ => Vec::new(),
        };
        let trace = TraceFacts {
            kernel_release: releases.join(", "),
            command,
            unplaced_share: fleet.unplaced_share,
            ..self.trace
        };
        let finish = |sum: AllocatorSum| sum.finish(hosts);
        let allocators = self.allocators.into_iter().map(finish).collect();
        Some(Replay { fleet: Some(fleet), trace, allocators, sites })
    }
}

fn add_site(sum: &mut Site, other: &Site) {
    sum.sites = Some(sum.sites.unwrap_or(1) + other.sites.unwrap_or(1));
    sum.requested_bytes = sum.requested_bytes.saturating_add(other.requested_bytes);
    for (sum, more) in [
        (&mut sum.allocs, other.allocs),
        (&mut sum.live_peak, other.live_peak),
        (&mut sum.live_end, other.live_end),
        (&mut sum.frees_cross_cpu, other.frees_cross_cpu),
        (&mut sum.frees_unseen, other.frees_unseen),
    ] {
        *sum += more;
    }
    for (sum, other) in sum.under.iter_mut().zip(&other.under) {
        sum.allocated_bytes = sum.allocated_bytes.saturating_add(other.allocated_bytes);
        sum.waste_bytes_peak += other.waste_bytes_peak;
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
        if let Some(vectors) = other.vectors {
            sum.vectors.get_or_insert_default().add(vectors);
        }
        for cache in other.caches {
            match self.caches.get_mut(&cache.cache) {
                Some(sum) => add_cache(sum, &cache),
                None => _ = self.caches.insert(cache.cache.clone(), cache),
            }
        }
    }

    fn finish(self, hosts: usize) -> Allocator {
        let mut caches: Vec<CacheUnder> = self.caches.into_values().collect();
        caches.sort_by(|a, b| {
            b.held_bytes_peak.cmp(&a.held_bytes_peak).then_with(|| a.cache.cmp(&b.cache))
        });
        let held_bytes_peak_over_hosts = Some(self.held.finish(hosts));
        Allocator { caches, held_bytes_peak_over_hosts, ..self.sum }
    }
}

/// Adds a cache of the same name in another trace. If sizes differ from kernel to kernel, the largest is shown, and 0
/// objects in a slab, as where slabs are not cut into equal objects.
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

    /// SLOB's `task_struct`, part of a page on one host and two pages on the other, used to be "261.4 %
    /// used".
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
