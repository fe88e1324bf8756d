//! The hosts and kernels of the traces that are added up.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use slablab_trace::Meta;

use crate::change::select::function;

/// The host and kernel of a trace, and how much of it can be placed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// Identity of its content
    pub key: String,
    /// The host that it was recorded on
    pub host: String,
    /// The kernel that was recorded: release, machine, and where it is known build id
    pub build: String,
    /// Rows
    pub events: u64,
    /// Events of the recorded kernel, including those that were lost or skipped
    pub happened: u64,
    /// Those of them that could not be placed
    pub unplaced: u64,
}

impl Origin {
    /// Returns the origin of the trace with this metadata, whose content has the identity `key`.
    pub fn new(key: String, host: String, meta: &Meta) -> Self {
        let quality = &meta.quality;
        Self {
            key,
            host,
            build: build(meta),
            events: meta.events,
            happened: meta.events + quality.lost_total() + quality.skipped_total(),
            unplaced: quality.unplaced(),
        }
    }
}

/// Returns the name of the recorded kernel: release and machine, and the first digits of its build id, where it is known.
pub fn build(meta: &Meta) -> String {
    const DIGITS: usize = 12;
    let id = meta.build_id.get(..DIGITS).unwrap_or(&meta.build_id);
    let words = [&meta.kernel_release, &meta.arch, id];
    words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The traces that were added up.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Fleet {
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
}

/// A fleet, while it is being added up.
#[derive(Debug, Default)]
pub(crate) struct FleetSum {
    traces: u64,
    hosts: BTreeSet<String>,
    builds: BTreeSet<String>,
    events: u64,
    happened: u64,
    unplaced: u64,
}

impl FleetSum {
    /// Returns whether nothing was added.
    pub(crate) fn is_empty(&self) -> bool {
        self.traces == 0
    }

    pub(crate) fn add(&mut self, origin: &Origin) {
        self.traces += 1;
        for (names, name) in [(&mut self.hosts, &origin.host), (&mut self.builds, &origin.build)] {
            if !names.contains(name) {
                names.insert(name.clone());
            }
        }
        self.events += origin.events;
        self.happened += origin.happened;
        self.unplaced += origin.unplaced;
    }

    pub(crate) fn finish(self) -> Fleet {
        let all = self.happened.max(1) as f64;
        Fleet {
            traces: self.traces,
            hosts: self.hosts.into_iter().collect(),
            builds: self.builds.into_iter().collect(),
            events: self.events,
            unplaced_share: self.unplaced as f64 / all,
        }
    }
}

/// How call sites of several traces are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SiteNames {
    /// Function and offset: all traces are of one build
    Places,
    /// The function: offsets move from build to build
    Functions,
}

impl SiteNames {
    /// Returns the names for traces of `builds` builds.
    pub fn of_builds(builds: usize) -> Self {
        if builds > 1 { Self::Functions } else { Self::Places }
    }

    /// Returns the name that a site has under this rule.
    pub(crate) fn of(self, site: &str) -> &str {
        match self {
            Self::Places => site,
            Self::Functions if site.starts_with('(') => site,
            Self::Functions => function(site),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_of_one_release_are_two_builds_where_their_build_ids_differ() {
        let of = |build_id: &str| {
            let (kernel_release, arch) = ("6.12.1".into(), "x86_64".into());
            build(&Meta { kernel_release, arch, build_id: build_id.into(), ..Meta::default() })
        };
        assert_eq!(of(""), "6.12.1 x86_64");
        assert_eq!(of("0123456789abcdef"), "6.12.1 x86_64 0123456789ab");
        assert_ne!(of("0123456789abcdef"), of("fedcba9876543210"));
    }
}
