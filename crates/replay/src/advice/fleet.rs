//! The advice on several traces: by call site, as a sum and as a distribution over hosts.
//!
//! # How it works
//! What a change saves on a host is the sum over its traces, and nothing on a host that lacks the site. Sites of several
//! builds are joined by function and size.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::advice::result::{AdviceList, Change};
use crate::change::select::function;
use crate::many::hosts::{ByHost, OverHosts};
use crate::many::origin::{Fleet, FleetSum, Origin, SiteNames};
use crate::metrics::result::{Replay, TraceFacts};
use crate::metrics::sum::ReplaySum;

/// The part of the advice on one trace that is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TraceAdvice {
    /// The trace
    #[serde(flatten)]
    pub origin: Origin,
    /// What it says of itself
    pub trace: TraceFacts,
    /// Bytes held at the peak
    pub held_bytes_peak: u64,
    /// Sites that were not ranked because too few of their frees were seen
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
    /// Bytes by which the machine's peak is lower, at whatever moments the two peaks are
    pub saved_bytes_at_peak: i64,
    /// Bytes held less on average
    pub saved_bytes_mean: i64,
    /// Whether it may leak
    pub may_leak: bool,
}

impl TraceAdvice {
    /// Keeps what a fleet needs of the advice on a trace whose origin is not known yet.
    #[must_use]
    pub fn new(list: &AdviceList) -> Self {
        let dedicated = list.advice.iter().filter(|advice| advice.is_own_cache());
        let sites = dedicated.map(|advice| TriedSite {
            site: advice.subject.clone(),
            object_bytes: advice.object_bytes,
            class_bytes: advice.class_bytes,
            live_peak: advice.live_peak,
            allocs: advice.allocs,
            saved_bytes_at_peak: advice.saved_bytes_at_peak,
            saved_bytes_mean: advice.saved_bytes_mean,
            may_leak: advice.profile.may_leak,
        });
        Self {
            origin: Origin::default(),
            trace: list.trace.clone(),
            held_bytes_peak: list.held_bytes_peak,
            sites_unseen: list.sites_unseen,
            sites: sites.collect(),
        }
    }
}

/// The advice on several traces.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct FleetAdvice {
    /// The traces
    #[serde(flatten)]
    pub fleet: Fleet,
    /// The sum of those of their facts that add up
    pub trace: TraceFacts,
    /// Bytes held at the peak of each trace, together
    pub held_bytes_peak: u64,
    /// Sites that were not ranked because too few of their frees were seen, of all traces together
    pub sites_unseen: u64,
    /// The sites, those that save most at the peaks first
    pub advice: Vec<FleetSite>,
}

/// A call site with a cache of its own on every host.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct FleetSite {
    /// What to change
    pub change: Change,
    /// Its name; with several kernels, that of its function
    pub subject: String,
    /// The most bytes requested for an object
    pub object_bytes: u64,
    /// Bytes that kmalloc allocates for it
    pub class_bytes: u64,
    /// Traces in which a cache was tried for it
    pub traces: u64,
    /// Those of them in which it may leak
    pub traces_may_leak: u64,
    /// Hosts of these traces
    pub hosts: u64,
    /// Allocations
    pub allocs: u64,
    /// Bytes held less at the peak of each trace, together
    pub saved_bytes_at_peak: i64,
    /// The same sum over hosts
    pub saved_bytes_at_peak_over_hosts: OverHosts,
    /// Bytes held less on average, together
    pub saved_bytes_mean: i64,
}

/// Adds up the advice on `traces`.
#[must_use]
pub fn fleet_advice(traces: &[TraceAdvice]) -> FleetAdvice {
    let mut fleet = FleetSum::default();
    traces.iter().for_each(|trace| fleet.add(&trace.origin));
    let fleet = fleet.finish();
    let names = SiteNames::of_builds(fleet.builds.len());
    let mut sums: BTreeMap<(String, u64), Sum> = BTreeMap::new();
    let mut facts = ReplaySum::new(names);
    for trace in traces {
        let (fleet, allocators, sites) = (None, Vec::new(), Vec::new());
        let replay = Replay { fleet, trace: trace.trace.clone(), allocators, sites };
        facts.add(&trace.origin, replay);
        let mut seen = BTreeSet::new();
        for tried in &trace.sites {
            let key = (names.of(&tried.site).to_owned(), tried.class_bytes);
            let sum = sums.entry(key.clone()).or_default();
            sum.add(trace, tried);
            // A function may have two sites of a size.
            if seen.insert(key) {
                sum.traces += 1;
                sum.traces_may_leak += u64::from(tried.may_leak);
            }
        }
    }
    let hosts = fleet.hosts.len();
    let mut advice: Vec<FleetSite> =
        sums.into_iter().map(|((site, class), sum)| sum.site(site, class, hosts)).collect();
    advice.sort_by(|a, b| {
        b.saved_bytes_at_peak.cmp(&a.saved_bytes_at_peak).then_with(|| a.subject.cmp(&b.subject))
    });
    let total = |of: fn(&TraceAdvice) -> u64| traces.iter().map(of).sum::<u64>();
    FleetAdvice {
        fleet,
        trace: facts.finish().map(|replay| replay.trace).unwrap_or_default(),
        held_bytes_peak: total(|trace| trace.held_bytes_peak),
        sites_unseen: total(|trace| trace.sites_unseen),
        advice,
    }
}

/// A site's numbers in the making.
#[derive(Debug, Default)]
struct Sum {
    object_bytes: u64,
    traces: u64,
    traces_may_leak: u64,
    allocs: u64,
    saved_bytes_mean: i64,
    saved: ByHost,
}

impl Sum {
    fn add(&mut self, trace: &TraceAdvice, tried: &TriedSite) {
        self.object_bytes = self.object_bytes.max(tried.object_bytes);
        self.allocs += tried.allocs;
        self.saved_bytes_mean += tried.saved_bytes_mean;
        self.saved.add(&trace.origin.host, tried.saved_bytes_at_peak);
    }

    fn site(self, subject: String, class_bytes: u64, hosts: usize) -> FleetSite {
        let saved = self.saved.finish(hosts);
        FleetSite {
            change: Change::Dedicate { cache: function(&subject).to_owned() },
            subject,
            object_bytes: self.object_bytes,
            class_bytes,
            traces: self.traces,
            traces_may_leak: self.traces_may_leak,
            hosts: self.saved.len() as u64,
            allocs: self.allocs,
            saved_bytes_at_peak: saved.sum,
            saved_bytes_at_peak_over_hosts: saved,
            saved_bytes_mean: self.saved_bytes_mean,
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
            may_leak: false,
        };
        TraceAdvice {
            origin: Origin {
                key: format!("{host}{build}"),
                host: host.to_owned(),
                build: build.to_owned(),
                events: 1000,
                happened: 1000,
                unplaced: 10,
            },
            trace: TraceFacts { events: 1000, ..TraceFacts::default() },
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
            assert_eq!(many.trace.events, alone.trace.events * k as u64);
            assert_eq!(many.held_bytes_peak, alone.held_bytes_peak * k as u64);
            for (many, alone) in many.advice.iter().zip(&alone.advice) {
                assert_eq!(many.subject, alone.subject);
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
            let of = |s: &FleetSite| (s.subject.clone(), s.class_bytes, s.saved_bytes_at_peak);
            fleet.advice.iter().map(of).collect()
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
        assert_eq!((both.advice[0].traces, both.advice[0].hosts), (2, 2));
    }

    #[test]
    fn what_hosts_save_is_a_distribution_in_which_those_without_the_site_count() {
        let mut traces: Vec<_> =
            (0..8).map(|i| trace(&format!("h{i}"), "6.1", &[("f+0x1", 64, 4096)])).collect();
        traces.push(trace("worse", "6.1", &[("f+0x1", 64, -4096)]));
        traces.push(trace("without", "6.1", &[]));
        let fleet = fleet_advice(&traces);
        let site = &fleet.advice[0];
        let over = &site.saved_bytes_at_peak_over_hosts;
        assert_eq!((site.hosts, over.negative, fleet.fleet.hosts.len()), (9, 1, 10));
        assert_eq!((over.median, over.p90), (4096, 4096));
        let interval = over.interval.unwrap();
        assert!(interval.contains(site.saved_bytes_at_peak as f64) && interval.low < 20_000.0);
        // The order of traces makes no difference.
        traces.reverse();
        assert_eq!(fleet_advice(&traces), fleet);
    }
}
