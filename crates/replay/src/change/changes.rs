//! Changes that can be tried: caches of their own for call sites, other kmalloc classes, other
//! tunables.
//!
//! # How it works
//! A [`Changes`] is plain data and adds up: [`Changes::dedicate`] and its siblings check their
//! arguments against the trace, and [`crate::change::rewrite`] then changes events on their way to the engine. So a
//! what-if equals, to the byte, a replay of the trace in which those events had been rewritten by hand, and undoing
//! a change is a change like any other.

use std::collections::{BTreeMap, HashMap};

use rustc_hash::FxHashMap;
use slablab_kmem::geometry::Arch;
use slablab_kmem::{Order, PAGE_SIZE, Tunables};
use slablab_trace::{Meta, RecordedCache, Site};

use crate::change::accounting::AccountingChange;
use crate::change::partition::Partition;

/// The sizes of pages, in bytes, that a simulated machine can have.
pub const PAGE_BYTES: [u64; 3] = [4 << 10, 16 << 10, 64 << 10];

/// Machines, as `uname -m` names them, whose pointers have 4 bytes.
const ARCHES_32: [&str; 9] =
    ["armv5tel", "armv6l", "armv7l", "armv8l", "i386", "i586", "i686", "mips", "ppc"];

/// Changes to what the recorded kernel did; none by default.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Changes {
    /// Caches made for kmalloc call sites
    pub dedicated: Vec<Dedicated>,
    /// How strictly `dedicated` is checked
    pub dedication: Dedication,
    /// Caches, by name, whose objects come from kmalloc instead
    pub undedicated: Vec<String>,
    /// kmalloc size classes in bytes, rising; the recorded kernel's if `None`
    pub classes: Option<Vec<u32>>,
    /// Bytes of a page; the recorded machine's if `None`
    pub page_bytes: Option<u32>,
    /// Copies of each kmalloc class, chosen by call site; the recorded kernel's if `None`
    pub buckets: Option<u32>,
    /// How kmalloc's objects are kept apart, instead of `buckets`
    pub partition: Option<Partition>,
    /// Whether caches that are alike share slabs
    pub sharing: Sharing,
    /// Tunables of all caches
    pub tunables: Tunables,
    /// Tunables of single caches by name, instead of those of all
    pub cache_tunables: BTreeMap<String, Tunables>,
    /// Highest order of a slab that holds more than one object (`slab_max_order`); the recorded kernel's if `None`
    pub order_max: Option<u8>,
    /// Objects that a slab should hold at least (`slab_min_objects`); the recorded kernel's if `None`
    pub min_objects: Option<u32>,
    /// What is accounted, where that is not as recorded
    pub accounting: AccountingChange,
}

/// Which call sites the dedicated caches are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dedication {
    /// Those that the user named: each cache must have a site that calls kmalloc
    #[default]
    Named,
    /// All of them: those that do not call kmalloc are passed over
    Every,
}

/// Whether caches that are alike share slabs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sharing {
    /// Recorded caches as recorded (the trace has their names after merging), and each dedicated one apart
    #[default]
    Recorded,
    /// As Linux merges: where the recorded kernel did, dedicated caches share slabs as they would there; elsewhere
    /// all caches that are alike do
    Merged,
}

/// A cache made for kmalloc call sites.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dedicated {
    /// Its name
    pub name: String,
    /// The call sites, as places in [`Meta::sites`]
    pub sites: Vec<u32>,
    /// Its alignment in bytes; 0 for the default
    pub align: u32,
    /// The sizes that it serves: larger than the first, and up to the second; all if `None`. Other sizes of the same
    /// call sites may have caches of their own, or come from kmalloc.
    pub sizes: Option<(u64, u64)>,
}

impl Changes {
    /// Returns whether nothing is changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self { dedication: self.dedication, ..Self::default() }
    }

    /// Adds a cache `name` for these call sites.
    #[must_use]
    pub fn dedicate(mut self, name: impl Into<String>, sites: Vec<u32>) -> Self {
        self.dedicated.push(Dedicated { name: name.into(), sites, align: 0, sizes: None });
        self
    }

    /// Gives every kmalloc site of the trace a cache with the site's name and this alignment; 0 stands
    /// for the default.
    #[must_use]
    pub fn dedicate_every(mut self, meta: &Meta, align: u32) -> Self {
        let dedicated = |(i, site): (u32, &Site)| Dedicated {
            name: site.name.clone(),
            sites: vec![i],
            align,
            sizes: None,
        };
        self.dedicated = (0..).zip(&meta.sites).map(dedicated).collect();
        self.dedication = Dedication::Every;
        self
    }

    /// Lets the objects of the cache `name` come from kmalloc.
    #[must_use]
    pub fn undedicate(mut self, name: impl Into<String>) -> Self {
        self.undedicated.push(name.into());
        self
    }

    /// Returns the bytes of a page of the simulated machine. It is 4 KiB for a trace that does not tell (text), or
    /// that names a size which no machine here can have.
    #[must_use]
    pub fn machine_page_bytes(&self, meta: &Meta) -> u64 {
        let bytes = u64::from(self.page_bytes.unwrap_or(meta.page_bytes));
        if PAGE_BYTES.contains(&bytes) { bytes } else { PAGE_SIZE }
    }

    /// Returns the sizes of pages and pointers of the simulated machine: the recorded one's, with the changes.
    #[must_use]
    pub fn arch(&self, meta: &Meta) -> Arch {
        let word_bytes = if ARCHES_32.contains(&meta.arch.as_str()) { 4 } else { 8 };
        let page_order = Order((self.machine_page_bytes(meta) / PAGE_SIZE).ilog2() as u8);
        Arch { word_bytes, page_order }
    }

    /// Returns the metadata of the trace as it would be had the changes been recorded.
    pub(crate) fn meta(&self, recorded: &Meta) -> Meta {
        let mut meta = recorded.clone();
        let names = meta.caches.iter().enumerate().map(|(i, cache)| (cache.name.clone(), i));
        let mut places: FxHashMap<String, usize> = HashMap::default();
        // The first of several has the name.
        names.for_each(|(name, i)| _ = places.entry(name).or_insert(i));
        for dedicated in &self.dedicated {
            let sizes = dedicated.sites.iter().filter_map(|site| meta.sites.get(*site as usize));
            let bytes_req_max = sizes.map(|site: &Site| site.bytes_req_max).max().unwrap_or(0);
            let bytes_req_max =
                bytes_req_max.min(dedicated.sizes.map_or(u64::MAX, |(_, most)| most));
            match places.get(&dedicated.name) {
                Some(place) => {
                    let cache = &mut meta.caches[*place];
                    cache.bytes_req_max = cache.bytes_req_max.max(bytes_req_max);
                }
                None => {
                    places.insert(dedicated.name.clone(), meta.caches.len());
                    meta.caches.push(RecordedCache {
                        name: dedicated.name.clone(),
                        bytes_req_max,
                        ..RecordedCache::default()
                    });
                }
            }
        }
        meta
    }

    /// Returns the settings of the cache `name`, if it is one that the changes make.
    pub(crate) fn dedicated(&self, name: &str) -> Option<&Dedicated> {
        self.dedicated.iter().find(|dedicated| dedicated.name == name)
    }
}
