//! One cache: its slabs, and where its free objects lie.

use serde::Serialize;

/// Classes of slabs by the share of their objects that is in use: none, less than a quarter, a half, three quarters, less than
/// all, all.
pub const FULLNESS: usize = 6;

/// Free objects in one kind of place, and the slabs or sheaves that they lie in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Lying {
    /// Slabs or sheaves
    pub places: u64,
    /// Free objects in them
    pub objects: u64,
}

impl Lying {
    pub(crate) fn add(&mut self, objects: u64) {
        self.places += 1;
        self.objects += objects;
    }
}

/// What one cache has at a moment.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct CacheCensus {
    /// Its name
    pub cache: String,
    /// Bytes from one object to the next
    pub object_bytes: u64,
    /// Bytes of a slab
    pub slab_bytes: u64,
    /// Slabs
    pub slabs: u64,
    /// Objects in them, in use or not
    pub objects: u64,
    /// Slabs that CPUs allocate from
    pub cpu_slabs: Lying,
    /// Partial slabs that CPUs keep
    pub cpu_partial: Lying,
    /// Sheaves that CPUs allocate from
    pub main_sheaves: Lying,
    /// Sheaves that CPUs have in reserve
    pub spare_sheaves: Lying,
    /// Sheaves of objects that wait for readers
    pub rcu_sheaves: Lying,
    /// Full sheaves of nodes
    pub barns: Lying,
    /// Empty sheaves of nodes
    pub empty_sheaves: u64,
    /// Partial slabs of nodes that have an object in use
    pub node_partial: Lying,
    /// Slabs of nodes without an object in use
    pub node_empty: Lying,
    /// Slabs by the share of their objects that is in use; those in sheaves count as in use
    pub fullness: [u64; FULLNESS],
    /// Slabs and sheaves that changed while they were read
    pub changed: u64,
}

impl CacheCensus {
    /// Returns the kinds of places with their names.
    #[must_use]
    pub fn places(&self) -> [(&'static str, Lying); 8] {
        [
            ("CPU slabs", self.cpu_slabs),
            ("CPU partial slabs", self.cpu_partial),
            ("main sheaves", self.main_sheaves),
            ("spare sheaves", self.spare_sheaves),
            ("rcu_free sheaves", self.rcu_sheaves),
            ("barns", self.barns),
            ("partial slabs of nodes", self.node_partial),
            ("empty slabs of nodes", self.node_empty),
        ]
    }

    /// Returns the free objects, wherever they lie.
    #[must_use]
    pub fn free(&self) -> u64 {
        self.places().iter().map(|(_, lying)| lying.objects).sum()
    }

    /// Returns the objects that somebody has.
    #[must_use]
    pub fn in_use(&self) -> u64 {
        self.objects.saturating_sub(self.free())
    }

    /// Returns the bytes of its slabs.
    #[must_use]
    pub fn held_bytes(&self) -> u64 {
        self.slabs.saturating_mul(self.slab_bytes)
    }

    /// Returns the objects in sheaves of CPUs.
    #[must_use]
    pub fn in_sheaves(&self) -> u64 {
        self.main_sheaves.objects + self.spare_sheaves.objects + self.rcu_sheaves.objects
    }

    /// Counts a slab by the share of its objects that is in use.
    pub(crate) fn count_slab(&mut self, in_use: u64, all: u64) {
        self.fullness[class(in_use, all)] += 1;
    }

    /// Counts the slabs that no list has: all of their objects are in use.
    pub(crate) fn count_full(&mut self) {
        let seen: u64 = self.fullness.iter().sum();
        self.fullness[FULLNESS - 1] += self.slabs.saturating_sub(seen);
    }
}

fn class(in_use: u64, all: u64) -> usize {
    match in_use {
        0 => 0,
        some if some >= all => FULLNESS - 1,
        some => 1 + (some * 4 / all) as usize,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slabs_are_classed_by_what_is_in_use() {
        let classes = [0, 1, 7, 8, 16, 24, 31, 32].map(|in_use| class(in_use, 32));
        assert_eq!(classes, [0, 1, 1, 2, 3, 4, 4, 5]);
        let mut cache = CacheCensus { slabs: 5, objects: 160, ..CacheCensus::default() };
        cache.count_slab(8, 32);
        cache.node_partial.add(24);
        cache.count_full();
        assert_eq!((cache.fullness, cache.in_use()), ([0, 0, 1, 0, 0, 4], 136));
    }
}
