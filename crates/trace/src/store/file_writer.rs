//! Batches of rows on their way into a Parquet file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Int16Array, Int32Array, Int64Array, RecordBatch, StringArray,
    UInt8Array, UInt16Array, UInt32Array, new_null_array,
};
use parquet::arrow::ArrowWriter;
use parquet::file::metadata::KeyValue;
use slablab_host::WholeFile;

use super::schema::{self, Columns};
use super::sums::Summing;
use crate::meta::{META_KEY, Meta, RecordedCache, Site};
use crate::{Batch, Error, Kind, NO_BYTE, NONE, PageEvent, PageKind, RawPage};

/// A Parquet file under construction.
#[derive(Debug)]
pub(super) struct FileWriter {
    path: PathBuf,
    rows: ArrowWriter<Summing>,
    output: WholeFile,
    columns: Columns,
    groups: usize,
}

impl FileWriter {
    /// Begins a file; `path` is what errors name.
    pub(super) fn create(
        path: &Path,
        output: WholeFile,
        columns: Columns,
    ) -> Result<FileWriter, Error> {
        let file = output.file().map_err(|e| Error::io(path, "cannot write", e))?;
        let (schema, properties) = (schema::schema(columns), schema::properties());
        let rows = ArrowWriter::try_new(Summing::new(file), schema, Some(properties))
            .map_err(|e| write_error(path, e))?;
        Ok(FileWriter { path: path.into(), rows, output, columns, groups: 0 })
    }

    /// Returns whether nothing was written yet.
    pub(super) fn is_empty(&self) -> bool {
        self.groups == 0
    }

    /// Gives up the file, to which nothing was written.
    pub(super) fn into_output(self) -> WholeFile {
        self.output
    }

    /// Appends a row group. `sites` and `caches` are those that the rows may name.
    pub(super) fn write(
        &mut self,
        rows: &Batch,
        sites: &[Site],
        caches: &[RecordedCache],
    ) -> Result<(), Error> {
        self.write_group(&record_batch(rows, sites, caches, self.columns))
    }

    /// Appends a row group of page rows.
    pub(super) fn write_pages(&mut self, rows: &[PageEvent]) -> Result<(), Error> {
        self.write_group(&page_batch(rows))
    }

    fn write_group(&mut self, rows: &RecordBatch) -> Result<(), Error> {
        self.groups += 1;
        let written = self.rows.write(rows);
        written.and_then(|()| self.rows.flush()).map_err(|e| write_error(&self.path, e))?;
        let ended = self.rows.sync().and_then(|()| self.rows.inner_mut().end_group());
        ended.map_err(|e| Error::io(&self.path, "cannot write", e))
    }

    /// Appends the metadata and closes the file.
    pub(super) fn finish(mut self, meta: &Meta) -> Result<WholeFile, Error> {
        let json =
            serde_json::to_string(&meta.clone().packed()).expect("metadata has only string keys");
        self.rows.append_key_value_metadata(KeyValue::new(META_KEY.to_owned(), json));
        let rows = self.rows.into_inner().map_err(|e| write_error(&self.path, e))?;
        rows.finish().map_err(|e| Error::io(&self.path, "cannot write", e))?;
        Ok(self.output)
    }
}

fn record_batch(
    rows: &Batch,
    sites: &[Site],
    caches: &[RecordedCache],
    columns: Columns,
) -> RecordBatch {
    let alloc = |row: usize| rows.kind[row].is_alloc();
    let bytes = |column: &[u64]| -> ArrayRef {
        let value = |(row, &bytes)| alloc(row).then_some(bytes as i64);
        Arc::new(Int64Array::from_iter(column.iter().enumerate().map(value)))
    };
    let kinds = StringArray::from_iter_values(Kind::ALL.map(Kind::name));
    let kind_keys = Int32Array::from_iter_values(rows.kind.iter().map(|&k| k as i32));
    let sites = StringArray::from_iter_values(sites.iter().map(|s| &s.name));
    let caches = StringArray::from_iter_values(caches.iter().map(RecordedCache::recorded_name));
    let mut arrays: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from_iter_values(rows.time_ns.iter().map(|&t| t as i64))),
        Arc::new(UInt16Array::from(rows.cpu.clone())),
        Arc::new(UInt32Array::from(rows.pid.clone())),
        dictionary(kind_keys, kinds),
        Arc::new(UInt32Array::from_iter(rows.object.iter().map(|&o| (o != NONE).then_some(o)))),
        dictionary(keys(&rows.site), sites),
        dictionary(keys(&rows.cache), caches),
        bytes(&rows.bytes_req),
        bytes(&rows.bytes_alloc),
        Arc::new(UInt32Array::from_iter(
            rows.gfp.iter().enumerate().map(|(row, &gfp)| alloc(row).then_some(gfp)),
        )),
        Arc::new(Int16Array::from_iter(
            rows.node.iter().enumerate().map(|(row, &node)| alloc(row).then_some(node)),
        )),
        Arc::new(UInt32Array::from_iter(rows.stack.iter().map(|&s| (s != NONE).then_some(s)))),
    ];
    let schema = schema::schema(columns);
    let absent = &schema.fields()[arrays.len()..];
    arrays.extend(absent.iter().map(|field| new_null_array(field.data_type(), rows.len())));
    RecordBatch::try_new(schema, arrays).expect("columns match the schema")
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
    let gfp = |row: &PageEvent| (row.page.kind == PageKind::Alloc).then_some(row.gfp);
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
    ];
    RecordBatch::try_new(Arc::clone(&schema), arrays).expect("columns match the schema")
}

fn keys(ids: &[u32]) -> Int32Array {
    Int32Array::from_iter(ids.iter().map(|&id| (id != NONE).then_some(id as i32)))
}

fn dictionary(keys: Int32Array, values: StringArray) -> ArrayRef {
    let array = DictionaryArray::<Int32Type>::try_new(keys, Arc::new(values));
    Arc::new(array.expect("keys are below the number of values"))
}

fn write_error(path: &Path, error: parquet::errors::ParquetError) -> Error {
    Error::io(path, "cannot write", Error::cause_of(error))
}
