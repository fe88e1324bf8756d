//! Rows as Parquet has them: groups of columns, each encoded and compressed, and the metadata behind them.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Int32Array, Int64Array, RecordBatch, StringArray, UInt8Array,
    UInt16Array, UInt32Array, new_null_array,
};
use arrow_schema::Field;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::{ArrowRowGroupWriterFactory, compute_leaves};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::writer::SerializedFileWriter;
use zstd::bulk::Compressor;

use super::dictionary::Dictionary;
use super::schema::{self, Columns};
use super::sums::Summing;
use crate::meta::{META_KEY, Meta};
use crate::{Batch, Error, Kind, NO_BYTE, NONE, PageEvent, PageKind, RawPage};

/// The row groups of a file under construction.
pub(super) struct RowGroups {
    path: PathBuf,
    file: SerializedFileWriter<Summing>,
    /// Makes Parquet's own writers of columns
    writers: ArrowRowGroupWriterFactory,
    zstd: Compressor<'static>,
    columns: Columns,
    groups: usize,
}

/// A column, and how it is written.
enum Column {
    /// By Parquet's own writer
    Plain(ArrayRef),
    Dictionary(Dictionary),
}

impl RowGroups {
    /// Begins those of a file; `path` is what errors name.
    pub(super) fn create(path: &Path, file: File, columns: Columns) -> Result<RowGroups, Error> {
        let (schema, properties) = (schema::schema(columns), schema::properties());
        let rows = ArrowWriter::try_new(Summing::new(file), schema, Some(properties));
        let begun = rows.and_then(ArrowWriter::into_serialized_writer);
        let (file, writers) = begun.map_err(|e| write_error(path, e))?;
        let zstd = Compressor::new(schema::ZSTD_LEVEL);
        let zstd = zstd.map_err(|e| Error::io(path, "cannot write", e))?;
        Ok(RowGroups { path: path.into(), file, writers, zstd, columns, groups: 0 })
    }

    /// Appends a group. `sites` and `caches` are the names that the rows may have.
    pub(super) fn write(
        &mut self,
        rows: &Batch,
        sites: &StringArray,
        caches: &StringArray,
    ) -> Result<(), Error> {
        self.write_group(slab_columns(rows, sites, caches))
    }

    /// Appends a group of page rows.
    pub(super) fn write_pages(&mut self, rows: &[PageEvent]) -> Result<(), Error> {
        let columns = page_batch(rows).columns().iter().cloned().map(Column::Plain).collect();
        self.write_group(columns)
    }

    fn write_group(&mut self, columns: Vec<Column>) -> Result<(), Error> {
        self.write_columns(columns).map_err(|e| write_error(&self.path, e))?;
        let ended = self.file.flush().and_then(|()| self.file.inner_mut().end_group());
        ended.map_err(|e| Error::io(&self.path, "cannot write", e))
    }

    fn write_columns(&mut self, mut columns: Vec<Column>) -> Result<(), ParquetError> {
        let schema = schema::schema(self.columns);
        let rows = columns.first().map_or(0, Column::len);
        let absent = &schema.fields()[columns.len()..];
        columns.extend(absent.iter().map(|field| Column::Plain(nulls(field, rows))));
        let described = self.file.schema_descr().columns().to_vec();
        let writers = self.writers.create_column_writers(self.groups)?;
        self.groups += 1;
        let mut group = self.file.next_row_group()?;
        let fields = schema.fields().iter().zip(described).zip(writers);
        for (column, ((field, described), mut writer)) in columns.into_iter().zip(fields) {
            let plain = match column {
                Column::Dictionary(values) if values.is_empty() => nulls(field, rows),
                Column::Dictionary(values) => {
                    let chunk = values.encode(&described, &mut self.zstd)?;
                    group.append_column(&chunk.bytes, chunk.close)?;
                    continue;
                }
                Column::Plain(array) => array,
            };
            for leaf in compute_leaves(field, &plain)? {
                writer.write(&leaf)?;
            }
            writer.close()?.append_to_row_group(&mut group)?;
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

impl Column {
    fn len(&self) -> usize {
        match self {
            Column::Plain(array) => array.len(),
            Column::Dictionary(values) => values.rows(),
        }
    }
}

fn nulls(field: &Field, rows: usize) -> ArrayRef {
    new_null_array(field.data_type(), rows)
}

/// Returns the columns of slab rows. Times and slots have hardly any value twice.
fn slab_columns(rows: &Batch, sites: &StringArray, caches: &StringArray) -> Vec<Column> {
    let bytes = |column: &[u64]| of_allocs(column.iter().map(|bytes| *bytes as i64), &rows.kind);
    let names = |column: &[u32], names: &StringArray| {
        let name = |number: u32| names.value(number as usize);
        Column::Dictionary(Dictionary::of_texts(column.iter().copied(), true, name))
    };
    let kinds = rows.kind.iter().map(|kind| *kind as u32);
    let kind = |number: u32| Kind::ALL[number as usize].name();
    let stacks = rows.stack.iter().map(|stack| (*stack != NONE).then_some(i64::from(*stack)));
    let slots = rows.object.iter().map(|slot| (*slot != NONE).then_some(*slot));
    vec![
        Column::Plain(Arc::new(Int64Array::from_iter_values(
            rows.time_ns.iter().map(|time_ns| *time_ns as i64),
        ))),
        numbers(rows.cpu.iter().map(|cpu| i64::from(*cpu))),
        numbers(rows.pid.iter().map(|pid| i64::from(*pid))),
        Column::Dictionary(Dictionary::of_texts(kinds, false, kind)),
        Column::Plain(Arc::new(UInt32Array::from_iter(slots))),
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

fn page_batch(rows: &[PageEvent]) -> RecordBatch {
    let schema = schema::schema(Columns::WithPages);
    let null = |name: &str| {
        let (_, field) = schema.column_with_name(name).expect("a column of the schema");
        new_null_array(field.data_type(), rows.len())
    };
    let number = |of: fn(&PageEvent) -> u32| -> ArrayRef {
        let number = |row| Some(of(row)).filter(|number| *number != NONE);
        Arc::new(UInt32Array::from_iter(rows.iter().map(number)))
    };
    let byte = |of: fn(&RawPage) -> u8| -> ArrayRef {
        let byte = |row: &PageEvent| Some(of(&row.page)).filter(|byte| *byte != NO_BYTE);
        Arc::new(UInt8Array::from_iter(rows.iter().map(byte)))
    };
    let kinds = StringArray::from_iter_values(PageKind::ALL.map(PageKind::name));
    let kind_keys = Int32Array::from_iter_values(rows.iter().map(|row| row.page.kind as i32));
    let gfp = |row: &PageEvent| row.page.kind.has_gfp().then_some(row.gfp);
    let pfns = rows.iter().map(|row| row.first_page().map(|pfn| pfn as i64));
    let arrays: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.time_ns as i64))),
        Arc::new(UInt16Array::from_iter_values(rows.iter().map(|row| row.cpu))),
        Arc::new(UInt32Array::from_iter_values(rows.iter().map(|row| row.pid))),
        dictionary(kind_keys, kinds),
        number(|row| row.object),
        null("site"),
        null("cache"),
        null("bytes_req"),
        null("bytes_alloc"),
        Arc::new(UInt32Array::from_iter(rows.iter().map(gfp))),
        null("node"),
        number(|row| row.stack),
        byte(|page| page.order),
        byte(|page| page.migrate_type),
        byte(|page| page.fallback_order),
        byte(|page| page.fallback_type),
        byte(|page| page.change_ownership),
        Arc::new(Int64Array::from_iter(pfns)),
    ];
    RecordBatch::try_new(Arc::clone(&schema), arrays).expect("columns match the schema")
}

fn dictionary(keys: Int32Array, values: StringArray) -> ArrayRef {
    let array = DictionaryArray::<Int32Type>::try_new(keys, Arc::new(values));
    Arc::new(array.expect("keys are below the number of values"))
}

fn write_error(path: &Path, error: parquet::errors::ParquetError) -> Error {
    Error::io(path, "cannot write", Error::cause_of(error))
}
