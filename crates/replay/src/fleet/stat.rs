//! The numbers of `perf kmem stat` over many traces.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::origin::{Fleet, FleetSum, Origin, SiteNames};
use crate::metrics::perf_kmem::PerfTotals;

/// What is kept of one trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceStat {
    /// The trace
    #[serde(flatten)]
    pub origin: Origin,
    /// What was counted
    pub counts: PerfCounts,
}

/// What `perf kmem stat` says, with the names of call sites.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PerfCounts {
    /// The summary
    pub totals: PerfTotals,
    /// The call sites
    pub sites: Vec<SiteStat>,
}

/// What a call site did, in one trace or in all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
pub struct SiteStat {
    /// Its name
    pub callsite: String,
    /// Bytes allocated, all allocations together
    pub bytes_alloc: u64,
    /// Bytes requested, all allocations together
    pub bytes_req: u64,
    /// Allocations
    pub hit: u64,
    /// Objects from here that were freed on another CPU than they were allocated on
    pub pingpong: u64,
}

/// The numbers of many traces.
#[derive(Debug, Clone, PartialEq)]
pub struct FleetStat {
    /// The traces
    pub fleet: Fleet,
    /// The counts of all, call sites by name
    pub counts: PerfCounts,
}

/// The numbers of many traces in the making.
#[derive(Debug)]
pub struct FleetStatSum {
    fleet: FleetSum,
    names: SiteNames,
    totals: PerfTotals,
    sites: BTreeMap<String, SiteStat>,
}

impl FleetStatSum {
    /// Begins with nothing.
    pub fn new(names: SiteNames) -> Self {
        let (fleet, totals) = (FleetSum::default(), PerfTotals::default());
        Self { fleet, names, totals, sites: BTreeMap::new() }
    }

    /// Adds a trace.
    pub fn add(&mut self, trace: TraceStat) {
        self.fleet.add(&trace.origin);
        let (sum, other) = (&mut self.totals, trace.counts.totals);
        for (sum, more) in [
            (&mut sum.bytes_requested, other.bytes_requested),
            (&mut sum.bytes_allocated, other.bytes_allocated),
            (&mut sum.bytes_freed, other.bytes_freed),
            (&mut sum.allocs, other.allocs),
            (&mut sum.cross_allocs, other.cross_allocs),
        ] {
            // As in one trace, where sums of C's int wrap.
            *sum = sum.wrapping_add(more);
        }
        for site in trace.counts.sites {
            let name = self.names.of(&site.callsite);
            if !self.sites.contains_key(name) {
                let new = SiteStat { callsite: name.to_owned(), ..SiteStat::default() };
                self.sites.insert(name.to_owned(), new);
            }
            let sum = self.sites.get_mut(name).expect("it is there now");
            sum.bytes_alloc = sum.bytes_alloc.wrapping_add(site.bytes_alloc);
            sum.bytes_req = sum.bytes_req.wrapping_add(site.bytes_req);
            sum.hit += site.hit;
            sum.pingpong += site.pingpong;
        }
    }

    /// Returns the sum.
    pub fn finish(self) -> FleetStat {
        let counts = PerfCounts { totals: self.totals, sites: self.sites.into_values().collect() };
        FleetStat { fleet: self.fleet.finish(), counts }
    }
}
