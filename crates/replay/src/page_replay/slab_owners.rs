//! Allocations of pages that became slabs, and their caches.
//!
//! # How it works
//! SLUB asks for a slab's pages with flags of its own: it does not retry and does not warn. Right behind, the CPU gives the
//! object for which it needed the slab, and that event names the cache. So an allocation with these flags belongs to the first
//! cache of the CPU's next events whose slabs have this order and migrate type. Where nothing else asks so, it is a slab also
//! without such an event. Where events have stacks, these say whether pages became a slab.
//!
//! Linux counterpart: `allocate_slab`, `alloc_slab_page` in `mm/slub.c` @ 6.1 to 7.3.
//!
//! # Differences from Linux
//! A slab that is made for objects without events (bulk allocations, refilled sheaves) gets the cache of a later event, or none.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use slablab_linux::{Gfp, KmallocType};
use slablab_trace::{
    Batch, Batches, Event, Meta, NONE, PageEvent, PageKind, SlubCache, TraceReader,
};

use crate::buddy::migrate::Migrate;
use crate::error::Error;
use crate::metrics::page_groups::is_slab_maker;

/// `__GFP_NOMEMALLOC` and `__GFP_HARDWALL` @ 6.1 to 7.3
const GFP_NOMEMALLOC: u32 = 1 << 19;
const GFP_HARDWALL: u32 = 1 << 20;

/// Events of a CPU that are looked at for the cache of a slab.
const EVENTS_MAX: u8 = 8;

/// The allocations of pages that became slabs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SlabOwners {
    /// Numbers of page rows, rising, and indices into `caches`
    pub(crate) rows: Vec<(u64, u32)>,
    /// Names of caches; the first is "" and stands for those that events do not tell
    pub(crate) caches: Vec<String>,
    /// The migrate type that a cache's slabs had first
    pub(crate) types: FxHashMap<String, Migrate>,
}

/// What is known of a cache's slabs.
#[derive(Debug, Clone, Copy, Default)]
struct Shape {
    order: Option<u8>,
    is_reclaimable: Option<bool>,
}

/// An allocation that may be a slab's.
#[derive(Debug, Clone, Copy)]
struct Open {
    row: u64,
    order: u8,
    migrate: Migrate,
    looks: u8,
    is_certain: bool,
}

impl SlabOwners {
    /// Finds the slabs of a trace; none where it has no events of slabs.
    ///
    /// # Errors
    /// When the trace is damaged.
    pub(crate) fn of(trace: &TraceReader) -> Result<SlabOwners, Error> {
        let meta = trace.meta();
        let mut find = Find::new(meta);
        if meta.events == 0 || meta.pages.is_none() {
            return Ok(find.owners);
        }
        let mut objects = Objects { batches: trace.batches(), batch: None, at: 0 };
        let mut row = 0;
        for pages in trace.page_batches() {
            for event in pages?.iter() {
                // A slab's pages come before its object.
                objects.read(&mut find, event.time_ns)?;
                find.pages(row, event);
                row += 1;
            }
        }
        while find.open.values().any(|open| !open.is_empty()) && objects.read_batch(&mut find)? {}
        Ok(find.finish())
    }

    /// Returns the migrate type of a cache's slabs.
    pub(crate) fn migrate(&self, meta: &Meta, cache: &str) -> Migrate {
        let seen = self.types.get(cache).copied();
        seen.unwrap_or_else(|| match shape(meta, cache).is_reclaimable {
            Some(true) => Migrate::Reclaimable,
            None if cache.starts_with(KmallocType::Reclaim.prefix()) => Migrate::Reclaimable,
            _ => Migrate::Unmovable,
        })
    }
}

/// The slab events of a trace, read beside its page events.
struct Objects {
    batches: Batches,
    batch: Option<Arc<Batch>>,
    at: usize,
}

impl Objects {
    /// Looks at the objects that were given before a time.
    fn read(&mut self, find: &mut Find<'_>, until_ns: u64) -> Result<(), Error> {
        loop {
            if let Some(rows) = &self.batch {
                let columns = rows.columns(rows.len());
                while self.at < rows.len() && columns.time_ns[self.at] < until_ns {
                    if columns.kind[self.at].is_alloc() {
                        find.object(&columns.event(self.at));
                    }
                    self.at += 1;
                }
                if self.at < rows.len() {
                    return Ok(());
                }
            }
            (self.batch, self.at) = (self.batches.next().transpose()?, 0);
            if self.batch.is_none() {
                return Ok(());
            }
        }
    }

    /// Looks at the objects that are left of a batch; returns whether there was one.
    fn read_batch(&mut self, find: &mut Find<'_>) -> Result<bool, Error> {
        let Some(rows) = self.batch.take() else { return Ok(false) };
        let columns = rows.columns(rows.len());
        let left = self.at..rows.len();
        left.filter(|at| columns.kind[*at].is_alloc())
            .for_each(|at| find.object(&columns.event(at)));
        (self.batch, self.at) = (self.batches.next().transpose()?, 0);
        Ok(true)
    }
}

/// Owners in the making.
struct Find<'a> {
    meta: &'a Meta,
    owners: SlabOwners,
    places: FxHashMap<String, u32>,
    shapes: FxHashMap<String, Shape>,
    /// By CPU
    open: FxHashMap<u16, Vec<Open>>,
}

impl<'a> Find<'a> {
    fn new(meta: &'a Meta) -> Self {
        Self {
            meta,
            owners: SlabOwners { caches: vec![String::new()], ..SlabOwners::default() },
            places: [(String::new(), 0)].into_iter().collect(),
            shapes: FxHashMap::default(),
            open: FxHashMap::default(),
        }
    }

    /// Looks at a page row.
    fn pages(&mut self, row: u64, event: &PageEvent) {
        if event.page.kind != PageKind::Alloc || event.object == NONE {
            return;
        }
        let has_stack = event.stack != NONE;
        let is_slab =
            if has_stack { is_slab_maker(self.meta, event.stack) } else { has_flags(event) };
        let is_certain = has_stack || is_of_slabs_alone(event);
        if is_slab {
            let migrate = Migrate::of_event(event.page.migrate_type);
            let open = Open { row, order: event.page.order, migrate, looks: 0, is_certain };
            self.open.entry(event.cpu).or_default().push(open);
        }
    }

    /// Looks at an object that was given.
    fn object(&mut self, event: &Event) {
        if self.open.get(&event.cpu).is_none_or(Vec::is_empty) {
            return;
        }
        let name = self.name(event);
        let shape = match self.shapes.get(&name) {
            Some(shape) => *shape,
            None => {
                let shape = shape(self.meta, &name);
                self.shapes.insert(name.clone(), shape);
                shape
            }
        };
        let Some(open) = self.open.get_mut(&event.cpu) else { return };
        let fits = |slab: &Open| {
            let is_reclaimable = slab.migrate == Migrate::Reclaimable;
            shape.order.is_none_or(|order| order == slab.order)
                && shape.is_reclaimable.is_none_or(|is| is == is_reclaimable)
        };
        let found = open.iter().position(fits).map(|place| open.remove(place));
        let mut given_up = Vec::new();
        open.retain_mut(|slab| {
            slab.looks += 1;
            let is_left = slab.looks < EVENTS_MAX;
            if !is_left && slab.is_certain {
                given_up.push(*slab);
            }
            is_left
        });
        self.owners.rows.extend(given_up.into_iter().map(|slab| (slab.row, 0)));
        if let Some(slab) = found {
            let next = self.owners.caches.len() as u32;
            let place = *self.places.entry(name.clone()).or_insert(next);
            if place == next {
                self.owners.caches.push(name.clone());
            }
            self.owners.rows.push((slab.row, place));
            self.owners.types.entry(name).or_insert(slab.migrate);
        }
    }

    /// Returns the name of the cache that an object is of.
    fn name(&self, event: &Event) -> String {
        match self.meta.caches.get(event.cache as usize) {
            Some(cache) => cache.name.clone(),
            None => {
                let of = |kind: KmallocType| kind.name(event.bytes_alloc);
                let name = of(KmallocType::of(Gfp(event.gfp)));
                let is_known = shape(self.meta, &name).order.is_some();
                if is_known { name } else { of(KmallocType::Normal) }
            }
        }
    }

    fn finish(mut self) -> SlabOwners {
        let open = self.open.into_values().flatten().filter(|slab| slab.is_certain);
        self.owners.rows.extend(open.map(|slab| (slab.row, 0)));
        self.owners.rows.sort_unstable();
        self.owners
    }
}

/// Returns whether SLUB asks for pages with the flags of this allocation. Older kernels do not call single pages compound.
fn has_flags(event: &PageEvent) -> bool {
    let gfp = Gfp(event.gfp);
    let is_movable = Migrate::of_event(event.page.migrate_type) == Migrate::Movable;
    let is_compound = gfp.has(Gfp::COMP) || event.page.order == 0;
    let has_own = gfp.has(Gfp::NOWARN) && gfp.has(Gfp::NORETRY) && !gfp.has(Gfp::ZERO);
    has_own && is_compound && !is_movable
}

/// Returns whether of all allocations with such flags only those of slabs are so: large blocks of kmalloc and of packets have
/// higher orders, and do not leave the reserves alone; pages of files are bound to a cpuset.
fn is_of_slabs_alone(event: &PageEvent) -> bool {
    let leaves_reserves = event.gfp & GFP_NOMEMALLOC != 0;
    leaves_reserves || event.page.order <= 1 && event.gfp & GFP_HARDWALL == 0
}

/// Returns what the recording says of a cache's slabs.
fn shape(meta: &Meta, name: &str) -> Shape {
    let cache = meta.caches.iter().find(|cache| cache.name == name);
    let recorded = cache.map_or(name, |cache| cache.recorded_name());
    let has_name = |cache: &&SlubCache| {
        let mut names = cache.aliases.iter().chain([&cache.name]);
        names.any(|of| of == name || of == recorded)
    };
    let mut snapshots = meta.slabs_start.iter().chain(&meta.slabs_end);
    let slub = snapshots.find_map(|snapshot| snapshot.caches.iter().find(has_name));
    let number = |wanted: &str| slub.and_then(|cache| cache.number(wanted));
    let sampled = meta.samples.caches.get(recorded).map(|sampled| sampled.slab_bytes);
    let pages = |bytes: u64| bytes / u64::from(meta.page_bytes.max(1));
    let of_slab = sampled.map(pages).filter(|pages| *pages > 0).map(|pages| pages.ilog2() as u8);
    Shape {
        order: number("order").map(|order| order.min(u64::from(u8::MAX)) as u8).or(of_slab),
        is_reclaimable: number("reclaim_account").map(|is| is > 0),
    }
}
