//! The text of a tracefs `format` file: which fields an event has, and where.
//!
//! Field offsets differ between kernels and configurations (PREEMPT_RT adds to the common fields,
//! 6.8 gave `kmem_cache_alloc` a name), so offsets always come from here. The same text stands in
//! tracefs and in the tracing data of a `perf.data`. Linux counterpart: `kernel/trace/trace_events.c`.

use std::ops::Range;

/// An event's format.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct EventFormat {
    /// The event's name without its system, as in `kmalloc`.
    pub(crate) name: String,
    /// Its number, found in `common_type` of every record.
    pub(crate) id: u32,
    pub(crate) fields: Vec<Field>,
}

/// A field of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) place: Place,
    /// What the bytes are.
    pub(crate) form: Form,
}

/// Where a field is in the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) offset: usize,
    pub(crate) bytes: usize,
}

/// What a field's bytes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Unsigned,
    Signed,
    /// `__data_loc`: the low half is an offset from the record's start, the high half a length.
    DataLoc,
    /// `__rel_loc`: the same, but the offset counts from the end of this field.
    RelLoc,
}

impl EventFormat {
    /// Reads the text of a format file; says what is wrong with it otherwise.
    pub(crate) fn parse(text: &str) -> Result<EventFormat, String> {
        let mut format = EventFormat::default();
        let mut id = None;
        for line in text.lines() {
            if let Some(name) = line.strip_prefix("name: ") {
                format.name = name.trim().to_owned();
            } else if let Some(number) = line.strip_prefix("ID: ") {
                id = number.trim().parse().ok();
            } else if line.trim_start().starts_with("field:") {
                let field = parse_field(line.trim());
                format.fields.push(field.ok_or_else(|| format!("cannot read `{line}`"))?);
            }
        }
        format.id = id.ok_or("has no line `ID:`")?;
        if format.name.is_empty() { Err("has no line `name:`".into()) } else { Ok(format) }
    }

    /// Returns the field called `name`.
    pub(crate) fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }
}

/// Reads `field:TYPE NAME[N]; offset:O; size:S; signed:B;` with tabs in between.
fn parse_field(line: &str) -> Option<Field> {
    let mut parts = line.split(';').map(str::trim);
    let declaration = parts.next()?.strip_prefix("field:")?;
    let (mut offset, mut bytes, mut signed) = (None, None, false);
    for part in parts {
        match part.split_once(':') {
            Some(("offset", value)) => offset = value.parse().ok(),
            Some(("size", value)) => bytes = value.parse().ok(),
            Some(("signed", value)) => signed = value == "1",
            _ => {}
        }
    }
    let name = declaration.rsplit([' ', '*']).next()?;
    let name = name.split('[').next()?;
    let form = match () {
        () if declaration.starts_with("__data_loc") => Form::DataLoc,
        () if declaration.starts_with("__rel_loc") => Form::RelLoc,
        () if signed => Form::Signed,
        () => Form::Unsigned,
    };
    Some(Field { name: name.to_owned(), place: Place { offset: offset?, bytes: bytes? }, form })
}

impl Place {
    /// Returns the unsigned number at this place, `None` beyond the record's end or for an odd size.
    #[inline(always)]
    pub(crate) fn unsigned(self, record: &[u8]) -> Option<u64> {
        let bytes = record.get(self.offset..self.offset.checked_add(self.bytes)?)?;
        Some(match bytes.len() {
            8 => u64::from_le_bytes(bytes.try_into().ok()?),
            4 => u64::from(u32::from_le_bytes(bytes.try_into().ok()?)),
            2 => u64::from(u16::from_le_bytes(bytes.try_into().ok()?)),
            1 => u64::from(bytes[0]),
            _ => return None,
        })
    }

    /// Returns the signed number at this place.
    #[inline]
    pub(crate) fn signed(self, record: &[u8]) -> Option<i64> {
        let value = self.unsigned(record)?;
        let unused = 64 - 8 * self.bytes as u32;
        Some(((value << unused) as i64) >> unused)
    }

    /// Returns the bytes that the `__data_loc` or `__rel_loc` at this place points at; a text in them ends at a NUL.
    #[inline]
    pub(crate) fn located(self, record: &[u8], form: Form) -> Option<&[u8]> {
        record.get(self.located_at(record, form)?)
    }

    /// Returns where these bytes are; they may be beyond the record.
    #[inline]
    pub(crate) fn located_at(self, record: &[u8], form: Form) -> Option<Range<usize>> {
        let value = self.unsigned(record)? as usize;
        let base = if form == Form::RelLoc { self.offset + self.bytes } else { 0 };
        let start = base + (value & 0xffff);
        Some(start..start + ((value >> 16) & 0xffff))
    }
}

/// A kfree as kernels describe it, for tests of what reads pages.
#[cfg(test)]
pub(crate) const KFREE: &str = "name: kfree\nID: 7\n\
    \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
    \tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n\
    \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\
    \tfield:unsigned long call_site;\toffset:8;\tsize:8;\tsigned:0;\n\
    \tfield:const void * ptr;\toffset:16;\tsize:8;\tsigned:0;\n";

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "name: kmem_cache_free\nID: 656\nformat:\n\
        \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
        \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\
        \tfield:const void * ptr;\toffset:16;\tsize:8;\tsigned:0;\n\
        \tfield:__data_loc char[] name;\toffset:24;\tsize:4;\tsigned:0;\n\
        \tfield:char comm[16];\toffset:28;\tsize:16;\tsigned:1;\n\nprint fmt: \"x\", REC->ptr\n";

    #[test]
    fn fields_have_name_place_and_form() {
        let format = EventFormat::parse(TEXT).unwrap();
        assert_eq!((format.name.as_str(), format.id), ("kmem_cache_free", 656));
        let place = |name| format.field(name).map(|f| (f.place.offset, f.place.bytes, f.form));
        assert_eq!(place("common_pid"), Some((4, 4, Form::Signed)));
        assert_eq!(place("ptr"), Some((16, 8, Form::Unsigned)));
        assert_eq!(place("name"), Some((24, 4, Form::DataLoc)));
        assert_eq!(place("comm"), Some((28, 16, Form::Signed)));
        assert!(EventFormat::parse("name: x\nformat:\n").is_err());
        assert!(EventFormat::parse("name: x\nID: 1\n\tfield:int x;\toffset:z;\n").is_err());
    }

    #[test]
    fn numbers_and_strings_never_reach_beyond_the_record() {
        let record = [0xff, 0xff, 8, 0, 3, 0, 0, 0, b'a', b'b', 0];
        assert_eq!(Place { offset: 0, bytes: 2 }.signed(&record), Some(-1));
        assert_eq!(Place { offset: 0, bytes: 2 }.unsigned(&record), Some(0xffff));
        let name = Place { offset: 2, bytes: 4 }.located(&record, Form::DataLoc);
        assert_eq!(name, Some(&b"ab\0"[..]));
        assert_eq!(Place { offset: 3, bytes: 4 }.located(&record, Form::DataLoc), None);
        assert_eq!(Place { offset: 8, bytes: 8 }.unsigned(&record), None);
        assert_eq!(Place { offset: usize::MAX, bytes: 8 }.unsigned(&record), None);
    }
}
