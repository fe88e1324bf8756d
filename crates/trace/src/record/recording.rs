//! A recording while it runs: the instance of tracefs, the threads that empty its buffers, the command.
//!
//! # How it works
//! Everything but the events is set up before the command starts; what is known then is written to the folder, and what is
//! known at the end when the events are off.
//!
//! # Invariants
//! A recording that ends early (a file that cannot be written) turns the events off at once, takes its last sample, and
//! waits for the command.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier, OnceLock, mpsc};
use std::time::{Duration, Instant};

use rustix::time::ClockId;
use slablab_bpf::Ring;
use slablab_host::{Signals, printable};

use super::cgroups;
use super::chosen::{self, Taking, Tracer, Wanted};
use super::drain::{self, Drain};
use super::filter::{Chosen, Filter, places};
use super::first_look::{FirstLook, Prepared, StopLook};
use super::head::{ChosenParts, Head, Tail};
use super::machine;
use super::options::{BUFFER_KIB_DEFAULT, Keep, RecordOptions};
use super::pages::Pages;
use super::probes::Probes;
use super::sampler::{self, Sampler};
use super::slab_limit::{self, SlabReached};
use super::stacks;
use super::tasks;
use super::tracefs::{Instance, Tracefs};
use super::unfinished::Unfinished;
use super::workload::{self, Ended};
use super::zones;
use crate::cgroups::Running;
use crate::lacking::OWN_RECORDER;
use crate::source::tracefs_raw::lost;
use crate::{Error, Meta, PageKind, Portion, RecordedZones, Symbols, Zones};

/// Part of the machine's memory that all buffers together may take by default.
const MEMORY_SHARE: u64 = 8;

/// Bytes of records that may wait where BPF chooses them, by default: 130,000 allocations with their stacks.
const RING_BYTES: usize = 32 << 20;

/// Kibibytes of a ring buffer that has events of names alone.
const NAMES_KIB: u32 = 1 << 10;

/// A recording about to run.
pub(super) struct Recording {
    drains: Vec<Drain>,
    sampler: Sampler,
    /// Where BPF chooses the events: its programs, and who takes out what they push
    chosen: Option<(Tracer, Taking)>,
    /// The events to be turned on, as in `kmem/kfree`.
    events: Vec<String>,
    head: Head,
    signals: Signals,
    /// Declared behind `drains`, so dropped later: it cannot be removed while they hold files in it open.
    instance: Instance,
    /// Declared last: they cannot be removed while they are on in the instance.
    probes: Probes,
}

/// How the events ended.
struct Events {
    ended: Ended,
    /// What slabs held when that ended them
    slab_reached: Option<SlabReached>,
    early: Option<Early>,
    /// The zones when they began, of a recording of page events
    zones: Option<Zones>,
}

/// Why and after how long the events ended before the command.
#[derive(Debug)]
struct Early {
    why: String,
    elapsed: Duration,
}

/// Says what was chosen, and how callers are found where that is not certain.
fn only(options: &RecordOptions, tracer: Option<&Tracer>) -> Vec<String> {
    let caches = options.caches.iter().map(|cache| format!("cache {cache}"));
    let sites = options.sites.iter().map(|site| format!("call site {site}"));
    let how = tracer.and_then(Tracer::walked_one_in).map_or_else(String::new, |(some, often)| {
        format!(" (looked for in 1 of {some} to {often} stacks that are alike)")
    });
    let callers = options.callers.iter().map(|caller| format!("caller {caller}{how}"));
    let frees = (!options.frees).then(|| "allocations, and no frees".to_owned());
    caches.chain(sites).chain(callers).chain(frees).collect()
}

/// Loads the programs that choose events, where something is chosen that they can choose. A function that is not there is
/// refused before anything is recorded: afterwards the trace could not be made, now or later.
///
/// A portion without stacks is chosen by the kernel's own filter: only a trigger that writes stacks has to evaluate it again.
fn tracer(
    options: &RecordOptions,
    portion: Option<Portion>,
) -> Result<Option<(Tracer, Ring)>, Error> {
    let by_place = !options.sites.is_empty() || !options.callers.is_empty();
    let by_page = portion.is_some() && options.stacks && options.frees;
    if !by_place && !by_page {
        return Ok(None);
    }
    let symbols = Symbols::running()?;
    let sites = places(&symbols, &options.sites)?;
    let callers = places(&symbols, &options.callers)?;
    let is_alone = options.caches.is_empty() && by_place != portion.is_some() && !options.pages;
    if !is_alone || options.keep == Keep::Last {
        return Ok(None);
    }
    let wanted = Wanted {
        places: &sites,
        callers: &callers,
        called: &options.callers,
        portion,
        ring_bytes: ring_bytes(options),
        with_frees: options.frees,
        with_stacks: options.stacks,
    };
    let cpus = machine::cpus_online().into_iter().max().map_or(1, |last| last as usize + 1);
    Ok(Tracer::load(&wanted, &symbols, cpus))
}

/// Returns the page allocator's events, without which nothing can be said of pages.
fn page_events(tracefs: &Tracefs) -> Result<Vec<String>, Error> {
    let events = tracefs.page_events();
    if [PageKind::Alloc, PageKind::Free].iter().all(|kind| events.contains(kind)) {
        return Ok(events.into_iter().map(PageKind::path).collect());
    }
    Err(Error::CannotRecord {
        what: format!("{}/events/kmem has no events of pages", tracefs.root.display()),
        remedy: "record without --pages".into(),
    })
}

impl Recording {
    /// Makes the instance with everything but the events set up.
    pub(super) fn begin(
        options: &RecordOptions,
        unfinished: &Unfinished,
    ) -> Result<Recording, Error> {
        let tracefs = Tracefs::find_or_mount()?;
        let mut events = tracefs.kmem_events();
        events.retain(|event| options.frees || event.contains("alloc"));
        if events.is_empty() {
            return Err(Error::CannotRecord {
                what: format!("{}/events/kmem has no events", tracefs.root.display()),
                remedy: "boot a kernel built with CONFIG_EVENT_TRACING=y".into(),
            });
        }
        let portion = options.one_in.map(|one_in| {
            let seed = machine::unix_ns().unwrap_or(0) ^ u64::from(std::process::id());
            Portion::draw(one_in, seed)
        });
        let tracer = tracer(options, portion)?;
        let signals =
            Signals::catch().map_err(|e| Error::io("signals".as_ref(), "cannot catch", e))?;
        let instance = tracefs.instance()?;
        let cpus = machine::cpus_online();
        // What BPF chooses does not go there.
        let is_for_names = tracer.is_some();
        let buffer_kib = if is_for_names { NAMES_KIB } else { buffer_kib(options) };
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
        let chosen = Chosen { caches: &options.caches, sites: &options.sites, portion };
        let filter = Filter::new(&chosen)?;
        let events = if tracer.is_some() { Vec::new() } else { filter.set(&instance, events)? };
        if options.stacks {
            stacks::ask(&instance, &events, &filter)?;
        }
        let page_events = if options.pages { page_events(&tracefs)? } else { Vec::new() };
        if options.stacks && options.pages {
            stacks::ask_of_pages(&instance)?;
        }
        let has_probes = options.probes && options.frees && options.callers.is_empty();
        let probes = match has_probes && tracer.is_none() {
            true => Probes::define(&tracefs, &instance, &filter),
            false => Probes::none(&tracefs, &instance),
        };
        let slab_events = events.iter().map(|event| format!("kmem/{event}"));
        let events = slab_events.chain(page_events);
        let events: Vec<_> = events.chain(probes.paths()).chain(tasks::events(&instance)).collect();
        let page_bytes = instance.page_format()?.bytes();
        let drains = cpus.iter().map(|&cpu| {
            let pipe = instance.path(&format!("per_cpu/cpu{cpu}/trace_pipe_raw"));
            Drain::open(cpu, pipe, unfinished, page_bytes)
        });
        let drains = drains.collect::<Result<_, _>>()?;
        let mut meta = Meta {
            recorder: OWN_RECORDER.into(),
            recorder_version: env!("CARGO_PKG_VERSION").into(),
            source: "tracefs".into(),
            command: options.command.clone(),
            only: only(options, tracer.as_ref().map(|(tracer, _)| tracer)),
            probes: probes.functions.clone(),
            comms: tasks::running(),
            ..Meta::default()
        };
        machine::describe(&mut meta);
        let mut sampler = Sampler::open(meta.page_bytes, unfinished.create_readings()?);
        sampler.buddies = options.pages.then(Vec::new);
        let described = events.iter().map(String::as_str);
        let has_stacks = options.stacks && tracer.is_none();
        let described = described.chain(has_stacks.then_some(stacks::FORMAT));
        let own = tracer.iter().flat_map(|_| chosen::FORMATS.map(str::to_owned).map(Ok));
        let formats = described.map(|event| instance.event_format_text(event)).chain(own);
        let head = Head {
            version: Head::VERSION,
            pid: std::process::id(),
            instance: instance.path("").to_string_lossy().into_owned(),
            cpus,
            page: instance.page_texts()?,
            page_bytes,
            formats: formats.collect::<Result<_, _>>()?,
            chosen: ChosenParts::of(options),
            meta,
            cgroups: Running::default(),
        };
        let taking = |(tracer, ring): (Tracer, Ring)| {
            let cpus = head.meta.cpus;
            let taking = Taking::new(ring, Symbols::running()?, unfinished, page_bytes, cpus)?;
            Ok::<_, Error>((tracer, taking))
        };
        let chosen = tracer.map(taking).transpose()?;
        Ok(Recording { drains, sampler, chosen, events, head, signals, instance, probes })
    }

    /// Runs the command with the events on, and says in the folder how it ended. Returns the signals, which stay caught, and
    /// what was found out meanwhile.
    pub(super) fn run(
        mut self,
        options: &RecordOptions,
        unfinished: &mut Unfinished,
    ) -> Result<(Signals, Option<FirstLook>), Error> {
        self.head.meta.slabs_start = Some(crate::slabs::snapshot());
        unfinished.write_symbols()?;
        self.sampler.prepare();
        self.head.cgroups = cgroups::running();
        self.head.meta.start_unix_ns = machine::unix_ns();
        unfinished.begin(&self.head)?;
        let started = Instant::now();
        let (events, look) = self.run_events(options, unfinished)?;
        let elapsed = started.elapsed();
        let tail = self.tail(events, elapsed)?;
        unfinished.end(&tail)?;
        Ok((self.signals, look))
    }

    /// Returns what a first look at the events needs; `None` where nothing can be found out before the end.
    fn prepare_look(&mut self, options: &RecordOptions) -> Option<Prepared> {
        let mut samples = self.sampler.samples.clone();
        samples.caches.retain(|name, _| self.head.chosen.is_whole(name));
        // The stack of an event may be on the next page, which is not there yet.
        if samples.caches.is_empty() || options.stacks {
            return None;
        }
        let (listener, taken) = mpsc::channel();
        self.sampler.listener = Some(listener);
        let growths = self.drains.iter().map(Drain::growth).collect();
        Some(Prepared { growths, samples, taken, thread: Arc::default() })
    }

    fn run_events(
        &mut self,
        options: &RecordOptions,
        unfinished: &mut Unfinished,
    ) -> Result<(Events, Option<FirstLook>), Error> {
        let started = Instant::now();
        let samples = options.keep == Keep::All;
        if samples {
            self.sampler.sample();
        }
        let prepared = self.prepare_look(options);
        let growths: Vec<_> = self.drains.iter().map(Drain::growth).collect();
        let Recording { drains, sampler, chosen, instance, events, signals, head, .. } = self;
        let (stop, end) = (AtomicBool::new(false), AtomicBool::new(false));
        let (sampled, mut early) = (AtomicBool::new(false), OnceLock::new());
        let others = 2 + usize::from(prepared.is_some());
        let (marked, marks) = (&Barrier::new(drains.len() + others), &*instance);
        let ends = &Ends { stop: &stop, sampled: &sampled, end: &end, early: &early };
        std::thread::scope(|scope| {
            let (stop, sampled) = (StopOnDrop(ends.stop), StopOnDrop(ends.sampled));
            let run = |drain: &mut Drain| {
                marks.mark_thread();
                marked.wait();
                let done = match options.keep {
                    Keep::All => drain.run(ends.stop),
                    Keep::Last => drain.run_last(ends.stop),
                };
                ends.drained(done, marks, options, started);
            };
            instance.write("tracing_on", "1")?;
            let threads: Vec<_> =
                drains.iter_mut().map(|drain| scope.spawn(move || run(drain))).collect();
            let (is_sampled, wait_for_sample) = mpsc::channel::<()>();
            let sampling = scope.spawn(move || {
                marks.mark_thread();
                marked.wait();
                if samples {
                    sampler.run(ends.sampled);
                }
                drop(is_sampled);
                // Its end would be among the events.
                while !ends.stop.load(Ordering::Acquire) {
                    std::thread::park_timeout(sampler::NAP);
                }
            });
            let stop_look = prepared.as_ref().map(Prepared::stop);
            let (to_look_at, source) = mpsc::channel();
            let looking = prepared.map(|prepared| {
                scope.spawn(move || {
                    marks.mark_thread();
                    marked.wait();
                    prepared.run(source.recv().ok()?)
                })
            });
            instance.mark_thread();
            marked.wait();
            instance.write("tracing_on", "0")?;
            let mut own_threads = instance.take_marks()?;
            if own_threads.len() < threads.len() + others {
                own_threads = machine::own_threads(); // a kernel without marks
            }
            unfinished.write_own_threads(&own_threads)?;
            let pages = Pages::begun(unfinished, head, own_threads);
            // Whatever is wrong with them is said when the trace is made.
            if let Ok(source) = pages.and_then(|pages| pages.growing(&growths)) {
                let _ = to_look_at.send(source);
            }
            for event in events.iter() {
                instance.write(&format!("events/{event}/enable"), "1")?;
            }
            let running = chosen.as_mut().map(|(tracer, _)| tracer.start());
            let running = running.transpose().map_err(|error| chosen::cannot(&error))?;
            let chosen = chosen.as_mut().map(|(tracer, taking)| (&*tracer, taking));
            let tracer = chosen.as_ref().map(|(tracer, _)| *tracer);
            let taking = chosen.map(|(tracer, taking)| {
                let mut take = move || taking.run(tracer, ends.stop);
                scope.spawn(move || ends.drained(take(), marks, options, started))
            });
            instance.write("tracing_on", "1")?;
            // With the events on, so that nothing is missed between what is read and what is recorded.
            let zones =
                options.pages.then(|| zones::at_start(|| sampler::clock_ns(ClockId::Monotonic)));
            let limits = &options.slab_limits;
            let watch = || scope.spawn(|| slab_limit::watch(limits, ends.stop, ends.end));
            let watching = (!limits.is_empty()).then(watch);
            let ended = workload::run(&options.command, options.duration, signals, ends.end);
            drop(sampled);
            sampling.thread().unpark();
            // Events are recorded until the last sample is taken, so that it can be compared with them.
            let _ = wait_for_sample.recv();
            instance.write("tracing_on", "0")?;
            if let Some((tracer, running)) = tracer.zip(running) {
                tracer.stop(running);
            }
            drop(stop);
            sampling.thread().unpark();
            sampling.join().expect("sampling does not panic");
            let threads = threads.into_iter().chain(taking);
            threads.for_each(|thread| thread.join().expect("draining does not panic"));
            drop((stop_look, to_look_at));
            let look = looking.and_then(StopLook::join);
            let slab_reached =
                watching.and_then(|thread| thread.join().expect("watching does not panic"));
            let ended = ended.inspect_err(|_| unfinished.forget())?;
            Ok((ended, slab_reached, zones, look))
        })
        .map(|(ended, slab_reached, zones, look)| {
            (Events { ended, slab_reached, early: early.take(), zones }, look)
        })
    }

    /// Returns what was read of the zones, with what they have now.
    fn zones_since(&mut self, start: Zones) -> RecordedZones {
        let end = Some(zones::now(sampler::clock_ns(ClockId::Monotonic)));
        let readings = self.sampler.buddies.take().unwrap_or_default();
        let mut zones = RecordedZones { start, end, readings };
        zones.readings.retain(|reading| reading.time_ns >= zones.start.time_ns);
        zones.thin();
        zones
    }

    /// Returns what is known when the events are off.
    fn tail(&mut self, events: Events, elapsed: Duration) -> Result<Tail, Error> {
        let Events { ended, slab_reached, early, zones } = events;
        let zones = zones.map(|start| self.zones_since(start));
        let is_last = self.head.chosen.is_last;
        let mut lost_by_cpu = vec![0; self.head.meta.cpus as usize];
        for &cpu in &self.head.cpus {
            lost_by_cpu[cpu as usize] = lost_of(&self.instance, cpu, is_last)?;
        }
        let tracer = self.chosen.as_ref().map(|(tracer, _)| tracer);
        if let Some(tracer) = tracer {
            (0..).zip(&mut lost_by_cpu).for_each(|(cpu, lost)| *lost += tracer.lost(cpu));
        }
        let elapsed = early.as_ref().map_or(elapsed, |early| early.elapsed);
        let elapsed_ns = u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX);
        Ok(Tail {
            lost: lost_by_cpu,
            missed_calls: self.probes.missed(),
            unfollowed: tracer.map_or(0, Tracer::unfollowed),
            // Programs of a portion see all events, so that their misses are those of all pages.
            unlooked: tracer.map_or(0, Tracer::misses)
                / u64::from(self.head.chosen.one_in.unwrap_or(1)),
            passed_over: tracer.map_or(0, Tracer::missed),
            too_deep: tracer.map_or(0, Tracer::too_deep),
            status: ended.status,
            left_running: ended.left_running,
            slab_reached,
            elapsed_ns,
            write_share: self.drains.iter().map(Drain::write_share).fold(0.0, f64::max),
            end_unix_ns: self.head.meta.start_unix_ns.map(|start_ns| start_ns + elapsed_ns),
            // Of a recording that ended early it would not be that of its end.
            slabs_end: early.is_none().then(crate::slabs::snapshot),
            samples: std::mem::take(&mut self.sampler.samples),
            zones,
            cgroups: cgroups::running(),
            ended_early: early.map(|early| early.why),
            until_ns: None,
        })
    }
}

/// What ends the parts of a recording.
struct Ends<'a> {
    /// The events are off, and the buffers are emptied a last time
    stop: &'a AtomicBool,
    /// The last sample is to be taken
    sampled: &'a AtomicBool,
    /// The command is to end
    end: &'a AtomicBool,
    /// Set by the first thread whose file cannot be written
    early: &'a OnceLock<Early>,
}

impl Ends<'_> {
    /// A buffer was emptied until the end; where its file could not be written, ends the recording and not the command.
    fn drained(
        &self,
        done: Result<(), Error>,
        events: &Instance,
        options: &RecordOptions,
        started: Instant,
    ) {
        let Err(error) = done else { return };
        let _ = events.write("tracing_on", "0");
        self.sampled.store(true, Ordering::Release);
        // Without a command there is nothing to wait for.
        self.end.fetch_or(options.command.is_empty(), Ordering::Release);
        let why = error.to_string();
        if self.early.set(Early { why, elapsed: started.elapsed() }).is_ok() {
            say_early(&error, options);
        }
    }
}

/// Returns how many events of a CPU an instance says it lost.
pub(super) fn lost_of(instance: &Instance, cpu: u32, is_last: bool) -> Result<u64, Error> {
    let stats = instance.read(&format!("per_cpu/cpu{cpu}/stats"))?;
    // What was overwritten lies before the trace.
    Ok(lost(&if is_last { stats.replace("\noverrun:", "\noverwritten:") } else { stats }))
}

/// Says at once that the recording has ended, as the command may go on for long.
fn say_early(error: &Error, options: &RecordOptions) {
    let goes_on = match options.command.first() {
        Some(program) => format!("; {} goes on", printable(program)),
        None => String::new(),
    };
    let _ = writeln!(std::io::stderr(), "slablab: the recording has ended: {error}{goes_on}");
}

/// Tells the draining threads to stop, also when the scope is left by an error or a panic.
struct StopOnDrop<'a>(&'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

fn buffer_kib(options: &RecordOptions) -> u32 {
    options.buffer_kib.unwrap_or_else(|| buffer_kib_default(machine::cpus_online().len()))
}

fn ring_bytes(options: &RecordOptions) -> usize {
    let bytes = (buffer_kib(options) as usize) << 10;
    if options.buffer_kib.is_some() { bytes } else { bytes.min(RING_BYTES) }
}

fn buffer_kib_default(cpus: usize) -> u32 {
    let share_bytes = machine::memory_bytes() / MEMORY_SHARE / cpus.max(1) as u64;
    let share = u32::try_from(share_bytes >> 10).unwrap_or(u32::MAX);
    if share == 0 { BUFFER_KIB_DEFAULT } else { BUFFER_KIB_DEFAULT.min(share) }
}
