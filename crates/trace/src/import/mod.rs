//! Turns any recording into a trace.
//!
//! # How it works
//! Events come from a [`Source`] in time order. Each pointer becomes the number of a
//! slot, free slots being used again first ([`objects`]); sites and caches get their final names; what
//! an event lacks is inferred where it can be; what cannot be placed is counted. Rows go
//! to the writer at once, unless an allocation's cache is unknown (kernels before 6.8 do not name it):
//! from then on they go to a file until all frees have been seen ([`unnamed`]).
//!
//! # Invariants
//! Rows = events read - skipped + implicit frees; each row's `object` is live exactly
//! between its allocation and its free, explicit or implicit.

mod cache;
mod copies;
mod copy;
mod cpu_slabs;
mod excess;
mod flow;
mod kmalloc;
mod living;
mod merged;
mod objects;
mod occupied;
mod options;
mod owned;
mod pace;
mod pages;
mod population;
mod sites;
mod unfreed;
mod unnamed;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use slablab_linux::CPUS_MAX;

use self::copies::Copies;
pub use self::copy::copy;
pub use self::kmalloc::kmalloc_cache;
use self::merged::SiteCaches;
use self::objects::{Classes, Object, Objects, Owner, TOUCHED};
pub use self::options::ImportOptions;
pub use self::owned::by_owner;
use self::pages::Pages;
use self::population::{Ended, Population};
pub(crate) use self::unfreed::Unfreed;
use self::unnamed::Unnamed;
use crate::error::At;
use crate::meta::{Quality, Skipped};
use crate::portion::Blocks;
use crate::source::kept::Kept;
use crate::source::large::LargeOnce;
use crate::source::{Facts, Format, Source, no_kmem_events, read_raw};
use crate::store::ParquetFile;
use crate::{
    Error, Event, Input, Kind, Meta, NONE, Progress, RawEvent, Samples, Symbols, TraceReader,
    TraceWriter,
};

/// Imports a recording, or copies a trace, and returns the new trace's metadata.
///
/// # Errors
/// If the recording cannot be read, holds no kmem events, or the trace cannot be written. Nothing
/// is left at `options.output` then.
pub fn import(options: &ImportOptions, progress: &mut dyn FnMut(Progress)) -> Result<Meta, Error> {
    let input = Input::open(&options.input)?;
    let path = input.path().to_owned();
    let writer = || Ok(TraceWriter::create(&options.output)?.addresses(options.addresses));
    let mut source = match opened(input, options.format)? {
        Opened::Trace(trace) => return copy(&trace, writer()?, progress),
        Opened::Source(source) => source,
    };
    let importer = Importer::new(writer()?, &path).symbols(options.symbols.clone());
    let (writer, meta) = pass(source.as_mut(), importer, options.slabinfo.as_deref(), progress)?;
    writer.finish(meta)
}

/// Opens a trace; a recording of another tool is read as if it had been imported. The path `-` is standard input.
///
/// # Errors
/// If it cannot be read, holds no kmem events, or there is no room for it.
pub fn open(
    path: impl AsRef<Path>,
    progress: &mut dyn FnMut(Progress),
) -> Result<TraceReader, Error> {
    read(&ImportOptions::new(path.as_ref(), ""), progress)
}

/// Reads what [`import()`] would write, to be used as a trace at once; a trace is opened as it is.
///
/// # Errors
/// Fails as [`open`] does.
pub fn read(
    options: &ImportOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<TraceReader, Error> {
    read_input(Input::open(&options.input)?, options, progress)
}

/// As [`read()`], of an input that is open already; that of the options is not looked at.
///
/// # Errors
/// Fails as [`open`] does.
pub fn read_input(
    input: Input,
    options: &ImportOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<TraceReader, Error> {
    let path = input.path().to_owned();
    match opened(input, options.format)? {
        Opened::Trace(trace) => Ok(*trace),
        Opened::Source(mut source) => {
            let importer = Importer::new(TraceWriter::in_memory(&path), &path);
            let importer = importer.symbols(options.symbols.clone());
            let (writer, meta) =
                pass(source.as_mut(), importer, options.slabinfo.as_deref(), progress)?;
            writer.into_reader(meta)
        }
    }
}

/// What an input turned out to be.
enum Opened {
    Trace(Box<TraceReader>),
    Source(Box<dyn Source>),
}

fn opened(input: Input, format: Option<Format>) -> Result<Opened, Error> {
    if !input.is_parquet() || format.is_some_and(|format| format != Format::Parquet) {
        let source = LargeOnce::new(read_raw(input, format)?);
        return Ok(Opened::Source(Box::new(source)));
    }
    let path = input.path().to_owned();
    let (file, bytes) = input.into_file()?;
    let file = ParquetFile::open(&path, file, bytes)?;
    if file.is_whole() {
        return TraceReader::of_file(&path, file).map(|trace| Opened::Trace(Box::new(trace)));
    }
    Ok(Opened::Source(crate::source::of_parquet(&path, &file)))
}

/// Reads a recording to be used as a trace at once: what [`import()`] would write is kept in memory, or
/// in a temporary file where it is long. `path` is that of `source`.
///
/// # Errors
/// If the recording cannot be read, holds no kmem events, or there is no room for it.
pub fn load(
    source: Box<dyn Source>,
    path: &Path,
    progress: &mut dyn FnMut(Progress),
) -> Result<TraceReader, Error> {
    let mut source = LargeOnce::new(source);
    let importer = Importer::new(TraceWriter::in_memory(path), path);
    let (writer, meta) = pass(&mut source, importer, None, progress)?;
    writer.into_reader(meta)
}

/// Returns the part of a trace that is left when only the objects are kept for whose allocations `keep` returns true,
/// with their frees; of objects that are older than the trace, the frees for which it does.
///
/// # Errors
/// If the trace cannot be read, nothing is kept, or there is no room for it.
pub fn keep(
    trace: &TraceReader,
    keep: &mut dyn FnMut(&Event) -> bool,
    progress: &mut dyn FnMut(Progress),
) -> Result<TraceReader, Error> {
    let mut importer = Importer::new(TraceWriter::in_memory(trace.path()), trace.path());
    let mut source = Kept::new(trace, keep);
    importer.read(&mut source, progress)?;
    if importer.rows == 0 {
        let remedy = "see what it holds with `slablab info`";
        return Err(Error::bad(trace.path(), At::File, "no event is left to keep", remedy));
    }
    let meta = source.facts().meta.clone();
    let (writer, meta) = importer.finish(&source, meta)?;
    writer.into_reader(meta)
}

/// Passes all events of `source` on to a writer; `slabinfo` is the recorded machine's.
fn pass(
    source: &mut dyn Source,
    mut importer: Importer,
    slabinfo: Option<&str>,
    progress: &mut dyn FnMut(Progress),
) -> Result<(TraceWriter, Meta), Error> {
    if !source.is_sampled() {
        return pass_events(source, importer, slabinfo, progress);
    }
    // First all objects get the names of their caches, which some kernels tell at a free only; then those end whose frees
    // made no event.
    let first = Importer::new(TraceWriter::in_memory(&importer.path), &importer.path);
    let first = first.symbols(importer.symbols.take());
    let (writer, meta) = pass_events(source, first, slabinfo, progress)?;
    let trace = writer.into_reader(meta)?;
    let samples = trace.meta().samples.clone();
    importer = importer.sampled(&samples, Unfreed::of(&trace)?, trace.meta().cpus);
    let all = &mut |_: &Event| true;
    let mut rows = Kept::new(&trace, all);
    importer.read(&mut rows, progress)?;
    let meta = Meta { samples, ..rows.facts().meta.clone() };
    let (mut writer, mut meta) = importer.finish(&rows, meta)?;
    let Quality { implicit_frees, estimated_frees, .. } = meta.quality;
    meta.quality = Quality { implicit_frees, estimated_frees, ..trace.meta().quality.clone() };
    for cache in &trace.meta().caches {
        let again = writer.cache(cache.recorded_name()) as usize;
        writer.caches_mut()[again].inferred = cache.inferred;
    }
    Ok((writer, meta))
}

fn pass_events(
    source: &mut dyn Source,
    mut importer: Importer,
    slabinfo: Option<&str>,
    progress: &mut dyn FnMut(Progress),
) -> Result<(TraceWriter, Meta), Error> {
    importer.read(source, progress)?;
    if importer.rows == 0 {
        let skipped = source.facts().meta.quality.skipped.iter();
        let skipped = skipped.chain(&importer.quality.skipped);
        return Err(no_events(&importer.path, skipped, &source.facts().other_events));
    }
    let mut meta = source.facts().meta.clone();
    if let Some(text) = slabinfo {
        meta.slabs_end.get_or_insert_default().slabinfo = text.to_owned();
    }
    importer.finish(source, meta)
}

fn no_events<'a>(
    path: &Path,
    skipped: impl Iterator<Item = &'a Skipped>,
    others: &BTreeSet<String>,
) -> Error {
    let what = match skipped.max_by_key(|s| s.count) {
        Some(most) => format!(
            "no event could be used: {} skipped as `{}`, the first at {}",
            most.count, most.reason, most.first
        ),
        None => no_kmem_events(others),
    };
    let remedy = "record some with `slablab record` or `perf kmem record`";
    Error::bad(path, At::File, what, remedy)
}

/// Takes a source's events and writes a trace.
#[derive(Debug)]
pub(crate) struct Importer {
    writer: TraceWriter,
    /// What errors name.
    path: PathBuf,
    objects: Objects,
    pages: Pages,
    /// The kernel's symbols, where others are wanted than the source has.
    symbols: Option<Symbols>,
    /// What the recorded kernel said of its objects, where it was asked.
    population: Option<Population>,
    /// In which copies of kmalloc's caches objects are, where the kernel has copies.
    copies: Option<Copies>,
    /// The bytes allocated by call site, in a portion of one in `one_in` objects.
    blocks: Option<Blocks>,
    /// The rows, from the first allocation on that names no cache.
    unnamed: Option<unnamed::Rows>,
    site_caches: SiteCaches,
    /// The writer's ids by the source's; of call sites and stacks [`NONE`] until a row has them.
    sites: Vec<u32>,
    caches: Vec<u32>,
    stacks: Vec<u32>,
    quality: Quality,
    time_ns: u64,
    /// The time of the last event, by CPU.
    cpu_times_ns: Vec<u64>,
    rows: u64,
}

impl Importer {
    /// `path` is what errors name.
    pub(crate) fn new(writer: TraceWriter, path: &Path) -> Importer {
        Importer {
            writer,
            path: path.into(),
            objects: Objects::new(Classes::One),
            pages: Pages::default(),
            symbols: None,
            population: None,
            copies: None,
            blocks: None,
            unnamed: None,
            site_caches: SiteCaches::default(),
            sites: Vec::new(),
            caches: Vec::new(),
            stacks: Vec::new(),
            quality: Quality::default(),
            time_ns: 0,
            cpu_times_ns: Vec::new(),
            rows: 0,
        }
    }

    /// Names call sites by these symbols.
    fn symbols(self, symbols: Option<Symbols>) -> Importer {
        Importer { symbols, ..self }
    }

    /// Ends objects whose frees are not among the events by what the kernel said of them. The machine has `cpus`.
    pub(crate) fn sampled(mut self, samples: &Samples, unfreed: Unfreed, cpus: u32) -> Importer {
        self.population = Some(Population::new(samples, unfreed, cpus));
        self.copies = Copies::of(samples);
        self
    }

    /// Makes the numbers of a recording of one in `one_in` objects stand for all.
    pub(crate) fn portion(mut self, one_in: u32) -> Importer {
        (self.blocks, self.objects) = (Some(Blocks::new(one_in)), Objects::new(Classes::Blocks));
        self
    }

    /// Reads all of `source`.
    pub(crate) fn read(
        &mut self,
        source: &mut dyn Source,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), Error> {
        let (mut events, mut reads) = (Vec::new(), 0u32);
        self.objects.keep_classes(source.facts().meta.portion.as_ref());
        while source.read(&mut events)? {
            self.name(source);
            self.check_machine(source)?;
            let facts = source.facts();
            let cpus = if facts.meta.cpus > 0 { facts.meta.cpus } else { CPUS_MAX };
            for part in events.chunks(TOUCHED) {
                self.objects.touch(part);
                for event in part {
                    self.any_event(event, facts, cpus)?;
                }
            }
            events.clear();
            if reads.is_multiple_of(16) {
                progress(source.facts().progress());
            }
            reads += 1;
        }
        Ok(())
    }

    /// Takes an event of a machine of `cpus` CPUs, if it can have happened there.
    #[inline]
    fn any_event(&mut self, event: &RawEvent, facts: &Facts, cpus: u32) -> Result<(), Error> {
        if event.page.is_none() {
            self.population.iter_mut().for_each(|population| population.count(event.kind));
        }
        if let Some(reason) = event.beyond_linux(cpus) {
            let row = self.rows;
            self.quality.skip(reason, || format!("event {row}"));
            return Ok(());
        }
        self.name_site(facts, event);
        self.event(event)
    }

    /// Writes what is left; returns the writer, and the metadata to finish it with.
    pub(crate) fn finish(
        mut self,
        source: &dyn Source,
        mut meta: Meta,
    ) -> Result<(TraceWriter, Meta), Error> {
        self.end_unseen(u64::MAX, 0)?;
        self.population.iter().for_each(|population| population.count_frees(&mut meta.samples));
        if let Some(population) = self.population.as_ref().filter(|_| meta.samples.is_from_boot()) {
            population.older_than_events(&mut meta.samples);
            meta.samples.thin();
        }
        if let Some(rows) = &mut self.unnamed {
            let slabs = [&meta.slabs_start, &meta.slabs_end].map(Option::as_ref);
            let slabs: Vec<_> = slabs.into_iter().flatten().collect();
            rows.finish(&slabs, &mut self.writer)?;
            self.quality.caches_inferred = rows.inferred;
            self.quality.caches_unknown = rows.unknown;
        }
        if let Some(copies) = self.copies.take() {
            copies.finish(self.writer.sites_mut());
        }
        self.site_caches.name_merged(&meta, &mut self.writer);
        meta.pages = Some(self.pages.meta);
        self.quality.lost.append(&mut meta.quality.lost);
        self.quality.gaps_uncounted = meta.quality.gaps_uncounted;
        self.quality.disordered += meta.quality.disordered;
        let mut skipped = source.facts().meta.quality.skipped.clone();
        skipped.append(&mut self.quality.skipped);
        meta.quality = Quality { skipped, ..self.quality };
        let classes = self.objects.classes();
        meta.portion.iter_mut().for_each(|portion| portion.classes = classes);
        if let Some(blocks) = self.blocks {
            let sites = self.writer.sites();
            let name = |site: u32| sites.get(site as usize).map_or("", |site| &site.name);
            meta.portion = Some(blocks.finish(name));
        }
        Ok((self.writer, meta))
    }

    /// Ends the objects that the samples up to `time_ns` show to be freed; an event on `cpu` is next.
    fn end_unseen(&mut self, time_ns: u64, cpu: u16) -> Result<(), Error> {
        while let Some(population) = &mut self.population
            && let Some(due_ns) = population.due_ns(time_ns)
        {
            if time_ns != u64::MAX {
                self.time_ns = self.time_ns.max(due_ns);
            }
            let objects = &self.objects;
            for (name, ended) in population.look(|ptr| objects.slot(ptr)) {
                match ended {
                    Ended::Older => {
                        let cache = self.writer.cache(&name);
                        self.write(&Event { cache, ..self.estimated_free(cpu) })?;
                    }
                    Ended::Object(ptr) => self.end_object(ptr, cpu)?,
                }
            }
            self.population.iter_mut().for_each(Population::begin_interval);
        }
        Ok(())
    }

    fn estimated_free(&self, cpu: u16) -> Event {
        let kind = Kind::EstimatedFree;
        Event { kind, time_ns: self.time_ns, cpu, ..RawEvent::EMPTY.to_row(NONE) }
    }

    /// Ends an object whose free no event tells of.
    fn end_object(&mut self, ptr: u64, cpu: u16) -> Result<(), Error> {
        let Some(Object { slot: object, owner }) = self.objects.remove(ptr) else { return Ok(()) };
        self.population.iter_mut().for_each(|population| population.end(owner, ptr));
        self.quality.estimated_frees += 1;
        let cache = owner.cache();
        if let Some(cache) = self.cache(cache) {
            cache.estimated_frees += 1;
        }
        self.write(&Event { object, cache, ..self.estimated_free(cpu) })
    }

    fn event(&mut self, raw: &RawEvent) -> Result<(), Error> {
        self.rows += 1;
        self.note_order(raw);
        if let Some(page) = raw.page {
            let stack = self.stacks.get(raw.stack as usize).copied().unwrap_or(NONE);
            return self.pages.event(raw, page, stack, &mut self.writer);
        }
        self.slab_event(raw)
    }

    /// Counts an event that comes earlier than one before it on its CPU.
    fn note_order(&mut self, raw: &RawEvent) {
        let cpu = raw.cpu as usize;
        if cpu >= self.cpu_times_ns.len() {
            self.cpu_times_ns.resize(cpu + 1, 0);
        }
        let before_ns = std::mem::replace(&mut self.cpu_times_ns[cpu], raw.time_ns);
        self.quality.disordered += u64::from(raw.time_ns < before_ns);
    }

    fn slab_event(&mut self, raw: &RawEvent) -> Result<(), Error> {
        self.end_unseen(raw.time_ns, raw.cpu as u16)?;
        self.time_ns = self.time_ns.max(raw.time_ns);
        let mut event = Event {
            time_ns: self.time_ns,
            site: self.sites.get(raw.site as usize).copied().unwrap_or(NONE),
            cache: if raw.cache == NONE { NONE } else { self.caches[raw.cache as usize] },
            stack: self.stacks.get(raw.stack as usize).copied().unwrap_or(NONE),
            ..raw.to_row(NONE)
        };
        match raw.kind {
            Kind::Kmalloc | Kind::KmemCacheAlloc => self.alloc(raw, &mut event)?,
            Kind::Kfree | Kind::KmemCacheFree => self.free(raw, &mut event)?,
            // Only a trace that is imported again has them. Without its object it would say nothing.
            Kind::ImplicitFree => {
                let Some(old) = self.objects.remove(raw.ptr) else { return Ok(()) };
                return self.implicit_free(old, raw.ptr, &event);
            }
            Kind::EstimatedFree => return self.end_object(raw.ptr, event.cpu),
        }
        self.write(&event)
    }

    fn alloc(&mut self, raw: &RawEvent, event: &mut Event) -> Result<(), Error> {
        if raw.ptr == 0 {
            self.quality.failed_allocs += 1;
        } else if !raw.has_object() {
            self.quality.zero_allocs += 1;
        } else {
            self.begin_object(raw, event)?;
        }
        if let Some(cache) = self.cache(event.cache) {
            cache.allocs += 1;
            self.site_caches.count(event.site, event.cache);
        }
        Ok(())
    }

    /// Gives an allocation's object its slot.
    #[inline]
    fn begin_object(&mut self, raw: &RawEvent, event: &mut Event) -> Result<(), Error> {
        let site = self.writer.sites().get(event.site as usize).map_or("", |site| &site.name);
        let place = self.population.as_mut().map_or(NONE, |p| p.place(event, site));
        let (slot, old) = self.objects.insert(raw.ptr, Owner::new(event.cache, place));
        if let Some(old) = old {
            self.implicit_free(old, raw.ptr, event)?;
        }
        let mut unnamed = Unnamed::NAMED;
        if unnamed::is_unnamed(event) {
            unnamed = self.unnamed_rows()?.next_unnamed(event);
        }
        self.objects.set_unnamed(slot, unnamed);
        event.object = slot;
        if let Some(blocks) = &mut self.blocks {
            blocks.add(event.site, raw.ptr, raw.bytes_alloc);
        }
        if let Some(population) = &mut self.population {
            let slot_of = |ptr| self.objects.slot(ptr);
            if let Some(gone) = population.alloc(place, slot, raw.ptr, event.site, slot_of) {
                self.end_object(gone, event.cpu)?;
            }
        }
        Ok(())
    }

    /// Returns the rows that wait for the name of a cache.
    fn unnamed_rows(&mut self) -> Result<&mut unnamed::Rows, Error> {
        Ok(match &mut self.unnamed {
            Some(rows) => rows,
            none => none.insert(unnamed::Rows::create(&self.path)?),
        })
    }

    /// Ends the life of `old`, whose address `ptr` is about to be that of `next`.
    fn implicit_free(&mut self, old: Object, ptr: u64, next: &Event) -> Result<(), Error> {
        let Object { slot: object, owner } = old;
        self.population.iter_mut().for_each(|population| population.end(owner, ptr));
        self.quality.implicit_frees += 1;
        let (kind, site, cache) = (Kind::ImplicitFree, NONE, owner.cache());
        if let Some(cache) = self.cache(cache) {
            cache.implicit_frees += 1;
        }
        let empty = Event { bytes_req: 0, bytes_alloc: 0, gfp: 0, node: -1, stack: NONE, ..*next };
        self.write(&Event { kind, object, site, cache, ..empty })
    }

    fn free(&mut self, raw: &RawEvent, event: &mut Event) -> Result<(), Error> {
        if !raw.has_object() {
            self.quality.null_frees += 1;
            return Ok(());
        }
        let Some(Object { slot, owner }) = self.objects.remove(raw.ptr) else {
            self.quality.older_frees += 1;
            if let Some(population) = &mut self.population {
                population.free_older(event);
            }
            if let Some(cache) = self.cache(event.cache) {
                cache.older_frees += 1;
            }
            return Ok(());
        };
        self.population.iter_mut().for_each(|population| population.free(owner, raw.ptr));
        event.object = slot;
        let unnamed = self.objects.unnamed(slot);
        if event.cache == NONE {
            event.cache = owner.cache();
        } else if unnamed != Unnamed::NAMED {
            self.unnamed_rows()?.name(unnamed, event.cache)?;
            let cache = &mut self.writer.caches_mut()[event.cache as usize];
            cache.allocs += 1;
            cache.inferred += 1;
        }
        if let Some(cache) = self.cache(event.cache) {
            cache.frees += 1;
        }
        Ok(())
    }

    fn cache(&mut self, id: u32) -> Option<&mut crate::meta::RecordedCache> {
        self.writer.caches_mut().get_mut(id as usize)
    }

    /// Writes a row. (It is borrowed, as a processor waits where what was just stored in parts is copied as a whole: that took
    /// a tenth of an import's time.)
    fn write(&mut self, event: &Event) -> Result<(), Error> {
        if let Some(copies) = &mut self.copies {
            copies.note(event, self.writer.sites());
        }
        if unnamed::is_unnamed(event) {
            self.unnamed_rows()?;
        }
        match &mut self.unnamed {
            Some(rows) => rows.push(event),
            None => self.writer.push(event),
        }
    }
}
