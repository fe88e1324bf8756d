//! The columns of a trace file: their names, types and how each is encoded.
//!
//! Integers are signed where a type of 64 bits is needed (Spark has no unsigned ones) and no wider
//! than the values are elsewhere. What an event does not have is null.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::metadata::SortingColumn;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::{ColumnPath, SchemaDescriptor};

/// Rows in a row group.
pub const ROW_GROUP_ROWS: usize = 128 << 10;

/// Rows are in order of time, which engines use to leave out row groups.
const BY_TIME: SortingColumn =
    SortingColumn { column_idx: 0, descending: false, nulls_first: false };

/// The columns without which rows say nothing.
const NEEDED: [&str; 6] = ["time_ns", "cpu", "kind", "object", "bytes_req", "bytes_alloc"];

/// The columns that a trace with page rows has beside; null in rows of slab events.
pub(super) const PAGE_COLUMNS: [&str; 5] =
    ["order", "migrate_type", "fallback_order", "fallback_type", "change_ownership"];

/// The column of page numbers, which it has beside these since the replay of pages; also null in rows of slab events.
pub(super) const PFN_COLUMN: &str = "pfn";

/// Returns whether only page rows have values in a column.
pub(super) fn is_of_pages_alone(name: &str) -> bool {
    name == PFN_COLUMN || PAGE_COLUMNS.contains(&name)
}

/// Whether a file has columns for page rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Columns {
    Slabs,
    WithPages,
}

/// Returns whether a file has columns for page rows.
pub(super) fn columns_of(file: &SchemaDescriptor) -> Columns {
    let is_order = |(_, name): (usize, &str)| name == PAGE_COLUMNS[0];
    if leaves(file).any(is_order) { Columns::WithPages } else { Columns::Slabs }
}

/// Returns the columns of a trace among those of a file, with their numbers there.
pub(super) fn leaves(file: &SchemaDescriptor) -> impl Iterator<Item = (usize, &str)> {
    let schema = schema(Columns::WithPages);
    let names = file.columns().iter().map(|column| match column.path().parts() {
        [name] => name.as_str(),
        _ => "", // part of a nested column
    });
    names.enumerate().filter(move |(_, name)| schema.field_with_name(name).is_ok())
}

/// Returns a column that a file would need to hold the rows of a trace.
pub(super) fn missing(file: &SchemaDescriptor) -> Option<&'static str> {
    NEEDED.into_iter().find(|needed| leaves(file).all(|(_, name)| name != *needed))
}

/// Returns a file's schema with the strings of a trace's columns as dictionaries.
pub(super) fn with_dictionaries(file: &Schema) -> Arc<Schema> {
    let own = schema(Columns::WithPages);
    let fields = file.fields().iter().map(|field| {
        let text = matches!(field.data_type(), DataType::Utf8 | DataType::Binary);
        match own.field_with_name(field.name()).map(Field::data_type) {
            Ok(names @ DataType::Dictionary(..)) if text => {
                Arc::new(field.as_ref().clone().with_data_type(names.clone()))
            }
            _ => Arc::clone(field),
        }
    });
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// Returns the Arrow schema of a trace file.
pub(super) fn schema(columns: Columns) -> Arc<Schema> {
    let names = || DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    let mut fields = vec![
        Field::new("time_ns", DataType::Int64, false),
        Field::new("cpu", DataType::UInt16, false),
        Field::new("pid", DataType::UInt32, false),
        Field::new("kind", names(), false),
        Field::new("object", DataType::UInt32, true),
        Field::new("site", names(), true),
        Field::new("cache", names(), true),
        Field::new("bytes_req", DataType::Int64, true),
        Field::new("bytes_alloc", DataType::Int64, true),
        Field::new("gfp", DataType::UInt32, true),
        Field::new("node", DataType::Int16, true),
        Field::new("stack", DataType::UInt32, true),
    ];
    if columns == Columns::WithPages {
        fields.extend(PAGE_COLUMNS.map(|name| Field::new(name, DataType::UInt8, true)));
        fields.push(Field::new(PFN_COLUMN, DataType::Int64, true));
    }
    Arc::new(Schema::new(fields))
}

/// How hard pages are compressed.
pub(super) const ZSTD_LEVEL: i32 = 3;

/// Returns it as Parquet knows it.
pub(super) fn zstd_level() -> ZstdLevel {
    ZstdLevel::try_new(ZSTD_LEVEL).expect("it is a zstd level")
}

/// Returns how the columns are written. Times rise by small steps, slots are given out last in,
/// first out, and page numbers lie side by side, so their differences are packed; everything else has few values and is a
/// dictionary.
/// (On a recording of hackbench a dictionary of slots took twice the bytes.)
pub(super) fn properties() -> WriterProperties {
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(zstd_level()))
        .set_max_row_group_row_count(Some(ROW_GROUP_ROWS))
        .set_sorting_columns(Some(vec![BY_TIME]))
        .set_statistics_enabled(EnabledStatistics::Chunk);
    for column in ["time_ns", "object", PFN_COLUMN].map(ColumnPath::from) {
        properties = properties
            .set_column_dictionary_enabled(column.clone(), false)
            .set_column_encoding(column, Encoding::DELTA_BINARY_PACKED);
    }
    properties.build()
}
