//! The columns of a trace file: their names, types and how each is encoded.
//!
//! Integers are signed where a type of 64 bits is needed (Spark has no unsigned ones) and no wider
//! than the values are elsewhere. What an event does not have is null.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;

use super::ROW_GROUP_ROWS;

/// The numbers, in file order, of the columns that are not always read.
pub(super) mod column {
    pub(crate) const PID: usize = 2;
    pub(crate) const NODE: usize = 10;
}

/// Returns the Arrow schema of a trace file.
pub(super) fn schema() -> Arc<Schema> {
    let names = || DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    Arc::new(Schema::new(vec![
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
    ]))
}

/// Returns how the columns are written. Times rise by small steps and slots are given out last in,
/// first out, so their differences are packed; everything else has few values and is a dictionary.
/// (On a recording of hackbench a dictionary of slots took twice the bytes.)
pub(super) fn properties() -> WriterProperties {
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(3).expect("3 is a zstd level")))
        .set_max_row_group_row_count(Some(ROW_GROUP_ROWS))
        .set_statistics_enabled(EnabledStatistics::Chunk);
    for column in ["time_ns", "object"].map(ColumnPath::from) {
        properties = properties
            .set_column_dictionary_enabled(column.clone(), false)
            .set_column_encoding(column, Encoding::DELTA_BINARY_PACKED);
    }
    properties.build()
}
