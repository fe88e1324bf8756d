//! The numbers of `perf kmem stat` with the names of call sites, of one trace or added up over several.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::many::origin::{Fleet, FleetSum, Origin, SiteNames};
use crate::metrics::perf_kmem::PerfTotals;

/// The numbers of `perf kmem stat`, with the names of call sites.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PerfCounts {
    /// The summary
    pub totals: PerfTotals,
    /// The call sites
    pub sites: Vec<SiteStat>,
}

/// What a call site did, in one trace or in all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct SiteStat {
    /// Its name
    pub callsite: String,
    /// Its address in the recorded kernel; 0 where several traces were added up
    #[serde(skip)]
    pub address: u64,
    /// Bytes allocated, all allocations together
    pub bytes_alloc: u64,
    /// Bytes requested, all allocations together
    pub bytes_req: u64,
    /// Allocations
    pub hit: u64,
    /// Objects from here that were freed on another CPU than they were allocated on
    pub pingpong: u64,
    /// Objects from here that were alive at the end
    pub live_end: u64,
    /// Bytes allocated to these
    pub live_bytes_end: u64,
}

impl SiteStat {
    fn add(&mut self, other: &Self) {
        self.bytes_alloc = self.bytes_alloc.wrapping_add(other.bytes_alloc);
        self.bytes_req = self.bytes_req.wrapping_add(other.bytes_req);
        self.hit += other.hit;
        self.pingpong += other.pingpong;
        self.live_end += other.live_end;
        self.live_bytes_end = self.live_bytes_end.saturating_add(other.live_bytes_end);
    }
}

/// The numbers of several traces, while they are being added up.
#[derive(Debug)]
pub struct PerfSum {
    names: SiteNames,
    fleet: FleetSum,
    /// The first trace, as long as it is the only one
    only: Option<(Origin, PerfCounts)>,
    totals: PerfTotals,
    sites: BTreeMap<String, SiteStat>,
}

impl PerfSum {
    /// Begins with no trace; `names` tell how call sites are joined.
    pub fn new(names: SiteNames) -> Self {
        let (fleet, totals) = (FleetSum::default(), PerfTotals::default());
        Self { names, fleet, only: None, totals, sites: BTreeMap::new() }
    }

    /// Adds the trace of this origin.
    pub fn add(&mut self, origin: &Origin, counts: PerfCounts) {
        if self.fleet.is_empty() && self.only.is_none() {
            self.only = Some((origin.clone(), counts));
            return;
        }
        if let Some((origin, counts)) = self.only.take() {
            self.add_up(&origin, counts);
        }
        self.add_up(origin, counts);
    }

    fn add_up(&mut self, origin: &Origin, counts: PerfCounts) {
        self.fleet.add(origin);
        let (sum, other) = (&mut self.totals, counts.totals);
        for (sum, more) in [
            (&mut sum.bytes_requested, other.bytes_requested),
            (&mut sum.bytes_allocated, other.bytes_allocated),
            (&mut sum.bytes_freed, other.bytes_freed),
            (&mut sum.allocs, other.allocs),
            (&mut sum.cross_allocs, other.cross_allocs),
        ] {
            // Sums wrap as in one trace, where they are C's int.
            *sum = sum.wrapping_add(more);
        }
        for site in counts.sites {
            let name = self.names.of(&site.callsite).to_owned();
            match self.sites.get_mut(&name) {
                Some(sum) => sum.add(&site),
                None => {
                    let site = SiteStat { callsite: name.clone(), address: 0, ..site };
                    self.sites.insert(name, site);
                }
            }
        }
    }

    /// Returns the sum and the traces that were added up, which is `None` for one trace.
    #[must_use]
    pub fn finish(self) -> (PerfCounts, Option<Fleet>) {
        match self.only {
            Some((_, counts)) => (counts, None),
            None => {
                let sites = self.sites.into_values().collect();
                (PerfCounts { totals: self.totals, sites }, Some(self.fleet.finish()))
            }
        }
    }
}
