//! Slices of time in which the kmem events are on: what was allocated where, at a part of what recording costs.
//!
//! # How it works
//! In an instance of tracefs of our own the events are turned on, and off again some hundred milliseconds
//! later; then the ring buffers are emptied and counted by call site and cache. Between slices the kernel runs
//! undisturbed. A free belongs to the call site that allocated, where that was in the same slice.
//!
//! # Invariants
//! Memory holds the pages of one slice. The instance is removed when the value is dropped.

use std::fs::File;
use std::io::{Cursor, ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::time::Duration;

use rustc_hash::FxHashMap;
use rustix::fs::OFlags;
use rustix::time::{ClockId, clock_gettime};

use crate::import::kmalloc_cache;
use crate::record::machine;
use crate::record::tracefs::{Instance, Tracefs};
use crate::source::format::EventFormat;
use crate::source::large::LargeOnce;
use crate::source::page_format::PageFormat;
use crate::source::tracefs_raw::{TracefsRaw, lost};
use crate::source::{Facts, Source};
use crate::{Error, Kind, RawEvent, Symbols};

/// Kibibytes of ring buffer for each CPU: a slice of 200 ms at two million events a second.
const BUFFER_KIB: u32 = 24 << 10;

/// What was seen of one call site, or of one cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) allocs: u64,
    /// Frees of what was allocated in the slice; of a cache, all.
    pub(super) frees: u64,
    pub(super) bytes_req: u64,
    pub(super) bytes_alloc: u64,
}

/// What a slice showed.
#[derive(Debug, Default)]
pub(super) struct Slice {
    pub(super) seconds: f64,
    /// By call site's name; with the cache that it allocates from.
    pub(super) sites: FxHashMap<String, (Seen, String)>,
    pub(super) caches: FxHashMap<String, Seen>,
    /// Allocations of all call sites.
    pub(super) allocs: u64,
    /// Events that the buffers had no room for.
    pub(super) lost: u64,
}

/// What slices are taken with.
#[derive(Debug)]
pub(super) struct Slices {
    cpus: Vec<(u32, File)>,
    page: PageFormat,
    formats: Vec<EventFormat>,
    events: Vec<&'static str>,
    symbols: Symbols,
    /// Losses of all slices before.
    lost_before: u64,
    /// Declared last, so dropped last: it cannot be removed while files in it are open.
    instance: Instance,
}

impl Slices {
    pub(super) fn open() -> Result<Slices, Error> {
        let tracefs = Tracefs::find_or_mount()?;
        let events = tracefs.kmem_events();
        if events.is_empty() {
            return Err(Error::CannotRecord {
                what: format!("{}/events/kmem has no events", tracefs.root.display()),
                remedy: "boot a kernel built with CONFIG_EVENT_TRACING=y, or look by --by cache"
                    .into(),
            });
        }
        let instance = tracefs.instance()?;
        instance.write("tracing_on", "0")?;
        instance.write("options/overwrite", "0")?;
        instance.write("trace_clock", "mono")?;
        instance.write("buffer_size_kb", &BUFFER_KIB.to_string())?;
        let open = |cpu| {
            let path = instance.path(&format!("per_cpu/cpu{cpu}/trace_pipe_raw"));
            let flags = OFlags::NONBLOCK.bits() as i32;
            let file = File::options().read(true).custom_flags(flags).open(&path);
            file.map(|file| (cpu, file)).map_err(|e| Error::io(&path, "cannot open", e))
        };
        let cpus = machine::cpus_online().into_iter().map(open).collect::<Result<_, _>>()?;
        let formats = events.iter().map(|event| instance.event_format(&format!("kmem/{event}")));
        Ok(Slices {
            cpus,
            page: instance.page_format()?,
            formats: formats.collect::<Result<_, _>>()?,
            events,
            symbols: Symbols::running()?,
            lost_before: 0,
            instance,
        })
    }

    /// Takes a slice of that length.
    pub(super) fn take(&mut self, length: Duration) -> Result<Slice, Error> {
        self.switch("1")?;
        let start_ns = now_ns();
        std::thread::sleep(length);
        let end_ns = now_ns();
        self.switch("0")?;
        let streams = self.pages()?;
        let pages = TracefsRaw::new(self.page, &self.formats, streams, Facts::default());
        let pages = pages.map_err(|what| self.instance.unknown("events/kmem", &what))?;
        let mut pages = LargeOnce::new(pages.leave_out(machine::own_threads()));
        let mut slice = Slice { seconds: (end_ns - start_ns) as f64 / 1e9, ..Slice::default() };
        let (mut counts, mut events) = (Counts::default(), Vec::new());
        while pages.read(&mut events)? {
            let within = |event: &RawEvent| (start_ns..end_ns).contains(&event.time_ns);
            for event in events.drain(..).filter(within) {
                slice.allocs += u64::from(event.kind.is_alloc());
                counts.event(&event);
            }
        }
        counts.finish(pages.facts(), &self.symbols, &mut slice);
        let lost_now = self.lost()?;
        slice.lost = lost_now - self.lost_before;
        self.lost_before = lost_now;
        Ok(slice)
    }

    /// Turns all events on or off.
    fn switch(&self, to: &str) -> Result<(), Error> {
        self.instance.write("tracing_on", to)?;
        let switch = |event| self.instance.write(&format!("events/kmem/{event}/enable"), to);
        self.events.iter().try_for_each(switch)
    }

    /// Empties the ring buffers.
    fn pages(&mut self) -> Result<Vec<CpuPages>, Error> {
        let mut streams = Vec::new();
        let mut page = vec![0; self.page.bytes()];
        for (cpu, file) in &mut self.cpus {
            let mut pages = Vec::new();
            loop {
                match file.read(&mut page) {
                    Ok(0) => break,
                    Ok(bytes) => {
                        page[bytes..].fill(0);
                        pages.extend_from_slice(&page);
                    }
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) => {
                        return Err(Error::io("trace_pipe_raw".as_ref(), "cannot read", error));
                    }
                }
            }
            streams.push((*cpu, Cursor::new(pages)));
        }
        Ok(streams)
    }

    fn lost(&self) -> Result<u64, Error> {
        let stats = |cpu: u32| self.instance.read(&format!("per_cpu/cpu{cpu}/stats"));
        self.cpus.iter().map(|(cpu, _)| stats(*cpu).map(|stats| lost(&stats))).sum()
    }
}

/// Site, cache, and of kmalloc bytes given and flags.
type Origin = (u32, u32, u64, u32);

/// A CPU and its pages.
type CpuPages = (u32, Cursor<Vec<u8>>);

/// What a slice counts while it is read, by numbers.
#[derive(Debug, Default)]
struct Counts {
    origins: FxHashMap<Origin, Seen>,
    live: FxHashMap<u64, Origin>,
    /// Frees of objects of a cache that were allocated before, by cache.
    older: FxHashMap<u32, u64>,
}

impl Counts {
    fn event(&mut self, event: &RawEvent) {
        if event.kind.is_alloc() {
            let class =
                if event.kind == Kind::Kmalloc { (event.bytes_alloc, event.gfp) } else { (0, 0) };
            let origin = (event.site, event.cache, class.0, class.1);
            let seen = self.origins.entry(origin).or_default();
            seen.allocs += 1;
            seen.bytes_req += event.bytes_req;
            seen.bytes_alloc += event.bytes_alloc;
            self.live.insert(event.ptr, origin);
        } else if let Some(origin) = self.live.remove(&event.ptr) {
            self.origins.entry(origin).or_default().frees += 1;
        } else {
            *self.older.entry(event.cache).or_default() += 1;
        }
    }

    fn finish(self, facts: &Facts, symbols: &Symbols, slice: &mut Slice) {
        let names = &facts.names;
        let cache_name = |cache: u32| names.caches.get(cache as usize).cloned().unwrap_or_default();
        for ((site, cache, bytes, gfp), seen) in self.origins {
            let site = names.sites.get(site as usize).map_or(0, |site| site.address);
            let site = symbols.site_name(site);
            let cache = match cache_name(cache) {
                name if name.is_empty() && bytes > 0 => kmalloc_cache(bytes, gfp, &site),
                name => name,
            };
            slice.caches.entry(cache.clone()).or_default().add(&seen);
            slice.sites.entry(site).or_insert_with(|| (Seen::default(), cache)).0.add(&seen);
        }
        for (cache, frees) in self.older {
            slice.caches.entry(cache_name(cache)).or_default().frees += frees;
        }
        slice.caches.remove("");
    }
}

impl Seen {
    /// Adds another's counts.
    pub(super) fn add(&mut self, other: &Seen) {
        self.allocs += other.allocs;
        self.frees += other.frees;
        self.bytes_req += other.bytes_req;
        self.bytes_alloc += other.bytes_alloc;
    }
}

/// The clock that the events have.
fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
