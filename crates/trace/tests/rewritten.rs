//! Traces that another Parquet writer filtered or wrote anew are read and placed again.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, BooleanArray, Int32Array, Int64Array, RecordBatch, StringArray, UInt32Array,
};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use slablab_trace::synth::{SynthOptions, synth};
use slablab_trace::{
    Event, ImportOptions, Kind, META_KEY, Meta, NONE, SCHEMA_VERSION, TraceReader, import, open,
};

const EVENTS: u64 = 30_000;

fn events(trace: &TraceReader) -> Vec<Event> {
    trace.batches().flat_map(|batch| batch.unwrap().events().collect::<Vec<_>>()).collect()
}

/// A trace, and what it holds.
struct Fixture {
    folder: tempfile::TempDir,
    meta: Meta,
    rows: Vec<Event>,
}

impl Fixture {
    fn new() -> Fixture {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.parquet");
        let meta =
            synth(&path, &SynthOptions { events: EVENTS, ..SynthOptions::default() }, &mut |_| {});
        let rows = events(&TraceReader::open(&path).unwrap());
        Fixture { folder, meta: meta.unwrap(), rows }
    }

    /// Writes rows as another program would: strings as such, all signed and of 32 bits where they may be, the
    /// columns in another order and one more among them.
    fn write(&self, rows: &[Event], meta: Option<&Meta>, group_rows: usize) -> PathBuf {
        let alloc = |event: &Event| event.kind.is_alloc();
        let name = |id: u32, names: &[String]| names.get(id as usize).cloned();
        let sites: Vec<String> = self.meta.sites.iter().map(|site| site.name.clone()).collect();
        let caches: Vec<String> = self.meta.caches.iter().map(|cache| cache.name.clone()).collect();
        let text = |of: &dyn Fn(&Event) -> Option<String>| -> ArrayRef {
            Arc::new(rows.iter().map(of).collect::<StringArray>())
        };
        let int32 = |of: &dyn Fn(&Event) -> Option<i32>| -> ArrayRef {
            Arc::new(rows.iter().map(of).collect::<Int32Array>())
        };
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("cache", text(&|e| name(e.cache, &caches))),
            ("bytes_alloc", int32(&|e| alloc(e).then_some(e.bytes_alloc as i32))),
            ("thread_name", text(&|_| Some("worker".to_owned()))),
            ("kind", text(&|e| Some(e.kind.name().to_owned()))),
            ("object", int32(&|e| (e.object != NONE).then_some(e.object as i32))),
            ("is_new", Arc::new(rows.iter().map(|e| Some(alloc(e))).collect::<BooleanArray>())),
            ("site", text(&|e| name(e.site, &sites))),
            ("bytes_req", int32(&|e| alloc(e).then_some(e.bytes_req as i32))),
            (
                "gfp",
                Arc::new(rows.iter().map(|e| alloc(e).then_some(e.gfp)).collect::<UInt32Array>()),
            ),
            ("cpu", int32(&|e| Some(i32::from(e.cpu)))),
            ("node", int32(&|e| alloc(e).then_some(i32::from(e.node)))),
            (
                "time_ns",
                Arc::new(rows.iter().map(|e| Some(e.time_ns as i64)).collect::<Int64Array>()),
            ),
            ("pid", int32(&|e| Some(e.pid as i32))),
        ];
        let fields =
            columns.iter().map(|(name, array)| Field::new(*name, array.data_type().clone(), true));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let arrays = columns.iter().map(|(_, array)| Arc::clone(array)).collect();
        let batch = RecordBatch::try_new(Arc::clone(&schema), arrays).unwrap();
        let properties =
            WriterProperties::builder().set_max_row_group_row_count(Some(group_rows)).build();
        let path = self.folder.path().join("rewritten.parquet");
        let mut writer =
            ArrowWriter::try_new(File::create(&path).unwrap(), schema, Some(properties)).unwrap();
        writer.write(&batch).unwrap();
        if let Some(meta) = meta {
            let json = serde_json::to_string(meta).unwrap();
            writer.append_key_value_metadata(KeyValue::new(META_KEY.to_owned(), json));
        }
        writer.close().unwrap();
        path
    }
}

fn opened(path: &Path) -> TraceReader {
    open(path, &mut |_| {}).unwrap()
}

/// Checks that each object lives from its allocation to its free, and returns the live ones at the end.
fn check_lives(trace: &TraceReader) -> usize {
    let mut live = vec![false; trace.meta().object_slots as usize];
    for row in events(trace).iter().filter(|row| row.object != NONE) {
        assert_eq!(live[row.object as usize], row.kind.is_free(), "{row:?}");
        live[row.object as usize] = row.kind.is_alloc();
    }
    live.into_iter().filter(|live| *live).count()
}

#[test]
fn a_trace_of_the_next_version_written_by_another_program_is_read_as_it_is() {
    let fixture = Fixture::new();
    let next = Meta { schema_version: SCHEMA_VERSION + 1, ..fixture.meta.clone() };
    let path = fixture.write(&fixture.rows, Some(&next), 1000);
    let trace = TraceReader::open(&path).unwrap();
    assert_eq!(trace.meta(), &next);
    assert!(events(&trace) == fixture.rows);
    assert_eq!(trace.batches_without_pid().map(|b| b.unwrap().len() as u64).sum::<u64>(), EVENTS);
    let newer = Meta { reader_version_min: SCHEMA_VERSION + 1, ..next };
    let error = TraceReader::open(fixture.write(&fixture.rows, Some(&newer), 1000)).unwrap_err();
    let needed = format!("needs a reader of format version {}", SCHEMA_VERSION + 1);
    assert!(error.to_string().contains(&needed), "{error}");
}

#[test]
fn a_trace_without_metadata_gives_the_same_rows() {
    let fixture = Fixture::new();
    let trace = opened(&fixture.write(&fixture.rows, None, 7000));
    let names = |meta: &Meta, row: &Event| {
        let site = meta.sites.get(row.site as usize).map(|site| site.name.clone());
        (site, meta.caches.get(row.cache as usize).map(|cache| cache.name.clone()))
    };
    let rows = events(&trace);
    assert_eq!(rows.len(), fixture.rows.len());
    for (row, expected) in rows.iter().zip(&fixture.rows) {
        assert_eq!(names(trace.meta(), row), names(&fixture.meta, expected));
        assert_eq!(Event { site: 0, cache: 0, ..*row }, Event { site: 0, cache: 0, ..*expected });
    }
    assert_eq!((trace.meta().quality.unplaced(), trace.meta().cpus), (0, fixture.meta.cpus));
}

#[test]
fn rows_that_were_filtered_out_are_counted_and_the_rest_is_placed() {
    let fixture = Fixture::new();
    // Every third allocation and every fifth free are gone.
    let kept = |(number, row): &(usize, &Event)| match row.kind.is_alloc() {
        true => number % 3 != 0,
        false => number % 5 != 0,
    };
    let rows: Vec<Event> =
        fixture.rows.iter().enumerate().filter(kept).map(|(_, row)| *row).collect();
    for meta in [None, Some(&fixture.meta)] {
        let path = fixture.write(&rows, meta, 4000);
        let error = TraceReader::open(&path).unwrap_err().to_string();
        assert!(error.contains("slablab import FILE -o NEW"), "{error}");
        let trace = opened(&path);
        let (found, live) = (trace.meta(), check_lives(&trace));
        let of_kind = |kind: Kind| found.events_by_kind[kind as usize];
        let allocs = of_kind(Kind::Kmalloc) + of_kind(Kind::KmemCacheAlloc);
        let implicit = of_kind(Kind::ImplicitFree);
        assert_eq!(found.events, rows.len() as u64 + implicit);
        assert!(implicit > 0 && implicit == found.quality.implicit_frees);
        assert!(found.quality.older_frees > 0);
        let frees = found.events - allocs - found.quality.older_frees;
        assert_eq!(allocs - frees, live as u64);
        let counted: u64 = found.caches.iter().map(|cache| cache.allocs).sum();
        assert_eq!(counted, of_kind(Kind::KmemCacheAlloc));
        assert_eq!(found.kernel_release, meta.map_or("", |meta| &meta.kernel_release));
    }
}

#[test]
fn rows_in_another_order_are_sorted() {
    let fixture = Fixture::new();
    let rows: Vec<Event> = fixture.rows.chunks(100).rev().flatten().copied().collect();
    let trace = opened(&fixture.write(&rows, None, 1000));
    let times_ns = |rows: &[Event]| rows.iter().map(|row| row.time_ns).collect::<Vec<_>>();
    assert_eq!(times_ns(&events(&trace)), times_ns(&fixture.rows));
    assert!(trace.meta().quality.disordered > 0);
    check_lives(&trace);
}

#[test]
fn an_imported_filtered_trace_is_a_trace_for_every_reader() {
    let fixture = Fixture::new();
    let path = fixture.write(&fixture.rows[1000..20_000], Some(&fixture.meta), 1000);
    let output = fixture.folder.path().join("new.parquet");
    let meta = import(&ImportOptions::new(path, &output), &mut |_| {}).unwrap();
    let trace = TraceReader::open(&output).unwrap();
    assert_eq!(trace.meta(), &meta);
    assert_eq!(events(&trace).len() as u64, meta.events);
    assert_eq!(meta.sites.iter().filter(|site| site.address == 0).count(), 0);
}

#[test]
fn parquet_of_something_else_is_refused_by_the_column_that_it_lacks() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("other.parquet");
    let schema = Arc::new(Schema::new(vec![Field::new("time_ns", DataType::Int64, false)]));
    let mut writer =
        ArrowWriter::try_new(File::create(&path).unwrap(), Arc::clone(&schema), None).unwrap();
    let column: ArrayRef = Arc::new(Int64Array::from(vec![1]));
    writer.write(&RecordBatch::try_new(schema, vec![column]).unwrap()).unwrap();
    writer.close().unwrap();
    let error = open(&path, &mut |_| {}).unwrap_err().to_string();
    assert!(error.contains("not a slablab trace (no column cpu)"), "{error}");
}

#[test]
fn a_version_of_0_is_called_none_and_not_newer() {
    let fixture = Fixture::new();
    let none = Meta { schema_version: 0, ..fixture.meta.clone() };
    let error = TraceReader::open(fixture.write(&fixture.rows, Some(&none), 1000)).unwrap_err();
    assert!(error.to_string().contains("names no version of the format (0)"), "{error}");
}

#[test]
fn more_cpus_than_linux_can_have_are_refused_when_read() {
    let fixture = Fixture::new();
    let many = Meta { cpus: 4_000_000_000, ..fixture.meta.clone() };
    let error = TraceReader::open(fixture.write(&fixture.rows, Some(&many), 1000)).unwrap_err();
    assert!(error.to_string().contains("names 4000000000 CPUs"), "{error}");
}
