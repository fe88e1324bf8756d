//! Page events with the slabs of replays in place of those recorded.

use slablab_linux::Gfp;
use slablab_trace::{
    Event, Kind, Meta, NO_BYTE, NO_PAGE, NONE, PageEvent, PageKind, RawPage, TraceReader,
    TraceWriter, Zone, Zones,
};
use tempfile::TempDir;

use super::plan::RestPlan;
use super::rest::{RestOfMachine, rest_of_machine};
use super::slab_owners::SlabOwners;
use crate::metrics::result::Allocator;
use crate::metrics::slab_pages::{SlabCache, SlabPage, SlabPages};
use PageKind::{Alloc, Free};

/// What SLUB asks for a slab with, and a program for its memory
const OF_SLAB: u32 = Gfp::KERNEL.0 | Gfp::COMP.0 | Gfp::NOWARN.0 | Gfp::NORETRY.0;
const OF_PROGRAM: u32 = 0x14_0cca;

/// A trace of page rows (time, kind, slot, order, flags, migrate type) and of objects given from caches "item" and "other"
/// (time, cache).
fn trace(
    pages: &[(u64, PageKind, u32, u8, u32, u8)],
    objects: &[(u64, u32)],
) -> (TempDir, TraceReader) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    let mut writer = TraceWriter::create(&path).unwrap();
    _ = ["item", "other"].map(|name| writer.cache(name));
    for (object, &(time_ns, cache)) in (0..).zip(objects) {
        let (kind, bytes) = (Kind::KmemCacheAlloc, 64);
        let event = Event { time_ns, kind, cache, object, bytes_req: bytes, ..Event::EMPTY };
        writer.push(&Event { bytes_alloc: bytes, site: NONE, ..event }).unwrap();
    }
    for &(time_ns, kind, object, order, gfp, migrate_type) in pages {
        let (fallback_order, fallback_type, change_ownership) = (NO_BYTE, NO_BYTE, NO_BYTE);
        let page =
            RawPage { kind, order, migrate_type, fallback_order, fallback_type, change_ownership };
        let (stack, cpu, pid, pfn) = (NONE, 0, 7, NO_PAGE);
        writer.push_page(&PageEvent { time_ns, object, pid, gfp, stack, cpu, pfn, page }).unwrap();
    }
    let kernel_release = "6.12.1".to_owned();
    let meta = Meta { page_bytes: 4096, cpus: 1, kernel_release, ..Meta::default() };
    writer.finish(meta).unwrap();
    let reader = TraceReader::open(path).unwrap();
    (folder, reader)
}

/// An allocator whose cache "item" made slabs at these times, and gave back those with a second time.
fn slabs(order: u8, times: &[(u64, Option<u64>)]) -> Allocator {
    let (gfp, cpu) = (Gfp::KERNEL.0, 0);
    let mut changes = Vec::new();
    for (slab, &(made_ns, gone_ns)) in (0..).zip(times) {
        changes.push(SlabPage { time_ns: made_ns, slab, cache: 0, gfp, cpu });
        let gone = gone_ns.map(|time_ns| SlabPage { time_ns, slab, cache: NONE, gfp: 0, cpu });
        changes.extend(gone);
    }
    changes.sort_by_key(|change| change.time_ns);
    let caches = vec![SlabCache { name: "item".to_owned(), order, order_min: 0 }];
    let slab_pages = SlabPages { changes, caches };
    Allocator { allocator: "slub".to_owned(), slab_pages, ..Allocator::default() }
}

fn rest(
    trace: &TraceReader,
    aged: Option<&Zones>,
    before: &Allocator,
    after: &Allocator,
) -> RestOfMachine {
    let plan = RestPlan { aged, memory_bytes: 16 << 20, order: None };
    rest_of_machine(trace, plan, before, Some(after), &mut |_| {}).unwrap()
}

#[test]
fn pages_belong_to_the_cache_of_the_object_behind_them() {
    let pages = [
        (10, Alloc, 0, 0, OF_SLAB, 0),
        (12, Alloc, 1, 0, OF_PROGRAM, 1),
        (14, Alloc, 2, 2, OF_SLAB & !Gfp::COMP.0, 0),
        (16, Alloc, 3, 0, OF_SLAB | Gfp::ZERO.0, 0),
        (20, Alloc, 4, 1, OF_SLAB, 2),
    ];
    let (_folder, reader) = trace(&pages, &[(11, 1), (21, 0)]);
    let owners = SlabOwners::of(&reader).unwrap();
    let names = |place: u32| owners.caches[place as usize].as_str();
    let found: Vec<_> = owners.rows.iter().map(|(row, cache)| (*row, names(*cache))).collect();
    assert_eq!(found, [(0, "other"), (4, "item")]);
    let types: Vec<_> = ["item", "other"].map(|name| owners.types[name] as u8).to_vec();
    assert_eq!(types, [2, 0]);
}

#[test]
fn slabs_of_a_higher_order_leave_the_rest_less() {
    let pages = [
        (10, Alloc, 0, 0, OF_SLAB, 0),
        (20, Alloc, 1, 0, OF_PROGRAM, 1),
        (30, Alloc, 2, 0, OF_SLAB, 0),
        (40, Free, 0, 0, 0, NO_BYTE),
        (90, Free, 1, 0, 0, NO_BYTE),
    ];
    let (_folder, reader) = trace(&pages, &[(11, 0), (31, 0)]);
    let times = [(11, Some(40)), (31, None)];
    let rest = rest(&reader, None, &slabs(0, &times), &slabs(3, &times));
    let end = |of: &crate::PageReplay| {
        let end = of.moments.last().unwrap().clone();
        (end.slab_pages, crate::pages_of(&end.free_blocks) + end.cpu_pages)
    };
    let (recorded, after) = (rest.recorded.as_ref().unwrap(), rest.after.as_ref().unwrap());
    // What is noted at the end is noted before the last event.
    assert_eq!(end(recorded), (Some(1), 4096 - 2));
    assert_eq!((end(&rest.before), end(after)), (end(recorded), (Some(8), 4096 - 9)));
    let apart = rest.apart.unwrap();
    assert_eq!((apart.recorded_pages_end, apart.replayed_pages_end), (1, 1));
    assert_eq!((apart.off_share_median, apart.slabs, apart.slabs_of_unknown_caches), (0.0, 2, 0));
    let owners: Vec<_> = after.frames.last().unwrap().cells.iter().map(|cell| cell.owner).collect();
    assert_eq!((owners.len(), after.frames.len()), (8, 4));
}

/// A zone of 16 MiB that has 64 free pages.
fn aged() -> Zones {
    let zone = Zone {
        name: "Normal".into(),
        index: 2,
        spanned: 4096,
        managed: 4096,
        free_blocks: vec![vec![40, 12], vec![0; 11]],
        ..Zone::default()
    };
    Zones { zones: vec![zone], block_order: Some(9), time_ns: 0 }
}

#[test]
fn a_slab_without_a_block_of_its_order_gets_small_ones_on_an_aged_machine() {
    let (_folder, reader) = trace(&[], &[(10, 0), (900, 0)]);
    let times = [(10, None), (20, None), (30, Some(800))];
    let rest = rest(&reader, Some(&aged()), &slabs(1, &times), &slabs(3, &times));
    assert!(rest.recorded.is_none() && rest.apart.is_none());
    let (before, after) = (&rest.before, rest.after.as_ref().unwrap());
    assert!(before.is_start_recorded && before.slab_fallbacks.is_empty());
    let [fallback] = &after.slab_fallbacks[..] else { panic!("{:?}", after.slab_fallbacks) };
    assert_eq!((fallback.cache.as_str(), fallback.order, fallback.order_min), ("item", 3, 0));
    assert_eq!((fallback.count, fallback.first_ns), (3, 0));
    let pages = |of: &crate::PageReplay| of.moments.last().unwrap().slab_pages;
    assert_eq!((pages(before), pages(after), before.moments.len()), (Some(4), Some(16), 32));
    assert!(after.failures.is_empty());
}

#[test]
fn a_slab_that_finds_no_block_at_all_is_said_with_its_cache() {
    let (_folder, reader) = trace(&[], &[(10, 0), (900, 0)]);
    let times: Vec<_> = (10..80).map(|time_ns| (time_ns, None)).collect();
    let rest = rest(&reader, Some(&aged()), &slabs(0, &[]), &slabs(0, &times));
    let [failure] = &rest.after.as_ref().unwrap().failures[..] else { panic!("{rest:?}") };
    assert_eq!((failure.cache.as_str(), failure.order, failure.count), ("item", 0, 6));
}
