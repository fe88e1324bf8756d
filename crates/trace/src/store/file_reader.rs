//! Rows out of a Parquet file, some thousand at a time.
//!
//! # How it works
//! The columns of a row group are decoded [`BATCH_ROWS`] rows at a time ([`GroupRows`]); the texts of `kind`, `site` and
//! `cache` are mapped to numbers once, and the place of each row's text looks its number up.
//!
//! Columns are found by name, so that another program may have rewritten the file, with its columns in another
//! order, of other integer types or among more. A file whose rows are those that its metadata counts is a
//! *trace*: every value is checked against the metadata, so that a reader of [`Batch`]es may index its arrays by
//! `object`, `site`, `cache` and `cpu` without fear of a damaged file. Any other file with these columns (rows
//! were filtered, metadata was dropped) gives its rows unchecked and in its own order, to be imported.

use std::fmt;
use std::fs::File;
use std::mem;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use parquet::file::reader::ChunkReader;
use parquet::schema::types::SchemaDescriptor;
use rustc_hash::FxHashMap;

use super::group_rows::GroupRows;
use super::guard::caught;
use super::number::Number;
use super::positioned::{Group, Positioned};
use super::projection::{is_of_pages, projection, projection_of};
use super::reader::Checked;
use super::schema::{self, Columns};
use super::sums::Sums;
use super::wanted::{Held, PidColumn, RowsOf};
use crate::error::At;
use crate::meta::{META_KEY, Meta, SCHEMA_VERSION};
use crate::{Batch, Error, Kind, NONE, PageEvent};

/// Rows of a [`Batch`]: few enough that those who read one after the other find it in the cache, enough
/// that the work a batch costs does not show.
const BATCH_ROWS: usize = 8 << 10;

/// An open Parquet file with the columns of a trace.
#[derive(Debug, Clone)]
pub(crate) struct ParquetFile {
    path: PathBuf,
    file: Positioned,
    /// What its bytes were when they were written, where the writer kept that
    sums: Option<Arc<Sums>>,
    parquet: Arc<ParquetMetaData>,
    meta: Arc<Meta>,
    /// What keeps it from being a trace as it is, "" for nothing.
    lacks: &'static str,
    sites: Arc<Names>,
    caches: Arc<Names>,
}

/// The names of a column, and the number of each.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names {
    list: Vec<String>,
    ids: FxHashMap<String, u32>,
}

impl Names {
    fn new<'a>(names: impl Iterator<Item = &'a str>) -> Arc<Names> {
        let mut all = Names::default();
        names.for_each(|name| all.add(name));
        Arc::new(all)
    }

    fn add(&mut self, name: &str) {
        self.ids.insert(name.to_owned(), self.list.len() as u32);
        self.list.push(name.to_owned());
    }

    fn get(&self, name: &str) -> Option<u32> {
        self.ids.get(name).copied()
    }

    /// Returns the names in the order of their numbers.
    pub(crate) fn list(&self) -> &[String] {
        &self.list
    }
}

impl ParquetFile {
    /// Opens `file`, which is at `path` and has `bytes` bytes, and reads its metadata.
    pub(crate) fn open(path: &Path, file: File, bytes: u64) -> Result<ParquetFile, Error> {
        let bad = |what: String| Error::bad(path, At::File, what, RECORD_ONE);
        // The footer alone may be sound: the end of a trace that was cut at its beginning has one, too.
        let mut magic = [0; 4];
        if file.read_exact_at(&mut magic, 0).is_err() || &magic != b"PAR1" {
            return Err(bad("does not begin as a Parquet file does".to_owned()));
        }
        let sums = Sums::read(&file, bytes)
            .map_err(|e| bad(not_parquet(&format!("its footer is {e}"))))?;
        let parquet = caught(|| ParquetMetaDataReader::new().parse_and_finish(&file));
        let parquet = parquet
            .map_or_else(
                || Err("its footer is damaged".to_owned()),
                |p| p.map_err(|e| e.to_string()),
            )
            .map_err(|why| bad(not_parquet(&why)))?;
        if let Some(name) = schema::missing(parquet.file_metadata().schema_descr()) {
            return Err(bad(format!("is Parquet, but not a slablab trace (no column {name})")));
        }
        let groups = parquet.num_row_groups();
        if sums.as_ref().is_some_and(|sums| sums.len() != groups) {
            return Err(bad("has other row groups than checksums, and is damaged".to_owned()));
        }
        let stored = read_meta(path, &parquet)?;
        let rows = parquet.file_metadata().num_rows() as u64;
        let lacks = match &stored {
            None => "has the columns of a trace but not its metadata",
            Some(meta) if meta.rows() != Some(rows) => "has other rows than its metadata counts",
            Some(_) => "",
        };
        let meta = stored.unwrap_or_default();
        let (mut sites, mut caches) = (Arc::default(), Arc::default());
        if lacks.is_empty() {
            sites = Names::new(meta.sites.iter().map(|site| site.name.as_str()));
            caches = Names::new(meta.caches.iter().map(|cache| cache.recorded_name()));
        }
        let (path, file) = (path.into(), Positioned::new(file, bytes));
        let (meta, parquet, sums) = (Arc::new(meta), Arc::new(parquet), sums.map(Arc::new));
        Ok(ParquetFile { path, file, sums, parquet, meta, lacks, sites, caches })
    }

    /// Returns it when it is a trace as it is.
    pub(super) fn whole(self) -> Result<ParquetFile, Error> {
        if self.lacks.is_empty() {
            return Ok(self);
        }
        let remedy = "`slablab import FILE -o NEW` makes a trace of its rows";
        Err(Error::bad(&self.path, At::File, self.lacks, remedy))
    }

    /// Returns whether it is a trace as it is.
    pub(crate) fn is_whole(&self) -> bool {
        self.lacks.is_empty()
    }

    /// Returns what the file says about itself.
    pub(crate) fn meta(&self) -> &Arc<Meta> {
        &self.meta
    }

    /// Checks the bytes of all rows.
    pub(super) fn check_sums(&self) -> Result<Checked, Error> {
        let Some(sums) = &self.sums else { return Ok(Checked::HasNone) };
        let bad = |e: std::io::Error| Error::bad(&self.path, At::File, e.to_string(), RECORD_ONE);
        (0..sums.len())
            .try_for_each(|group| sums.group(self.file.file(), group).map(|_| ()))
            .map_err(bad)?;
        Ok(Checked::Sound)
    }

    /// Returns the rows from the beginning.
    pub(crate) fn rows(&self, pids: PidColumn) -> FileRows {
        self.rows_of(RowsOf::Slabs, pids)
    }

    /// Returns the page rows from the beginning.
    pub(super) fn page_rows(&self) -> FileRows {
        self.rows_of(RowsOf::Pages, PidColumn::Read)
    }

    /// Returns the rows of both kinds from the beginning.
    pub(crate) fn all_rows(&self) -> FileRows {
        self.rows_of(RowsOf::All, PidColumn::Read)
    }

    fn schema(&self) -> &SchemaDescriptor {
        self.parquet.file_metadata().schema_descr()
    }

    fn rows_of(&self, wanted: RowsOf, pids: PidColumn) -> FileRows {
        let (sites, caches) = (Arc::clone(&self.sites), Arc::clone(&self.caches));
        let (file, columns) = (self.clone(), schema::columns_of(self.schema()));
        FileRows {
            file,
            wanted,
            columns,
            pids,
            sites,
            caches,
            group: 0,
            held: Held::Slabs,
            rows: None,
            site_numbers: Vec::new(),
            cache_numbers: Vec::new(),
            rows_before: 0,
            time_ns: 0,
        }
    }
}

/// The rows of a file, from some row on.
pub(crate) struct FileRows {
    file: ParquetFile,
    wanted: RowsOf,
    columns: Columns,
    pids: PidColumn,
    /// The names that rows may have; those of a file that is not a trace grow while it is read.
    sites: Arc<Names>,
    caches: Arc<Names>,
    /// The next row group to open
    group: usize,
    /// Which rows the open one has
    held: Held,
    /// What is left of the open one
    rows: Option<GroupRows>,
    /// By place in its texts: the number of a name that a row had
    site_numbers: Vec<Option<u32>>,
    cache_numbers: Vec<Option<u32>>,
    rows_before: u64,
    pub(super) time_ns: u64,
}

impl fmt::Debug for FileRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileRows").field("rows_before", &self.rows_before).finish_non_exhaustive()
    }
}

impl FileRows {
    /// Returns the names that [`Batch::site`] indexes.
    pub(crate) fn sites(&self) -> &Names {
        &self.sites
    }

    /// Returns the names that [`Batch::cache`] indexes.
    pub(crate) fn caches(&self) -> &Names {
        &self.caches
    }

    /// Returns what the file says about itself.
    pub(super) fn meta(&self) -> Arc<Meta> {
        Arc::clone(&self.file.meta)
    }

    /// Replaces `batch` by the next rows, in its own memory; returns false when there are none.
    pub(crate) fn read_into(&mut self, batch: &mut Batch) -> Result<bool, Error> {
        batch.clear();
        self.read_guarded(batch, &mut Vec::new())
    }

    /// Replaces both by the next rows: of slab events, and of pages.
    pub(crate) fn read_all_into(
        &mut self,
        batch: &mut Batch,
        pages: &mut Vec<PageEvent>,
    ) -> Result<bool, Error> {
        batch.clear();
        pages.clear();
        self.read_guarded(batch, pages)
    }

    pub(super) fn read_guarded(
        &mut self,
        batch: &mut Batch,
        pages: &mut Vec<PageEvent>,
    ) -> Result<bool, Error> {
        caught(|| self.read_rows(batch, pages))
            .unwrap_or_else(|| Err(self.damaged("the rows cannot be decoded")))
    }

    fn read_rows(&mut self, batch: &mut Batch, pages: &mut Vec<PageEvent>) -> Result<bool, Error> {
        loop {
            let Some(mut rows) = self.rows.take() else {
                let Some(group) = self.file.parquet.row_groups().get(self.group) else {
                    return Ok(false);
                };
                self.held = match self.columns {
                    Columns::Slabs => Held::Slabs,
                    Columns::WithPages => Held::of(group),
                };
                if self.held.has(self.wanted) {
                    self.rows = Some(self.open_group()?);
                    self.site_numbers.clear();
                    self.cache_numbers.clear();
                } else {
                    self.rows_before += group.num_rows() as u64;
                }
                self.group += 1;
                continue;
            };
            let read = rows.read(BATCH_ROWS).map_err(|what| self.damaged(&what))?;
            if read == 0 {
                continue;
            }
            self.append(&rows, batch, pages)?;
            self.rows_before += read as u64;
            self.rows = Some(rows);
            if !batch.is_empty() || !pages.is_empty() {
                return Ok(true);
            }
        }
    }

    fn open_group(&self) -> Result<GroupRows, Error> {
        let ParquetFile { file, sums, .. } = &self.file;
        let Some(sums) = sums else { return self.pages_of(file.clone()) };
        let (begin, bytes) =
            sums.group(file.file(), self.group).map_err(|e| self.damaged(&e.to_string()))?;
        self.pages_of(Group::new(begin, bytes))
    }

    /// Reads the next row group out of what has its pages.
    fn pages_of(&self, pages: impl ChunkReader + 'static) -> Result<GroupRows, Error> {
        let (file, group) = (self.file.schema(), self.file.parquet.row_group(self.group));
        let leaves = match self.wanted {
            RowsOf::Slabs => projection(file, group, self.pids),
            RowsOf::Pages => projection_of(file, is_of_pages),
            RowsOf::All => projection_of(file, |_| true),
        };
        GroupRows::open(pages, group, &leaves).map_err(|e| self.damaged(&e.to_string()))
    }

    fn append(
        &mut self,
        rows: &GroupRows,
        to: &mut Batch,
        pages: &mut Vec<PageEvent>,
    ) -> Result<(), Error> {
        if self.held == Held::Slabs {
            self.append_numbers(rows, to)?;
            self.names("kind", rows, None, Kind::from_name, &mut Vec::new(), &mut to.kind)?;
            self.append_names(rows, to)?;
        } else {
            self.append_both(rows, to, pages)?;
            match self.wanted {
                RowsOf::Slabs => pages.clear(),
                RowsOf::Pages => to.clear(),
                RowsOf::All => {}
            }
        }
        if !self.file.is_whole() {
            return Ok(());
        }
        // Rows of both kinds are asked for only of a file that has to be imported.
        if self.wanted == RowsOf::Pages { self.check_pages(pages) } else { self.check(to) }
    }

    pub(super) fn append_numbers(&self, rows: &GroupRows, to: &mut Batch) -> Result<(), Error> {
        self.integers("time_ns", rows, None, &mut to.time_ns)?;
        self.integers("cpu", rows, None, &mut to.cpu)?;
        self.integers("pid", rows, Some(0), &mut to.pid)?;
        self.integers("object", rows, Some(NONE), &mut to.object)?;
        self.integers("bytes_req", rows, Some(0), &mut to.bytes_req)?;
        self.integers("bytes_alloc", rows, Some(0), &mut to.bytes_alloc)?;
        self.integers("gfp", rows, Some(0), &mut to.gfp)?;
        self.integers("node", rows, Some(-1), &mut to.node)?;
        self.integers("stack", rows, Some(NONE), &mut to.stack)
    }

    /// Appends call sites and caches, whose names grow where the file is not a trace.
    pub(super) fn append_names(&mut self, rows: &GroupRows, to: &mut Batch) -> Result<(), Error> {
        let (mut sites, mut caches) = (Arc::clone(&self.sites), Arc::clone(&self.caches));
        let grows = !self.file.is_whole();
        let number = |names: &mut Arc<Names>, name: &str| {
            if grows && names.get(name).is_none() {
                Arc::make_mut(names).add(name);
            }
            names.get(name)
        };
        let mut known = (mem::take(&mut self.site_numbers), mem::take(&mut self.cache_numbers));
        let site = |name: &str| number(&mut sites, name);
        self.names("site", rows, Some(NONE), site, &mut known.0, &mut to.site)?;
        let cache = |name: &str| number(&mut caches, name);
        self.names("cache", rows, Some(NONE), cache, &mut known.1, &mut to.cache)?;
        (self.site_numbers, self.cache_numbers) = known;
        if grows {
            (self.sites, self.caches) = (sites, caches);
        }
        Ok(())
    }

    /// Checks a batch against the metadata.
    fn check(&mut self, rows: &Batch) -> Result<(), Error> {
        let meta = &self.file.meta;
        // Greatest first, as a search that stops at the first finding compares one by one; NONE is the
        // last of numbers, so that its successor is 0.
        let slots = rows.object.iter().fold(0, |most, &o| most.max(o.wrapping_add(1)));
        if slots > meta.object_slots {
            return Err(self.damaged("column object has a value beyond object_slots"));
        }
        let stacks = rows.stack.iter().fold(0, |most, &s| most.max(s.wrapping_add(1)));
        if stacks as usize > meta.stacks.len() {
            return Err(self.damaged("column stack has a value beyond the number of stacks"));
        }
        let cpus = rows.cpu.iter().fold(0, |most, &cpu| most.max(u32::from(cpu) + 1));
        if cpus > meta.cpus {
            return Err(self.damaged("column cpu has a value beyond the number of CPUs"));
        }
        let first_ns = rows.time_ns.first().copied().unwrap_or(self.time_ns);
        if first_ns < self.time_ns || !rows.time_ns.is_sorted() {
            return Err(self.damaged("column time_ns runs backwards"));
        }
        self.time_ns = rows.time_ns.last().copied().unwrap_or(self.time_ns);
        Ok(())
    }

    /// Appends an integer column, with `null` where it has no value or the file has no such column; `None` for
    /// a column that always has values.
    pub(super) fn integers<N: Number>(
        &self,
        name: &str,
        rows: &GroupRows,
        null: Option<N>,
        to: &mut Vec<N>,
    ) -> Result<(), Error> {
        let Some(column) = rows.column(name) else {
            to.resize(to.len() + rows.count(), null.expect("a column that every trace has"));
            return Ok(());
        };
        column.numbers(null, to).map_err(|what| self.damaged(&what))
    }

    /// Appends what the texts in a column stand for, and `null` where there is none; `None` for a column that always
    /// has one. `known` has what is known of the row group's texts.
    pub(super) fn names<V: Copy>(
        &self,
        name: &str,
        rows: &GroupRows,
        null: Option<V>,
        value_of: impl FnMut(&str) -> Option<V>,
        known: &mut Vec<Option<V>>,
        to: &mut Vec<V>,
    ) -> Result<(), Error> {
        let Some(column) = rows.column(name) else {
            to.resize(to.len() + rows.count(), null.expect("a column that every trace has"));
            return Ok(());
        };
        column.names(null, value_of, known, to).map_err(|what| self.damaged(&what))
    }

    pub(super) fn damaged(&self, what: &str) -> Error {
        Error::bad(&self.file.path, At::Row(self.rows_before), what.to_owned(), RECORD_ONE)
    }
}

const RECORD_ONE: &str = "make a trace with `slablab record` or `slablab import`; tables of slabs are for `slablab info`, \
    with no trace beside them";

/// Returns the metadata, `None` where the file has none.
fn read_meta(path: &Path, parquet: &ParquetMetaData) -> Result<Option<Meta>, Error> {
    let pairs = parquet.file_metadata().key_value_metadata();
    let stored = pairs.and_then(|pairs| pairs.iter().find(|pair| pair.key == META_KEY));
    let Some(json) = stored.and_then(|pair| pair.value.as_deref()) else { return Ok(None) };
    let bad = |what: String, remedy: &str| Err(Error::bad(path, At::File, what, remedy));
    let meta: Meta = match serde_json::from_str(json) {
        Ok(meta) => meta,
        Err(error) => return bad(format!("its metadata is damaged ({error})"), RECORD_ONE),
    };
    if meta.schema_version == 0 {
        return bad("its metadata names no version of the format (0)".to_owned(), RECORD_ONE);
    }
    let needed = meta.reader_version_needed();
    if needed > SCHEMA_VERSION {
        let what =
            format!("needs a reader of format version {needed}, newer than {SCHEMA_VERSION}");
        return bad(what, "use the slablab that wrote it, or a newer one");
    }
    if let Some(what) = meta.beyond_linux() {
        return bad(what, RECORD_ONE);
    }
    Ok(Some(meta.unpacked()))
}

fn not_parquet(why: &str) -> String {
    format!("is not a Parquet file, or is cut short ({why})")
}
