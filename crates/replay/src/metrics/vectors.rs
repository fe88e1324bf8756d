//! The vectors of accounting and allocation profiling that a replay had beside its slabs.

use serde::{Deserialize, Serialize};

use crate::metrics::gauge::Level;

/// The vectors of all caches.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct VectorsUnder {
    /// Bytes of the objects that hold vectors
    pub bytes: Level,
    /// One entry for each cache that had one, most bytes at the end first
    pub caches: Vec<VectorsOfCache>,
}

/// The vectors of one cache's slabs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct VectorsOfCache {
    /// The cache
    pub cache: String,
    /// Bytes of an entry of a vector; each object of a slab has one
    pub entry_bytes: u64,
    /// Bytes that a vector asks for
    pub vector_bytes: u64,
    /// The cache that vectors beside the slabs come from; the first, if slabs have several sizes
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub held_in: String,
    /// Slabs with a vector beside them at the end
    pub beside_end: u64,
    /// The most of them
    pub beside_peak: u64,
    /// Slabs with a vector in their own space at the end
    pub inside_end: u64,
    /// Bytes of the objects that hold those beside, at the end
    pub bytes_end: u64,
    /// The most of them
    pub bytes_peak: u64,
}

impl VectorsUnder {
    /// Returns how many slabs had their vector beside them at the end, and how many inside.
    #[must_use]
    pub fn slabs_end(&self) -> (u64, u64) {
        let sum = |read: fn(&VectorsOfCache) -> u64| self.caches.iter().map(read).sum();
        (sum(|cache| cache.beside_end), sum(|cache| cache.inside_end))
    }

    /// Adds those of another trace.
    pub(crate) fn add(&mut self, other: Self) {
        self.bytes.peak += other.bytes.peak;
        self.bytes.end += other.bytes.end;
        self.bytes.mean += other.bytes.mean;
        for cache in other.caches {
            match self.caches.iter_mut().find(|known| known.cache == cache.cache) {
                Some(known) => {
                    known.beside_end += cache.beside_end;
                    known.beside_peak += cache.beside_peak;
                    known.inside_end += cache.inside_end;
                    known.bytes_end += cache.bytes_end;
                    known.bytes_peak += cache.bytes_peak;
                }
                None => self.caches.push(cache),
            }
        }
    }
}
