//! The live objects of one cache, and which of them end first when slabinfo has fewer.
//!
//! # How it works
//! Objects without a visible free wait in three queues: those whose address or slab is used again later,
//! those whose end nothing tells, and those whose free is not believed. The second queue has each call site's objects in
//! the order of their age, and in that in which their slabs become quiet. The first pass over the events knows both when
//! an object comes.
//!
//! # Invariants
//! An object whose end is not known stands in both orders, or in neither.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;

use slablab_linux::is_kmalloc_name;

use super::excess::Excess;
use super::flow::{Flow, Told};
use super::occupied::Occupied;
use super::pace::Pace;
use super::unfreed::End;
use crate::SampledCache;

/// Where fewer than one in this many objects are freed by an event, such a free is not believed.
const SEEN_PARTS: u64 = 10;

/// A sampled cache.
#[derive(Debug, Default)]
pub(super) struct Cache {
    /// Objects older than the recording, now and at its beginning.
    pub(super) older: u64,
    older_first: u64,
    /// Of objects older than the recording, frees that were seen.
    pub(super) older_frees: u64,
    /// Objects whose allocation has no event, by what the kernel had in use at the first sample behind the first event.
    pub(super) without_event: u64,
    pub(super) live: u64,
    /// How many objects have been freed unseen, at most.
    excess: Excess,
    /// Objects older than the recording that are known to be gone: those that were ended, and those of kmalloc's whose free
    /// does not tell the cache.
    older_gone: u64,
    /// The objects that will have come and gone until the next sample, the last interval first.
    flows: Vec<Flow>,
    /// Of objects of the trace: frees that were seen, and others.
    pub(super) frees: u64,
    pub(super) unseen_frees: u64,
    /// Objects without a visible free whose address is allocated again, by age: address and number. Some may have
    /// ended.
    pub(super) reused: VecDeque<(u64, u64)>,
    /// Those whose address is not allocated again, by call site.
    pub(super) unfreed: BTreeMap<u32, OfSite>,
    /// Objects with a visible free, where that is rare, by age: it may belong to another object, whose allocation is
    /// not seen.
    pub(super) doubtful: VecDeque<(u64, u64)>,
    /// Allocations, and those with a visible free.
    pub(super) allocs: u64,
    pub(super) freed: u64,
    pub(super) slab_objects: u64,
    pub(super) slab_pages: u64,
    pub(super) occupied: Occupied,
    /// Objects whose end nothing tells that were chosen to end, and how many allocations there were when the last one was.
    chosen: u64,
    last_chosen: u64,
    pub(super) is_kmalloc: bool,
    pace: Pace,
}

/// Objects of a call site whose end nothing tells.
#[derive(Debug, Default)]
pub(super) struct OfSite {
    /// By number: the address, and when the slab becomes quiet.
    by_age: BTreeMap<u64, (u64, u64)>,
    /// When the slab becomes quiet, address, number.
    by_quiet: BTreeSet<(u64, u64, u64)>,
}

impl OfSite {
    fn add(&mut self, ptr: u64, number: u64, quiet: u64) {
        self.by_age.insert(number, (ptr, quiet));
        self.by_quiet.insert((quiet, ptr, number));
    }

    /// Returns the first object from `from` on, which is when a slab becomes quiet and an address: both of that object.
    fn next_quiet(&self, from: (u64, u64)) -> Option<(u64, u64)> {
        let (quiet, ptr, _) = self.by_quiet.range((from.0, from.1, 0)..).next()?;
        Some((*quiet, *ptr))
    }

    /// Returns the objects at these addresses whose slab becomes quiet at `quiet`.
    fn in_slab(&self, quiet: u64, slab: &Range<u64>) -> impl Iterator<Item = (u64, u64, u64)> {
        self.by_quiet.range((quiet, slab.start, 0)..(quiet, slab.end, 0)).copied()
    }

    fn remove(&mut self, object: (u64, u64, u64)) {
        self.by_quiet.remove(&object);
        self.by_age.remove(&object.2);
    }

    /// Returns when the first slab becomes quiet.
    fn first_quiet(&self) -> Option<(u64, u64, u64)> {
        self.by_quiet.first().copied()
    }

    fn take_first_quiet(&mut self) -> Option<u64> {
        let (_, ptr, number) = self.by_quiet.pop_first()?;
        self.by_age.remove(&number);
        Some(ptr)
    }

    fn take_oldest(&mut self) -> Option<u64> {
        let (number, (ptr, quiet)) = self.by_age.pop_first()?;
        self.by_quiet.remove(&(quiet, ptr, number));
        Some(ptr)
    }
}

impl Cache {
    /// The state of a cache before the first event.
    pub(super) fn new(name: &str, sampled: &SampledCache, told: Told) -> Cache {
        let (in_use, _) = sampled.at(0);
        let older = u64::from(in_use).saturating_sub(sampled.cpu_free());
        Cache {
            older,
            older_first: older,
            excess: Excess::new(sampled, older, &told.living),
            slab_objects: u64::from(sampled.slab_objects),
            slab_pages: sampled.slab_bytes.div_ceil(4096),
            occupied: Occupied::new(sampled.slab_bytes),
            is_kmalloc: is_kmalloc_name(name),
            flows: told.flows.into_iter().rev().collect(),
            ..Cache::default()
        }
    }

    /// Sets the pace until the sample `next`; `older_kfrees` are frees of older objects of any of kmalloc's caches.
    pub(super) fn begin_interval(&mut self, next: u32, older_kfrees: u64, parked: u64) {
        while self.flows.last().is_some_and(|flow| flow.interval + 1 < next) {
            self.flows.pop();
        }
        let flow = self.flows.last().filter(|flow| flow.interval + 1 == next);
        let allocs = flow.map_or(0, |flow| flow.allocs);
        let gone = if self.is_kmalloc { older_kfrees.min(self.older) } else { 0 };
        let there = self.excess_at(next, parked).saturating_sub(gone);
        self.pace.begin(there, u64::from(allocs));
    }

    /// Returns how many objects have been freed unseen by a sample and are still alive here; `parked` objects that were freed
    /// unseen count as in use.
    pub(super) fn excess_at(&mut self, sample: u32, parked: u64) -> u64 {
        let ended = self.unseen_frees + self.older_gone;
        let there = (self.excess.at(sample) + parked).saturating_sub(ended);
        // If CPUs keep less than a slab for themselves, it may be in use or not.
        if there > self.slab_objects { there } else { 0 }
    }

    /// Counts objects older than the recording that were freed without an event.
    pub(super) fn end_older(&mut self, count: u64) {
        self.older -= count;
        self.older_gone += count;
    }

    /// Notes how many objects have come without an event when the kernel has `in_use`.
    pub(super) fn note_without_event(&mut self, in_use: u64) {
        self.without_event = (in_use + self.older_frees).saturating_sub(self.live);
    }

    /// Returns how many objects came after the first sample without an event, at least. This many more are in use at the end
    /// than events leave, if all others that were freed are older. At most `parked_max` in use are free objects.
    pub(super) fn came_unseen(&self, in_use: u64, parked_max: u64) -> u64 {
        let gone = self.older_frees + self.older_gone;
        (in_use + gone).saturating_sub(self.older_first + self.live + parked_max)
    }

    /// Counts an object that comes; returns whether another is likely to have been freed unseen by now.
    pub(super) fn alloc(&mut self) -> bool {
        self.live += 1;
        self.allocs += 1;
        self.pace.alloc()
    }

    /// Counts an object that was freed unseen.
    pub(super) fn end(&mut self) {
        self.live -= 1;
        self.unseen_frees += 1;
        self.pace.end();
    }

    /// Notes how an object that came will end, as far as events tell.
    pub(super) fn add(&mut self, ptr: u64, number: u64, site: u32, end: End) {
        match end {
            End::Reused => self.reused.push_back((ptr, number)),
            End::Unknown { quiet } => {
                self.unfreed.entry(site).or_default().add(ptr, number, quiet);
            }
            End::Freed => {
                self.freed += 1;
                if self.freed * SEEN_PARTS < self.allocs {
                    self.doubtful.push_back((ptr, number));
                }
            }
        }
    }

    /// Takes the oldest objects of `queue` until `taken` has `count`, if that many are alive; `numbers` are those of the slots'
    /// objects.
    pub(super) fn take(
        queue: &mut VecDeque<(u64, u64)>,
        count: u64,
        numbers: &[u64],
        slot_of: impl Fn(u64) -> Option<u32>,
        taken: &mut Vec<u64>,
    ) {
        while (taken.len() as u64) < count
            && let Some((ptr, number)) = queue.pop_front()
        {
            let slot = slot_of(ptr).filter(|slot| numbers[*slot as usize] == number);
            taken.extend(slot.map(|_| ptr));
        }
    }

    /// Takes objects of `chosen` call sites in whose slabs nothing happens after the allocation `now`, until `taken`
    /// has `count` or there are no more. It goes slab by slab, and begins with those that were quiet first.
    pub(super) fn take_quiet(
        &mut self,
        count: u64,
        chosen: impl Fn(u32) -> bool,
        now: u64,
        taken: &mut Vec<u64>,
    ) {
        while (taken.len() as u64) < count {
            let sites = self.unfreed.iter_mut().filter(|(site, _)| chosen(**site));
            let first = sites.filter_map(|(_, site)| Some((site.first_quiet()?, site)));
            let first = first.min_by_key(|(quiet, _)| *quiet);
            let Some((_, site)) = first.filter(|((quiet, ..), _)| *quiet <= now) else { break };
            taken.extend(site.take_first_quiet());
        }
    }

    /// Takes all objects of slabs in which nothing happens after the allocation `now` and the end of every object is
    /// unknown. It stops when the objects that are not `taken` lie in `slabs_max` slabs, and begins with the slabs that
    /// were quiet first.
    pub(super) fn take_surplus(&mut self, slabs_max: u64, now: u64, taken: &mut Vec<u64>) {
        if self.occupied.slabs() <= slabs_max {
            return;
        }
        let mut surplus = self.occupied.slabs_without(taken).saturating_sub(slabs_max);
        let mut from = (0, 0);
        while surplus > 0 {
            let next = self.unfreed.values().filter_map(|site| site.next_quiet(from)).min();
            let Some((quiet, ptr)) = next.filter(|(quiet, _)| *quiet <= now) else { break };
            let slab = self.occupied.slab(ptr);
            let addresses = self.occupied.addresses(slab);
            from = (quiet, addresses.end);
            let of_site = |(id, site): (&u32, &OfSite)| {
                let id = *id;
                site.in_slab(quiet, &addresses).map(move |object| (id, object)).collect::<Vec<_>>()
            };
            let objects: Vec<_> = self.unfreed.iter().flat_map(of_site).collect();
            if objects.len() == self.occupied.live_in(slab) as usize {
                for (site, object) in objects {
                    self.unfreed.entry(site).or_default().remove(object);
                    taken.push(object.1);
                }
                surplus -= 1;
            }
        }
        self.unfreed.retain(|_, site| !site.by_age.is_empty());
    }

    /// Counts objects that were chosen to end when there had been `now` allocations, though nothing tells that they did.
    pub(super) fn note_chosen(&mut self, count: u64, now: u64) {
        if count > 0 {
            self.chosen += count;
            self.last_chosen = now;
        }
    }

    /// Returns for how many live objects it is a guess that they live: others were chosen to end that were equally
    /// likely to.
    pub(super) fn guessed(&self) -> u64 {
        let at_risk = |site: &OfSite| site.by_age.range(..self.last_chosen).count() as u64;
        self.unfreed.values().map(at_risk).sum::<u64>().min(self.chosen)
    }

    /// Takes objects whose end is not known until `taken` has `count` or there are no more: the same share of those of
    /// each `chosen` call site, the oldest.
    pub(super) fn take_unfreed(
        &mut self,
        count: u64,
        chosen: impl Fn(u32) -> bool,
        taken: &mut Vec<u64>,
    ) {
        let sites = self.unfreed.iter().filter(|(site, _)| chosen(**site));
        let mut left: u64 = sites.map(|(_, site)| site.by_age.len() as u64).sum();
        let mut wanted = count.saturating_sub(taken.len() as u64).min(left);
        for (_, site) in self.unfreed.iter_mut().filter(|(site, _)| chosen(**site)) {
            // The share is that of the call sites from here on. What is rounded at one is made up for at
            // the next.
            let there = site.by_age.len() as u64;
            let share = (wanted * there + left / 2).checked_div(left).unwrap_or(0);
            taken.extend((0..share).map_while(|_| site.take_oldest()));
            (wanted, left) = (wanted - share, left - there);
        }
        self.unfreed.retain(|_, site| !site.by_age.is_empty());
    }
}
