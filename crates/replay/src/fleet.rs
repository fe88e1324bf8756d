//! The advice on many traces, added up: by call site, as a sum and as a distribution over hosts.
//!
//! How it works: each trace is advised on alone, on its own machine; what is kept of it ([`TraceAdvice`]) is a few numbers a
//! call site. Sites of traces of one kernel build are joined by function and offset; where there are several builds, by
//! function and size, since offsets move. What a change saves on a host is the sum over its traces, and nothing on a host that
//! lacks the site; the interval of the sum comes from drawing hosts anew.
//!
//! Invariants: sums are of integers, so k copies of a trace save k times what one does, and no order of traces shows.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use slablab_stats::{Bootstrap, Interval};
use slablab_trace::Meta;

use crate::advice::result::{AdviceList, Change};
use crate::change::select::function;

/// How many hosts are named of those on which most is saved.
const HOSTS_NAMED: usize = 3;

/// What is kept of the advice on one trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceAdvice {
    /// Identity of its content
    pub key: String,
    /// The host that it was recorded on
    pub host: String,
    /// The kernel that was recorded: release and machine
    pub build: String,
    /// Rows
    pub events: u64,
    /// Events of the recorded kernel that could not be placed
    pub unplaced: u64,
    /// Bytes held at the peak
    pub held_bytes_peak: u64,
    /// Sites that were not ranked, as too few of their frees were seen
    pub sites_unseen: u64,
    /// The sites for which a cache was tried
    pub sites: Vec<TriedSite>,
}

/// A call site with a cache of its own in one trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TriedSite {
    /// Its name: function, offset, module
    pub site: String,
    /// The most bytes requested for an object
    pub object_bytes: u64,
    /// Bytes that kmalloc allocates for it
    pub class_bytes: u64,
    /// The most objects alive at once
    pub live_peak: u64,
    /// Allocations
    pub allocs: u64,
    /// Bytes held less when the machine held most
    pub saved_bytes_at_peak: i64,
    /// Bytes held less on average
    pub saved_bytes_mean: i64,
}

impl TraceAdvice {
    /// Keeps what a fleet needs of `list`, the advice on the trace with this metadata.
    pub fn new(key: String, host: String, meta: &Meta, list: &AdviceList) -> Self {
        let dedicated = list.advice.iter().filter(|a| matches!(a.change, Change::Dedicate { .. }));
        let sites = dedicated.map(|advice| TriedSite {
            site: advice.subject.clone(),
            object_bytes: advice.object_bytes,
            class_bytes: advice.class_bytes,
            live_peak: advice.live_peak,
            allocs: advice.allocs,
            saved_bytes_at_peak: advice.saved_bytes_at_peak,
            saved_bytes_mean: advice.saved_bytes_mean,
        });
        let build = format!("{} {}", meta.kernel_release, meta.arch).trim().to_owned();
        Self {
            key,
            host,
            build,
            events: meta.events,
            unplaced: meta.quality.unplaced(),
            held_bytes_peak: list.held_bytes_peak,
            sites_unseen: list.sites_unseen,
            sites: sites.collect(),
        }
    }
}

/// The advice on many traces.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FleetAdvice {
    /// Traces
    pub traces: u64,
    /// Hosts
    pub hosts: Vec<String>,
    /// Kernels
    pub builds: Vec<String>,
    /// Rows of all traces
    pub events: u64,
    /// Share of the recorded kernels' events that could not be placed
    pub unplaced_share: f64,
    /// Bytes held at the peak of each trace, together
    pub held_bytes_peak: u64,
    /// Sites of a trace that were not ranked, as too few of their frees were seen; of all traces together
    pub sites_unseen: u64,
    /// The sites, those that save most at the peaks first
    pub sites: Vec<FleetSite>,
}

/// A call site with a cache of its own on every host.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FleetSite {
    /// Its name; of several kernels its function
    pub site: String,
    /// The most bytes requested for an object
    pub object_bytes: u64,
    /// Bytes that kmalloc allocates for it
    pub class_bytes: u64,
    /// Traces in which a cache was tried for it
    pub traces: u64,
    /// Hosts of these traces
    pub hosts: u64,
    /// Allocations
    pub allocs: u64,
    /// Bytes held less at the peak of each trace, together
    pub saved_bytes_at_peak: i64,
    /// The same if the hosts were drawn anew; `None` with one host
    pub saved_bytes_at_peak_interval: Option<Interval>,
    /// Bytes held less on average, together
    pub saved_bytes_mean: i64,
    /// What half of the hosts save at the peaks at least
    pub host_saved_bytes_median: i64,
    /// What a tenth of the hosts save at the peaks at least
    pub host_saved_bytes_p90: i64,
    /// Hosts on which it costs memory
    pub hosts_worse: u64,
    /// Where most is saved, with the bytes
    pub most_on: Vec<(String, i64)>,
}

/// Adds up the advice on `traces`.
pub fn fleet_advice(traces: &[TraceAdvice]) -> FleetAdvice {
    let names = |of: fn(&TraceAdvice) -> &String| -> Vec<String> {
        traces.iter().map(of).collect::<BTreeSet<_>>().into_iter().cloned().collect()
    };
    let (hosts, builds) = (names(|trace| &trace.host), names(|trace| &trace.build));
    let mut sums: BTreeMap<(String, u64), Sum> = BTreeMap::new();
    for trace in traces {
        let mut seen = BTreeSet::new();
        for tried in &trace.sites {
            let name = if builds.len() > 1 { function(&tried.site) } else { &tried.site };
            let key = (name.to_owned(), tried.class_bytes);
            let sum = sums.entry(key.clone()).or_default();
            sum.add(trace, tried);
            // A function may have two sites of a size.
            sum.traces += u64::from(seen.insert(key));
        }
    }
    let mut sites: Vec<FleetSite> =
        sums.into_iter().map(|((site, class), sum)| sum.site(site, class, hosts.len())).collect();
    sites.sort_by(|a, b| {
        b.saved_bytes_at_peak.cmp(&a.saved_bytes_at_peak).then_with(|| a.site.cmp(&b.site))
    });
    let total = |of: fn(&TraceAdvice) -> u64| traces.iter().map(of).sum::<u64>();
    let (events, unplaced) = (total(|trace| trace.events), total(|trace| trace.unplaced));
    FleetAdvice {
        traces: traces.len() as u64,
        hosts,
        builds,
        events,
        unplaced_share: if events == 0 { 0.0 } else { unplaced as f64 / events as f64 },
        held_bytes_peak: total(|trace| trace.held_bytes_peak),
        sites_unseen: total(|trace| trace.sites_unseen),
        sites,
    }
}

/// A site's numbers in the making.
#[derive(Debug, Default)]
struct Sum {
    object_bytes: u64,
    traces: u64,
    allocs: u64,
    saved_bytes_at_peak: i64,
    saved_bytes_mean: i64,
    by_host: BTreeMap<String, i64>,
}

impl Sum {
    fn add(&mut self, trace: &TraceAdvice, tried: &TriedSite) {
        self.object_bytes = self.object_bytes.max(tried.object_bytes);
        self.allocs += tried.allocs;
        self.saved_bytes_at_peak += tried.saved_bytes_at_peak;
        self.saved_bytes_mean += tried.saved_bytes_mean;
        *self.by_host.entry(trace.host.clone()).or_default() += tried.saved_bytes_at_peak;
    }

    fn site(self, site: String, class_bytes: u64, hosts: usize) -> FleetSite {
        let mut most_on: Vec<(String, i64)> =
            self.by_host.iter().map(|(host, saved)| (host.clone(), *saved)).collect();
        most_on.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        most_on.truncate(HOSTS_NAMED);
        // A host that lacks the site saves nothing.
        let lacking = std::iter::repeat_n(0, hosts - self.by_host.len());
        let mut each: Vec<i64> = self.by_host.values().copied().chain(lacking).collect();
        each.sort_unstable();
        // The greatest value that so large a share of the hosts reaches.
        let reached = |share: f64| each[((1.0 - share) * (each.len() - 1) as f64).floor() as usize];
        let sample: Vec<f64> = each.iter().map(|saved| *saved as f64).collect();
        let bootstrap = Bootstrap { resamples: 2_000, ..Bootstrap::default() };
        let interval = bootstrap.percentile(&sample, |drawn| drawn.iter().sum());
        FleetSite {
            site,
            object_bytes: self.object_bytes,
            class_bytes,
            traces: self.traces,
            hosts: self.by_host.len() as u64,
            allocs: self.allocs,
            saved_bytes_at_peak: self.saved_bytes_at_peak,
            saved_bytes_at_peak_interval: interval.ok(),
            saved_bytes_mean: self.saved_bytes_mean,
            host_saved_bytes_median: reached(0.5),
            host_saved_bytes_p90: reached(0.1),
            hosts_worse: each.iter().filter(|saved| **saved < 0).count() as u64,
            most_on,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(host: &str, build: &str, sites: &[(&str, u64, i64)]) -> TraceAdvice {
        let tried = |(site, class_bytes, saved): &(&str, u64, i64)| TriedSite {
            site: (*site).to_owned(),
            object_bytes: class_bytes - 8,
            class_bytes: *class_bytes,
            live_peak: 10,
            allocs: 100,
            saved_bytes_at_peak: *saved,
            saved_bytes_mean: saved / 2,
        };
        TraceAdvice {
            key: format!("{host}{build}"),
            host: host.to_owned(),
            build: build.to_owned(),
            events: 1000,
            unplaced: 10,
            held_bytes_peak: 1 << 20,
            sites_unseen: 1,
            sites: sites.iter().map(tried).collect(),
        }
    }

    #[test]
    fn k_copies_save_k_times_what_one_does() {
        let one = trace("a", "6.1", &[("f+0x10", 64, 4096), ("g+0x20", 96, -512)]);
        let alone = fleet_advice(std::slice::from_ref(&one));
        for k in [2, 7] {
            let many = fleet_advice(&vec![one.clone(); k]);
            assert_eq!(many.held_bytes_peak, alone.held_bytes_peak * k as u64);
            for (many, alone) in many.sites.iter().zip(&alone.sites) {
                assert_eq!(many.site, alone.site);
                assert_eq!(many.saved_bytes_at_peak, alone.saved_bytes_at_peak * k as i64);
                assert_eq!(many.saved_bytes_mean, alone.saved_bytes_mean * k as i64);
                assert_eq!((many.allocs, many.traces), (alone.allocs * k as u64, k as u64));
            }
        }
    }

    #[test]
    fn sites_are_joined_by_offset_in_one_build_and_by_size_across_builds() {
        let old = trace("a", "6.1", &[("f+0x10", 64, 100), ("f+0x90", 64, 10), ("f+0x50", 192, 1)]);
        let new = trace("b", "6.12", &[("f+0x14 [m]", 64, 1000), ("f+0x18", 64, 5000)]);
        let names = |fleet: &FleetAdvice| -> Vec<(String, u64, i64)> {
            let of = |s: &FleetSite| (s.site.clone(), s.class_bytes, s.saved_bytes_at_peak);
            fleet.sites.iter().map(of).collect()
        };
        let one = fleet_advice(&[old.clone(), old.clone()]);
        assert_eq!(
            names(&one),
            [
                ("f+0x10".to_owned(), 64, 200),
                ("f+0x90".to_owned(), 64, 20),
                ("f+0x50".to_owned(), 192, 2)
            ]
        );
        let both = fleet_advice(&[old, new]);
        assert_eq!(names(&both), [("f".to_owned(), 64, 6110), ("f".to_owned(), 192, 1)]);
        assert_eq!((both.sites[0].traces, both.sites[0].hosts), (2, 2));
    }

    #[test]
    fn what_hosts_save_is_a_distribution_in_which_those_without_the_site_count() {
        let mut traces: Vec<_> =
            (0..8).map(|i| trace(&format!("h{i}"), "6.1", &[("f+0x1", 64, 4096)])).collect();
        traces.push(trace("worse", "6.1", &[("f+0x1", 64, -4096)]));
        traces.push(trace("without", "6.1", &[]));
        let fleet = fleet_advice(&traces);
        let site = &fleet.sites[0];
        assert_eq!((site.hosts, site.hosts_worse, fleet.hosts.len()), (9, 1, 10));
        assert_eq!((site.host_saved_bytes_median, site.host_saved_bytes_p90), (4096, 4096));
        let interval = site.saved_bytes_at_peak_interval.unwrap();
        assert!(interval.contains(site.saved_bytes_at_peak as f64) && interval.low < 20_000.0);
        // The order of traces is nobody's business.
        traces.reverse();
        assert_eq!(fleet_advice(&traces), fleet);
    }
}
