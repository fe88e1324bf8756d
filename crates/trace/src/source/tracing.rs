//! Tracing data: what a recorded kernel says of its events, in a `perf.data` and in a `trace.dat`.
//!
//! # How it works
//! It is read from front to end through [`Fields`], as a `trace.dat` is too long to be held whole; the
//! parts of it ([`headers`], [`ftrace_events`], [`events`]) stand behind each other, or in sections of their own.
//!
//! Linux counterpart: `tools/perf/util/trace-event-read.c`; `trace.dat(5)` describes the same bytes.

use std::io::Read;

use super::format::EventFormat;
use super::kernel_stack;
use super::kmem::kind_of;
use crate::PageKind;

/// How tracing data begins.
pub(super) const MAGIC: &[u8; 10] = b"\x17\x08\x44tracing";

/// Numbers, texts and blocks that are read one behind the other. Every read is `None` at the end.
#[derive(Debug)]
pub(super) struct Fields<R> {
    from: R,
    /// Bytes that there are at most: a damaged length is not worth the memory.
    left: u64,
}

impl<R: Read> Fields<R> {
    /// Reads from what has `bytes` bytes.
    pub(super) fn new(from: R, bytes: u64) -> Fields<R> {
        Fields { from, left: bytes }
    }

    pub(super) fn take(&mut self, bytes: u64) -> Option<Vec<u8>> {
        self.left = self.left.checked_sub(bytes)?;
        let mut taken = vec![0; usize::try_from(bytes).ok()?];
        self.from.read_exact(&mut taken).ok()?;
        Some(taken)
    }

    fn number<const BYTES: usize>(&mut self) -> Option<[u8; BYTES]> {
        self.take(BYTES as u64)?.try_into().ok()
    }

    pub(super) fn u8(&mut self) -> Option<u8> {
        self.number().map(u8::from_le_bytes)
    }

    pub(super) fn u16(&mut self) -> Option<u16> {
        self.number().map(u16::from_le_bytes)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        self.number().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        self.number().map(u64::from_le_bytes)
    }

    /// Reads up to a NUL, which is read too.
    pub(super) fn c_string(&mut self) -> Option<String> {
        let mut text = Vec::new();
        loop {
            match self.u8()? {
                0 => return Some(String::from_utf8_lossy(&text).into_owned()),
                byte => text.push(byte),
            }
        }
    }

    /// Reads a 64-bit length and that many bytes.
    pub(super) fn sized(&mut self) -> Option<Vec<u8>> {
        let bytes = self.u64()?;
        self.take(bytes)
    }
}

/// What tracing data begins with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) version: String,
    /// Of the programs' `long`; a kernel of 64 bits may have programs of 32.
    pub(super) long_bytes: u8,
    pub(super) page_bytes: u32,
}

/// Reads the beginning; the outer error is what cannot be used, `None` a cut.
pub(super) fn head<R: Read>(fields: &mut Fields<R>) -> Result<Option<Head>, String> {
    let mut read = || {
        let magic = fields.take(MAGIC.len() as u64)?;
        Some((magic, fields.c_string()?, fields.u8()?, fields.u8()?, fields.u32()?))
    };
    let Some((magic, version, big_endian, long_bytes, page_bytes)) = read() else {
        return Ok(None);
    };
    if magic != MAGIC {
        return Err("the formats of the events do not begin as they should".into());
    }
    if big_endian != 0 {
        return Err("it was recorded on a big-endian machine".into());
    }
    Ok(Some(Head { version, long_bytes, page_bytes }))
}

/// Reads the texts of `events/header_page` and `events/header_event`.
pub(super) fn headers<R: Read>(fields: &mut Fields<R>) -> Option<[String; 2]> {
    let mut text = |name: &str| {
        let text = (fields.c_string()? == name).then(|| fields.sized())??;
        Some(String::from_utf8_lossy(&text).into_owned())
    };
    Some([text("header_page")?, text("header_event")?])
}

/// Reads the formats of ftrace's own events, and returns that of stacks, if it is there.
pub(super) fn ftrace_events<R: Read>(fields: &mut Fields<R>) -> Option<Vec<EventFormat>> {
    let mut formats = Vec::new();
    for _ in 0..fields.u32()? {
        let text = fields.sized()?;
        let format = EventFormat::parse(&String::from_utf8_lossy(&text)).ok();
        formats.extend(format.filter(|format| format.name == kernel_stack::NAME));
    }
    Some(formats)
}

/// The events that a recording describes.
#[derive(Debug, Default)]
pub(super) struct Events {
    /// The formats of those that make a trace
    pub(super) formats: Vec<EventFormat>,
    /// The names of the others
    pub(super) others: Vec<String>,
}

/// Reads the formats of the events of all systems. The outer error is an unusable format, `None` a cut.
pub(super) fn events<R: Read>(fields: &mut Fields<R>) -> Result<Option<Events>, String> {
    let mut texts = || {
        let mut texts = Vec::new();
        for _ in 0..fields.u32()? {
            let system = fields.c_string()?;
            for _ in 0..fields.u32()? {
                texts.push((system.clone(), fields.sized()?));
            }
        }
        Some(texts)
    };
    let Some(texts) = texts() else { return Ok(None) };
    let mut events = Events::default();
    for (system, text) in texts {
        let text = String::from_utf8_lossy(&text);
        let name = text.lines().find_map(|line| line.strip_prefix("name: ")).unwrap_or_default();
        let is_of_pages = PageKind::of_event(name.trim()).is_some_and(|it| it.folder() == system);
        if system == "kmem" && kind_of(name.trim()).is_some() || is_of_pages {
            events.formats.push(EventFormat::parse(&text)?);
        } else {
            events.others.push(format!("{system}:{}", name.trim()));
        }
    }
    Ok(Some(events))
}
