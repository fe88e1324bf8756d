//! The first look at the events of a recording, while it is made, as far as CPUs have nothing else to do.
//!
//! # How it works
//! What an importer has to know beforehand ([`Unfreed`]) takes a third of its time, and depends on nothing but the events in
//! their order and the samples before them. So a thread that runs only on idle CPUs looks at the events that are on the
//! disk, up to the last sample. When the recording ends, the rest is looked at as always: after a load that took all CPUs
//! that is everything.
//!
//! # Invariants
//! What it found is what a look behind the recording would find, or it is not used: where the order of the events shows
//! later to have been another, or a cache came meanwhile, or a module brought a call site with caches of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::Receiver;
use std::thread::ScopedJoinHandle;
use std::time::Duration;

use slablab_host::{run_as_others, run_when_idle};

use super::packed::Growth;
use super::pages::{Pages, RawEvents};
use super::sampler::Taken;
use crate::import::Unfreed;
use crate::source::Source;
use crate::source::ahead::{Ahead, Movable};
use crate::{Error, RawEvent, Samples, Symbols};

/// How long the thread sleeps when it has looked at all that there is.
const NAP: Duration = Duration::from_millis(100);

/// Files are complete up to the time at which a buffer was empty, but for events that were being written then: a CPU may be
/// taken from a virtual machine for as long.
pub(super) const WRITTEN_WITHIN_NS: u64 = 20_000_000;

/// What was looked at.
#[derive(Debug)]
pub(super) struct FirstLook {
    source: RawEvents,
    growths: Vec<Arc<Growth>>,
    unfreed: Unfreed,
    /// When the last sample that is known began
    sampled_ns: u64,
    /// The last events, empty between two looks
    events: Vec<RawEvent>,
}

/// What is known before the first event.
#[derive(Debug)]
pub(super) struct Prepared {
    /// How far the files of the CPUs' pages have come
    pub(super) growths: Vec<Arc<Growth>>,
    /// The first sample, of the caches that are recorded whole
    pub(super) samples: Samples,
    pub(super) taken: Receiver<Taken>,
    pub(super) thread: Arc<Thread>,
}

/// The thread that looks.
#[derive(Debug, Default)]
pub(super) struct Thread {
    number: AtomicU32,
    stop: AtomicBool,
}

/// Has the thread end when it is dropped, also where no CPU is idle.
#[derive(Debug)]
pub(super) struct StopLook(Arc<Thread>);

impl StopLook {
    /// Waits for the thread, which was stopped.
    pub(super) fn join(looking: ScopedJoinHandle<'_, Option<FirstLook>>) -> Option<FirstLook> {
        looking.thread().unpark();
        looking.join().expect("looking does not panic")
    }
}

impl Drop for StopLook {
    fn drop(&mut self) {
        self.0.stop.store(true, Ordering::Release);
        let number = self.0.number.load(Ordering::Acquire);
        if number != 0 {
            run_as_others(number);
        }
    }
}

impl Thread {
    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }
}

impl Prepared {
    /// Returns what ends the look.
    pub(super) fn stop(&self) -> StopLook {
        StopLook(Arc::clone(&self.thread))
    }

    /// Looks at the events of `source` until the thread is stopped. `None` where that cannot be done.
    pub(super) fn run(self, mut source: RawEvents) -> Option<FirstLook> {
        let thread = Arc::clone(&self.thread);
        thread.number.store(run_when_idle(), Ordering::Release);
        if thread.is_stopped() {
            return None;
        }
        source.facts_mut().symbols = Symbols::running().ok()?;
        let mut look = FirstLook::begin(source, self.growths, &self.samples);
        while !thread.is_stopped() {
            if !look.look(&self.taken).ok()? {
                std::thread::park_timeout(NAP);
            }
        }
        Some(look)
    }
}

impl FirstLook {
    fn begin(source: RawEvents, growths: Vec<Arc<Growth>>, samples: &Samples) -> FirstLook {
        FirstLook {
            source,
            growths,
            unfreed: Unfreed::new(samples),
            sampled_ns: 0,
            events: Vec::new(),
        }
    }

    /// Looks at some of the events that can be looked at; returns whether there were any.
    fn look(&mut self, taken: &Receiver<Taken>) -> Result<bool, Error> {
        for Taken { begin_ns, ends_ns } in taken.try_iter() {
            self.unfreed.sampled(begin_ns, ends_ns);
            self.sampled_ns = begin_ns;
        }
        self.source.source.give_until(Some(self.sampled_ns));
        self.source.read(&mut self.events)?;
        self.unfreed.name(self.source.facts());
        self.unfreed.note_all(&self.events);
        let has_looked = !self.events.is_empty();
        self.events.clear();
        Ok(has_looked)
    }

    /// Returns what was found, and the events that were not looked at. `None` where it would have been another with what is
    /// known now: the pages, all samples, and the names of call sites.
    pub(super) fn go_on(
        mut self,
        pages: &Pages,
        samples: &Samples,
        symbols: &Symbols,
    ) -> Result<Option<(Ahead<RawEvents>, Unfreed)>, Error> {
        let beyond_memory = pages.beyond_memory()?;
        self.growths.iter().zip(beyond_memory).for_each(|(growth, bytes)| growth.end(bytes));
        self.source.source.give_until(None);
        let facts = self.source.facts_mut();
        (facts.symbols, facts.bytes) = (symbols.clone(), pages.bytes()?);
        let is_same = self.unfreed.go_on(samples, self.source.facts());
        if !is_same || self.source.source.is_late() {
            return Ok(None);
        }
        Ok(Some((Ahead::new(self.source), self.unfreed)))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Sender, channel};

    use slablab_host::Signals;

    use super::*;
    use crate::record::head::Tail;
    use crate::record::made_up;
    use crate::record::packed::Writer;
    use crate::record::process::process;
    use crate::record::unfinished::Unfinished;
    use crate::{Meta, TraceReader, TraceWriter};

    const FIELDS: &str = "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
        \tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n\
        \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\
        \tfield:unsigned long call_site;\toffset:8;\tsize:8;\tsigned:0;\n\
        \tfield:const void * ptr;\toffset:16;\tsize:8;\tsigned:0;\n\
        \tfield:__data_loc char[] name;\toffset:24;\tsize:4;\tsigned:0;\n";
    const SIZES: &str = "\tfield:size_t bytes_req;\toffset:28;\tsize:8;\tsigned:0;\n\
        \tfield:size_t bytes_alloc;\toffset:36;\tsize:8;\tsigned:0;\n\
        \tfield:unsigned long gfp_flags;\toffset:44;\tsize:8;\tsigned:0;\n";

    /// Milliseconds that a page of a CPU lasts, and pages of each CPU.
    const PAGE_MS: u64 = 10;
    const PAGES: u64 = 40;
    /// Samples are taken so often.
    const SAMPLE_MS: u64 = 25;

    fn ns(ms: u64) -> u64 {
        1_000_000 * ms
    }

    fn formats() -> [String; 2] {
        [
            format!("name: kmem_cache_alloc\nID: 8\n{FIELDS}{SIZES}"),
            format!("name: kmem_cache_free\nID: 9\n{FIELDS}"),
        ]
    }

    fn record(id: u8, site: u64, ptr: u64) -> Vec<u8> {
        let mut record = vec![id, 0, 0, 0, 5, 0, 0, 0];
        record.extend(site.to_le_bytes());
        record.extend(ptr.to_le_bytes());
        let sizes = if id == 8 { 24 } else { 0 };
        record.extend(((28 + sizes) | (8u32 << 16)).to_le_bytes());
        if id == 8 {
            record.extend([192u64, 192, 0xcc0].map(u64::to_le_bytes).concat());
        }
        record.extend(*b"dentry\0\0");
        record
    }

    /// Allocations of a CPU: the next page has frees of a third of them.
    fn page(cpu: u64, number: u64) -> Vec<u8> {
        let ptr = |number: u64, of: u64| 0x10_0000 + 192 * ((number % 7 * 30 + of) * 2 + cpu);
        let step_ns = (ns(PAGE_MS) / 40) as u32;
        let alloc = |of: u64| (step_ns, record(8, 0x1000 + 16 * (of % 4), ptr(number, of)));
        let free = |of: u64| (step_ns, record(9, 0x2000, ptr(number + 6, of)));
        let allocs = (0..30).map(alloc);
        let frees = (0..10).filter(|_| number > 0).map(free);
        made_up::page(ns(PAGE_MS * number) + 7 * cpu, &allocs.chain(frees).collect::<Vec<_>>())
    }

    fn sample(samples: &mut Samples, number: u64) -> Taken {
        let (begin_ns, ends_ns) = (ns(SAMPLE_MS * number), vec![1000, 2000]);
        samples.begin_reading(begin_ns, ends_ns.clone());
        let cache = samples.note("dentry", 40 + number % 5 * 20, 4 + number);
        (cache.slab_objects, cache.slab_bytes, cache.parts) = (21, 4096, (0, 1));
        Taken { begin_ns, ends_ns }
    }

    /// A recorder that writes its pages.
    struct Recorder {
        unfinished: Unfinished,
        files: Vec<Writer>,
        samples: Samples,
        look: FirstLook,
        sampled: Sender<Taken>,
        taken: Receiver<Taken>,
        looked: usize,
    }

    impl Recorder {
        fn begin(output: &std::path::Path) -> Recorder {
            let mut unfinished = Unfinished::create(output).unwrap();
            let formats = formats();
            let head = made_up::head(2, &[&formats[0], &formats[1]]);
            let files = head.cpus.iter().map(|cpu| unfinished.create_pages(*cpu, head.page_bytes));
            let files: Vec<_> = files.map(Result::unwrap).collect();
            unfinished.write_symbols().unwrap();
            unfinished.begin(&head).unwrap();
            unfinished.write_own_threads(&[]).unwrap();
            let mut samples = Samples::default();
            sample(&mut samples, 0);
            let growths: Vec<_> = files.iter().map(Writer::growth).collect();
            let pages = Pages::begun(&unfinished, &head, Vec::new()).unwrap();
            let look = FirstLook::begin(pages.growing(&growths).unwrap(), growths, &samples);
            let (sampled, taken) = channel();
            Recorder { unfinished, files, samples, look, sampled, taken, looked: 0 }
        }

        /// Writes a page of each CPU, the second CPU's `behind` pages later; looks at what is there then.
        fn write(&mut self, number: u64, behind: u64) {
            for (cpu, behind) in [(0, 0), (1, behind)] {
                let Some(number) = number.checked_sub(behind).filter(|number| *number < PAGES)
                else {
                    continue;
                };
                self.files[cpu as usize].write(&page(cpu, number)).unwrap();
                self.files[cpu as usize].growth().complete(ns(PAGE_MS * (number + 1)));
            }
            let now_ns = ns(PAGE_MS * number.min(PAGES - 1));
            while ns(SAMPLE_MS * self.samples.times_ns.len() as u64) < now_ns {
                let next = self.samples.times_ns.len() as u64;
                let _ = self.sampled.send(sample(&mut self.samples, next));
            }
            self.look();
        }

        fn look(&mut self) {
            while self.look.look(&self.taken).unwrap() {
                self.looked += 1;
            }
        }

        /// Makes the trace, with what was found out or without; returns it as text.
        fn made(self, with_look: bool, output: &std::path::Path) -> String {
            let tail = Tail { samples: self.samples, ..Tail::default() };
            self.unfinished.end(&tail).unwrap();
            let look = with_look.then_some(self.look);
            let writer = TraceWriter::create(output).unwrap();
            let mut signals = Signals::catch().unwrap();
            process(self.unfinished, writer, look, &mut signals, &mut |_| ()).unwrap();
            let trace = TraceReader::open(output).unwrap();
            let rows: Vec<_> = trace
                .batches()
                .flat_map(|rows| rows.unwrap().events().collect::<Vec<_>>())
                .collect();
            let meta: &Meta = trace.meta();
            format!("{}\n{rows:?}", serde_json::to_string(meta).unwrap())
        }
    }

    /// Makes the trace of a recording whose second CPU's pages come late.
    fn trace(with_look: bool, behind: u64, at_the_end: impl Fn(&mut Recorder)) -> (String, usize) {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("t.parquet");
        let mut recorder = Recorder::begin(&output);
        for number in 0..PAGES + behind {
            recorder.write(number, behind);
        }
        at_the_end(&mut recorder);
        let looked = recorder.looked;
        (recorder.made(with_look, &output), looked)
    }

    #[test]
    fn a_trace_is_the_same_whether_its_events_were_looked_at_before_the_end_or_not() {
        let (afterwards, _) = trace(false, 0, |_| ());
        assert!(afterwards.contains("EstimatedFree"), "samples tell of frees");
        for behind in [0, 1, 5] {
            let (meanwhile, looked) = trace(true, behind, |_| ());
            assert!(looked > 2, "{looked} looks with {behind} pages behind");
            assert!(meanwhile == afterwards, "{behind} pages behind");
        }
    }

    #[test]
    fn what_was_found_out_too_early_is_not_used() {
        // A file was said to be complete, and was not.
        let early = |recorder: &mut Recorder| {
            let complete = ns(PAGE_MS * (PAGES + 9));
            recorder.files.iter().for_each(|file| file.growth().complete(complete));
            let next = recorder.samples.times_ns.len() as u64;
            let _ = recorder.sampled.send(sample(&mut recorder.samples, next + 9));
            recorder.look();
            recorder.files[0].write(&page(0, PAGES - 9)).unwrap();
        };
        // A cache came.
        let new = |recorder: &mut Recorder| {
            recorder.samples.note("new", 1, 1);
        };
        // The lines of slabinfo moved.
        let moved = |recorder: &mut Recorder| {
            recorder.samples.caches.get_mut("dentry").unwrap().parts = (0, 0);
        };
        for (name, change) in
            [("early", &early as &dyn Fn(&mut Recorder)), ("new", &new), ("moved", &moved)]
        {
            let (afterwards, _) = trace(false, 0, change);
            let (meanwhile, looked) = trace(true, 0, change);
            assert!(looked > 2 && meanwhile == afterwards, "{name}");
        }
        assert!(trace(true, 0, moved).0 != trace(true, 0, |_| ()).0, "it tells");
    }
}
