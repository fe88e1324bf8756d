//! Reads what the running kernel says of its zones.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;

use crate::page_map::PageMap;
use crate::zones::Zone;
use crate::{BuddyReading, Zones};

/// Pages whose flags are read at once.
const PAGES_AT_ONCE: u64 = 8 << 10;
const FLAGS_BYTES: u64 = 8;

/// Reads `/proc/buddyinfo`; `None` where there is none.
pub(super) fn reading(time_ns: u64) -> Option<BuddyReading> {
    let text = fs::read_to_string("/proc/buddyinfo").ok()?;
    Some(BuddyReading::parse(time_ns, &text))
}

/// Reads the zones, and which of their pages are free; without zones where the kernel says nothing of them. Flags of pages
/// take a second on a large machine: what happens to these pages until the zones' time is in the events.
pub(super) fn at_start(clock: impl Fn() -> u64) -> Zones {
    let maps = maps();
    let mut zones = now(clock());
    for (zone, (runs, movable)) in zones.zones.iter_mut().zip(maps) {
        (zone.free_runs, zone.movable) = (runs, movable);
    }
    zones
}

/// Reads the flags of all zones' pages; of none where they cannot be read.
fn maps() -> Vec<(Vec<u64>, Vec<u32>)> {
    let Ok(flags) = File::open("/proc/kpageflags") else { return Vec::new() };
    // So that the flags are read into memory that is there.
    let mut buffer = vec![1; (PAGES_AT_ONCE * FLAGS_BYTES) as usize];
    let zones = now(0);
    let Some(block_order) = zones.block_order else { return Vec::new() };
    let map = |zone: &Zone| {
        let map = map_of(zone, block_order, &flags, &mut buffer)?;
        map.end(zone.free)
    };
    zones.zones.iter().map(map).map(Option::unwrap_or_default).collect()
}

/// Reads the zones.
pub(super) fn now(time_ns: u64) -> Zones {
    let text = |path| fs::read_to_string(path).unwrap_or_default();
    // The free blocks are read last, nearest to the events.
    let zoneinfo = text("/proc/zoneinfo");
    Zones::parse(time_ns, &zoneinfo, &text("/proc/pagetypeinfo"))
}

/// Reads the flags of a zone's pages; `None` where they cannot be read.
fn map_of(zone: &Zone, block_order: u8, flags: &File, buffer: &mut [u8]) -> Option<PageMap> {
    let mut map = PageMap::new(zone.start, block_order);
    let (mut at, end) = (zone.start, zone.start.checked_add(zone.spanned)?);
    while at < end {
        let pages = PAGES_AT_ONCE.min(end - at);
        let part = buffer.get_mut(..(pages * FLAGS_BYTES) as usize)?;
        flags.read_exact_at(part, at.checked_mul(FLAGS_BYTES)?).ok()?;
        map.add(part);
        at += pages;
    }
    Some(map)
}
