//! The machine that a replay of pages begins with.
//!
//! # How it works
//! A recording of ours says which zones there were, and what was free in them. Of any other trace the machine has one empty
//! zone with the watermarks and lists that Linux gives a zone of its size.
//!
//! Linux counterpart: `calculate_min_free_kbytes`, `__setup_per_zone_wmarks`, `zone_batchsize` @ 6.12.

use slablab_linux::Release;
use slablab_trace::{Meta, Zone, ZoneCpu, Zones};

use crate::buddy::aged::{Aged, Holes};
use crate::buddy::cpu_pages::CpuPages;
use crate::buddy::machine::{Machine, Place};
use crate::buddy::migrate::Migrate;
use crate::buddy::rules::Rules;

/// As most machines have it.
const MAX_ORDER: u8 = 10;
const BLOCK_ORDER: u8 = 9;
/// The model numbers pages of a zone with 32 bits.
const ZONE_PAGES_MAX: u64 = 1 << 31;

/// The machine, and what it has in use of each zone.
#[derive(Debug)]
pub(super) struct Begun {
    pub(super) machine: Machine,
    pub(super) holes: Vec<Holes>,
    pub(super) rules: Rules,
    /// Free pages that found no place among those in use
    pub(super) unplaced_pages: u64,
}

/// Returns the zones of a trace, or such of an empty machine of this memory.
pub(super) fn zones(meta: &Meta, memory_bytes: u64) -> Zones {
    match &meta.zones {
        Some(zones) if !zones.start.zones.is_empty() => zones.start.clone(),
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
    let high_max = (pages / 8 / u64::from(cpus.max(1))).max(high);
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

/// Makes the machine.
pub(super) fn begin(meta: &Meta, zones: &Zones) -> Begun {
    let orders = zones.zones.iter().flat_map(|zone| &zone.free_blocks).map(Vec::len).max();
    let max_order =
        orders.unwrap_or(0).checked_sub(1).map_or(MAX_ORDER, |order| order.min(15) as u8);
    let block_order = zones.block_order.unwrap_or(BLOCK_ORDER);
    let rules = Rules::of(Release::of(&meta.kernel_release), max_order, block_order);
    let (mut places, mut cpus, mut holes, mut unplaced_pages) =
        (Vec::new(), Vec::new(), Vec::new(), 0);
    for of in &zones.zones {
        let of = &Zone { spanned: of.spanned.min(ZONE_PAGES_MAX), ..of.clone() };
        let mut aged = Aged::new(rules, of);
        cpus.push(kept(of, &mut aged, meta.cpus));
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
    }
}

/// Makes the lists of all CPUs for a zone. Of which types the pages in them are is not known: they are single ones, as many
/// movable as unmovable.
fn kept(of: &Zone, aged: &mut Aged, cpus: u32) -> Vec<CpuPages> {
    let mut all: Vec<CpuPages> = (0..cpus.max(1)).map(|_| CpuPages::default()).collect();
    for cpu in &of.cpus {
        let Some(pages) = all.get_mut(usize::from(cpu.cpu)) else { continue };
        let high_min = cpu.high_min.unwrap_or(cpu.high);
        let high_max = cpu.high_max.unwrap_or(cpu.high).max(high_min);
        (pages.high, pages.high_min, pages.high_max) = (cpu.high, high_min, high_max);
        pages.batch = cpu.batch.max(1);
        for number in 0..cpu.count {
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
        let begun = begin(&meta, &zones);
        assert_eq!(&begun.machine.free_blocks()[..4], &[1, 3, 2, 0]);
        assert_eq!((begun.machine.free_blocks()[10], begun.machine.cpu_pages()), (2, 9));
        assert_eq!(begun.holes[0].freeable, 3840 - 9 - 15 - 2048);
        assert_eq!(begun.unplaced_pages, 0);
    }
}
