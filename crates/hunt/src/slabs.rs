//! What `/proc/slabinfo` says: what was there before the hunt, and whether a cache grows as its objects are said to.
//!
//! How it works: frees that no program sees make objects look alive. The objects of a cache that are said to stay may be many
//! more than it has in use since the begin. Then those frees were not seen, or as many older objects went meanwhile. The
//! first is so where addresses of tracked objects were allocated again, and where there are fewer objects than are said to
//! stay. Objects in the slabs of CPUs count as in use, so that some slabs more or less say nothing. What the kernel's check of
//! BPF programs allocates is in use for a moment longer: of the moments around the begin that with fewer objects counts.

use std::fs;

use rustc_hash::FxHashMap;
use slablab_linux::SlabInfo;

/// Slabs of a CPU that may be full or empty without a trace in slabinfo.
const SLABS_PER_CPU: u64 = 8;

/// A cache at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cache {
    active: u64,
    object_bytes: u64,
    geometry: Geometry,
}

/// The slabs of a cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Geometry {
    pub(crate) objects_per_slab: u64,
    pub(crate) pages_per_slab: u64,
    /// Slabs, and objects in use
    pub(crate) slabs: u64,
    pub(crate) active: u64,
}

/// All caches at a moment; empty where slabinfo cannot be read.
#[derive(Debug, Default)]
pub(crate) struct Slabs(FxHashMap<String, Cache>);

impl Slabs {
    pub(crate) fn now() -> Self {
        Self::parse(&fs::read_to_string("/proc/slabinfo").unwrap_or_default())
    }

    pub(crate) fn parse(text: &str) -> Self {
        let cache = |line| {
            let info = SlabInfo::parse(line)?;
            let geometry = Geometry {
                objects_per_slab: info.objperslab,
                pages_per_slab: info.pagesperslab.max(1),
                slabs: info.num_slabs,
                active: info.active_objs,
            };
            let cache = Cache { active: info.active_objs, object_bytes: info.objsize, geometry };
            Some((info.name.to_owned(), cache))
        };
        Self(text.lines().filter_map(cache).collect())
    }

    /// Returns of each cache the moment at which it had fewer objects in use.
    pub(crate) fn or_fewer(mut self, other: Self) -> Self {
        for (name, cache) in other.0 {
            let fewer = self.0.entry(name).or_insert(cache);
            if cache.active < fewer.active {
                *fewer = cache;
            }
        }
        self
    }

    /// Returns the objects in use and their bytes; `None` where slabinfo cannot be read.
    pub(crate) fn in_use(&self) -> Option<(u64, u64)> {
        let sum = |(objects, bytes), cache: &Cache| {
            (objects + cache.active, bytes + cache.active * cache.object_bytes)
        };
        (!self.0.is_empty()).then(|| self.0.values().fold((0, 0), sum))
    }

    /// Returns the slabs of a cache.
    pub(crate) fn geometry(&self, name: &str) -> Option<Geometry> {
        self.0.get(name).map(|cache| cache.geometry)
    }

    /// Tells whether cache `name` cannot have as many new objects as `claimed`, by what it has in use `now`; `frees_unseen` tells
    /// whether objects of it were freed unseen.
    pub(crate) fn contradicts(
        &self,
        now: &Slabs,
        name: &str,
        claimed: f64,
        cpus: usize,
        frees_unseen: bool,
    ) -> bool {
        let (Some(before), Some(now)) = (self.0.get(name), now.0.get(name)) else { return false };
        let grown = now.active as f64 - before.active as f64;
        let doubt = (before.geometry.objects_per_slab * SLABS_PER_CPU * cpus as u64) as f64;
        let room = if frees_unseen { grown } else { now.active as f64 };
        claimed / 2.0 > room + doubt
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_that_does_not_grow_contradicts_objects_that_stay() {
        let line =
            |active| format!("maple_node {active} 9000 256 16 1 : tunables 0 0 0 : slabdata 9 9 0");
        let (before, after) = (Slabs::parse(&line(5_000)), Slabs::parse(&line(5_100)));
        let contradicts =
            |name, claimed, unseen| before.contradicts(&after, name, claimed, 2, unseen);
        assert!(contradicts("maple_node", 2_000.0, true));
        assert!(!contradicts("maple_node", 600.0, true));
        assert!(!contradicts("filp", 2_000.0, true));
        // Older objects may have gone; but no more can stay than there are.
        assert!(!contradicts("maple_node", 2_000.0, false));
        assert!(contradicts("maple_node", 12_000.0, false));
        let fewer = Slabs::parse(&line(5_050)).or_fewer(Slabs::parse(&line(5_000)));
        assert_eq!(fewer.in_use(), before.in_use());
        assert_eq!(before.in_use(), Some((5_000, 5_000 * 256)));
        assert_eq!(Slabs::parse("").in_use(), None);
    }
}
