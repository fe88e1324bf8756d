//! The machine that a replay of pages begins with.
//!
//! # How it works
//! A recording of ours says which zones there were, and what was free in them; its events tell more
//! ([`first_seen`](super::first_seen)). Of any other trace the machine has one empty zone with the watermarks and lists that
//! Linux gives a zone of its size.
//!
//! Linux counterpart: `calculate_min_free_kbytes`, `__setup_per_zone_wmarks`, `zone_batchsize`, `zone_highsize` @ 6.12.

use std::collections::HashSet;

use rustc_hash::FxHashMap;
use slablab_host::memory_room_bytes;
use slablab_linux::Release;
use slablab_trace::{Meta, TraceReader, Zone, ZoneCpu, Zones};

use super::first_seen::{FirstSeen, Span};
use super::unseen::Unseen;
use crate::buddy::aged::{Aged, first_page};
use crate::buddy::cpu_pages::CpuPages;
use crate::buddy::holes::Holes;
use crate::buddy::machine::{Given, Machine, Place};
use crate::buddy::mapped::Hints;
use crate::buddy::migrate::Migrate;
use crate::buddy::rules::{CpuLists, Rules};
use crate::error::Error;

/// As most machines have it.
const MAX_ORDER: u8 = 10;
const BLOCK_ORDER: u8 = 9;
/// CPUs keep at most this part of a zone (`MIN_PERCPU_PAGELIST_HIGH_FRACTION`).
const HIGH_FRACTION: u64 = 8;
/// The model numbers pages of a zone with 32 bits.
const ZONE_PAGES_MAX: u64 = 1 << 31;
/// The most that Linux is built with (`MAX_NUMNODES`, `MAX_NR_ZONES`).
const NODES_MAX: u16 = 1 << 10;
const NODE_ZONES_MAX: u8 = 6;
/// Of a page: the links of a free block that begins there
const PAGE_BYTES: u64 = 12;

/// The machine, and what it has in use of each zone.
#[derive(Debug)]
pub(super) struct Begun {
    pub(super) machine: Machine,
    pub(super) holes: Vec<Holes>,
    pub(super) rules: Rules,
    /// Free pages that found no place among those in use
    pub(super) unplaced_pages: u64,
    /// Where the zones' pages are
    spans: Vec<Span>,
    /// Pages that were allocated without an event, by the numbers of the rows at which they left the zones' lists
    pub(super) unseen: FxHashMap<u64, u64>,
}

impl Begun {
    /// Returns whether it is known where the pages were that are older than the replay.
    pub(super) fn is_mapped(&self) -> bool {
        self.holes.iter().any(|holes| holes.is_mapped)
    }

    /// Takes a block out of those that were given before the replay begins; `None` where it was not in use then. A block that
    /// lies in movable page blocks counts as movable.
    pub(super) fn take_older(&mut self, pfn: u64, order: u8) -> Option<Given> {
        let mut spans = self.spans.iter().zip(0u16..);
        let (page, zone) = spans.find_map(|(span, zone)| Some((span.page(pfn)?, zone)))?;
        let holes = &mut self.holes[usize::from(zone)];
        let was_used = holes.is_mapped && holes.take_at(page, order);
        let (_, of) = &self.machine.zones[usize::from(zone)];
        let is_movable = was_used && of.block_type(page) == Migrate::Movable;
        was_used.then_some(Given { zone, page, is_movable })
    }
}

/// Returns the zones of a trace, or others that were told, or such of an empty machine of this memory.
fn zones(meta: &Meta, aged: Option<&Zones>, memory_bytes: u64) -> Zones {
    match aged.or(meta.zones.as_ref().map(|zones| &zones.start)) {
        Some(zones) if !zones.zones.is_empty() => zones.clone(),
        _ => empty(memory_bytes / u64::from(meta.page_bytes.max(1024)), meta.cpus),
    }
}

/// Returns a machine of one empty zone.
fn empty(pages: u64, cpus: u32) -> Zones {
    let pages = pages.min(ZONE_PAGES_MAX) & !((1 << MAX_ORDER) - 1);
    let min = (pages * 4 * 16).isqrt().clamp(128, 256 << 10) / 4;
    let step = (min / 4).max(pages / 1000);
    let batch = ((pages / 1024).min(256) / 4).max(1);
    let batch = ((batch + batch / 2 + 1).next_power_of_two() / 2).saturating_sub(1).max(1);
    let high = ((min + step) / u64::from(cpus.max(1))).max(4 * batch);
    let high_max = (pages / HIGH_FRACTION / u64::from(cpus.max(1))).max(high);
    let cpu = |cpu| ZoneCpu {
        cpu,
        count: 0,
        high,
        batch,
        high_min: Some(high),
        high_max: Some(high_max),
    };
    let mut free_blocks = vec![Vec::new(); 2];
    free_blocks[Migrate::Movable as usize] = vec![0; usize::from(MAX_ORDER)];
    free_blocks[Migrate::Movable as usize].push(pages >> MAX_ORDER);
    let zone = Zone {
        name: "Normal".to_owned(),
        index: 2,
        spanned: pages,
        managed: pages,
        free: pages,
        min,
        low: min + step,
        high: min + 2 * step,
        cpus: (0..cpus.max(1) as u16).map(cpu).collect(),
        free_blocks,
        ..Zone::default()
    };
    Zones { zones: vec![zone], block_order: Some(BLOCK_ORDER), ..Zones::default() }
}

/// Makes the machine that a trace begins with, or that of other zones.
///
/// # Errors
/// When the trace is damaged, names zones that no machine has, or the machine's tables do not fit.
pub(super) fn begin(
    trace: &TraceReader,
    aged: Option<&Zones>,
    memory_bytes: u64,
) -> Result<Begun, Error> {
    let meta = trace.meta();
    let zones = zones(meta, aged, memory_bytes);
    let rules = rules(meta, &zones);
    let spans = spans(&zones, rules);
    check(&zones, &spans, meta.cpus)?;
    let mut hints = vec![Hints::default(); zones.zones.len()];
    let (mut unseen, mut row) = (Unseen::default(), 0);
    if zones.zones.iter().any(|zone| !zone.free_runs.is_empty()) {
        let mut seen = FirstSeen::new(meta, &spans, rules);
        for batch in trace.page_batches() {
            for event in batch?.iter() {
                seen.see(event);
                if event.time_ns >= zones.time_ns {
                    unseen.see(row, event);
                }
                row += 1;
            }
        }
        hints = seen.end();
    }
    Ok(Begun { unseen: unseen.end(), ..begin_with(meta, &zones, &hints) })
}

/// Checks what the metadata of a trace says of zones, which may be anything.
fn check(zones: &Zones, spans: &[Span], cpus: u32) -> Result<(), Error> {
    let beyond = |of: &&Zone| of.node >= NODES_MAX || of.index >= NODE_ZONES_MAX;
    if let Some(of) = zones.zones.iter().find(beyond) {
        let found =
            format!("a zone is number {} of node {}, which no machine has", of.index, of.node);
        return Err(Error::Zones { found });
    }
    let places: HashSet<(u16, u8)> = zones.zones.iter().map(|of| (of.node, of.index)).collect();
    if places.len() < zones.zones.len() {
        let found = "two zones have one number on one node, which no machine has".to_owned();
        return Err(Error::Zones { found });
    }
    let of_cpus = zones.zones.len() as u64 * u64::from(cpus.max(1)) * size_of::<CpuPages>() as u64;
    let pages = spans.iter().fold(0u64, |sum, span| sum.saturating_add(span.pages));
    let bytes = pages.saturating_mul(PAGE_BYTES).saturating_add(of_cpus);
    match memory_room_bytes() {
        Some(room_bytes) if room_bytes < bytes => Err(Error::ZonesMemory { bytes, room_bytes }),
        _ => Ok(()),
    }
}

fn spans(zones: &Zones, rules: Rules) -> Vec<Span> {
    let span = |of: &Zone| {
        let first = first_page(of, rules.max_order);
        let pages = (of.start - first).saturating_add(of.spanned).min(ZONE_PAGES_MAX);
        Span { first, pages }
    };
    zones.zones.iter().map(span).collect()
}

fn rules(meta: &Meta, zones: &Zones) -> Rules {
    let orders = zones.zones.iter().flat_map(|zone| &zone.free_blocks).map(Vec::len).max();
    let max_order =
        orders.unwrap_or(0).checked_sub(1).map_or(MAX_ORDER, |order| order.min(15) as u8);
    let block_order = zones.block_order.unwrap_or(BLOCK_ORDER);
    Rules::of(Release::of(&meta.kernel_release), max_order, block_order)
}

fn begin_with(meta: &Meta, zones: &Zones, hints: &[Hints]) -> Begun {
    let rules = rules(meta, zones);
    let (mut places, mut cpus, mut holes, mut unplaced_pages) =
        (Vec::new(), Vec::new(), Vec::new(), 0);
    for (of, hints) in zones.zones.iter().zip(hints) {
        let of = &Zone { spanned: of.spanned.min(ZONE_PAGES_MAX), ..of.clone() };
        let mut aged = Aged::new(rules, of, hints);
        cpus.push(kept(of, &mut aged, meta.cpus, hints));
        unplaced_pages += aged.unplaced_pages;
        holes.push(aged.holes);
        let place = Place { node: of.node, name: of.name.clone(), index: of.index };
        places.push((place, aged.zone));
    }
    Begun {
        machine: Machine::new(places, cpus, meta.cpu_nodes.clone()),
        holes,
        rules,
        unplaced_pages,
        spans: spans(zones, rules),
        unseen: FxHashMap::default(),
    }
}

/// Returns between which limits the one of a CPU moves: those that the kernel said, or that it makes of the zone's size.
fn bounds(of: &Zone, cpu: &ZoneCpu, rules: Rules) -> (u64, u64) {
    let is_fixed = rules.cpu_lists == CpuLists::Fixed;
    let cpus = of.cpus.len().max(1) as u64;
    let share = |pages: u64| if is_fixed { cpu.high } else { (pages / cpus).max(4 * cpu.batch) };
    let high_min = cpu.high_min.unwrap_or_else(|| share(of.low));
    let high_max = cpu.high_max.unwrap_or_else(|| share(of.managed / HIGH_FRACTION));
    (high_min, high_max.max(high_min))
}

/// Makes the lists of all CPUs for a zone. What events do not tell of the pages in them are single ones, as many movable as
/// unmovable.
fn kept(of: &Zone, aged: &mut Aged, cpus: u32, hints: &Hints) -> Vec<CpuPages> {
    let mut all: Vec<CpuPages> = (0..cpus.max(1)).map(|_| CpuPages::default()).collect();
    for cpu in &of.cpus {
        let Some(pages) = all.get_mut(usize::from(cpu.cpu)) else { continue };
        pages.batch = cpu.batch.max(1);
        let (high_min, high_max) = bounds(of, cpu, aged.zone.rules);
        (pages.high, pages.high_min, pages.high_max) = (cpu.high, high_min, high_max);
        for kept in hints.kept.iter().filter(|kept| kept.cpu == cpu.cpu) {
            let has_room = pages.count + (1 << kept.order) <= cpu.count;
            if has_room && aged.holes.take_at(kept.page, kept.order) {
                pages.begin_with(kept.page, kept.order, kept.migrate);
            }
        }
        for number in 0..cpu.count - pages.count {
            let migrate = if number % 2 == 0 { Migrate::Movable } else { Migrate::Unmovable };
            let Some(page) = aged.take_kept() else { break };
            pages.begin_with(page, 0, migrate);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_machine_has_the_watermarks_of_linux() {
        // A machine of 4 GiB: min_free_kbytes is 8192, as sqrt(4194304 * 16).
        let zones = empty(1 << 20, 4);
        let zone = &zones.zones[0];
        assert_eq!((zone.min, zone.low, zone.high), (2048, 3096, 4144));
        assert_eq!((zone.cpus[0].batch, zone.cpus[0].high), (63, 774));
    }

    #[test]
    fn zones_that_no_machine_has_are_refused() {
        let zone = |node, index, spanned| Zone { node, index, spanned, ..Zone::default() };
        let checked = |list: Vec<Zone>| {
            let zones = Zones { zones: list, ..Zones::default() };
            check(&zones, &spans(&zones, rules(&Meta::default(), &zones)), 2)
        };
        assert!(checked(vec![zone(0, 1, 4096), zone(0, 2, 4096), zone(1023, 2, 4096)]).is_ok());
        for bad in [vec![zone(1024, 2, 1)], vec![zone(0, 6, 1)], vec![zone(0, 2, 1), zone(0, 2, 9)]]
        {
            assert!(matches!(checked(bad), Err(Error::Zones { .. })));
        }
        let large = (0..1000).map(|node| zone(node, 2, u64::MAX)).collect();
        assert!(matches!(checked(large), Err(Error::ZonesMemory { .. })));
    }

    #[test]
    fn a_machine_begins_with_what_the_recorded_one_had() {
        let cpu = ZoneCpu { cpu: 1, count: 9, high: 40, batch: 8, ..ZoneCpu::default() };
        let zone = Zone {
            start: 1,
            spanned: 4095,
            managed: 3840,
            cpus: vec![cpu],
            free_blocks: vec![vec![1, 0, 2], vec![0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 2]],
            ..Zone::default()
        };
        let zones = Zones { zones: vec![zone], ..Zones::default() };
        let meta = Meta { cpus: 2, ..Meta::default() };
        let begun = begin_with(&meta, &zones, &[Hints::default()]);
        assert_eq!(&begun.machine.free_blocks()[..4], &[1, 3, 2, 0]);
        assert_eq!((begun.machine.free_blocks()[10], begun.machine.cpu_pages()), (2, 9));
        assert_eq!(begun.holes[0].freeable, 3840 - 9 - 15 - 2048);
        assert_eq!(begun.unplaced_pages, 0);
    }
}
