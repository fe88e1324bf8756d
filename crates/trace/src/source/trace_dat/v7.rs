//! Version 7: sections anywhere in the file, found by a list of options; each may be compressed.
//!
//! Linux counterpart: `trace-cmd.dat.v7(5)`.

use std::io::{BufReader, Read};

use super::content::{Buffer, Content, OPTION_BUFFER};
use super::part::{Compression, Part};
use crate::source::tracing::{Fields, events, ftrace_events, headers};
use crate::symbols::Symbols;

/// Options that say where a section is, by the number that the section has, too.
mod section {
    pub(super) const OPTIONS: u16 = 0;
    pub(super) const HEADERS: u16 = 16;
    pub(super) const FTRACE_FORMATS: u16 = 17;
    pub(super) const EVENT_FORMATS: u16 = 18;
    pub(super) const KALLSYMS: u16 = 19;
    pub(super) const COMMS: u16 = 21;
    pub(super) const BUFFER: u16 = 3;
}

const OPTION_DONE: u16 = 0;

/// A text of a latency tracer instead of pages.
const OPTION_BUFFER_TEXT: u16 = 22;

/// Nothing but pages is longer; a greater length is damage.
const SECTION_BYTES_MAX: u64 = 256 << 20;

/// More lists of options than any file has; a file that has as many is damaged so that they form a ring.
const OPTION_LISTS_MAX: usize = 1 << 10;

/// Bytes before a section's content: number, flags, description, length.
const SECTION_HEAD_BYTES: u64 = 16;

/// Reads what is behind the head; `None` where it is cut short.
pub(super) fn read<R: Read>(
    file: &Part,
    fields: &mut Fields<R>,
    content: &mut Content,
) -> Result<Option<Option<Compression>>, String> {
    let mut read = || Some((fields.c_string()?, fields.c_string()?, fields.u64()?));
    let Some((name, _version, mut offset)) = read() else { return Ok(None) };
    let compression = match name.as_str() {
        "none" => None,
        name => match Compression::from_name(name) {
            None => return Err(format!("is compressed by {name}")),
            known => known,
        },
    };
    for _ in 0..OPTION_LISTS_MAX {
        if offset == 0 {
            return Ok(Some(compression));
        }
        let Some(data) = section(file, compression, section::OPTIONS, offset)? else {
            return Ok(None);
        };
        match options(file, compression, &data, content)? {
            Some(next) => offset = next,
            None => return Ok(None),
        }
    }
    Err("has lists of options without an end".into())
}

/// Takes a list of options; returns where the next is.
fn options(
    file: &Part,
    compression: Option<Compression>,
    data: &[u8],
    content: &mut Content,
) -> Result<Option<u64>, String> {
    use section::{COMMS, EVENT_FORMATS, FTRACE_FORMATS, HEADERS, KALLSYMS};
    let mut fields = Fields::new(data, data.len() as u64);
    loop {
        let mut next = || {
            let (number, bytes) = (fields.u16()?, fields.u32()?);
            Some((number, fields.take(u64::from(bytes))?))
        };
        let Some((number, data)) = next() else { return Ok(None) };
        let offset = data.first_chunk().map(|bytes| u64::from_le_bytes(*bytes));
        match (number, offset) {
            (OPTION_DONE, offset) => return Ok(offset),
            (OPTION_BUFFER, _) => match buffer(file, &data) {
                Some(buffer) => content.buffers.push(buffer),
                None => return Ok(None),
            },
            (OPTION_BUFFER_TEXT, _) => return Err("holds the text of a latency tracer".into()),
            (HEADERS | FTRACE_FORMATS | EVENT_FORMATS | KALLSYMS | COMMS, Some(offset)) => {
                let Some(data) = section(file, compression, number, offset)? else {
                    return Ok(None);
                };
                if take(number, &data, content)?.is_none() {
                    return Ok(None);
                }
            }
            _ => content.option(number, &data),
        }
    }
}

/// Takes a section's content.
fn take(number: u16, data: &[u8], content: &mut Content) -> Result<Option<()>, String> {
    let mut fields = Fields::new(data, data.len() as u64);
    Ok(match number {
        section::HEADERS => headers(&mut fields).map(|texts| content.headers = texts),
        section::FTRACE_FORMATS => ftrace_events(&mut fields).map(|stacks| content.stacks = stacks),
        section::EVENT_FORMATS => events(&mut fields)?.map(|events| content.events = events),
        section::COMMS => fields.sized().map(|text| content.comms(&text)),
        _ => fields.u32().and_then(|bytes| fields.take(u64::from(bytes))).map(|text| {
            content.symbols = Symbols::parse(&String::from_utf8_lossy(&text));
        }),
    })
}

/// Reads the head of the section at `offset`: whether it is compressed, and its content as it is in the file.
fn section_head(file: &Part, number: u16, offset: u64) -> Option<Result<(bool, Part), String>> {
    let place = file.behind(offset)?;
    let mut fields = Fields::new(place.clone(), SECTION_HEAD_BYTES);
    let (found, flags, _, bytes) = (fields.u16()?, fields.u16()?, fields.u32()?, fields.u64()?);
    if found != number {
        return Some(Err(format!("has another section where number {number} should be")));
    }
    Some(Ok((flags & 1 != 0, place.cut(SECTION_HEAD_BYTES, bytes)?)))
}

/// Returns the content of the section at `offset`; `None` where it is cut short.
fn section(
    file: &Part,
    compression: Option<Compression>,
    number: u16,
    offset: u64,
) -> Result<Option<Vec<u8>>, String> {
    let Some(head) = section_head(file, number, offset) else { return Ok(None) };
    let (is_packed, part) = head?;
    let mut data = Vec::new();
    let read = match compression.filter(|_| is_packed) {
        Some(compression) => {
            let block = compression.block(part);
            block.and_then(|(block, _)| block.take(SECTION_BYTES_MAX).read_to_end(&mut data))
        }
        None => part.take(SECTION_BYTES_MAX).read_to_end(&mut data),
    };
    match read {
        Ok(_) => Ok(Some(data)),
        Err(error) => {
            Err(format!("has a section, number {number}, that cannot be unpacked: {error}"))
        }
    }
}

/// Bytes before the chunks of a CPU.
const CHUNK_COUNT_BYTES: u64 = 4;

/// Reads where an instance's pages are.
fn buffer(file: &Part, option: &[u8]) -> Option<Buffer> {
    let mut fields = Fields::new(BufReader::new(option), option.len() as u64);
    let (offset, name) = (fields.u64()?, fields.c_string()?);
    fields.c_string()?; // clock
    let page_bytes = fields.u32()?;
    let count = fields.u32()?;
    let head = (count > 0).then(|| section_head(file, section::BUFFER, offset));
    let is_packed = matches!(head, Some(Some(Ok((true, _)))));
    let place = |_| {
        let (cpu, offset, bytes) = (fields.u32()?, fields.u64()?, fields.u64()?);
        // The length of what is compressed leaves out the count of chunks before it.
        let chunks = if is_packed && bytes > 0 { CHUNK_COUNT_BYTES } else { 0 };
        Some((cpu, file.cut(offset, bytes.checked_add(chunks)?)?))
    };
    let cpus = (0..count).map(place).collect::<Option<Vec<_>>>()?;
    Some(Buffer { name, page_bytes, is_packed, cpus })
}
