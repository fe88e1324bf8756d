//! What a module does with memory, as its process tells it: for `--explain`.
//!
//! # How it works
//! Numbers are kept for all operations, and objects one by one up to a limit, so that memory is bounded by what is live. A
//! CPU's freed objects of a cache form a stack: an allocation that takes the top of it is last in, first out.

use std::collections::{BTreeMap, HashMap};

use slablab_kapi::{CacheSeen, Event, Origin, Stage};
use slablab_kmem::PAGE_SIZE;

use super::names::{Names, Place};
use crate::answers::explained::{
    Amounts, CacheLine, Explained, Kind, Object, SiteLine, Size, View,
};

/// Objects that are kept one by one.
const OBJECTS_MAX: usize = 20_000;
/// Moments of the curve.
const MOMENTS_MAX: usize = 4096;
/// Sizes of a cache that are told apart.
const SIZES_MAX: usize = 256;

/// What was told so far.
#[derive(Debug, Default)]
pub(super) struct Memory {
    caches: Vec<Cache>,
    /// The place in `caches` of each cache that was told
    told: Vec<usize>,
    /// Of what has no slabs, by its name
    others: HashMap<String, usize>,
    sites: BTreeMap<(u64, usize), Site>,
    live: HashMap<u64, Live>,
    /// Live objects of each slab, which merged caches share
    slabs: HashMap<u64, u64>,
    now: Amounts,
    peak: Amounts,
    curve: Curve,
    objects: Vec<Kept>,
    objects_more: u64,
    stages: Vec<(u64, &'static str)>,
}

#[derive(Debug)]
struct Cache {
    line: CacheLine,
    sizes: BTreeMap<u64, u64>,
    live: u64,
    asked_bytes: u64,
    held_bytes: u64,
    /// Live objects of each of its slabs
    slabs: HashMap<u64, u64>,
    /// Freed addresses of each CPU, the last one on top, each with its free's number
    freed: HashMap<u32, Vec<(u64, u64)>>,
    /// The free's number of each address that is free
    is_free: HashMap<u64, u64>,
}

#[derive(Debug, Default)]
struct Site {
    allocations: u64,
    asked_bytes: u64,
    held_bytes: u64,
    live: u64,
    live_bytes: u64,
    live_max: u64,
    freed_by: BTreeMap<u64, u64>,
}

#[derive(Debug, Clone)]
struct Live {
    cache: usize,
    /// The CPU that allocated it
    cpu: u32,
    site: u64,
    slab: Option<u64>,
    asked_bytes: u64,
    held_bytes: u64,
    /// Its place among the objects that are kept
    object: Option<usize>,
}

/// An object that is kept.
#[derive(Debug)]
struct Kept {
    live: Live,
    address: u64,
    got: u64,
    gave: Option<u64>,
}

/// Bytes over time: when it is full, every second moment goes.
#[derive(Debug)]
struct Curve {
    moments: Vec<Amounts>,
    stride: u64,
}

impl Default for Curve {
    fn default() -> Self {
        Self { moments: vec![Amounts::default()], stride: 1 }
    }
}

impl Curve {
    fn add(&mut self, now: Amounts) {
        if !now.operation.is_multiple_of(self.stride) {
            return;
        }
        self.moments.push(now);
        if self.moments.len() > MOMENTS_MAX {
            self.stride *= 2;
            let stride = self.stride;
            self.moments.retain(|moment| moment.operation.is_multiple_of(stride));
        }
    }
}

impl Cache {
    fn new(cache: String, kind: Kind, seen: Option<&CacheSeen>) -> Self {
        let of = |value: fn(&CacheSeen) -> u64| seen.map(value);
        let line = CacheLine {
            kind,
            slabs_of: seen.map(|seen| seen.slabs_of.clone()).filter(|of| *of != cache),
            object_bytes: of(|seen| seen.object_bytes),
            slot_bytes: of(|seen| seen.slot_bytes),
            slab_bytes: of(|seen| seen.slab_bytes),
            objects_per_slab: of(|seen| seen.objects_per_slab),
            cache,
            sizes: Vec::new(),
            allocations: 0,
            frees: 0,
            live_max: 0,
            asked_bytes_max: 0,
            held_bytes_max: 0,
            slabs_max: 0,
            after_free: 0,
            got_last_freed: 0,
            left: 0,
        };
        Self {
            line,
            sizes: BTreeMap::new(),
            live: 0,
            asked_bytes: 0,
            held_bytes: 0,
            slabs: HashMap::new(),
            freed: HashMap::new(),
            is_free: HashMap::new(),
        }
    }

    /// Takes an address that `cpu` allocates off the freed ones, and counts whether it was the last one.
    fn reuse(&mut self, cpu: u32, address: u64) {
        let stack = self.freed.entry(cpu).or_default();
        while stack.last().is_some_and(|(freed, number)| self.is_free.get(freed) != Some(number)) {
            stack.pop();
        }
        if let Some((last, _)) = stack.last() {
            self.line.after_free += 1;
            self.line.got_last_freed += u64::from(*last == address);
        }
        self.is_free.remove(&address);
    }

    /// Takes an address that `cpu` frees. What another CPU allocated lies in that one's slab, and comes to hand there.
    fn free(&mut self, cpu: u32, address: u64, allocated_by: u32) {
        self.line.frees += 1;
        if allocated_by != cpu {
            return;
        }
        self.is_free.insert(address, self.line.frees);
        self.freed.entry(cpu).or_default().push((address, self.line.frees));
    }
}

impl Memory {
    /// Takes what is told of memory.
    pub(super) fn take(&mut self, event: Event) {
        match event {
            Event::Cache(seen) => self.cache(&seen),
            Event::Got { cpu, address, bytes, site, from } => {
                self.got(cpu, address, bytes, site, from);
            }
            Event::Gave { cpu, address, site } => self.gave(cpu, address, site),
            Event::Resized { address, bytes } => self.resized(address, bytes),
            Event::Split { address } => self.split(address),
            _ => {}
        }
    }

    /// Takes a cache, the next in the order of their numbers.
    fn cache(&mut self, seen: &CacheSeen) {
        let kind = if seen.is_own { Kind::Own } else { Kind::Kmalloc };
        self.told.push(self.caches.len());
        self.caches.push(Cache::new(seen.name.clone(), kind, Some(seen)));
    }

    /// Takes that a part of the module's life begins.
    pub(super) fn stage(&mut self, stage: Stage) {
        let what = match stage {
            Stage::Live => "init ended after",
            Stage::Exit => "exit began after",
            Stage::Load | Stage::Init => return,
        };
        self.stages.push((self.now.operation, what));
    }

    /// Takes an allocation.
    fn got(&mut self, cpu: u32, address: u64, bytes: u64, site: u64, from: Origin) {
        let (cache, slab, held_bytes) = match from {
            Origin::Slab { cache, slab } => {
                let Some(&at) = self.told.get(cache as usize) else { return };
                (at, Some(slab), self.caches[at].line.slot_bytes.unwrap_or(bytes))
            }
            Origin::Other { name, held_bytes } => (self.other(name), None, held_bytes),
        };
        let of = &mut self.caches[cache];
        of.reuse(cpu, address);
        of.line.allocations += 1;
        if of.sizes.len() < SIZES_MAX || of.sizes.contains_key(&bytes) {
            *of.sizes.entry(bytes).or_default() += 1;
        }
        let live = Live { cache, cpu, site, slab, asked_bytes: bytes, held_bytes, object: None };
        let counts = self.sites.entry((site, cache)).or_default();
        counts.allocations += 1;
        counts.asked_bytes += bytes;
        counts.held_bytes += held_bytes;
        let object = (self.objects.len() < OBJECTS_MAX).then_some(self.objects.len());
        match object {
            Some(_) => self.objects.push(Kept {
                live: live.clone(),
                address,
                got: self.now.operation,
                gave: None,
            }),
            None => self.objects_more += 1,
        }
        self.enter(address, Live { object, ..live });
        self.end_operation();
    }

    /// Takes a free; one of what is not live is a mistake of the module's, which is told elsewhere.
    fn gave(&mut self, cpu: u32, address: u64, site: u64) {
        let Some(live) = self.remove(address) else { return };
        if let Some(object) = live.object {
            self.objects[object].gave = Some(self.now.operation);
        }
        self.caches[live.cache].free(cpu, address, live.cpu);
        let counts = self.sites.entry((live.site, live.cache)).or_default();
        *counts.freed_by.entry(site).or_default() += 1;
        self.end_operation();
    }

    /// Takes that a block has another size.
    fn resized(&mut self, address: u64, bytes: u64) {
        let Some(mut live) = self.remove(address) else { return };
        live.asked_bytes = bytes;
        if let Some(object) = live.object {
            self.objects[object].live.asked_bytes = bytes;
        }
        self.enter(address, live);
    }

    /// Takes that a block of pages became blocks of a page each.
    fn split(&mut self, address: u64) {
        let Some(live) = self.remove(address) else { return };
        let page_bytes = PAGE_SIZE;
        let pages = live.held_bytes / page_bytes;
        for page in 0..pages {
            let object = live.object.filter(|_| page == 0);
            let (asked_bytes, held_bytes) = (page_bytes, page_bytes);
            let one = Live { asked_bytes, held_bytes, object, ..live.clone() };
            self.enter(address + page * page_bytes, one);
        }
        self.caches[live.cache].line.allocations += pages.saturating_sub(1);
    }

    fn other(&mut self, name: String) -> usize {
        let next = self.caches.len();
        let at = *self.others.entry(name.clone()).or_insert(next);
        if at == next {
            self.caches.push(Cache::new(name, Kind::Other, None));
        }
        at
    }

    /// Counts an object that is live from now on.
    fn enter(&mut self, address: u64, live: Live) {
        let cache = &mut self.caches[live.cache];
        let is_first = live.slab.is_some_and(|slab| {
            add(&mut cache.slabs, slab);
            add(&mut self.slabs, slab)
        });
        cache.live += 1;
        cache.asked_bytes += live.asked_bytes;
        cache.held_bytes += live.held_bytes;
        cache.line.slabs_max = cache.line.slabs_max.max(cache.slabs.len() as u64);
        if cache.live > cache.line.live_max {
            cache.line.live_max = cache.live;
            cache.line.asked_bytes_max = cache.asked_bytes;
            cache.line.held_bytes_max = cache.held_bytes;
        }
        self.now.asked_bytes += live.asked_bytes;
        self.now.held_bytes += live.held_bytes;
        self.now.pages_bytes += match (live.slab, is_first) {
            (None, _) => live.held_bytes,
            (Some(_), true) => cache.line.slab_bytes.unwrap_or(0),
            (Some(_), false) => 0,
        };
        let site = self.sites.entry((live.site, live.cache)).or_default();
        site.live += 1;
        site.live_bytes += live.asked_bytes;
        site.live_max = site.live_max.max(site.live);
        self.live.insert(address, live);
    }

    /// Counts that an object is not live any more.
    fn remove(&mut self, address: u64) -> Option<Live> {
        let live = self.live.remove(&address)?;
        let cache = &mut self.caches[live.cache];
        let is_last = live.slab.is_some_and(|slab| {
            take(&mut cache.slabs, slab);
            take(&mut self.slabs, slab)
        });
        cache.live -= 1;
        cache.asked_bytes -= live.asked_bytes;
        cache.held_bytes -= live.held_bytes;
        self.now.asked_bytes -= live.asked_bytes;
        self.now.held_bytes -= live.held_bytes;
        self.now.pages_bytes -= match (live.slab, is_last) {
            (None, _) => live.held_bytes,
            (Some(_), true) => cache.line.slab_bytes.unwrap_or(0),
            (Some(_), false) => 0,
        };
        let site = self.sites.entry((live.site, live.cache)).or_default();
        site.live -= 1;
        site.live_bytes -= live.asked_bytes;
        Some(live)
    }

    fn end_operation(&mut self) {
        self.now.operation += 1;
        self.curve.add(self.now);
        if self.now.held_bytes > self.peak.held_bytes {
            self.peak = self.now;
        }
    }

    /// Makes the answer, with names for the places in the module.
    pub(super) fn explain(self, names: &mut Names, view: View) -> Explained {
        let Self { mut caches, now, peak, curve, objects, objects_more, stages, .. } = self;
        let mut moments = curve.moments;
        if moments.last().is_some_and(|last| last.operation < now.operation) {
            moments.push(now);
        }
        let mut left_objects = 0;
        let mut sites: Vec<SiteLine> = Vec::new();
        for ((site, cache), counts) in self.sites {
            let by =
                counts.freed_by.iter().max_by_key(|&(at, count)| (count, std::cmp::Reverse(at)));
            left_objects += counts.live;
            sites.push(SiteLine {
                site: names.name(Place::Return(site)),
                cache: caches[cache].line.cache.clone(),
                allocations: counts.allocations,
                asked_bytes: counts.asked_bytes,
                held_bytes: counts.held_bytes,
                live_max: counts.live_max,
                freed_by: by.map(|(&at, _)| names.name(Place::Return(at))),
                left: counts.live,
                left_bytes: counts.live_bytes,
            });
        }
        sites.sort_by_key(|site| std::cmp::Reverse(site.asked_bytes));
        for cache in &mut caches {
            let size = |(&bytes, &allocations): (&u64, &u64)| Size { bytes, allocations };
            cache.line.sizes = cache.sizes.iter().map(size).collect();
            cache.line.left = cache.live;
        }
        let object = |kept: Kept| Object {
            cache: kept.live.cache,
            address: kept.address,
            slab: kept.live.slab,
            asked_bytes: kept.live.asked_bytes,
            held_bytes: kept.live.held_bytes,
            site: names.short(kept.live.site),
            got: kept.got,
            gave: kept.gave,
        };
        let objects = objects.into_iter().map(object).collect();
        Explained {
            operations: now.operation,
            caches: caches.into_iter().map(|cache| cache.line).collect(),
            sites,
            peak,
            left_objects,
            left_bytes: now.asked_bytes,
            view: View { stages, curve: moments, objects, objects_more, ..view },
        }
    }
}

/// Counts an object of a slab; returns whether it is the only one.
fn add(slabs: &mut HashMap<u64, u64>, slab: u64) -> bool {
    let objects = slabs.entry(slab).or_default();
    *objects += 1;
    *objects == 1
}

/// Takes an object of a slab away; returns whether it was the last one.
fn take(slabs: &mut HashMap<u64, u64>, slab: u64) -> bool {
    let left = slabs.get(&slab).map_or(0, |objects| objects.saturating_sub(1));
    match left {
        0 => slabs.remove(&slab).is_some(),
        _ => slabs.insert(slab, left).is_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(slot_bytes: u64) -> CacheSeen {
        CacheSeen {
            name: "item".into(),
            slabs_of: "item".into(),
            is_own: true,
            object_bytes: 40,
            slot_bytes,
            slab_bytes: 4096,
            objects_per_slab: 4096 / slot_bytes,
        }
    }

    fn memory() -> Memory {
        let mut memory = Memory::default();
        memory.cache(&seen(64));
        memory
    }

    fn slab(slab: u64) -> Origin {
        Origin::Slab { cache: 0, slab }
    }

    #[test]
    fn the_last_freed_is_known_on_each_cpu() {
        let mut memory = memory();
        for address in [0x1000, 0x1040, 0x1080] {
            memory.got(0, address, 40, 7, slab(0x1000));
        }
        memory.gave(0, 0x1000, 9);
        memory.gave(0, 0x1040, 9);
        // Another CPU has freed nothing: it takes one of the first's.
        memory.got(1, 0x1040, 40, 7, slab(0x1000));
        let counts = |memory: &Memory| {
            let line = &memory.caches[0].line;
            (line.after_free, line.got_last_freed)
        };
        assert_eq!(counts(&memory), (0, 0));
        memory.got(0, 0x1000, 40, 7, slab(0x1000));
        assert_eq!(counts(&memory), (1, 1));
        memory.gave(0, 0x1080, 9);
        // It lies in another CPU's slab.
        memory.gave(0, 0x1040, 9);
        memory.gave(0, 0x1000, 9);
        memory.got(0, 0x1080, 40, 7, slab(0x1000));
        assert_eq!(counts(&memory), (2, 1));
    }

    #[test]
    fn bytes_are_those_of_objects_and_of_their_slabs() {
        let mut memory = memory();
        memory.got(0, 0x1000, 40, 7, slab(0x1000));
        memory.got(0, 0x2000, 40, 7, slab(0x2000));
        let pages = Origin::Other { name: "pages".into(), held_bytes: 8192 };
        memory.got(0, 0x8000, 8192, 8, pages);
        let peak =
            Amounts { operation: 3, asked_bytes: 8272, held_bytes: 8320, pages_bytes: 4096 * 4 };
        assert_eq!(memory.now, peak);
        memory.split(0x8000);
        memory.gave(0, 0x9000, 9);
        memory.gave(0, 0x2000, 9);
        // What is not live cannot be freed.
        memory.gave(0, 0x2000, 9);
        assert_eq!((memory.now.held_bytes, memory.now.pages_bytes), (64 + 4096, 4096 * 2));
        assert_eq!((memory.peak, memory.now.operation), (peak, 5));
        assert_eq!(memory.caches[0].line.slabs_max, 2);
    }

    #[test]
    fn merged_caches_share_a_slab() {
        let mut memory = memory();
        memory.cache(&CacheSeen { name: "other".into(), ..seen(64) });
        memory.got(0, 0x1000, 40, 7, slab(0x1000));
        memory.got(0, 0x1040, 40, 7, Origin::Slab { cache: 1, slab: 0x1000 });
        assert_eq!(memory.now.pages_bytes, 4096);
        memory.gave(0, 0x1000, 9);
        assert_eq!(memory.now.pages_bytes, 4096);
        memory.gave(0, 0x1040, 9);
        assert_eq!(memory.now.pages_bytes, 0);
        assert_eq!(memory.caches[1].line.slabs_of.as_deref(), Some("item"));
    }

    #[test]
    fn a_long_curve_keeps_its_end() {
        let mut curve = Curve::default();
        for operation in 1..=100_000 {
            curve.add(Amounts { operation, ..Amounts::default() });
        }
        assert!(curve.moments.len() <= MOMENTS_MAX);
        assert!(curve.moments.last().is_some_and(|last| last.operation > 99_000));
    }
}
