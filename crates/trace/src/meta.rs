//! What a trace says about itself, beside its rows: kept as one JSON text in the Parquet file's
//! key-value metadata, under the key [`META_KEY`].

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use slablab_linux::CPUS_MAX;

use crate::cgroups::Cgroups;
use crate::page_meta::PageMeta;
use crate::portion::Recorded;
use crate::samples::{Samples, is_zero};
use crate::stacks::Stacks;
use crate::zones::RecordedZones;

/// The key of the JSON text in the Parquet file's metadata.
pub const META_KEY: &str = "slablab.trace";

/// The version of [`Meta`] and of the columns. Version 2 has estimated frees
/// ([`Kind::EstimatedFree`](crate::Kind::EstimatedFree)); a trace without any is of version 1. Version 3 has page rows.
pub const SCHEMA_VERSION: u32 = 3;
/// The version of a trace that has estimated frees and no page rows.
pub(crate) const SCHEMA_VERSION_ESTIMATED: u32 = 2;

/// Far more names of caches than a kernel has, few enough that each may be looked for among all.
const CACHE_NAMES_MAX: usize = 32 << 10;

/// Everything a trace says about itself.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Meta {
    /// [`SCHEMA_VERSION`] of the writer.
    pub schema_version: u32,
    /// The least version whose readers understand this one: a version that only adds columns or fields, which readers
    /// pass over, keeps it. 0 where the writer did not say, then it is `schema_version`.
    pub reader_version_min: u32,
    /// Release of the recorded kernel as `uname -r` gives it, "" when the source did not say.
    pub kernel_release: String,
    /// Machine of the recorded kernel as `uname -m` gives it, "" when the source did not say.
    pub arch: String,
    /// GNU build id of the recorded kernel in hexadecimal, "" when the source did not say. Offsets of call sites in two
    /// traces mean the same place where it is the same.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub build_id: String,
    /// Stands for the boot of the recorded kernel: a hash of its `boot_id`, "" when the source did not say.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub boot: String,
    /// Lines of the recorded kernel's configuration that concern its slab allocator, by symbol (`CONFIG_MEMCG`: `y`; `n` where it
    /// is not set), and `vm.mem_profiling`; empty where the source did not say.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub config: BTreeMap<String, String>,
    /// Name of the recorded machine's processors, "" when the source did not say.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub cpu: String,
    /// Memory of the recorded machine, 0 when the source did not say.
    #[serde(skip_serializing_if = "is_zero")]
    pub memory_bytes: u64,
    /// Host name of the recorded machine, "" when the source did not say.
    pub hostname: String,
    /// CPUs of the recorded machine; never below 1 + the largest `cpu` in the rows.
    pub cpus: u32,
    /// NUMA nodes of the recorded machine, at least 1.
    pub nodes: u32,
    /// NUMA node of each CPU; empty when the source did not say (then all are on node 0).
    pub cpu_nodes: Vec<u16>,
    /// Bytes in a page of the recorded machine.
    pub page_bytes: u32,
    /// What made the events: "slablab record", "perf record", "trace-cmd", ...
    pub recorder: String,
    /// Its version, "" when unknown.
    pub recorder_version: String,
    /// What was imported: the source's name and, for an import, the file's name.
    pub source: String,
    /// The command recorded, word by word; empty for a recording of the whole system.
    pub command: Vec<String>,
    /// Exit status of that command (128 + signal when a signal ended it).
    pub command_status: Option<i32>,
    /// Wall clock at the start of the recording, nanoseconds since 1970.
    pub start_unix_ns: Option<u64>,
    /// Wall clock at its end.
    pub end_unix_ns: Option<u64>,
    /// Smallest and largest `time_ns` in the rows; 0 and 0 when there are none.
    pub time_first_ns: u64,
    /// See `time_first_ns`.
    pub time_last_ns: u64,
    /// Rows, implicit frees among them.
    pub events: u64,
    /// Rows of each [`Kind`](crate::Kind), by its number. The rest of the rows are estimated frees.
    pub events_by_kind: [u64; 5],
    /// An array of this many entries holds all live objects: `object < object_slots`.
    pub object_slots: u32,
    /// Whether the addresses of call sites were left out.
    pub addresses_stripped: bool,
    /// What threads were called, last, by their ids; empty where the source did not say.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub comms: BTreeMap<u32, String>,
    /// In which memory cgroups threads were; empty where the source did not say.
    #[serde(skip_serializing_if = "Cgroups::is_empty")]
    pub cgroups: Cgroups,
    /// The call sites.
    pub sites: Vec<Site>,
    /// The caches.
    pub caches: Vec<RecordedCache>,
    /// The call stacks that rows name.
    #[serde(skip_serializing_if = "Stacks::is_empty")]
    pub stacks: Stacks,
    /// The recorded kernel's slabs when the recording began.
    pub slabs_start: Option<SlabSnapshot>,
    /// The recorded kernel's slabs when the recording ended.
    pub slabs_end: Option<SlabSnapshot>,
    /// Why the recording ended before what was recorded did, as in "its recorder did not end in order".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_early: Option<String>,
    /// Of a recording of some caches or call sites only: which, as in "cache dentry" and "call site do_epoll_create".
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<String>,
    /// The functions whose calls a probe recorded, beside the kernel's events: those that allocate or free many objects.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub probes: Vec<String>,
    /// Of a recording of a portion of the objects: which, and what it says of all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub portion: Option<Recorded>,
    /// What the recorded kernel said of its caches meanwhile.
    #[serde(skip_serializing_if = "Samples::is_empty")]
    pub samples: Samples,
    /// Of a trace with page rows, which [`Meta::events`] does not count: what they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pages: Option<PageMeta>,
    /// What the recorded kernel said of its zones, where page events were recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zones: Option<RecordedZones>,
    /// How far the rows can be trusted.
    pub quality: Quality,
}

/// A call site.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Site {
    /// `symbol+0x1c [module]`, `symbol+0x1c` in the kernel proper, `0xffff...` when no symbol was
    /// known. Unique in a trace.
    pub name: String,
    /// The return address, 0 when the source gave only a name.
    pub address: u64,
    /// The most bytes asked for at once; filled in by [`TraceWriter`](crate::TraceWriter).
    pub bytes_req_max: u64,
    /// Where the recorded kernel has copies of kmalloc's caches: the one that its objects are likely to be in, as slabinfo lets
    /// conclude
    #[serde(skip_serializing_if = "Option::is_none")]
    pub copy: Option<u16>,
}

/// A cache that an event of the trace names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct RecordedCache {
    /// Its name, as in `/proc/slabinfo`. Of a cache that several share, that of its aliases which the call
    /// sites that allocate from it suggest.
    pub name: String,
    /// The name in the rows, which is the kernel's, where it is not `name`; else "".
    #[serde(skip_serializing_if = "String::is_empty")]
    pub recorded: String,
    /// All names of a cache that several share (`/sys/kernel/slab` has them), the most telling first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// Allocations that were given to this cache by inference; their events carried no name.
    pub inferred: u64,
    /// Implicit frees (see [`Kind::ImplicitFree`](crate::Kind::ImplicitFree)) of its objects.
    pub implicit_frees: u64,
    /// Estimated frees (see [`Kind::EstimatedFree`](crate::Kind::EstimatedFree)) of its objects.
    #[serde(skip_serializing_if = "is_zero")]
    pub estimated_frees: u64,
    /// Frees of its objects that were allocated before the recording began, or by an untraced path.
    pub older_frees: u64,
    /// Allocations.
    pub allocs: u64,
    /// Frees, implicit and older ones not counted.
    pub frees: u64,
    /// The most bytes asked for at once; filled in by [`TraceWriter`](crate::TraceWriter).
    pub bytes_req_max: u64,
}

impl RecordedCache {
    /// Returns the share of the frees of its objects that were seen; `None` where none was freed.
    pub fn frees_seen_share(&self) -> Option<f64> {
        let all = self.frees + self.implicit_frees + self.estimated_frees;
        (all > 0).then(|| self.frees as f64 / all as f64)
    }

    /// Tells whether many of its frees have no event: one in 20 allocations has the address of an object that was not seen
    /// freed.
    pub fn has_unseen_frees(&self) -> bool {
        20u64.saturating_mul(self.implicit_frees) > self.allocs.max(1)
    }

    /// Returns its name in the rows.
    pub fn recorded_name(&self) -> &str {
        if self.recorded.is_empty() { &self.name } else { &self.recorded }
    }
}

/// The slab caches of a running kernel at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SlabSnapshot {
    /// The text of `/proc/slabinfo`, "" where it could not be read.
    pub slabinfo: String,
    /// What `/sys/kernel/slab` says, one entry per real cache; empty where it could not be read.
    pub caches: Vec<SlubCache>,
    /// Only in the file, to store once what did not change: the names of caches that are as they were at the start.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) as_at_start: Vec<String>,
}

/// The attributes of one directory of `/sys/kernel/slab`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SlubCache {
    /// The directory's name (`:0000064` for a merged cache).
    pub name: String,
    /// Other names of the same cache: the links that point at this directory.
    pub aliases: Vec<String>,
    /// Every attribute that is a number: object_size, align, slab_size, order, objs_per_slab,
    /// min_partial, cpu_partial, usersize, hwcache_align, reclaim_account, destroy_by_rcu, ...
    pub numbers: BTreeMap<String, u64>,
    /// The constructor's symbol, "" for none.
    pub ctor: String,
}

impl SlubCache {
    /// Returns the attribute `name` (for instance `object_size`), when the kernel has it.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.numbers.get(name).copied()
    }
}

/// Says so of more names of caches than a kernel has.
pub(crate) fn too_many_caches(names: usize) -> Option<String> {
    (names > CACHE_NAMES_MAX)
        .then(|| format!("names {names} caches, and no kernel has more than {CACHE_NAMES_MAX}"))
}

/// Returns caches by their names, the first of several of one name.
fn by_name(caches: &[SlubCache]) -> FxHashMap<&str, &SlubCache> {
    caches.iter().rev().map(|cache| (cache.name.as_str(), cache)).collect()
}

impl Meta {
    /// Returns how many rows there are of slab events and of pages; `None` of more than can be.
    pub(crate) fn rows(&self) -> Option<u64> {
        self.events.checked_add(self.pages.as_ref().map_or(0, |pages| pages.events))
    }

    /// Returns the version that a reader has to understand.
    pub(crate) fn reader_version_needed(&self) -> u32 {
        if self.reader_version_min == 0 { self.schema_version } else { self.reader_version_min }
    }

    /// Returns the share of the recorded kernel's events that a reader of the rows cannot place.
    pub fn unplaced_share(&self) -> f64 {
        let quality = &self.quality;
        // Numbers of a damaged trace may be of any size.
        let kept = self.events.saturating_add(quality.lost_total());
        let happened = kept.saturating_add(quality.skipped_total());
        if happened == 0 { 0.0 } else { (quality.unplaced() as f64 / happened as f64).min(1.0) }
    }

    /// Returns the share of the recorded kernel's events that were not lost before they could be stored.
    pub fn kept_share(&self) -> f64 {
        let (kept, lost) = (self.events as f64, self.quality.lost_total() as f64);
        if lost == 0.0 { 1.0 } else { kept / (kept + lost) }
    }

    /// Says what no machine that runs Linux can be, or what no reader has to bear.
    pub(crate) fn beyond_linux(&self) -> Option<String> {
        let cpus = self.cpus;
        if cpus > CPUS_MAX {
            return Some(format!("names {cpus} CPUs, and Linux has at most {CPUS_MAX}"));
        }
        if let Some(damage) = self.stacks.damage() {
            return Some(damage);
        }
        let of_snapshot = |slabs: &SlabSnapshot| {
            let names = slabs.caches.iter().map(|cache| 1 + cache.aliases.len());
            names.sum::<usize>() + slabs.as_at_start.len()
        };
        let snapshots = self.slabs_start.iter().chain(&self.slabs_end).map(of_snapshot);
        too_many_caches(snapshots.chain([self.caches.len()]).max().unwrap_or(0))
    }

    /// Leaves out the addresses that are not in [`Meta::sites`].
    pub(crate) fn strip_addresses(&mut self) {
        self.addresses_stripped = true;
        let snapshots = self.slabs_start.iter_mut().chain(&mut self.slabs_end);
        for cache in snapshots.flat_map(|snapshot| &mut snapshot.caches) {
            if cache.ctor.starts_with("0x") {
                cache.ctor = "(no symbol)".into();
            }
        }
    }

    /// Returns it as it is stored: nothing twice.
    pub(crate) fn packed(mut self) -> Meta {
        if let (Some(start), Some(end)) = (&self.slabs_start, &mut self.slabs_end) {
            let known = by_name(&start.caches);
            let is_same = |cache: &SlubCache| known.get(cache.name.as_str()) == Some(&cache);
            let (same, changed) = std::mem::take(&mut end.caches).into_iter().partition(is_same);
            end.caches = changed;
            end.as_at_start = Vec::into_iter(same).map(|cache: SlubCache| cache.name).collect();
        }
        self
    }

    /// Undoes [`Meta::packed`].
    pub(crate) fn unpacked(mut self) -> Meta {
        if let (Some(start), Some(end)) = (&self.slabs_start, &mut self.slabs_end) {
            // Each once, however often it is named: what is said once is not a copy of something large.
            let mut known = by_name(&start.caches);
            let as_at_start = std::mem::take(&mut end.as_at_start);
            let same = as_at_start.iter().filter_map(|name| known.remove(name.as_str()).cloned());
            end.caches.extend(same);
            end.caches.sort_by(|a, b| a.name.cmp(&b.name));
        }
        self
    }
}

impl SlabSnapshot {
    /// Returns the cache called `name`, also when that is one of its aliases.
    pub fn cache(&self, name: &str) -> Option<&SlubCache> {
        self.caches.iter().find(|c| c.name == name || c.aliases.iter().any(|a| a == name))
    }
}

/// How far the rows can be trusted: every cause has its counter.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Quality {
    /// Events that happened and were lost before they could be stored, per CPU (entry 0 = CPU 0).
    pub lost: Vec<u64>,
    /// Gaps for which the recording does not tell how many events they had; each counts one among those
    /// lost.
    #[serde(skip_serializing_if = "is_zero")]
    pub gaps_uncounted: u64,
    /// Implicit frees inserted.
    pub implicit_frees: u64,
    /// Frees inserted because the kernel had fewer objects than the events tell; those of objects older than the
    /// trace are not counted.
    #[serde(skip_serializing_if = "is_zero")]
    pub estimated_frees: u64,
    /// Frees of addresses never seen allocated: objects older than the trace, allocations by an
    /// untraced path (bulk), or lost events.
    pub older_frees: u64,
    /// Frees of NULL or of the zero-size pointer.
    pub null_frees: u64,
    /// Allocations that failed (address NULL).
    pub failed_allocs: u64,
    /// Allocations of zero bytes (address 16).
    pub zero_allocs: u64,
    /// Events that came earlier than one already seen from the same CPU.
    pub disordered: u64,
    /// Allocations from a cache whose name was inferred because the event had none.
    pub caches_inferred: u64,
    /// Allocations from a cache whose name could not be found.
    pub caches_unknown: u64,
    /// Records or lines left out, by reason.
    pub skipped: Vec<Skipped>,
}

/// Records or lines left out for one reason.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Skipped {
    /// Why, as in "line has no call_site".
    pub reason: String,
    /// How many.
    pub count: u64,
    /// Where the first was: "line 17", "byte 4096".
    pub first: String,
}

impl Quality {
    /// Counts a record or line that is left out. `place` says where it is, for the first of its reason.
    pub(crate) fn skip(&mut self, reason: &str, place: impl FnOnce() -> String) {
        self.skip_many(reason, 1, place);
    }

    /// Counts this many of them.
    pub(crate) fn skip_many(&mut self, reason: &str, count: u64, place: impl FnOnce() -> String) {
        match self.skipped.iter_mut().find(|s| s.reason == reason) {
            Some(known) => known.count += count,
            None => {
                self.skipped.push(Skipped { reason: reason.to_owned(), count, first: place() });
            }
        }
    }

    /// Returns how many events were lost on all CPUs together.
    pub fn lost_total(&self) -> u64 {
        self.lost.iter().fold(0, |sum, lost| sum.saturating_add(*lost))
    }

    /// Returns how many records or lines were left out.
    pub fn skipped_total(&self) -> u64 {
        self.skipped.iter().fold(0, |sum, skipped| sum.saturating_add(skipped.count))
    }

    /// Returns how many of the recorded kernel's events a reader of the rows cannot place: lost,
    /// skipped, freed implicitly, or freed without an allocation in the trace.
    pub fn unplaced(&self) -> u64 {
        let unseen = [self.implicit_frees, self.estimated_frees, self.older_frees];
        let all = [self.lost_total(), self.skipped_total()].into_iter().chain(unseen);
        all.fold(0, u64::saturating_add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_said_twenty_thousand_times_is_one_cache() {
        let large =
            SlubCache { name: "a".into(), ctor: "x".repeat(1 << 20), ..SlubCache::default() };
        let meta = Meta {
            slabs_start: Some(SlabSnapshot { caches: vec![large], ..SlabSnapshot::default() }),
            slabs_end: Some(SlabSnapshot {
                as_at_start: vec!["a".into(); 20_000],
                ..SlabSnapshot::default()
            }),
            ..Meta::default()
        };
        assert_eq!(meta.unpacked().slabs_end.unwrap().caches.len(), 1);
    }

    #[test]
    fn more_caches_than_a_kernel_has_are_refused() {
        let named = |aliases: usize| {
            let cache = SlubCache { aliases: vec!["a".into(); aliases], ..SlubCache::default() };
            let slabs = SlabSnapshot { caches: vec![cache], ..SlabSnapshot::default() };
            Meta { slabs_end: Some(slabs), ..Meta::default() }.beyond_linux()
        };
        assert_eq!(named(CACHE_NAMES_MAX - 1), None);
        let sentence = named(60_000).unwrap();
        assert!(sentence.starts_with("names 60001 caches, and no kernel"), "{sentence}");
    }

    #[test]
    fn packing_loses_nothing() {
        let cache = |name: &str, order| SlubCache {
            name: name.into(),
            numbers: BTreeMap::from([("order".to_owned(), order)]),
            ..SlubCache::default()
        };
        let snapshot = |caches| SlabSnapshot { caches, ..SlabSnapshot::default() };
        let meta = Meta {
            slabs_start: Some(snapshot(vec![cache("a", 0), cache("b", 1), cache("gone", 1)])),
            slabs_end: Some(snapshot(vec![cache("a", 0), cache("b", 2), cache("new", 3)])),
            ..Meta::default()
        };
        let packed = meta.clone().packed();
        assert_eq!(packed.slabs_end.as_ref().unwrap().caches.len(), 2);
        let json = serde_json::to_string(&packed).unwrap();
        assert_eq!(serde_json::from_str::<Meta>(&json).unwrap().unpacked(), meta);
    }
}
