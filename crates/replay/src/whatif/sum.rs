//! Several traces with and without a change: both sums, and what the change saves over hosts.

use serde::{Deserialize, Serialize};

use crate::many::hosts::ByHost;
use crate::many::origin::{Origin, SiteNames};
use crate::metrics::result::Replay;
use crate::metrics::sum::ReplaySum;
use crate::whatif::compare::WhatIf;

/// One trace with and without a change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TraceWhatIf {
    /// As recorded
    pub before: Replay,
    /// With the change; `None` where the trace lacks what is to be changed
    pub after: Option<Replay>,
}

impl TraceWhatIf {
    /// Leaves out the parts that do not add up.
    #[must_use]
    pub fn summable(self) -> Self {
        Self { before: self.before.summable(), after: self.after.map(Replay::summable) }
    }
}

/// Several traces with and without a change, while they are being added up.
#[derive(Debug)]
pub struct WhatIfSum {
    before: ReplaySum,
    after: ReplaySum,
    saved: Vec<ByHost>,
    traces_unchanged: u64,
}

impl WhatIfSum {
    /// Begins with no trace; `names` tell how call sites are joined.
    pub fn new(names: SiteNames) -> Self {
        let (before, after) = (ReplaySum::new(names), ReplaySum::new(names));
        Self { before, after, saved: Vec::new(), traces_unchanged: 0 }
    }

    /// Adds the trace of this origin.
    pub fn add(&mut self, origin: &Origin, trace: TraceWhatIf) {
        self.traces_unchanged += u64::from(trace.after.is_none());
        let after = trace.after.unwrap_or_else(|| trace.before.clone());
        self.saved.resize_with(after.allocators.len(), ByHost::default);
        let pairs = trace.before.allocators.iter().zip(&after.allocators);
        for (saved, (before, after)) in self.saved.iter_mut().zip(pairs) {
            let bytes = before.held_bytes.peak as i64 - after.held_bytes.peak as i64;
            saved.add(&origin.host, bytes);
        }
        self.before.add(origin, trace.before);
        self.after.add(origin, after);
    }

    /// Returns the sum; that of no trace is `None`.
    #[must_use]
    pub fn finish(self) -> Option<WhatIf> {
        let (before, after) = (self.before.finish()?, self.after.finish()?);
        let (traces_unchanged, saved) = match &before.fleet {
            None => (None, Vec::new()),
            Some(fleet) => {
                let saved = self.saved.iter().map(|saved| saved.finish(fleet.hosts.len()));
                (Some(self.traces_unchanged), saved.collect())
            }
        };
        Some(WhatIf { before, after, traces_unchanged, saved_bytes_at_peak_over_hosts: saved })
    }
}
