//! What a simulated machine needs of this process's memory, estimated before it is made, and how many fit at once.
//!
//! # How it works
//! The trace says how many objects live at once, and how many CPUs, caches and call sites there are. Each costs a number of
//! bytes that was measured on machines of 16 to 512 CPUs (bench/scale). Where not all machines of a question fit into what
//! the process may use, they run one after the other, and the trace is read once for each group.
//!
//! # Invariants
//! One machine always runs: an estimate refuses nothing, and the watch of the command's memory ends what is too much.

use slablab_host::memory_room_bytes;
use slablab_trace::Meta;

use crate::plan::KMALLOC_CACHES;

/// Of a live object: its entry by slot, and its share of links and page records.
const OBJECT_BYTES: u64 = 64;
/// Of a call site: its account, the spread of its objects, and what changes need to find it.
const SITE_BYTES: u64 = 400;
/// Of a cache on a CPU: its part of the cache, and the records and links of a slab or two that it keeps.
const CPU_CACHE_BYTES: u64 = 1_024;
/// Of a CPU: counters and lists of pages, and pages of tables in which little else is used.
const CPU_BYTES: u64 = 24 << 10;
/// Of a machine: kmalloc's caches, and tables that every machine has.
const MACHINE_BYTES: u64 = 8 << 20;
/// All machines at once use at most as much, however much is free.
const TOGETHER_BYTES_MAX: u64 = 4 << 30;

/// Returns about how many bytes a machine needs that replays a trace.
pub(crate) fn machine_bytes(meta: &Meta) -> u64 {
    bytes(meta, meta.caches.len() as u64 + KMALLOC_CACHES, 1)
}

/// Returns about how many bytes a machine needs that replays one of `classes` classes of kmalloc, with a cache beside it.
pub(crate) fn class_machine_bytes(meta: &Meta, classes: u64) -> u64 {
    bytes(meta, 2, classes.max(1))
}

/// Does so for a machine that uses `caches` caches, and of call sites and objects one of `parts` equal parts.
fn bytes(meta: &Meta, caches: u64, parts: u64) -> u64 {
    let (cpus, events) = (u64::from(meta.cpus).max(1), meta.events);
    // A cache that a CPU never uses costs it nothing.
    let pairs = cpus.saturating_mul(caches).min(events);
    let objects = u64::from(meta.object_slots) / parts;
    MACHINE_BYTES
        + objects * OBJECT_BYTES
        + meta.sites.len() as u64 * SITE_BYTES / parts
        + pairs * CPU_CACHE_BYTES
        + cpus * CPU_BYTES
}

/// Returns how many machines of this size fit at once, one at least.
pub(crate) fn fitting(machine_bytes: u64) -> usize {
    let room = memory_room_bytes().unwrap_or(u64::MAX).min(TOGETHER_BYTES_MAX);
    usize::try_from(room / machine_bytes.max(1)).unwrap_or(usize::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_of_anything_needs_more_and_a_part_needs_less() {
        let meta =
            |cpus, object_slots| Meta { cpus, object_slots, events: 1 << 30, ..Meta::default() };
        let small = machine_bytes(&meta(2, 1_000));
        assert!(machine_bytes(&meta(512, 1_000)) > small);
        let large = machine_bytes(&meta(2, 5_000_000));
        assert!(large > small + (200 << 20) && large < small + (1 << 30));
        assert!(class_machine_bytes(&meta(2, 5_000_000), 16) < large / 8);
    }

    #[test]
    fn one_machine_always_runs() {
        assert_eq!(fitting(u64::MAX), 1);
        assert!(fitting(TOGETHER_BYTES_MAX / 2) <= 2, "they are together in 4 GiB");
        assert!(fitting(1) > 1);
    }
}
