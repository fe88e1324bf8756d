//! How the samples of one event are laid out: its `perf_event_attr`.
//!
//! Linux counterpart: `include/uapi/linux/perf_event.h` @ 6.18 (the comment at PERF_RECORD_SAMPLE
//! gives the order of the fields).

use crate::source::bytes::Bytes;

/// Bits of `sample_type`.
const IP: u64 = 1 << 0;
const TID: u64 = 1 << 1;
const TIME: u64 = 1 << 2;
const ADDR: u64 = 1 << 3;
const READ: u64 = 1 << 4;
const CALLCHAIN: u64 = 1 << 5;
const ID: u64 = 1 << 6;
const CPU: u64 = 1 << 7;
const PERIOD: u64 = 1 << 8;
const STREAM_ID: u64 = 1 << 9;
const RAW: u64 = 1 << 10;
const IDENTIFIER: u64 = 1 << 16;

/// PERF_TYPE_SOFTWARE and PERF_COUNT_SW_DUMMY.
const SOFTWARE_DUMMY: (u32, u64) = (1, 9);

/// What a sample of a tracepoint needs to have to be of use.
const NEEDED: [(u64, &str); 4] =
    [(TID, "a thread id"), (TIME, "a time"), (CPU, "a CPU"), (RAW, "the event's fields")];

/// An event's attributes, as far as samples depend on them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Attr {
    pub(super) tracepoint: bool,
    /// Of a tracepoint its number.
    pub(super) config: u64,
    /// Whether it counts nothing, and only has the kernel make records.
    pub(super) is_dummy: bool,
    /// Whether each event made a sample: the period is 1, and no frequency was asked for.
    pub(super) every_event: bool,
    sample_type: u64,
    read_format: u64,
    sample_id_all: bool,
}

/// The fields of a sample that matter here.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sample<'a> {
    pub(super) tid: u32,
    pub(super) time_ns: u64,
    pub(super) cpu: u32,
    pub(super) raw: &'a [u8],
    /// The call chain, eight bytes an address, with marks in between; empty where there is none.
    pub(super) chain: &'a [u8],
}

/// Marks in a call chain say whose addresses follow. Numbers from here on are marks and not addresses.
const CONTEXT_MAX: u64 = -4095_i64 as u64;
const CONTEXT_KERNEL: u64 = -128_i64 as u64;

impl Sample<'_> {
    /// Returns the addresses of the kernel in its call chain, nearest first.
    #[inline]
    pub(super) fn kernel_chain(&self) -> impl Iterator<Item = u64> {
        let words = self.chain.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word));
        let mut is_kernel = false;
        words.filter(move |address| {
            let is_mark = *address >= CONTEXT_MAX;
            if is_mark {
                is_kernel = *address == CONTEXT_KERNEL;
            }
            is_kernel && !is_mark
        })
    }
}

impl Attr {
    /// Reads a `perf_event_attr`.
    pub(super) fn parse(bytes: &[u8]) -> Option<Attr> {
        let mut bytes = Bytes(bytes);
        let kind = bytes.u32()?;
        bytes.skip(4)?; // size
        let config = bytes.u64()?;
        let period = bytes.u64()?;
        let (sample_type, read_format) = (bytes.u64()?, bytes.u64()?);
        let flags = bytes.u64()?;
        let (tracepoint, sample_id_all) = (kind == 2, flags & (1 << 18) != 0);
        let every_event = period == 1 && flags & (1 << 10) == 0;
        let is_dummy = (kind, config) == SOFTWARE_DUMMY;
        Some(Attr {
            tracepoint,
            config,
            is_dummy,
            every_event,
            sample_type,
            read_format,
            sample_id_all,
        })
    }

    /// Returns what its samples lack that is needed.
    pub(super) fn lacks(&self) -> Option<&'static str> {
        let missing = NEEDED.iter().find(|(bit, _)| self.sample_type & bit == 0);
        missing.map(|&(_, what)| what)
    }

    /// Returns whether samples of another event are laid out alike.
    pub(super) fn is_like(&self, other: &Attr) -> bool {
        Attr { config: 0, ..*self } == Attr { config: 0, ..*other }
    }

    /// Returns whether samples begin with the id of their event.
    pub(super) fn identified(&self) -> bool {
        self.sample_type & IDENTIFIER != 0
    }

    /// Reads the body of a sample; `None` when it is cut short.
    #[inline]
    pub(super) fn sample<'a>(&self, body: &'a [u8]) -> Option<Sample<'a>> {
        let mut bytes = Bytes(body);
        let has = |bit: u64| self.sample_type & bit != 0;
        let words = |bits: u64| 8 * (self.sample_type & bits).count_ones() as usize;
        bytes.skip(words(IDENTIFIER | IP))?;
        let (mut tid, mut time_ns, mut cpu) = (0, 0, 0);
        if has(TID) {
            bytes.skip(4)?; // process
            tid = bytes.u32()?;
        }
        if has(TIME) {
            time_ns = bytes.u64()?;
        }
        bytes.skip(words(ADDR | ID | STREAM_ID))?;
        if has(CPU) {
            cpu = bytes.u32()?;
            bytes.skip(4)?;
        }
        bytes.skip(words(PERIOD))?;
        if has(READ) {
            self.skip_read(&mut bytes)?;
        }
        let mut chain: &[u8] = &[];
        if has(CALLCHAIN) {
            let depth = usize::try_from(bytes.u64()?).ok()?;
            chain = bytes.take(depth.checked_mul(8)?)?;
        }
        let length = bytes.u32()? as usize;
        Some(Sample { tid, time_ns, cpu, raw: bytes.take(length)?, chain })
    }

    /// Passes over the counter values that PERF_SAMPLE_READ puts in.
    fn skip_read(&self, bytes: &mut Bytes<'_>) -> Option<()> {
        const GROUP: u64 = 1 << 3;
        let times = (self.read_format & 3).count_ones() as usize;
        let each = 1 + (self.read_format & (1 << 2 | 1 << 4)).count_ones() as usize;
        let values = if self.read_format & GROUP != 0 {
            let count = usize::try_from(bytes.u64()?).ok()?;
            count.checked_mul(each)?
        } else {
            each
        };
        bytes.skip(values.checked_add(times)?.checked_mul(8)?)
    }

    /// Returns the time in the trailer of a record other than a sample, if it has one.
    pub(super) fn trailer_time_ns(&self, record: &[u8]) -> Option<u64> {
        if !self.sample_id_all || self.sample_type & TIME == 0 {
            return None;
        }
        let behind = self.sample_type & (ID | STREAM_ID | CPU | IDENTIFIER);
        let from_end = 8 * (1 + behind.count_ones() as usize);
        Bytes(record.get(record.len().checked_sub(from_end)?..)?).u64()
    }

    /// Returns the CPU in the trailer of a record other than a sample, if it has one.
    pub(super) fn trailer_cpu(&self, record: &[u8]) -> Option<u32> {
        if !self.sample_id_all || self.sample_type & CPU == 0 {
            return None;
        }
        let behind = if self.identified() { 8 } else { 0 };
        let mut bytes = Bytes(record.get(record.len().checked_sub(behind + 8)?..)?);
        bytes.u32()
    }
}
