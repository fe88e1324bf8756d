//! Turns any recording into a trace.
//!
//! How it works: events come from a [`Source`] in time order. Each pointer becomes the number of a
//! slot, free slots being used again first ([`objects`]); sites and caches get their final names; what
//! an event lacks is inferred where it can be ([`caches`]); what cannot be placed is counted. Rows go
//! to the writer at once, unless an allocation's cache is still unknown (kernels before 6.8 do not
//! name it): then they wait for the free that names it.
//!
//! Invariants: rows = events read - skipped + implicit frees; each row's `object` is live exactly
//! between its allocation and its free, explicit or implicit.

mod caches;
mod objects;

use std::path::{Path, PathBuf};

use self::caches::Waiting;
use self::objects::{Live, Objects};
use crate::error::At;
use crate::meta::{Quality, Skipped};
use crate::source::{Format, Source, open_raw};
use crate::{Error, Event, Kind, Meta, NONE, RawEvent, TraceReader, TraceWriter};

/// What to import, and where to.
#[derive(Debug, Clone)]
pub struct ImportOptions {
    /// The recording.
    pub input: PathBuf,
    /// Its format; found out when `None`.
    pub format: Option<Format>,
    /// The trace file to write.
    pub output: PathBuf,
    /// `/proc/slabinfo` of the recorded machine when the recording ended: names caches and classes that
    /// the events do not.
    pub slabinfo: Option<String>,
}

/// How far a long work has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// What is being done, as in "reading".
    pub phase: &'static str,
    /// How much of it is done.
    pub done: u64,
    /// How much there is, 0 when that is not known.
    pub total: u64,
    /// What `done` and `total` count: "bytes" or "events".
    pub unit: &'static str,
}

/// Imports a recording and returns the new trace's metadata.
///
/// # Errors
/// When the recording cannot be read, holds no kmem events, or the trace cannot be written. Nothing
/// is left at `options.output` then.
pub fn import(options: &ImportOptions, progress: &mut dyn FnMut(Progress)) -> Result<Meta, Error> {
    let mut source = open_raw(&options.input, options.format)?;
    let writer = TraceWriter::create(&options.output)?;
    let slabinfo = options.slabinfo.as_deref();
    let (writer, meta) = pass(source.as_mut(), &options.input, slabinfo, writer, progress)?;
    writer.finish(meta)
}

/// Reads a recording to be used as a trace at once: what [`import()`] would write is kept in memory, or
/// in a temporary file where it is long. `path` is that of `source`.
///
/// # Errors
/// When the recording cannot be read, holds no kmem events, or there is no room for it.
pub fn load(
    mut source: Box<dyn Source>,
    path: &Path,
    progress: &mut dyn FnMut(Progress),
) -> Result<TraceReader, Error> {
    let (writer, meta) = pass(source.as_mut(), path, None, TraceWriter::in_memory(path), progress)?;
    writer.into_reader(meta)
}

/// Passes all events of `source` on to `writer`; `slabinfo` is the recorded machine's.
fn pass(
    source: &mut dyn Source,
    path: &Path,
    slabinfo: Option<&str>,
    writer: TraceWriter,
    progress: &mut dyn FnMut(Progress),
) -> Result<(TraceWriter, Meta), Error> {
    let mut importer = Importer::new(writer);
    importer.read(source, progress)?;
    if importer.rows == 0 {
        return Err(no_events(path, &source.facts().skipped));
    }
    let mut meta = source.facts().meta.clone();
    if let Some(text) = slabinfo {
        meta.slabs_end.get_or_insert_default().slabinfo = text.to_owned();
    }
    importer.finish(source, meta)
}

fn no_events(path: &Path, skipped: &[Skipped]) -> Error {
    let what = match skipped.iter().max_by_key(|s| s.count) {
        Some(most) => format!(
            "no event could be used: {} skipped as `{}`, the first at {}",
            most.count, most.reason, most.first
        ),
        None => "holds no kmem events".into(),
    };
    let remedy = "record some with `slablab record` or `perf kmem record`";
    Error::bad(path, At::File, what, remedy)
}

/// Takes a source's events and writes a trace.
#[derive(Debug)]
pub(crate) struct Importer {
    writer: TraceWriter,
    objects: Objects,
    waiting: Waiting,
    /// The writer's ids by the source's.
    sites: Vec<u32>,
    caches: Vec<u32>,
    quality: Quality,
    skipped: Vec<Skipped>,
    time_ns: u64,
    /// The time of the last event, by CPU.
    cpu_times_ns: Vec<u64>,
    rows: u64,
}

/// The most CPUs that Linux can be built for (`NR_CPUS` on x86).
const CPUS_MAX: u32 = 8192;

/// Nothing that the allocators give is as large as this; a greater size is a damaged record.
const BYTES_MAX: u64 = 1 << 40;

/// The kernel's `ZERO_SIZE_PTR`, what kmalloc(0) returns.
const ZERO_SIZE_PTR: u64 = 16;

impl Importer {
    pub(crate) fn new(writer: TraceWriter) -> Importer {
        Importer {
            writer,
            objects: Objects::default(),
            waiting: Waiting::default(),
            sites: Vec::new(),
            caches: Vec::new(),
            quality: Quality::default(),
            skipped: Vec::new(),
            time_ns: 0,
            cpu_times_ns: Vec::new(),
            rows: 0,
        }
    }

    /// Reads all of `source`.
    pub(crate) fn read(
        &mut self,
        source: &mut dyn Source,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), Error> {
        let mut events = Vec::new();
        let mut reads: u32 = 0;
        while source.read(&mut events)? {
            self.name(source);
            let cpus = match source.facts().meta.cpus {
                0 => CPUS_MAX,
                cpus => cpus.min(CPUS_MAX),
            };
            for event in events.drain(..) {
                if let Err(reason) = plausible(&event, cpus) {
                    let row = self.rows;
                    crate::source::skip(&mut self.skipped, reason, || format!("event {row}"));
                    continue;
                }
                self.event(&event)?;
            }
            if reads.is_multiple_of(16) {
                let (done, total) = source.progress();
                progress(Progress { phase: "reading", done, total, unit: "bytes" });
            }
            reads += 1;
        }
        Ok(())
    }

    /// Writes what is left; returns the writer, and the metadata to finish it with.
    pub(crate) fn finish(
        mut self,
        source: &dyn Source,
        mut meta: Meta,
    ) -> Result<(TraceWriter, Meta), Error> {
        self.waiting.infer(meta.slabs_start.as_ref().or(meta.slabs_end.as_ref()), &mut self.writer);
        self.write_ready()?;
        self.quality.caches_inferred = self.waiting.inferred;
        self.quality.caches_unknown = self.waiting.unknown;
        self.quality.lost.append(&mut meta.quality.lost);
        self.quality.disordered += meta.quality.disordered;
        self.quality.skipped = source.facts().skipped.clone();
        self.quality.skipped.append(&mut self.skipped);
        meta.quality = self.quality;
        Ok((self.writer, meta))
    }

    /// Gives the source's new sites and caches their final names.
    fn name(&mut self, source: &dyn Source) {
        let tables = source.tables();
        for site in &tables.sites[self.sites.len()..] {
            let id = match site.name.as_str() {
                "" => self.writer.site(&source.symbols().site_name(site.address), site.address),
                name => self.writer.site(name, site.address),
            };
            self.sites.push(id);
        }
        for cache in &tables.caches[self.caches.len()..] {
            self.caches.push(self.writer.cache(cache));
        }
    }

    fn event(&mut self, raw: &RawEvent) -> Result<(), Error> {
        self.rows += 1;
        let cpu = raw.cpu as usize;
        if cpu >= self.cpu_times_ns.len() {
            self.cpu_times_ns.resize(cpu + 1, 0);
        }
        let before_ns = std::mem::replace(&mut self.cpu_times_ns[cpu], raw.time_ns);
        self.quality.disordered += u64::from(raw.time_ns < before_ns);
        self.time_ns = self.time_ns.max(raw.time_ns);
        let mut event = Event {
            time_ns: self.time_ns,
            cpu: raw.cpu as u16,
            pid: raw.pid,
            kind: raw.kind,
            object: NONE,
            site: self.sites.get(raw.site as usize).copied().unwrap_or(NONE),
            cache: if raw.cache == NONE { NONE } else { self.caches[raw.cache as usize] },
            bytes_req: raw.bytes_req,
            bytes_alloc: raw.bytes_alloc,
            gfp: raw.gfp,
            node: raw.node as i16,
        };
        if raw.kind.is_alloc() {
            self.alloc(raw, &mut event)?;
        } else {
            self.free(raw, &mut event);
        }
        self.write(event)
    }

    fn alloc(&mut self, raw: &RawEvent, event: &mut Event) -> Result<(), Error> {
        if raw.ptr == 0 {
            self.quality.failed_allocs += 1;
        } else if raw.ptr == ZERO_SIZE_PTR || raw.bytes_req == 0 {
            self.quality.zero_allocs += 1;
        } else {
            if let Some(old) = self.objects.remove(raw.ptr) {
                self.implicit_free(&old, event)?;
            }
            let row = self.waiting.next_row();
            event.object = self.objects.insert(raw.ptr, event.cache, row);
        }
        if let Some(cache) = self.cache(event.cache) {
            cache.allocs += 1;
        }
        Ok(())
    }

    /// Ends the life of `old`, whose address `next` is about to get.
    fn implicit_free(&mut self, old: &Live, next: &Event) -> Result<(), Error> {
        self.quality.implicit_frees += 1;
        if let Some(cache) = self.cache(old.cache) {
            cache.implicit_frees += 1;
        }
        let (object, cache) = (old.object, old.cache);
        let bytes = Event { bytes_req: 0, bytes_alloc: 0, gfp: 0, node: -1, ..*next };
        self.write(Event { kind: Kind::ImplicitFree, object, site: NONE, cache, ..bytes })
    }

    fn free(&mut self, raw: &RawEvent, event: &mut Event) {
        if raw.ptr == 0 || raw.ptr == ZERO_SIZE_PTR {
            self.quality.null_frees += 1;
            return;
        }
        let Some(live) = self.objects.remove(raw.ptr) else {
            self.quality.older_frees += 1;
            if let Some(cache) = self.cache(event.cache) {
                cache.older_frees += 1;
            }
            return;
        };
        event.object = live.object;
        if event.cache == NONE {
            event.cache = live.cache;
        } else if live.cache == NONE && self.waiting.name(live.row, event.cache) {
            let cache = &mut self.writer.caches_mut()[event.cache as usize];
            cache.allocs += 1;
            cache.inferred += 1;
        }
        if let Some(cache) = self.cache(event.cache) {
            cache.frees += 1;
        }
    }

    fn cache(&mut self, id: u32) -> Option<&mut crate::meta::Cache> {
        self.writer.caches_mut().get_mut(id as usize)
    }

    fn write(&mut self, event: Event) -> Result<(), Error> {
        let nameless = event.kind == Kind::KmemCacheAlloc && event.cache == NONE;
        if !nameless && self.waiting.is_empty() {
            self.waiting.pass();
            return self.writer.push(&event);
        }
        self.waiting.push(event);
        self.write_ready()
    }

    fn write_ready(&mut self) -> Result<(), Error> {
        while let Some(event) = self.waiting.pop() {
            self.writer.push(&event)?;
        }
        Ok(())
    }
}

/// Says why an event cannot be true.
fn plausible(event: &RawEvent, cpus: u32) -> Result<(), &'static str> {
    if event.cpu >= cpus {
        return Err("CPU number beyond the machine");
    }
    if event.bytes_req > BYTES_MAX || event.bytes_alloc > BYTES_MAX {
        return Err("size of more than 1 TiB");
    }
    if i16::try_from(event.node).is_err() {
        return Err("NUMA node number beyond the machine");
    }
    Ok(())
}
