//! Slabs by how full they are, and the objects that keep the sparse ones.
//!
//! # How it works
//! A slab goes back to the page allocator when its last object is freed. So a slab is sparse if at most a quarter of its
//! objects are in use, or one of two or three, and whoever holds these pins the whole of it. A group pins a slab alone if all
//! objects in it are the group's: the slab would come free if they went. An object that is older than the trace
//! ([`SparseSlab::older`]) has an owner that the trace does not know.
//!
//! # Invariants
//! [`CacheOccupancy::by_fill`] and the empty slabs sum up to [`CacheOccupancy::slabs`]. The slabs that groups pin alone are
//! distinct: their bytes may be added up.

use std::collections::{BTreeMap, BTreeSet};

use super::groups::{By, Labels};
use super::held::Holdings;

/// The slabs of a machine at the end of a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Occupancy {
    /// The allocator
    pub allocator: String,
    /// The caches with an object alive that the trace saw allocated, by name
    pub caches: Vec<CacheOccupancy>,
    /// Bytes of the slabs of other caches, of whose objects the trace knows none
    pub unseen_slab_bytes: u64,
    /// The sparse slabs in which the trace saw an object
    pub sparse: Vec<SparseSlab>,
}

/// How full the slabs of a cache are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheOccupancy {
    /// Its name
    pub cache: String,
    /// Bytes of a slab
    pub slab_bytes: u64,
    /// Objects that a slab has room for
    pub objects_per_slab: u64,
    /// Objects in use
    pub objects: u64,
    /// Objects in use that are older than the trace
    pub objects_older: u64,
    /// Slabs
    pub slabs: u64,
    /// Slabs without an object, which the cache keeps
    pub slabs_empty: u64,
    /// Slabs with objects: up to a quarter full, up to a half, up to three quarters, fuller
    pub by_fill: [u64; 4],
    /// Slabs that are sparse
    pub slabs_sparse: u64,
}

impl CacheOccupancy {
    /// Returns the slabs that would do for the objects, were they side by side.
    #[must_use]
    pub fn slabs_dense(&self) -> u64 {
        self.objects.div_ceil(self.objects_per_slab.max(1))
    }

    /// Counts a slab that has `objects` in it; returns whether it is sparse.
    pub(crate) fn count(&mut self, objects: u64, older: u64) -> bool {
        let (objects, room) = (objects.max(1), self.objects_per_slab.max(1));
        self.objects += objects;
        self.objects_older += older;
        let quarter = (objects * 4).div_ceil(room).clamp(1, 4) as usize - 1;
        self.by_fill[quarter] += 1;
        let is_sparse = quarter == 0 || objects == 1 && room > 1;
        self.slabs_sparse += u64::from(is_sparse);
        is_sparse
    }
}

/// A slab with few objects in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SparseSlab {
    /// Place in [`Occupancy::caches`]
    pub cache: u32,
    /// The objects that the trace saw allocated
    pub pins: Vec<Pin>,
    /// Objects that are older than the trace
    pub older: u32,
}

/// An object that keeps a slab.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pin {
    /// Place in [`Holdings::holders`]
    pub holding: u32,
    /// When it was allocated, by the trace's clock
    pub time_ns: u64,
}

/// Objects of one group that keep sparse slabs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PinGroup {
    /// The name, one by each grouping that was asked for
    pub names: Vec<String>,
    /// The cache
    pub cache: String,
    /// The stack of most of its objects, from the call site outwards
    pub stack: Vec<String>,
    /// Its objects in sparse slabs
    pub objects: u64,
    /// Sparse slabs with an object of it
    pub slabs: u64,
    /// Of these, those in which all objects are its own
    pub slabs_alone: u64,
    /// Bytes of these, which come free if its objects go
    pub bytes_alone: u64,
    /// Bytes that come free if the objects in these lie side by side elsewhere
    pub bytes_elsewhere: u64,
    /// When its oldest object in a sparse slab was allocated, and its median one
    pub time_oldest_ns: u64,
    /// When the median one was
    pub time_median_ns: u64,
}

/// A group in the making.
#[derive(Default)]
struct Making {
    group: PinGroup,
    times_ns: Vec<u64>,
    /// Objects in slabs that it pins alone
    alone: u64,
    /// Objects by holding
    holdings: BTreeMap<u32, u64>,
}

/// Puts the objects that keep sparse slabs together by `by` and by cache; those that pin most come first.
#[must_use]
pub fn pin_groups(
    occupancy: &Occupancy,
    holdings: &Holdings,
    labels: &Labels<'_>,
    by: &[By],
) -> Vec<PinGroup> {
    let mut names: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    let mut all: BTreeMap<(Vec<String>, u32), Making> = BTreeMap::new();
    for slab in &occupancy.sparse {
        let mut of_slab: BTreeSet<&Vec<String>> = BTreeSet::new();
        for pin in &slab.pins {
            names.entry(pin.holding).or_insert_with(|| {
                let holder = &holdings.holders[pin.holding as usize].holder;
                by.iter().map(|by| labels.of(*by, holder)).collect()
            });
        }
        for pin in &slab.pins {
            let name = &names[&pin.holding];
            let making = all.entry((name.clone(), slab.cache)).or_default();
            making.group.objects += 1;
            making.times_ns.push(pin.time_ns);
            *making.holdings.entry(pin.holding).or_default() += 1;
            making.group.slabs += u64::from(of_slab.insert(name));
        }
        if let (1, 0, Some(name)) = (of_slab.len(), slab.older, of_slab.first()) {
            let making = all.get_mut(&((*name).clone(), slab.cache)).expect("it was just made");
            making.group.slabs_alone += 1;
            making.alone += slab.pins.len() as u64;
        }
    }
    let finish = |((names, cache), making): ((Vec<String>, u32), Making)| {
        let Making { mut group, mut times_ns, alone, holdings: of } = making;
        let cache = &occupancy.caches[cache as usize];
        times_ns.sort_unstable();
        let most = of.iter().max_by_key(|(holding, objects)| (**objects, **holding));
        let frames = |holding: &u32| labels.frames(&holdings.holders[*holding as usize].holder);
        group.stack = most
            .map_or_else(Vec::new, |(holding, _)| frames(holding))
            .iter()
            .map(|s| (*s).to_owned())
            .collect();
        let dense = alone.div_ceil(cache.objects_per_slab.max(1));
        PinGroup {
            names,
            cache: cache.cache.clone(),
            bytes_alone: group.slabs_alone * cache.slab_bytes,
            bytes_elsewhere: group.slabs_alone.saturating_sub(dense) * cache.slab_bytes,
            time_oldest_ns: times_ns.first().copied().unwrap_or(0),
            time_median_ns: times_ns.get(times_ns.len() / 2).copied().unwrap_or(0),
            ..group
        }
    };
    let mut groups: Vec<_> = all.into_iter().map(finish).collect();
    groups.sort_by(|a, b| {
        let rank = |group: &PinGroup| (group.bytes_alone, group.slabs, group.objects);
        rank(b).cmp(&rank(a)).then_with(|| a.names.cmp(&b.names))
    });
    groups
}

#[cfg(test)]
mod tests {
    use slablab_trace::{Meta, NONE, Site};

    use super::*;
    use crate::metrics::held::{Amount, Holder, Holding};

    fn cache(objects_per_slab: u64) -> CacheOccupancy {
        CacheOccupancy {
            cache: "filp".to_owned(),
            slab_bytes: 4096,
            objects_per_slab,
            objects: 0,
            objects_older: 0,
            slabs: 0,
            slabs_empty: 0,
            by_fill: [0; 4],
            slabs_sparse: 0,
        }
    }

    #[test]
    fn a_quarter_is_sparse_and_so_is_one_object_of_two() {
        let mut sixteen = cache(16);
        let sparse = [1, 4, 5, 8, 9, 16].map(|objects| sixteen.count(objects, 0));
        assert_eq!(sparse, [true, true, false, false, false, false]);
        assert_eq!((sixteen.by_fill, sixteen.slabs_sparse, sixteen.objects), ([2, 2, 1, 1], 2, 43));
        assert_eq!(sixteen.slabs_dense(), 3);
        let mut two = cache(2);
        assert!(two.count(1, 0) && !two.count(2, 0));
        assert!(!cache(1).count(1, 0), "a slab of one object is full");
    }

    #[test]
    fn a_slab_comes_free_for_the_one_who_has_all_objects_in_it() {
        let site = |name: &str| Site { name: name.to_owned(), ..Site::default() };
        let meta = Meta { sites: vec![site("open+0x1"), site("dup+0x2")], ..Meta::default() };
        let holding = |site| Holding {
            holder: Holder { site, cache: 0, stack: NONE, program: 0, cgroup: 0 },
            allocated: Amount::default(),
            live: Vec::new(),
            ended: 0,
            lived_ns: 0,
        };
        let holdings = Holdings { holders: vec![holding(0), holding(1)], ..Holdings::default() };
        let pin = |holding, time_ns| Pin { holding, time_ns };
        let slab = |pins: &[Pin], older| SparseSlab { cache: 0, pins: pins.to_vec(), older };
        let occupancy = Occupancy {
            allocator: "slub".to_owned(),
            caches: vec![cache(16)],
            unseen_slab_bytes: 0,
            sparse: vec![
                slab(&[pin(0, 5)], 0),
                slab(&[pin(0, 3), pin(0, 9)], 0),
                slab(&[pin(0, 7), pin(1, 1)], 0),
                slab(&[pin(1, 2)], 1),
            ],
        };
        let labels = Labels::new(&meta, &holdings, &[]);
        let groups = pin_groups(&occupancy, &holdings, &labels, &[By::Site]);
        let [open, dup] = &groups[..] else { panic!("{groups:?}") };
        assert_eq!((open.names[0].as_str(), open.objects, open.slabs), ("open+0x1", 4, 3));
        assert_eq!((open.slabs_alone, open.bytes_alone, open.bytes_elsewhere), (2, 8192, 4096));
        assert_eq!((open.time_oldest_ns, open.time_median_ns), (3, 7));
        assert_eq!((dup.names[0].as_str(), dup.slabs, dup.slabs_alone), ("dup+0x2", 2, 0));
        let both = pin_groups(&occupancy, &holdings, &labels, &[By::Module]);
        assert_eq!((both[0].slabs, both[0].slabs_alone), (4, 3), "an older object keeps its slab");
    }
}
