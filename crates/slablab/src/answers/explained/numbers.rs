//! The numbers of what a module did with memory, and its first objects.

use serde::Serialize;
use slablab_report::human;

/// What a module did with memory.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
pub(crate) struct Explained {
    /// Allocations and frees
    pub(crate) operations: u64,
    /// What memory came from, in the order of its first use
    pub(crate) caches: Vec<CacheLine>,
    /// The calls that allocated, those that asked for most bytes first
    pub(crate) sites: Vec<SiteLine>,
    /// When its memory took most bytes
    pub(crate) peak: Amounts,
    /// What it did not free
    pub(crate) left_objects: u64,
    pub(crate) left_bytes: u64,
    #[serde(skip)]
    pub(crate) view: View,
}

/// What people see beside the numbers.
#[derive(Debug, Default)]
pub(crate) struct View {
    pub(crate) module: String,
    pub(crate) facts: Vec<(&'static str, String)>,
    /// What a reader has to know to read the numbers
    pub(crate) notes: Vec<String>,
    /// Whether exit was run
    pub(crate) exited: bool,
    /// The operation before which init and exit began or ended, in words
    pub(crate) stages: Vec<(u64, &'static str)>,
    /// Bytes over time
    pub(crate) curve: Vec<Amounts>,
    /// The first objects, in the order of their allocation
    pub(crate) objects: Vec<Object>,
    /// How many more there were
    pub(crate) objects_more: u64,
}

/// Bytes at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
pub(crate) struct Amounts {
    /// The number of operations before it
    pub(crate) operation: u64,
    /// Bytes that were asked for
    pub(crate) asked_bytes: u64,
    /// Bytes that the objects take
    pub(crate) held_bytes: u64,
    /// Bytes of the slabs that they lie in, and of whole pages
    pub(crate) pages_bytes: u64,
}

/// What kind of thing memory comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    /// A cache that the module created
    Own,
    /// A cache of kmalloc
    Kmalloc,
    /// Something without slabs: pages, areas, whole pages of kmalloc
    Other,
}

/// A cache, or something else that memory comes from.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
pub(crate) struct CacheLine {
    pub(crate) cache: String,
    pub(crate) kind: Kind,
    /// The cache whose slabs it uses, if they were merged
    pub(crate) slabs_of: Option<String>,
    /// Bytes that one may use of an object
    pub(crate) object_bytes: Option<u64>,
    /// Bytes from one object to the next
    pub(crate) slot_bytes: Option<u64>,
    pub(crate) slab_bytes: Option<u64>,
    pub(crate) objects_per_slab: Option<u64>,
    /// Sizes that were asked for, with their numbers of allocations
    pub(crate) sizes: Vec<Size>,
    pub(crate) allocations: u64,
    pub(crate) frees: u64,
    pub(crate) live_max: u64,
    /// Bytes that were asked for and taken when most objects were live
    pub(crate) asked_bytes_max: u64,
    pub(crate) held_bytes_max: u64,
    /// Most slabs with an object at once
    pub(crate) slabs_max: u64,
    /// Allocations by a CPU that had freed an object of this cache before, which was still free
    pub(crate) after_free: u64,
    /// Of these, those that got the one it had freed last
    pub(crate) got_last_freed: u64,
    pub(crate) left: u64,
}

/// A size and how often it was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
pub(crate) struct Size {
    pub(crate) bytes: u64,
    pub(crate) allocations: u64,
}

/// A call that allocated.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
pub(crate) struct SiteLine {
    pub(crate) site: String,
    pub(crate) cache: String,
    pub(crate) allocations: u64,
    pub(crate) asked_bytes: u64,
    pub(crate) held_bytes: u64,
    pub(crate) live_max: u64,
    /// The call that freed most of its objects
    pub(crate) freed_by: Option<String>,
    pub(crate) left: u64,
    pub(crate) left_bytes: u64,
}

/// An object's life.
#[derive(Debug, Clone)]
pub(crate) struct Object {
    /// Its cache's place in [`Explained::caches`]
    pub(crate) cache: usize,
    pub(crate) address: u64,
    /// The slab that it lies in
    pub(crate) slab: Option<u64>,
    pub(crate) asked_bytes: u64,
    pub(crate) held_bytes: u64,
    /// The call in few words
    pub(crate) site: String,
    /// Operations before its allocation, and before its free
    pub(crate) got: u64,
    pub(crate) gave: Option<u64>,
}

impl CacheLine {
    pub(super) fn asked(&self) -> String {
        match (self.sizes.first(), self.sizes.last()) {
            (Some(least), Some(most)) if least.bytes < most.bytes => {
                format!("{} to {}", bytes(least.bytes), bytes(most.bytes))
            }
            (Some(one), _) => bytes(one.bytes),
            _ => String::new(),
        }
    }

    pub(super) fn kind(&self) -> String {
        match (self.kind, &self.slabs_of) {
            (Kind::Own, Some(other)) => format!("its own, merged with {other}"),
            (Kind::Own, None) => "its own".to_owned(),
            (Kind::Kmalloc, _) => "kmalloc's".to_owned(),
            (Kind::Other, _) => "without slabs".to_owned(),
        }
    }
}

/// Formats bytes for a sentence.
pub(super) fn bytes(bytes: u64) -> String {
    human(bytes as f64, "B")
}
