//! What was alive, and who had allocated it: at the peak, at the end, at any moment.
//!
//! How it works: allocations are counted by their [`Holder`], which is all that groups are made of: call site, cache, stack,
//! program and memory cgroup. A group's numbers are sums over its holders, so that sums by stack, by call site and by cache
//! are equal to the byte. The trace is read twice where the peak is asked for: the first time to find it.
//!
//! Invariants: an object counts as in `slablab stat`: from its allocation to its free, seen, implicit or estimated.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use slablab_linux::Gfp;
use slablab_trace::{CgroupCursor, Event, Meta, NONE, TraceReader, kmalloc_cache};

use super::moments::{Moments, Programs, When};
use crate::error::Error;

/// What is charged for an accounted object beside its bytes (`obj_full_size` of `mm/slub.c` @ 6.12).
const WORD_BYTES: u64 = 8;

/// Objects, and their bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Amount {
    /// Objects
    pub objects: u64,
    /// Bytes that they were given
    pub bytes: u64,
    /// Bytes that were asked for
    pub bytes_req: u64,
    /// Bytes that are charged to a memory cgroup, as far as events tell: those of accounted objects, and a word for each
    pub bytes_charged: u64,
}

impl Amount {
    fn of(event: &Event) -> Self {
        let is_charged = event.gfp & Gfp::ACCOUNT.0 != 0;
        Self {
            objects: 1,
            bytes: event.bytes_alloc,
            bytes_req: event.bytes_req,
            bytes_charged: if is_charged {
                event.bytes_alloc.saturating_add(WORD_BYTES)
            } else {
                0
            },
        }
    }

    /// Adds another.
    pub fn add(&mut self, other: Self) {
        self.objects = self.objects.saturating_add(other.objects);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.bytes_req = self.bytes_req.saturating_add(other.bytes_req);
        self.bytes_charged = self.bytes_charged.saturating_add(other.bytes_charged);
    }

    fn remove(&mut self, other: Self) {
        self.objects = self.objects.saturating_sub(other.objects);
        self.bytes = self.bytes.saturating_sub(other.bytes);
        self.bytes_req = self.bytes_req.saturating_sub(other.bytes_req);
        self.bytes_charged = self.bytes_charged.saturating_sub(other.bytes_charged);
    }

    /// Returns the bytes that were given and not asked for.
    #[must_use]
    pub fn waste(&self) -> u64 {
        self.bytes.saturating_sub(self.bytes_req)
    }
}

/// What a trace says of an allocation that groups are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Holder {
    /// Index into the trace's call sites, or none
    pub site: u32,
    /// Index into [`Holdings::caches`]
    pub cache: u32,
    /// Number of the trace's stack, or none
    pub stack: u32,
    /// Index into [`Holdings::programs`]
    pub program: u32,
    /// Index into [`Holdings::cgroups`]
    pub cgroup: u32,
}

/// What a holder allocated.
#[derive(Debug, Clone)]
pub struct Holding {
    /// Who
    pub holder: Holder,
    /// All that it allocated
    pub allocated: Amount,
    /// What of it was alive at each moment that was asked for
    pub live: Vec<Amount>,
    /// How many of its objects were freed
    pub ended: u64,
    /// How long these lived, all together
    pub lived_ns: u64,
}

/// What a holder has of a portion of all objects in one class of blocks, from which follows how its sum spreads.
#[derive(Debug, Clone)]
pub struct Part {
    /// Index into [`Holdings::holders`]
    pub holding: u32,
    /// See [`slablab_trace::Recorded::class`]
    pub class: u32,
    /// All that it allocated there
    pub allocated: Amount,
    /// What of it was alive at each moment that was asked for
    pub live: Vec<Amount>,
}

/// What was alive, and who had allocated it.
#[derive(Debug, Clone, Default)]
pub struct Holdings {
    /// By holder, in the order of their first allocations
    pub holders: Vec<Holding>,
    /// Of a portion of all objects the parts that holders consist of; none where slots do not tell
    pub parts: Vec<Part>,
    /// Names of caches, those of kmalloc among them
    pub caches: Vec<String>,
    /// Names of programs; the first is "", for threads whose name is not in the trace
    pub programs: Vec<String>,
    /// Paths of memory cgroups; the first is "", for threads that the trace does not place
    pub cgroups: Vec<String>,
    /// The moments that were asked for, as times of the trace's clock
    pub times_ns: Vec<u64>,
    /// Allocations whose event has no stack
    pub without_stack: u64,
    /// Allocations whose stack lacks outer frames
    pub cut_stacks: u64,
}

/// Counts what was alive at these moments of a trace; `progress` is told the rows done so far, of
/// [`passes`](super::moments::passes) times all.
///
/// # Errors
/// When the trace is damaged.
pub fn holdings(
    trace: &TraceReader,
    moments: &[When],
    progress: &mut dyn FnMut(u64),
) -> Result<Holdings, Error> {
    let meta = trace.meta();
    let mut done = 0;
    let peak = match moments.contains(&When::Peak) {
        true => peak(trace, &mut done, progress)?,
        false => 0,
    };
    let mut count = Count::new(meta, moments.len());
    let mut left = Moments::new(moments, peak, meta.time_first_ns);
    for batch in trace.batches() {
        let batch = batch?;
        for event in batch.events() {
            left.pass(event.time_ns, |place, time_ns| count.look(place, time_ns));
            count.event(meta, &event);
        }
        done += batch.len() as u64;
        progress(done);
    }
    left.end(|place, time_ns| count.look(place, time_ns));
    Ok(count.finish())
}

/// Returns how many rows there are up to the peak of what is alive.
fn peak(trace: &TraceReader, done: &mut u64, progress: &mut dyn FnMut(u64)) -> Result<u64, Error> {
    let mut slots = vec![0; trace.meta().object_slots as usize];
    let (mut live, mut most, mut peak, mut row) = (0u64, 0, 0, 0);
    for batch in trace.batches_without_pid() {
        let batch = batch?;
        for event in batch.events() {
            row += 1;
            let Some(slot) = slots.get_mut(event.object as usize) else { continue };
            let bytes = if event.kind.is_alloc() { event.bytes_alloc } else { 0 };
            let before = std::mem::replace(slot, bytes);
            live = live.saturating_sub(before).saturating_add(bytes);
            if live > most {
                (most, peak) = (live, row);
            }
        }
        *done += batch.len() as u64;
        progress(*done);
    }
    Ok(peak)
}

/// An object that is alive.
#[derive(Debug, Clone, Copy)]
struct Live {
    holding: u32,
    /// Index into [`Holdings::parts`], where there are any
    part: u32,
    amount: Amount,
    time_ns: u64,
}

/// Holdings in the making.
pub(crate) struct Count {
    holdings: Holdings,
    moments: usize,
    /// What is alive now, by holding
    live: Vec<Amount>,
    known: FxHashMap<Holder, u32>,
    /// The same of parts, by holding and class
    parts_live: Vec<Amount>,
    parts: FxHashMap<(u32, u32), u32>,
    slots: Vec<Option<Live>>,
    programs: Programs,
    cgroups: CgroupCursor,
    caches: FxHashMap<(u32, u32, u64), u32>,
    cache_names: BTreeMap<String, u32>,
}

impl Count {
    /// Begins a count that notes what is alive at `moments` moments.
    pub(crate) fn new(meta: &Meta, moments: usize) -> Self {
        let programs = Programs::of(meta);
        let cgroups = CgroupCursor::new(&meta.cgroups);
        let paths = meta.cgroups.names.iter().cloned();
        let holdings = Holdings {
            programs: programs.names.clone(),
            cgroups: [String::new()].into_iter().chain(paths).collect(),
            times_ns: vec![meta.time_last_ns; moments],
            ..Holdings::default()
        };
        Self {
            holdings,
            moments,
            live: Vec::new(),
            known: FxHashMap::default(),
            parts_live: Vec::new(),
            parts: FxHashMap::default(),
            slots: vec![None; meta.object_slots as usize],
            programs,
            cgroups,
            caches: FxHashMap::default(),
            cache_names: BTreeMap::new(),
        }
    }

    /// Notes what is alive now for a moment.
    fn look(&mut self, place: usize, time_ns: u64) {
        self.holdings.times_ns[place] = time_ns;
        for (holding, live) in self.holdings.holders.iter_mut().zip(&self.live) {
            holding.live[place] = *live;
        }
        for (part, live) in self.holdings.parts.iter_mut().zip(&self.parts_live) {
            part.live[place] = *live;
        }
    }

    /// Returns the holding of the object in a slot, and when it was allocated.
    pub(crate) fn at(&self, slot: usize) -> Option<(u32, u64)> {
        let live = self.slots.get(slot)?.as_ref()?;
        Some((live.holding, live.time_ns))
    }

    /// Ends the count.
    pub(crate) fn finish(self) -> Holdings {
        self.holdings
    }

    /// Counts a row.
    pub(crate) fn event(&mut self, meta: &Meta, event: &Event) {
        let Some(slot) = self.slots.get_mut(event.object as usize) else { return };
        if let Some(Live { holding, part, amount, time_ns }) = slot.take() {
            self.live[holding as usize].remove(amount);
            if let Some(live) = self.parts_live.get_mut(part as usize) {
                live.remove(amount);
            }
            let holding = &mut self.holdings.holders[holding as usize];
            holding.ended += 1;
            let lived_ns = event.time_ns.saturating_sub(time_ns);
            holding.lived_ns = holding.lived_ns.saturating_add(lived_ns);
        }
        if !event.kind.is_alloc() {
            return;
        }
        let (amount, holding) = (Amount::of(event), self.holding(meta, event));
        let part = self.part(meta, event, holding);
        let live = Live { holding, part, amount, time_ns: event.time_ns };
        self.slots[event.object as usize] = Some(live);
        self.live[holding as usize].add(amount);
        if let Some(live) = self.parts_live.get_mut(part as usize) {
            live.add(amount);
            self.holdings.parts[part as usize].allocated.add(amount);
        }
        self.holdings.holders[holding as usize].allocated.add(amount);
        self.holdings.without_stack += u64::from(event.stack == NONE);
        self.holdings.cut_stacks += u64::from(meta.stacks.is_cut(event.stack));
    }

    /// Returns the holding of an allocation.
    fn holding(&mut self, meta: &Meta, event: &Event) -> u32 {
        let cache = self.cache(meta, event);
        let program = self.programs.number(event.pid);
        let cgroup = self.cgroups.at(event.time_ns, event.pid).map_or(0, |place| place + 1);
        let holder = Holder { site: event.site, cache, stack: event.stack, program, cgroup };
        *self.known.entry(holder).or_insert_with(|| {
            let (allocated, live) = (Amount::default(), vec![Amount::default(); self.moments]);
            let holding = Holding { holder, allocated, live, ended: 0, lived_ns: 0 };
            self.holdings.holders.push(holding);
            self.live.push(Amount::default());
            self.live.len() as u32 - 1
        })
    }

    /// Returns the part of a holding that an allocation is in, or none.
    fn part(&mut self, meta: &Meta, event: &Event, holding: u32) -> u32 {
        let class = meta.portion.as_ref().and_then(|portion| portion.class(event.object));
        let Some(class) = class else { return NONE };
        *self.parts.entry((holding, class)).or_insert_with(|| {
            let (allocated, live) = (Amount::default(), vec![Amount::default(); self.moments]);
            self.holdings.parts.push(Part { holding, class, allocated, live });
            self.parts_live.push(Amount::default());
            self.parts_live.len() as u32 - 1
        })
    }

    /// Returns the number of the cache that an object is from: the one that its event names, or that of kmalloc.
    fn cache(&mut self, meta: &Meta, event: &Event) -> u32 {
        let key = match event.cache {
            NONE => (event.site, event.gfp, event.bytes_alloc),
            cache => (cache, 0, u64::MAX),
        };
        if let Some(known) = self.caches.get(&key) {
            return *known;
        }
        let name = match meta.caches.get(event.cache as usize) {
            Some(cache) => cache.name.clone(),
            None => {
                let site = meta.sites.get(event.site as usize).map_or("", |site| &site.name);
                kmalloc_cache(event.bytes_alloc, event.gfp, site)
            }
        };
        let next = self.holdings.caches.len() as u32;
        let number = *self.cache_names.entry(name).or_insert_with_key(|name| {
            self.holdings.caches.push(name.clone());
            next
        });
        self.caches.insert(key, number);
        number
    }
}
