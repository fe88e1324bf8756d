//! Batches of rows on their way into a Parquet file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Int16Array, Int32Array, Int64Array, RecordBatch, StringArray,
    UInt16Array, UInt32Array,
};
use parquet::arrow::ArrowWriter;
use parquet::file::metadata::KeyValue;
use slablab_host::WholeFile;

use super::schema;
use super::sums::Summing;
use crate::meta::{META_KEY, Meta, RecordedCache, Site};
use crate::{Batch, Error, Kind, NONE};

/// A Parquet file under construction.
#[derive(Debug)]
pub(super) struct FileWriter {
    path: PathBuf,
    rows: ArrowWriter<Summing>,
    output: WholeFile,
}

impl FileWriter {
    /// Begins a file; `path` is what errors name.
    pub(super) fn create(path: &Path, output: WholeFile) -> Result<FileWriter, Error> {
        let file = output.file().map_err(|e| Error::io(path, "cannot write", e))?;
        let rows =
            ArrowWriter::try_new(Summing::new(file), schema::schema(), Some(schema::properties()))
                .map_err(|e| write_error(path, e))?;
        Ok(FileWriter { path: path.into(), rows, output })
    }

    /// Appends a row group. `sites` and `caches` are those that the rows may name.
    pub(super) fn write(
        &mut self,
        rows: &Batch,
        sites: &[Site],
        caches: &[RecordedCache],
    ) -> Result<(), Error> {
        let written = self.rows.write(&record_batch(rows, sites, caches));
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

fn record_batch(rows: &Batch, sites: &[Site], caches: &[RecordedCache]) -> RecordBatch {
    let alloc = |row: usize| rows.kind[row].is_alloc();
    let bytes = |column: &[u64]| -> ArrayRef {
        let value = |(row, &bytes)| alloc(row).then_some(bytes as i64);
        Arc::new(Int64Array::from_iter(column.iter().enumerate().map(value)))
    };
    let kinds = StringArray::from_iter_values(Kind::ALL.map(Kind::name));
    let kind_keys = Int32Array::from_iter_values(rows.kind.iter().map(|&k| k as i32));
    let sites = StringArray::from_iter_values(sites.iter().map(|s| &s.name));
    let caches = StringArray::from_iter_values(caches.iter().map(RecordedCache::recorded_name));
    let columns: Vec<ArrayRef> = vec![
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
    RecordBatch::try_new(schema::schema(), columns).expect("columns match the schema")
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
