//! The compact trace: objects by number, caches by number with how they were made, without call sites.
//!
//! # How it works
//! An object of the compact trace is allocated once and freed at most once, so that its number is also its slot. Frees
//! without an event in the trace are those of [`slablab_trace::Kind::ImplicitFree`]. Classes of kmalloc are caches
//! like all others: the module makes caches of their sizes, which no other part of that kernel uses.
//!
//! Work that depends on the clock is left out, because a guest's clock differs from the trace's. But
//! [`CompactTrace::with_visits`] has the times at which `dense` visits its magazines, and the module visits them when
//! it comes to those.
//!
//! # Invariants
//! `kernel/modules/slabreplay/trace.h` describes what [`CompactTrace::bytes`] writes.

use std::collections::HashMap;

use slablab_kmem::{CacheArgs, Ctor, KmallocConfig, SlabFlags, sheaf_capacity_of};
use slablab_linux::KmallocType;
use slablab_trace::{Event, Kind, Meta, NONE, TraceReader};

use crate::change::changes::Changes;
use crate::engine::{caches, machine};
use crate::error::Error;
use crate::slots::Slots;

/// The file's first bytes.
const MAGIC: &[u8; 8] = b"SLABRPL1";
/// The bit of an event's cache that makes it an allocation.
const ALLOC: u16 = 0x8000;
/// The cache of an event that stands for a CPU's visits to what it parks by the clock; their number stands for
/// bytes.
pub(crate) const VISITS: u16 = 0x7fff;
/// Time between two visits of a CPU.
const VISIT_NS: u64 = 4_000_000;
/// The number of visits in a row after which no more of them change anything.
const VISITS_MAX: u64 = 100;

/// What a cache's flags say, as `trace.h` numbers them.
const FLAGS: [(u32, SlabFlags); 3] = [
    (1, SlabFlags::HWCACHE_ALIGN),
    (2, SlabFlags::RECLAIM_ACCOUNT),
    (4, SlabFlags::TYPESAFE_BY_RCU),
];
const FLAG_CTOR: u32 = 8;
const FLAG_KMALLOC: u32 = 16;
const FLAG_LARGE: u32 = 32;
/// Where the flags hold the number of objects in a sheaf that the cache sets.
const SHEAF_SHIFT: u32 = 16;

/// A trace that a kernel can replay.
#[derive(Debug, Clone)]
pub struct CompactTrace {
    /// CPUs of the recorded machine
    pub cpus: u32,
    /// Objects that are allocated
    pub objects: u32,
    /// The caches that they come from
    pub caches: Vec<CompactCache>,
    pub(crate) events: Vec<CompactEvent>,
}

/// A cache of a compact trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompactCache {
    /// Its name in the trace, or that of its kmalloc class
    pub name: String,
    size: u32,
    align: u32,
    flags: u32,
}

impl CompactCache {
    /// Returns whether it is a class of kmalloc.
    #[must_use]
    pub fn is_kmalloc(&self) -> bool {
        self.flags & FLAG_KMALLOC != 0
    }

    /// Returns whether its blocks are too large for slabs.
    #[must_use]
    pub fn is_large(&self) -> bool {
        self.flags & FLAG_LARGE != 0
    }

    pub(crate) fn kmalloc(bytes: u64) -> Self {
        let class = KmallocConfig::LINUX.into_iter().find(|class| u64::from(*class) >= bytes);
        let Some(size) = class else {
            let name = "large blocks".to_owned();
            return Self { name, size: 0, align: 0, flags: FLAG_KMALLOC | FLAG_LARGE };
        };
        // A power of two is aligned to itself (`create_kmalloc_cache` in mm/slab_common.c).
        let align = if size.is_power_of_two() { size } else { 0 };
        let name = KmallocType::Normal.name(size.into());
        Self { name, size, align, flags: FLAG_KMALLOC }
    }

    fn recorded(meta: &Meta, event: &Event) -> Self {
        let cache = &meta.caches[event.cache as usize];
        let args = caches::describe(meta, cache, &Changes::default(), None, event.bytes_alloc);
        let set = FLAGS.iter().filter(|(_, flag)| args.flags.has(*flag)).map(|(bit, _)| bit);
        let ctor = if args.ctor.is_some() { FLAG_CTOR } else { 0 };
        let sheaf = sheaf_capacity_of(&cache.name).unwrap_or(0) << SHEAF_SHIFT;
        let flags = set.sum::<u32>() + ctor + sheaf;
        Self { name: cache.name.clone(), size: args.object_size, align: args.align, flags }
    }

    /// Returns the arguments with which the model makes it.
    pub(crate) fn args(&self) -> CacheArgs {
        let mut args = CacheArgs::new(self.name.as_str(), self.size).align(self.align);
        for (_, flag) in FLAGS.iter().filter(|(bit, _)| self.flags & bit != 0) {
            args = args.flags(*flag);
        }
        match self.flags & FLAG_CTOR {
            0 => args,
            _ => args.ctor(Ctor { func: |_, _| (), context: 0 }),
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct CompactEvent {
    pub(crate) time_ns: u64,
    pub(crate) object: u32,
    pub(crate) bytes: u32,
    pub(crate) cache: u16,
    pub(crate) cpu: u16,
    pub(crate) is_alloc: bool,
}

impl CompactTrace {
    /// Reads a trace.
    ///
    /// # Errors
    ///
    /// If it cannot be read, has rows on CPUs that it does not declare, or more caches than the module takes.
    pub fn read(reader: &TraceReader) -> Result<Self, Error> {
        let meta = reader.meta();
        let mut writer = Writer {
            meta,
            numbers: HashMap::new(),
            live: Slots::new(meta.events),
            trace: Self {
                cpus: machine::cpus(meta),
                objects: 0,
                caches: Vec::new(),
                events: Vec::new(),
            },
        };
        let mut rows = 0;
        for batch in reader.batches_without_pid() {
            let batch = batch?;
            machine::check_cpus(meta, &batch, rows)?;
            rows += batch.len() as u64;
            batch
                .events()
                .filter(|event| event.object != NONE)
                .for_each(|event| writer.event(&event));
        }
        match writer.trace.caches.len() < usize::from(VISITS) {
            true => Ok(writer.trace),
            false => Err(Error::TooManyCaches { caches: writer.trace.caches.len() }),
        }
    }

    /// Returns the trace with the visits of each CPU to what it parks by the clock, every four
    /// milliseconds.
    #[must_use]
    pub fn with_visits(mut self) -> Self {
        let mut next_ns = self.events.first().map_or(0, |event| event.time_ns);
        for event in std::mem::take(&mut self.events) {
            if event.time_ns >= next_ns {
                let due = ((event.time_ns - next_ns) / VISIT_NS + 1).min(VISITS_MAX);
                let visits = |cpu| CompactEvent {
                    object: 0,
                    bytes: due as u32,
                    cache: VISITS,
                    cpu,
                    is_alloc: false,
                    ..event
                };
                self.events.extend((0..self.cpus as u16).map(visits));
                next_ns = event.time_ns + VISIT_NS;
            }
            self.events.push(event);
        }
        self
    }

    /// Returns the number of events, not counting visits.
    #[must_use]
    pub fn events(&self) -> usize {
        self.events.iter().filter(|event| event.cache != VISITS).count()
    }

    /// Returns `count` moments, as numbers of events, the last of them the end.
    #[must_use]
    pub fn moments(&self, count: usize) -> Vec<usize> {
        let mut moments: Vec<_> = (1..=count).map(|i| self.events.len() * i / count).collect();
        moments.retain(|moment| *moment > 0);
        moments.dedup();
        moments
    }

    /// Returns the time from the first event to the one before which a moment lies.
    #[must_use]
    pub fn time_ns(&self, moment: usize) -> u64 {
        let time = |at: usize| self.events.get(at).map_or(0, |event| event.time_ns);
        time(moment.saturating_sub(1)).saturating_sub(time(0))
    }

    /// Returns the file that the module reads.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        for number in [self.cpus, self.caches.len() as u32, self.objects, self.events.len() as u32]
        {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        for cache in &self.caches {
            for number in [cache.size, cache.align, cache.flags] {
                bytes.extend_from_slice(&number.to_le_bytes());
            }
        }
        for event in &self.events {
            bytes.extend_from_slice(&event.object.to_le_bytes());
            bytes.extend_from_slice(&event.bytes.to_le_bytes());
            let alloc = if event.is_alloc { ALLOC } else { 0 };
            bytes.extend_from_slice(&(event.cache | alloc).to_le_bytes());
            bytes.extend_from_slice(&event.cpu.to_le_bytes());
        }
        bytes
    }
}

/// Makes a compact trace of events.
struct Writer<'a> {
    meta: &'a Meta,
    /// Number of a cache of the trace, or of a kmalloc class, which has no cache's number
    numbers: HashMap<(u32, String), u16>,
    live: Slots<Option<(u32, u16)>>,
    trace: CompactTrace,
}

impl Writer<'_> {
    fn event(&mut self, event: &Event) {
        if event.kind.is_alloc() {
            // The free was taken out of the trace.
            self.free(event);
            let cache = self.cache(event);
            let object = self.trace.objects;
            *self.live.entry(event.object as usize) = Some((object, cache));
            self.trace.objects += 1;
            self.push(event, object, cache, true);
        } else {
            // An object whose allocation was not seen cannot be freed.
            self.free(event);
        }
    }

    fn free(&mut self, event: &Event) {
        if let Some((object, cache)) =
            self.live.get_mut(event.object as usize).and_then(Option::take)
        {
            self.push(event, object, cache, false);
        }
    }

    fn push(&mut self, event: &Event, object: u32, cache: u16, is_alloc: bool) {
        let bytes = u32::try_from(event.bytes_req).unwrap_or(u32::MAX);
        let bytes = if is_alloc { bytes } else { 0 };
        let (time_ns, cpu) = (event.time_ns, event.cpu);
        self.trace.events.push(CompactEvent { time_ns, object, bytes, cache, cpu, is_alloc });
    }

    fn cache(&mut self, event: &Event) -> u16 {
        let is_kmalloc =
            event.kind == Kind::Kmalloc || event.cache as usize >= self.meta.caches.len();
        let class = is_kmalloc.then(|| CompactCache::kmalloc(event.bytes_req));
        let key = match &class {
            Some(class) => (NONE, class.name.clone()),
            None => (event.cache, String::new()),
        };
        let (caches, meta) = (&mut self.trace.caches, self.meta);
        *self.numbers.entry(key).or_insert_with(|| {
            caches.push(class.unwrap_or_else(|| CompactCache::recorded(meta, event)));
            (caches.len() - 1) as u16
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_as_the_module_reads_it() {
        let event = |object, cache, cpu, is_alloc| CompactEvent {
            time_ns: 0,
            object,
            bytes: if is_alloc { 100 } else { 0 },
            cache,
            cpu,
            is_alloc,
        };
        let trace = CompactTrace {
            cpus: 2,
            objects: 1,
            caches: vec![CompactCache::kmalloc(100), CompactCache::kmalloc(10_000)],
            events: vec![event(0, 1, 0, true), event(0, 1, 1, false)],
        };
        let bytes = trace.bytes();
        assert_eq!(bytes.len(), 24 + 2 * 12 + 2 * 12);
        assert_eq!(&bytes[..12], b"SLABRPL1\x02\0\0\0");
        assert_eq!(bytes[24..36], [128, 0, 0, 0, 128, 0, 0, 0, 16, 0, 0, 0]);
        assert_eq!(bytes[44..48], [48, 0, 0, 0], "a large block has no cache");
        assert_eq!(bytes[48..60], [0, 0, 0, 0, 100, 0, 0, 0, 1, 0x80, 0, 0]);
        assert_eq!(bytes[60..], [0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0]);
        assert_eq!(trace.moments(5), [1, 2]);
    }

    #[test]
    fn visits_are_due_every_four_milliseconds_on_each_cpu() {
        let event = |time_ms: u64| CompactEvent {
            time_ns: time_ms * 1_000_000,
            object: 0,
            bytes: 0,
            cache: 0,
            cpu: 0,
            is_alloc: time_ms == 5,
        };
        let trace = CompactTrace {
            cpus: 2,
            objects: 1,
            caches: vec![CompactCache::kmalloc(100)],
            events: [5, 6, 9, 30, 10_000].map(event).into(),
        };
        let trace = trace.with_visits();
        let seen = trace.events.iter().filter(|event| event.cpu == 0);
        let seen: Vec<_> = seen.map(|e| if e.cache == VISITS { e.bytes } else { 0 }).collect();
        assert_eq!(seen, [1, 0, 0, 1, 0, 5, 0, 100, 0]);
        assert_eq!((trace.events.len(), trace.events()), (13, 5));
    }
}
