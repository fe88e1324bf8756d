//! What a hunt found, and what it could not see.

use serde::Serialize;

use crate::verdict::Verdict;

/// Objects of one owner, program and cache.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Finding {
    /// The function that allocates for itself, with its module
    pub owner: String,
    /// The name of the program that ran; of several programs, how many
    pub program: String,
    /// How many programs this adds up: one; or several with too few objects each, whose own findings stand beside
    pub programs: u64,
    /// The cache
    pub cache: String,
    /// What the objects are
    pub verdict: Verdict,
    /// Seconds after the begin of the hunt at which the verdict can be told
    #[serde(skip_serializing_if = "Option::is_none")]
    pub told_at_seconds: Option<f64>,
    /// Objects that are alive and were allocated since the hunt began; an estimate where not all were seen
    pub objects: u64,
    /// Their bytes
    pub bytes: u64,
    /// How many of them were seen themselves
    pub seen: u64,
    /// Objects a second that stay
    pub per_second: f64,
    /// The interval of 95 % of those
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<(f64, f64)>,
    /// Bytes a second that stay
    pub bytes_per_second: f64,
    /// Of the objects that were alive and ten seconds old halfway through the hunt, the share that still is
    #[serde(skip_serializing_if = "Option::is_none")]
    pub survival: Option<f64>,
    /// Age of the oldest
    pub oldest_seconds: f64,
    /// Allocations a second of the call site that most of them come from, by all programs
    pub site_allocations_per_second: f64,
    /// Processes that allocated them, 32 at most
    pub processes: u64,
    /// How many of those still run
    pub processes_running: u64,
    /// One of the processes, one that runs if there is one
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<u32>,
    /// The number of the memory cgroup's folder; absent for the root
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cgroup_id: Option<u64>,
    /// Whether the cache itself has not grown by as much: frees of these objects were not seen
    pub frees_unseen: bool,
    /// The call stack that most of them have, the owner first; empty where none was kept
    pub stack: Vec<String>,
}

/// What a hunt saw in all.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Seen {
    /// How long it lasted
    pub seconds: f64,
    /// Allocations that were counted
    pub allocations: u64,
    /// Call sites that allocated
    pub sites: u64,
    /// Objects that were tracked with their stacks
    pub tracked: u64,
    /// Those that were freed
    pub freed: u64,
    /// Those that are alive and still tracked
    pub alive: u64,
    /// Objects for which there is room
    pub alive_max: u64,
    /// Objects that were there before the hunt, which it does not judge, and their bytes
    pub older: Option<(u64, u64)>,
}

/// What a hunt could not see.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Unseen {
    /// Allocations and frees in an interrupt of a program that was running
    pub nested: u64,
    /// Objects that were not tracked, as the table was full
    pub live_full: u64,
    /// Allocations that were not counted, as the table of call sites was full
    pub sites_full: u64,
    /// Allocations at busy call sites of programs that had the share of their site, as the table was full
    pub programs_full: u64,
    /// Whether a greater `--ram` gives such programs room
    pub programs_want_memory: bool,
    /// Objects a second that the busiest program at a call site may leak without being seen in this time; 0 where all is followed
    pub leaks_per_second: f64,
    /// Objects whose stack was not kept, as the table was full
    pub stacks_full: u64,
    /// Objects that had no stack
    pub stacks_failed: u64,
    /// Objects whose stack has more frames than are kept
    pub stacks_cut: u64,
    /// Objects that must have been freed unseen, as their address was allocated again
    pub frees: u64,
    /// Functions that free without an event and could not be watched
    pub unwatched: Vec<String>,
}
