//! Reads a trace file, a row group at a time.
//!
//! How it works: each row group is decoded by Arrow into columns; the dictionaries of `kind`, `site`
//! and `cache` are mapped to the metadata's ids once per row group, and each row's key looks its id
//! up. Every value is checked against the metadata, so that a reader of [`Batch`]es may index its
//! arrays by `object`, `site`, `cache` and `cpu` without fear of a damaged or foreign file.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Int16Type, Int32Type, Int64Type, UInt16Type, UInt32Type,
};
use arrow_array::{Array, RecordBatch};
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use rustc_hash::FxHashMap;

use super::schema::{self, column};
use crate::error::At;
use crate::meta::{META_KEY, Meta, SCHEMA_VERSION};
use crate::{Batch, Error, Kind, NONE};

/// An open trace file.
#[derive(Debug)]
pub struct TraceReader {
    path: PathBuf,
    file: File,
    parquet: ArrowReaderMetadata,
    meta: Arc<Meta>,
    ids: Arc<Ids>,
}

#[derive(Debug)]
struct Ids {
    kinds: FxHashMap<String, u32>,
    sites: FxHashMap<String, u32>,
    caches: FxHashMap<String, u32>,
}

impl TraceReader {
    /// Opens the trace at `path` and reads its metadata.
    ///
    /// # Errors
    /// When the file cannot be read, is not Parquet, is damaged, or is no trace of ours.
    pub fn open(path: impl AsRef<Path>) -> Result<TraceReader, Error> {
        let path = path.as_ref();
        let file = File::open(path).map_err(|e| Error::io(path, "cannot open", e))?;
        if file.metadata().is_ok_and(|m| m.len() == 0) {
            return Err(Error::bad(path, At::File, "the file is empty", RECORD_ONE));
        }
        // The footer alone may be sound: the end of a trace that was cut at its beginning has one, too.
        let mut magic = [0; 4];
        if file.read_exact_at(&mut magic, 0).is_err() || &magic != b"PAR1" {
            let what = "does not begin as a Parquet file does";
            return Err(Error::bad(path, At::File, what, RECORD_ONE));
        }
        let parquet = ArrowReaderMetadata::load(&file, ArrowReaderOptions::new())
            .map_err(|e| Error::bad(path, At::File, not_parquet(&e.to_string()), RECORD_ONE))?;
        let meta = read_meta(path, &parquet)?;
        let options = ArrowReaderOptions::new().with_schema(schema::schema());
        let parquet = ArrowReaderMetadata::try_new(Arc::clone(parquet.metadata()), options)
            .map_err(|e| Error::bad(path, At::File, e.to_string(), RECORD_ONE))?;
        if parquet.metadata().file_metadata().num_rows() as u64 != meta.events {
            let what = "the number of rows is not the one in the metadata";
            return Err(Error::bad(path, At::File, what, RECORD_ONE));
        }
        let ids = Arc::new(Ids {
            kinds: ids(Kind::ALL.iter().map(|kind| kind.name())),
            sites: ids(meta.sites.iter().map(|site| site.name.as_str())),
            caches: ids(meta.caches.iter().map(|cache| cache.name.as_str())),
        });
        Ok(TraceReader { path: path.into(), file, parquet, meta: Arc::new(meta), ids })
    }

    /// Returns what the trace says about itself.
    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    /// Returns the path it was opened at.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the rows from the beginning, one [`Batch`] per row group. May be called again.
    pub fn batches(&self) -> Batches {
        Batches {
            path: self.path.clone(),
            file: self.file.try_clone(),
            parquet: self.parquet.clone(),
            meta: Arc::clone(&self.meta),
            ids: Arc::clone(&self.ids),
            group: 0,
            rows_before: 0,
            time_ns: 0,
        }
    }
}

/// The rows of a trace, one [`Batch`] per row group.
#[derive(Debug)]
pub struct Batches {
    path: PathBuf,
    file: std::io::Result<File>,
    parquet: ArrowReaderMetadata,
    meta: Arc<Meta>,
    ids: Arc<Ids>,
    group: usize,
    rows_before: u64,
    time_ns: u64,
}

impl Iterator for Batches {
    type Item = Result<Batch, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut batch = Batch::default();
        match self.read_into(&mut batch) {
            Ok(true) => Some(Ok(batch)),
            Ok(false) => None,
            Err(error) => {
                self.group = usize::MAX;
                Some(Err(error))
            }
        }
    }
}

impl Batches {
    /// Replaces `batch` by the next rows, in its own memory; returns false when there are no more.
    ///
    /// # Errors
    /// When the rows cannot be read or contradict the metadata.
    pub fn read_into(&mut self, batch: &mut Batch) -> Result<bool, Error> {
        batch.clear();
        if self.group >= self.parquet.metadata().num_row_groups() {
            return Ok(false);
        }
        let group = self.decode()?;
        self.group += 1;
        for rows in &group {
            self.append(rows, batch)?;
            self.rows_before += rows.num_rows() as u64;
        }
        Ok(true)
    }

    fn decode(&self) -> Result<Vec<RecordBatch>, Error> {
        let file = match &self.file {
            Ok(file) => file.try_clone(),
            Err(error) => Err(std::io::Error::from(error.kind())),
        };
        let file = file.map_err(|e| Error::io(&self.path, "cannot read", e))?;
        let rows = self.parquet.metadata().row_group(self.group).num_rows();
        let rows = usize::try_from(rows).map_err(|_| self.damaged("negative number of rows"))?;
        ParquetRecordBatchReaderBuilder::new_with_metadata(file, self.parquet.clone())
            .with_row_groups(vec![self.group])
            .with_batch_size(rows.max(1))
            .build()
            .map_err(|e| self.damaged(&e.to_string()))?
            .collect::<Result<_, _>>()
            .map_err(|e| self.damaged(&e.to_string()))
    }

    fn append(&mut self, rows: &RecordBatch, to: &mut Batch) -> Result<(), Error> {
        let meta = Arc::clone(&self.meta);
        let ids = Arc::clone(&self.ids);
        let get = |at: usize| rows.column(at).as_ref();
        let from = to.len();

        to.time_ns.extend(values::<Int64Type>(get(column::TIME_NS)).iter().map(|&t| t as u64));
        to.cpu.extend_from_slice(values::<UInt16Type>(get(column::CPU)));
        to.pid.extend_from_slice(values::<UInt32Type>(get(column::PID)));
        let kind_of = |id: u32| Kind::ALL.get(id as usize).copied();
        let mut kinds = Vec::with_capacity(rows.num_rows());
        self.names(get(column::KIND), &ids.kinds, &mut kinds)?;
        let kinds: Option<Vec<Kind>> = kinds.into_iter().map(kind_of).collect();
        to.kind.extend(kinds.ok_or_else(|| self.damaged("column kind has a null"))?);
        optional::<UInt32Type, _>(get(column::OBJECT), NONE, |v| v, &mut to.object);
        self.names(get(column::SITE), &ids.sites, &mut to.site)?;
        self.names(get(column::CACHE), &ids.caches, &mut to.cache)?;
        optional::<Int64Type, _>(get(column::BYTES_REQ), 0, |v| v as u64, &mut to.bytes_req);
        optional::<Int64Type, _>(get(column::BYTES_ALLOC), 0, |v| v as u64, &mut to.bytes_alloc);
        optional::<UInt32Type, _>(get(column::GFP), 0, |v| v, &mut to.gfp);
        optional::<Int16Type, _>(get(column::NODE), -1, |v| v, &mut to.node);

        if to.object[from..].iter().any(|&o| o != NONE && o >= meta.object_slots) {
            return Err(self.damaged("column object has a value beyond object_slots"));
        }
        if to.cpu[from..].iter().any(|&cpu| u32::from(cpu) >= meta.cpus) {
            return Err(self.damaged("column cpu has a value beyond the number of CPUs"));
        }
        for &time_ns in &to.time_ns[from..] {
            if time_ns < self.time_ns {
                return Err(self.damaged("column time_ns runs backwards"));
            }
            self.time_ns = time_ns;
        }
        Ok(())
    }

    /// Appends the ids of a column of dictionary-encoded strings.
    fn names(
        &self,
        from: &dyn Array,
        ids: &FxHashMap<String, u32>,
        to: &mut Vec<u32>,
    ) -> Result<(), Error> {
        let dictionary = from.as_dictionary::<Int32Type>();
        let strings = dictionary.values().as_string::<i32>();
        // A column of nothing but nulls comes with a dictionary of one empty string that no row uses.
        let unused = dictionary.null_count() == dictionary.len();
        let mut map = Vec::with_capacity(strings.len());
        for string in strings {
            let id = string.map_or(Some(NONE), |s| ids.get(s).copied()).or(unused.then_some(NONE));
            map.push(id.ok_or_else(|| {
                self.damaged(&format!("`{}` is not in the metadata", string.unwrap_or("")))
            })?);
        }
        // A key under a null may be anything.
        let id = |key: i32| map.get(key as usize).copied().unwrap_or(NONE);
        optional::<Int32Type, _>(dictionary.keys(), NONE, id, to);
        Ok(())
    }

    fn damaged(&self, what: &str) -> Error {
        Error::bad(&self.path, At::Row(self.rows_before), what.to_owned(), RECORD_ONE)
    }
}

const RECORD_ONE: &str = "make a trace with `slablab record` or `slablab import`";

fn values<T: ArrowPrimitiveType>(array: &dyn Array) -> &[T::Native] {
    array.as_primitive::<T>().values()
}

/// Appends a column, with `null` where it has none.
fn optional<T: ArrowPrimitiveType, V: Copy>(
    from: &dyn Array,
    null: V,
    map: impl Fn(T::Native) -> V,
    to: &mut Vec<V>,
) {
    let array = from.as_primitive::<T>();
    let from = to.len();
    to.extend(array.values().iter().map(|&value| map(value)));
    if let Some(nulls) = array.nulls().filter(|nulls| nulls.null_count() > 0) {
        for (value, present) in to[from..].iter_mut().zip(nulls.inner().iter()) {
            *value = if present { *value } else { null };
        }
    }
}

fn ids<'a>(names: impl Iterator<Item = &'a str>) -> FxHashMap<String, u32> {
    names.enumerate().map(|(id, name)| (name.to_owned(), id as u32)).collect()
}

fn read_meta(path: &Path, parquet: &ArrowReaderMetadata) -> Result<Meta, Error> {
    let pairs = parquet.metadata().file_metadata().key_value_metadata();
    let json = pairs
        .and_then(|pairs| pairs.iter().find(|pair| pair.key == META_KEY))
        .and_then(|pair| pair.value.as_deref())
        .ok_or_else(|| {
            Error::bad(path, At::File, "is Parquet, but not a slablab trace", RECORD_ONE)
        })?;
    let bad = |what: String| Error::bad(path, At::File, what, RECORD_ONE);
    let meta: Meta =
        serde_json::from_str(json).map_err(|e| bad(format!("its metadata is damaged ({e})")))?;
    if meta.schema_version == 0 || meta.schema_version > SCHEMA_VERSION {
        let version = meta.schema_version;
        let what = format!("has version {version} of the format, newer than {SCHEMA_VERSION}");
        return Err(Error::bad(
            path,
            At::File,
            what,
            "use the slablab that wrote it, or a newer one",
        ));
    }
    Ok(meta.unpacked())
}

fn not_parquet(why: &str) -> String {
    format!("is not a Parquet file, or is cut short ({why})")
}
