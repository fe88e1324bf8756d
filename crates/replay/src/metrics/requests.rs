//! The kmalloc classes from which each call site allocates, and the sizes it requests: this has to be known before
//! anything can be tried.

use serde::Serialize;
use slablab_trace::{Kind, Meta, NONE, TraceReader};

use crate::error::Error;
use crate::metrics::tally::Tally;
use crate::slots::Slots;

/// How often a size was requested.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct SizeCount {
    /// Bytes
    pub bytes: u64,
    /// Allocations
    pub allocs: u64,
}

/// A set of kmalloc size classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(crate) struct ClassSet(u64);

impl ClassSet {
    /// Returns whether a class is in the set.
    #[inline]
    pub(crate) fn has(self, class: u32) -> bool {
        self.0 >> class & 1 == 1
    }

    /// Adds a class.
    #[inline]
    pub(crate) fn add(&mut self, class: u32) {
        self.0 |= 1 << class;
    }

    /// Returns whether no class is in the set.
    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns how many classes are in the set.
    #[inline]
    pub(crate) fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Returns the classes, rising.
    pub(crate) fn iter(self) -> impl Iterator<Item = u32> {
        (0..u64::BITS).filter(move |class| self.has(*class))
    }
}

/// The recorded kernel's kmalloc size classes.
#[derive(Debug, Clone)]
pub(crate) struct Classes {
    sizes: Vec<u32>,
    /// Class by `(bytes + 7) / 8`
    by_eights: Vec<u8>,
}

impl Classes {
    pub(crate) fn new(sizes: &[u32]) -> Self {
        let largest = sizes.last().copied().unwrap_or(0);
        let class = |eights: u32| sizes.partition_point(|size| *size < eights * 8) as u8;
        Self { sizes: sizes.to_vec(), by_eights: (0..=largest / 8).map(class).collect() }
    }

    /// Returns the class that serves `bytes`; `None` where the page allocator does.
    #[inline]
    pub(crate) fn of(&self, bytes: u64) -> Option<u32> {
        let eights = usize::try_from(bytes.div_ceil(8)).ok()?;
        self.by_eights.get(eights).copied().map(u32::from)
    }

    /// Returns how many classes there are.
    pub(crate) fn len(&self) -> usize {
        self.sizes.len()
    }

    /// Returns the bytes of an object of a class.
    pub(crate) fn bytes(&self, class: u32) -> u32 {
        self.sizes[class as usize]
    }

    /// Returns the sizes with one more.
    pub(crate) fn with(&self, bytes: u32) -> Vec<u32> {
        let mut sizes = self.sizes.clone();
        sizes.push(bytes);
        sizes.sort_unstable();
        sizes
    }
}

/// This many sizes of a call site are told apart.
const SIZES_MAX: usize = 8;

/// How often a call site requested each size.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sizes {
    known: Vec<SizeCount>,
    /// Allocations of further sizes
    pub(crate) others: u64,
}

impl Sizes {
    #[inline]
    fn add(&mut self, bytes: u64) {
        if let Some(known) = self.known.iter_mut().find(|known| known.bytes == bytes) {
            known.allocs += 1;
        } else if self.known.len() < SIZES_MAX {
            self.known.push(SizeCount { bytes, allocs: 1 });
        } else {
            self.others += 1;
        }
    }

    /// Returns the sizes that are told apart, the most frequent first.
    pub(crate) fn by_count(&self) -> Vec<SizeCount> {
        let mut known = self.known.clone();
        known.sort_by_key(|size| (std::cmp::Reverse(size.allocs), size.bytes));
        known
    }
}

/// The requests of each call site to kmalloc.
#[derive(Debug)]
pub(crate) struct Requests {
    /// By place in [`Meta::sites`]: the classes it allocates from; empty for none
    pub(crate) classes: Vec<ClassSet>,
    /// By place in [`Meta::sites`]: the sizes it asks for
    pub(crate) sizes: Vec<Sizes>,
    /// By place in [`Meta::sites`]: allocations in each part of the time of the recording
    pub(crate) allocs_in_parts: Vec<[u64; PARTS]>,
    /// By place in [`Meta::sites`]: by how many its objects grew in each of these
    pub(crate) growth_in_parts: Vec<[i64; PARTS]>,
}

impl Requests {
    /// Returns about how many rows each of `classes` classes has: the allocations of its call sites, and as many frees.
    pub(crate) fn rows_by_class(&self, classes: usize) -> Vec<u64> {
        let mut rows = vec![0; classes];
        for (set, allocs) in self.classes.iter().zip(&self.allocs_in_parts) {
            let each = 2 * allocs.iter().sum::<u64>() / (set.len() as u64).max(1);
            set.iter().for_each(|class| rows[class as usize] += each);
        }
        rows
    }
}

/// Parts of a recording: what was allocated before the last had time to be freed.
pub(crate) const PARTS: usize = 8;

/// Reads every allocation of a trace once.
pub(crate) fn survey(
    reader: &TraceReader,
    meta: &Meta,
    classes: &Classes,
) -> Result<Requests, Error> {
    let sites = meta.sites.len() + 1;
    let mut sets = vec![ClassSet::default(); sites];
    let mut sizes = vec![Sizes::default(); sites];
    let mut allocs_in_parts = vec![[0; PARTS]; sites];
    let mut growth_in_parts = vec![[0i64; PARTS]; sites];
    let mut site_of: Slots<Option<usize>> = Slots::new(meta.events);
    let part_ns = meta.time_last_ns.saturating_sub(meta.time_first_ns) / PARTS as u64 + 1;
    for batch in reader.batches_without_pid() {
        let batch = batch?;
        for row in 0..batch.len() {
            let part = batch.time_ns[row].saturating_sub(meta.time_first_ns) / part_ns;
            let part = (part as usize).min(PARTS - 1);
            if batch.kind[row].is_free() && batch.object[row] != NONE {
                let of = site_of.get_mut(batch.object[row] as usize).and_then(Option::take);
                if let Some(site) = of {
                    growth_in_parts[site][part] -= 1;
                }
            }
            if batch.kind[row] == Kind::Kmalloc
                && let Some(class) = classes.of(batch.bytes_req[row])
            {
                let site = Tally::index(batch.site[row], sites);
                sets[site].add(class);
                sizes[site].add(batch.bytes_req[row]);
                allocs_in_parts[site][part] += 1;
                if batch.object[row] != NONE {
                    growth_in_parts[site][part] += 1;
                    *site_of.entry(batch.object[row] as usize) = Some(site);
                }
            }
        }
    }
    // Allocations without a call site cannot be given a cache.
    sets.truncate(meta.sites.len());
    sizes.truncate(meta.sites.len());
    allocs_in_parts.truncate(meta.sites.len());
    growth_in_parts.truncate(meta.sites.len());
    Ok(Requests { classes: sets, sizes, allocs_in_parts, growth_in_parts })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_falls_into_the_smallest_class_that_holds_it() {
        let classes = Classes::new(&[8, 16, 32, 64, 96]);
        let bytes = |asked| classes.of(asked).map(|class| classes.bytes(class));
        assert_eq!(bytes(1), Some(8));
        assert_eq!(bytes(8), Some(8));
        assert_eq!(bytes(33), Some(64));
        assert_eq!(bytes(96), Some(96));
        assert_eq!(bytes(97), None);
        assert_eq!(bytes(u64::MAX), None);
        assert_eq!(classes.with(40), [8, 16, 32, 40, 64, 96]);
    }
}
