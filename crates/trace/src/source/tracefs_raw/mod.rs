//! Raw pages of the tracefs ring buffer, as `per_cpu/cpuN/trace_pipe_raw` gives them.
//!
//! # How it works
//! Each CPU's pages are decoded one at a time into events, and the CPUs are merged by time. A page is a
//! header (start time, bytes committed) and records; a record is a 32-bit word of length and time step, then the
//! event as its `format` describes. Steps are added up from the page's start time.
//!
//! # Invariants
//! One decoded page per CPU is held, so memory does not grow with the recording; within a CPU events come
//! in the order of the buffer, between CPUs the earlier one first, at the same time that of the lower CPU.
//!
//! Linux counterpart: `kernel/trace/ring_buffer.c`, `include/linux/ring_buffer.h` @ 6.18.

mod cpu_pages;
#[cfg(fuzzing)]
mod fuzz;

use rustc_hash::FxHashMap;

use self::cpu_pages::{CpuPages, Decode, Decoded, Key};
#[cfg(fuzzing)]
pub use self::fuzz::fuzz_pages;
use super::ahead::Movable;
use super::bulk::Bulk;
use super::cgroup::CgroupEvent;
use super::format::EventFormat;
use super::kernel_stack::{KernelStack, Waiting};
use super::kmem::{Layout, Level, kind_of};
use super::page_format::{COMMIT_MASK, PageFormat, missed};
use super::page_layout::PageLayout;
use super::recording::{Facts, Source};
use super::records::{Records, extended};
use super::repeats::{Damage, NextRecord, PageSource, Told};
use super::task::TaskName;
use super::tsc::Tsc;
use crate::{Error, Extent, RawEvent};

/// Returns how many events a CPU lost, by what its `stats` file says.
pub(crate) fn lost(stats: &str) -> u64 {
    let lines = stats.lines().filter_map(|line| line.split_once(": "));
    let ways = ["overrun", "commit overrun", "dropped events"];
    let lost = lines.filter(|(name, _)| ways.contains(name));
    lost.filter_map(|(_, value)| value.trim().parse::<u64>().ok()).sum()
}

/// A recording made of raw pages: one stream of pages per CPU.
#[derive(Debug)]
pub(crate) struct TracefsRaw<R> {
    decoder: Decoder,
    cpus: Vec<CpuPages<R>>,
    /// Events from this time on are not given yet: more may come before them.
    until_ns: Option<u64>,
    /// The greatest key that was given while something was read later
    given: Key,
    /// Whether something came later that belongs before what was given
    is_late: bool,
}

/// What turns pages into events.
#[derive(Debug)]
struct Decoder {
    layouts: Vec<Known>,
    /// Index into `layouts` by the number in `common_type`
    layout_of: Vec<Option<u8>>,
    /// The threads of the recorder, and whether their own events are marked instead of left out.
    recorder: Vec<u32>,
    is_marking: bool,
    /// When threads got the names that they have
    named_ns: FxHashMap<u32, u64>,
    tsc: Option<Tsc>,
    stack: Option<KernelStack>,
    facts: Facts,
}

/// An event that is decoded.
#[derive(Debug)]
enum Known {
    /// One of an object
    One(Layout),
    /// One of the page allocator
    Page(PageLayout),
    /// One of many objects
    Bulk(Bulk),
    /// One that says what a thread is called, or in which cgroup it is
    Task(Option<TaskName>, Option<CgroupEvent>),
}

impl<R: PageSource> TracefsRaw<R> {
    /// Opens pages. `formats` are those of the events of slabs and pages, and of the probes beside them.
    pub(crate) fn new(
        page: PageFormat,
        formats: &[EventFormat],
        streams: Vec<(u32, R)>,
        facts: Facts,
    ) -> Result<TracefsRaw<R>, String> {
        let mut layouts = Vec::new();
        let mut layout_of = Vec::new();
        for format in formats {
            let layout = if let Some(kind) = kind_of(&format.name) {
                Known::One(Layout::new(kind, format)?)
            } else if let Some(page) = PageLayout::new(format)? {
                Known::Page(page)
            } else if let Some(bulk) = Bulk::new(format)? {
                Known::Bulk(bulk)
            } else {
                let (name, cgroup) = (TaskName::new(format), CgroupEvent::new(format));
                if name.is_none() && cgroup.is_none() {
                    continue;
                }
                Known::Task(name, cgroup)
            };
            let id = usize::from(format.id as u16);
            layout_of.resize(layout_of.len().max(id + 1), None);
            layout_of[id] = Some(layouts.len() as u8);
            layouts.push(layout);
        }
        let bulk = layouts.iter_mut().filter_map(|layout| match layout {
            Known::One(_) | Known::Page(_) | Known::Task(..) => None,
            Known::Bulk(bulk) => Some(bulk),
        });
        Bulk::cover(&mut bulk.collect::<Vec<_>>());
        let decoder = Decoder {
            layouts,
            layout_of,
            recorder: Vec::new(),
            is_marking: false,
            named_ns: FxHashMap::default(),
            tsc: None,
            stack: formats.iter().find_map(KernelStack::new),
            facts,
        };
        let source =
            TracefsRaw { decoder, cpus: Vec::new(), until_ns: None, given: (0, 0), is_late: false };
        Ok(source.and(page, streams, &[]))
    }

    /// Reads pages of another buffer with them, without the events of these numbers.
    pub(crate) fn and(
        mut self,
        page: PageFormat,
        streams: Vec<(u32, R)>,
        left_out: &[u16],
    ) -> TracefsRaw<R> {
        let pages = |(cpu, pages)| CpuPages::new(cpu, page, pages, left_out.to_vec());
        self.cpus.extend(streams.into_iter().map(pages));
        self
    }

    /// Leaves out what these threads do. What an interrupt does while one of them runs is not theirs.
    pub(crate) fn leave_out(mut self, threads: Vec<u32>) -> TracefsRaw<R> {
        self.decoder.recorder = threads;
        self
    }

    /// As [`TracefsRaw::leave_out`], but what they do gets [`RawEvent::RECORDER_PID`].
    pub(crate) fn mark(self, threads: Vec<u32>) -> TracefsRaw<R> {
        let mut source = self.leave_out(threads);
        source.decoder.is_marking = true;
        source
    }

    /// Gives events before a time only, while those of some CPUs are read later; from now on all with `None`.
    pub(crate) fn give_until(&mut self, until_ns: Option<u64>) {
        self.until_ns = until_ns;
    }

    /// Returns whether events were given in another order than if all had been there from the beginning.
    pub(crate) fn is_late(&self) -> bool {
        self.is_late
    }

    /// Makes nanoseconds of the counts of a processor's clock, where that is the recording's.
    pub(crate) fn clock(mut self, tsc: Option<Tsc>) -> TracefsRaw<R> {
        self.decoder.tsc = tsc;
        self
    }

    /// Returns, per CPU, how many events the pages read so far say were missed.
    pub(crate) fn missed(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        self.cpus.iter().map(|pages| (pages.cpu, pages.missed))
    }

    /// Returns, per CPU, how many events were in damaged parts of what was read so far; one of each part that does not tell.
    pub(crate) fn damaged(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        self.cpus.iter().map(|pages| (pages.cpu, pages.damaged))
    }
}

/// Events given by one [`Source::read`], at least, while there are any. (Those that wait in between two threads stay in the
/// processor's caches.)
const CHUNK_EVENTS: usize = 1024;

impl<R: PageSource> TracefsRaw<R> {
    /// Returns the CPU whose next event is earliest, and the key until which it stays so.
    fn first(&mut self) -> Option<(usize, Key)> {
        const LAST: Key = (u64::MAX, u32::MAX);
        let mut end = self.until_ns.map_or(LAST, |until_ns| (until_ns, 0));
        let (mut first, mut first_key, mut until) = (None, LAST, LAST);
        for (index, pages) in self.cpus.iter_mut().enumerate() {
            let has_waited = pages.waits_ns.take().is_some();
            let Some(key) = pages.peek(&mut self.decoder) else {
                end = end.min(pages.waits_ns.map_or(LAST, |waits_ns| (waits_ns, pages.cpu)));
                continue;
            };
            self.is_late |= has_waited && key < self.given;
            if key < first_key {
                until = first_key;
                (first, first_key) = (Some(index), key);
            } else if key < until {
                until = key;
            }
        }
        // Two buffers of a CPU may have events of one time.
        let until = until.max((first_key.0, first_key.1.saturating_add(1))).min(end);
        first.filter(|_| first_key < end).map(|first| (first, until))
    }
}

impl<R: PageSource + std::fmt::Debug> Source for TracefsRaw<R> {
    fn read(&mut self, to: &mut Vec<RawEvent>) -> Result<bool, Error> {
        let before = to.len();
        while to.len() - before < CHUNK_EVENTS {
            let Some((first, until)) = self.first() else { break };
            self.cpus[first].take_until(until, to);
            if self.until_ns.is_some()
                && let Some(last) = to.last()
            {
                self.given = self.given.max((last.time_ns, last.cpu));
            }
        }
        Ok(to.len() > before || self.until_ns.is_some())
    }

    fn facts(&self) -> &Facts {
        &self.decoder.facts
    }
}

impl<R: PageSource + std::fmt::Debug + Send + 'static> Movable for TracefsRaw<R> {
    fn facts_mut(&mut self) -> &mut Facts {
        &mut self.decoder.facts
    }
}

impl Decode for Decoder {
    fn page<R>(&mut self, pages: &mut CpuPages<R>) {
        let (page, cpu) = (std::mem::take(&mut pages.buffer), pages.cpu);
        let format = pages.page;
        self.facts.bytes_read += page.len() as u64;
        let commit = format.commit.unsigned(&page).unwrap_or(0);
        let committed = (commit & COMMIT_MASK) as usize;
        let data = &page[format.data.offset..];
        pages.time_ns = format.timestamp.unsigned(&page).unwrap_or(0);
        pages.missed += missed(commit, data);
        let place = |number: u64| move || format!("page {number} of CPU {cpu}");
        // What these records are like is not followed.
        pages.decoded.repeats.clear();
        if committed > data.len() {
            self.skip("page with a damaged header", place(pages.pages_read));
        } else {
            let mut records = Records { data: &data[..committed], time_ns: pages.time_ns };
            for record in &mut records {
                let Ok((time_ns, record)) = record else {
                    self.skip("damaged rest of a page", place(pages.pages_read));
                    break;
                };
                let number = record.first_chunk().map(|number| u16::from_le_bytes(*number));
                if number.is_some_and(|number| pages.left_out.contains(&number)) {
                    pages.decoded.waiting = Waiting::default();
                } else if let Err(reason) = self.record(record, time_ns, None, &mut pages.decoded) {
                    self.skip(reason, place(pages.pages_read));
                }
            }
        }
        pages.buffer = page;
    }

    fn records<R: PageSource>(&mut self, pages: &mut CpuPages<R>) {
        self.facts.bytes_read += pages.buffer.len() as u64;
        let mut time_ns = pages.page.timestamp.unsigned(&pages.buffer).unwrap_or(0);
        let (number, cpu) = (pages.pages_read, pages.cpu);
        let place = move || format!("page {number} of CPU {cpu}");
        loop {
            let done = match pages.pages.next_record() {
                NextRecord::End => return,
                NextRecord::Damaged => {
                    self.skip("damaged rest of a page", place);
                    return pages.decoded.repeats.clear();
                }
                NextRecord::Time(head, high) => {
                    time_ns = extended(time_ns, head, high);
                    Ok(())
                }
                NextRecord::Event(head, record, told) => {
                    time_ns = time_ns.wrapping_add(u64::from(head >> 5));
                    self.record(record, time_ns, Some(told), &mut pages.decoded)
                }
            };
            if let Err(reason) = done {
                self.skip(reason, place);
            }
        }
    }

    fn damage<R>(&mut self, pages: &mut CpuPages<R>, damage: Damage) {
        pages.decoded.repeats.clear();
        pages.damaged += damage.events.max(u64::from(!damage.is_counted));
        let (number, cpu) = (pages.pages_read, pages.cpu);
        self.skip("damaged part of a recording", || format!("page {number} of CPU {cpu}"));
        self.facts.meta.quality.gaps_uncounted += u64::from(!damage.is_counted);
    }

    fn skip(&mut self, reason: &str, place: impl FnOnce() -> String) {
        self.facts.meta.quality.skip(reason, place);
    }
}

impl Decoder {
    /// Decodes a record of an event, or of the stack of one before it.
    #[inline]
    fn record(
        &mut self,
        record: &[u8],
        time_ns: u64,
        told: Option<Told>,
        to: &mut Decoded,
    ) -> Result<(), &'static str> {
        let Some(stack) = &self.stack else { return self.told_event(record, time_ns, told, to) };
        let level = stack.level(record);
        if record.first_chunk().map(|number| u16::from_le_bytes(*number)) == Some(stack.id) {
            let addresses = stack.addresses(record).ok_or("record that is too short")?;
            if let Some(place) = to.waiting.take(level) {
                let stack = self.facts.names.stack(addresses, Extent::Whole);
                to.events[place].stack = stack;
            }
            return Ok(());
        }
        let before = to.events.len();
        self.told_event(record, time_ns, told, to)?;
        match to.events.len() - before {
            1 => to.waiting.note(level, before),
            _ => to.waiting.forget(level),
        }
        Ok(())
    }

    /// Decodes a record of an event that may be like one before it.
    #[inline]
    fn told_event(
        &mut self,
        record: &[u8],
        time_ns: u64,
        told: Option<Told>,
        to: &mut Decoded,
    ) -> Result<(), &'static str> {
        let Some(told) = told else { return self.event(record, time_ns, to.cpu, &mut to.events) };
        let ns = self.tsc.map_or(time_ns, |tsc| tsc.ns(time_ns));
        let Some((mut event, level)) = to.repeats.event(told, record, ns) else {
            return self.new_event(record, time_ns, told, to);
        };
        if level == Level::Thread && self.recorder.contains(&event.pid) {
            if !self.is_marking {
                return Ok(());
            }
            event.pid = RawEvent::RECORDER_PID;
        }
        to.events.push(event);
        Ok(())
    }

    /// Decodes a record of an event, which later ones may be like.
    #[cold]
    fn new_event(
        &mut self,
        record: &[u8],
        time_ns: u64,
        told: Told,
        to: &mut Decoded,
    ) -> Result<(), &'static str> {
        to.repeats.forget(told);
        let before = to.events.len();
        self.event(record, time_ns, to.cpu, &mut to.events)?;
        let number = record.first_chunk().map_or(0, |number| u16::from_le_bytes(*number));
        if let Some(Some(layout)) = self.layout_of.get(usize::from(number))
            && let Known::One(layout) = &self.layouts[usize::from(*layout)]
            && let Some(event) = to.events.get(before)
        {
            to.repeats.note(told, layout, record, *event);
        }
        Ok(())
    }

    /// Decodes a record into `to`, unless it is to be left out.
    #[inline]
    fn event(
        &mut self,
        record: &[u8],
        time_ns: u64,
        cpu: u32,
        to: &mut Vec<RawEvent>,
    ) -> Result<(), &'static str> {
        let short = "record that is too short";
        let id = u16::from_le_bytes(*record.first_chunk().ok_or(short)?);
        let Some(Some(layout)) = self.layout_of.get(usize::from(id)) else { return Ok(()) };
        let layout = &self.layouts[usize::from(*layout)];
        let maker = match layout {
            Known::One(layout) => layout.maker,
            Known::Page(layout) => layout.maker,
            Known::Bulk(bulk) => bulk.maker,
            Known::Task(name, cgroup) => {
                // A thread may be named on one CPU and renamed on another, whose pages are read first.
                if let Some((pid, name)) = name.and_then(|name| name.read(record)) {
                    let named_ns = self.named_ns.entry(pid).or_default();
                    if time_ns >= *named_ns {
                        *named_ns = time_ns;
                        self.facts.meta.comms.insert(pid, name);
                    }
                }
                if let Some(change) = cgroup.and_then(|cgroup| cgroup.read(record)) {
                    let time_ns = self.tsc.map_or(time_ns, |tsc| tsc.ns(time_ns));
                    self.facts.cgroup_changes.push((time_ns, change));
                }
                return Ok(());
            }
        };
        let pid = maker.pid(record).ok_or(short)?;
        let is_recorder = self.recorder.contains(&pid) && !maker.in_interrupt(record);
        if is_recorder && !self.is_marking {
            return Ok(());
        }
        let first = to.len();
        let time_ns = self.tsc.map_or(time_ns, |tsc| tsc.ns(time_ns));
        let names = &mut self.facts.names;
        match layout {
            Known::Task(..) => {}
            Known::One(layout) => {
                to.push(layout.decode(record, time_ns, cpu, names).ok_or(short)?);
            }
            Known::Page(layout) => {
                to.push(layout.decode(record, time_ns, cpu).ok_or(short)?);
            }
            Known::Bulk(bulk) => {
                let unrecorded = bulk.decode(record, time_ns, cpu, names, to).ok_or(short)?;
                if unrecorded > 0 {
                    let quality = &mut self.facts.meta.quality;
                    let place = || format!("{time_ns} ns on CPU {cpu}");
                    quality.skip_many("objects of a long bulk call", unrecorded, place);
                }
            }
        }
        if is_recorder {
            to[first..].iter_mut().for_each(|event| event.pid = RawEvent::RECORDER_PID);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::format::{KFREE, Place};

    #[test]
    fn own_events_are_left_out_but_not_those_of_an_interrupt() {
        const OWN: u32 = 41;
        // Nothing, irqs off, hard irq, soft irq, NMI; and another thread.
        let made = [(0, OWN), (1, OWN), (0x08, OWN), (0x10, OWN), (0x40, OWN), (0, 42)];
        let mut data = Vec::new();
        for (ptr, &(flags, pid)) in (1u64..).zip(&made) {
            data.extend((24u32 / 4).to_le_bytes());
            data.extend([7, 0, flags, 0]);
            data.extend(pid.to_le_bytes());
            data.extend(0u64.to_le_bytes());
            data.extend(ptr.to_le_bytes());
        }
        let mut page = [0u64.to_le_bytes(), (data.len() as u64).to_le_bytes()].concat();
        page.append(&mut data);
        let place = |offset, bytes| Place { offset, bytes };
        let (timestamp, commit) = (place(0, 8), place(8, 8));
        let shape = PageFormat { timestamp, commit, data: place(16, page.len() - 16) };
        let formats = [EventFormat::parse(KFREE).unwrap()];
        let pages = vec![(0, page.as_slice())];
        let source = TracefsRaw::new(shape, &formats, pages, Facts::default()).unwrap();
        let mut events = Vec::new();
        source.leave_out(vec![7, OWN]).read(&mut events).unwrap();
        assert_eq!(events.iter().map(|event| event.ptr).collect::<Vec<_>>(), [3, 4, 5, 6]);
    }

    #[test]
    fn stats_add_up_every_way_of_losing_an_event() {
        let text = "entries: 0\noverrun: 3\ncommit overrun: 4\nbytes: 60\n\
            oldest event ts:  1.2\nnow ts:  5.6\ndropped events: 5\nread events: 1000\n";
        assert_eq!(lost(text), 12);
        assert_eq!(lost(""), 0);
    }

    #[test]
    fn header_page_gives_the_size_of_a_page() {
        let page = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\
            \tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n\
            \tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n\
            \tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";
        let event = "# compressed entry header\n\ttype_len    :    5 bits\n\
            \ttime_delta  :   27 bits\n\tarray       :   32 bits\n\n\
            \tpadding     : type == 29\n\ttime_extend : type == 30\n\
            \ttime_stamp : type == 31\n\tdata max type_len  == 28\n";
        assert_eq!(PageFormat::parse(page, event).unwrap().bytes(), 4096);
        assert!(PageFormat::parse(page, "").is_err());
        assert!(PageFormat::parse("", event).is_err());
    }
}
