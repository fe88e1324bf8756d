//! The slabs on a machine of pages: the recorded ones, or those of a replay in their place.
//!
//! # How it works
//! [`SlabOwners`] says which page rows gave a slab its pages. Where a replay's slabs take their place, such rows and the frees
//! of their pages are left out, and the replay's slabs get and give back pages when the replay made and freed them. A slab
//! whose order has no free block gets as many pages in blocks of its lowest order.
//!
//! # Invariants
//! Slabs from before the zones were read are pages like any others: they stay where they are, and end as recorded.
//!
//! Linux counterpart: `allocate_slab` in `mm/slub.c` @ 6.1 to 7.3.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use slablab_linux::Gfp;
use slablab_trace::Meta;

use super::result::{SlabFallback, StolenBySlabs, type_name};
use super::slab_owners::SlabOwners;
use crate::buddy::machine::{Ask, Given, Machine};
use crate::buddy::migrate::Migrate;
use crate::metrics::slab_pages::{SlabCache, SlabPage, SlabPages};

/// `__GFP_HIGHMEM | __GFP_MOVABLE`: slabs are neither.
const GFP_MOVABLE: u32 = 1 << 1 | 1 << 3;

/// A replay's slabs, and the migrate types of their caches.
#[derive(Debug)]
struct Simulated<'a> {
    slabs: &'a SlabPages,
    types: Vec<Migrate>,
    /// The next change
    next: usize,
    /// By the slab's number: its blocks
    alive: FxHashMap<u32, Vec<(Given, u8)>>,
}

/// A slab that was made, or that found no block.
#[derive(Debug)]
pub(super) struct MadeSlab<'a> {
    pub(super) cache: &'a str,
    /// The order that found no block in the end
    pub(super) failed_order: Option<u8>,
}

/// What is known of slabs, and what they have.
#[derive(Debug, Default)]
pub(super) struct Slabs<'a> {
    owners: Option<&'a SlabOwners>,
    simulated: Option<Simulated<'a>>,
    /// The number of the next page row, and the place of the next slab's in [`SlabOwners::rows`]
    row: u64,
    place: usize,
    /// Slots of the recorded slabs that are alive, and their pages
    recorded: FxHashMap<u32, u64>,
    /// Pages that slabs asked for and have not given back
    alive_pages: u64,
    block_order: u8,
    /// By zone and page block: pages of slabs
    of_blocks: Vec<Vec<u32>>,
    fallbacks: BTreeMap<String, SlabFallback>,
    stolen: BTreeMap<(String, (u8, u8)), u64>,
}

impl<'a> Slabs<'a> {
    /// Knows the recorded slabs; those of a replay come in their place where there are some.
    pub(super) fn new(
        meta: &Meta,
        owners: &'a SlabOwners,
        simulated: Option<&'a SlabPages>,
    ) -> Self {
        let simulated = simulated.map(|slabs| Simulated {
            slabs,
            types: slabs.caches.iter().map(|cache| owners.migrate(meta, &cache.name)).collect(),
            next: 0,
            alive: FxHashMap::default(),
        });
        Self { owners: Some(owners), simulated, ..Self::default() }
    }

    /// Counts pages by the page blocks of this machine.
    pub(super) fn on(mut self, machine: &Machine) -> Self {
        let blocks = |zone: &crate::buddy::zone::Zone| vec![0; zone.blocks.len()];
        if self.owners.is_some() {
            self.of_blocks = machine.zones.iter().map(|(_, zone)| blocks(zone)).collect();
        }
        self.block_order = machine.zones.first().map_or(0, |(_, zone)| zone.rules.block_order);
        self
    }

    pub(super) fn are_simulated(&self) -> bool {
        self.simulated.is_some()
    }

    /// Returns the pages that slabs have; `None` where nothing is known of slabs.
    pub(super) fn pages(&self) -> Option<u64> {
        self.owners.map(|_| self.alive_pages)
    }

    /// Returns how many pages of a page block are of slabs.
    pub(super) fn of_block(&self, zone: usize, block: usize) -> u32 {
        self.of_blocks.get(zone).and_then(|blocks| blocks.get(block)).copied().unwrap_or(0)
    }

    /// Goes on to the next page row; returns the cache if it gave a slab its pages.
    pub(super) fn next_row(&mut self) -> Option<u32> {
        let row = self.row;
        self.row += 1;
        let (at, cache) = *self.owners?.rows.get(self.place)?;
        if at != row {
            return None;
        }
        self.place += 1;
        Some(cache)
    }

    /// Returns the name of a recorded slab's cache, "" where there is none or it is not known.
    pub(super) fn recorded_name(&self, cache: Option<u32>) -> String {
        let name = cache.and_then(|cache| self.owners?.caches.get(cache as usize));
        name.cloned().unwrap_or_default()
    }

    /// Returns the replay's next change up to a time.
    pub(super) fn next_until(&mut self, time_ns: u64) -> Option<SlabPage> {
        let simulated = self.simulated.as_mut()?;
        let change = simulated.slabs.changes.get(simulated.next)?;
        if change.time_ns > time_ns {
            return None;
        }
        simulated.next += 1;
        Some(*change)
    }

    /// Notes that a slot's pages became a slab, whether the model had a block or not.
    pub(super) fn begin_recorded(&mut self, slot: u32, given: Option<Given>, order: u8) {
        self.recorded.insert(slot, 1 << order);
        self.alive_pages += 1 << order;
        self.count(given, order, true);
    }

    /// Notes that pages of a slot were freed.
    pub(super) fn end_recorded(&mut self, slot: u32, given: Option<Given>, order: u8) {
        let Some(left) = self.recorded.get_mut(&slot) else { return };
        let pages = (1 << order).min(*left);
        *left -= pages;
        if *left == 0 {
            self.recorded.remove(&slot);
        }
        self.alive_pages -= pages;
        self.count(given, order, false);
    }

    /// Lets a slab of the replay come or go; returns one that comes.
    pub(super) fn change(
        &mut self,
        machine: &mut Machine,
        change: &SlabPage,
        first_ns: u64,
    ) -> Option<MadeSlab<'a>> {
        if change.is_made() {
            return self.make(machine, change, first_ns);
        }
        let simulated = self.simulated.as_mut()?;
        for (given, order) in simulated.alive.remove(&change.slab).unwrap_or_default() {
            self.alive_pages = self.alive_pages.saturating_sub(1 << order);
            self.count(Some(given), order, false);
            machine.free(change.cpu, given, order);
        }
        None
    }

    /// Gives a slab its pages.
    fn make(
        &mut self,
        machine: &mut Machine,
        change: &SlabPage,
        first_ns: u64,
    ) -> Option<MadeSlab<'a>> {
        let simulated = self.simulated.as_ref()?;
        let of = simulated.slabs.caches.get(change.cache as usize)?;
        let migrate = simulated.types[change.cache as usize];
        let (cpu, order, gfp) = (change.cpu, of.order, Gfp(change.gfp & !GFP_MOVABLE));
        let ask = Ask { cpu, order, migrate, gfp };
        let easy = Ask { gfp: gfp.without(Gfp::DIRECT_RECLAIM), ..ask };
        let given = match order > of.order_min {
            true => machine.allocate_easily(&easy),
            false => machine.allocate(&ask),
        };
        let mut failed_order = None;
        let parts = match given {
            Some(given) => vec![(given, order)],
            None if order > of.order_min => {
                let first_ns = change.time_ns.saturating_sub(first_ns);
                self.note_fallback(of, first_ns);
                let small = Ask { order: of.order_min, ..ask };
                let blocks = 1usize << (order - of.order_min);
                let given = (0..blocks).map_while(|_| machine.allocate(&small));
                let parts: Vec<_> = given.map(|given| (given, of.order_min)).collect();
                failed_order = (parts.len() < blocks).then_some(of.order_min);
                parts
            }
            None => {
                failed_order = Some(order);
                Vec::new()
            }
        };
        for (given, order) in &parts {
            self.alive_pages += 1 << order;
            self.count(Some(*given), *order, true);
        }
        self.simulated.as_mut()?.alive.insert(change.slab, parts);
        Some(MadeSlab { cache: &of.name, failed_order })
    }

    /// Counts a slab that did not get a block of the usual order.
    fn note_fallback(&mut self, of: &SlabCache, first_ns: u64) {
        let fallback = self.fallbacks.entry(of.name.clone()).or_insert_with(|| SlabFallback {
            cache: of.name.clone(),
            order: of.order,
            order_min: of.order_min,
            first_ns,
            count: 0,
        });
        fallback.count += 1;
    }

    /// Counts a block's pages where they lie.
    fn count(&mut self, given: Option<Given>, order: u8, is_given: bool) {
        let Some(given) = given else { return };
        let Some(blocks) = self.of_blocks.get_mut(usize::from(given.zone)) else { return };
        let first = (given.page >> self.block_order) as usize;
        let pages = 1u32 << order.min(self.block_order);
        for block in blocks.iter_mut().skip(first).take(1 << order.saturating_sub(self.block_order))
        {
            *block = if is_given { *block + pages } else { block.saturating_sub(pages) };
        }
    }

    /// Counts a block of another migrate type that was taken for a slab.
    pub(super) fn note_stolen(&mut self, cache: &str, types: (u8, u8)) {
        *self.stolen.entry((cache.to_owned(), types)).or_default() += 1;
    }

    /// Returns slabs of a lower order than usual, the first one first, and blocks that were taken of other types, most first.
    pub(super) fn finish(self) -> (Vec<SlabFallback>, Vec<StolenBySlabs>) {
        let mut fallbacks: Vec<_> = self.fallbacks.into_values().collect();
        fallbacks.sort_by_key(|one| (one.first_ns, one.order));
        let stolen =
            self.stolen.into_iter().map(|((cache, (asked, taken)), count)| StolenBySlabs {
                cache,
                migrate_type: type_name(asked),
                fallback_type: type_name(taken),
                count,
            });
        let mut stolen: Vec<_> = stolen.collect();
        stolen.sort_by_key(|one| std::cmp::Reverse(one.count));
        (fallbacks, stolen)
    }
}
