//! Reads what the running kernel says of its zones.

use std::fs;

use crate::{BuddyReading, Zones};

/// Reads `/proc/buddyinfo`; `None` where there is none.
pub(super) fn reading(time_ns: u64) -> Option<BuddyReading> {
    let text = fs::read_to_string("/proc/buddyinfo").ok()?;
    Some(BuddyReading::parse(time_ns, &text))
}

/// Reads the zones; without zones where the kernel says nothing of them.
pub(super) fn now(time_ns: u64) -> Zones {
    let text = |path| fs::read_to_string(path).unwrap_or_default();
    // The free blocks are read last, nearest to the events.
    let zoneinfo = text("/proc/zoneinfo");
    Zones::parse(time_ns, &zoneinfo, &text("/proc/pagetypeinfo"))
}
