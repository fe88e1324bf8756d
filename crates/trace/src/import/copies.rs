//! The copy of a kmalloc cache that each call site uses, where a kernel keeps call sites apart.
//!
//! # How it works
//! No event tells the copy, but slabinfo has the objects of each copy at every sample. A call site's copy has the same
//! number in every size, as the kernel hashes the place of the call alone. So the live objects of each call site at the
//! samples are counted by size. Call sites are given to copies so that the sums come near to the growth in slabinfo since
//! the first sample. The largest call site goes first, to the copy that lacks it most; then each is moved while that brings
//! the sums nearer.
//!
//! # Invariants
//! Copy 0 is the cache without a number. Two imports of one recording give each call site the same copy.
//!
//! Linux counterpart: `kmalloc_type` in `include/linux/slab.h` @ 6.6 to 7.3.
//!
//! # Differences from Linux
//! Up to 7.1 a function whose size the compiler knows has as many copies as it has callers; here it has
//! one.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use slablab_linux::{Gfp, KmallocCache, KmallocType};

use super::kmalloc::kmalloc_bucket;
use crate::{Event, Kind, NONE, Samples, Site};

/// Samples at which objects are counted, at most, beside the last one.
const PLACES_MAX: usize = 16;
/// All call sites are examined again this often.
const ROUNDS_MAX: usize = 20;

/// The live objects of each call site by size, while events are imported.
#[derive(Debug)]
pub(super) struct Copies {
    samples: Samples,
    /// Sizes that have copies, rising
    sizes: Vec<u64>,
    copies: u16,
    /// The samples at which objects are counted, and how many of them were reached
    places: Vec<usize>,
    reached: usize,
    /// By object: call site and place of its size; [`NONE`] for others
    objects: Vec<(u32, u32)>,
    /// By call site and size
    live: BTreeMap<u32, Vec<u32>>,
    counted: Counted,
}

impl Copies {
    /// Returns `None` where the kernel has no copies.
    pub(super) fn of(samples: &Samples) -> Option<Self> {
        let copies = |name: &String| KmallocCache::parse(name).filter(|cache| cache.copy > 0);
        let caches: Vec<_> = samples.caches.keys().filter_map(copies).collect();
        let copies = caches.iter().map(|cache| cache.copy).max()? + 1;
        let sizes: BTreeSet<u64> = caches.iter().map(|cache| cache.bytes).collect();
        let last = samples.times_ns.len().checked_sub(1)?;
        let mut places: Vec<usize> = (1..=PLACES_MAX).map(|i| last * i / PLACES_MAX).collect();
        places.dedup();
        let (samples, sizes) = (samples.clone(), sizes.into_iter().collect());
        let (objects, live, counted) = (Vec::new(), BTreeMap::new(), Counted::default());
        Some(Self { samples, sizes, copies, places, reached: 0, objects, live, counted })
    }

    /// Notes a row of the trace; `sites` are those of the trace.
    pub(super) fn note(&mut self, event: &Event, sites: &[Site]) {
        while let Some(place) = self.places.get(self.reached)
            && self.samples.times_ns[*place] <= event.time_ns
        {
            self.count();
        }
        if event.object == NONE {
            return;
        }
        let object = event.object as usize;
        self.objects.resize(self.objects.len().max(object + 1), (NONE, 0));
        let (site, size) = std::mem::replace(&mut self.objects[object], (NONE, 0));
        if let Some(live) = self.live.get_mut(&site) {
            live[size as usize] -= 1;
        }
        let name = |site: u32| sites.get(site as usize).map_or("", |site| site.name.as_str());
        if event.kind == Kind::Kmalloc
            && event.site != NONE
            && KmallocType::of(Gfp(event.gfp)) == KmallocType::Normal
            && let Ok(size) = self.sizes.binary_search(&event.bytes_alloc)
            && kmalloc_bucket(name(event.site)).is_none()
        {
            self.objects[object] = (event.site, size as u32);
            self.live.entry(event.site).or_insert_with(|| vec![0; self.sizes.len()])[size] += 1;
        }
    }

    /// Counts what lives at the next of the samples.
    fn count(&mut self) {
        self.reached += 1;
        self.counted.bytes.extend(&self.sizes);
        let numbers = self.counted.bytes.len();
        for (site, live) in &self.live {
            let site = *site as usize;
            let of_sites = &mut self.counted.of_sites;
            of_sites.resize(of_sites.len().max(site + 1), Vec::new());
            of_sites[site].resize(numbers - live.len(), 0);
            of_sites[site].extend(live);
        }
    }

    /// Gives each call site its copy, as far as that can be told.
    pub(super) fn finish(mut self, sites: &mut [Site]) {
        while self.reached < self.places.len() {
            self.count();
        }
        self.counted.of_copies = (0..self.copies).map(|copy| self.growth(copy)).collect();
        for (site, copy) in sites.iter_mut().zip(self.counted.copies()) {
            site.copy = copy;
        }
    }

    /// Returns how many objects more a copy had at each sample than at the first, by size.
    fn growth(&self, copy: u16) -> Vec<u32> {
        let kind = KmallocType::Normal;
        let of = |cache: &KmallocCache| cache.kind == kind && cache.copy == copy;
        let caches = self.samples.caches.iter();
        let named = caches.filter_map(|(name, sampled)| {
            let cache = KmallocCache::parse(name).filter(of)?;
            Some((self.sizes.binary_search(&cache.bytes).ok()?, sampled))
        });
        let mut growth = vec![0; self.sizes.len() * self.places.len()];
        for (size, sampled) in named {
            let first = sampled.at(0).0;
            for (number, place) in self.places.iter().enumerate() {
                let more = sampled.at(*place).0.saturating_sub(first);
                growth[number * self.sizes.len() + size] = more;
            }
        }
        growth
    }
}

/// Objects by sample and size: one number for each pair, and the bytes that it counts for.
#[derive(Debug, Clone, Default)]
struct Counted {
    /// Bytes of an object of each number
    bytes: Vec<u64>,
    /// By call site
    of_sites: Vec<Vec<u32>>,
    /// By copy: what slabinfo has
    of_copies: Vec<Vec<u32>>,
}

impl Counted {
    /// Returns the copy of each call site; `None` for one that has no object at any sample, which nothing tells about.
    fn copies(&self) -> Vec<Option<u16>> {
        let mut left: Vec<Vec<i64>> = self
            .of_copies
            .iter()
            .map(|all| all.iter().map(|count| i64::from(*count)).collect())
            .collect();
        let mut copies = vec![None; self.of_sites.len()];
        let weight = |site: &usize| self.weight(&self.of_sites[*site]);
        let mut order: Vec<usize> =
            (0..self.of_sites.len()).filter(|site| weight(site) > 0).collect();
        order.sort_by_key(|site| (Reverse(weight(site)), *site));
        for _ in 0..ROUNDS_MAX {
            let mut has_moved = false;
            for site in &order {
                let counts = &self.of_sites[*site];
                let before: Option<u16> = copies[*site];
                if let Some(copy) = before {
                    add(&mut left[usize::from(copy)], counts, 1);
                }
                // The copy that it is in goes before others that are as near, so that the rounds end.
                let gain = |copy: &u16| {
                    (
                        self.gain(&left[usize::from(*copy)], counts),
                        Some(*copy) == before,
                        Reverse(*copy),
                    )
                };
                let Some(best) = (0..left.len() as u16).max_by_key(gain) else { break };
                add(&mut left[usize::from(best)], counts, -1);
                has_moved |= before != Some(best);
                copies[*site] = Some(best);
            }
            if !has_moved {
                break;
            }
        }
        copies
    }

    /// Returns by how many bytes a copy that lacks `left` objects is nearer to what slabinfo has with these.
    fn gain(&self, left: &[i64], counts: &[u32]) -> i64 {
        let parts = left.iter().zip(counts).zip(&self.bytes);
        parts
            .map(|((left, count), bytes)| {
                (left.abs() - (left - i64::from(*count)).abs()) * *bytes as i64
            })
            .sum()
    }

    fn weight(&self, counts: &[u32]) -> u64 {
        counts.iter().zip(&self.bytes).map(|(count, bytes)| u64::from(*count) * bytes).sum()
    }
}

fn add(left: &mut [i64], counts: &[u32], sign: i64) {
    left.iter_mut().zip(counts).for_each(|(left, count)| *left += sign * i64::from(*count));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 60 call sites of two sizes at three samples; CPUs keep up to 20 free objects of each cache.
    #[test]
    fn call_sites_are_given_to_the_copies_whose_numbers_they_make() {
        let mut seed = 1u64;
        let mut random = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) % below
        };
        let bytes = vec![64, 64, 64, 256, 256, 256];
        let of_sites: Vec<Vec<u32>> = (0..60)
            .map(|_| {
                let size = 1 << random(11);
                (0..6).map(|_| random(size) as u32).collect()
            })
            .collect();
        let truth: Vec<u16> = (0..60).map(|_| random(16) as u16).collect();
        let mut of_copies = vec![vec![0; 6]; 16];
        for (site, copy) in truth.iter().enumerate() {
            of_copies[usize::from(*copy)]
                .iter_mut()
                .zip(&of_sites[site])
                .for_each(|(all, count)| *all += count);
        }
        of_copies.iter_mut().flatten().for_each(|all: &mut u32| *all += random(20) as u32);
        let counted = Counted { bytes, of_sites: of_sites.clone(), of_copies };
        let copies = counted.copies();
        let (mut right, mut all) = (0, 0);
        for (site, counts) in of_sites.iter().enumerate() {
            let weight = counted.weight(counts);
            all += weight;
            right += if copies[site] == Some(truth[site]) { weight } else { 0 };
        }
        assert!(right * 10 >= all * 8, "{right} of {all} bytes");
        assert_eq!(copies, counted.copies());
    }

    #[test]
    fn live_objects_are_counted_at_samples_by_call_site_and_size() {
        let mut samples = Samples::default();
        for (time_ns, plain, copy) in [(0, 5, 9), (10, 7, 9), (20, 5, 12)] {
            samples.begin(time_ns);
            samples.note("kmalloc-64", plain, 1);
            samples.note("kmalloc-part-01-64", copy, 1);
        }
        let mut copies = Copies::of(&samples).unwrap();
        let alloc = |time_ns, object, site| Event {
            time_ns,
            object,
            site,
            kind: Kind::Kmalloc,
            bytes_alloc: 64,
            ..crate::RawEvent::EMPTY.to_row(NONE)
        };
        let mut sites = vec![Site::default(); 3];
        let free =
            |time_ns, object| Event { kind: Kind::Kfree, site: NONE, ..alloc(time_ns, object, 0) };
        let rows = [
            alloc(1, 0, 0),
            alloc(2, 1, 0),
            free(11, 0),
            free(11, 1),
            alloc(12, 0, 1),
            alloc(13, 1, 1),
            alloc(14, 2, 1),
        ];
        rows.iter().for_each(|row| copies.note(row, &sites));
        copies.finish(&mut sites);
        assert_eq!([0, 1, 2].map(|site: usize| sites[site].copy), [Some(0), Some(1), None]);
        assert!(Copies::of(&Samples::default()).is_none());
    }

    #[test]
    fn nothing_is_told_of_a_call_site_without_objects() {
        let counted = Counted {
            bytes: vec![8],
            of_sites: vec![vec![0], vec![3]],
            of_copies: vec![vec![0], vec![3]],
        };
        assert_eq!(counted.copies(), [None, Some(1)]);
    }
}
