//! Rows of a partition by types: a partition, a type, and what has none.

use serde::Serialize;

/// One partition.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct TokenPartition {
    /// Its number, which is the token
    pub partition: u32,
    /// Whether it is for types that contain pointers
    pub has_pointers: bool,
    /// Types
    pub types: u64,
    /// Call sites, those without a type among them
    pub sites: u64,
    /// Allocations
    pub allocs: u64,
    /// Objects, the most in each of its caches at once
    pub objects_peak: u64,
    /// Objects alive at the end
    pub objects_end: u64,
    /// Bytes alive, the mean over time
    pub bytes_mean: u64,
    /// Slabs, the most of each of its caches at once
    pub slabs_peak: u64,
    /// Slabs at the end
    pub slabs_end: u64,
    /// Bytes in slabs, the most of each of its caches at once
    pub held_bytes_peak: u64,
    /// Bytes in slabs at the end
    pub held_bytes_end: u64,
}

/// One type.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct TypeHeld {
    /// Its name in C
    pub name: String,
    /// What Clang calls it, which is hashed
    pub canonical: String,
    /// Whether it contains a pointer
    pub has_pointers: bool,
    /// Its partition
    pub partition: u32,
    /// Bytes of the classes that it is allocated from
    pub classes: Vec<u32>,
    /// Call sites that allocate it
    pub sites: u64,
    /// Allocations
    pub allocs: u64,
    /// Objects alive at the end
    pub objects_end: u64,
    /// Bytes alive, the mean over time
    pub bytes_mean: u64,
}

/// Objects whose type is not known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Untyped {
    /// Their call sites; allocations without a site count as one
    pub sites: u64,
    /// Allocations
    pub allocs: u64,
    /// Objects alive at the end
    pub objects_end: u64,
    /// Bytes alive, the mean over time
    pub bytes_mean: u64,
    /// Those of the sites whose type is known, and is only declared or has no name that Clang would print alike
    pub sites_open: u64,
}

impl TypeHeld {
    /// Returns whether objects of both types can lie in one slab: they have a class and the partition in common.
    #[must_use]
    pub fn shares_slabs(&self, other: &Self) -> bool {
        let has = |class: &u32| other.classes.contains(class);
        self.partition == other.partition && self.classes.iter().any(has)
    }
}
