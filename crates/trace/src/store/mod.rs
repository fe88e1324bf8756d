//! The Parquet store: a trace as one file that DuckDB, Polars and Spark read as it is. A recording
//! that is only passed through (replayed without being kept) stays in memory instead.
//!
//! # How it works
//! One row an event, in time order, in row groups of [`ROW_GROUP_ROWS`], zstd, with
//! `kind`, `site` and `cache` as dictionary-encoded strings. Everything that is not a row is the
//! [`Meta`](crate::Meta) JSON in the file's key-value metadata, written last, so that a trace of any
//! length is written and read with the memory of one row group. Checksums of both stand between them (`sums`).
//! Page rows, where there are any, have row groups and columns of their own (`page_rows`).
//!
//! # Invariants
//! `object`, where not null, is below `meta.object_slots`; `time_ns` never decreases;
//! every site and cache string of the rows is in `meta.sites` and `meta.caches`.

mod column;
mod dictionary;
mod file_reader;
mod file_writer;
mod group_rows;
mod guard;
mod number;
mod packed;
mod page_rows;
mod places;
mod positioned;
mod projection;
mod reader;
mod row_groups;
mod schema;
mod sums;
mod wanted;
mod writer;

pub(crate) use file_reader::{FileRows, ParquetFile};
pub use reader::{Batches, Checked, PageBatches, TraceReader};
pub use schema::ROW_GROUP_ROWS;
pub use writer::{Addresses, TraceWriter};
