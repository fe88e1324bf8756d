//! `trace.dat`, as `trace-cmd record` writes it: versions 6 and 7, the latter also compressed.
//!
//! # How it works
//! What the file says of the kernel and of its events comes first ([`content`]), from where each version
//! has it ([`v6`], [`v7`]); then the pages of all CPUs are read as those of tracefs are, whose they are.
//!
//! Several instances of tracefs in one file are read as one. What more than one of them recorded counts once: an event of
//! the top instance is not taken from the others. So a file with several is read twice, the first time for the events
//! that each has.
//!
//! Linux counterpart: `trace-cmd.dat.v6(5)`, `trace-cmd.dat.v7(5)`, the manual pages of trace-cmd 3.1.6.

mod content;
mod part;
mod v6;
mod v7;

use std::io::BufReader;

use self::content::{Buffer, Content};
use self::part::{Compression, Pages, Part};
use super::ahead::Movable;
use super::kernel_stack::KernelStack;
use super::page_format::PageFormat;
use super::recording::{Facts, Source, no_kmem_events};
use super::records::events_on;
use super::tracefs_raw::TracefsRaw;
use super::tracing::{Fields, head};
use crate::error::At;
use crate::{Error, Input, RawEvent};

pub(super) use super::tracing::MAGIC;

const REMEDY: &str = "record again with `trace-cmd record -e kmem` or `slablab record`";

/// Bytes of a CPU's pages that are read at once.
const READ_BYTES: usize = 32 << 10;

/// No kernel has larger pages in its ring buffers (`buffer_subbuf_size_kb`).
const PAGE_BYTES_MAX: usize = 2 << 20;

/// Clocks that count nanoseconds.
const CLOCKS: [&str; 7] = ["local", "global", "perf", "mono", "mono_raw", "boot", "tai"];

/// An open `trace.dat`.
#[derive(Debug)]
pub(super) struct TraceDat {
    pages: TracefsRaw<Stream>,
    /// Events lost by CPU, as the kernel counted them.
    lost: Vec<u64>,
}

impl TraceDat {
    pub(super) fn open(input: Input) -> Result<TraceDat, Error> {
        let path = input.path().to_owned();
        let (file, bytes) = input.into_file()?;
        let file = Part::whole(file, bytes);
        of_file(&file).map_err(|what| Error::bad(&path, At::File, what, REMEDY))
    }
}

fn of_file(file: &Part) -> Result<TraceDat, String> {
    let cut = || "is cut short before its events".to_owned();
    let mut fields = Fields::new(BufReader::new(file.clone()), file.left());
    let head = head(&mut fields)?.ok_or_else(cut)?;
    let mut content = Content::default();
    let compression = match head.version.as_str() {
        "6" => v6::read(file, &mut fields, &mut content)?.map(|()| None),
        "7" => v7::read(file, &mut fields, &mut content)?,
        version => {
            return Err(format!("is a trace.dat of version {version:?}; 6 and 7 can be read"));
        }
    };
    let compression = compression.ok_or_else(cut)?;
    if content.tsc.is_none()
        && !content.clock.is_empty()
        && !CLOCKS.contains(&content.clock.as_str())
    {
        let clock = &content.clock;
        return Err(format!("its clock ({clock}) does not count nanoseconds: add -C mono"));
    }
    if content.events.formats.is_empty() {
        return Err(no_kmem_events(&content.events.others));
    }
    content.meta.source = "trace.dat".into();
    content.meta.recorder = "trace-cmd".into();
    content.meta.page_bytes = head.page_bytes;
    let buffers = content.take_buffers();
    let mut lost: Vec<u64> = Vec::new();
    for buffer in &buffers {
        let of_buffer = content.lost(buffer);
        lost.resize(lost.len().max(of_buffer.len()), 0);
        lost.iter_mut().zip(of_buffer).for_each(|(sum, lost)| *sum += lost);
    }
    Ok(TraceDat { pages: pages(content, &buffers, compression)?, lost })
}

/// A CPU's pages, read piece by piece.
type Stream = BufReader<Pages>;

/// Opens the pages of all buffers. An event that several of them have counts in the first.
fn pages(
    content: Content,
    buffers: &[Buffer],
    compression: Option<Compression>,
) -> Result<TracefsRaw<Stream>, String> {
    let usual = PageFormat::parse(&content.headers[0], &content.headers[1])?;
    let bytes = buffers.iter().map(Buffer::bytes).sum();
    let facts = Facts { meta: content.meta, symbols: content.symbols, bytes, ..Facts::default() };
    let stack = content.stacks.iter().find_map(KernelStack::new).map(|stack| stack.id);
    let formats = [content.events.formats, content.stacks].concat();
    let source = TracefsRaw::new(usual, &formats, Vec::new(), facts)?;
    let mut source = source.clock(content.tsc);
    let mut seen = Vec::new();
    for buffer in buffers {
        let page = page_of(buffer, usual)?;
        source = source.and(page, streams(buffer, compression)?, &seen);
        if buffers.len() > 1 {
            for (_, pages) in streams(buffer, compression)? {
                seen.extend(events_on(page, pages));
            }
            seen.sort_unstable();
            seen.dedup();
            // The stack of an event that only a later buffer has is there, too.
            seen.retain(|number| Some(*number) != stack);
        }
    }
    Ok(source)
}

/// Returns the shape of a buffer's pages.
fn page_of(buffer: &Buffer, usual: PageFormat) -> Result<PageFormat, String> {
    let page = match buffer.page_bytes {
        0 => usual,
        bytes => usual.with_bytes(bytes as usize),
    };
    if page.bytes() > PAGE_BYTES_MAX {
        return Err(format!("has pages of {} bytes in its buffers", page.bytes()));
    }
    Ok(page)
}

/// Opens the pages of each CPU in a buffer.
fn streams(
    buffer: &Buffer,
    compression: Option<Compression>,
) -> Result<Vec<(u32, Stream)>, String> {
    let compression = compression.filter(|_| buffer.is_packed);
    let open = |(cpu, part): &(u32, Part)| {
        let place = part.offset();
        let pages = match compression {
            Some(compression) => compression.chunks(part.clone()).map(Pages::Packed),
            None => Ok(Pages::Plain(part.clone())),
        };
        let pages = pages.map_err(|error| format!("at byte {place}: {error}"))?;
        Ok((*cpu, BufReader::with_capacity(READ_BYTES, pages)))
    };
    buffer.cpus.iter().filter(|(_, part)| part.left() > 0).map(open).collect()
}

impl Source for TraceDat {
    fn read(&mut self, to: &mut Vec<RawEvent>) -> Result<bool, Error> {
        let more = self.pages.read(to)?;
        if !more {
            let mut missed: Vec<u64> = Vec::new();
            for (cpu, count) in self.pages.missed().filter(|(_, count)| *count > 0) {
                missed.resize(missed.len().max(cpu as usize + 1), 0);
                missed[cpu as usize] += count;
            }
            let mut lost = std::mem::take(&mut self.lost);
            lost.resize(lost.len().max(missed.len()), 0);
            lost.iter_mut().zip(missed).for_each(|(lost, missed)| *lost = missed.max(*lost));
            if !lost.is_empty() {
                self.pages.facts_mut().meta.quality.lost = lost;
            }
        }
        Ok(more)
    }

    fn facts(&self) -> &Facts {
        self.pages.facts()
    }
}

impl Movable for TraceDat {
    fn facts_mut(&mut self) -> &mut Facts {
        self.pages.facts_mut()
    }
}
