//! The columns of a trace file: their names, types and how each is encoded.
//!
//! Integers are signed where a type of 64 bits is needed (Spark has no unsigned ones) and no wider
//! than the values are elsewhere. What an event does not have is null.

use std::sync::Arc;

use parquet::basic::{Compression, Encoding, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::file::metadata::SortingColumn;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::{ColumnPath, SchemaDescriptor, Type, TypePtr};

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
pub(super) fn leaves(file: &SchemaDescriptor) -> impl Iterator<Item = (usize, &'static str)> {
    let own = |name: &str| all(Columns::WithPages).find(|own| own.name == name);
    let leaf = move |(leaf, path): (usize, &[String])| match path {
        [name] => Some((leaf, own(name)?.name)),
        _ => None, // part of a nested column
    };
    let paths = file.columns().iter().map(|column| column.path().parts());
    paths.enumerate().filter_map(leaf)
}

/// Returns a column that a file would need to hold the rows of a trace.
pub(super) fn missing(file: &SchemaDescriptor) -> Option<&'static str> {
    NEEDED.into_iter().find(|needed| leaves(file).all(|(_, name)| name != *needed))
}

/// A column of a trace.
struct Own {
    name: &'static str,
    physical: Physical,
    logical: Option<LogicalType>,
    repetition: Repetition,
}

/// Returns the columns of a trace file, in their order.
fn all(columns: Columns) -> impl Iterator<Item = Own> {
    use Physical::{BYTE_ARRAY, INT32, INT64};
    let (required, optional) = (Repetition::REQUIRED, Repetition::OPTIONAL);
    let own = |(name, physical, logical, repetition)| Own { name, physical, logical, repetition };
    let (text, unsigned) =
        (Some(LogicalType::String), |bits| Some(LogicalType::integer(bits, false)));
    let events = [
        ("time_ns", INT64, None, required),
        ("cpu", INT32, unsigned(16), required),
        ("pid", INT32, unsigned(32), required),
        ("kind", BYTE_ARRAY, text.clone(), required),
        ("object", INT32, unsigned(32), optional),
        ("site", BYTE_ARRAY, text.clone(), optional),
        ("cache", BYTE_ARRAY, text, optional),
        ("bytes_req", INT64, None, optional),
        ("bytes_alloc", INT64, None, optional),
        ("gfp", INT32, unsigned(32), optional),
        ("node", INT32, Some(LogicalType::integer(16, true)), optional),
        ("stack", INT32, unsigned(32), optional),
    ];
    let bytes = PAGE_COLUMNS.map(|name| (name, INT32, unsigned(8), optional));
    let pages = bytes.into_iter().chain([(PFN_COLUMN, INT64, None, optional)]);
    let pages = pages.filter(move |_| columns == Columns::WithPages);
    events.into_iter().chain(pages).map(own)
}

/// Returns the schema of a trace file.
pub(super) fn schema(columns: Columns) -> TypePtr {
    let field = |own: Own| {
        let field = Type::primitive_type_builder(own.name, own.physical)
            .with_logical_type(own.logical)
            .with_repetition(own.repetition);
        Arc::new(field.build().expect("a type that Parquet has"))
    };
    // The name is that of traces which were written by way of Arrow.
    let fields =
        Type::group_type_builder("arrow_schema").with_fields(all(columns).map(field).collect());
    Arc::new(fields.build().expect("a list of fields"))
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
