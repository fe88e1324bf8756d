//! What keeping kmalloc's objects apart costs: bytes, slabs and caches, with the structures that each cache needs.
//!
//! # How it works
//! The trace is replayed as recorded and with the partition; a partition that is drawn at boot is replayed
//! once for each of many seeds, a few in a pass. Random copies also keep apart what the recorded kernel merged with a
//! class, because they are never merged. A call site, or a structure, that requests sizes of several classes of kmalloc has
//! a cache for each of these, as `kmem_buckets_create()` makes them; sizes above the largest class have none.
//!
//! # Differences from Linux
//! The files of a cache under `/sys` are not counted.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use slablab_kmem::BackendKind;
use slablab_trace::{AllocatedType, Meta, SlabSnapshot, TraceReader};

use crate::change::changes::{Changes, Dedicated, Dedication};
use crate::change::partition::Partition;
use crate::change::select::SelectError;
use crate::engine::caches;
use crate::engine::replay::replay_all;
use crate::error::Error;
use crate::metrics::gauge::Level;
use crate::metrics::requests::{Classes, Requests, survey};
use crate::metrics::result::{Allocator, TraceFacts};
use crate::plan::{ReplayPlan, Start};
use crate::whatif::typed::{self, TypedPartitions, typed_partitions};

/// Seeds that are tried where a kernel draws one, if the trace is short.
const SEEDS: u64 = 20;
/// Seeds that are tried of any trace.
const SEEDS_MIN: u64 = 4;
/// Rows that the replays of all seeds have together, at most, if [`SEEDS_MIN`] have fewer: about half a minute.
const ROWS_MAX: u64 = 1 << 28;
/// Replays in one pass.
const AT_ONCE: usize = 8;

/// How objects are kept apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum PartitionBy {
    /// A hash of the call site, with a seed of each boot
    Random {
        /// Copies of each class
        copies: u32,
    },
    /// Whether user space decides size and content
    Buckets,
    /// The call site itself
    Site,
    /// The structure that is allocated; the call site where none is known
    Type,
    /// The token that Clang gives to the type that is allocated
    Typed {
        /// Copies of each class
        tokens: u32,
    },
}

impl PartitionBy {
    /// Returns how many replays of a trace of `events` events [`partition_cost`] makes.
    #[must_use]
    pub fn replays(self, events: u64) -> u64 {
        match self {
            PartitionBy::Random { .. } => 1 + seeds(events),
            _ => 2,
        }
    }
}

/// Returns how many seeds are tried on a trace of `events` events.
fn seeds(events: u64) -> u64 {
    (ROWS_MAX / events.max(1)).clamp(SEEDS_MIN, SEEDS)
}

/// What a partition costs on a trace.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct PartitionCost {
    /// What was replayed
    pub trace: TraceFacts,
    /// The allocator
    pub allocator: String,
    /// The partition
    #[serde(flatten)]
    pub by: PartitionBy,
    /// Bytes of the structures of one cache
    pub structures_bytes_each: u64,
    /// Facts about types, where objects are kept apart by them
    #[serde(skip_serializing_if = "Option::is_none")]
    pub typed: Option<Typed>,
    /// What each partition has, where they are chosen by the types' tokens
    #[serde(skip_serializing_if = "Option::is_none")]
    pub divided: Option<TypedPartitions>,
    /// As recorded
    pub recorded: Partitioned,
    /// With the partition, an entry for each seed
    pub partitioned: Vec<Partitioned>,
}

/// Facts about the types of a trace's objects.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Typed {
    /// Structures that its call sites allocate
    pub structures: u64,
    /// Call sites that allocate one of these
    pub sites: u64,
    /// Call sites of kmalloc
    pub sites_all: u64,
}

impl Typed {
    fn of(types: &[Option<AllocatedType>], survey: &Requests) -> Self {
        let sites = types.iter().zip(&survey.classes).filter(|(_, classes)| !classes.is_empty());
        let named = sites.clone().filter_map(|(one, _)| structure(one.as_ref()));
        let structures: BTreeSet<&str> = named.clone().collect();
        Self {
            structures: structures.len() as u64,
            sites: named.count() as u64,
            sites_all: sites.count() as u64,
        }
    }
}

/// Returns the name of a type that is a structure or a union.
fn structure(one: Option<&AllocatedType>) -> Option<&str> {
    one.map(|one| one.name.as_str()).filter(|name| is_structure(name))
}

/// Returns whether a type's name is that of a structure or union, and not of a pointer to one. Other types (text,
/// arrays of numbers) differ as much as their call sites.
fn is_structure(name: &str) -> bool {
    ["struct ", "union "].iter().any(|keyword| name.starts_with(keyword)) && !name.ends_with('*')
}

/// Gives each kmalloc site a cache for each class from which it allocates; sites with the same name from `owner` share
/// it, and a site without one has its own.
fn apart<'a>(
    meta: &Meta,
    survey: &Requests,
    classes: &Classes,
    owner: impl Fn(usize) -> Option<&'a str>,
) -> Changes {
    let mut dedicated: BTreeMap<(String, u32), Dedicated> = BTreeMap::new();
    for (i, site) in meta.sites.iter().enumerate() {
        for class in survey.classes[i].iter() {
            let name = owner(i).unwrap_or(&site.name).to_owned();
            let bytes = |class: u32| u64::from(classes.bytes(class));
            let make = || Dedicated {
                name: format!("{name} in {}", classes.bytes(class)),
                sites: Vec::new(),
                align: 0,
                sizes: Some((class.checked_sub(1).map_or(0, bytes), bytes(class))),
            };
            dedicated.entry((name.clone(), class)).or_insert_with(make).sites.push(i as u32);
        }
    }
    Changes {
        dedicated: dedicated.into_values().collect(),
        dedication: Dedication::Every,
        ..Changes::default()
    }
}

/// What a machine with or without a partition held.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Partitioned {
    /// Bytes in slabs and large blocks
    pub held_bytes: Level,
    /// Slabs
    pub slabs: Level,
    /// Caches that ever had an object
    pub caches_used: u64,
    /// Caches beyond the recorded ones, used or not
    pub caches_added: u64,
    /// Bytes of their structures
    pub structures_bytes: u64,
    /// Allocations that found no memory
    pub failed: u64,
}

/// The least, the median and the most of several numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// The least
    pub least: u64,
    /// The median, the lower one of two
    pub median: u64,
    /// The most
    pub most: u64,
}

impl PartitionCost {
    /// Returns the range of a number over the seeds.
    #[must_use]
    pub fn range(&self, read: impl Fn(&Partitioned) -> u64) -> Range {
        let mut numbers: Vec<u64> = self.partitioned.iter().map(read).collect();
        numbers.sort_unstable();
        let at = |place: usize| numbers.get(place).copied().unwrap_or(0);
        let last = numbers.len().saturating_sub(1);
        Range { least: at(0), median: at(last / 2), most: at(last) }
    }
}

/// Replays a trace with and without a partition under one allocator; `progress` gets rows times replays. `types` has the
/// type that each call site of the trace allocates, for [`PartitionBy::Type`].
///
/// # Errors
///
/// Fails as [`crate::replay()`] does. Returns [`Error::SharedPages`] for an allocator without kmalloc caches, and
/// [`Error::Select`] for a trace without call sites.
pub fn partition_cost(
    reader: &TraceReader,
    kind: BackendKind,
    memory_bytes: Option<u64>,
    by: PartitionBy,
    types: &[Option<AllocatedType>],
    progress: &mut dyn FnMut(u64),
) -> Result<PartitionCost, Error> {
    if !kind.has_kmalloc_caches() {
        return Err(Error::SharedPages { allocator: kind.name().to_owned() });
    }
    let meta = reader.meta();
    if meta.sites.is_empty() {
        return Err(Error::Select(SelectError::NoSites));
    }
    let classes = Classes::new(&caches::kmalloc(meta, &Changes::default()).classes);
    let survey = survey(reader, meta, &classes)?;
    let changes = changes(by, meta, &survey, &classes, types);
    let made: BTreeSet<String> =
        changes[0].dedicated.iter().map(|dedicated| dedicated.name.clone()).collect();
    let plan = |changes: Changes| ReplayPlan {
        allocators: vec![kind],
        memory_bytes,
        start: Start::Cold,
        changes,
        ..ReplayPlan::default()
    };
    let plans: Vec<_> = std::iter::once(Changes::default()).chain(changes).map(plan).collect();
    let mut replays = Vec::with_capacity(plans.len());
    for plans in plans.chunks(AT_ONCE) {
        let mut seen = 0;
        let mut note = |done: u64| {
            progress((done - seen) * plans.len() as u64);
            seen = done;
        };
        replays.extend(replay_all(reader, plans, &mut note)?);
    }
    let trace = replays[0].trace.clone();
    let structures_bytes_each = structures_bytes(meta, kind);
    let classes = classes.len() as u64;
    let kept_apart = caches::kept_apart_by_random_copies(meta) as u64;
    let own = |allocator: &Allocator, partitioned: bool| {
        let caches_added = match by {
            _ if !partitioned => 0,
            PartitionBy::Random { copies } | PartitionBy::Typed { tokens: copies } => {
                u64::from(copies.saturating_sub(1)) * classes + kept_apart
            }
            PartitionBy::Buckets => u64::from(Partition::Buckets.copies() - 1) * classes,
            PartitionBy::Site | PartitionBy::Type => {
                let names = allocator.caches.iter().map(|cache| cache.cache.as_str());
                names.filter(|name| made.contains(*name)).count() as u64
            }
        };
        Partitioned {
            held_bytes: allocator.held_bytes,
            slabs: allocator.slabs,
            caches_used: allocator.caches.len() as u64,
            caches_added,
            structures_bytes: caches_added * structures_bytes_each,
            failed: allocator.failed,
        }
    };
    let divided = match by {
        PartitionBy::Typed { tokens } => {
            let allocator = &replays[1].allocators[0];
            Some(typed_partitions(reader, types, tokens, allocator)?)
        }
        _ => None,
    };
    let mut machines = replays.iter().flat_map(|replay| &replay.allocators);
    let recorded = machines.next().map(|allocator| own(allocator, false));
    let partitioned = machines.map(|allocator| own(allocator, true)).collect();
    Ok(PartitionCost {
        trace,
        allocator: kind.name().to_owned(),
        by,
        structures_bytes_each,
        divided,
        typed: (by == PartitionBy::Type).then(|| Typed::of(types, &survey)),
        recorded: recorded.expect("the first plan is the recorded one"),
        partitioned,
    })
}

/// Returns the changes that keep objects apart, those of each seed where there are any.
fn changes(
    by: PartitionBy,
    meta: &Meta,
    survey: &Requests,
    classes: &Classes,
    types: &[Option<AllocatedType>],
) -> Vec<Changes> {
    let partition = |one| Changes { partition: Some(one), ..Changes::default() };
    match by {
        PartitionBy::Random { copies } => (1..=seeds(meta.events))
            // The kernel draws 64 bits; these are equally good, and the same in every run.
            .map(|i| Partition::Random { copies, seed: i.wrapping_mul(0x9e37_79b9_7f4a_7c15) })
            .map(partition)
            .collect(),
        PartitionBy::Buckets => vec![partition(Partition::Buckets)],
        PartitionBy::Site => vec![apart(meta, survey, classes, |_| None)],
        PartitionBy::Type => {
            vec![apart(meta, survey, classes, |site| structure(types.get(site)?.as_ref()))]
        }
        PartitionBy::Typed { tokens } => {
            let copy = |one: &Option<AllocatedType>| typed::token(one.as_ref(), tokens);
            let of_sites = types.iter().map(|one| copy(one).unwrap_or(0) as u16).collect();
            vec![partition(Partition::Typed { copies: tokens, of_sites })]
        }
    }
}

/// The number of nodes that sysfs has for a cache of SLUB's: a folder and its files. 195 more caches in 6.12
/// (`CONFIG_RANDOM_KMALLOC_CACHES`) have 5,612 more objects of `kernfs_node_cache`.
const SYSFS_NODES: u64 = 29;

/// Returns the bytes of a cache's own structures: `kmem_cache`, a `kmem_cache_node` for each node, its structures
/// for each CPU, and its folder in `/sys/kernel/slab`.
pub(crate) fn structures_bytes(meta: &Meta, kind: BackendKind) -> u64 {
    let snapshots = || meta.slabs_start.iter().chain(&meta.slabs_end);
    let size = |name: &str| {
        snapshots().find_map(|slabs: &SlabSnapshot| slabs.cache(name)?.number("slab_size"))
    };
    // The sizes are those of 6.12 on x86-64 where the trace does not tell.
    let cache = size("kmem_cache").unwrap_or(256);
    let node = size("kmem_cache_node").unwrap_or(64);
    let cpu = match kind {
        // `slub_percpu_sheaves` and a main sheaf of 60 objects.
        BackendKind::SlubSheaves => 32 + 512,
        BackendKind::SlubTiny | BackendKind::Dense => 0,
        // `kmem_cache_cpu`.
        _ => 32,
    };
    let sysfs = match kind {
        BackendKind::Slub | BackendKind::SlubHybrid | BackendKind::SlubSheaves => {
            SYSFS_NODES * size("kernfs_node_cache").unwrap_or(128)
        }
        _ => 0,
    };
    cache + node * u64::from(meta.nodes.max(1)) + cpu * u64::from(meta.cpus.max(1)) + sysfs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_trace_is_replayed_for_fewer_seeds() {
        let events = [1, 1_600_000, 20_000_000, 50_000_000, u64::MAX];
        assert_eq!(events.map(seeds), [20, 20, 13, 5, 4]);
        assert_eq!(PartitionBy::Random { copies: 16 }.replays(1), 21);
        assert_eq!(PartitionBy::Site.replays(1), 2);
    }
}
