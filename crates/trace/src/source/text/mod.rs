//! The text of `perf script`, of `trace-cmd report`, and of tracefs `trace` and `trace_pipe`.
//!
//! # How it works
//! The three dialects differ in the part left of the event, which one parser reads for
//! all ([`line`]), and in the lines around the events, from which the number of CPUs and losses are
//! taken. Time stamps have only microseconds, so events at the same time stay in the order of the
//! lines. The whole text is read before the first event is given, as any line may be out of order; the
//! [`Sorter`] keeps in a file what memory should not hold.
//!
//! Comments of our own say what the machine was and what its slabs were ([`machine`]); frees that made no event are then
//! placed by the samples.
//!
//! What cannot be known from a text: addresses of call sites where it has symbols; pointers where the
//! kernel hashed them (hashed ones still tell objects apart).

mod chain;
mod clock;
mod fields;
mod line;
pub(super) mod machine;
mod page_line;

use std::fmt;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;

use self::chain::Chain;
use self::clock::Clock;
use self::fields::Other;
use self::line::Line;
pub(super) use self::page_line::NAMES as PAGE_NAMES;
use super::recording::{Facts, Format, OTHER_EVENTS_MAX, Source};
use super::sorter::Sorter;
use crate::error::At;
use crate::{Error, Extent, Input, NONE, RawEvent};
use slablab_linux::CPUS_MAX;

/// An open text.
pub(super) struct Text {
    path: PathBuf,
    /// `None` when all lines were read.
    lines: Option<BufReader<Box<dyn Read + Send>>>,
    lines_read: u64,
    sorter: Sorter,
    facts: Facts,
    is_sampled: bool,
    clock: Clock,
    chain: Chain,
    /// Events that were lost in all, where the text says so beside noting losses one by one.
    lost_in_all: Vec<u64>,
}

/// A line longer than this is none of a trace's.
const LINE_BYTES_MAX: u64 = 64 << 10;

/// Lines read by one [`Source::read`].
const CHUNK_LINES: usize = 4096;

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Text").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Text {
    pub(super) fn open(input: Input, format: Format) -> Text {
        let mut facts = Facts::default();
        facts.meta.source = format.name().into();
        facts.meta.recorder = match format {
            Format::PerfScript => "perf record",
            Format::TraceCmdReport => "trace-cmd",
            _ => "tracefs",
        }
        .into();
        facts.bytes = input.bytes();
        let path = input.path().to_owned();
        let is_sampled = input.head().starts_with(machine::MARK.as_bytes());
        Text {
            sorter: Sorter::new(&path),
            path,
            lines: Some(BufReader::with_capacity(1 << 20, Box::new(input.into_reader()))),
            lines_read: 0,
            facts,
            is_sampled,
            clock: Clock::default(),
            chain: Chain::default(),
            lost_in_all: Vec::new(),
        }
    }

    /// Reads the next lines.
    fn read_lines(&mut self, mut lines: BufReader<Box<dyn Read + Send>>) -> Result<(), Error> {
        let mut bytes = Vec::new();
        for _ in 0..CHUNK_LINES {
            bytes.clear();
            let read = (&mut lines)
                .take(LINE_BYTES_MAX)
                .read_until(b'\n', &mut bytes)
                .map_err(|e| Error::io(&self.path, "cannot read", e))?;
            if read == 0 {
                if self.clock.goes_back() {
                    let what = "the events of a CPU go back in time again and again";
                    let remedy =
                        "print it again with times of a clock (perf script without --deltatime)";
                    return Err(Error::bad(&self.path, At::File, what, remedy));
                }
                let cut = self.chain.end(Extent::Cut);
                self.chain_read(cut);
                self.sorter.finish();
                let quality = &mut self.facts.meta.quality;
                quality.disordered += self.sorter.disordered;
                // Notes of losses miss those that nothing came after.
                if self.lost_in_all.iter().sum::<u64>() > quality.lost_total() {
                    quality.lost = std::mem::take(&mut self.lost_in_all);
                }
                return Ok(());
            }
            self.lines_read += 1;
            self.facts.bytes_read += read as u64;
            let text = String::from_utf8_lossy(&bytes);
            let text = text.trim_end_matches(['\n', '\r']);
            // What some editors put at the beginning of a file.
            let text = text.trim_start_matches('\u{feff}');
            match line::parse(text) {
                Ok(line) => {
                    let event = self.event(&line);
                    let ticket = self.sorter.push(event)?;
                    let ended = self.chain.event(line.context(), ticket);
                    self.chain_read(ended);
                }
                Err(other) => self.other(text, other, self.lines_read),
            }
        }
        self.lines = Some(lines);
        Ok(())
    }

    fn event(&mut self, line: &Line<'_>) -> RawEvent {
        let cache = self.facts.names.cache(line.cache.as_bytes());
        let comms = &mut self.facts.meta.comms;
        // `<...>` is what tracefs writes where it has forgotten the name.
        if line.comm != "<...>" && comms.get(&line.event.pid).is_none_or(|comm| comm != line.comm) {
            comms.insert(line.event.pid, line.comm.to_owned());
        }
        self.note_cpu(line.event.cpu);
        self.clock.note(line.event.cpu, line.event.time_ns);
        RawEvent { site: self.site(line.call_site), cache, ..line.event }
    }

    /// Raises the number of CPUs to what an event shows: headers count those that are online, and with some of them off,
    /// such as every second thread of a core, others have higher numbers.
    fn note_cpu(&mut self, cpu: u32) {
        let cpus = &mut self.facts.meta.cpus;
        if *cpus > 0 && cpu < CPUS_MAX {
            *cpus = (*cpus).max(cpu + 1);
        }
    }

    /// Returns the number of a call site given as an address or as `symbol+0x10/0x20 [module]`, without
    /// the symbol's length; [`NONE`] for the text of a kernel that hides its addresses.
    fn site(&mut self, text: &str) -> u32 {
        let digits = text.strip_prefix("0x").unwrap_or(text);
        let is_hidden = text.starts_with("(__") || text == "(null)" || text == "(nil)";
        if is_hidden || digits.bytes().all(|digit| digit == b'0') {
            return NONE;
        }
        if let Ok(address) = u64::from_str_radix(digits, 16)
            && digits.len() >= 8
        {
            return self.facts.names.address(address);
        }
        let (place, module) = text.split_once(' ').unwrap_or((text, ""));
        match (place.split_once('/').map_or(place, |(place, _)| place), module.trim()) {
            (place, "") => self.facts.names.symbol(place),
            (place, module) => self.facts.names.symbol(&format!("{place} {module}")),
        }
    }

    /// Takes the facts from a line without a kmem event.
    fn other(&mut self, text: &str, other: Other, number: u64) {
        match other {
            Other::Stack(context) => {
                let ended = self.chain.mark(context);
                self.chain_read(ended);
            }
            Other::Irrelevant => {
                let ended = self.chain.line(text);
                self.chain_read(ended);
                self.header(text);
                if self.facts.other_events.len() < OTHER_EVENTS_MAX {
                    self.facts.other_events.extend(line::event_name(text).map(str::to_owned));
                }
            }
            Other::Lost { cpu, events } if cpu < CPUS_MAX => {
                let quality = &mut self.facts.meta.quality;
                quality.gaps_uncounted += u64::from(events.is_none());
                add(&mut quality.lost, cpu, events.unwrap_or(1));
            }
            Other::LostInAll { cpu, events } if cpu < CPUS_MAX => {
                add(&mut self.lost_in_all, cpu, events);
            }
            Other::Lost { .. } | Other::LostInAll { .. } => {
                self.skip("CPU number beyond the machine", number);
            }
            Other::Broken(reason) => self.skip(reason, number),
        }
    }

    /// Gives an event the chain that was read.
    fn chain_read(&mut self, chain: Option<chain::Read>) {
        let Some(chain::Read { ticket, frames, extent }) = chain else { return };
        let frames = frames.iter().map(String::as_str);
        let stack = self.facts.names.stack_of_symbols(frames, extent);
        self.sorter.set_stack(ticket, stack);
    }

    fn skip(&mut self, reason: &str, number: u64) {
        self.facts.meta.quality.skip(reason, || format!("line {number}"));
    }

    /// Reads `cpus=2` of trace-cmd, and `# entries-in-buffer/entries-written: 8/10   #P:2` of tracefs,
    /// where the difference was overwritten before the text was made.
    fn header(&mut self, text: &str) {
        let meta = &mut self.facts.meta;
        if let Some(fact) = text.strip_prefix(machine::MARK) {
            machine::note(fact, meta);
        }
        if let Some(cpus) = text.strip_prefix("cpus=").and_then(|cpus| cpus.trim().parse().ok()) {
            meta.cpus = cpus;
        }
        let Some(entries) = text.strip_prefix("# entries-in-buffer/entries-written:") else {
            return;
        };
        if let Some((entries, cpus)) = entries.split_once("#P:") {
            meta.cpus = meta.cpus.max(cpus.trim().parse().unwrap_or(0));
            let numbers = entries.trim().split_once('/');
            let numbers = numbers.and_then(|(kept, all)| {
                Some((kept.parse::<u64>().ok()?, all.trim().parse::<u64>().ok()?))
            });
            if let Some((kept, all)) = numbers.filter(|(kept, all)| all > kept) {
                meta.quality.lost = vec![all - kept];
            }
        }
    }
}

/// Adds to a CPU's count.
fn add(counts: &mut Vec<u64>, cpu: u32, count: u64) {
    let cpu = cpu as usize;
    counts.resize(counts.len().max(cpu + 1), 0);
    counts[cpu] = counts[cpu].saturating_add(count);
}

impl Source for Text {
    fn read(&mut self, to: &mut Vec<RawEvent>) -> Result<bool, Error> {
        match self.lines.take() {
            Some(lines) => self.read_lines(lines).map(|()| true),
            None => self.sorter.take(to),
        }
    }

    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn is_sampled(&self) -> bool {
        self.is_sampled
    }
}
