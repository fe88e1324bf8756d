//! Records the running kernel's allocations through tracefs.
//!
//! How it works: an instance of tracefs of our own, with the kmem events on; one thread per CPU moves
//! whole pages of the ring buffer to a file while the command runs ([`drain`]); afterwards the pages
//! are imported like any recording, but for the events of our own threads. What the kernel could not
//! store is counted by the kernel itself (`per_cpu/cpuN/stats`).
//!
//! What tracefs can do for each event or context switch costs the workload, so it is left undone: our own threads'
//! events are dropped here and not by `set_event_notrace_pid`, which took a workload of much messaging from 1.33
//! times its untraced time to 1.43, and names of threads are not recorded, which took it to 1.39 (medians of 31).
//!
//! The buffers do not overwrite: when one is full, new events are dropped and counted, which costs
//! the workload less than moving the oldest page out of the way, and leaves one gap instead of many. Only where the last
//! events are wanted ([`Keep::Last`]) do they overwrite, and nobody empties them before the end.
//!
//! Our own threads are known by what the kernel writes beside a mark of theirs (`trace_marker`), as that is their
//! number in the initial PID namespace, whichever we are in.
//!
//! A file that cannot be written any more (a full disk) ends the recording and the command at once, as in perf.
//!
//! Invariants: no instance is left behind, whatever ends the recording but SIGKILL, and that one is
//! removed by the next; kmem events in the trace + lost + our own threads' = those that happened. (A lost record of a
//! probe is one, too, however many objects it tells of.)

mod config;
mod counter;
mod drain;
mod filter;
pub(crate) mod machine;
mod own;
mod paired;
mod probes;
mod sampler;
pub(crate) mod tracefs;
mod workload;

use std::fs::File;
use std::io::{BufReader, Seek};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Barrier, mpsc};
use std::time::{Duration, Instant};

use slablab_host::Signals;

pub use self::counter::EventCounter;
use self::drain::Drain;
use self::filter::{Chosen, Filter};
use self::own::WithoutOwn;
use self::paired::Paired;
use self::probes::Probes;
use self::sampler::Sampler;
use self::tracefs::{Instance, Tracefs};
use self::workload::Ended;
use crate::import::{Importer, Unfreed};
use crate::source::format::EventFormat;
use crate::source::large::LargeOnce;
use crate::source::page_format::PageFormat;
use crate::source::tracefs_raw::{TracefsRaw, lost};
use crate::source::{Facts, Source};
use crate::{
    Addresses, Error, Meta, Portion, Progress, RecordedCache, Samples, Symbols, TraceWriter,
};

/// Kibibytes of ring buffer for each CPU when [`RecordOptions::buffer_kib`] is not set: on the
/// reference machine `perf bench sched messaging -g 5 -l 100` fills two fifths of it on each of two CPUs,
/// so that nobody has to be woken to empty it.
pub const BUFFER_KIB_DEFAULT: u32 = 64 << 10;

/// Part of the machine's memory that all buffers together may take by default.
const MEMORY_SHARE: u64 = 8;

/// What to record, and where to.
#[derive(Debug, Clone)]
pub struct RecordOptions {
    /// The trace file to write.
    pub output: PathBuf,
    /// The command to run meanwhile, word by word. When empty, records until
    /// [`RecordOptions::duration`] has passed or a signal (SIGINT, SIGTERM) comes.
    pub command: Vec<String>,
    /// Stops after this time, command or not.
    pub duration: Option<Duration>,
    /// Kibibytes of ring buffer for each CPU; `None` for [`BUFFER_KIB_DEFAULT`], or less where that
    /// would be more than an eighth of the machine's memory.
    pub buffer_kib: Option<u32>,
    /// Which events are kept.
    pub keep: Keep,
    /// Ends the recording when the machine has more bytes in slabs (`Slab:` of `/proc/meminfo`).
    pub slab_bytes_max: Option<u64>,
    /// Records these caches only, by a filter in the kernel; all and kmalloc when empty.
    pub caches: Vec<String>,
    /// Records what these functions allocate only, or `function+0x1c`, by a filter in the kernel; all when empty.
    pub sites: Vec<String>,
    /// Records what is allocated and freed in bulk too, by probes in the kernel, where it allows them.
    pub probes: bool,
    /// Records one in so many objects only, of [`Portion::ONE_IN`], by a filter in the kernel.
    pub one_in: Option<u32>,
    /// What becomes of the addresses of call sites.
    pub addresses: Addresses,
}

/// Which events of a recording are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// All
    All,
    /// The last ones, as many as the ring buffers hold
    Last,
}

impl RecordOptions {
    /// Returns the options for recording everything to `output` until a signal comes.
    pub fn new(output: impl Into<PathBuf>) -> RecordOptions {
        RecordOptions {
            output: output.into(),
            command: Vec::new(),
            duration: None,
            buffer_kib: None,
            keep: Keep::All,
            slab_bytes_max: None,
            caches: Vec::new(),
            sites: Vec::new(),
            probes: true,
            one_in: None,
            addresses: Addresses::Keep,
        }
    }
}

/// A finished recording.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordSummary {
    /// The trace's metadata, the quality counters among it.
    pub meta: Meta,
    /// Exit status for the caller to pass on: the command's, 128 + signal when one ended it, 0 without a command.
    pub exit_status: i32,
    /// How long the recording ran.
    pub elapsed: Duration,
    /// What the command left running, as in "sleep (pid 12)".
    pub left_running: Vec<String>,
    /// What slabs held when that ended the recording ([`RecordOptions::slab_bytes_max`]).
    pub slab_bytes: Option<u64>,
    /// The functions of [`RecordOptions::sites`] that allocated nothing, with the parts that the compiler made of each.
    pub silent: Vec<(String, Vec<String>)>,
    /// The caches of [`RecordOptions::caches`] that no event names.
    pub silent_caches: Vec<String>,
}

/// Records system-wide while the command runs, and writes the trace.
///
/// # Errors
/// When tracefs or its kmem events cannot be used, the command cannot be started, or the trace
/// cannot be written (then the command is ended). Nothing is left in tracefs or at the output path then.
pub fn record(
    options: &RecordOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<RecordSummary, Error> {
    let writer = TraceWriter::create(&options.output)?.addresses(options.addresses);
    let recorded = Recording::begin(options)?.run(options)?;
    let Recorded { pages, mut meta, lost, missed_calls, ended, slab_bytes, elapsed } = recorded;
    let mut importer = Importer::new(writer, &options.output);
    let symbols = Symbols::running()?;
    // Of caches whose events are not recorded nothing can be concluded, nor of those of which a part is.
    let is_recorded = |name: &String| {
        options.one_in.is_none()
            && options.sites.is_empty()
            && (options.caches.is_empty() || options.caches.contains(name))
    };
    meta.samples.caches.retain(|name, _| is_recorded(name));
    if meta.samples.caches.is_empty() {
        meta.samples.thin();
    } else {
        let mut unfreed = pages.unfreed(&meta.samples, symbols.clone(), progress)?;
        unfreed.take_off_own(&mut meta.samples);
        unfreed.tell_cpu_slabs(&mut meta.samples, meta.cpus);
        importer = importer.sampled(&meta.samples, unfreed, meta.cpus);
        meta.samples.thin();
    }
    if let Some(one_in) = options.one_in {
        importer = importer.portion(one_in);
    }
    let source = WithoutOwn::new(pages.source(symbols)?);
    let mut source = Paired::new(source);
    if options.sites.is_empty() {
        importer.read(&mut source.source, progress)?;
    } else {
        importer.read(&mut source, progress)?;
    }
    let source = source.source.source;
    let source = &source.source;
    // What the pages themselves say was missed can only be more exact than the statistics.
    meta.quality.lost = lost;
    let missed = source.missed().filter(|_| options.keep == Keep::All);
    for (cpu, missed) in missed {
        let lost = &mut meta.quality.lost[cpu as usize];
        *lost = missed.max(*lost);
    }
    let (writer, mut meta) = importer.finish(source, meta)?;
    if missed_calls > 0 {
        meta.quality.skip_many("bulk calls that a probe missed", missed_calls, String::new);
    }
    let meta = writer.finish(meta)?;
    let silent = silent(&options.sites, &meta, &Symbols::running()?);
    let silent_caches = silent_caches(&options.caches, &meta);
    let Ended { status, left_running } = ended;
    let exit_status = status.unwrap_or(0);
    Ok(RecordSummary {
        meta,
        exit_status,
        elapsed,
        left_running,
        slab_bytes,
        silent,
        silent_caches,
    })
}

/// Returns those of `sites` of which the recording has no event, with the parts that the compiler made of each: what is
/// called by the function's name may be in one of them.
fn silent(sites: &[String], meta: &Meta, symbols: &Symbols) -> Vec<(String, Vec<String>)> {
    let is_of = |recorded: &str, wanted: &str| {
        let rest = recorded.strip_prefix(wanted);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['+', ' ']))
    };
    let is_silent = |wanted: &&String| !meta.sites.iter().any(|site| is_of(&site.name, wanted));
    let silent = sites.iter().filter(is_silent);
    silent.map(|site| (site.clone(), symbols.parts(site))).collect()
}

/// Returns those of `caches` that no event names: they were idle, or their objects are allocated as kmalloc's are.
fn silent_caches(caches: &[String], meta: &Meta) -> Vec<String> {
    let is_of = |cache: &RecordedCache, name: &String| {
        (cache.name == *name || cache.aliases.contains(name))
            && cache.allocs + cache.frees + cache.older_frees > 0
    };
    let is_silent = |name: &&String| !meta.caches.iter().any(|cache| is_of(cache, name));
    caches.iter().filter(is_silent).cloned().collect()
}

/// A recording about to run.
struct Recording {
    drains: Vec<Drain>,
    sampler: Sampler,
    pages: PageFormat,
    /// The events to be turned on, as in `kmem/kfree`.
    events: Vec<String>,
    meta: Meta,
    signals: Signals,
    /// The threads of this process, as the kernel numbers them.
    own_threads: Vec<u32>,
    /// Declared behind `drains`, so dropped later: it cannot be removed while they hold files in it open.
    instance: Instance,
    /// Declared last: they cannot be removed while they are on in the instance.
    probes: Probes,
}

/// A recording that has run.
struct Recorded {
    pages: Pages,
    meta: Meta,
    /// Events lost, by CPU.
    lost: Vec<u64>,
    /// Calls that no probe could record.
    missed_calls: u64,
    ended: Ended,
    /// What slabs held when that ended it.
    slab_bytes: Option<u64>,
    elapsed: Duration,
}

/// What the ring buffers held.
struct Pages {
    page: PageFormat,
    formats: Vec<EventFormat>,
    /// The pages of each CPU
    files: Vec<(u32, File)>,
    bytes: u64,
    own_threads: Vec<u32>,
}

/// Says what was chosen.
fn only(options: &RecordOptions) -> Vec<String> {
    let caches = options.caches.iter().map(|cache| format!("cache {cache}"));
    caches.chain(options.sites.iter().map(|site| format!("call site {site}"))).collect()
}

impl Pages {
    /// Returns the events from the first on; those of the recorder are marked.
    fn source(&self, symbols: Symbols) -> Result<LargeOnce<TracefsRaw<BufReader<File>>>, Error> {
        let open = |(cpu, file): &(u32, File)| {
            let mut file = file.try_clone()?;
            file.rewind()?;
            Ok((*cpu, BufReader::with_capacity(self.page.bytes() * 64, file)))
        };
        let streams = self.files.iter().map(open).collect::<std::io::Result<_>>();
        let streams = streams.map_err(|e| Error::io("recording".as_ref(), "cannot read", e))?;
        let facts = Facts { symbols, bytes: self.bytes, ..Facts::default() };
        let source = TracefsRaw::new(self.page, &self.formats, streams, facts);
        let source = source.map_err(|what| Error::CannotRecord {
            what: format!("events/kmem: {what}"),
            remedy: "record with `perf kmem record` and use `slablab import`".into(),
        })?;
        Ok(LargeOnce::new(source.mark(self.own_threads.clone())))
    }

    /// Finds out which allocations are never freed by an event, and what comes and goes between two samples.
    fn unfreed(
        &self,
        samples: &Samples,
        symbols: Symbols,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Unfreed, Error> {
        let (mut unfreed, mut events) = (Unfreed::new(samples), Vec::new());
        let mut source = self.source(symbols)?;
        while source.read(&mut events)? {
            unfreed.name(source.facts());
            events.drain(..).for_each(|event| unfreed.note(&event));
            progress(Progress { phase: "matching", ..source.facts().progress() });
        }
        Ok(unfreed.finish())
    }
}

impl Recording {
    /// Makes the instance with everything but the events set up.
    fn begin(options: &RecordOptions) -> Result<Recording, Error> {
        let tracefs = Tracefs::find_or_mount()?;
        let events = tracefs.kmem_events();
        if events.is_empty() {
            return Err(Error::CannotRecord {
                what: format!("{}/events/kmem has no events", tracefs.root.display()),
                remedy: "boot a kernel built with CONFIG_EVENT_TRACING=y".into(),
            });
        }
        let signals =
            Signals::catch().map_err(|e| Error::io("signals".as_ref(), "cannot catch", e))?;
        let instance = tracefs.instance()?;
        let cpus = machine::cpus_online();
        let buffer_kib = options.buffer_kib.unwrap_or_else(|| buffer_kib_default(cpus.len()));
        instance.write("tracing_on", "0")?;
        let overwrite = if options.keep == Keep::Last { "1" } else { "0" };
        instance.write("options/overwrite", overwrite)?;
        if !tracefs.in_use() {
            // A kernel that does not know the option records all the same.
            let _ = instance.write("trace_options", "norecord-cmd");
        }
        instance.write_if_there("buffer_percent", &drain::WAKE_PERCENT.to_string())?;
        instance.write("trace_clock", "mono")?;
        instance.write("buffer_size_kb", &buffer_kib.to_string())?;
        let portion = options.one_in.map(|one_in| {
            let seed = machine::unix_ns().unwrap_or(0) ^ u64::from(std::process::id());
            Portion::draw(one_in, seed)
        });
        let chosen = Chosen { caches: &options.caches, sites: &options.sites, portion };
        let filter = Filter::new(&chosen)?;
        let events = filter.set(&instance, events)?;
        let probes = match options.probes {
            true => Probes::define(&tracefs, &instance, &filter),
            false => Probes::none(&tracefs, &instance),
        };
        let events = events.iter().map(|event| format!("kmem/{event}"));
        let events = events.chain(probes.paths()).collect();
        let pages = instance.page_format()?;
        let drains = cpus.iter().map(|&cpu| {
            let pipe = instance.path(&format!("per_cpu/cpu{cpu}/trace_pipe_raw"));
            Drain::open(cpu, pipe, &options.output, pages.bytes())
        });
        let drains = drains.collect::<Result<_, _>>()?;
        let mut meta = Meta {
            recorder: "slablab record".into(),
            recorder_version: env!("CARGO_PKG_VERSION").into(),
            source: "tracefs".into(),
            command: options.command.clone(),
            only: only(options),
            probes: probes.functions.clone(),
            ..Meta::default()
        };
        machine::describe(&mut meta);
        let (sampler, own_threads) = (Sampler::open(meta.page_bytes), Vec::new());
        Ok(Recording {
            drains,
            sampler,
            pages,
            events,
            meta,
            signals,
            own_threads,
            instance,
            probes,
        })
    }

    /// Runs the command with the events on.
    fn run(mut self, options: &RecordOptions) -> Result<Recorded, Error> {
        self.meta.slabs_start = Some(crate::slabs::snapshot());
        self.sampler.prepare();
        self.meta.start_unix_ns = machine::unix_ns();
        let started = Instant::now();
        let (ended, slab_bytes) = self.run_events(options)?;
        let elapsed = started.elapsed();
        self.meta.end_unix_ns = machine::unix_ns();
        self.meta.slabs_end = Some(crate::slabs::snapshot());
        self.meta.command_status = ended.status;
        self.finish(ended, slab_bytes, elapsed, options.keep)
    }

    fn run_events(&mut self, options: &RecordOptions) -> Result<(Ended, Option<u64>), Error> {
        let Recording { drains, sampler, instance, events, signals, own_threads, .. } = self;
        let (stop, failed) = (AtomicBool::new(false), &AtomicBool::new(false));
        let sampled = AtomicBool::new(false);
        let (keep, samples) = (options.keep, options.keep == Keep::All);
        let (marked, marks) = (&Barrier::new(drains.len() + 2), &*instance);
        if samples {
            sampler.sample();
        }
        std::thread::scope(|scope| {
            let (stop, sampled) = (StopOnDrop(&stop), StopOnDrop(&sampled));
            let (stop_flag, sampled_flag) = (stop.0, sampled.0);
            let run = |drain: &mut Drain| {
                marks.mark_thread();
                marked.wait();
                let done = match keep {
                    Keep::All => drain.run(stop_flag),
                    Keep::Last => drain.run_last(stop_flag),
                };
                failed.fetch_or(done.is_err(), Ordering::Release);
                done
            };
            instance.write("tracing_on", "1")?;
            let threads: Vec<_> =
                drains.iter_mut().map(|drain| scope.spawn(move || run(drain))).collect();
            let (is_sampled, wait_for_sample) = mpsc::channel::<()>();
            let sampling = scope.spawn(move || {
                marks.mark_thread();
                marked.wait();
                if samples {
                    sampler.run(sampled_flag);
                }
                drop(is_sampled);
                // Its end would be among the events.
                while !stop_flag.load(Ordering::Acquire) {
                    std::thread::park_timeout(sampler::NAP);
                }
            });
            instance.mark_thread();
            marked.wait();
            instance.write("tracing_on", "0")?;
            *own_threads = instance.take_marks()?;
            if own_threads.len() <= threads.len() + 1 {
                *own_threads = machine::own_threads(); // a kernel without marks
            }
            for event in events.iter() {
                instance.write(&format!("events/{event}/enable"), "1")?;
            }
            instance.write("tracing_on", "1")?;
            let watch = |bytes_max| scope.spawn(move || watch_slab(bytes_max, stop_flag, failed));
            let watching = options.slab_bytes_max.map(watch);
            let ended = workload::run(&options.command, options.duration, signals, failed);
            drop(sampled);
            sampling.thread().unpark();
            // Events are recorded until the last sample is taken, so that it can be compared with them.
            let _ = wait_for_sample.recv();
            instance.write("tracing_on", "0")?;
            drop(stop);
            sampling.thread().unpark();
            sampling.join().expect("sampling does not panic");
            for thread in threads {
                thread.join().expect("draining does not panic")?;
            }
            let watched = watching.map(|thread| thread.join().expect("watching does not panic"));
            Ok((ended?, watched.flatten()))
        })
    }

    fn finish(
        self,
        ended: Ended,
        slab_bytes: Option<u64>,
        elapsed: Duration,
        keep: Keep,
    ) -> Result<Recorded, Error> {
        // What is bound first is dropped last: the probes, and before them the instance.
        let Recording {
            probes,
            instance,
            drains,
            sampler,
            pages,
            events,
            mut meta,
            own_threads,
            ..
        } = self;
        meta.samples = sampler.samples;
        let missed_calls = probes.missed();
        let mut lost_by_cpu = vec![0; meta.cpus as usize];
        for drain in &drains {
            let stats = instance.read(&format!("per_cpu/cpu{}/stats", drain.cpu))?;
            // What was overwritten lies before the trace.
            let stats = match keep {
                Keep::All => stats,
                Keep::Last => stats.replace("\noverrun:", "\noverwritten:"),
            };
            lost_by_cpu[drain.cpu as usize] = lost(&stats);
        }
        let formats = events.iter().map(|event| instance.event_format(event));
        let formats = formats.collect::<Result<Vec<_>, _>>()?;
        let (mut files, mut bytes) = (Vec::new(), 0);
        for drain in drains {
            let cpu = drain.cpu;
            let (spool, length) = drain.into_spool()?;
            bytes += length;
            files.push((cpu, spool));
        }
        let pages = Pages { page: pages, formats, files, bytes, own_threads };
        Ok(Recorded { pages, meta, lost: lost_by_cpu, missed_calls, ended, slab_bytes, elapsed })
    }
}

/// Ends the recording when more is in slabs than `bytes_max`; returns how much, if it came to that.
fn watch_slab(bytes_max: u64, stop: &AtomicBool, end: &AtomicBool) -> Option<u64> {
    const NAP: Duration = Duration::from_millis(50);
    while !stop.load(Ordering::Acquire) {
        let bytes = machine::meminfo_bytes("Slab:");
        if bytes > bytes_max {
            end.store(true, Ordering::Release);
            return Some(bytes);
        }
        std::thread::sleep(NAP);
    }
    None
}

/// Tells the draining threads to stop, also when the scope is left by an error or a panic.
struct StopOnDrop<'a>(&'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

fn buffer_kib_default(cpus: usize) -> u32 {
    let share_bytes = machine::memory_bytes() / MEMORY_SHARE / cpus.max(1) as u64;
    let share = u32::try_from(share_bytes >> 10).unwrap_or(u32::MAX);
    if share == 0 { BUFFER_KIB_DEFAULT } else { BUFFER_KIB_DEFAULT.min(share) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is called by its name may be compiled into a part of another, and nothing was said of it.
    #[test]
    fn a_function_without_events_is_named_with_its_parts() {
        let symbols = Symbols::parse("1000 t f\n1100 t f.part.0\n1200 t g\n1300 t ff\n");
        let site = |name: &str| crate::Site { name: name.into(), ..crate::Site::default() };
        let meta = Meta { sites: vec![site("g+0x4 [mod]"), site("ff+0x2")], ..Meta::default() };
        let wanted = ["f", "g", "ff+0x2"].map(str::to_owned);
        assert_eq!(silent(&wanted, &meta, &symbols), [("f".into(), vec!["f.part.0".into()])]);
    }

    /// Objects of msg_msg-1k, a bucket of kmem_buckets_create(), have events of kmalloc: the recording was empty, in silence.
    #[test]
    fn a_cache_that_no_event_names_is_told() {
        let cache =
            |name: &str, allocs| RecordedCache { name: name.into(), allocs, ..Default::default() };
        let meta = Meta { caches: vec![cache("filp", 1), cache("pid", 0)], ..Meta::default() };
        let wanted = ["filp", "pid", "msg_msg-1k"].map(str::to_owned);
        assert_eq!(silent_caches(&wanted, &meta), ["pid", "msg_msg-1k"]);
    }
}
