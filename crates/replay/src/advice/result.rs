//! Advice: changes that were tried, what each would do, and whether it is worth it.

use std::collections::BTreeMap;

use serde::Serialize;
use slablab_trace::Meta;

use crate::change::changes::Changes;
use crate::metrics::lifetimes::LifetimeSummary;
use crate::metrics::requests::SizeCount;
use crate::metrics::result::{Site, TraceFacts, hardly_any, is_zero};

/// A change, and what it would do.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Advice {
    /// What to change
    pub change: Change,
    /// The call site in question, or the class of sizes
    pub subject: String,
    /// Allocations of the site; for a class, of the site with most objects that fit (layouts and lifetimes are of
    /// that site, too)
    pub allocs: u64,
    /// The most objects alive at once; for a class, of all sites that fit, together
    pub live_peak: u64,
    /// The most bytes requested for an object
    pub object_bytes: u64,
    /// Bytes that kmalloc allocates for it
    pub class_bytes: u64,
    /// Bytes by which the machine's peak is lower, at whatever moments the two peaks are
    pub saved_bytes_at_peak: i64,
    /// Bytes held less on average
    pub saved_bytes_mean: i64,
    /// Bytes held less after the last event
    pub saved_bytes_end: i64,
    /// Bytes held less on average while at least half of its objects are there
    pub saved_bytes_loaded: i64,
    /// Standard deviation of that mean
    pub saved_bytes_spread: u64,
    /// Bytes of the largest slab that takes part: savings come in slabs
    pub slab_bytes: u64,
    /// How the objects lie as recorded
    pub before: Layout,
    /// How they would lie
    pub after: Layout,
    /// Share of the class's allocations on the fast path, as recorded
    pub fast_share_before: f64,
    /// The same with the change
    pub fast_share_after: f64,
    /// Whether the objects are scattered as recorded, that is, lie in many more pages than they
    /// need
    pub scattered: bool,
    /// Facts about the objects
    pub profile: Profile,
    /// Whether it is worth doing
    pub worth: Worth,
}

impl Advice {
    /// Returns whether it is a cache of its own for a call site.
    #[must_use]
    pub fn is_own_cache(&self) -> bool {
        matches!(self.change, Change::Dedicate { .. })
    }
}

/// Facts about a call site's objects, beside their number and size.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Profile {
    /// The requested sizes, the most frequent one first; at most 8
    pub sizes: Vec<SizeCount>,
    /// Allocations of further sizes
    pub allocs_of_other_sizes: u64,
    /// Allocations a second
    pub allocs_per_second: u64,
    /// Share of the freed objects that another CPU freed
    pub freed_elsewhere_share: f64,
    /// Share of the allocations and frees on the slow path: with a lock, or an atomic operation on memory that CPUs share
    pub slow_share: f64,
    /// How long the objects lived
    pub lifetime: LifetimeSummary,
    /// Objects alive at the end
    pub live_end: u64,
    /// Whether the site may leak: hardly an object was freed, though most had time for it, or their number grew to the end
    #[serde(skip_serializing_if = "is_false")]
    pub may_leak: bool,
}

impl Profile {
    /// Returns whether at most one in fifty of a site's `allocs` objects was freed over the recording.
    #[must_use]
    pub fn keeps(&self, allocs: u64) -> bool {
        hardly_any(self.lifetime.ended, allocs)
    }
}

/// Returns whether a field that few call sites have is left out.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_false(flag: &bool) -> bool {
    !*flag
}

/// A call site of kmalloc that is worth reading, whatever a cache of its own would do.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct NotedSite {
    /// Its name
    pub site: String,
    /// Allocations
    pub allocs: u64,
    /// The most objects alive at once
    pub live_peak: u64,
    /// The most bytes requested for an object
    pub object_bytes: u64,
    /// Bytes that kmalloc allocates for it
    pub class_bytes: u64,
    /// Bytes of the class below
    pub class_bytes_below: u64,
    /// The most bytes at once that were allocated but not requested
    pub waste_bytes: u64,
    /// Facts about the objects
    pub profile: Profile,
}

/// A change that can be advised.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Change {
    /// A cache of its own for a call site
    Dedicate {
        /// A name for it
        cache: String,
    },
    /// A further kmalloc size class
    Class {
        /// Its bytes
        bytes: u32,
    },
}

/// Whether a change is worth making.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub enum Worth {
    /// It saves memory
    #[serde(rename = "saves")]
    SavesMemory,
    /// It brings scattered objects together, for little or no memory
    #[serde(rename = "gathers")]
    ImprovesLocality,
    /// It changes little
    #[serde(rename = "little")]
    Negligible,
    /// It costs memory
    #[serde(rename = "costs")]
    CostsMemory,
    /// It saves memory on objects that may leak, which a cache does not help
    #[serde(rename = "leak")]
    MayLeak,
}

/// Why no cache of its own was tried for a call site of kmalloc.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotTried {
    /// It holds less than a page at any time
    TooSmall,
    /// Too few of its objects were seen to be freed
    FreesUnseen,
    /// It allocates for the slab allocator itself
    Own,
    /// It allocates the data of network packets
    Payload,
    /// It allocates for whoever calls it
    Helper,
    /// It requests several sizes, which one cache cannot serve
    ManySizes,
    /// Others promise more, and one pass has room for no further ones
    Untried,
}

impl Worth {
    /// Returns whether it is advised.
    #[must_use]
    pub fn is_useful(self) -> bool {
        matches!(self, Self::SavesMemory | Self::ImprovesLocality)
    }
}

/// How a site's objects lie; means over snapshots of the trace.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Layout {
    /// Live objects in the snapshot with most of them; 0 if all snapshots are empty
    pub objects_per_walk: u64,
    /// Cache lines that a walk over them touches
    pub lines_per_walk: u64,
    /// Pages of 4 KiB that it touches
    pub pages_per_walk: u64,
    /// Lines for each object
    pub lines_per_object: f64,
    /// Pages for each object
    pub pages_per_object: f64,
}

/// The advice on a trace.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct AdviceList {
    /// What was replayed
    pub trace: TraceFacts,
    /// Bytes held at peak as recorded, on a machine that begins with empty slabs
    pub held_bytes_peak: u64,
    /// Bytes in slabs that the recorded kernel had before the first event, and this machine has not
    #[serde(skip_serializing_if = "is_zero")]
    pub slab_bytes_before: u64,
    /// kmalloc sites in the trace
    pub sites: u64,
    /// Sites not tried: they hold too little at any time to fill a page
    pub sites_too_small: u64,
    /// Sites not tried: the free was seen of fewer than 90 % of their objects
    #[serde(skip_serializing_if = "is_zero")]
    pub sites_unseen: u64,
    /// Sites not tried: they allocate for the slab allocator itself
    pub sites_own: u64,
    /// Sites not tried: they allocate the data of network packets
    pub sites_payload: u64,
    /// Sites not tried: they are helpers, which allocate for whoever calls them
    pub sites_helper: u64,
    /// Whether most call sites keep what they allocate, as in a boot: objects that stay are then taken for a population
    pub most_keep: bool,
    /// Bytes that have to be saved before a change is advised: more than the share of the trace that
    /// could not be placed
    pub saving_bytes_min: u64,
    /// Sites not tried: they request many sizes, which one cache cannot serve; by waste
    pub many_sizes: Vec<NotedSite>,
    /// Sites whose objects are a few bytes too large for the class below; by waste
    pub over_class: Vec<NotedSite>,
    /// Sites by allocations, whether they hold much or not
    pub hot: Vec<NotedSite>,
    /// Changes not tried: one pass has no room for them, and they promised least
    pub untried: u64,
    /// Changes, best first: those worth making by bytes saved at the peak, then the rest likewise; stored with words
    /// beside it
    #[serde(skip)]
    pub advice: Vec<Advice>,
    /// Why kmalloc sites were not tried, by name; not part of the stored result
    #[serde(skip)]
    pub not_tried: BTreeMap<String, NotTried>,
    /// All call sites as recorded, under the allocator; not part of the stored result
    #[serde(skip)]
    pub recorded: Vec<Site>,
}

impl AdviceList {
    /// Returns the changes worth making, best first.
    pub fn useful(&self) -> impl Iterator<Item = &Advice> {
        self.advice.iter().filter(|advice| advice.worth.is_useful())
    }

    /// Returns the changes that give every call site worth it a cache of its own. Returns those sites, too, best
    /// first, as places in [`Meta::sites`]; `meta` is that of the trace.
    #[must_use]
    pub fn together(&self, meta: &Meta) -> (Changes, Vec<u32>) {
        let place = |subject: &str| meta.sites.iter().position(|site| site.name == subject);
        let dedicated = self.useful().filter(|advice| advice.is_own_cache());
        let sites: Vec<u32> = dedicated.filter_map(|a| Some(place(&a.subject)? as u32)).collect();
        // The caches of two sites of one function would have one name, but a site's whole name tells
        // them apart.
        let name = |site: u32| meta.sites[site as usize].name.clone();
        let none = Changes::default();
        let changes = sites.iter().fold(none, |all, site| all.dedicate(name(*site), vec![*site]));
        (changes, sites)
    }
}
