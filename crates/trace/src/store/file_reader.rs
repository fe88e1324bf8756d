//! Rows out of a Parquet file, some thousand at a time.
//!
//! How it works: Arrow decodes the rows of a row group into columns, [`BATCH_ROWS`] at a time; the
//! dictionaries of `kind`, `site` and `cache` are mapped to the metadata's ids, and each row's key looks
//! its id up. Every value is checked against the metadata, so that a reader of [`Batch`]es may index its
//! arrays by `object`, `site`, `cache` and `cpu` without fear of a damaged or foreign file.

use std::fmt;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Int16Type, Int32Type, Int64Type, UInt16Type, UInt32Type,
};
use arrow_array::{Array, RecordBatch};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder,
};
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::statistics::Statistics;
use rustc_hash::FxHashMap;

use super::guard::caught;
use super::positioned::Positioned;
use super::schema::{self, column};
use crate::error::At;
use crate::meta::{META_KEY, Meta, SCHEMA_VERSION};
use crate::{Batch, Error, Kind, NONE};

/// Rows of a [`Batch`]: few enough that those who read one after the other find it in the cache, enough
/// that the work a batch costs does not show.
const BATCH_ROWS: usize = 8 << 10;

/// An open Parquet file that is a trace.
#[derive(Debug, Clone)]
pub(super) struct ParquetFile {
    path: PathBuf,
    file: Positioned,
    parquet: ArrowReaderMetadata,
    meta: Arc<Meta>,
    ids: Arc<Ids>,
}

#[derive(Debug)]
struct Ids {
    kinds: FxHashMap<String, Kind>,
    sites: FxHashMap<String, u32>,
    caches: FxHashMap<String, u32>,
}

impl ParquetFile {
    /// Opens `file`, which is at `path`, and reads its metadata.
    pub(super) fn open(path: &Path, file: File) -> Result<ParquetFile, Error> {
        let bytes = file.metadata().map_err(|e| Error::io(path, "cannot read", e))?.len();
        if bytes == 0 {
            return Err(Error::bad(path, At::File, "the file is empty", RECORD_ONE));
        }
        // The footer alone may be sound: the end of a trace that was cut at its beginning has one, too.
        let mut magic = [0; 4];
        if file.read_exact_at(&mut magic, 0).is_err() || &magic != b"PAR1" {
            let what = "does not begin as a Parquet file does";
            return Err(Error::bad(path, At::File, what, RECORD_ONE));
        }
        let parquet = caught(|| ArrowReaderMetadata::load(&file, ArrowReaderOptions::new()));
        let parquet = parquet
            .map_or_else(
                || Err("its footer is damaged".to_owned()),
                |p| p.map_err(|e| e.to_string()),
            )
            .map_err(|why| Error::bad(path, At::File, not_parquet(&why), RECORD_ONE))?;
        let meta = read_meta(path, &parquet)?;
        let options = ArrowReaderOptions::new().with_schema(schema::schema());
        let parquet = ArrowReaderMetadata::try_new(Arc::clone(parquet.metadata()), options)
            .map_err(|e| Error::bad(path, At::File, e.to_string(), RECORD_ONE))?;
        if parquet.metadata().file_metadata().num_rows() as u64 != meta.events {
            let what = "the number of rows is not the one in the metadata";
            return Err(Error::bad(path, At::File, what, RECORD_ONE));
        }
        let ids = Arc::new(Ids {
            kinds: Kind::ALL.into_iter().map(|kind| (kind.name().to_owned(), kind)).collect(),
            sites: ids(meta.sites.iter().map(|site| site.name.as_str())),
            caches: ids(meta.caches.iter().map(|cache| cache.name.as_str())),
        });
        Ok(ParquetFile {
            path: path.into(),
            file: Positioned::new(file, bytes),
            parquet,
            meta: Arc::new(meta),
            ids,
        })
    }

    /// Returns what the trace says about itself.
    pub(super) fn meta(&self) -> &Arc<Meta> {
        &self.meta
    }

    /// Returns the rows from the beginning.
    pub(super) fn rows(&self, threads: Threads) -> FileRows {
        FileRows { file: self.clone(), threads, group: 0, rows: None, rows_before: 0, time_ns: 0 }
    }
}

/// What is done with column `pid`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Threads {
    /// Read
    Read,
    /// Left undecoded: all are 0
    Skip,
}

/// The rows of a file, from some row on.
pub(super) struct FileRows {
    file: ParquetFile,
    threads: Threads,
    /// The next row group to open
    group: usize,
    /// What is left of the open one
    rows: Option<ParquetRecordBatchReader>,
    rows_before: u64,
    time_ns: u64,
}

impl fmt::Debug for FileRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileRows").field("rows_before", &self.rows_before).finish_non_exhaustive()
    }
}

impl FileRows {
    /// Replaces `batch` by the next rows, in its own memory; returns false when there are none.
    pub(super) fn read_into(&mut self, batch: &mut Batch) -> Result<bool, Error> {
        batch.clear();
        caught(|| self.read_rows(batch))
            .unwrap_or_else(|| Err(self.damaged("the rows cannot be decoded")))
    }

    fn read_rows(&mut self, batch: &mut Batch) -> Result<bool, Error> {
        loop {
            let Some(group) = &mut self.rows else {
                if self.group >= self.file.parquet.metadata().num_row_groups() {
                    return Ok(false);
                }
                self.rows = Some(self.open_group()?);
                self.group += 1;
                continue;
            };
            let Some(rows) = group.next() else {
                self.rows = None;
                continue;
            };
            let rows = rows.map_err(|e| self.damaged(&e.to_string()))?;
            self.append(&rows, batch)?;
            self.rows_before += rows.num_rows() as u64;
            return Ok(true);
        }
    }

    fn open_group(&self) -> Result<ParquetRecordBatchReader, Error> {
        let ParquetFile { file, parquet, .. } = &self.file;
        let group = parquet.metadata().row_group(self.group);
        ParquetRecordBatchReaderBuilder::new_with_metadata(file.clone(), parquet.clone())
            .with_row_groups(vec![self.group])
            .with_projection(projection(parquet, group, self.threads))
            .with_batch_size(BATCH_ROWS)
            .build()
            .map_err(|e| self.damaged(&e.to_string()))
    }

    fn append(&mut self, rows: &RecordBatch, to: &mut Batch) -> Result<(), Error> {
        let meta = Arc::clone(&self.file.meta);
        let ids = Arc::clone(&self.file.ids);
        let read = |name: &str| rows.column_by_name(name).map(AsRef::as_ref);
        let get = |name: &str| read(name).expect("a column that is always read");
        let from = to.len();

        to.time_ns.extend(values::<Int64Type>(get("time_ns")).iter().map(|&t| t as u64));
        to.cpu.extend_from_slice(values::<UInt16Type>(get("cpu")));
        match read("pid") {
            Some(pids) => to.pid.extend_from_slice(values::<UInt32Type>(pids)),
            None => to.pid.resize(to.cpu.len(), 0),
        }
        self.names(get("kind"), &ids.kinds, None, &mut to.kind)?;
        optional::<UInt32Type, _>(get("object"), NONE, |v| v, &mut to.object);
        self.names(get("site"), &ids.sites, Some(NONE), &mut to.site)?;
        self.names(get("cache"), &ids.caches, Some(NONE), &mut to.cache)?;
        optional::<Int64Type, _>(get("bytes_req"), 0, |v| v as u64, &mut to.bytes_req);
        optional::<Int64Type, _>(get("bytes_alloc"), 0, |v| v as u64, &mut to.bytes_alloc);
        optional::<UInt32Type, _>(get("gfp"), 0, |v| v, &mut to.gfp);
        match read("node") {
            Some(nodes) => optional::<Int16Type, _>(nodes, -1, |v| v, &mut to.node),
            None => to.node.resize(to.cpu.len(), -1),
        }

        // Greatest first, as a search that stops at the first finding compares one by one; NONE is the
        // last of numbers, so that its successor is 0.
        let slots = to.object[from..].iter().fold(0, |most, &o| most.max(o.wrapping_add(1)));
        if slots > meta.object_slots {
            return Err(self.damaged("column object has a value beyond object_slots"));
        }
        let cpus = to.cpu[from..].iter().fold(0, |most, &cpu| most.max(u32::from(cpu) + 1));
        if cpus > meta.cpus {
            return Err(self.damaged("column cpu has a value beyond the number of CPUs"));
        }
        let times_ns = &to.time_ns[from..];
        let first_ns = times_ns.first().copied().unwrap_or(self.time_ns);
        if first_ns < self.time_ns || !times_ns.is_sorted() {
            return Err(self.damaged("column time_ns runs backwards"));
        }
        self.time_ns = times_ns.last().copied().unwrap_or(self.time_ns);
        Ok(())
    }

    /// Appends what the names in a column of dictionary-encoded strings stand for, and `null` where
    /// there is none; `None` for a column that always has a name.
    fn names<V: Copy>(
        &self,
        from: &dyn Array,
        ids: &FxHashMap<String, V>,
        null: Option<V>,
        to: &mut Vec<V>,
    ) -> Result<(), Error> {
        let dictionary = from.as_dictionary::<Int32Type>();
        let strings = dictionary.values().as_string::<i32>();
        // A column of nothing but nulls comes with a dictionary of one empty string that no row uses.
        let unused = null.filter(|_| dictionary.null_count() == dictionary.len());
        let mut map = Vec::with_capacity(strings.len());
        for string in strings {
            let value = string.map_or(null, |s| ids.get(s).copied()).or(unused);
            map.push(value.ok_or_else(|| {
                self.damaged(&format!("`{}` is not in the metadata", string.unwrap_or("")))
            })?);
        }
        let null = match null {
            Some(null) => null,
            None if dictionary.null_count() > 0 => {
                return Err(self.damaged("a column that always has a value has none"));
            }
            // Nothing has to stand for what does not occur.
            None => match map.first() {
                Some(&any) => any,
                None => return Ok(()),
            },
        };
        // A key under a null may be anything.
        let id = |key: i32| map.get(key as usize).copied().unwrap_or(null);
        optional::<Int32Type, _>(dictionary.keys(), null, id, to);
        Ok(())
    }

    fn damaged(&self, what: &str) -> Error {
        Error::bad(&self.file.path, At::Row(self.rows_before), what.to_owned(), RECORD_ONE)
    }
}

/// Returns the columns that have to be decoded: `pid` where it is asked for, and not `node` where the
/// statistics say that all it holds is -1. Hardly any event asks for a node, and null stands for the same.
fn projection(
    parquet: &ArrowReaderMetadata,
    group: &RowGroupMetaData,
    threads: Threads,
) -> ProjectionMask {
    let no_node = matches!(
        group.column(column::NODE).statistics(),
        Some(Statistics::Int32(node))
            if node.min_opt() == Some(&-1) && node.max_opt() == Some(&-1)
    );
    let skip = [(column::NODE, no_node), (column::PID, threads == Threads::Skip)];
    let columns = (0..group.num_columns()).filter(|&column| !skip.contains(&(column, true)));
    ProjectionMask::leaves(parquet.parquet_schema(), columns)
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
    let Some(nulls) = array.nulls().filter(|nulls| nulls.null_count() > 0) else { return };
    let chunks = nulls.inner().bit_chunks();
    // From null to null, not bit by bit: which rows are frees no branch predictor guesses.
    for (values, present) in to[from..].chunks_mut(64).zip(chunks.iter_padded()) {
        let mut absent = !present & u64::MAX >> (64 - values.len());
        while absent != 0 {
            values[absent.trailing_zeros() as usize] = null;
            absent &= absent - 1;
        }
    }
}

/// Numbers names in their order.
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
