//! Traces that another Parquet writer filtered or wrote anew are read and placed again.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::{ConvertedType, Encoding, Repetition, Type as Physical};
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type,
};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{ColumnPath, Type};
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

    /// Writes rows as another program would: all signed and of 32 bits where they may be, the columns in another order
    /// and one more among them.
    fn write(&self, rows: &[Event], meta: Option<&Meta>, group_rows: usize) -> PathBuf {
        self.write_with(rows, meta, group_rows, WriterProperties::builder())
    }

    /// Does so with properties of the file.
    fn write_with(
        &self,
        rows: &[Event],
        meta: Option<&Meta>,
        group_rows: usize,
        properties: WriterPropertiesBuilder,
    ) -> PathBuf {
        let path = self.folder.path().join("rewritten.parquet");
        let fields = self.columns(&[]).into_iter().map(|(name, values)| values.field(name));
        let schema =
            Type::group_type_builder("schema").with_fields(fields.map(Arc::new).collect()).build();
        let file = File::create(&path).unwrap();
        let (schema, properties) = (Arc::new(schema.unwrap()), Arc::new(properties.build()));
        let mut writer = SerializedFileWriter::new(file, schema, properties).unwrap();
        for rows in rows.chunks(group_rows) {
            let mut group = writer.next_row_group().unwrap();
            for (_, values) in self.columns(rows) {
                let mut column = group.next_column().unwrap().unwrap();
                values.write(&mut column);
                column.close().unwrap();
            }
            group.close().unwrap();
        }
        if let Some(meta) = meta {
            let json = serde_json::to_string(meta).unwrap();
            writer.append_key_value_metadata(KeyValue::new(META_KEY.to_owned(), json));
        }
        writer.close().unwrap();
        path
    }

    fn columns(&self, rows: &[Event]) -> Vec<(&'static str, Values)> {
        let alloc = |event: &Event| event.kind.is_alloc();
        let name = |id: u32, names: &[String]| names.get(id as usize).cloned();
        let sites: Vec<String> = self.meta.sites.iter().map(|site| site.name.clone()).collect();
        let caches: Vec<String> = self.meta.caches.iter().map(|cache| cache.name.clone()).collect();
        let text = |of: &dyn Fn(&Event) -> Option<String>| {
            let bytes = |event| of(event).map(|text| ByteArray::from(text.into_bytes()));
            Values::Texts(rows.iter().map(bytes).collect())
        };
        let int32 = |of: &dyn Fn(&Event) -> Option<i32>| {
            Values::Int32(ConvertedType::NONE, rows.iter().map(of).collect())
        };
        let gfp = rows.iter().map(|e| alloc(e).then_some(e.gfp as i32));
        let node = rows.iter().map(|e| alloc(e).then_some(f64::from(e.node)));
        vec![
            ("cache", text(&|e| name(e.cache, &caches))),
            ("bytes_alloc", int32(&|e| alloc(e).then_some(e.bytes_alloc as i32))),
            ("thread_name", text(&|_| Some("worker".to_owned()))),
            ("kind", text(&|e| Some(e.kind.name().to_owned()))),
            ("object", int32(&|e| (e.object != NONE).then_some(e.object as i32))),
            ("is_new", Values::Flags(rows.iter().map(|e| Some(alloc(e))).collect())),
            ("site", text(&|e| name(e.site, &sites))),
            ("bytes_req", int32(&|e| alloc(e).then_some(e.bytes_req as i32))),
            ("gfp", Values::Int32(ConvertedType::UINT_32, gfp.collect())),
            ("cpu", int32(&|e| Some(i32::from(e.cpu)))),
            ("node", Values::Doubles(node.collect())),
            ("time_ns", Values::Int64(rows.iter().map(|e| Some(e.time_ns as i64)).collect())),
            ("pid", int32(&|e| Some(e.pid as i32))),
        ]
    }
}

/// The values of a column, as another program has them.
enum Values {
    Texts(Vec<Option<ByteArray>>),
    Int32(ConvertedType, Vec<Option<i32>>),
    Int64(Vec<Option<i64>>),
    Doubles(Vec<Option<f64>>),
    Flags(Vec<Option<bool>>),
}

impl Values {
    fn field(&self, name: &str) -> Type {
        let (physical, noted) = match self {
            Values::Texts(_) => (Physical::BYTE_ARRAY, ConvertedType::UTF8),
            Values::Int32(noted, _) => (Physical::INT32, *noted),
            Values::Int64(_) => (Physical::INT64, ConvertedType::NONE),
            Values::Doubles(_) => (Physical::DOUBLE, ConvertedType::NONE),
            Values::Flags(_) => (Physical::BOOLEAN, ConvertedType::NONE),
        };
        let field = Type::primitive_type_builder(name, physical).with_converted_type(noted);
        field.with_repetition(Repetition::OPTIONAL).build().unwrap()
    }

    fn write(self, to: &mut SerializedColumnWriter<'_>) {
        fn write<T: DataType>(values: Vec<Option<T::T>>, to: &mut SerializedColumnWriter<'_>) {
            let levels: Vec<i16> = values.iter().map(|value| value.is_some().into()).collect();
            let values: Vec<T::T> = values.into_iter().flatten().collect();
            to.typed::<T>().write_batch(&values, Some(&levels), None).unwrap();
        }
        match self {
            Values::Texts(values) => write::<ByteArrayType>(values, to),
            Values::Int32(_, values) => write::<Int32Type>(values, to),
            Values::Int64(values) => write::<Int64Type>(values, to),
            Values::Doubles(values) => write::<DoubleType>(values, to),
            Values::Flags(values) => write::<BoolType>(values, to),
        }
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
    let times = Values::Int64(vec![Some(1)]);
    let schema =
        Type::group_type_builder("schema").with_fields(vec![times.field("time_ns").into()]);
    let (schema, file) = (schema.build().unwrap(), File::create(&path).unwrap());
    let mut writer = SerializedFileWriter::new(file, schema.into(), Arc::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    times.write(&mut column);
    column.close().unwrap();
    group.close().unwrap();
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

#[test]
fn texts_are_read_however_another_program_stored_them() {
    let fixture = Fixture::new();
    let plain = || WriterProperties::builder().set_dictionary_enabled(false);
    let texts = ["kind", "site", "cache"].map(ColumnPath::from);
    let prefixes = texts.into_iter().fold(plain(), |properties, column| {
        properties.set_column_encoding(column, Encoding::DELTA_BYTE_ARRAY)
    });
    // The dictionary of sites is full in the middle of the column: the rest is stored as it is.
    let both = WriterProperties::builder()
        .set_dictionary_page_size_limit(200)
        .set_data_page_row_count_limit(500)
        .set_write_batch_size(100);
    for properties in [plain(), prefixes, both] {
        let path = fixture.write_with(&fixture.rows, Some(&fixture.meta), 9000, properties);
        assert!(events(&TraceReader::open(&path).unwrap()) == fixture.rows);
    }
}

#[test]
fn a_column_of_another_type_is_refused_by_its_name() {
    let fixture = Fixture::new();
    let path = fixture.folder.path().join("wrong.parquet");
    let mut columns = fixture.columns(&fixture.rows);
    let rows = fixture.rows.len();
    for (name, values) in &mut columns {
        if *name == "gfp" {
            *values = Values::Texts(vec![Some(ByteArray::from("GFP_KERNEL")); rows]);
        }
    }
    let fields = columns.iter().map(|(name, values)| Arc::new(values.field(name))).collect();
    let schema = Type::group_type_builder("schema").with_fields(fields).build().unwrap();
    let file = File::create(&path).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema.into(), Arc::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    for (_, values) in columns {
        let mut column = group.next_column().unwrap().unwrap();
        values.write(&mut column);
        column.close().unwrap();
    }
    group.close().unwrap();
    writer.close().unwrap();
    let error = open(&path, &mut |_| {}).unwrap_err().to_string();
    assert!(error.contains("column gfp holds texts"), "{error}");
}
