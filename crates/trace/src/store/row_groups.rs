//! Rows as Parquet has them: groups of columns, each encoded and compressed, and the metadata behind them.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use parquet::column::writer::ColumnWriter;
use parquet::data_type::{ByteArray, ByteArrayType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use zstd::bulk::Compressor;

use super::dictionary::Dictionary;
use super::schema::{self, Columns};
use super::sums::Summing;
use crate::meta::{META_KEY, Meta};
use crate::{Batch, Error, Kind, NO_BYTE, NONE, PageEvent, RawPage};

/// The row groups of a file under construction.
pub(super) struct RowGroups {
    path: PathBuf,
    file: SerializedFileWriter<Summing>,
    zstd: Compressor<'static>,
}

/// A column, and how it is written.
enum Column {
    /// By ourselves
    Dictionary(Dictionary),
    /// By Parquet's own writer, as all others; each row has a value
    Int64(Vec<i64>),
    Int32(Vec<i32>),
    /// The values of the rows that have one, and of each row 1 where it has
    SomeInt32(Vec<i32>, Vec<i16>),
    SomeInt64(Vec<i64>, Vec<i16>),
    Texts(Vec<ByteArray>),
    /// No row has a value
    Absent,
}

/// The names that the rows of a group may have, by their numbers.
pub(super) type Names = Vec<String>;

impl RowGroups {
    /// Begins those of a file; `path` is what errors name.
    pub(super) fn create(path: &Path, file: File, columns: Columns) -> Result<RowGroups, Error> {
        let (schema, properties) = (schema::schema(columns), Arc::new(schema::properties()));
        let begun = SerializedFileWriter::new(Summing::new(file), schema, properties);
        let file = begun.map_err(|e| write_error(path, e))?;
        let zstd = Compressor::new(schema::ZSTD_LEVEL);
        let zstd = zstd.map_err(|e| Error::io(path, "cannot write", e))?;
        Ok(RowGroups { path: path.into(), file, zstd })
    }

    /// Appends a group. `sites` and `caches` are the names that the rows may have.
    pub(super) fn write(
        &mut self,
        rows: &Batch,
        sites: &Names,
        caches: &Names,
    ) -> Result<(), Error> {
        self.write_group(rows.len(), slab_columns(rows, sites, caches))
    }

    /// Appends a group of page rows.
    pub(super) fn write_pages(&mut self, rows: &[PageEvent]) -> Result<(), Error> {
        self.write_group(rows.len(), page_columns(rows))
    }

    fn write_group(&mut self, rows: usize, columns: Vec<Column>) -> Result<(), Error> {
        self.write_columns(rows, columns).map_err(|e| write_error(&self.path, e))?;
        let ended = self.file.flush().and_then(|()| self.file.inner_mut().end_group());
        ended.map_err(|e| Error::io(&self.path, "cannot write", e))
    }

    fn write_columns(&mut self, rows: usize, columns: Vec<Column>) -> Result<(), ParquetError> {
        let described = self.file.schema_descr().columns().to_vec();
        let mut group = self.file.next_row_group()?;
        let absent = std::iter::repeat_with(|| Column::Absent);
        for (column, described) in columns.into_iter().chain(absent).zip(described) {
            match column {
                Column::Dictionary(values) if !values.is_empty() => {
                    let chunk = values.encode(&described, &mut self.zstd)?;
                    group.append_column(&chunk.bytes, chunk.close)?;
                }
                other => write_column(&mut group, rows, &other)?,
            }
        }
        group.close().map(drop)
    }

    /// Appends the metadata and ends the file.
    pub(super) fn finish(mut self, meta: &Meta) -> Result<(), Error> {
        let json =
            serde_json::to_string(&meta.clone().packed()).expect("metadata has only string keys");
        self.file.append_key_value_metadata(KeyValue::new(META_KEY.to_owned(), json));
        let rows = self.file.into_inner().map_err(|e| write_error(&self.path, e))?;
        rows.finish().map_err(|e| Error::io(&self.path, "cannot write", e))
    }
}

/// Writes a column by Parquet's own writer.
fn write_column(
    group: &mut SerializedRowGroupWriter<'_, Summing>,
    rows: usize,
    column: &Column,
) -> Result<(), ParquetError> {
    let mut writer = group.next_column()?.expect("the schema has each column");
    match column {
        Column::Int64(values) => writer.typed::<Int64Type>().write_batch(values, None, None)?,
        Column::Int32(values) => writer.typed::<Int32Type>().write_batch(values, None, None)?,
        Column::SomeInt32(values, levels) => {
            writer.typed::<Int32Type>().write_batch(values, Some(levels), None)?
        }
        Column::SomeInt64(values, levels) => {
            writer.typed::<Int64Type>().write_batch(values, Some(levels), None)?
        }
        Column::Texts(values) => writer.typed::<ByteArrayType>().write_batch(values, None, None)?,
        Column::Absent | Column::Dictionary(_) => {
            let levels = vec![0; rows];
            match writer.untyped() {
                ColumnWriter::Int32ColumnWriter(writer) => {
                    writer.write_batch(&[], Some(&levels), None)?
                }
                ColumnWriter::Int64ColumnWriter(writer) => {
                    writer.write_batch(&[], Some(&levels), None)?
                }
                _ => writer.typed::<ByteArrayType>().write_batch(&[], Some(&levels), None)?,
            }
        }
    };
    writer.close()
}

/// Returns the columns of slab rows. Times and slots have hardly any value twice.
fn slab_columns(rows: &Batch, sites: &Names, caches: &Names) -> Vec<Column> {
    let bytes = |column: &[u64]| of_allocs(column.iter().map(|bytes| *bytes as i64), &rows.kind);
    let names = |column: &[u32], names: &Names| {
        let name = |number: u32| names[number as usize].as_str();
        Column::Dictionary(Dictionary::of_texts(column.iter().copied(), true, name))
    };
    let kinds = rows.kind.iter().map(|kind| *kind as u32);
    let kind = |number: u32| Kind::ALL[number as usize].name();
    let stacks = rows.stack.iter().map(|stack| (*stack != NONE).then_some(i64::from(*stack)));
    vec![
        Column::Int64(rows.time_ns.iter().map(|time_ns| *time_ns as i64).collect()),
        numbers(rows.cpu.iter().map(|cpu| i64::from(*cpu))),
        numbers(rows.pid.iter().map(|pid| i64::from(*pid))),
        Column::Dictionary(Dictionary::of_texts(kinds, false, kind)),
        some_numbers(rows.object.iter().map(|slot| (*slot != NONE).then_some(*slot))),
        names(&rows.site, sites),
        names(&rows.cache, caches),
        bytes(&rows.bytes_req),
        bytes(&rows.bytes_alloc),
        of_allocs(rows.gfp.iter().map(|gfp| i64::from(*gfp)), &rows.kind),
        of_allocs(rows.node.iter().map(|node| i64::from(*node)), &rows.kind),
        Column::Dictionary(Dictionary::of_some(stacks)),
    ]
}

fn numbers(column: impl ExactSizeIterator<Item = i64>) -> Column {
    Column::Dictionary(Dictionary::of_numbers(column))
}

/// Returns a column that only allocations have.
fn of_allocs(column: impl ExactSizeIterator<Item = i64>, kinds: &[Kind]) -> Column {
    let some = column.zip(kinds).map(|(number, kind)| kind.is_alloc().then_some(number));
    Column::Dictionary(Dictionary::of_some(some))
}

/// Returns the numbers of the rows that have one, and of each row 1 where it has.
fn some<N>(numbers: impl ExactSizeIterator<Item = Option<N>>) -> (Vec<N>, Vec<i16>) {
    let (mut values, mut levels) = (Vec::new(), Vec::with_capacity(numbers.len()));
    for number in numbers {
        levels.push(i16::from(number.is_some()));
        values.extend(number);
    }
    (values, levels)
}

/// Returns a column of numbers that some rows lack.
fn some_numbers(numbers: impl ExactSizeIterator<Item = Option<u32>>) -> Column {
    let (values, levels) = some(numbers.map(|number| number.map(|number| number as i32)));
    Column::SomeInt32(values, levels)
}

/// Returns the columns of page rows.
fn page_columns(rows: &[PageEvent]) -> Vec<Column> {
    let number = |of: fn(&PageEvent) -> u32| {
        some_numbers(rows.iter().map(|row| Some(of(row)).filter(|number| *number != NONE)))
    };
    let byte = |of: fn(&RawPage) -> u8| {
        let byte = |row: &PageEvent| Some(of(&row.page)).filter(|byte| *byte != NO_BYTE);
        some_numbers(rows.iter().map(|row| byte(row).map(u32::from)))
    };
    let kind = |row: &PageEvent| Bytes::from_static(row.page.kind.name().as_bytes()).into();
    let gfp = |row: &PageEvent| row.page.kind.has_gfp().then_some(row.gfp);
    let pfns = rows.iter().map(|row| row.first_page().map(|pfn| pfn as i64));
    let (pfns, have_pfns) = some(pfns);
    vec![
        Column::Int64(rows.iter().map(|row| row.time_ns as i64).collect()),
        Column::Int32(rows.iter().map(|row| row.cpu.into()).collect()),
        Column::Int32(rows.iter().map(|row| row.pid as i32).collect()),
        Column::Texts(rows.iter().map(kind).collect()),
        number(|row| row.object),
        Column::Absent, // site
        Column::Absent, // cache
        Column::Absent, // bytes_req
        Column::Absent, // bytes_alloc
        some_numbers(rows.iter().map(gfp)),
        Column::Absent, // node
        number(|row| row.stack),
        byte(|page| page.order),
        byte(|page| page.migrate_type),
        byte(|page| page.fallback_order),
        byte(|page| page.fallback_type),
        byte(|page| page.change_ownership),
        Column::SomeInt64(pfns, have_pfns),
    ]
}

fn write_error(path: &Path, error: parquet::errors::ParquetError) -> Error {
    Error::io(path, "cannot write", Error::cause_of(error))
}
