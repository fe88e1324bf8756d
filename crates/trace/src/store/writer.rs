//! Writes a trace file: rows first, then the metadata, beside the path and renamed onto it when whole.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Int16Array, Int32Array, Int64Array, RecordBatch, StringArray,
    UInt16Array, UInt32Array,
};
use parquet::arrow::ArrowWriter;
use parquet::file::metadata::KeyValue;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{ROW_GROUP_ROWS, schema};
use crate::meta::{Cache, META_KEY, Meta, SCHEMA_VERSION, Site};
use crate::output::Output;
use crate::{Batch, Error, Event, Kind, NONE};

/// Writes one trace file. Dropped without [`finish`](TraceWriter::finish) it leaves nothing behind.
#[derive(Debug)]
pub struct TraceWriter {
    path: PathBuf,
    rows: ArrowWriter<File>,
    output: Output,
    pending: Batch,
    sites: Vec<Site>,
    site_names: FxHashSet<String>,
    caches: Vec<Cache>,
    cache_ids: FxHashMap<String, u32>,
    counts: Counts,
}

/// What the rows themselves say for the metadata.
#[derive(Debug, Default)]
struct Counts {
    by_kind: [u64; 5],
    time_first_ns: Option<u64>,
    time_last_ns: u64,
    object_slots: u32,
    cpus: u32,
}

impl TraceWriter {
    /// Begins a trace that will be at `path` when it is finished.
    ///
    /// # Errors
    /// When no file can be made beside `path`.
    pub fn create(path: impl AsRef<Path>) -> Result<TraceWriter, Error> {
        let path = path.as_ref();
        let output = Output::create(path)?;
        let file = output.file()?;
        let rows = ArrowWriter::try_new(file, schema::schema(), Some(schema::properties()))
            .map_err(|e| write_error(path, e))?;
        Ok(TraceWriter {
            path: path.into(),
            rows,
            output,
            pending: Batch::default(),
            sites: Vec::new(),
            site_names: FxHashSet::default(),
            caches: Vec::new(),
            cache_ids: FxHashMap::default(),
            counts: Counts::default(),
        })
    }

    /// Adds a call site and returns its id, for [`Event::site`]. A name that another site already
    /// has gets the address behind it, so that names stay unique.
    pub fn site(&mut self, name: &str, address: u64) -> u32 {
        let mut name = name.to_owned();
        while !self.site_names.insert(name.clone()) {
            name = format!("{name} @{address:#x}");
        }
        self.sites.push(Site { name, address, ..Site::default() });
        id_of(self.sites.len())
    }

    /// Returns the id of the cache called `name`, for [`Event::cache`]; adds it when it is new.
    pub fn cache(&mut self, name: &str) -> u32 {
        if let Some(&id) = self.cache_ids.get(name) {
            return id;
        }
        self.caches.push(Cache { name: name.to_owned(), ..Cache::default() });
        let id = id_of(self.caches.len());
        self.cache_ids.insert(name.to_owned(), id);
        id
    }

    /// Returns the caches' entries of the metadata, to be counted in.
    pub fn caches_mut(&mut self) -> &mut [Cache] {
        &mut self.caches
    }

    /// Appends a row.
    ///
    /// # Errors
    /// When the file cannot be written.
    ///
    /// # Panics
    /// When `event` breaks a promise of [`Event`]: time running backwards, an unknown site or cache.
    #[inline]
    pub fn push(&mut self, event: &Event) -> Result<(), Error> {
        assert!(event.time_ns >= self.counts.time_last_ns, "events are not in time order");
        assert!(event.site == NONE || (event.site as usize) < self.sites.len(), "unknown site");
        assert!(event.cache == NONE || (event.cache as usize) < self.caches.len(), "unknown cache");
        self.counts.add(event);
        if event.kind.is_alloc() {
            self.note_size(event);
        }
        self.pending.push(event);
        if self.pending.len() == ROW_GROUP_ROWS { self.write_pending() } else { Ok(()) }
    }

    fn note_size(&mut self, event: &Event) {
        if let Some(site) = self.sites.get_mut(event.site as usize) {
            site.bytes_req_max = site.bytes_req_max.max(event.bytes_req);
        }
        if let Some(cache) = self.caches.get_mut(event.cache as usize) {
            cache.bytes_req_max = cache.bytes_req_max.max(event.bytes_req);
        }
    }

    /// Writes what is left and the metadata, and renames the file into place. The fields of `meta`
    /// that follow from the rows (events, times, slots, sites, caches, version) are filled in here.
    ///
    /// # Errors
    /// When the file cannot be written or renamed.
    pub fn finish(mut self, mut meta: Meta) -> Result<Meta, Error> {
        self.write_pending()?;
        self.counts.fill(&mut meta);
        meta.schema_version = SCHEMA_VERSION;
        meta.sites = self.sites;
        meta.caches = self.caches;
        let json =
            serde_json::to_string(&meta.clone().packed()).expect("metadata has only string keys");
        self.rows.append_key_value_metadata(KeyValue::new(META_KEY.to_owned(), json));
        self.rows.close().map_err(|e| write_error(&self.path, e))?;
        self.output.persist()?;
        Ok(meta)
    }

    fn write_pending(&mut self) -> Result<(), Error> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let batch = self.record_batch();
        self.pending.clear();
        self.rows
            .write(&batch)
            .and_then(|()| self.rows.flush())
            .map_err(|e| write_error(&self.path, e))
    }

    fn record_batch(&self) -> RecordBatch {
        let rows = &self.pending;
        let alloc = |row: usize| rows.kind[row].is_alloc();
        let bytes = |column: &[u64]| -> ArrayRef {
            let value = |(row, &bytes)| alloc(row).then_some(bytes as i64);
            Arc::new(Int64Array::from_iter(column.iter().enumerate().map(value)))
        };
        let kinds = StringArray::from_iter_values(Kind::ALL.map(Kind::name));
        let kind_keys = Int32Array::from_iter_values(rows.kind.iter().map(|&k| k as i32));
        let sites = StringArray::from_iter_values(self.sites.iter().map(|s| &s.name));
        let caches = StringArray::from_iter_values(self.caches.iter().map(|c| &c.name));
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
        ];
        RecordBatch::try_new(schema::schema(), columns).expect("columns match the schema")
    }
}

impl Counts {
    #[inline]
    fn add(&mut self, event: &Event) {
        self.by_kind[event.kind as usize] += 1;
        self.time_first_ns.get_or_insert(event.time_ns);
        self.time_last_ns = event.time_ns;
        self.cpus = self.cpus.max(u32::from(event.cpu) + 1);
        if event.object != NONE {
            self.object_slots = self.object_slots.max(event.object + 1);
        }
    }

    fn fill(&self, meta: &mut Meta) {
        meta.events = self.by_kind.iter().sum();
        meta.events_by_kind = self.by_kind;
        meta.time_first_ns = self.time_first_ns.unwrap_or(0);
        meta.time_last_ns = self.time_last_ns;
        meta.object_slots = self.object_slots;
        meta.cpus = meta.cpus.max(self.cpus).max(1);
        meta.nodes = meta.nodes.max(1);
    }
}

fn id_of(len: usize) -> u32 {
    u32::try_from(len - 1).expect("fewer than 2^32 names")
}

fn keys(ids: &[u32]) -> Int32Array {
    Int32Array::from_iter(ids.iter().map(|&id| (id != NONE).then_some(id as i32)))
}

fn dictionary(keys: Int32Array, values: StringArray) -> ArrayRef {
    let array = DictionaryArray::<Int32Type>::try_new(keys, Arc::new(values));
    Arc::new(array.expect("keys are below the number of values"))
}

fn write_error(path: &Path, error: parquet::errors::ParquetError) -> Error {
    Error::io(path, "cannot write", std::io::Error::other(error))
}
