//! `trace.dat`, as `trace-cmd record` writes it: versions 6 and 7, the latter also compressed.
//!
//! How it works: what the file says of the kernel and of its events comes first ([`content`]), from where each version
//! has it ([`v6`], [`v7`]); then the pages of all CPUs are read as those of tracefs are, whose they are.
//!
//! Of several instances of tracefs in one file one is read: the top one, if anything was recorded there.
//!
//! Linux counterpart: `trace-cmd.dat.v6(5)`, `trace-cmd.dat.v7(5)`, the manual pages of trace-cmd 3.1.6.

mod content;
mod part;
mod v6;
mod v7;

use std::io::BufReader;

use self::content::{Buffer, Content};
use self::part::{Compression, Pages, Part};
use super::recording::{Facts, Source};
use super::tracefs_raw::{PageFormat, TracefsRaw};
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
    pages: TracefsRaw<BufReader<Pages>>,
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
    if content.formats.is_empty() {
        return Err("holds no kmem events (its tracepoints are others)".into());
    }
    content.meta.source = "trace.dat".into();
    content.meta.recorder = "trace-cmd".into();
    content.meta.page_bytes = head.page_bytes;
    let (buffer, lost) = content.take_buffer();
    Ok(TraceDat { pages: pages(content, buffer, compression)?, lost })
}

/// Opens the pages of `buffer`.
fn pages(
    content: Content,
    buffer: Buffer,
    compression: Option<Compression>,
) -> Result<TracefsRaw<BufReader<Pages>>, String> {
    let mut page = PageFormat::parse(&content.headers[0], &content.headers[1])?;
    if buffer.page_bytes != 0 {
        page = page.with_bytes(buffer.page_bytes as usize);
    }
    if page.bytes() > PAGE_BYTES_MAX {
        return Err(format!("has pages of {} bytes in its buffers", page.bytes()));
    }
    let bytes = buffer.cpus.iter().map(|(_, part)| part.left()).sum();
    let compression = compression.filter(|_| buffer.is_packed);
    let open = |(cpu, part): (u32, Part)| {
        let place = part.offset();
        let pages = match compression.filter(|_| part.left() > 0) {
            Some(compression) => compression.chunks(part).map(Pages::Packed),
            None => Ok(Pages::Plain(part)),
        };
        let pages = pages.map_err(|error| format!("at byte {place}: {error}"))?;
        Ok((cpu, BufReader::with_capacity(READ_BYTES, pages)))
    };
    let cpus = buffer.cpus.into_iter().filter(|(_, part)| part.left() > 0);
    let streams = cpus.map(open).collect::<Result<Vec<_>, String>>()?;
    let facts = Facts { meta: content.meta, symbols: content.symbols, bytes, ..Facts::default() };
    Ok(TracefsRaw::new(page, &content.formats, streams, facts)?.clock(content.tsc))
}

impl Source for TraceDat {
    fn read(&mut self, to: &mut Vec<RawEvent>) -> Result<bool, Error> {
        let more = self.pages.read(to)?;
        if !more {
            let mut lost = std::mem::take(&mut self.lost);
            for (cpu, missed) in self.pages.missed().filter(|(_, missed)| *missed > 0) {
                lost.resize(lost.len().max(cpu as usize + 1), 0);
                lost[cpu as usize] = missed.max(lost[cpu as usize]);
            }
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
