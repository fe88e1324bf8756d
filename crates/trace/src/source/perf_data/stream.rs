//! The records of a `perf.data`, one after the other, also out of compressed ones (`perf record -z`).

use std::io::Read;

use zstd::stream::raw::{Decoder, InBuffer, Operation, OutBuffer};

use crate::source::bytes::Bytes;

/// Numbers of the kinds of records that matter here.
pub(super) mod kind {
    pub(crate) const MMAP: u32 = 1;
    pub(crate) const LOST: u32 = 2;
    pub(crate) const COMM: u32 = 3;
    pub(crate) const FORK: u32 = 7;
    pub(crate) const SAMPLE: u32 = 9;
    pub(crate) const MMAP2: u32 = 10;
    pub(crate) const LOST_SAMPLES: u32 = 13;
    pub(crate) const HEADER_ATTR: u32 = 64;
    pub(crate) const HEADER_TRACING_DATA: u32 = 66;
    pub(crate) const FINISHED_ROUND: u32 = 68;
    pub(crate) const ID_INDEX: u32 = 69;
    pub(crate) const AUXTRACE: u32 = 71;
    pub(crate) const HEADER_FEATURE: u32 = 80;
    pub(crate) const COMPRESSED: u32 = 81;
    pub(crate) const COMPRESSED2: u32 = 83;
}

/// A `perf_event_header` is 4 bytes of kind, 2 of bits, 2 of length.
const HEAD_BYTES: usize = 8;

/// Bytes read from the file at once.
const READ_BYTES: usize = 1 << 20;

/// Reads records.
pub(super) struct Stream<R> {
    input: R,
    stored: Window,
    /// What came out of compressed records and is not used up yet.
    plain: Window,
    decoder: Option<Decoder<'static>>,
    /// Bytes taken from `input`, those still in `stored` counted in.
    read_bytes: u64,
}

/// Bytes whose front part is used up.
#[derive(Debug, Default)]
struct Window {
    bytes: Vec<u8>,
    used: usize,
}

/// A record: its kind, the bits of its header, and what is behind the header.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record<'a> {
    pub(super) kind: u32,
    pub(super) misc: u16,
    pub(super) body: &'a [u8],
}

/// Why there is no next record.
#[derive(Debug)]
pub(super) enum End {
    /// All was read.
    Whole,
    /// The bytes do not go on as records do: says how.
    Damaged(&'static str),
    Io(std::io::Error),
}

impl<R: Read> Stream<R> {
    pub(super) fn new(input: R) -> Stream<R> {
        let (stored, plain) = (Window::default(), Window::default());
        Stream { input, stored, plain, decoder: None, read_bytes: 0 }
    }

    /// Returns the bytes used up so far.
    pub(super) fn offset(&self) -> u64 {
        self.read_bytes - self.stored.rest().len() as u64
    }

    /// Returns the next record, those in compressed ones in their place.
    #[inline]
    pub(super) fn next(&mut self) -> Result<Record<'_>, End> {
        loop {
            if self.plain.record_bytes().is_some_and(|bytes| bytes <= self.plain.rest().len()) {
                return self.plain.take_record();
            }
            let Some(bytes) = self.stored.record_bytes() else {
                self.fill(HEAD_BYTES)?;
                continue;
            };
            if bytes < HEAD_BYTES {
                return Err(End::Damaged("record of impossible length"));
            }
            if bytes > self.stored.rest().len() {
                self.fill(bytes)?;
                continue;
            }
            if matches!(self.stored.kind(), kind::COMPRESSED | kind::COMPRESSED2) {
                self.decompress()?;
            } else {
                return self.stored.take_record();
            }
        }
    }

    /// Takes bytes that stand behind a record without being part of it.
    pub(super) fn take(&mut self, bytes: usize) -> Result<&[u8], End> {
        if self.stored.rest().len() < bytes {
            self.fill(bytes)?;
        }
        self.stored.used += bytes;
        Ok(&self.stored.bytes[self.stored.used - bytes..self.stored.used])
    }

    /// Passes over bytes behind a record, however many.
    pub(super) fn pass(&mut self, mut bytes: u64) -> Result<(), End> {
        while bytes > 0 {
            let step = bytes.min(READ_BYTES as u64);
            self.take(step as usize)?;
            bytes -= step;
        }
        Ok(())
    }

    /// Reads until `needed` bytes are there.
    fn fill(&mut self, needed: usize) -> Result<(), End> {
        self.stored.forget_used();
        while self.stored.bytes.len() < needed {
            let filled = self.stored.bytes.len();
            let input = &mut self.input;
            let read = input.take(READ_BYTES as u64).read_to_end(&mut self.stored.bytes);
            match read {
                Ok(0) if filled == 0 && self.plain.rest().is_empty() => return Err(End::Whole),
                Ok(0) => return Err(End::Damaged("record that is cut short")),
                Ok(bytes) => self.read_bytes += bytes as u64,
                Err(error) => return Err(End::Io(error)),
            }
        }
        Ok(())
    }

    /// Appends what is in the compressed record at the front of `stored` to `plain`.
    fn decompress(&mut self) -> Result<(), End> {
        let damaged = End::Damaged("compressed record that cannot be decompressed");
        let record = self.stored.take_record()?;
        let mut body = Bytes(record.body);
        if record.kind == kind::COMPRESSED2 {
            let Some(data) = body.u64().and_then(|bytes| body.take(usize::try_from(bytes).ok()?))
            else {
                return Err(damaged);
            };
            body = Bytes(data);
        }
        let decoder = match &mut self.decoder {
            Some(decoder) => decoder,
            none => none.insert(Decoder::new().map_err(End::Io)?),
        };
        self.plain.forget_used();
        let mut input = InBuffer::around(body.0);
        let mut piece = vec![0; READ_BYTES];
        loop {
            let mut output = OutBuffer::around(&mut piece[..]);
            if decoder.run(&mut input, &mut output).is_err() {
                return Err(damaged);
            }
            let out = output.pos();
            self.plain.bytes.extend_from_slice(&piece[..out]);
            if input.pos() == body.0.len() && out < piece.len() {
                return Ok(());
            }
        }
    }
}

impl Window {
    #[inline]
    fn rest(&self) -> &[u8] {
        &self.bytes[self.used..]
    }

    fn kind(&self) -> u32 {
        Bytes(self.rest()).u32().unwrap_or(0)
    }

    /// Returns the length of the record at the front; `None` until its header is there. A window of
    /// plain bytes may end within a record, whose rest comes with the next compressed one.
    #[inline]
    fn record_bytes(&self) -> Option<usize> {
        let mut bytes = Bytes(self.rest());
        bytes.skip(6)?;
        bytes.u16().map(usize::from)
    }

    #[inline]
    fn take_record(&mut self) -> Result<Record<'_>, End> {
        let bytes = self.record_bytes().unwrap_or(0);
        let start = self.used;
        self.used += bytes;
        let record = self.bytes.get(start..self.used).and_then(|record| {
            let mut bytes = Bytes(record);
            let (kind, misc) = (bytes.u32()?, bytes.u16()?);
            bytes.skip(2)?;
            Some(Record { kind, misc, body: bytes.0 })
        });
        record.ok_or(End::Damaged("record of impossible length"))
    }

    fn forget_used(&mut self) {
        self.bytes.drain(..self.used);
        self.used = 0;
    }
}

impl<R> std::fmt::Debug for Stream<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stream").field("read_bytes", &self.read_bytes).finish_non_exhaustive()
    }
}
