//! Replays of small traces of page events.

use slablab_trace::{
    BuddyReading, Meta, NO_BYTE, NO_PAGE, NONE, PageEvent, PageKind, RawPage, RecordedZones,
    TraceReader, TraceWriter, Zone, Zones,
};

use super::plan::RestPlan;
use super::replay::replay_pages;
use super::result::PageReplay;
use PageKind::{Alloc, AllocExtfrag, Free, ImplicitFree};

const MIB: u64 = 1 << 20;
/// What could be had of this order is asked at each moment.
const BLOCK_ORDER: u8 = 9;

/// Replays these rows: time, kind, slot, order, migrate type.
fn replayed(
    rows: &[(u64, PageKind, u32, u8, u8)],
    zones: Option<RecordedZones>,
    memory_bytes: u64,
) -> PageReplay {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    let mut writer = TraceWriter::create(&path).unwrap();
    for &(time_ns, kind, object, order, migrate_type) in rows {
        let (fallback_order, fallback_type, change_ownership) = match kind {
            AllocExtfrag => (10, 0, 1),
            _ => (NO_BYTE, NO_BYTE, NO_BYTE),
        };
        let page =
            RawPage { kind, order, migrate_type, fallback_order, fallback_type, change_ownership };
        let (gfp, stack, cpu, pid, pfn) = (0xcc0, NONE, 0, 7, NO_PAGE);
        writer.push_page(&PageEvent { time_ns, object, pid, gfp, stack, cpu, pfn, page }).unwrap();
    }
    let comms = [(7, "tar".to_owned())].into();
    let (page_bytes, cpus) = (4096, 1);
    let kernel_release = "6.12.1".to_owned();
    writer
        .finish(Meta { comms, zones, page_bytes, cpus, kernel_release, ..Meta::default() })
        .unwrap();
    let plan = RestPlan { aged: None, memory_bytes, order: Some(BLOCK_ORDER) };
    replay_pages(&TraceReader::open(path).unwrap(), plan, &mut |_| {}).unwrap()
}

#[test]
fn what_is_freed_is_as_free_as_before() {
    let rows = [
        (0, Alloc, 0, 4, 0),
        (10, Alloc, 1, 9, 1),
        (20, Free, 0, 4, NO_BYTE),
        (30, ImplicitFree, 1, 9, NO_BYTE),
        (3_000_000_000, Alloc, 1, 5, 1),
        (3_000_000_100, Free, 1, 4, NO_BYTE),
        (3_000_000_200, Free, 1, 4, NO_BYTE),
    ];
    let replay = replayed(&rows, None, 16 * MIB);
    assert!(!replay.is_start_recorded && replay.fit.is_none() && replay.failures.is_empty());
    assert_eq!((replay.rules.as_str(), replay.zones[0].managed), ("Linux 6.10 to 6.14", 4096));
    let last = replay.moments.last().unwrap();
    assert_eq!((replay.moments.len(), last.time_ns), (32, 3_000_000_200));
    let free = super::result::pages_of(&last.free_blocks);
    // The end is noted before its own events.
    assert_eq!(free + last.cpu_pages, 4096 - 16);
    assert_eq!(replay.fallbacks.len(), 1);
    assert_eq!((replay.fallbacks[0].simulated, replay.fallbacks[0].recorded), (1, 0));
}

#[test]
fn a_recorded_start_is_compared_with_what_was_read() {
    let zone = Zone {
        name: "Normal".into(),
        index: 2,
        spanned: 8192,
        managed: 8000,
        free_blocks: vec![vec![0; 11], vec![3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5]],
        blocks: vec![2, 14, 0, 0, 0, 0],
        ..Zone::default()
    };
    let start = Zones { zones: vec![zone], block_order: Some(9), time_ns: 5 };
    let reading = |time_ns, first| BuddyReading {
        time_ns,
        free_blocks: vec![vec![first, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5]],
    };
    let readings = vec![reading(5, 3), reading(15, 4)];
    let zones = RecordedZones { start, end: None, readings };
    let rows =
        [(10, Free, NONE, 10, NO_BYTE), (12, AllocExtfrag, NONE, 0, 1), (20, Alloc, NONE, 3, 0)];
    let replay = replayed(&rows, Some(zones), MIB);
    assert!(replay.is_start_recorded);
    assert_eq!(
        (replay.older_pages, replay.older_pages_unplaced, replay.unplaced_pages),
        (1024, 0, 0)
    );
    assert_eq!((replay.recorded_failures, replay.fallbacks[0].recorded), (1, 1));
    let fit = replay.fit.unwrap();
    assert_eq!((fit.moments, fit.off_share_median, fit.largest_right_share), (2, 0.0, 1.0));
    assert_eq!(fit.off_share_max, 1025.0 / 5124.0);
}

#[test]
fn what_finds_no_block_is_said_with_who_asked() {
    let rows: Vec<_> = (0..6).map(|slot| (u64::from(slot), Alloc, slot, 10, 1)).collect();
    let replay = replayed(&rows, None, 16 * MIB);
    let [failure] = &replay.failures[..] else { panic!("{:?}", replay.failures) };
    assert_eq!((failure.order, failure.program.as_str(), failure.count), (10, "tar", 2));
    assert_eq!(failure.first_ns, 4);
}
