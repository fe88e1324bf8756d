//! The kmalloc caches of the recorded kernel, recognised by their names.
//!
//! # How it works
//! A kernel that keeps call sites apart has copies of each cache of the normal type: `kmalloc-rnd-01-64` to
//! `kmalloc-rnd-15-64` beside `kmalloc-64` (6.6 to 7.1), or `kmalloc-part-01-64` and so on (7.2 on). No event tells in which
//! copy an object is. Names of families that are not known are kept: whoever models the kernel has to say so.
//!
//! Linux counterpart: `kmalloc_info` in `mm/slab_common.c` @ 6.6 to 7.3.

use std::collections::BTreeSet;

use slablab_linux::{KmallocCache, KmallocType, is_kmalloc_name};

use crate::{Meta, SampledCache, Samples};

/// kmalloc's caches of a kernel.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordedKmalloc {
    /// The types that have caches, the normal one first; empty where the kernel said nothing
    pub types: BTreeSet<KmallocType>,
    /// How many copies of each cache of the normal type there are; 1 where call sites are not kept apart
    pub copies: u16,
    /// What copies are called before their number
    pub copies_prefix: &'static str,
    /// Of how many call sites the copy was concluded from slabinfo
    pub sites_concluded: usize,
    /// Names of families that are not known
    pub unknown: Vec<String>,
}

impl RecordedKmalloc {
    /// Returns those of the recorded kernel.
    #[must_use]
    pub fn of(meta: &Meta) -> Self {
        let snapshots = meta.slabs_start.iter().chain(&meta.slabs_end);
        let lines = snapshots.flat_map(|snapshot| snapshot.slabinfo.lines());
        let names = lines.filter_map(|line| line.split_whitespace().next());
        let sites_concluded = meta.sites.iter().filter(|site| site.copy.is_some()).count();
        Self { sites_concluded, ..Self::of_names(names) }
    }

    /// Returns what a model of the kernel has to guess, in sentences.
    #[must_use]
    pub fn guesses(&self) -> Vec<String> {
        let mut guesses = Vec::new();
        if self.copies > 1 {
            guesses.push(format!(
                "the recorded kernel has {} copies of each kmalloc cache ({}01-64 and so on); no event tells in which copy an \
                 object is: of {} call sites it is concluded from slabinfo, and of others it is any",
                self.copies, self.copies_prefix, self.sites_concluded
            ));
        }
        if self.types.contains(&KmallocType::NoObjExt) {
            guesses.push(
                "the recorded kernel keeps vectors of accounting in caches of their own (kmalloc-no-objext-64 and so on); no \
                 event tells which vectors: a replay of a recording from the boot on makes them itself, and any other puts \
                 all that are allocated into the usual caches"
                    .to_owned(),
            );
        }
        if let Some(first) = self.unknown.first() {
            guesses.push(format!(
                "the recorded kernel has kmalloc caches of a family that is not known ({first}): a replay has none of them, and \
                 puts their objects into the usual caches"
            ));
        }
        guesses
    }

    fn of_names<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let mut found = Self { copies: 1, ..Self::default() };
        for name in names.filter(|name| is_kmalloc_name(name)) {
            match KmallocCache::parse(name) {
                Some(cache) => {
                    found.types.insert(cache.kind);
                    if cache.copy > 0 {
                        found.copies = found.copies.max(cache.copy + 1);
                        found.copies_prefix = if name.starts_with("kmalloc-part-") {
                            "kmalloc-part-"
                        } else {
                            "kmalloc-rnd-"
                        };
                    }
                }
                None => found.unknown.push(name.to_owned()),
            }
        }
        found.unknown.sort_unstable();
        found.unknown.dedup();
        found
    }
}

/// Returns the samples with the copies of each cache of kmalloc as one, the first: events tell of all of them together. (Compared
/// with `kmalloc-64` alone, all copies' objects of 64 bytes but a sixteenth seemed to be freed unseen.)
pub(crate) fn joined(samples: &Samples) -> Samples {
    let mut all = samples.clone();
    for (name, copy) in &samples.caches {
        let Some(class) = KmallocCache::parse(name).filter(|class| class.copy > 0) else {
            continue;
        };
        all.caches.remove(name);
        let first = class.kind.name(class.bytes);
        match all.caches.get_mut(&first) {
            Some(first) => *first = sum(first, copy),
            None => _ = all.caches.insert(first, copy.clone()),
        }
    }
    all
}

/// Returns two caches as one.
fn sum(one: &SampledCache, other: &SampledCache) -> SampledCache {
    let places: BTreeSet<u32> = one.at.iter().chain(&other.at).copied().collect();
    let numbers = |at: &u32| {
        let of = |cache: &SampledCache| cache.at(*at as usize);
        let ((objects, slabs), more) = (of(one), of(other));
        (objects.saturating_add(more.0), slabs.saturating_add(more.1))
    };
    let (objects, slabs) = places.iter().map(numbers).unzip();
    let longer = one.cpu_free_objects.len().max(other.cpu_free_objects.len());
    let of_cpu = |all: &[Vec<u32>], cpu: usize| all.get(cpu).cloned().unwrap_or_default();
    let free =
        |cpu| [of_cpu(&one.cpu_free_objects, cpu), of_cpu(&other.cpu_free_objects, cpu)].concat();
    let partial = one.cpu_partial_slabs.len().max(other.cpu_partial_slabs.len());
    let partial_of =
        |cache: &SampledCache, cpu: usize| cache.cpu_partial_slabs.get(cpu).copied().unwrap_or(0);
    SampledCache {
        parts: (one.parts.0.min(other.parts.0), one.parts.1.max(other.parts.1)),
        partial_slabs: one.partial_slabs.saturating_add(other.partial_slabs),
        partial_objects: one.partial_objects.saturating_add(other.partial_objects),
        cpu_slabs: one.cpu_slabs.saturating_add(other.cpu_slabs),
        kept_slabs_end: one
            .kept_slabs_end
            .zip(other.kept_slabs_end)
            .map(|(a, b)| a.saturating_add(b)),
        cpu_partial_slabs: (0..partial)
            .map(|cpu| partial_of(one, cpu).saturating_add(partial_of(other, cpu)))
            .collect(),
        cpu_free_objects: (0..longer).map(free).collect(),
        // Each has sheaves of its own.
        sheaf_capacity: one.sheaf_capacity.saturating_add(other.sheaf_capacity),
        sheaf_free_objects: one.sheaf_free_objects.saturating_add(other.sheaf_free_objects),
        at: places.iter().copied().collect(),
        objects,
        slabs,
        ..one.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_types_and_unknown_families_are_told_by_names() {
        let of = |names: &[&'static str]| RecordedKmalloc::of_names(names.iter().copied());
        let old =
            of(&["kmalloc-64", "kmalloc-cg-64", "kmalloc-rnd-01-64", "kmalloc-rnd-15-64", "filp"]);
        assert_eq!((old.copies, old.copies_prefix), (16, "kmalloc-rnd-"));
        assert_eq!(old.types, [KmallocType::Normal, KmallocType::Cgroup].into());
        let new =
            of(&["kmalloc-64", "kmalloc-part-07-64", "kmalloc-no-objext-64", "kmalloc-new-64"]);
        assert_eq!((new.copies, new.copies_prefix), (8, "kmalloc-part-"));
        assert!(new.types.contains(&KmallocType::NoObjExt));
        assert_eq!(new.unknown, ["kmalloc-new-64"]);
        let none = of(&["filp"]);
        assert!(none.types.is_empty() && none.copies == 1);
    }

    /// A kernel with `CONFIG_KMALLOC_PARTITION_CACHES` used to be compared with `kmalloc-64` alone: 17,359 frees were
    /// invented.
    #[test]
    fn copies_of_a_cache_are_counted_together() {
        let mut samples = Samples::default();
        for (time_ns, plain, copy) in [(0, 10, 0), (10, 10, 40), (20, 12, 40)] {
            samples.begin(time_ns);
            samples.note("kmalloc-64", plain, 1).slab_objects = 64;
            samples.note("kmalloc-part-03-64", copy, u64::from(copy > 0));
            samples.note("kmalloc-cg-64", 5, 1);
        }
        let joined = joined(&samples);
        assert_eq!(joined.caches.len(), 2);
        let all = &joined.caches["kmalloc-64"];
        assert_eq!([0, 1, 2].map(|at| all.at(at)), [(10, 1), (50, 2), (52, 2)]);
        assert_eq!(all.slab_objects, 64);
        assert_eq!(joined.caches["kmalloc-cg-64"], samples.caches["kmalloc-cg-64"]);
    }
}
