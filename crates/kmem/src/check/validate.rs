//! Validation: walks everything, and checks that the sums agree.
//!
//! # Invariants
//! - bytes held = live + free objects + slack + metadata, where *held* is counted in pages,
//!   *live* by the per-CPU tallies, and the rest by walking slabs and lists.
//! - machine pages = reserved + free + per-CPU lists + slabs + large + given out.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use crate::backend::Backend;
use crate::backend::ops::Held;
use crate::cache::core::Core;
use crate::cache::table::CacheEntry;
use crate::ids::{CacheId, Order, Pfn};
use crate::machine::Machine;
use crate::page::Kind;
use crate::raw::sync::Ordering::Relaxed;
use crate::stats::Gauges;

/// What a machine holds, in bytes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Balance {
    /// Pages of slabs and of large kmallocs.
    pub held_bytes: u64,
    /// Objects given out, at their slab size.
    pub live_bytes: u64,
    /// Objects that are free, wherever they wait.
    pub free_bytes: u64,
    /// Remainders of slabs that hold no object, paddings, and objects lost to a damaged list.
    pub slack_bytes: u64,
    /// Bytes that allocators keep for themselves in pages.
    pub metadata_bytes: u64,
    /// What is wrong; empty when all is well.
    pub errors: Vec<String>,
}

impl Balance {
    /// Returns whether nothing is wrong.
    pub fn is_ok(&self) -> bool {
        self.errors.is_empty()
    }
}

/// A walk in progress.
#[derive(Debug)]
struct Audit {
    balance: Balance,
    /// What the walk found each page to be.
    seen: Vec<bool>,
    /// Free objects of the slab's own list and of CPU lists, per cache under audit.
    slabs: u64,
    objects: u64,
    free: u64,
}

impl Audit {
    fn run<B: Backend>(machine: &Machine<B>) -> Balance {
        let core = &machine.core;
        let mut audit = Self {
            balance: Balance::default(),
            seen: vec![false; core.pages.count() as usize],
            slabs: 0,
            objects: 0,
            free: 0,
        };
        for cache in core.caches.slots().iter().filter(|c| c.alive()) {
            (audit.slabs, audit.objects, audit.free) = (0, 0, 0);
            machine.backend.walk(core, cache, &mut |held| audit.enter(core, cache, held));
            if B::KMALLOC_CACHES {
                audit.check_cache(core, cache, machine.live(cache.id()));
            }
            audit.close_cache(core, cache, machine.live(cache.id()));
        }
        machine.backend.walk_shared(core, &mut |held| audit.enter_shared(held));
        audit.walk_pages(core);
        let own = core.own_bytes.load(Relaxed);
        audit.balance.live_bytes -= own;
        audit.balance.metadata_bytes += own;
        audit.close(machine.gauges());
        audit.balance
    }

    /// Enters what a walk over a cache came upon.
    fn enter(&mut self, core: &Core, cache: &CacheEntry, held: Held) {
        match held {
            Held::Slab(slab) => self.slab(core, cache, slab),
            Held::Free(objects) => self.free += objects,
            Held::Metadata(bytes) => {
                self.balance.metadata_bytes += bytes;
                self.balance.slack_bytes -= bytes;
            }
            held => self.enter_shared(held),
        }
    }

    /// Enters what a walk over memory outside all caches came upon.
    fn enter_shared(&mut self, held: Held) {
        match held {
            Held::Page(page) => self.see(page, Order(0), "carved page"),
            Held::Bytes { held, live, free, metadata } => {
                self.balance.held_bytes += held;
                self.balance.live_bytes += live;
                self.balance.free_bytes += free;
                self.balance.metadata_bytes += metadata;
            }
            Held::Wrong(error) => self.error(error),
            held => self.error(format!("{held:?} is of no cache")),
        }
    }

    /// Enters a fault.
    fn error(&mut self, error: String) {
        if self.balance.errors.len() < 100 {
            self.balance.errors.push(error);
        }
    }

    /// Enters a page block as seen; a block seen twice is an error.
    fn see(&mut self, pfn: Pfn, order: Order, what: &str) {
        for page in pfn.0..pfn.0 + order.pages() {
            if ::core::mem::replace(&mut self.seen[page as usize], true) {
                self.error(format!("page {page} is in two places, the second time as {what}"));
            }
        }
    }

    /// Enters a slab of the cache under audit.
    fn slab(&mut self, core: &Core, cache: &CacheEntry, slab: Pfn) {
        let page = core.pages.get(slab);
        if !page.is_slab() || page.cache.get() != cache.id().0 {
            self.error(format!("page {} is on a list of a cache that it is not of", slab.0));
            return;
        }
        let order = page.order();
        self.see(slab, order, "slab");
        let objects = core.slab_objects(cache, order);
        self.slabs += 1;
        self.objects += objects;
        self.balance.held_bytes += order.bytes();
        self.balance.slack_bytes += order.bytes() - objects * u64::from(cache.size.get());
    }

    /// Checks that the contents of lists and the totals agree with the count of live objects.
    fn check_cache(&mut self, core: &Core, cache: &CacheEntry, live: u64) {
        let id = cache.id().index();
        let totals = &core.totals[id];
        let (slabs, objects) = core.slabs_and_objects(cache);
        // A full slab is on no list, so every slab that the lists lack is wholly in use.
        if self.slabs > slabs || self.objects > objects {
            self.error(format!("cache {id}: lists hold {}, totals {slabs}", self.slabs));
        } else if live.wrapping_add(self.free + totals.lost.load(Relaxed)) != objects {
            self.error(format!(
                "cache {id}: {live} live + {} free + {} lost objects, but slabs hold {objects}",
                self.free,
                totals.lost.load(Relaxed)
            ));
        }
    }

    fn close_cache(&mut self, core: &Core, cache: &CacheEntry, live: u64) {
        let size = u64::from(cache.size.get());
        self.balance.slack_bytes += core.totals[cache.id().index()].lost.load(Relaxed) * size;
        self.balance.live_bytes += live * size;
        self.balance.free_bytes += self.free * size;
    }

    /// Looks at every page: full slabs, large kmallocs, free blocks.
    fn walk_pages(&mut self, core: &Core) {
        let mut free = 0;
        let pages = &core.pages;
        let mut blocks = Vec::new();
        core.zones.free_blocks(pages, |pfn, order, kind| blocks.push((pfn, order, kind)));
        for (pfn, order, kind) in blocks {
            let order_known = if kind == Kind::Reserved { Order(0) } else { order };
            if pages.get(pfn).kind() != kind || pages.get(pfn).order() != order_known {
                self.error(format!("page {} on a free list is {:?}", pfn.0, pages.get(pfn).kind()));
            }
            free += u64::from(order.pages());
            self.see(pfn, order, "free block");
        }
        // The first page is never given out.
        let first = core.setup.arch.page_order.pages();
        let (mut at, mut used) =
            (first, self.seen.iter().filter(|seen| **seen).count() as u64 - free);
        let mut mapped = 0;
        while at < pages.count() {
            let (pfn, page) = (Pfn(at), pages.get(Pfn(at)));
            if self.seen[at as usize] {
                at += 1;
                continue;
            }
            let order = page.order();
            match page.kind() {
                Kind::Slab => {
                    let cache = core.caches.get(CacheId(page.cache.get()));
                    let objects = core.slab_objects(cache, order);
                    self.balance.held_bytes += order.bytes();
                    self.balance.slack_bytes +=
                        order.bytes() - objects * u64::from(cache.size.get());
                }
                Kind::Large => {
                    self.balance.held_bytes += order.bytes();
                    self.balance.live_bytes += order.bytes();
                }
                Kind::Vmalloc => mapped += u64::from(order.pages()),
                Kind::Pages | Kind::Metadata | Kind::Carved | Kind::Deferred => {}
                kind => self.error(format!("page {at} is lost: {kind:?}, on no list")),
            }
            self.see(pfn, order, "used block");
            used += u64::from(order.pages());
            at += order.pages();
        }
        let areas = core.vmalloc.pages();
        if areas != mapped {
            self.error(format!("vmalloc areas hold {areas} pages, {mapped} are marked so"));
        }
        let reserved = pages.count() as u64 - core.zones.pages_managed();
        if free + used + reserved != u64::from(pages.count()) {
            self.error(format!(
                "{free} pages free + {used} used + {reserved} reserved are not all"
            ));
        }
    }

    fn close(&mut self, gauges: Gauges) {
        let b = &self.balance;
        let sum = b.live_bytes + b.free_bytes + b.slack_bytes + b.metadata_bytes;
        if sum != b.held_bytes {
            self.error(format!(
                "held {} bytes, but live {} + free {} + slack {} + metadata {} = {sum}",
                b.held_bytes, b.live_bytes, b.free_bytes, b.slack_bytes, b.metadata_bytes
            ));
        }
        let b = &self.balance;
        if gauges.held_bytes() != b.held_bytes {
            self.error(format!("gauge says {} bytes held, {gauges:?}", gauges.held_bytes()));
        }
        let b = &self.balance;
        if gauges.live_bytes != b.live_bytes {
            self.error(format!("gauge says {} bytes live, {}", gauges.live_bytes, b.live_bytes));
        }
    }
}

impl<B: Backend> Machine<B> {
    /// Walks everything and checks that the sums agree. Exact when no other thread is at work.
    pub fn validate(&self) -> Balance {
        Audit::run(self)
    }
}
