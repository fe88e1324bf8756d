//! Texts of perf script, trace-cmd report and tracefs, good and broken, imported end to end.

use std::path::PathBuf;

use slablab_trace::{Event, Format, ImportOptions, Kind, Meta, NONE, TraceReader, import};

struct Imported {
    meta: Meta,
    rows: Vec<Event>,
}

fn import_file(input: PathBuf, format: Option<Format>) -> Result<Imported, String> {
    let directory = tempfile::tempdir().unwrap();
    let output = directory.path().join("t.parquet");
    let options = ImportOptions { format, ..ImportOptions::new(input, output.clone()) };
    let meta = import(&options, &mut |_| {}).map_err(|error| {
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0, "half-written");
        error.to_string()
    })?;
    let reader = TraceReader::open(&output).unwrap();
    assert_eq!(reader.meta(), &meta);
    let rows = reader.batches().flat_map(|b| b.unwrap().events().collect::<Vec<_>>()).collect();
    Ok(Imported { meta, rows })
}

fn import_text(text: &[u8]) -> Result<Imported, String> {
    let directory = tempfile::tempdir().unwrap();
    let input = directory.path().join("in.txt");
    std::fs::write(&input, text).unwrap();
    import_file(input, Some(Format::PerfScript))
}

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/text").join(name)
}

fn line(cpu: u32, time: &str, rest: &str) -> String {
    format!("perf 7 [{cpu:03}] {time}: kmem:{rest}\n")
}

const ALLOC: &str = "kmalloc: call_site=f+0x1 ptr=0xffff888100000000 bytes_req=30 bytes_alloc=32 \
    gfp_flags=GFP_KERNEL node=-1 accounted=false";
const FREE: &str = "kfree: call_site=g+0x2 ptr=0xffff888100000000";

/// Linux 6.12 reports a large block twice: a pipe of 1 MiB used to have a call site inside the allocator, and an
/// implicit free.
#[test]
fn a_large_block_counts_once_under_the_site_that_asked() {
    let block = |site: &str| {
        format!(
            "kmalloc: call_site={site} ptr=0xffff888100000000 bytes_req=10240 bytes_alloc=16384 gfp_flags=GFP_KERNEL_ACCOUNT \
             node=-1 accounted=true"
        )
    };
    let mut text = line(0, "1.000001", &block("__kmalloc_noprof+0x2e2"));
    text += &line(1, "1.000002", ALLOC);
    text += &line(0, "1.000003", &block("pipe_resize_ring+0x31"));
    text += &line(0, "1.000009", FREE);
    let Imported { meta, rows } =
        import_text(text.replace(ALLOC, &ALLOC.replace("8881", "8882")).as_bytes()).unwrap();
    let sites: Vec<_> = meta.sites.iter().map(|site| site.name.as_str()).collect();
    assert_eq!(sites, ["f+0x1", "pipe_resize_ring+0x31", "g+0x2"]);
    assert_eq!((rows.len(), meta.quality.implicit_frees), (3, 0));
}

#[test]
fn a_slabinfo_names_caches_whose_objects_were_never_freed() {
    let Imported { rows, .. } = import_file(fixture("trace-6.1.txt"), None).unwrap();
    let nameless = |row: &&Event| row.kind == Kind::KmemCacheAlloc && row.cache == NONE;
    let bytes = rows.iter().find(nameless).unwrap().bytes_alloc;
    let directory = tempfile::tempdir().unwrap();
    let slabinfo = format!(
        "slabinfo - version: 2.1\n# name\n\
         never_freed 1 8 {bytes} 8 1 : tunables 0 0 0 : slabdata 1 1 0\n"
    );
    let output = directory.path().join("t.parquet");
    let options = ImportOptions {
        slabinfo: Some(slabinfo.clone()),
        ..ImportOptions::new(fixture("trace-6.1.txt"), output)
    };
    let meta = import(&options, &mut |_| {}).unwrap();
    assert!(meta.caches.iter().any(|cache| cache.name == "never_freed" && cache.allocs > 0));
    assert_eq!(meta.slabs_end.unwrap().slabinfo, slabinfo);
}

#[test]
fn caches_of_6_1_come_from_the_frees_and_from_allocations_alike() {
    let Imported { meta, rows } = import_file(fixture("trace-6.1.txt"), None).unwrap();
    let cache = |row: &Event| match row.cache {
        NONE => "",
        id => &meta.caches[id as usize].name,
    };
    let allocs: Vec<_> =
        rows.iter().filter(|r| r.kind == Kind::KmemCacheAlloc).map(cache).collect();
    // Named by its free; never freed and unlike any other; like the first; never freed.
    assert_eq!(allocs, ["names_cache", "", "names_cache", ""]);
    let quality = &meta.quality;
    assert_eq!((quality.caches_inferred, quality.caches_unknown), (2, 2));
    assert_eq!((quality.older_frees, quality.null_frees, quality.implicit_frees), (1, 1, 1));
    assert_eq!((quality.lost_total(), quality.skipped_total(), meta.cpus), (2, 0, 2));
    let names = meta.caches.iter().find(|cache| cache.name == "names_cache").unwrap();
    assert_eq!((names.allocs, names.frees, names.inferred), (2, 1, 2));
    assert!(meta.sites.iter().any(|site| site.name == "ext4_htree_store+0x2e [ext4]"));
    assert_eq!((rows[2].bytes_req, rows[2].gfp, rows[2].pid), (49, 0xdc0, 101));
}

#[test]
fn a_slot_is_live_from_its_allocation_to_its_free() {
    let Imported { meta, rows } = import_file(fixture("trace-6.1.txt"), None).unwrap();
    let mut live = vec![false; meta.object_slots as usize];
    for row in rows.iter().filter(|row| row.object != NONE) {
        assert_eq!(live[row.object as usize], row.kind.is_free(), "{row:?}");
        live[row.object as usize] = row.kind.is_alloc();
    }
    assert!(rows.iter().any(|row| row.kind == Kind::ImplicitFree));
}

/// The beginning of what trace-cmd 3.1.6 reports of `ls /` on 6.18.
#[test]
fn trace_cmd_report_is_read_whole() {
    let Imported { meta, rows } = import_file(fixture("trace-cmd-report.txt"), None).unwrap();
    assert_eq!((meta.source.as_str(), meta.cpus, rows.len()), ("trace-cmd", 2, 50));
    let live = rows.iter().filter(|row| row.kind.is_alloc()).count() * 2 - rows.len();
    assert_eq!((live, meta.quality.unplaced(), meta.quality.null_frees), (2, 0, 0));
    let last = rows.last().unwrap();
    assert_eq!(meta.caches[last.cache as usize].name, "filp");
    assert_eq!((last.pid, last.bytes_req, last.bytes_alloc), (19914, 184, 192));
    // GFP_KERNEL, and accounted.
    assert_eq!(last.gfp, 0x40_0cc0);
    assert_eq!(meta.sites[last.site as usize].name, "alloc_empty_file+0x3c");
}

#[test]
fn a_hidden_address_is_no_call_site() {
    let hidden = ["0", "0x0", "(____ptrval____)", "(null)", "(nil)"];
    for site in hidden {
        let text =
            line(0, "1.0", &ALLOC.replacen("call_site=", &format!("call_site={site} x="), 1));
        let Imported { meta, rows } = import_text(text.as_bytes()).unwrap();
        assert_eq!((rows.len(), rows[0].site, meta.sites.len()), (1, NONE, 0), "{site}");
    }
}

#[test]
fn losses_that_trace_cmd_reports_are_counted_by_cpu() {
    let text = format!("cpus=2\n{}CPU:1 [7 EVENTS DROPPED]\n", line(0, "1.0", ALLOC));
    assert_eq!(import_text(text.as_bytes()).unwrap().meta.quality.lost, [0, 7]);
}

/// The number behind `cpus=` counts CPUs that are online; with every second thread of a core off, half of the events
/// used to be left out.
#[test]
fn cpus_have_numbers_beyond_how_many_are_online() {
    let text = |cpu| format!("cpus=2\n{}", line(cpu, "1.0", ALLOC));
    let Imported { meta, rows } = import_text(text(6).as_bytes()).unwrap();
    assert_eq!((rows.len(), meta.cpus), (1, 7));
    let refused = import_text(text(9000).as_bytes()).err().unwrap();
    assert!(refused.contains("1 skipped as `CPU number beyond the machine`"), "{refused}");
}

/// The sum used to overflow, so that 6.6e17 of the events could not be placed.
#[test]
fn no_more_than_all_events_are_not_placed() {
    let lost = format!("CPU:1 [{} EVENTS DROPPED]\n", u64::MAX);
    let text = format!("cpus=2\n{}{lost}{lost}", line(0, "1.0", ALLOC));
    assert_eq!(import_text(text.as_bytes()).unwrap().meta.unplaced_share(), 1.0);
}

/// Rows do not tell a free of NULL from one of an object older than the recording; the trace's own counts do.
#[test]
fn all_of_a_trace_as_a_part_of_it_is_as_good_as_the_trace() {
    let null = "kfree: call_site=g+0x2 ptr=(nil)";
    let older = FREE.replace("8100000000", "8100ffff00");
    let mut text = String::new();
    for at in 0..7 {
        let free = if at % 3 == 1 { older.as_str() } else { null };
        text += &line(0, &format!("1.{at:06}"), free);
    }
    text += &line(0, "2.0", ALLOC);
    // The address is given out again.
    text += &line(0, "3.0", ALLOC);
    let directory = tempfile::tempdir().unwrap();
    let input = directory.path().join("in.txt");
    std::fs::write(&input, text).unwrap();
    let whole = slablab_trace::open(&input, &mut |_| {}).unwrap();
    let quality = &whole.meta().quality;
    assert_eq!((quality.null_frees, quality.older_frees, quality.implicit_frees), (5, 2, 1));
    let part = slablab_trace::keep(&whole, &mut |_| true, &mut |_| {}).unwrap();
    assert_eq!(&part.meta().quality, quality);
    let once_more = slablab_trace::keep(&part, &mut |_| true, &mut |_| {}).unwrap();
    assert_eq!(&once_more.meta().quality, quality);
}

#[test]
fn broken_lines_are_skipped_with_reason_and_place() {
    let mut text = line(0, "1.000001", ALLOC).into_bytes();
    text.extend(b"\0\0\0garbage\r\n\r\n");
    text.extend(line(0, "1.000002", "kmalloc: call_site=f+0x1 ptr=0xf").bytes());
    text.extend(
        line(0, "1.000003", "kmalloc: call_site=f ptr=(____ptrval____) bytes_req=1").bytes(),
    );
    text.extend(line(9000, "1.000004", FREE).bytes());
    let huge = ALLOC.replace("bytes_req=30", "bytes_req=9223372036854775808");
    text.extend(line(0, "1.000005", &huge).bytes());
    text.extend(line(0, "1.000006", FREE).replace('\n', "\r\n").bytes());
    let Imported { meta, rows } = import_text(&text).unwrap();
    assert_eq!(rows.len(), 2);
    assert_eq!((rows[0].object, rows[1].object), (0, 0));
    let skipped: Vec<_> = meta
        .quality
        .skipped
        .iter()
        .map(|s| (s.reason.as_str(), s.count, s.first.as_str()))
        .collect();
    assert_eq!(
        skipped,
        [
            ("line is no event", 1, "line 2"),
            ("line is cut short before bytes_alloc", 1, "line 4"),
            ("pointer is hidden (write 0 to options/hash-ptr before tracing)", 1, "line 5"),
            ("CPU number beyond the machine", 1, "event 1"),
            ("size of more than 1 TiB", 1, "event 1"),
        ]
    );
}

#[test]
fn time_that_goes_backwards_is_counted_and_mended() {
    let text = line(0, "2.0", ALLOC) + &line(0, "1.0", FREE) + &line(1, "1.5", FREE);
    let Imported { meta, rows } = import_text(text.as_bytes()).unwrap();
    assert_eq!(meta.quality.disordered, 1);
    assert!(rows.is_sorted_by_key(|row| row.time_ns));
    assert_eq!(meta.quality.older_frees, 2);
}

#[test]
fn an_allocation_of_nothing_has_no_object() {
    let zero = "kmalloc: call_site=f+0x1 ptr=0x10 bytes_req=0 bytes_alloc=0 gfp_flags=none node=-1";
    let text = line(0, "1.0", zero) + &line(0, "2.0", "kfree: call_site=g ptr=0x10");
    let Imported { meta, rows } = import_text(text.as_bytes()).unwrap();
    assert!(rows.iter().all(|row| row.object == NONE));
    assert_eq!((meta.quality.zero_allocs, meta.quality.null_frees, meta.object_slots), (1, 1, 0));
}

#[test]
fn without_a_usable_event_the_most_common_reason_is_the_error() {
    let hidden = ALLOC.replace("0xffff888100000000", "(____ptrval____)");
    let error = import_text(line(0, "1.0", &hidden).as_bytes()).err().unwrap();
    assert!(error.contains("in.txt: no event could be used: 1 skipped"), "{error}");
    assert!(error.contains("pointer is hidden") && error.contains("line 1"), "{error}");
    let error = import_text(b"# nothing\n").err().unwrap();
    assert!(error.contains("holds no kmem events"), "{error}");
}

#[test]
fn a_recording_of_other_events_is_told_by_what_it_holds() {
    let other = |name: &str| line(0, "1.0", &format!("{name}: member=1 mm_id=7"));
    let text = ["rss_stat", "mm_shrink"].map(other).concat();
    let error = import_text(text.as_bytes()).err().unwrap();
    let said = "holds no event of slabs or pages: its events are kmem:mm_shrink and kmem:rss_stat";
    assert!(error.contains(said), "{error}");
}

#[test]
fn more_cpus_than_linux_can_have_are_refused_at_import() {
    let text = format!("cpus=4000000000\n{}", line(0, "1.0", ALLOC));
    let error = import_text(text.as_bytes()).err().unwrap();
    assert!(error.contains("in.txt: names 4000000000 CPUs, and Linux has at most 8192"), "{error}");
}

/// An allocation without a name that is never freed holds up nothing.
#[test]
fn late_and_missing_frees_name_caches_as_in_one_pass() {
    let alloc = ALLOC.replacen("kmalloc:", "kmem_cache_alloc:", 1);
    let at = |number: u64| format!("ptr=0xffff8881{:08x}", number * 64);
    let mut text = String::new();
    for number in 0..40_000 {
        let time = format!("{}.{:06}", 1 + number / 1000, number % 1000);
        text += &line(0, &time, &alloc.replace("ptr=0xffff888100000000", &at(number)));
    }
    for number in (0..40_000).step_by(2) {
        let time = format!("{}.{:06}", 100 + number / 1000, number % 1000);
        let free = format!("kmem_cache_free: call_site=g+0x2 {} name=filp", at(number));
        text += &line(1, &time, &free);
    }
    let Imported { meta, rows } = import_text(text.as_bytes()).unwrap();
    assert_eq!((rows.len(), meta.caches.len()), (60_000, 1));
    assert!(rows.iter().all(|row| row.cache == 0));
    let filp = &meta.caches[0];
    assert_eq!((filp.allocs, filp.frees, filp.inferred), (40_000, 20_000, 40_000));
    assert_eq!((meta.quality.caches_inferred, meta.quality.caches_unknown), (40_000, 0));
}

#[test]
fn foreign_files_are_told_by_name() {
    let directory = tempfile::tempdir().unwrap();
    let error_of = |content: &[u8]| {
        let input = directory.path().join("in");
        std::fs::write(&input, content).unwrap();
        import_file(input, None).err().unwrap()
    };
    assert!(error_of(b"").contains("the file is empty"));
    assert!(error_of(b"PAR1....").contains("is not a Parquet file, or is cut short"));
    assert!(error_of(b"\x17\x08\x44tracing6\0").contains("cut short before its events"));
    assert!(error_of(b"\x1f\x8b\x08").contains("gzip compressed is cut short or damaged"));
    assert!(error_of(b"\x28\xb5\x2f\xfd\0").contains("zstd compressed is cut short or damaged"));
    assert!(error_of(b"\xfd7zXZ").contains("unxz it first"));
    assert!(error_of(b"hello\n").contains("in no format that can be read"));
    assert!(error_of(b"2ELIFREP").contains("big-endian"));
    assert!(error_of(b"PERFILE2").contains("cut short within its header"));
    assert!(import_file(directory.path().into(), None).err().unwrap().contains("is a directory"));
    assert!(import_file("/no/such".into(), None).err().unwrap().contains("/no/such: cannot open"));
}

#[test]
fn comments_of_ours_tell_of_the_machine_and_place_frees_that_made_no_event() {
    // Two objects older than the first event, three made, one seen to be freed: four if nothing were freed unseen.
    let slabs = |used| format!("c {used} 6 64 2 1 : tunables 0 0 0 : slabdata 3 3 0");
    let alloc = |second: u32, ptr: u32| {
        let ptr = format!("ptr=00000000{ptr:08x} name=c bytes_req=64 bytes_alloc=64");
        format!(
            "a-7 [000] ..... {second}.000000: kmem_cache_alloc: call_site=f+0x1/0x2 {ptr} gfp_flags=GFP_KERNEL node=-1 \
             accounted=false\n"
        )
    };
    let mut text = String::from(
        "# slablab release 7.3.4\n# slablab arch aarch64\n# slablab page_bytes 16384\n",
    );
    for (at, used) in [("2.50", 5), ("9.00", 6)] {
        text.push_str(&format!("# slablab sample {at}\n# slablab slabs {}\n", slabs(used)));
    }
    text.push_str(&format!("# slablab living {}\n# tracer: nop\n", slabs(3)));
    (1..=7).for_each(|n| text.push_str(&alloc(n, 64 * n)));
    text.push_str(
        "a-7 [000] ..... 8.000000: kmem_cache_free: call_site=f+0x1/0x2 ptr=00000000000000c0 name=c\n",
    );
    let directory = tempfile::tempdir().unwrap();
    let input = directory.path().join("in.txt");
    std::fs::write(&input, &text).unwrap();
    let imported = import_file(input, None).unwrap();
    let meta = &imported.meta;
    assert_eq!((meta.kernel_release.as_str(), meta.arch.as_str()), ("7.3.4", "aarch64"));
    assert_eq!((meta.page_bytes, meta.samples.caches["c"].slab_bytes), (16384, 16384));
    let estimated = imported.rows.iter().filter(|row| row.kind == Kind::EstimatedFree);
    assert_eq!(estimated.map(|row| row.object).collect::<Vec<_>>(), [0, 1, 3]);
    assert_eq!(meta.samples.caches["c"].at(2), (3, 3));

    // One object more than the events tell of was there before them.
    let living = |used| format!("living {}", slabs(used));
    let more = text.replace(&living(3), &living(7)).replace(&slabs(6), &slabs(8));
    let input = directory.path().join("more.txt");
    std::fs::write(&input, more).unwrap();
    let imported = import_file(input, None).unwrap();
    assert_eq!(imported.meta.samples.caches["c"].at(0), (1, 1));
    assert_eq!(imported.meta.quality.estimated_frees, 0);
}
