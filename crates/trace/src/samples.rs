//! The numbers of `/proc/slabinfo` while a recording ran: objects and slabs of each cache over
//! time.
//!
//! # How it works
//! A cache's numbers are kept where they changed. With more than [`SAMPLES_MAX`] samples every second
//! one is given up, so that a long recording stores as much as a short one.
//!
//! Free objects in per-CPU lists (CPU slabs, sheaves) count as in use in slabinfo: `objects` is an upper bound of the
//! living. What the recorder itself allocated (the recording in the page cache has many `buffer_head`s) is taken off.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Full sheaves in a barn at most (`MAX_FULL_SHEAVES` of `mm/slub.c` @ 6.18), and sheaves of each CPU: main and spare.
const BARN_SHEAVES: u32 = 10;
const CPU_SHEAVES: u32 = 2;

/// As many as a replay keeps samples of its own.
const SAMPLES_MAX: usize = 512;

/// The numbers of all caches over time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Samples {
    /// When each sample was taken, by the trace's clock; rising. It is the middle of a reading.
    pub times_ns: Vec<u64>,
    /// By sample: the ends of the parts in which it was read, in nanoseconds from its beginning. Each reads the numbers of
    /// some caches. Nothing in older recordings.
    pub parts_ns: Vec<Vec<u32>>,
    /// By the cache's name.
    pub caches: BTreeMap<String, SampledCache>,
}

/// The numbers of one cache, at the samples at which they changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SampledCache {
    /// The first and the last of the parts of readings ([`Samples::parts_ns`]) that had its numbers.
    pub parts: (u16, u16),
    /// Objects in a slab.
    pub slab_objects: u32,
    /// Bytes of a slab.
    pub slab_bytes: u64,
    /// Slabs that were in part empty at the first sample, and the objects in them.
    pub partial_slabs: u32,
    /// See `partial_slabs`.
    pub partial_objects: u32,
    /// Slabs that CPUs kept for themselves at the first sample: those they allocated from, and their partial lists.
    pub cpu_slabs: u32,
    /// Slabs that were kept at the last sample whether they were needed or not: CPUs' own, and in nodes' lists at least the
    /// empty ones. `None` where that was not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept_slabs_end: Option<u32>,
    /// Of those at the first sample the ones in partial lists, by CPU.
    pub cpu_partial_slabs: Vec<u32>,
    /// Free objects of the slabs that CPUs kept, by CPU, in the order in which it took objects from them; as many of its
    /// slabs as it took any from.
    pub cpu_free_objects: Vec<Vec<u32>>,
    /// Objects that a sheaf holds, 0 for a cache without.
    pub sheaf_capacity: u32,
    /// Objects that were free in sheaves, and in the slabs from which CPUs fill these, at the first sample, as far as events
    /// tell: at most half of what they can hold.
    #[serde(skip_serializing_if = "is_zero")]
    pub sheaf_free_objects: u64,
    /// Allocations that were seen.
    #[serde(skip_serializing_if = "is_zero")]
    pub allocs: u64,
    /// Frees of its objects that were seen, those of objects older than the recording not counted.
    pub frees: u64,
    /// Frees of its objects that were not.
    pub unseen_frees: u64,
    /// Objects that came after the first sample without an event, at least. The kernel's objects in use at the end, and the
    /// freed ones, exceed those that events tell of by this number. Allocations in bulk make no event, nor do those of a
    /// process that the kernel hides from tracers.
    #[serde(skip_serializing_if = "is_zero")]
    pub came_unseen: u64,
    /// Objects alive at the end as far as events and samples tell, and how many of them are a guess. Nothing tells how these
    /// end, and others like them were ended because the kernel had fewer.
    #[serde(skip_serializing_if = "is_zero")]
    pub living: u64,
    /// See `living`.
    #[serde(skip_serializing_if = "is_zero")]
    pub guessed: u64,
    /// The samples, as places in [`Samples::times_ns`].
    pub at: Vec<u32>,
    /// Objects in use.
    pub objects: Vec<u32>,
    /// Slabs.
    pub slabs: Vec<u32>,
}

/// Returns whether a field is left out, which traces without it never had.
#[allow(clippy::trivially_copy_pass_by_ref)]
pub(crate) fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Samples {
    /// Returns whether nothing was sampled.
    pub fn is_empty(&self) -> bool {
        self.times_ns.is_empty()
    }

    /// Says that a cache had no more objects than these at the last sample.
    pub(crate) fn correct(&mut self, cache: &str, objects: u64) {
        let last = self.times_ns.len().saturating_sub(1);
        if let Some(cache) = self.caches.get_mut(cache) {
            let (in_use, slabs) = cache.at(last);
            cache.note(last as u32, in_use.min(objects as u32), slabs);
        }
    }

    /// Returns whether the first sample was not really taken: that of a machine recorded from its boot on.
    pub fn is_from_boot(&self) -> bool {
        self.times_ns.first() == Some(&0)
    }

    /// Says how many objects a cache had at the first sample, in as few slabs as they need.
    pub(crate) fn begin_with(&mut self, cache: &str, objects: u64) {
        if let Some(cache) = self.caches.get_mut(cache)
            && cache.at.first() != Some(&0)
            && objects > 0
        {
            let each = u64::from(cache.slab_objects.max(1));
            cache.partial_slabs = u32::from(!objects.is_multiple_of(each));
            cache.partial_objects = (objects % each) as u32;
            cache.at.insert(0, 0);
            cache.objects.insert(0, objects as u32);
            cache.slabs.insert(0, objects.div_ceil(each) as u32);
        }
    }

    /// Returns the bytes in slabs at each sample.
    pub fn slab_bytes(&self) -> Vec<u64> {
        let of = |cache: &SampledCache, sample| {
            u64::from(cache.at(sample).1).saturating_mul(cache.slab_bytes)
        };
        let all =
            |sample| self.caches.values().fold(0, |sum: u64, c| sum.saturating_add(of(c, sample)));
        (0..self.times_ns.len()).map(all).collect()
    }

    /// Returns when a cache's numbers of a sample were read, from and to: between the two it is not known when.
    pub fn reading_ns(&self, sample: usize, cache: &SampledCache) -> (u64, u64) {
        let middle_ns = self.times_ns.get(sample).copied().unwrap_or(0);
        let ends_ns = self.parts_ns.get(sample).map_or(&[][..], Vec::as_slice);
        let Some(whole_ns) = ends_ns.last() else { return (middle_ns, middle_ns) };
        let begin_ns = middle_ns.saturating_sub(u64::from(whole_ns / 2));
        let end_of = |part: Option<u16>| {
            part.map_or(0, |part| u64::from(*ends_ns.get(usize::from(part)).unwrap_or(whole_ns)))
        };
        let (first, last) = cache.parts;
        let from_ns = begin_ns.saturating_add(end_of(first.checked_sub(1)));
        (from_ns, begin_ns.saturating_add(end_of(Some(last))).max(from_ns))
    }

    /// Returns whether these went on from `begun`: the same caches, with other numbers at most.
    pub(crate) fn go_on_from(&self, begun: &Samples) -> bool {
        let facts = |cache: &SampledCache| SampledCache {
            kept_slabs_end: None,
            at: Vec::new(),
            objects: Vec::new(),
            slabs: Vec::new(),
            ..cache.clone()
        };
        let is_same = |((name, cache), (known, before)): (
            (&String, &SampledCache),
            (&String, &SampledCache),
        )| {
            name == known && cache.at(0) == before.at(0) && facts(cache) == facts(before)
        };
        self.times_ns.starts_with(&begun.times_ns)
            && self.parts_ns.starts_with(&begun.parts_ns)
            && self.caches.len() == begun.caches.len()
            && self.caches.iter().zip(&begun.caches).all(is_same)
    }

    /// Begins a sample that was read from `begin_ns` on; `parts_ns` are the ends of its parts.
    pub(crate) fn begin_reading(&mut self, begin_ns: u64, ends_ns: Vec<u32>) {
        self.parts_ns.resize(self.times_ns.len(), Vec::new());
        let whole_ns = ends_ns.last().copied().unwrap_or(0);
        self.begin(begin_ns + u64::from(whole_ns / 2));
        self.parts_ns.push(ends_ns);
    }

    /// Begins a sample.
    pub(crate) fn begin(&mut self, time_ns: u64) {
        self.times_ns.push(time_ns);
    }

    /// As [`Samples::begin`], of a text that leaves out caches without slabs.
    pub(crate) fn begin_empty(&mut self, time_ns: u64) {
        self.begin(time_ns);
        let at = self.times_ns.len() as u32 - 1;
        self.caches.values_mut().for_each(|cache| cache.note(at, 0, 0));
    }

    /// Adds the numbers of a cache to the sample that was begun last.
    pub(crate) fn note(&mut self, cache: &str, objects: u64, slabs: u64) -> &mut SampledCache {
        let at = self.times_ns.len().saturating_sub(1) as u32;
        if !self.caches.contains_key(cache) {
            self.caches.insert(cache.to_owned(), SampledCache::default());
        }
        let cache = self.caches.get_mut(cache).expect("it was inserted");
        cache.note(at, objects as u32, slabs as u32);
        cache
    }

    /// Takes off objects that were not the recorded machine's: `own` are samples in rising order, and the number of such
    /// objects from each on. The same number of whole slabs is taken off, as they were allocated one behind the other, but
    /// at most those that came since the first sample: before there are new ones, objects fill holes in old ones.
    pub(crate) fn take_off(&mut self, cache: &str, own: &[(u32, u64)]) {
        let Some(cache) = self.caches.get_mut(cache) else { return };
        let each = u64::from(cache.slab_objects.max(1));
        let own_objects_max = own.iter().map(|(_, own)| *own).max().unwrap_or(0);
        if own_objects_max < each {
            return;
        }
        let before = std::mem::take(cache);
        let slabs_start = before.at(0).1;
        let mut places: Vec<u32> =
            before.at.iter().copied().chain(own.iter().map(|(at, _)| *at)).collect();
        places.sort_unstable();
        places.dedup();
        *cache = SampledCache {
            at: Vec::new(),
            objects: Vec::new(),
            slabs: Vec::new(),
            ..before.clone()
        };
        for at in places {
            let changes = own.partition_point(|(from, _)| *from <= at);
            let own = changes.checked_sub(1).map_or(0, |last| own[last].1);
            let (objects, slabs) = before.at(at as usize);
            let own_slabs = u32::try_from(own / each).unwrap_or(u32::MAX);
            let own_objects = own_slabs.saturating_mul(each as u32);
            let new_slabs = own_slabs.min(slabs.saturating_sub(slabs_start));
            cache.note(at, objects.saturating_sub(own_objects), slabs - new_slabs);
        }
    }

    /// Gives up samples until there are few enough. The first and the last stay.
    pub(crate) fn thin(&mut self) {
        while self.times_ns.len() > SAMPLES_MAX {
            let last = self.times_ns.len() as u32 - 1;
            // Two become one, with the numbers of the later; so the last keeps its own.
            let place = |at: u32| if at == last { at.div_ceil(2) } else { at / 2 };
            let stays = |at: u32| at.is_multiple_of(2) || at == last;
            let (mut kept, mut parts) = (Vec::new(), Vec::new());
            for (at, time_ns) in (0..).zip(&self.times_ns) {
                kept.resize(place(at) as usize + 1, 0);
                if stays(at) {
                    kept[place(at) as usize] = *time_ns;
                }
            }
            for (at, ends_ns) in (0..).zip(std::mem::take(&mut self.parts_ns)) {
                parts.resize(place(at) as usize + 1, Vec::new());
                if stays(at) {
                    parts[place(at) as usize] = ends_ns;
                }
            }
            (self.times_ns, self.parts_ns) = (kept, parts);
            for cache in self.caches.values_mut() {
                let (at, objects, slabs) = (Vec::new(), Vec::new(), Vec::new());
                let mut thinned = SampledCache { at, objects, slabs, ..cache.clone() };
                for (i, at) in cache.at.iter().enumerate() {
                    // Numbers of between two samples that stay are seen at the later.
                    let at = if at % 2 == 1 && *at != last { at + 1 } else { *at };
                    let at = place(at.min(last));
                    thinned.note(at, cache.objects[i], cache.slabs[i]);
                }
                *cache = thinned;
            }
        }
    }
}

impl SampledCache {
    fn note(&mut self, at: u32, objects: u32, slabs: u32) {
        if self.at.last() == Some(&at) {
            self.at.pop();
            self.objects.pop();
            self.slabs.pop();
        }
        let before = self.objects.last().copied().zip(self.slabs.last().copied());
        if before.unwrap_or((0, 0)) != (objects, slabs) {
            self.at.push(at);
            self.objects.push(objects);
            self.slabs.push(slabs);
        }
    }

    /// Returns how many objects that were freed unseen its sheaves and the slabs of CPUs are likely to hold, which count as in
    /// use: of the slabs as many are free as at the first sample, half of what sheaves can hold, and of these as many are
    /// of unseen frees as of all.
    pub(crate) fn parked_unseen(&self, cpus: u32, frees: u64, unseen_frees: u64) -> u64 {
        let all = frees + unseen_frees;
        let parked = if self.sheaf_capacity > 0 { self.parked_mean(cpus) } else { self.cpu_free() };
        (parked.min(all) * unseen_frees).checked_div(all).unwrap_or(0)
    }

    /// Returns the most objects that can be free and count as in use, since CPUs keep them: those of whole slabs, of as many
    /// as at the first sample, and of full sheaves.
    pub(crate) fn parked_max(&self, cpus: u32) -> u64 {
        let slabs = u64::from(self.cpu_slabs.max(cpus));
        self.in_sheaves_max(cpus) + u64::from(self.slab_objects) * slabs
    }

    /// Returns how many objects are free and count as in use in the mean, as sheaves and the slabs from which CPUs fill these
    /// are half full.
    pub(crate) fn parked_mean(&self, cpus: u32) -> u64 {
        (self.in_sheaves_max(cpus) + u64::from(self.slab_objects) * u64::from(self.cpu_slabs)) / 2
    }

    /// Returns how many objects its sheaves can hold.
    fn in_sheaves_max(&self, cpus: u32) -> u64 {
        let sheaves = u64::from(BARN_SHEAVES) + u64::from(CPU_SHEAVES) * u64::from(cpus);
        u64::from(self.sheaf_capacity) * sheaves
    }

    /// Returns how many objects were free in the slabs and sheaves that CPUs kept at the first sample, as far as that is
    /// known.
    pub(crate) fn cpu_free(&self) -> u64 {
        let in_slabs = self.cpu_free_objects.iter().flatten().map(|free| u64::from(*free));
        // A damaged trace may contain impossible numbers.
        in_slabs.sum::<u64>().saturating_add(self.sheaf_free_objects)
    }

    /// Returns how many of the slabs that CPUs kept were those that they allocate from.
    pub fn cpu_slabs_current(&self) -> u32 {
        let partial =
            self.cpu_partial_slabs.iter().fold(0, |sum: u32, slabs| sum.saturating_add(*slabs));
        self.cpu_slabs.saturating_sub(partial)
    }

    /// Returns the share of the frees of its objects that were seen; `None` where none was freed.
    pub fn frees_seen_share(&self) -> Option<f64> {
        let all = self.frees + self.unseen_frees;
        (all > 0).then(|| self.frees as f64 / all as f64)
    }

    /// Returns the share of the allocations of its objects that were seen, at most; `None` where there was none, and of older
    /// traces.
    pub fn allocs_seen_share(&self) -> Option<f64> {
        let all = self.allocs.saturating_add(self.came_unseen);
        (all > 0).then(|| self.allocs as f64 / all as f64)
    }

    /// Returns the share of the objects alive at the end that are known to be; `None` where none is, and of older traces.
    pub fn living_known_share(&self) -> Option<f64> {
        let guessed = self.guessed.min(self.living);
        (self.living > 0).then(|| 1.0 - guessed as f64 / self.living as f64)
    }

    /// Returns how many slabs there were at a sample, at most: those of its reading, or of the next if others came meanwhile.
    pub(crate) fn slabs_at_most(&self, sample: usize) -> u64 {
        u64::from(self.at(sample).1.max(self.at(sample + 1).1))
    }

    /// Returns objects and slabs at a sample; 0 where a damaged trace has no numbers.
    pub fn at(&self, sample: usize) -> (u32, u32) {
        let changes = self.at.partition_point(|at| *at as usize <= sample);
        let last = |numbers: &[u32]| numbers.get(changes.wrapping_sub(1)).copied().unwrap_or(0);
        (last(&self.objects), last(&self.slabs))
    }

    /// Returns the most slabs at once.
    pub fn slabs_max(&self) -> u32 {
        self.slabs.iter().copied().max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampled(count: u64) -> Samples {
        let mut samples = Samples::default();
        for number in 0..count {
            samples.begin(100 * number);
            samples.note("busy", 10 * number, number);
            samples.note("idle", 7, 1);
        }
        samples
    }

    #[test]
    fn objects_parked_in_sheaves_are_of_seen_and_unseen_frees_alike() {
        let cache = SampledCache { sheaf_capacity: 32, ..SampledCache::default() };
        // Ten sheaves of a barn and two for each of two CPUs, half of their 448 objects.
        assert_eq!(cache.parked_unseen(2, 0, 10_000), 224);
        assert_eq!(cache.parked_unseen(2, 5_000, 5_000), 112);
        assert_eq!((cache.parked_unseen(2, 9_999, 1), cache.parked_unseen(2, 0, 0)), (0, 0));
        assert_eq!(cache.parked_unseen(2, 0, 7), 7);
    }

    #[test]
    fn what_does_not_change_is_kept_once() {
        let samples = sampled(5);
        assert_eq!((samples.caches["idle"].at.len(), samples.caches["busy"].at.len()), (1, 4));
        assert_eq!(samples.caches["busy"].at(3), (30, 3));
        assert_eq!((samples.caches["idle"].at(4), samples.caches["busy"].at(0)), ((7, 1), (0, 0)));
        assert_eq!(samples.caches["busy"].slabs_max(), 4);
        let mut samples = samples;
        samples.caches.values_mut().for_each(|cache| cache.slab_bytes = 10);
        assert_eq!(samples.slab_bytes(), [10, 20, 30, 40, 50]);
    }

    #[test]
    fn a_reading_of_a_cache_takes_as_long_as_its_part() {
        let mut samples = sampled(1);
        let cache = |parts| SampledCache { parts, ..SampledCache::default() };
        // An older recording knows the middle only.
        assert_eq!(samples.reading_ns(0, &cache((0, 0))), (0, 0));
        samples.begin_reading(1_000, vec![10, 30, 100]);
        assert_eq!(samples.times_ns, [0, 1_050]);
        assert_eq!(samples.reading_ns(1, &cache((0, 0))), (1_000, 1_010));
        assert_eq!(samples.reading_ns(1, &cache((1, 2))), (1_010, 1_100));
        // A damaged trace.
        assert_eq!(samples.reading_ns(1, &cache((7, 9))), (1_100, 1_100));
        assert_eq!(samples.reading_ns(1, &cache((2, 0))), (1_030, 1_030));
        assert_eq!(samples.reading_ns(9, &cache((0, 0))), (0, 0));
    }

    #[test]
    fn thinned_samples_keep_the_parts_of_their_readings() {
        let mut samples = Samples::default();
        for number in 0..600u32 {
            samples.begin_reading(1_000 * u64::from(number), vec![number]);
        }
        let all = samples.clone();
        samples.thin();
        assert_eq!(samples.parts_ns.len(), samples.times_ns.len());
        for (time_ns, parts) in samples.times_ns.iter().zip(&samples.parts_ns) {
            let before = all.times_ns.iter().position(|time| time == time_ns).unwrap();
            assert_eq!(parts, &all.parts_ns[before]);
        }
    }

    #[test]
    fn thinned_samples_say_the_same_at_the_times_that_stay() {
        for count in [512, 513, 1024, 1025, 2_050] {
            let (all, mut few) = (sampled(count), sampled(count));
            few.thin();
            assert!(few.times_ns.len() <= SAMPLES_MAX && few.times_ns.is_sorted(), "{count}");
            assert_eq!((few.times_ns[0], few.times_ns.last()), (0, all.times_ns.last()));
            for (place, time_ns) in few.times_ns.iter().enumerate() {
                let before = all.times_ns.iter().position(|time| time == time_ns).unwrap();
                assert_eq!(
                    few.caches["busy"].at(place),
                    all.caches["busy"].at(before),
                    "{count} {place}"
                );
            }
        }
    }
}
