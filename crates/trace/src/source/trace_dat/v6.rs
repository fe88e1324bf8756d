//! Version 6: one thing behind the other, and the pages at the end.
//!
//! Linux counterpart: `trace-cmd.dat.v6(5)`.

use std::io::{BufReader, Read};

use super::content::{Buffer, Content, OPTION_BUFFER};
use super::part::Part;
use crate::source::tracing::{Fields, events, ftrace_events, headers};
use crate::symbols::Symbols;

/// Reads what is behind the head; `None` where it is cut short.
pub(super) fn read<R: Read>(
    file: &Part,
    fields: &mut Fields<R>,
    content: &mut Content,
) -> Result<Option<()>, String> {
    let Some(texts) = headers(fields) else { return Ok(None) };
    content.headers = texts;
    let Some(stacks) = ftrace_events(fields) else { return Ok(None) };
    let Some(events) = events(fields)? else { return Ok(None) };
    content.events = events;
    content.stacks = stacks;
    let mut texts = || {
        let kallsyms_bytes = fields.u32()?;
        let kallsyms = fields.take(u64::from(kallsyms_bytes))?;
        let printk_bytes = fields.u32()?;
        fields.take(u64::from(printk_bytes))?;
        let names_bytes = fields.u64()?;
        Some((kallsyms, fields.take(names_bytes)?, fields.u32()?))
    };
    let Some((kallsyms, comms, cpus)) = texts() else { return Ok(None) };
    content.symbols = Symbols::parse(&String::from_utf8_lossy(&kallsyms));
    content.comms(&comms);
    content.meta.cpus = cpus;
    loop {
        let Some(what) = fields.take(10) else { return Ok(None) };
        match what.as_slice() {
            b"options  \0" => {
                let Some(()) = options(file, fields, content, cpus) else { return Ok(None) };
            }
            b"flyrecord\0" => {
                return Ok(places(file, fields, cpus).map(|cpus| {
                    content.buffers.push(Buffer { cpus, ..Buffer::default() });
                }));
            }
            b"latency  \0" => return Err("holds the text of a latency tracer".into()),
            _ => return Err("has a part of an unknown kind before its pages".into()),
        }
    }
}

fn options<R: Read>(
    file: &Part,
    fields: &mut Fields<R>,
    content: &mut Content,
    cpus: u32,
) -> Option<()> {
    loop {
        let number = fields.u16()?;
        if number == 0 {
            return Some(());
        }
        let bytes = fields.u32()?;
        let data = fields.take(u64::from(bytes))?;
        if number == OPTION_BUFFER {
            // An instance whose recording failed has no place.
            content.buffers.extend(instance(file, &data, cpus));
        }
        content.option(number, &data);
    }
}

/// Reads where an instance's pages are: the offset of a table like that of the top instance, and the name.
fn instance(file: &Part, option: &[u8], cpus: u32) -> Option<Buffer> {
    let mut option = Fields::new(option, option.len() as u64);
    let offset = option.u64().filter(|offset| *offset != 0)?;
    let name = option.c_string()?;
    let table = file.behind(offset)?;
    let mut table = Fields::new(BufReader::new(table.clone()), table.left());
    let places = (table.take(10)? == b"flyrecord\0").then(|| places(file, &mut table, cpus))??;
    Some(Buffer { name, cpus: places, ..Buffer::default() })
}

/// Reads where the pages of each CPU are.
fn places<R: Read>(file: &Part, fields: &mut Fields<R>, cpus: u32) -> Option<Vec<(u32, Part)>> {
    let place = |cpu| Some((cpu, file.cut(fields.u64()?, fields.u64()?)?));
    (0..cpus).map(place).collect()
}
