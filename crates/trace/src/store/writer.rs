//! Writes a trace: rows first, then the metadata. Into a file beside the path, renamed onto it when
//! whole; or, to be read at once, into memory.
//!
//! # How it works
//! Rows are collected into batches of [`ROW_GROUP_ROWS`]. Those of a trace in memory are
//! kept as they are up to [`MEMORY_ROWS_MAX`]; with the next they all go to a file without a name,
//! so that memory does not grow with the trace. A file gets columns for page rows with the first of these; what stands in it
//! by then is copied.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustc_hash::FxHashMap;
use slablab_host::{Access, WholeFile};

use super::file_reader::ParquetFile;
use super::file_writer::FileWriter;
use super::reader::TraceReader;
use super::schema::{Columns, ROW_GROUP_ROWS};
use super::wanted::PidColumn;
use crate::error::At;
use crate::meta::{Meta, RecordedCache, SCHEMA_VERSION, SCHEMA_VERSION_ESTIMATED, Site};
use crate::page_meta::PageMeta;
use crate::stacks::{Extent, Frame, StackList};
use crate::{Batch, Error, Event, NONE, PageEvent, PageKind};

/// The most rows of a trace that are kept in memory: 8 Mi rows of 53 bytes are 424 MiB.
const MEMORY_ROWS_MAX: usize = 8 << 20;

/// Rows that become columns together, which the processor's first cache holds.
const ROWS_MAX: usize = 256;
const _: () = assert!(ROW_GROUP_ROWS.is_multiple_of(ROWS_MAX));

/// Writes one trace. Dropped without [`finish`](TraceWriter::finish) it leaves nothing behind.
#[derive(Debug)]
pub struct TraceWriter {
    path: PathBuf,
    /// Whether its file is to be at `path`
    is_named: bool,
    rows: Rows,
    pending: Batch,
    /// Rows that come behind those, at most [`ROWS_MAX`]
    last: Vec<Event>,
    pending_pages: Vec<PageEvent>,
    sites: Vec<Site>,
    /// How many call sites came with a name
    site_names: FxHashMap<String, u64>,
    caches: Vec<RecordedCache>,
    cache_ids: FxHashMap<String, u32>,
    stacks: StackList,
    addresses: Addresses,
    counts: Counts,
}

/// What becomes of the addresses of call sites.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Addresses {
    /// They are stored.
    #[default]
    Keep,
    /// They are left out, so that the trace can be given away; the names of the call sites stay.
    Strip,
}

/// Where the rows go.
#[derive(Debug)]
enum Rows {
    File(Box<FileWriter>),
    Memory {
        batches: Vec<Arc<Batch>>,
        pages: Vec<Arc<Vec<PageEvent>>>,
        /// With more of them the rows go to a file.
        batches_max: usize,
    },
}

/// What the rows themselves say for the metadata.
#[derive(Debug, Default)]
struct Counts {
    by_kind: [u64; 6],
    time_first_ns: Option<u64>,
    time_last_ns: u64,
    object_slots: u32,
    cpus: u32,
    allocs_without_stack: u64,
    pages: PageMeta,
}

impl TraceWriter {
    /// Begins a trace that will be at `path` when it is finished.
    ///
    /// # Errors
    /// If no file can be made beside `path`.
    pub fn create(path: impl AsRef<Path>) -> Result<TraceWriter, Error> {
        let path = path.as_ref();
        // Only for the owner: the addresses of call sites undo what hides them in /proc/kallsyms.
        let folder = slablab_host::folder_of(path);
        if !folder.is_dir() {
            let what = format!("cannot be written: {} is not a folder", folder.display());
            let remedy = "make it with mkdir -p, or name an output elsewhere with -o";
            return Err(Error::bad(path, At::File, what, remedy));
        }
        let file = WholeFile::create(path, Access::Private)
            .map_err(|e| Error::io(path, "cannot write", e))?;
        let file = FileWriter::create(path, file, Columns::Slabs)?;
        Ok(TraceWriter::new(path, Rows::File(Box::new(file))))
    }

    /// Begins a trace to be read from memory; `path` is what its errors name.
    pub(crate) fn in_memory(path: &Path) -> TraceWriter {
        let batches_max = MEMORY_ROWS_MAX / ROW_GROUP_ROWS;
        let (batches, pages) = (Vec::new(), Vec::new());
        TraceWriter::new(path, Rows::Memory { batches, pages, batches_max })
    }

    fn new(path: &Path, rows: Rows) -> TraceWriter {
        TraceWriter {
            path: path.into(),
            is_named: matches!(rows, Rows::File(_)),
            rows,
            pending: Batch::default(),
            last: Vec::with_capacity(ROWS_MAX),
            pending_pages: Vec::new(),
            sites: Vec::new(),
            site_names: FxHashMap::default(),
            caches: Vec::new(),
            cache_ids: FxHashMap::default(),
            stacks: StackList::default(),
            addresses: Addresses::Keep,
            counts: Counts::default(),
        }
    }

    /// Does so with the addresses of call sites that are added from now on.
    #[must_use]
    pub fn addresses(self, addresses: Addresses) -> TraceWriter {
        TraceWriter { addresses, ..self }
    }

    /// Adds a call site and returns its id, for [`Event::site`]. A name that another site already
    /// has gets the address behind it, or where addresses are stripped a number, so that names stay unique.
    pub fn site(&mut self, name: &str, address: u64) -> u32 {
        let (name, address) = match self.addresses {
            Addresses::Keep => (name, address),
            Addresses::Strip => (without_address(name), 0),
        };
        let mut unique = name.to_owned();
        while self.site_names.contains_key(&unique) {
            let number = self.site_names.entry(name.to_owned()).or_default();
            *number += 1;
            unique = match (self.addresses, *number) {
                (Addresses::Keep, 2) => format!("{name} @{address:#x}"),
                (Addresses::Keep, number) => format!("{name} @{address:#x} #{number}"),
                (Addresses::Strip, number) => format!("{name} #{number}"),
            };
        }
        self.site_names.insert(unique.clone(), 1);
        self.sites.push(Site { name: unique, address, ..Site::default() });
        id_of(self.sites.len())
    }

    /// Returns the id of the cache called `name`, for [`Event::cache`]; adds it when it is new.
    pub fn cache(&mut self, name: &str) -> u32 {
        if let Some(&id) = self.cache_ids.get(name) {
            return id;
        }
        self.caches.push(RecordedCache { name: name.to_owned(), ..RecordedCache::default() });
        let id = id_of(self.caches.len());
        self.cache_ids.insert(name.to_owned(), id);
        id
    }

    /// Returns the number of a call stack, whose frames (name and address) come from the allocation outwards, for
    /// [`Event::stack`]; adds it when it is new. [`NONE`] of no frames.
    pub fn stack<'a>(
        &mut self,
        frames: impl IntoIterator<Item = (&'a str, u64)>,
        extent: Extent,
    ) -> u32 {
        let addresses = self.addresses;
        let frame = |(name, address): (&str, u64)| match addresses {
            Addresses::Keep => Frame { name: name.to_owned(), address },
            Addresses::Strip => Frame { name: without_address(name).to_owned(), address: 0 },
        };
        self.stacks.add(frames.into_iter().map(frame), extent)
    }

    /// Returns the call sites added so far.
    pub(crate) fn sites(&self) -> &[Site] {
        &self.sites
    }

    /// Returns the call sites, for what is found out of them at the end.
    pub(crate) fn sites_mut(&mut self) -> &mut [Site] {
        &mut self.sites
    }

    /// Returns the caches' entries of the metadata, to be counted in.
    pub fn caches_mut(&mut self) -> &mut [RecordedCache] {
        &mut self.caches
    }

    /// Appends a row.
    ///
    /// # Errors
    /// If the file cannot be written.
    ///
    /// # Panics
    /// When `event` breaks a promise of [`Event`]: time running backwards, an unknown site or cache.
    #[inline]
    pub fn push(&mut self, event: &Event) -> Result<(), Error> {
        assert!(event.time_ns >= self.counts.time_last_ns, "events are not in time order");
        assert!(event.site == NONE || (event.site as usize) < self.sites.len(), "unknown site");
        assert!(event.cache == NONE || (event.cache as usize) < self.caches.len(), "unknown cache");
        assert!(event.stack == NONE || (event.stack as usize) < self.stacks.len(), "unknown stack");
        self.counts.add(event);
        if event.kind.is_alloc() {
            self.note_size(event);
        }
        self.last.push(*event);
        if self.last.len() == ROWS_MAX { self.end_rows() } else { Ok(()) }
    }

    /// Makes columns of the last rows, and writes them where they are a whole group.
    fn end_rows(&mut self) -> Result<(), Error> {
        self.pending.extend(&self.last);
        self.last.clear();
        if self.pending.len() == ROW_GROUP_ROWS { self.write_pending() } else { Ok(()) }
    }

    /// Appends a page row. These have an order in time of their own.
    ///
    /// # Errors
    /// If the file cannot be written.
    ///
    /// # Panics
    /// When `row` breaks a promise of [`PageEvent`]: time running backwards, an unknown stack.
    pub fn push_page(&mut self, row: &PageEvent) -> Result<(), Error> {
        let counts = &mut self.counts;
        assert!(row.time_ns >= counts.pages.time_last_ns, "page events are not in time order");
        assert!(row.stack == NONE || (row.stack as usize) < self.stacks.len(), "unknown stack");
        if counts.pages.events == 0 {
            self.add_page_columns()?;
        }
        self.counts.add_page(row);
        self.pending_pages.push(*row);
        if self.pending_pages.len() == ROW_GROUP_ROWS { self.write_pages() } else { Ok(()) }
    }

    #[inline]
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
    /// If the file cannot be written or renamed.
    pub fn finish(mut self, mut meta: Meta) -> Result<Meta, Error> {
        self.complete(&mut meta)?;
        if let Rows::File(file) = self.rows {
            let whole = file.finish(&meta)?.persist();
            whole.map_err(|e| Error::io(&self.path, "cannot rename into place", e))?;
        }
        Ok(meta)
    }

    /// Ends a trace in memory as [`TraceWriter::finish`] ends a file, and opens it.
    pub(crate) fn into_reader(mut self, mut meta: Meta) -> Result<TraceReader, Error> {
        self.complete(&mut meta)?;
        match self.rows {
            Rows::Memory { batches, pages, .. } => {
                Ok(TraceReader::of_memory(&self.path, meta, batches, pages))
            }
            Rows::File(file) => {
                let io = |e| Error::io(&self.path, "cannot read the temporary file of", e);
                let file = file.finish(&meta)?.file().map_err(io)?;
                let bytes = file.metadata().map_err(io)?.len();
                let file = ParquetFile::open(&self.path, file, bytes)?;
                TraceReader::of_file(&self.path, file)
            }
        }
    }

    fn complete(&mut self, meta: &mut Meta) -> Result<(), Error> {
        self.end_rows()?;
        self.write_pending()?;
        self.write_pages()?;
        self.counts.fill(meta);
        if self.addresses == Addresses::Strip {
            meta.strip_addresses();
        }
        meta.sites = std::mem::take(&mut self.sites);
        meta.caches = std::mem::take(&mut self.caches);
        meta.stacks = std::mem::take(&mut self.stacks).finish();
        if !meta.stacks.is_empty() {
            meta.stacks.allocs_without = self.counts.allocs_without_stack;
        }
        Ok(())
    }

    #[cold]
    fn write_pending(&mut self) -> Result<(), Error> {
        if self.pending.is_empty() {
            return Ok(());
        }
        match &mut self.rows {
            Rows::File(file) => {
                let rows = std::mem::take(&mut self.pending);
                self.pending = file.write(rows, &self.sites, &self.caches)?;
            }
            Rows::Memory { batches, pages, batches_max } => {
                let next = Batch::with_capacity(ROW_GROUP_ROWS);
                batches.push(Arc::new(std::mem::replace(&mut self.pending, next)));
                if batches.len() + pages.len() > *batches_max {
                    self.move_to_file()?;
                }
            }
        }
        Ok(())
    }

    #[cold]
    fn write_pages(&mut self) -> Result<(), Error> {
        if self.pending_pages.is_empty() {
            return Ok(());
        }
        match &mut self.rows {
            Rows::File(file) => {
                file.write_pages(std::mem::take(&mut self.pending_pages))?;
            }
            Rows::Memory { batches, pages, batches_max } => {
                pages.push(Arc::new(std::mem::take(&mut self.pending_pages)));
                if batches.len() + pages.len() > *batches_max {
                    self.move_to_file()?;
                }
            }
        }
        Ok(())
    }

    /// Goes on in a file that has no name.
    fn move_to_file(&mut self) -> Result<(), Error> {
        let columns = match self.counts.pages.events {
            0 => Columns::Slabs,
            _ => Columns::WithPages,
        };
        let mut file = FileWriter::create(&self.path, self.nameless()?, columns)?;
        if let Rows::Memory { batches, pages, .. } = &mut self.rows {
            for batch in batches.drain(..) {
                file.write(Arc::unwrap_or_clone(batch), &self.sites, &self.caches)?;
            }
            for rows in pages.drain(..) {
                file.write_pages(Arc::unwrap_or_clone(rows))?;
            }
        }
        self.rows = Rows::File(Box::new(file));
        Ok(())
    }

    fn nameless(&self) -> Result<WholeFile, Error> {
        WholeFile::nameless()
            .map_err(|e| Error::io(&self.path, "cannot make a temporary file for", e))
    }

    /// Goes on in a file that has columns for page rows, with the slab rows that were written by now. They move to a
    /// nameless file first, as a file that is begun cannot get more columns.
    fn add_page_columns(&mut self) -> Result<(), Error> {
        let io = |e| Error::io(&self.path, "cannot write", e);
        if matches!(self.rows, Rows::Memory { .. }) {
            return Ok(());
        }
        let memory = Rows::Memory { batches: Vec::new(), pages: Vec::new(), batches_max: 0 };
        let Rows::File(old) = std::mem::replace(&mut self.rows, memory) else { return Ok(()) };
        if old.is_empty() {
            let file = FileWriter::create(&self.path, old.into_output(), Columns::WithPages)?;
            self.rows = Rows::File(Box::new(file));
            return Ok(());
        }
        let mut meta = Meta {
            // What is read back is looked up by name.
            sites: self.sites.clone(),
            caches: self.caches.clone(),
            stacks: self.stacks.clone().finish(),
            ..Meta::default()
        };
        self.counts.fill(&mut meta);
        meta.events -= (self.pending.len() + self.last.len()) as u64;
        meta.pages = None;
        let output = old.finish(&meta)?;
        let file = output.file().map_err(io)?;
        let bytes = file.metadata().map_err(io)?.len();
        let mut rows = ParquetFile::open(&self.path, file, bytes)?.rows(PidColumn::Read);
        let named = || WholeFile::create(&self.path, Access::Private).map_err(io);
        let output = if self.is_named { named()? } else { self.nameless()? };
        let mut file = FileWriter::create(&self.path, output, Columns::WithPages)?;
        let (mut batch, mut group) = (Batch::default(), Batch::with_capacity(ROW_GROUP_ROWS));
        while rows.read_into(&mut batch)? {
            for event in batch.events() {
                group.push(&event);
                if group.len() == ROW_GROUP_ROWS {
                    group = file.write(group, &self.sites, &self.caches)?;
                }
            }
        }
        if !group.is_empty() {
            file.write(group, &self.sites, &self.caches)?;
        }
        self.rows = Rows::File(Box::new(file));
        Ok(())
    }
}

impl Counts {
    #[inline]
    fn add(&mut self, event: &Event) {
        self.by_kind[event.kind as usize] += 1;
        self.allocs_without_stack += u64::from(event.kind.is_alloc() && event.stack == NONE);
        self.time_first_ns.get_or_insert(event.time_ns);
        self.time_last_ns = event.time_ns;
        self.cpus = self.cpus.max(u32::from(event.cpu) + 1);
        if event.object != NONE {
            self.object_slots = self.object_slots.max(event.object + 1);
        }
    }

    fn add_page(&mut self, row: &PageEvent) {
        let pages = &mut self.pages;
        if pages.events == 0 {
            pages.time_first_ns = row.time_ns;
        }
        pages.events += 1;
        pages.events_by_kind[row.page.kind as usize] += 1;
        pages.time_last_ns = row.time_ns;
        pages.allocs_without_stack +=
            u64::from(row.page.kind == PageKind::Alloc && row.stack == NONE);
        self.cpus = self.cpus.max(u32::from(row.cpu) + 1);
        if row.object != NONE {
            pages.slots = pages.slots.max(row.object + 1);
        }
    }

    fn fill(&self, meta: &mut Meta) {
        meta.events = self.by_kind.iter().sum();
        meta.events_by_kind.copy_from_slice(&self.by_kind[..5]);
        // A reader of version 1 does not know the last kind.
        meta.schema_version = match self.by_kind[5] {
            _ if self.pages.events > 0 => SCHEMA_VERSION,
            0 => 1,
            _ => SCHEMA_VERSION_ESTIMATED,
        };
        meta.reader_version_min = meta.schema_version;
        meta.time_first_ns = self.time_first_ns.unwrap_or(self.pages.time_first_ns);
        meta.time_last_ns = self.time_last_ns.max(match meta.events {
            0 => self.pages.time_last_ns,
            _ => 0,
        });
        let known = meta.pages.take().unwrap_or_default();
        let PageMeta { time_first_ns, time_last_ns, allocs_without_stack, .. } = self.pages;
        let PageMeta { events, events_by_kind, slots, .. } = self.pages;
        let counted = PageMeta {
            events,
            events_by_kind,
            slots,
            time_first_ns,
            time_last_ns,
            allocs_without_stack,
            ..known
        };
        meta.pages = (events > 0).then_some(counted);
        meta.object_slots = self.object_slots;
        meta.cpus = meta.cpus.max(self.cpus).max(1);
        meta.nodes = meta.nodes.max(1);
    }
}

/// Returns the name of a call site without the address that it is, or has behind it.
fn without_address(name: &str) -> &str {
    match name.split_once(" @0x") {
        Some((symbol, _)) => symbol,
        None if name.starts_with("0x") => "(no symbol)",
        None => name,
    }
}

fn id_of(len: usize) -> u32 {
    u32::try_from(len - 1).expect("fewer than 2^32 names")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;

    fn rows(batches_max: usize) -> (TraceReader, bool) {
        let path = Path::new("made up");
        let rows = Rows::Memory { batches: Vec::new(), pages: Vec::new(), batches_max };
        let mut writer = TraceWriter::new(path, rows);
        let (site, cache) = (writer.site("f+0x1", 1), writer.cache("c"));
        let stack = writer.stack([("f+0x1", 1), ("main", 0)], Extent::Whole);
        for time_ns in 0..3 * ROW_GROUP_ROWS as u64 + 5 {
            let free = time_ns % 2 == 1;
            let event = Event {
                time_ns,
                cpu: (time_ns % 3) as u16,
                pid: 7,
                kind: if free { Kind::KmemCacheFree } else { Kind::KmemCacheAlloc },
                object: (time_ns / 2 % 1000) as u32,
                site,
                cache,
                bytes_req: if free { 0 } else { time_ns },
                bytes_alloc: if free { 0 } else { time_ns },
                gfp: 0,
                node: -1,
                stack: if time_ns % 3 == 0 { stack } else { NONE },
            };
            writer.push(&event).unwrap();
        }
        let in_file = matches!(writer.rows, Rows::File(_));
        (writer.into_reader(Meta::default()).unwrap(), in_file)
    }

    #[test]
    fn rows_are_the_same_in_memory_and_beyond_it() {
        let ((memory, in_memory), (file, in_file)) = (rows(100), rows(1));
        assert_eq!((in_memory, in_file), (false, true));
        assert_eq!(memory.meta(), file.meta());
        for _ in 0..2 {
            let [memory, file] = [&memory, &file].map(|trace| {
                let batches: Vec<_> = trace.batches().map(Result::unwrap).collect();
                batches.iter().flat_map(|batch| batch.events()).collect::<Vec<_>>()
            });
            assert_eq!(memory.len(), 3 * ROW_GROUP_ROWS + 5);
            assert!(memory == file);
        }
        let events = |batches: crate::Batches| {
            batches.flat_map(|b| b.unwrap().events().collect::<Vec<_>>()).collect::<Vec<_>>()
        };
        let all = events(memory.batches());
        let without: Vec<_> =
            all.iter().map(|event| Event { pid: 0, stack: NONE, ..*event }).collect();
        assert!(events(file.batches_without_pid()) == without);
        // By another thread, by this one, and all at once.
        let here = file.on_one_thread();
        assert!(events(here.batches()) == all && events(here.batches_without_pid()) == without);
        let large = here.decoded_without_pid(without.len() as u64 - 1).unwrap();
        assert!(events(large.batches()) == all, "too many to keep");
        let kept = large.decoded_without_pid(without.len() as u64).unwrap();
        assert!(events(kept.batches()) == without);
    }
}
