//! The text of `perf script`, of `trace-cmd report`, and of tracefs `trace` and `trace_pipe`.
//!
//! How it works: the three dialects differ in what stands left of the event, which one parser reads for
//! all ([`line`]), and in the lines around the events, of which the number of CPUs and losses are
//! taken. Time stamps have microseconds only, so events at the same time stay in the order of the
//! lines; the whole text is read before the first event is given, as lines may be out of order.
//!
//! What cannot be known from a text: addresses of call sites where it has symbols; pointers where the
//! kernel hashed them (hashed ones still tell objects apart).

mod gfp;
mod line;

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use self::line::{Line, Other};
use super::intern::{Interner, skip};
use super::{Facts, Format, Source, Tables};
use crate::symbols::Symbols;
use crate::{Error, NONE, RawEvent};

/// An open text.
#[derive(Debug)]
pub(super) struct Text {
    path: PathBuf,
    input: Option<BufReader<File>>,
    file_bytes: u64,
    read_bytes: u64,
    events: std::vec::IntoIter<RawEvent>,
    names: Interner,
    symbols: Symbols,
    facts: Facts,
}

/// A line longer than this is none of a trace's.
const LINE_BYTES_MAX: u64 = 64 << 10;

/// Events given by one [`Source::read`].
const CHUNK_EVENTS: usize = 4096;

impl Text {
    pub(super) fn open(path: &Path, format: Format) -> Result<Text, Error> {
        let file = File::open(path).map_err(|e| Error::io(path, "cannot open", e))?;
        let file_bytes = file.metadata().map_err(|e| Error::io(path, "cannot read", e))?.len();
        let mut facts = Facts::default();
        facts.meta.source = format.name().into();
        facts.meta.recorder = match format {
            Format::PerfScript => "perf record",
            Format::TraceCmdReport => "trace-cmd",
            _ => "tracefs",
        }
        .into();
        Ok(Text {
            path: path.into(),
            input: Some(BufReader::with_capacity(1 << 20, file)),
            file_bytes,
            read_bytes: 0,
            events: Vec::new().into_iter(),
            names: Interner::default(),
            symbols: Symbols::default(),
            facts,
        })
    }

    /// Reads all lines, and puts the events in order.
    fn read_all(&mut self, mut input: BufReader<File>) -> Result<(), Error> {
        let (mut events, mut bytes, mut number) = (Vec::new(), Vec::new(), 0u64);
        loop {
            bytes.clear();
            let read = std::io::Read::take(&mut input, LINE_BYTES_MAX)
                .read_until(b'\n', &mut bytes)
                .map_err(|e| Error::io(&self.path, "cannot read", e))?;
            if read == 0 {
                break;
            }
            number += 1;
            self.read_bytes += read as u64;
            let text = String::from_utf8_lossy(&bytes);
            let text = text.trim_end_matches(['\n', '\r']);
            match line::parse(text) {
                Ok(line) => events.push(self.event(&line)),
                Err(other) => self.other(text, other, number),
            }
        }
        self.facts.meta.quality.disordered += sort(&mut events);
        self.events = events.into_iter();
        Ok(())
    }

    fn event(&mut self, line: &Line<'_>) -> RawEvent {
        RawEvent {
            time_ns: line.time_ns,
            cpu: line.cpu,
            pid: line.pid,
            kind: line.kind,
            ptr: line.ptr,
            site: self.site(line.call_site),
            cache: self.names.cache(line.cache.as_bytes()),
            bytes_req: line.bytes_req,
            bytes_alloc: line.bytes_alloc,
            gfp: gfp::parse(line.gfp),
            node: line.node,
        }
    }

    /// Returns the number of a call site given as an address or as `symbol+0x10/0x20 [module]`, of
    /// which the symbol's length is left out; [`NONE`] for what a kernel prints that hides its addresses.
    fn site(&mut self, text: &str) -> u32 {
        let digits = text.strip_prefix("0x").unwrap_or(text);
        let is_hidden = text.starts_with("(__") || text == "(null)" || text == "(nil)";
        if is_hidden || digits.bytes().all(|digit| digit == b'0') {
            return NONE;
        }
        if let Ok(address) = u64::from_str_radix(digits, 16)
            && digits.len() >= 8
        {
            return self.names.address(address);
        }
        let (place, module) = text.split_once(' ').unwrap_or((text, ""));
        match (place.split_once('/').map_or(place, |(place, _)| place), module.trim()) {
            (place, "") => self.names.symbol(place),
            (place, module) => self.names.symbol(&format!("{place} {module}")),
        }
    }

    /// Takes what a line that is no kmem event tells.
    fn other(&mut self, text: &str, other: Other, number: u64) {
        match other {
            Other::Irrelevant => self.header(text),
            Other::Lost { cpu, events } if cpu < 8192 => {
                let lost = &mut self.facts.meta.quality.lost;
                lost.resize(lost.len().max(cpu as usize + 1), 0);
                lost[cpu as usize] = lost[cpu as usize].saturating_add(events);
            }
            Other::Lost { .. } => {
                let place = || format!("line {number}");
                skip(&mut self.facts.skipped, "CPU number beyond the machine", place);
            }
            Other::Broken(reason) => {
                skip(&mut self.facts.skipped, reason, || format!("line {number}"));
            }
        }
    }

    /// Reads `cpus=2` of trace-cmd, and `# entries-in-buffer/entries-written: 8/10   #P:2` of tracefs,
    /// where the difference was overwritten before the text was made.
    fn header(&mut self, text: &str) {
        let meta = &mut self.facts.meta;
        if let Some(cpus) = text.strip_prefix("cpus=").and_then(|cpus| cpus.trim().parse().ok()) {
            meta.cpus = cpus;
        }
        let Some(entries) = text.strip_prefix("# entries-in-buffer/entries-written:") else {
            return;
        };
        if let Some((entries, cpus)) = entries.split_once("#P:") {
            meta.cpus = cpus.trim().parse().unwrap_or(0);
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

/// Sorts by time, events at the same time staying in order; returns how many came before an earlier
/// one of the same CPU.
fn sort(events: &mut [RawEvent]) -> u64 {
    if events.is_sorted_by_key(|event| event.time_ns) {
        return 0;
    }
    let mut latest_ns = rustc_hash::FxHashMap::default();
    let mut disordered = 0;
    for event in events.iter() {
        let latest_ns = latest_ns.entry(event.cpu).or_insert(0);
        disordered += u64::from(event.time_ns < *latest_ns);
        *latest_ns = event.time_ns.max(*latest_ns);
    }
    events.sort_by_key(|event| event.time_ns);
    disordered
}

impl Source for Text {
    fn read(&mut self, to: &mut Vec<RawEvent>) -> Result<bool, Error> {
        if let Some(input) = self.input.take() {
            self.read_all(input)?;
        }
        let before = to.len();
        to.extend(self.events.by_ref().take(CHUNK_EVENTS));
        Ok(to.len() > before)
    }

    fn tables(&self) -> &Tables {
        self.names.tables()
    }

    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn symbols(&self) -> &Symbols {
        &self.symbols
    }

    fn progress(&self) -> (u64, u64) {
        (self.read_bytes, self.file_bytes)
    }
}
