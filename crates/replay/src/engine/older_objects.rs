//! Makes the objects that the recorded kernel had before the first row.
//!
//! # How it works
//! A recording's first sample tells how many objects and slabs each cache had, and how many of the slabs were
//! partly empty. As many slabs are filled, on one CPU after the other. Then objects are freed out of as many of them, out of
//! each slab more than out of the previous one. With equally many free objects all slabs would stay, whereas a kernel gives
//! up its emptiest ones. (With even ones the caches of twelve recordings were a fifth further off.)
//!
//! Slabs that CPUs kept for themselves count as full in the kernel, so the number of their live objects is not known. Here
//! it is half of them, which the kernel itself assumes for a CPU's partial slabs (`put_cpu_partial`), or, where the
//! recording's events tell, the true number. Each CPU then has its slabs in the order in which it took objects from them.
//! Free objects in sheaves also count as in use: as many as events tell are freed, out of all slabs.
//!
//! A row that frees an object older than the trace frees one of these, drawn at random (the same in every run). Some
//! rows free an object that came after the first sample without an event, which looks the same. There are as many as
//! the kernel must have had, evenly spaced; they free nothing here, as nothing was allocated.
//!
//! A kernel that will have fewer slabs than now will have given up whole ones. So the objects of as many slabs are freed
//! before all others. They are drawn at random, or slab by slab if frees are estimated and there are more slabs than the
//! kernel had at the time. (Drawn from all objects, the connections left over from a storm before the recording lay in
//! 360 of 720 slabs of `eventpoll_epi`, where the kernel had 18.)

use std::collections::HashSet;

use slablab_kmem::ObjPtr;
use slablab_trace::SampledCache;

/// The objects older than the trace.
#[derive(Debug, Default)]
pub(crate) struct OlderObjects {
    /// The caches, by the trace's number
    caches: Vec<OlderCache>,
    /// Bytes given to those that are alive, of all caches
    pub(crate) bytes: u64,
    /// Whether objects that no row frees are kept too
    pub(crate) keeps_others: bool,
    others: Vec<ObjPtr>,
    random: u64,
}

/// The older objects of one cache.
#[derive(Debug, Default, Clone)]
pub(crate) struct OlderCache {
    objects: Vec<ObjPtr>,
    /// Rows that free objects whose allocation the trace does not have: how many there are, how many of these, at most, free
    /// objects that came unseen after the first sample, and how many have passed.
    frees: u64,
    came_unseen: u64,
    passed: u64,
    /// How many slabs the recorded kernel had, from which time on, and the bytes of one.
    slabs: Vec<(u64, u32)>,
    slab_bytes: u64,
    /// From the first free on: the objects of slabs that will be given up, and all that are taken.
    given_up: Option<GivenUp>,
    taken: HashSet<ObjPtr>,
}

/// The objects of slabs that will be given up.
#[derive(Debug, Default, Clone)]
struct GivenUp {
    /// The objects in the order of their addresses, so slab by slab.
    by_slab: Vec<ObjPtr>,
    objects: Vec<ObjPtr>,
}

impl OlderCache {
    /// `frees` are the rows that free objects whose allocation the trace does not have.
    pub(crate) fn new(
        objects: Vec<ObjPtr>,
        sampled: &SampledCache,
        times_ns: &[u64],
        frees: u64,
    ) -> OlderCache {
        let time_of = |at: &u32| times_ns.get(*at as usize).copied().unwrap_or(u64::MAX);
        let slabs = sampled.at.iter().map(time_of).zip(sampled.slabs.iter().copied()).collect();
        let came_unseen = sampled.came_unseen.min(frees);
        let slab_bytes = sampled.slab_bytes.max(1);
        OlderCache { objects, frees, came_unseen, slabs, slab_bytes, ..OlderCache::default() }
    }

    /// Returns the objects that are not in the first `slabs_kept` slabs.
    fn outside(&self, slabs_kept: u32) -> GivenUp {
        let mut by_slab = self.objects.clone();
        by_slab.sort_unstable();
        let of_slabs =
            by_slab.chunk_by(|a, b| a.get() / self.slab_bytes == b.get() / self.slab_bytes);
        let kept: usize = of_slabs.take(slabs_kept as usize).map(<[ObjPtr]>::len).sum();
        by_slab.drain(..kept);
        GivenUp { objects: by_slab.clone(), by_slab }
    }

    fn take(&mut self, now_ns: u64, slabs: u64, random: &mut u64) -> Option<ObjPtr> {
        self.take_given_up(now_ns, slabs, random).or_else(|| self.take_any(random))
    }

    fn take_given_up(&mut self, now_ns: u64, slabs: u64, random: &mut u64) -> Option<ObjPtr> {
        let now = self.slabs.partition_point(|(from_ns, _)| *from_ns <= now_ns).checked_sub(1)?;
        if self.given_up.is_none() {
            let fewest = self.slabs[now..].iter().map(|(_, slabs)| *slabs).min();
            let fewest = fewest.filter(|fewest| *fewest < self.slabs[now].1);
            self.given_up = Some(fewest.map_or_else(GivenUp::default, |kept| self.outside(kept)));
        }
        let is_more = slabs > u64::from(self.slabs[now].1);
        let given_up = self.given_up.as_mut()?;
        loop {
            let object =
                if is_more { given_up.by_slab.pop() } else { draw(&mut given_up.objects, random) }?;
            if self.taken.insert(object) {
                return Some(object);
            }
        }
    }

    fn take_any(&mut self, random: &mut u64) -> Option<ObjPtr> {
        loop {
            let object = draw(&mut self.objects, random)?;
            if self.given_up.is_none() || self.taken.insert(object) {
                return Some(object);
            }
        }
    }
}

/// Takes one at random.
fn draw(objects: &mut Vec<ObjPtr>, random: &mut u64) -> Option<ObjPtr> {
    if objects.is_empty() {
        return None;
    }
    // Knuth's generator; its high bits are the random ones.
    *random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
    Some(objects.swap_remove((*random >> 33) as usize % objects.len()))
}

impl OlderObjects {
    /// Keeps the objects of a cache of the trace, for rows to free.
    pub(crate) fn keep(&mut self, index: usize, cache: OlderCache) {
        self.caches.resize(self.caches.len().max(index + 1), OlderCache::default());
        self.caches[index] = cache;
    }

    /// Keeps the objects of a cache that no row names, if these are kept.
    pub(crate) fn keep_others(&mut self, objects: Vec<ObjPtr>) {
        if self.keeps_others {
            self.others.extend(objects);
        }
    }

    /// Returns those that are alive, as far as they are kept.
    pub(crate) fn alive(&self) -> impl Iterator<Item = ObjPtr> {
        let of_rows = self
            .caches
            .iter()
            .flat_map(|cache| cache.objects.iter().filter(|object| !cache.taken.contains(object)));
        of_rows.chain(&self.others).copied()
    }

    /// Returns one of the objects of a cache, which a row frees, unless that row frees an object that came unseen.
    pub(crate) fn take(&mut self, cache: u32, now_ns: u64) -> Option<ObjPtr> {
        let cache = self.caches.get_mut(cache as usize)?;
        let unseen = |passed| share(passed, cache.came_unseen, cache.frees);
        cache.passed += 1;
        if unseen(cache.passed) > unseen(cache.passed - 1) {
            return None;
        }
        cache.take(now_ns, 0, &mut self.random)
    }

    /// Returns one of the objects of a cache, which was freed unseen, while the machine has `slabs` slabs of it.
    pub(crate) fn take_unseen(&mut self, cache: u32, now_ns: u64, slabs: u64) -> Option<ObjPtr> {
        self.caches.get_mut(cache as usize)?.take(now_ns, slabs, &mut self.random)
    }
}

/// Fills a cache as it was at the first sample; returns its objects.
pub(crate) fn fill(
    sampled: &SampledCache,
    cpus: u32,
    mut alloc: impl FnMut(u32) -> Option<ObjPtr>,
    mut free: impl FnMut(u32, ObjPtr),
    flush: impl FnMut(u32),
) -> Vec<ObjPtr> {
    let (objects, slabs) = sampled.at(0);
    let each = u64::from(sampled.slab_objects.max(1));
    let (objects, slabs) = (u64::from(objects), u64::from(slabs));
    let spare = (slabs * each).saturating_sub(objects);
    let partial = match u64::from(sampled.partial_slabs) {
        0 => spare.div_ceil(each.div_ceil(2)),
        known => known,
    };
    let partial = partial.clamp(spare.div_ceil(each), slabs.max(spare.div_ceil(each)));
    let holes = Holes { slabs: partial, count: spare, each };
    let cpu_of = |slab: u64| (slab % u64::from(cpus)) as u32;
    let fill = |slab| (0..each).filter_map(|_| alloc(cpu_of(slab))).collect::<Vec<_>>();
    // If there is no room at all, there will be none for the next cache either.
    let filled = (0..slabs).map(fill).take_while(|objects| !objects.is_empty());
    let mut filled: Vec<_> = filled.collect();
    if !sampled.cpu_free_objects.is_empty() {
        let mut kept = Vec::new();
        let owned = owned(sampled, cpus, slabs.saturating_sub(partial));
        let count = owned.iter().map(Vec::len).sum::<usize>();
        let of_cpus = filled.split_off(filled.len().saturating_sub(count));
        let others = filled.len() as u64;
        for (slab, objects) in (0..).zip(filled) {
            let (before, emptied) =
                (share(slab, partial, others), share(slab + 1, partial, others));
            let free_here = holes.of_first(emptied) - holes.of_first(before);
            empty(objects, free_here, |object| free(cpu_of(slab), object), &mut kept);
        }
        (0..cpus).for_each(flush);
        give(owned, of_cpus, alloc, free, &mut kept);
        return kept;
    }
    // Free objects in sheaves may belong to any slab, and CPUs fill sheaves from their slabs.
    let in_sheaves = sampled.sheaf_free_objects.min(objects);
    let owners = match in_sheaves {
        0 => owners(sampled, cpus, slabs.saturating_sub(partial)),
        _ => Vec::new(),
    };
    let (mut kept, mut emptied, mut owned) = (Vec::new(), 0, 0);
    for (slab, objects) in (0..).zip(filled) {
        let parked_here = share(slab + 1, in_sheaves, slabs) - share(slab, in_sheaves, slabs);
        let before = emptied;
        emptied = share(slab + 1, partial, slabs);
        let free_here = holes.of_first(emptied) - holes.of_first(before);
        // The last ones are taken, so that the CPUs have them in the end.
        let full_left = (slabs - slab) - (partial - before);
        let is_owned = emptied == before && full_left <= owners.len() as u64;
        let (cpu, free_here) = match is_owned {
            true => {
                owned += 1;
                (owners[owned - 1], each / 2)
            }
            false => (cpu_of(slab), free_here),
        };
        empty(objects, free_here + parked_here, |object| free(cpu, object), &mut kept);
    }
    kept
}

/// Free objects of slabs that are partly empty.
#[derive(Debug, Clone, Copy)]
struct Holes {
    slabs: u64,
    count: u64,
    /// Objects of a slab.
    each: u64,
}

impl Holes {
    /// Returns how many are in the first `slabs` of them: each has more than the previous one.
    fn of_first(&self, slabs: u64) -> u64 {
        let [first, all, count, each] = [slabs, self.slabs, self.count, self.each].map(u128::from);
        // The first may have none, or the last one object left: others would have been given up.
        let slope = count.min((each.saturating_sub(1) * all).saturating_sub(count));
        let free = first * (count * all - slope * (all - first));
        free.checked_div(all * all).map_or(0, |free| free as u64)
    }
}

/// Frees `count` objects of a slab, evenly spaced, and keeps the others.
fn empty(objects: Vec<ObjPtr>, count: u64, mut free: impl FnMut(ObjPtr), kept: &mut Vec<ObjPtr>) {
    let each = objects.len() as u64;
    for (place, object) in (0..).zip(objects) {
        match share(place + 1, count, each) > share(place, count, each) {
            true => free(object),
            false => kept.push(object),
        }
    }
}

/// Gives full slabs to CPUs, which keep nothing yet, and frees objects of them: first of the one from which each is
/// to allocate, then of those of its partial list, the last one first.
fn give(
    owned: Vec<Vec<u64>>,
    slabs: Vec<Vec<ObjPtr>>,
    mut alloc: impl FnMut(u32) -> Option<ObjPtr>,
    mut free: impl FnMut(u32, ObjPtr),
    kept: &mut Vec<ObjPtr>,
) {
    let mut slabs = slabs.into_iter();
    for (cpu, counts) in (0..).zip(owned) {
        let Some((current, partial)) = counts.split_first() else { continue };
        let mut next = |count: u64, kept: &mut Vec<ObjPtr>| {
            empty(slabs.next().unwrap_or_default(), count, |object| free(cpu, object), kept);
        };
        next(*current, kept);
        // An allocation takes the only slab of the partial list to allocate from.
        let taken = if *current > 0 { alloc(cpu) } else { None };
        partial.iter().rev().for_each(|count| next(*count, kept));
        taken.into_iter().for_each(|object| free(cpu, object));
    }
}

/// Returns how many objects are free in the slabs that each CPU keeps, in the order in which it takes objects from them,
/// and for `slabs` of them at most.
fn owned(sampled: &SampledCache, cpus: u32, slabs: u64) -> Vec<Vec<u64>> {
    let each = u64::from(sampled.slab_objects);
    let mut left = slabs as usize;
    let of_cpu = |cpu: u32| {
        let current = usize::from(cpu < sampled.cpu_slabs_current());
        let partial = sampled.cpu_partial_slabs.get(cpu as usize).copied().unwrap_or(0) as usize;
        let count = (partial + current).min(left);
        left -= count;
        let known = sampled.cpu_free_objects.get(cpu as usize).map_or(&[][..], Vec::as_slice);
        let free = |place| known.get(place).map_or(each / 2, |free| u64::from(*free).min(each));
        (0..count).map(free).collect()
    };
    (0..cpus).map(of_cpu).collect()
}

/// Returns the CPUs that keep slabs for themselves, once for each slab, at most `slabs`: first those of their partial
/// lists, then those from which they allocate.
fn owners(sampled: &SampledCache, cpus: u32, slabs: u64) -> Vec<u32> {
    let partial = (0..cpus).zip(&sampled.cpu_partial_slabs);
    // A damaged trace may contain impossible numbers.
    let partial = partial.flat_map(|(cpu, count)| std::iter::repeat_n(cpu, *count as usize));
    let partial: Vec<u32> = partial.take(slabs as usize).collect();
    let current = (sampled.cpu_slabs as usize).saturating_sub(partial.len()).min(cpus as usize);
    partial.into_iter().chain((0..cpus).take(current)).take(slabs as usize).collect()
}

/// Returns the part of `of` that falls to the first `part` of `whole`, evenly spread.
fn share(part: u64, of: u64, whole: u64) -> u64 {
    let share = (u128::from(part) * u128::from(of)).checked_div(u128::from(whole));
    share.map_or(0, |share| share as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(objects: u32, slabs: u32, partial_slabs: u32) -> (usize, usize, usize) {
        let sampled = SampledCache {
            slab_objects: 4,
            partial_slabs,
            at: vec![0],
            objects: vec![objects],
            slabs: vec![slabs],
            ..SampledCache::default()
        };
        let (mut next, mut freed) = (0, Vec::new());
        let alloc = |_| {
            next += 8;
            ObjPtr::new(next)
        };
        let free = |_, object: ObjPtr| freed.push(object.get() / 8 - 1);
        let kept = fill(&sampled, 2, alloc, free, |_| {});
        freed.iter_mut().for_each(|place| *place /= 4);
        let frees = freed.len();
        freed.dedup();
        (kept.len(), frees, freed.len())
    }

    #[test]
    fn slabs_are_full_and_in_part_empty_as_they_were() {
        assert_eq!(filled(40, 10, 0), (40, 0, 0));
        assert_eq!(filled(30, 10, 5), (30, 10, 5));
        assert_eq!(filled(30, 10, 0), (30, 10, 5));
        // The objects in use between two readings may not fit.
        assert_eq!(filled(30, 10, 1), (30, 10, 3));
        assert_eq!((filled(0, 0, 0), filled(5, 0, 2)), ((0, 0, 0), (0, 0, 0)));
    }

    #[test]
    fn slabs_are_unevenly_full() {
        let of_each = |slabs, count, each| {
            let holes = Holes { slabs, count, each };
            (0..slabs)
                .map(|slab| holes.of_first(slab + 1) - holes.of_first(slab))
                .collect::<Vec<_>>()
        };
        assert_eq!(of_each(5, 10, 8), [0, 1, 2, 3, 4]);
        // None is empty as long as others are full enough.
        assert_eq!(of_each(5, 25, 8), [3, 4, 5, 6, 7]);
        assert_eq!(of_each(2, 16, 8), [8, 8]);
        assert!(of_each(0, 0, 0).is_empty());
        // A damaged trace says this.
        let most = Holes { slabs: u32::MAX.into(), count: u64::MAX, each: u32::MAX.into() };
        assert_eq!((most.of_first(0), most.of_first(most.slabs)), (0, u64::MAX));
    }

    #[test]
    fn half_of_what_cpus_keep_for_themselves_is_free() {
        let sampled = SampledCache {
            slab_objects: 4,
            cpu_slabs: 4,
            cpu_partial_slabs: vec![0, 2],
            at: vec![0],
            objects: vec![40],
            slabs: vec![10],
            ..SampledCache::default()
        };
        let (mut next, mut freed) = (0, Vec::new());
        let alloc = |_| {
            next += 8;
            ObjPtr::new(next)
        };
        let kept = fill(
            &sampled,
            2,
            alloc,
            |cpu, object| freed.push((cpu, (object.get() / 8 - 1) / 4)),
            |_| {},
        );
        // The last four slabs: two of CPU 1's partial list, and one that each CPU allocates from.
        let last = [(1, 6), (1, 7), (0, 8), (1, 9)].into_iter().flat_map(|of| [of, of]);
        assert_eq!(kept.len(), 32);
        assert_eq!(
            freed.iter().map(|(cpu, place)| (*cpu, *place)).collect::<Vec<_>>(),
            last.collect::<Vec<_>>()
        );
        // A damaged trace says this.
        let damaged = SampledCache { cpu_partial_slabs: vec![u32::MAX], ..sampled };
        assert_eq!(owners(&damaged, 2, 10).len(), 10);
    }

    #[test]
    fn slabs_that_cpus_kept_are_as_free_as_the_events_tell() {
        let sampled = SampledCache {
            slab_objects: 4,
            cpu_slabs: 4,
            cpu_partial_slabs: vec![0, 2],
            cpu_free_objects: vec![vec![3], vec![1, 4]],
            at: vec![0],
            objects: vec![40],
            slabs: vec![10],
            ..SampledCache::default()
        };
        let (mut next, mut freed, mut flushed) = (0, Vec::new(), Vec::new());
        let alloc = |_| {
            next += 8;
            ObjPtr::new(next)
        };
        let free = |cpu, object: ObjPtr| freed.push((cpu, (object.get() / 8 - 1) / 4));
        let kept = fill(&sampled, 2, alloc, free, |cpu| flushed.push(cpu));
        assert_eq!((kept.len(), flushed), (30, vec![0, 1]));
        // Each CPU allocates one object from its slab and frees it (slab 10 here); nothing is known about the third slab
        // of CPU 1.
        let of_slabs = [(0, 6, 3), (0, 10, 1), (1, 7, 1), (1, 8, 2), (1, 9, 4), (1, 10, 1)];
        let expected: Vec<(u32, u64)> = of_slabs
            .iter()
            .flat_map(|(cpu, slab, count)| std::iter::repeat_n((*cpu, *slab), *count))
            .collect();
        assert_eq!(freed, expected);
        // A damaged trace says this.
        let damaged = SampledCache {
            cpu_free_objects: vec![vec![u32::MAX], Vec::new(), vec![1]],
            cpu_partial_slabs: vec![u32::MAX],
            ..sampled
        };
        assert_eq!(owned(&damaged, 2, 3), [vec![4, 2, 2], vec![]]);
    }

    #[test]
    fn rows_free_each_object_once() {
        let mut warm = OlderObjects::default();
        let cache = |count: u64, frees: u64, came_unseen: u64| {
            let objects = (1..=count).filter_map(|place| ObjPtr::new(8 * place)).collect();
            let sampled = SampledCache { came_unseen, ..SampledCache::default() };
            OlderCache::new(objects, &sampled, &[], frees)
        };
        warm.keep(1, cache(5, 5, 0));
        let mut taken: Vec<_> = std::iter::from_fn(|| warm.take(1, 0)).map(ObjPtr::get).collect();
        taken.sort_unstable();
        assert_eq!(taken, [8, 16, 24, 32, 40]);
        assert_eq!(
            (warm.take(0, 0), warm.take(9, 0), warm.take_unseen(9, 0, 0)),
            (None, None, None)
        );

        // A process that the kernel hides from tracers opened files in /proc; 3,988 frees emptied a cache of 3,600 objects.
        warm.keep(0, cache(4, 8, 6));
        assert_eq!((0..8).filter_map(|_| warm.take(0, 0)).count(), 2);
        // Each object that was freed unseen is an older one, and a damaged trace has more rows than it says.
        assert!(warm.take_unseen(0, 0, 0).is_some() && warm.take(0, 0).is_some());
        for (frees, came_unseen) in [(0, 7), (3, u64::MAX)] {
            warm.keep(0, cache(0, frees, came_unseen));
            assert_eq!(warm.take(0, 0), None);
        }
    }

    /// Ten slabs of four objects; the kernel keeps two of them.
    #[test]
    fn of_slabs_that_do_not_stay_all_objects_go_first() {
        let sampled = SampledCache {
            at: vec![0, 1, 2, 3],
            slabs: vec![10, 7, 2, 5],
            slab_bytes: 32,
            ..SampledCache::default()
        };
        let slab_of = |object: ObjPtr| object.get() / 32;
        let objects: Vec<_> = (4..44).filter_map(|place| ObjPtr::new(8 * place)).collect();
        let mut warm = OlderObjects::default();
        warm.keep(0, OlderCache::new(objects, &sampled, &[100, 200, 300, 400], 0));
        // There are as many slabs as the kernel had: any object goes of those that do not stay.
        let at_random: Vec<_> =
            (0..8).filter_map(|_| warm.take_unseen(0, 150, 10)).map(slab_of).collect();
        assert!(at_random.iter().all(|slab| *slab >= 3) && !at_random.is_sorted_by(|a, b| a >= b));
        // There are too many slabs: they go one after the other.
        let in_order: Vec<_> =
            (0..24).filter_map(|_| warm.take_unseen(0, 200, 10)).map(slab_of).collect();
        assert!(
            in_order.is_sorted_by(|a, b| a >= b) && in_order.last() == Some(&3),
            "{in_order:?}"
        );
        // Each goes once, however it is taken, and those that stay go last.
        let mut rest: Vec<_> = std::iter::from_fn(|| warm.take(0, 0)).map(slab_of).collect();
        rest.sort_unstable();
        assert_eq!(rest, [1, 1, 1, 1, 2, 2, 2, 2]);
        assert_eq!(warm.take_unseen(0, 500, 9), None);
    }
}
