//! What the folder of a recording says beside its pages: before the first event, and behind the last.

use serde::{Deserialize, Serialize};

use super::chosen;
use super::options::{Keep, RecordOptions};
use super::slab_limit::SlabReached;
use crate::cgroups::Running;
use crate::meta::SlabSnapshot;
use crate::{Meta, RecordedZones, Samples};

/// What is known before the first event.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Head {
    /// [`Head::VERSION`] of the recorder.
    pub(super) version: u32,
    /// The recorder's process, as it numbers itself.
    pub(super) pid: u32,
    /// Its instance of tracefs, whose buffers outlive a recorder that is killed.
    pub(super) instance: String,
    /// The CPUs whose buffers are emptied.
    pub(super) cpus: Vec<u32>,
    /// The texts of `events/header_page` and `events/header_event`.
    pub(super) page: (String, String),
    /// Bytes of a page of the ring buffer.
    pub(super) page_bytes: usize,
    /// The texts of the events' `format`.
    pub(super) formats: Vec<String>,
    pub(super) chosen: ChosenParts,
    pub(super) meta: Meta,
    /// In which cgroups threads are.
    #[serde(default)]
    pub(super) cgroups: Running,
}

/// What was chosen to be recorded, as far as the making of the trace depends on it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct ChosenParts {
    pub(super) caches: Vec<String>,
    pub(super) sites: Vec<String>,
    #[serde(default)]
    pub(super) callers: Vec<String>,
    /// Whether frees are left out.
    #[serde(default)]
    pub(super) is_without_frees: bool,
    pub(super) one_in: Option<u32>,
    /// Whether only the last events are kept.
    pub(super) is_last: bool,
    /// Whether addresses are left out of the trace.
    pub(super) is_stripped: bool,
}

/// What is known when the events are off.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Tail {
    /// Events lost, by CPU.
    pub(super) lost: Vec<u64>,
    /// Calls that no probe could record.
    pub(super) missed_calls: u64,
    /// Objects that were chosen, and whose free would not have been seen.
    #[serde(default)]
    pub(super) unfollowed: u64,
    /// Events that no program looked at, as it was looking at another of that CPU: one that an interrupt came between, or another
    /// thread where the kernel lets it. Whether they were chosen is not known. Of a portion of the pages they are its share.
    #[serde(default)]
    pub(super) unlooked: u64,
    /// Allocations below `callers` that were taken for those of others: an estimate.
    #[serde(default)]
    pub(super) passed_over: u64,
    /// Allocations whose stack is cut, and in which no caller was found.
    #[serde(default)]
    pub(super) too_deep: u64,
    /// The exit status to pass on; `None` without a command, and where the recorder was killed.
    pub(super) status: Option<i32>,
    /// What the command left running.
    pub(super) left_running: Vec<String>,
    /// What slabs held when that ended the recording.
    pub(super) slab_reached: Option<SlabReached>,
    pub(super) elapsed_ns: u64,
    /// The greatest share of its time that a thread waited for its file.
    pub(super) write_share: f64,
    pub(super) end_unix_ns: Option<u64>,
    pub(super) slabs_end: Option<SlabSnapshot>,
    pub(super) samples: Samples,
    /// The zones, where page events were recorded
    #[serde(default)]
    pub(super) zones: Option<RecordedZones>,
    /// In which cgroups threads are.
    #[serde(default)]
    pub(super) cgroups: Running,
    /// Why the recording ended before what it recorded did.
    pub(super) ended_early: Option<String>,
    /// No event behind this time is of the recording: the kernel went on without its recorder.
    pub(super) until_ns: Option<u64>,
}

impl Head {
    /// Changes when an older version of slablab cannot read the folder any more.
    pub(super) const VERSION: u32 = 3;
    /// The version whose files have the pages as they are.
    pub(super) const VERSION_WHOLE_PAGES: u32 = 1;

    /// Returns whether there are files of events that BPF chose.
    pub(super) fn has_objects(&self) -> bool {
        self.formats.iter().any(|format| format == chosen::FORMATS[0])
    }

    /// Returns whether its files have packed pages.
    pub(super) fn is_packed(&self) -> bool {
        self.version > Head::VERSION_WHOLE_PAGES
    }
}

impl ChosenParts {
    pub(super) fn of(options: &RecordOptions) -> ChosenParts {
        ChosenParts {
            caches: options.caches.clone(),
            sites: options.sites.clone(),
            callers: options.callers.clone(),
            is_without_frees: !options.frees,
            one_in: options.one_in,
            is_last: options.keep == Keep::Last,
            is_stripped: options.addresses == crate::Addresses::Strip,
        }
    }

    /// Returns whether something is concluded of a cache from what slabinfo said of it: of caches whose events are not all
    /// recorded nothing can be.
    pub(super) fn is_whole(&self, cache: &String) -> bool {
        self.one_in.is_none()
            && self.sites.is_empty()
            && self.callers.is_empty()
            && !self.is_without_frees
            && (self.caches.is_empty() || self.caches.contains(cache))
    }
}
