//! Page events beside slab events: imported, stored, read, cut, and rewritten by another program.

use std::fs;
use std::path::{Path, PathBuf};

use slablab_trace::{
    Event, ImportOptions, Kind, Meta, NONE, PageEvent, PageKind, ROW_GROUP_ROWS, RawPage,
    TraceReader, TraceWriter, copy, import, keep, open,
};

/// A text of slab events and page events: `kinds` says which, one character each.
fn text(kinds: &str) -> String {
    let mut lines = String::from("# tracer: nop\n");
    for (time, kind) in kinds.chars().enumerate() {
        let event = match kind {
            'k' => {
                "kmalloc: call_site=f+0x1 ptr=0xffff888100000000 bytes_req=30 bytes_alloc=32 gfp_flags=GFP_KERNEL node=-1"
            }
            'f' => "kfree: call_site=g+0x2 ptr=0xffff888100000000",
            'a' => {
                "mm_page_alloc: page=0x40 pfn=0x40 order=2 migratetype=0 gfp_flags=GFP_KERNEL|__GFP_COMP"
            }
            'p' => "mm_page_free: page=0x41 pfn=0x41 order=0",
            'e' => "mm_page_free: page=0x40 pfn=0x40 order=2",
            'x' => "mm_page_alloc: page=(null) pfn=0x0 order=4 migratetype=1 gfp_flags=GFP_KERNEL",
            _ => "mm_page_pcpu_drain: page=0x9 pfn=0x9 order=0 migratetype=1",
        };
        lines += &format!("sh-7   [001] .....  1.{time:06}: {event}\n");
    }
    lines
}

fn imported(folder: &Path, kinds: &str) -> (PathBuf, Meta) {
    let (input, output) = (folder.join("in.txt"), folder.join(format!("{kinds}.parquet")));
    fs::write(&input, text(kinds)).unwrap();
    let meta = import(&ImportOptions::new(input, output.clone()), &mut |_| {}).unwrap();
    (output, meta)
}

fn pages(trace: &TraceReader) -> Vec<PageEvent> {
    trace.page_batches().flat_map(|batch| batch.unwrap().to_vec()).collect()
}

fn slabs(trace: &TraceReader) -> Vec<Event> {
    trace.batches().flat_map(|batch| batch.unwrap().events().collect::<Vec<_>>()).collect()
}

#[test]
fn slab_rows_are_the_same_with_and_without_page_rows_beside_them() {
    let folder = tempfile::tempdir().unwrap();
    let (with, meta) = imported(folder.path(), "kapfxedkf");
    let (without, bare) = imported(folder.path(), "kf");
    let trace = TraceReader::open(&with).unwrap();
    assert_eq!((meta.events, meta.schema_version, bare.pages.clone()), (4, 3, None));
    assert_eq!((bare.events, bare.schema_version), (2, 1));
    assert_eq!(slabs(&trace).iter().map(|row| row.kind).collect::<Vec<_>>(), {
        [Kind::Kmalloc, Kind::Kfree, Kind::Kmalloc, Kind::Kfree]
    });
    let counted = meta.pages.unwrap();
    // A block that was split and is freed as a whole is made up: both of its parts end unseen.
    assert_eq!((counted.events, counted.slots, counted.failed_allocs), (7, 1, 1));
    assert_eq!((counted.implicit_frees, counted.older_frees, counted.part_frees), (2, 1, 2));
    let rows = pages(&trace);
    let kinds: Vec<_> = rows.iter().map(|row| (row.page.kind, row.object)).collect();
    assert_eq!(kinds[..3], [(PageKind::Alloc, 0), (PageKind::Free, 0), (PageKind::Alloc, NONE)]);
    assert_eq!((rows[0].pid, rows[0].cpu, rows[0].gfp), (7, 1, 0x4_0cc0));
    let columns = |path: &Path| fs::read(path).unwrap();
    let has = |bytes: &[u8], word: &[u8]| bytes.windows(word.len()).any(|part| part == word);
    assert!(has(&columns(&with), b"migrate_type") && !has(&columns(&without), b"migrate_type"));
}

#[test]
fn a_trace_of_pages_alone_is_one_and_has_its_times() {
    let folder = tempfile::tempdir().unwrap();
    let (path, meta) = imported(folder.path(), "ape");
    assert_eq!(
        (meta.events, meta.time_first_ns, meta.time_last_ns),
        (0, 1_000_000_000, 1_000_002_000)
    );
    let trace = TraceReader::open(&path).unwrap();
    assert!(slabs(&trace).is_empty());
    assert_eq!(trace.meta(), &meta);
}

#[test]
fn a_copy_and_a_part_have_the_page_rows_too() {
    let folder = tempfile::tempdir().unwrap();
    let (path, meta) = imported(folder.path(), "kapfdxapkf");
    let trace = TraceReader::open(&path).unwrap();
    let again = folder.path().join("again.parquet");
    copy(&trace, TraceWriter::create(&again).unwrap(), &mut |_| {}).unwrap();
    assert_eq!(fs::read(&again).unwrap(), fs::read(&path).unwrap());
    let all = keep(&trace, &mut |_| true, &mut |_| {}).unwrap();
    assert_eq!((pages(&all), slabs(&all)), (pages(&trace), slabs(&trace)));
    assert_eq!(all.meta().pages, meta.pages);
    let none = keep(&trace, &mut |event| event.site != NONE, &mut |_| {}).unwrap();
    assert_eq!((pages(&none).len(), slabs(&none).len()), (0, 4));
    assert_eq!(none.meta().pages, None);
    let late = keep(&trace, &mut |event| event.time_ns > 1_000_005_000, &mut |_| {}).unwrap();
    let kinds: Vec<_> = pages(&late).iter().map(|row| row.page.kind).collect();
    assert_eq!(kinds, [PageKind::Alloc, PageKind::Free]);
}

/// The first page event may come when slab rows are in the file already, which has no columns for it.
#[test]
fn page_events_behind_many_slab_events_are_stored_as_if_they_had_come_first() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, page_at: usize| {
        let path = folder.path().join(name);
        let mut writer = TraceWriter::create(&path).unwrap();
        let (site, cache) = (writer.site("f+0x1", 1), writer.cache("c"));
        for row in 0..2 * ROW_GROUP_ROWS + 5 {
            if row == page_at {
                let page = RawPage {
                    kind: PageKind::Alloc,
                    order: 3,
                    migrate_type: 1,
                    fallback_order: u8::MAX,
                    fallback_type: u8::MAX,
                    change_ownership: u8::MAX,
                };
                let (time_ns, object, pid, gfp, stack, cpu, pfn) = (3, 0, 9, 0xcc0, NONE, 2, 64);
                writer
                    .push_page(&PageEvent { time_ns, object, pid, gfp, stack, cpu, pfn, page })
                    .unwrap();
            }
            let kind = if row % 2 == 0 { Kind::KmemCacheAlloc } else { Kind::KmemCacheFree };
            let (time_ns, object) = (row as u64, 0);
            let event = Event { time_ns, object, kind, site, cache, ..Event::EMPTY };
            writer.push(&event).unwrap();
        }
        writer.finish(Meta::default()).unwrap();
        fs::read(path).unwrap()
    };
    let [first, late] = [write("first", 0), write("late", ROW_GROUP_ROWS + 7)];
    assert!(first == late, "the order in which rows of the two kinds come leaves no trace");
    let trace = TraceReader::open(folder.path().join("late")).unwrap();
    assert_eq!((pages(&trace).len(), slabs(&trace).len()), (1, 2 * ROW_GROUP_ROWS + 5));
}

#[test]
fn damaged_page_rows_are_an_error_and_never_a_panic() {
    let folder = tempfile::tempdir().unwrap();
    let (path, _) = imported(folder.path(), "kapfdxapkf");
    let whole = fs::read(&path).unwrap();
    let damaged = folder.path().join("damaged.parquet");
    for place in (0..whole.len()).step_by(7) {
        let mut bytes = whole.clone();
        bytes[place] ^= 0x55;
        fs::write(&damaged, &bytes).unwrap();
        if let Ok(trace) = open(&damaged, &mut |_| {}) {
            trace.page_batches().take_while(Result::is_ok).for_each(drop);
            trace.batches().take_while(Result::is_ok).for_each(drop);
        }
    }
}
