//! How each object ends as far as events tell; this is found out before the first event is
//! imported.
//!
//! # How it works
//! Allocations are numbered in their order, and all events are looked at: an object is freed by an event, or
//! its address is allocated again without one, or neither. It is also known when something last happened in its slab: a
//! slab that another cache takes over was empty before, and one where nothing happens any more may be.
//!
//! # Invariants
//! The numbers are those that the import counts, as both see the same events in the same order. (What the
//! recorder's own threads allocated is not imported, and has no number.)

use rustc_hash::FxHashMap;

use super::cpu_slabs::CpuSlabs;
use super::flow::{Flows, ORIGIN_BITS, Told};
use super::objects::TOUCHED;
use crate::address_map::AddressMap;
use crate::source::{Facts, RowAddresses};
use crate::{Error, Kind, RawEvent, Samples, TraceReader};

/// Which allocations, by their number, are never freed by an event that is seen.
#[derive(Debug, Default)]
pub(crate) struct Unfreed {
    allocs: u64,
    freed: Bits,
    /// Of the others: whose addresses are allocated again.
    reused: Bits,
    /// By the number of a page of 4 KiB: the cache that it is a slab of, and those that it was a slab of before, one after
    /// the other.
    slabs: AddressMap<Stamp>,
    slabs_before: FxHashMap<u64, Vec<Stamp>>,
    /// By address
    live: AddressMap<Stamp>,
    flows: Flows,
    cpu_slabs: CpuSlabs,
    pub(super) by_cache: FxHashMap<String, Told>,
}

/// The number of allocations of the recorder's own threads.
const OWN: u64 = u64::MAX >> ORIGIN_BITS;

/// An allocation's number, and what its cache is known by. Of a page in the slabs of a cache: how many allocations there were
/// when an object in it was last allocated or freed. (Both are one word, since the maps are larger than the processor's
/// caches.)
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Stamp(u64);

impl Stamp {
    fn new(number: u64, origin: u32) -> Stamp {
        Stamp(number << ORIGIN_BITS | u64::from(origin))
    }

    fn number(self) -> u64 {
        self.0 >> ORIGIN_BITS
    }

    fn origin(self) -> u32 {
        self.0 as u32 & ((1 << ORIGIN_BITS) - 1)
    }
}

/// Pages are told apart as the smallest that there are.
const PAGE_SHIFT: u32 = 12;

/// How an object ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// An event frees it.
    Freed,
    /// No event does, and its address or its slab is allocated again.
    Reused,
    /// Nothing tells. Its slab becomes quiet when there have been this many allocations.
    Unknown { quiet: u64 },
}

/// A set of numbers.
#[derive(Debug, Default)]
struct Bits(Vec<u64>);

impl Bits {
    fn insert(&mut self, number: u64) {
        let word = (number / 64) as usize;
        self.0.resize(self.0.len().max(word + 1), 0);
        self.0[word] |= 1 << (number % 64);
    }

    fn contains(&self, number: u64) -> bool {
        self.0.get((number / 64) as usize).is_some_and(|word| word >> (number % 64) & 1 != 0)
    }
}

impl Unfreed {
    pub(crate) fn new(samples: &Samples) -> Unfreed {
        let (flows, cpu_slabs) = (Flows::new(samples), CpuSlabs::new(samples));
        Unfreed { flows, cpu_slabs, ..Unfreed::default() }
    }

    /// Looks at all rows of a trace, which has no addresses.
    pub(super) fn of(trace: &TraceReader) -> Result<Unfreed, Error> {
        let meta = trace.meta();
        let mut facts = Facts::default();
        facts.names.sites.clone_from(&meta.sites);
        facts.names.caches = meta.caches.iter().map(|c| c.recorded_name().to_owned()).collect();
        let mut unfreed = Unfreed::new(&meta.samples);
        unfreed.name(&facts);
        let mut addresses = RowAddresses::of(meta);
        for batch in trace.batches() {
            for row in batch?.events() {
                // A row that ends an object unseen is not an event.
                if !matches!(row.kind, Kind::ImplicitFree | Kind::EstimatedFree) {
                    unfreed.note_object(&RawEvent { pid: 0, ..addresses.raw(row) });
                }
            }
        }
        Ok(unfreed.finish())
    }

    /// Looks at events, in the order of the recording; the recorder's own are marked
    /// ([`RECORDER_PID`](RawEvent::RECORDER_PID)).
    pub(crate) fn note_all(&mut self, events: &[RawEvent]) {
        for part in events.chunks(TOUCHED) {
            // As in `Objects::touch`
            self.live.touch(part.iter().map(|event| event.ptr));
            self.slabs.touch(part.iter().map(|event| event.ptr >> PAGE_SHIFT));
            part.iter().for_each(|event| self.note(event));
        }
    }

    pub(super) fn note(&mut self, event: &RawEvent) {
        if event.page.is_some() {
            return;
        }
        let ended = self.note_object(event);
        if !event.has_object() {
            return;
        }
        // The free of an object of kmalloc's does not name its cache.
        if event.kind == Kind::Kfree {
            return self.note_slab(event, None);
        }
        let origin = self.flows.origin(event);
        self.note_slab(event, event.kind.is_alloc().then_some(origin));
        // The allocation of what is freed, or of what was there before, was looked at.
        if ended != Some(origin) {
            self.note_cpu_slab(event, origin);
        }
    }

    fn note_cpu_slab(&mut self, event: &RawEvent, origin: u32) {
        if self.cpu_slabs.is_new(origin) {
            self.cpu_slabs.name(origin, self.flows.name_of(origin));
        }
        self.cpu_slabs.note(origin, event);
    }

    /// Notes that something happened in a slab; `owner` is the cache of an allocation.
    fn note_slab(&mut self, event: &RawEvent, owner: Option<u32>) {
        let (page, last) = (event.ptr >> PAGE_SHIFT, self.allocs);
        let Some(owner) = owner else {
            if let Some(life) = self.slabs.get_mut(page) {
                *life = Stamp::new(last, life.origin());
            }
            return;
        };
        let now = Stamp::new(last, owner);
        let (life, _) = self.slabs.or_insert(page, now);
        if life.origin() != owner {
            self.slabs_before.entry(page).or_default().push(*life);
        }
        *life = now;
    }

    /// Returns how the object of an allocation ends, at `ptr` in a slab of `pages` pages.
    pub(super) fn end(&self, ptr: u64, number: u64, pages: u64) -> End {
        if self.reused.contains(number) {
            return End::Reused;
        }
        if self.freed.contains(number) {
            return End::Freed;
        }
        match self.slab_end(ptr, number, pages) {
            Some((_, true)) => End::Reused,
            Some((quiet, false)) => End::Unknown { quiet },
            None => End::Unknown { quiet: u64::MAX },
        }
    }

    /// Returns how many allocations there were when something last happened in the slab of an object without a visible
    /// free, and whether another cache took the slab over then. A slab has `pages` pages. `None` where addresses are not
    /// those of the machine.
    fn slab_end(&self, ptr: u64, number: u64, pages: u64) -> Option<(u64, bool)> {
        let life = |page| {
            let latest = self.slabs.get(page)?;
            let before = self.slabs_before.get(&page).map_or(&[][..], Vec::as_slice);
            match before.get(before.partition_point(|life| life.number() <= number)) {
                Some(life) => Some((*life, true)),
                None => Some((latest, false)).filter(|_| latest.number() > number),
            }
        };
        let page = ptr >> PAGE_SHIFT;
        let (own, is_taken_over) = life(page)?;
        let first = page - page % pages.max(1);
        let of_slab = (first..first + pages).filter_map(life);
        let of_own = of_slab.filter(|(life, _)| life.origin() == own.origin());
        let last = of_own.map(|(life, _)| life.number()).max();
        Some((last.unwrap_or(own.number()), is_taken_over))
    }

    /// Returns what the cache of the object is known by that was at the address of the event.
    fn note_object(&mut self, event: &RawEvent) -> Option<u32> {
        self.flows.reach(event.time_ns);
        let is_own = event.pid == RawEvent::RECORDER_PID;
        if !event.has_object() {
            self.allocs += u64::from(event.kind.is_alloc() && !is_own);
            return None;
        }
        let ended = if event.kind.is_alloc() {
            let origin = self.flows.origin(event);
            let flow = self.flows.now(origin);
            let number = if is_own {
                flow.own += 1;
                OWN
            } else {
                flow.allocs += 1;
                self.flows.change(origin, event.time_ns, 1);
                self.allocs += 1;
                self.allocs - 1
            };
            self.live.insert(event.ptr, Stamp::new(number, origin))
        } else {
            self.live.remove(event.ptr)
        };
        let ended = ended.map(|stamp| (stamp.number(), stamp.origin()));
        match ended {
            Some((OWN, origin)) => self.flows.now(origin).own -= 1,
            Some((number, _)) if event.kind.is_alloc() => self.reused.insert(number),
            Some((number, origin)) => {
                self.flows.change(origin, event.time_ns, -1);
                self.freed.insert(number);
            }
            // This one is older than the recording.
            None if event.kind == Kind::KmemCacheFree => {
                let origin = self.flows.origin(event);
                self.flows.free_older(origin, event.time_ns);
            }
            None if event.kind == Kind::Kfree => self.cpu_slabs.note_older_kfree(event.ptr),
            None => {}
        }
        ended.map(|(_, origin)| origin)
    }

    /// Notes the names of call sites and caches that are new, before their first events.
    pub(crate) fn name(&mut self, facts: &Facts) {
        self.flows.name(facts);
    }

    /// Notes a sample that was taken meanwhile, before events behind its beginning are looked at.
    pub(crate) fn sampled(&mut self, begin_ns: u64, ends_ns: Vec<u32>) {
        self.flows.sampled(begin_ns, ends_ns);
    }

    /// Takes the samples as they are at the end; those at the beginning were known. Returns whether all that was found would
    /// have been the same with them. `facts` has the names of what was looked at.
    pub(crate) fn go_on(&mut self, samples: &Samples, facts: &Facts) -> bool {
        self.flows.go_on(samples, facts)
    }

    /// Drops what was needed only while the events were looked at.
    pub(crate) fn finish(mut self) -> Unfreed {
        self.by_cache = std::mem::take(&mut self.flows).by_cache();
        self.live = AddressMap::default();
        self
    }

    /// Says how many objects were free in what CPUs kept when the recording began; `cpus` are those of the machine.
    pub(crate) fn tell_cpu_slabs(&mut self, samples: &mut Samples, cpus: u32) {
        self.cpu_slabs.tell(samples, cpus);
    }

    /// Takes off what the recorder's own threads allocated.
    pub(crate) fn take_off_own(&self, samples: &mut Samples) {
        for (name, told) in &self.by_cache {
            let mut own = 0;
            let own = told.flows.iter().filter(|flow| flow.own != 0).map(|flow| {
                own += i64::from(flow.own);
                // What comes in an interval is there at the sample at its end.
                (flow.interval + 1, own.max(0) as u64)
            });
            samples.take_off(name, &own.collect::<Vec<_>>());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_recorder_allocates_is_not_the_machines() {
        let mut samples = Samples::default();
        for (time_ns, objects, slabs) in [(0, 10, 9), (10, 30, 10), (20, 20, 10)] {
            samples.begin(time_ns);
            samples.note("c", objects, slabs).slab_objects = 4;
        }
        let mut unfreed = Unfreed::new(&samples);
        unfreed.name(&facts(&["c"]));
        let own = RawEvent { pid: RawEvent::RECORDER_PID, cache: 0, ..RawEvent::EMPTY };
        let own = RawEvent { bytes_req: 8, ..own };
        let alloc = |time_ns, ptr| RawEvent { time_ns, ptr, kind: Kind::KmemCacheAlloc, ..own };
        (1..=9).for_each(|ptr| unfreed.note(&alloc(5, ptr)));
        unfreed.note(&RawEvent { pid: 1, ..alloc(5, 20) });
        // Somebody else frees most of them.
        for ptr in 1..=7 {
            let kind = Kind::KmemCacheFree;
            unfreed.note(&RawEvent { pid: 1, kind, ..alloc(15, ptr) });
        }
        let unfreed = unfreed.finish();
        unfreed.take_off_own(&mut samples);
        // Nine are two slabs and one object, which can be the new one; two are none.
        let cache = &samples.caches["c"];
        assert_eq!([0, 1, 2].map(|sample| cache.at(sample)), [(10, 9), (22, 9), (20, 10)]);
        assert_eq!(unfreed.by_cache["c"].flows[0].allocs, 1);
    }

    fn facts(caches: &[&str]) -> Facts {
        let mut facts = Facts::default();
        facts.names.caches = caches.iter().map(|name| (*name).into()).collect();
        facts
    }

    /// Each alternation used to count as a page taken over: memory grew with the events, and objects in busy
    /// slabs ended.
    #[test]
    fn a_cache_merged_with_a_class_of_kmallocs_shares_its_pages() {
        let mut unfreed = Unfreed::new(&Samples::default());
        unfreed.name(&facts(&["kmalloc-64"]));
        let object = |place: u64| RawEvent { ptr: 0x1000 + 64 * place, ..RawEvent::EMPTY };
        for place in 0..50 {
            let kind = if place % 2 == 0 { Kind::Kmalloc } else { Kind::KmemCacheAlloc };
            let cache = if place % 2 == 0 { crate::NONE } else { 0 };
            unfreed.note(&RawEvent {
                kind,
                cache,
                bytes_req: 64,
                bytes_alloc: 64,
                ..object(place)
            });
        }
        let unfreed = unfreed.finish();
        assert_eq!((unfreed.slabs.len(), unfreed.slabs_before.len()), (1, 0));
        assert_eq!(unfreed.end(0x1000, 0, 1), End::Unknown { quiet: 50 });
        assert_eq!(unfreed.by_cache["kmalloc-64"].flows[0].allocs, 50);
    }

    /// Only the frees are seen of objects that are allocated in bulk: they used to hide as many others that were
    /// freed unseen.
    #[test]
    fn frees_of_objects_that_came_unseen_are_no_fewer_objects() {
        let mut samples = Samples::default();
        for (time_ns, objects) in [(0, 2), (10, 2), (20, 2)] {
            samples.begin(time_ns);
            samples.note("c", objects, 9).slab_objects = 4;
        }
        let mut unfreed = Unfreed::new(&samples);
        unfreed.name(&facts(&["c"]));
        let event = RawEvent { cache: 0, bytes_req: 8, ..RawEvent::EMPTY };
        for (time_ns, ptr) in (1..10).chain(11..20).zip(100..) {
            let kind = Kind::KmemCacheAlloc;
            unfreed.note(&RawEvent { time_ns, kind, ptr, ..event });
            let kind = Kind::KmemCacheFree;
            unfreed.note(&RawEvent { time_ns, kind, ptr: ptr + 1_000, ..event });
        }
        // Two older ones were freed, and then eighteen came that did not go.
        assert_eq!(unfreed.finish().by_cache["c"].living, [(0, 0), (1, 7), (2, 16)]);
    }

    #[test]
    fn an_allocation_that_failed_has_a_number_and_no_object() {
        let mut unfreed = Unfreed::new(&Samples::default());
        unfreed.name(&facts(&["c"]));
        let alloc = RawEvent { kind: Kind::KmemCacheAlloc, cache: 0, ..RawEvent::EMPTY };
        for ptr in [0, crate::event::ZERO_SIZE_PTR, 0x1000] {
            unfreed.note(&RawEvent { ptr, bytes_req: 8, ..alloc });
        }
        let unfreed = unfreed.finish();
        assert_eq!(unfreed.end(0x1000, 2, 1), End::Unknown { quiet: 3 });
        assert_eq!(unfreed.by_cache["c"].flows[0].allocs, 1);
    }
}
