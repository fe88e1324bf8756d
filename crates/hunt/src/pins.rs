//! Who pins slabs: objects that keep a slab that is hardly used.
//!
//! # How it works
//! A slab of a cache is as many pages as slabinfo says, and begins at a multiple of them. So an object's address tells its
//! slab. A slab is *sparse* when a quarter of its places at most have objects that the hunt follows. What its slabs hold would
//! come free if those objects went, or lay elsewhere. Objects from before the hunt are taken to stay in as many slabs as the
//! cache had then: at most the slabs that it has beyond those come free. Of a cache whose objects are sampled, nothing is said.
//!
//! # Invariants
//! A slab is counted once: each of its groups has the share of its objects. Objects that are not followed may lie in the same
//! slabs: how many the cache has of them is said beside it, and the bytes are what would come free at most.

use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::group::Key;
use crate::object::Object;
use crate::slabs::{Geometry, Slabs};

const PAGE_BYTES: u64 = 4096;
/// Share of a slab's places from which it is not sparse.
const SPARSE: u64 = 4;
/// Share of a cache's objects that may stand for others: where those are, is not known.
const SAMPLED_MAX: f64 = 0.05;

/// What an owner's objects pin.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Pin {
    /// The function that allocates for itself, with its module
    pub owner: String,
    /// The name of the program that ran
    pub program: String,
    /// The cache
    pub cache: String,
    /// Sparse slabs with objects of this owner
    pub slabs: u64,
    /// Its objects in them
    pub objects: u64,
    /// Bytes of those slabs, shared by the objects in them: what would come free at most
    pub bytes: u64,
    /// Age of half of the objects, at least
    pub median_seconds: f64,
    /// Slabs that the cache has
    pub cache_slabs: u64,
    /// Objects of the cache that the hunt does not follow, from before it or left out of its sample
    pub others: u64,
    /// The call stack of one of the objects, the owner first
    pub stack: Vec<String>,
}

/// What is found of a group, before it has names.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Pinned {
    pub(crate) slabs: u64,
    pub(crate) bytes: f64,
    pub(crate) born_ns: Vec<u64>,
    pub(crate) stack: u32,
    /// Objects of the cache that are followed
    pub(crate) followed: u64,
    pub(crate) geometry: Geometry,
}

/// A cache, and what of it is followed.
#[derive(Debug, Clone, Copy)]
struct Cache {
    geometry: Geometry,
    /// Slabs that it has beyond those from before the hunt
    newer: u64,
    followed: u64,
    sampled: u64,
    sparse: u64,
}

impl Cache {
    fn of(name: &str, before: &Slabs, now: &Slabs) -> Option<Self> {
        let geometry = now.geometry(name)?;
        let older = before.geometry(name).map_or(0, |older| older.slabs);
        let newer = geometry.slabs.saturating_sub(older);
        Some(Self { geometry, newer, followed: 0, sampled: 0, sparse: 0 })
    }

    /// Tells whether so few objects leave a slab sparse, and counts it if they do.
    fn is_pinned_by(&mut self, objects: u64) -> bool {
        let places = self.geometry.objects_per_slab;
        let is_whole = self.sampled as f64 <= self.followed as f64 * SAMPLED_MAX;
        let is_sparse = places > 1 && objects <= (places / SPARSE).max(1) && is_whole;
        self.sparse += u64::from(is_sparse);
        is_sparse
    }

    /// Returns the bytes of a sparse slab that would come free.
    fn bytes_each(&self) -> f64 {
        let share = (self.newer as f64 / self.sparse.max(1) as f64).min(1.0);
        (self.geometry.pages_per_slab * PAGE_BYTES) as f64 * share
    }
}

/// Finds the groups whose objects keep sparse slabs. `cache` names the cache of a group.
pub(crate) fn find<'a>(
    objects: &[(Key, Object)],
    [before, slabs]: [&Slabs; 2],
    cache: impl Fn(&Key) -> &'a str,
) -> FxHashMap<Key, Pinned> {
    let mut of_slab: FxHashMap<(u32, u64), Vec<usize>> = FxHashMap::default();
    let mut caches: FxHashMap<u32, Option<Cache>> = FxHashMap::default();
    for (at, (key, object)) in objects.iter().enumerate() {
        let cache = caches.entry(key.cache).or_insert_with(|| Cache::of(cache(key), before, slabs));
        let Some(cache) = cache else { continue };
        let slab = object.address / (cache.geometry.pages_per_slab * PAGE_BYTES);
        of_slab.entry((key.cache, slab)).or_default().push(at);
        cache.followed += 1;
        cache.sampled += u64::from(object.weight > 1.0);
    }
    of_slab.retain(|(cache, _), all| {
        let cache = caches.get_mut(cache).and_then(Option::as_mut);
        cache.is_some_and(|cache| cache.is_pinned_by(all.len() as u64))
    });
    let mut pinned: FxHashMap<Key, Pinned> = FxHashMap::default();
    for ((cache, _), all) in of_slab {
        let Some(Some(cache)) = caches.get(&cache) else { continue };
        let bytes = cache.bytes_each() / all.len() as f64;
        let mut keys: Vec<Key> = Vec::new();
        for at in all {
            let (key, object) = &objects[at];
            let pin = pinned.entry(*key).or_default();
            pin.bytes += bytes;
            pin.born_ns.push(object.time_ns);
            pin.stack = object.stack;
            pin.geometry = cache.geometry;
            pin.followed = cache.followed;
            if !keys.contains(key) {
                keys.push(*key);
                pin.slabs += 1;
            }
        }
    }
    pinned
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(address: u64) -> Object {
        let mut value = [0; crate::tables::LIVE_BYTES];
        value[64..72].copy_from_slice(&(1u64 << 32).to_ne_bytes());
        Object::parse(&address.to_ne_bytes(), &value)
    }

    #[test]
    fn a_sparse_slab_is_counted_once_and_a_full_one_is_not() {
        let line = "filp 30 160 256 16 1 : tunables 0 0 0 : slabdata 10 10 0";
        let slabs = [Slabs::default(), Slabs::parse(line)];
        let key = |owner| Key { owner, comm: [0; 16], cache: 0 };
        let mut objects: Vec<(Key, Object)> =
            (0..12).map(|at| (key(1), object(0x10000 + at * 256))).collect();
        // Two slabs with one object each, and one that two owners share.
        objects.extend([(key(1), object(0x20000)), (key(1), object(0x30100))]);
        objects.extend([(key(1), object(0x40000)), (key(2), object(0x40200))]);
        let of = |before: &Slabs, objects: &[(Key, Object)]| {
            find(objects, [before, &slabs[1]], |_| "filp")
        };
        let pinned = of(&slabs[0], &objects);
        assert_eq!((pinned[&key(1)].slabs, pinned[&key(1)].bytes), (3, 2.5 * 4096.0));
        assert_eq!((pinned[&key(2)].slabs, pinned[&key(2)].bytes), (1, 0.5 * 4096.0));
        assert_eq!(pinned[&key(1)].followed, 16);
        // Nine of ten slabs are older: one of the three that are sparse can come free.
        let older = Slabs::parse("filp 9 160 256 16 1 : tunables 0 0 0 : slabdata 9 9 0");
        assert!((of(&older, &objects)[&key(1)].bytes - 2.5 * 4096.0 / 3.0).abs() < 1e-6);
        objects.iter_mut().for_each(|(_, object)| object.weight = 2.0);
        assert!(of(&slabs[0], &objects).is_empty());
    }
}
