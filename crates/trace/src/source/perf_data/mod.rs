//! `perf.data`, as `perf kmem record` and `perf record -e kmem:...` write it, to a file or a pipe.
//!
//! # How it works
//! The header gives each event's attributes (how its samples are laid out) and the tracing data (where
//! in a sample's raw part its fields are); then records are read in file order. Their order in time is that of perf
//! itself: events are held until a FINISHED_ROUND says that nothing earlier will come ([`queue`]).
//!
//! Linux counterpart: `tools/perf/util/{header,session,ordered-events}.c` @ 6.1.

mod attr;
mod comms;
mod header;
mod losses;
mod queue;
mod stream;
mod symbols;
mod tracing;

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use self::attr::Attr;
use self::comms::Comms;
use self::header::Header;
use self::losses::Losses;
use self::queue::Queue;
use self::stream::{End, Stream, kind};
use self::tracing::{AnyLayout, Tracing};
use super::ahead::Movable;
use super::names::Names;
use super::recording::{Facts, Source, no_kmem_events};
use crate::error::At;
use crate::source::bytes::{Bytes, text};
use crate::symbols::Symbols;
use crate::{Error, Extent, Input, RawEvent};

/// How files begin, in the byte order of little-endian machines.
pub(super) const MAGIC: &[u8; 8] = b"PERFILE2";

/// How files of a big-endian machine begin.
pub(super) const MAGIC_SWAPPED: &[u8; 8] = b"2ELIFREP";

const NO_FORMATS: &str = "holds no kmem events (it has no tracepoint formats)";
const REMEDY: &str = "record again with `slablab record` or `perf kmem record`";

/// The header of one that was made for a pipe.
const PIPE_HEADER_BYTES: u64 = 16;

/// An open `perf.data`.
#[derive(Debug)]
pub(super) struct PerfData {
    path: PathBuf,
    stream: Stream<Box<dyn Read + Send>>,
    /// Where in the file `stream` begins.
    stream_offset: u64,
    header: Header,
    /// The kmem events' layouts by the number in `common_type`.
    layouts: Vec<(u16, AnyLayout)>,
    /// The kernel's symbol by which addresses are moved, and where it was.
    reference: Option<(String, u64)>,
    facts: Facts,
    queue: Queue,
    losses: Losses,
    told_comms: Comms,
    state: State,
}

#[derive(Debug, PartialEq, Eq)]
enum State {
    /// No sample has been seen; in a pipe the header is still coming.
    Header,
    Samples,
    Ended,
}

impl PerfData {
    pub(super) fn open(input: Input) -> Result<PerfData, Error> {
        let path = input.path().to_owned();
        let io = |e| Error::io(&path, "cannot read", e);
        let bad = |what: &str| Error::bad(&path, At::File, what, REMEDY);
        let head = input.head().to_vec();
        let mut bytes = Bytes(&head);
        match bytes.take(8) {
            Some(magic) if magic == MAGIC => {}
            Some(magic) if magic == MAGIC_SWAPPED => {
                return Err(bad("was recorded on a big-endian machine, which is not supported"));
            }
            _ => return Err(bad("is not a perf.data (it does not begin with PERFILE2)")),
        }
        let cut = || bad("is cut short within its header");
        let mut header = Header::default();
        header.meta.recorder = "perf record".into();
        header.meta.source = "perf.data".into();
        let mut facts = Facts { bytes: input.bytes(), ..Facts::default() };
        let (stream_offset, records): (u64, Box<dyn Read + Send>) =
            match bytes.u64().ok_or_else(cut)? {
                // Made for a pipe: everything else comes as records.
                PIPE_HEADER_BYTES => {
                    let mut records = input.into_reader();
                    let head = &mut [0; PIPE_HEADER_BYTES as usize];
                    records.read_exact(head).map_err(io)?;
                    (PIPE_HEADER_BYTES, Box::new(records))
                }
                _ => {
                    let (mut file, file_bytes) = input.into_file()?;
                    facts.bytes = file_bytes;
                    let (offset, length) =
                        sections(&path, &mut file, bytes, file_bytes, &mut header)?;
                    file.seek(SeekFrom::Start(offset)).map_err(io)?;
                    (offset, Box::new(file.take(length)))
                }
            };
        Ok(PerfData {
            path,
            stream: Stream::new(records),
            stream_offset,
            header,
            layouts: Vec::new(),
            reference: None,
            facts,
            queue: Queue::default(),
            losses: Losses::default(),
            told_comms: Comms::default(),
            state: State::Header,
        })
    }

    /// Handles the next record; appends the events that it settles.
    #[inline]
    fn record(&mut self, to: &mut Vec<RawEvent>) -> Result<(), Error> {
        let offset = self.stream_offset + self.stream.offset();
        let record = match self.stream.next() {
            Ok(record) => record,
            Err(end) => {
                self.end(end, offset)?;
                self.queue.finish(to);
                return Ok(());
            }
        };
        if record.kind == kind::SAMPLE && self.state == State::Samples {
            match sample(record.body, &self.header, &self.layouts, &mut self.facts.names) {
                Ok(Some(event)) => self.queue.push(event),
                Ok(None) => {} // of an event that is not kmem's
                Err(reason) => self.facts.meta.quality.skip(reason, || format!("byte {offset}")),
            }
            return Ok(());
        }
        let (kind, misc, body) = (record.kind, record.misc, record.body.to_vec());
        match kind {
            kind::SAMPLE => {
                self.begin()?;
                match sample(&body, &self.header, &self.layouts, &mut self.facts.names) {
                    Ok(event) => event.into_iter().for_each(|event| self.queue.push(event)),
                    Err(reason) => {
                        self.facts.meta.quality.skip(reason, || format!("byte {offset}"));
                    }
                }
            }
            kind::COMM => self.comm(&body).unwrap_or(()),
            kind::FORK => self.fork(&body).unwrap_or(()),
            kind::FINISHED_ROUND => self.queue.round(to),
            kind::LOST => self.losses.gap(&self.header, &body),
            kind::LOST_SAMPLES => self.losses.total(&self.header, &body),
            kind::ID_INDEX => self.losses.index(Bytes(&body)).unwrap_or(()),
            kind::MMAP | kind::MMAP2 => self.mmap(kind, misc, Bytes(&body)).unwrap_or(()),
            _ => return self.header_record(kind, &body, offset),
        }
        Ok(())
    }

    /// Handles the records that stand for the header in a pipe, and those with bytes behind them.
    fn header_record(&mut self, kind: u32, body: &[u8], offset: u64) -> Result<(), Error> {
        let mut bytes = Bytes(body);
        let told = match kind {
            kind::HEADER_ATTR => {
                let size = Bytes(body.get(4..).unwrap_or(&[])).u32().unwrap_or(0) as usize;
                if let Some(attr) = bytes.take(size).and_then(Attr::parse) {
                    self.header.attr(attr, bytes.0);
                }
                Ok(())
            }
            kind::HEADER_FEATURE => match bytes.u64() {
                Some(number) => self.header.feature(number, bytes.0),
                None => Ok(()),
            },
            kind::HEADER_TRACING_DATA => {
                let length = bytes.u32().unwrap_or(0) as usize;
                match self.stream.take(length.next_multiple_of(8)) {
                    Ok(data) => Tracing::parse(&data[..length])
                        .map(|tracing| self.header.tracing = Some(tracing)),
                    Err(end) => return self.end(end, offset),
                }
            }
            kind::AUXTRACE => {
                let length = bytes.u64().unwrap_or(0);
                return self.stream.pass(length).or_else(|end| self.end(end, offset));
            }
            _ => Ok(()),
        };
        told.map_err(|what| Error::bad(&self.path, At::Byte(offset), what, REMEDY))
    }

    /// Checks, at the first sample, that all is there to read samples with.
    fn begin(&mut self) -> Result<(), Error> {
        let bad = |what: &str| Error::bad(&self.path, At::File, what, REMEDY);
        let tracing = match self.header.tracing.take() {
            None if self.header.is_unclosed => self.tracing_of_running_kernel()?,
            tracing => tracing.ok_or_else(|| bad(NO_FORMATS))?,
        };
        if self.header.is_unclosed {
            let reason =
                "end of a recording that was not closed, behind which events may be missing";
            self.header.meta.quality.skip(reason, || "the end of the file".to_owned());
        }
        if tracing.layouts.is_empty() {
            return Err(bad(&no_kmem_events(&tracing.others)));
        }
        let tracepoints = || self.header.attrs.iter().filter(|attr| attr.tracepoint);
        if let Some(what) = tracepoints().find_map(Attr::lacks) {
            return Err(bad(&format!("its samples lack {what}")));
        }
        if tracepoints().any(|attr| !attr.every_event) {
            let what = "holds only some of the events (a period or frequency, or counts by :S)";
            let remedy = "record each with `slablab record` or `perf record -c 1`";
            return Err(Error::bad(&self.path, At::File, what, remedy));
        }
        let identified = self.header.attrs.iter().all(Attr::identified);
        if !identified && tracepoints().zip(tracepoints().skip(1)).any(|(a, b)| !a.is_like(b)) {
            return Err(bad("its samples do not say which event they are of"));
        }
        self.header.kmem = tracing.layouts.iter().map(|(number, _)| u64::from(*number)).collect();
        self.layouts = tracing.layouts;
        self.facts.meta = std::mem::take(&mut self.header.meta);
        self.facts.meta.page_bytes = tracing.page_bytes;
        self.facts.meta.build_id = self.header.build_id.clone().unwrap_or_default();
        let release = &self.facts.meta.kernel_release;
        self.facts.symbols = symbols::of(release, self.header.build_id.as_deref());
        if let Some((symbol, address)) = &self.reference {
            self.facts.symbols.relocate(symbol, *address);
        }
        self.state = State::Samples;
        Ok(())
    }

    /// Returns the formats of the running kernel, where a recording that was not closed is of it: of the same boot, as its
    /// code is at the same address.
    fn tracing_of_running_kernel(&self) -> Result<Tracing, Error> {
        let running = Symbols::running().unwrap_or_default();
        let is_ours = self.reference.as_ref().is_some_and(|(symbol, address)| {
            running.places(symbol).iter().any(|place| place.start == *address)
        });
        is_ours.then(Tracing::of_running_kernel).flatten().ok_or_else(|| {
            let what = "was not closed: perf record did not end as it should, and the formats of its events, which it writes \
                        last, are missing";
            let remedy = "import it as root on the machine that recorded it, before that boots again, or record again";
            Error::bad(&self.path, At::File, what, remedy)
        })
    }

    /// Handles the end of the records. A cut is counted when something came before it.
    fn end(&mut self, end: End, offset: u64) -> Result<(), Error> {
        if let End::Io(error) = end {
            return Err(Error::io(&self.path, "cannot read", error));
        }
        if self.state == State::Header {
            let bad = |what: &str| Error::bad(&self.path, At::File, what, REMEDY);
            if self.header.is_unclosed {
                return Err(bad("holds no kmem events (it was not closed, and no samples)"));
            }
            let Some(tracing) = &self.header.tracing else {
                return Err(bad(NO_FORMATS));
            };
            return Err(match tracing.layouts.is_empty() {
                true => bad(&no_kmem_events(&tracing.others)),
                false => bad("holds no kmem events (no samples)"),
            });
        }
        if let End::Damaged(reason) = end {
            let reason = format!("{reason}; what is behind it was not read");
            self.facts.meta.quality.skip(&reason, || format!("byte {offset}"));
        }
        self.facts.meta.quality.lost = self.losses.by_cpu(&self.header);
        self.told_comms.finish(&mut self.facts.meta.comms);
        self.state = State::Ended;
        Ok(())
    }

    /// Notes what a thread is called.
    fn comm(&mut self, body: &[u8]) -> Option<()> {
        let mut bytes = Bytes(body);
        bytes.skip(4)?; // process
        let thread = bytes.u32()?;
        self.told_comms.comm(self.header.trailer_time_ns(body), thread, text(bytes.0));
        Some(())
    }

    /// Notes which thread made another.
    fn fork(&mut self, body: &[u8]) -> Option<()> {
        let mut bytes = Bytes(body);
        bytes.skip(8)?; // process, and that of who made it
        let (thread, maker) = (bytes.u32()?, bytes.u32()?);
        self.told_comms.fork(self.header.trailer_time_ns(body), thread, maker);
        Some(())
    }

    /// Notes where the kernel's reference symbol was.
    fn mmap(&mut self, kind: u32, misc: u16, mut bytes: Bytes<'_>) -> Option<()> {
        const HAS_BUILD_ID: u16 = 1 << 14;
        let process = bytes.u32()?;
        bytes.skip(4 + 8 + 8)?; // thread, address, length
        let reference = bytes.u64()?;
        if kind == kind::MMAP2 {
            let id = bytes.take(24)?; // device and inode, or a build id
            bytes.skip(8)?;
            if misc & HAS_BUILD_ID != 0 && text(bytes.0).starts_with("[kernel.kallsyms]") {
                let id = id.get(4..4 + usize::from(id[0]))?;
                self.header.build_id = Some(id.iter().map(|byte| format!("{byte:02x}")).collect());
            }
        }
        let name = text(bytes.0);
        let symbol = name.strip_prefix("[kernel.kallsyms]").filter(|_| process == u32::MAX)?;
        if !symbol.is_empty() {
            self.reference = Some((symbol.to_owned(), reference));
        }
        Some(())
    }
}

/// Reads attributes and features of a file that was not made for a pipe; returns where its records
/// are.
fn sections(
    path: &Path,
    file: &mut File,
    mut bytes: Bytes<'_>,
    file_bytes: u64,
    header: &mut Header,
) -> Result<(u64, u64), Error> {
    let bad = |what: &str| Error::bad(path, At::File, what, REMEDY);
    let cut = || bad("is cut short within its header");
    let attr_bytes = bytes.u64().ok_or_else(cut)? as usize;
    let mut section = || Some((bytes.u64()?, bytes.u64()?));
    let (attrs, data) = (section().ok_or_else(cut)?, section().ok_or_else(cut)?);
    section().ok_or_else(cut)?; // event types
    let features = bytes.take(32).ok_or_else(cut)?;
    header.is_unclosed = data.1 == 0;
    // Records up to the end of the file then, and nothing behind them.
    let data = if header.is_unclosed { (data.0, file_bytes.saturating_sub(data.0)) } else { data };
    let data_end =
        data.0.checked_add(data.1).filter(|&end| end <= file_bytes).ok_or_else(|| {
            let whole = data.0.saturating_add(data.1);
            bad(&format!("is cut short: it has {file_bytes} bytes of more than {whole}"))
        })?;
    let mut read = |(offset, length): (u64, u64)| -> Result<Vec<u8>, Error> {
        let end = offset.checked_add(length).filter(|&end| end <= file_bytes);
        end.ok_or_else(|| bad("is cut short: a section is beyond its end"))?;
        let mut data = vec![0; length as usize];
        file.seek(SeekFrom::Start(offset))
            .and_then(|_| file.read_exact(&mut data))
            .map_err(|e| Error::io(path, "cannot read", e))?;
        Ok(data)
    };
    if attr_bytes < 64 {
        return Err(bad("has a damaged header"));
    }
    for entry in read(attrs)?.chunks_exact(attr_bytes) {
        let (attr, mut ids) = (&entry[..attr_bytes - 16], Bytes(&entry[attr_bytes - 16..]));
        let ids = ids.u64().zip(ids.u64()).map(&mut read).transpose()?;
        let attr = Attr::parse(attr).ok_or_else(|| bad("has damaged attributes"))?;
        header.attr(attr, &ids.unwrap_or_default());
    }
    if header.is_unclosed {
        return Ok(data);
    }
    let numbers = (0..256).filter(|bit| features[bit / 8] & (1 << (bit % 8)) != 0);
    let numbers: Vec<u64> = numbers.map(|bit| bit as u64).collect();
    let index = read((data_end, numbers.len() as u64 * 16))?;
    for (number, entry) in numbers.into_iter().zip(index.chunks_exact(16)) {
        let mut entry = Bytes(entry);
        let section = entry.u64().zip(entry.u64()).expect("entries of 16 bytes");
        header.feature(number, &read(section)?).map_err(|what| bad(&what))?;
    }
    Ok(data)
}

/// Reads a sample: its event, `None` when it is of none of kmem's.
#[inline]
fn sample(
    body: &[u8],
    header: &Header,
    layouts: &[(u16, AnyLayout)],
    names: &mut Names,
) -> Result<Option<RawEvent>, &'static str> {
    let short = "sample that is too short";
    let first = body.first_chunk().map(|id| u64::from_le_bytes(*id)).ok_or(short)?;
    let attr = match header.attr_of.get(&first) {
        Some(&attr) => header.attrs.get(attr as usize),
        None if header.attrs.iter().all(|attr| attr.identified()) && !header.attr_of.is_empty() => {
            return Err("sample of an unknown event");
        }
        None => header.attrs.iter().find(|attr| attr.tracepoint),
    };
    let Some(attr) = attr.filter(|attr| attr.tracepoint) else { return Ok(None) };
    let sample = attr.sample(body).ok_or(short)?;
    let id = sample.raw.first_chunk().map(|id| u16::from_le_bytes(*id)).ok_or(short)?;
    let Some((_, layout)) = layouts.iter().find(|(number, _)| *number == id) else {
        return Ok(None);
    };
    let event = layout.decode(sample.raw, sample.time_ns, sample.cpu, names).ok_or(short)?;
    let stack = names.stack(sample.kernel_chain(), Extent::Whole);
    Ok(Some(RawEvent { pid: sample.tid, stack, ..event }))
}

impl Source for PerfData {
    fn read(&mut self, to: &mut Vec<RawEvent>) -> Result<bool, Error> {
        let before = to.len();
        while to.len() == before && self.state != State::Ended {
            self.record(to)?;
        }
        self.facts.bytes_read = self.stream_offset + self.stream.offset();
        Ok(to.len() > before)
    }

    fn facts(&self) -> &Facts {
        &self.facts
    }
}

impl Movable for PerfData {
    fn facts_mut(&mut self) -> &mut Facts {
        &mut self.facts
    }
}
