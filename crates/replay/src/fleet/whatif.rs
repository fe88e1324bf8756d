//! Many traces with and without a change: both sums, and what the change saves over hosts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::hosts::{ByHost, OverHosts};
use super::origin::{Origin, SiteNames};
use super::replay::{FleetReplay, FleetReplaySum, TraceReplay};
use crate::whatif::compare::{Difference, WhatIf, differences};

/// What is kept of one trace with and without a change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TraceWhatIf {
    /// As recorded
    pub before: TraceReplay,
    /// With the change; `None` where the trace lacks what is to be changed
    pub after: Option<TraceReplay>,
}

impl TraceWhatIf {
    /// Keeps what a fleet needs of a trace of this origin.
    pub fn new(origin: Origin, what_if: WhatIf) -> Self {
        Self {
            before: TraceReplay::new(origin.clone(), what_if.before),
            after: Some(TraceReplay::new(origin, what_if.after)),
        }
    }
}

/// Many traces with and without a change.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FleetWhatIf {
    /// Traces that lack what is to be changed, and count as they are
    pub traces_unchanged: u64,
    /// As recorded
    pub before: FleetReplay,
    /// With the change
    pub after: FleetReplay,
    /// Bytes held less at the peaks of each host's traces; an entry an allocator
    pub saved_bytes_at_peak_over_hosts: Vec<OverHosts>,
}

impl FleetWhatIf {
    /// Returns the numbers of each allocator that the change changed, and those that people look for first.
    pub fn differences(&self) -> Vec<Difference> {
        differences(&self.before.allocators, &self.after.allocators)
    }
}

/// Many traces with and without a change, in the making.
#[derive(Debug)]
pub struct FleetWhatIfSum {
    before: FleetReplaySum,
    after: FleetReplaySum,
    saved: Vec<ByHost>,
    traces_unchanged: u64,
}

impl FleetWhatIfSum {
    /// Begins with nothing.
    pub fn new(names: SiteNames) -> Self {
        let (before, after) = (FleetReplaySum::new(names), FleetReplaySum::new(names));
        Self { before, after, saved: Vec::new(), traces_unchanged: 0 }
    }

    /// Adds a trace.
    pub fn add(&mut self, trace: TraceWhatIf) {
        self.traces_unchanged += u64::from(trace.after.is_none());
        let after = trace.after.unwrap_or_else(|| trace.before.clone());
        self.saved.resize_with(after.allocators.len(), ByHost::default);
        let pairs = trace.before.allocators.iter().zip(&after.allocators);
        for (saved, (before, after)) in self.saved.iter_mut().zip(pairs) {
            let bytes = before.held_bytes.peak as i64 - after.held_bytes.peak as i64;
            saved.add(&trace.before.origin.host, bytes);
        }
        self.before.add(trace.before);
        self.after.add(after);
    }

    /// Returns the sum.
    pub fn finish(self) -> FleetWhatIf {
        let (before, after) = (self.before.finish(), self.after.finish());
        let hosts = before.fleet.hosts.len();
        let saved = self.saved.iter().map(|saved| saved.finish(hosts)).collect();
        FleetWhatIf {
            traces_unchanged: self.traces_unchanged,
            before,
            after,
            saved_bytes_at_peak_over_hosts: saved,
        }
    }
}
