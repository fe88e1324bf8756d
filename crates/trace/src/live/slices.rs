//! Slices of time in which the kmem events are on: what was allocated where, at a part of what recording costs.
//!
//! # How it works
//! In an instance of tracefs of our own the events are turned on, and off again some hundred milliseconds
//! later; then the ring buffers are emptied and counted by call site and cache. Between slices the kernel runs
//! undisturbed. A free belongs to the call site that allocated, where that was in the same slice. Who allocates is found
//! by [`who`](super::who).
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

use super::who::{self, Tally};
use crate::import::kmalloc_cache;
use crate::record::tracefs::{Instance, Tracefs};
use crate::record::{machine, stacks};
use crate::source::format::EventFormat;
use crate::source::large::LargeOnce;
use crate::source::page_format::PageFormat;
use crate::source::tracefs_raw::{TracefsRaw, lost};
use crate::source::{Facts, Source};
use crate::{Error, Kind, NONE, RawEvent, Symbols};

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

/// What was seen of one call site.
#[derive(Debug, Clone, Default)]
pub(super) struct SeenSite {
    pub(super) seen: Seen,
    /// The cache that it allocates from
    pub(super) cache: String,
    /// By program, its allocations
    pub(super) programs: Tally,
    /// Of a helper by the function that called it, the stacks that were seen
    pub(super) owners: Tally,
}

/// What a slice showed.
#[derive(Debug, Default)]
pub(super) struct Slice {
    pub(super) seconds: f64,
    /// By call site's name.
    pub(super) sites: FxHashMap<String, SeenSite>,
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
    tracefs: Tracefs,
    /// The call sites of helpers whose stacks a slice asks for, and whether the kernel gives any.
    asked: Vec<u64>,
    has_stacks: bool,
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
        let mut formats: Vec<_> = formats.collect::<Result<_, _>>()?;
        formats.extend(instance.event_format(stacks::FORMAT).ok());
        let has_stacks = formats.len() > events.len();
        Ok(Slices {
            cpus,
            page: instance.page_format()?,
            formats,
            events,
            symbols: Symbols::running()?,
            lost_before: 0,
            tracefs,
            asked: Vec::new(),
            has_stacks,
            instance,
        })
    }

    /// Takes a slice of that length.
    pub(super) fn take(&mut self, length: Duration) -> Result<Slice, Error> {
        self.switch("1")?;
        self.ask(true)?;
        let start_ns = now_ns();
        std::thread::sleep(length);
        let end_ns = now_ns();
        self.switch("0")?;
        self.ask(false)?;
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
        self.choose(&counts, pages.facts());
        let names = who::thread_names(&self.tracefs, &counts.threads());
        counts.finish(pages.facts(), &self.symbols, &names, &mut slice);
        let lost_now = self.lost()?;
        slice.lost = lost_now - self.lost_before;
        self.lost_before = lost_now;
        Ok(slice)
    }

    /// Begins or ceases to ask for stacks. Where the kernel gives none, helpers stay without owners.
    fn ask(&mut self, is_on: bool) -> Result<(), Error> {
        if self.asked.is_empty() {
            return Ok(());
        }
        if !is_on {
            return who::cease(&self.instance, &self.events);
        }
        if who::ask(&self.instance, &self.events, &self.asked).is_err() {
            self.asked.clear();
            self.has_stacks = false;
            who::cease(&self.instance, &self.events)?;
        }
        Ok(())
    }

    /// Chooses the helpers whose stacks the next slice asks for: those that allocated most.
    fn choose(&mut self, counts: &Counts, facts: &Facts) {
        if !self.has_stacks {
            return;
        }
        let mut allocs = FxHashMap::<u64, u64>::default();
        for (origin, seen) in &counts.origins {
            *allocs.entry(address_of(facts, origin.0)).or_default() += seen.allocs;
        }
        self.asked = who::helpers(allocs.into_iter(), &self.symbols);
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

/// Returns the address of a call site.
fn address_of(facts: &Facts, site: u32) -> u64 {
    facts.names.sites.get(site as usize).map_or(0, |site| site.address)
}

/// Site, cache, and of kmalloc bytes given and flags.
type Origin = (u32, u32, u64, u32);

/// A CPU and its pages.
type CpuPages = (u32, Cursor<Vec<u8>>);

/// What a slice counts while it is read, by numbers.
#[derive(Debug, Default)]
struct Counts {
    origins: FxHashMap<Origin, Seen>,
    /// By call site and thread, the allocations
    by_thread: FxHashMap<(u32, u32), u64>,
    /// By call site and stack, the allocations whose stack was kept
    by_stack: FxHashMap<(u32, u32), u64>,
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
            *self.by_thread.entry((event.site, event.pid)).or_default() += 1;
            if event.stack != NONE {
                *self.by_stack.entry((event.site, event.stack)).or_default() += 1;
            }
        } else if let Some(origin) = self.live.remove(&event.ptr) {
            self.origins.entry(origin).or_default().frees += 1;
        } else {
            *self.older.entry(event.cache).or_default() += 1;
        }
    }

    /// Returns how often each thread allocated.
    fn threads(&self) -> FxHashMap<u32, u64> {
        let mut threads = FxHashMap::default();
        for ((_, thread), allocs) in &self.by_thread {
            *threads.entry(*thread).or_default() += allocs;
        }
        threads
    }

    fn finish(
        self,
        facts: &Facts,
        symbols: &Symbols,
        threads: &FxHashMap<u32, String>,
        slice: &mut Slice,
    ) {
        let names = &facts.names;
        let cache_name = |cache: u32| names.caches.get(cache as usize).cloned().unwrap_or_default();
        let site_name = |site: u32| symbols.site_name(address_of(facts, site));
        for ((site, cache, bytes, gfp), seen) in self.origins {
            let site = site_name(site);
            let cache = match cache_name(cache) {
                name if name.is_empty() && bytes > 0 => kmalloc_cache(bytes, gfp, &site),
                name => name,
            };
            slice.caches.entry(cache.clone()).or_default().add(&seen);
            let new = || SeenSite { cache, ..SeenSite::default() };
            slice.sites.entry(site).or_insert_with(new).seen.add(&seen);
        }
        for ((site, thread), allocs) in self.by_thread {
            // Thread 0 is what a CPU without work runs.
            let program = match (thread, threads.get(&thread)) {
                (0, _) => "swapper".to_owned(),
                (_, name) => name.cloned().unwrap_or_default(),
            };
            slice.sites.entry(site_name(site)).or_default().programs.add(program, allocs);
        }
        for ((site, stack), allocs) in self.by_stack {
            if let Some(owner) = who::owner(&names.stack_addresses(stack), symbols) {
                slice.sites.entry(site_name(site)).or_default().owners.add(owner, allocs);
            }
        }
        for (cache, frees) in self.older {
            slice.caches.entry(cache_name(cache)).or_default().frees += frees;
        }
        slice.caches.remove("");
    }
}

impl SeenSite {
    /// Adds what another slice saw.
    pub(super) fn add(&mut self, other: &SeenSite) {
        self.seen.add(&other.seen);
        if self.cache.is_empty() {
            self.cache.clone_from(&other.cache);
        }
        self.programs.add_all(&other.programs);
        self.owners.add_all(&other.owners);
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
