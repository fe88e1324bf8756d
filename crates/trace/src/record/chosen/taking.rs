//! Takes records out of the ring while the recording runs, and writes them to the files of their CPUs.
//!
//! How it works: one thread looks every [`NAP`]. What was taken is in the files once a second, so that a recorder that is killed
//! loses little.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;
use slablab_bpf::Ring;

use super::pages::Pages;
use super::record::Record;
use super::tracer::Tracer;
use super::within::leave_out_trampolines;
use crate::record::packed::Writer;
use crate::record::unfinished::Unfinished;
use crate::{Error, Symbols};

const NAP: Duration = Duration::from_millis(10);
const WRITTEN_EVERY: Duration = Duration::from_secs(1);
const WRITTEN_BYTES: usize = 1 << 20;

/// What a stack begins with that is not of the kernel's own work, and how many frames that is at most.
const TRACERS: [&str; 4] =
    ["bpf_trace_run6", "bpf_trace_run5", "__traceiter_kmalloc", "__traceiter_kmem_cache_alloc"];
const TRACER_FRAMES_MAX: usize = 6;

/// Who takes records out.
#[derive(Debug)]
pub(crate) struct Taking {
    ring: Ring,
    cpus: Vec<Cpu>,
    /// Names of caches, by address
    caches: FxHashMap<u64, Vec<u8>>,
    /// Where the functions are by which programs are called
    tracers: Vec<Range<u64>>,
    symbols: Symbols,
}

/// The pages of a CPU, and their file.
#[derive(Debug)]
struct Cpu {
    pages: Pages,
    /// Pages that are to be written
    done: Vec<u8>,
    file: Writer,
    path: PathBuf,
}

impl Taking {
    /// Makes the files, one for each CPU that the machine may have.
    pub(crate) fn new(
        ring: Ring,
        symbols: Symbols,
        unfinished: &Unfinished,
        page_bytes: usize,
        cpus: u32,
    ) -> Result<Taking, Error> {
        let cpu = |cpu| {
            let file = unfinished.create_objects(cpu, page_bytes)?;
            let path = unfinished.objects_path(cpu);
            Ok(Cpu { pages: Pages::new(page_bytes), done: Vec::new(), file, path })
        };
        Ok(Taking {
            ring,
            cpus: (0..cpus).map(cpu).collect::<Result<_, Error>>()?,
            caches: FxHashMap::default(),
            tracers: TRACERS.iter().flat_map(|name| symbols.places(name)).collect(),
            symbols,
        })
    }

    /// Takes records out until `stop`, and then all that are left.
    pub(crate) fn run(&mut self, tracer: &Tracer, stop: &AtomicBool) -> Result<(), Error> {
        // As whoever empties a ring buffer: a burst must not wait behind the load that makes it.
        let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), -20);
        let mut written = Instant::now();
        loop {
            let ending = stop.load(Ordering::Acquire);
            self.take(tracer)?;
            if ending {
                return self.write();
            }
            if written.elapsed() >= WRITTEN_EVERY {
                self.write()?;
                written = Instant::now();
            }
            std::thread::sleep(NAP);
        }
    }

    fn take(&mut self, tracer: &Tracer) -> Result<(), Error> {
        let Taking { ring, cpus, caches, tracers, symbols } = self;
        let mut result = Ok(());
        ring.take(|value| {
            let Some(mut record) = Record::parse(value) else { return };
            let is_tracer =
                |frame: &u64| tracers.iter().any(|at| *frame > at.start && *frame <= at.end);
            let begin = record.frames.iter().take(TRACER_FRAMES_MAX).rposition(is_tracer);
            record.frames.drain(..begin.map_or(0, |at| at + 1));
            leave_out_trampolines(&mut record.frames, &tracer.watched, |frame| {
                symbols.knows(frame)
            });
            if record.cache != 0 && !caches.contains_key(&record.cache) {
                read_caches(tracer, caches).unwrap_or_else(|error| result = Err(error));
            }
            let cache = caches.get(&record.cache).map_or(&b""[..], Vec::as_slice);
            // One that came while it was recorded has no file.
            let last = cpus.len() - 1;
            let cpu = &mut cpus[last.min(record.cpu as usize)];
            cpu.pages.add(&record, cache, &mut cpu.done);
            if cpu.done.len() >= WRITTEN_BYTES && result.is_ok() {
                result = cpu.write();
            }
        });
        result
    }

    /// Writes what was taken.
    fn write(&mut self) -> Result<(), Error> {
        self.cpus.iter_mut().try_for_each(|cpu| {
            cpu.pages.flush(&mut cpu.done);
            cpu.write()
        })
    }
}

/// Reads the names of all caches that programs have seen.
fn read_caches(tracer: &Tracer, caches: &mut FxHashMap<u64, Vec<u8>>) -> Result<(), Error> {
    for (key, name) in tracer.caches.entries().map_err(|error| cannot(&error))?.iter() {
        let address = u64::from_ne_bytes(key.try_into().expect("eight bytes"));
        let end = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
        caches.insert(address, name[..end].to_vec());
    }
    Ok(())
}

impl Cpu {
    fn write(&mut self) -> Result<(), Error> {
        let written = self.file.write(&self.done);
        written.map_err(|error| Error::io(&self.path, "cannot write the recording", error))?;
        self.done.clear();
        Ok(())
    }
}

/// Says that the kernel refused what it allowed before.
pub(crate) fn cannot(error: &slablab_bpf::Error) -> Error {
    Error::CannotRecord {
        what: format!("BPF: {error}"),
        remedy: "record without --sites, --callers and --stacks, and choose by --site when you ask"
            .into(),
    }
}
