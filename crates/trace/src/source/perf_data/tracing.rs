//! The tracing data of a `perf.data`: the formats of its events.
//!
//! Linux counterpart: `tools/perf/util/trace-event-read.c`; `trace.dat(5)` describes the same bytes.

use super::bytes::Bytes;
use crate::source::format::EventFormat;
use crate::source::kmem::{Layout, kind_of};

/// What is needed of the tracing data.
#[derive(Debug, Default)]
pub(super) struct Tracing {
    /// The number of each kmem event and where its fields are.
    pub(super) layouts: Vec<(u16, Layout)>,
    pub(super) page_bytes: u32,
}

impl Tracing {
    /// Reads tracing data; says what is wrong with it otherwise.
    pub(super) fn parse(data: &[u8]) -> Result<Tracing, String> {
        let cut = || "the formats of the events are cut short".to_owned();
        let mut bytes = Bytes(data);
        if bytes.take(10).ok_or_else(cut)? != b"\x17\x08\x44tracing" {
            return Err("the formats of the events do not begin as they should".into());
        }
        bytes.c_string().ok_or_else(cut)?; // version
        let big_endian = bytes.take(1).ok_or_else(cut)? != [0];
        let long_bytes = bytes.take(1).ok_or_else(cut)?[0];
        if big_endian || long_bytes != 8 {
            return Err("it was recorded on a 32-bit or big-endian machine".into());
        }
        let page_bytes = bytes.u32().ok_or_else(cut)?;
        let mut tracing = Tracing { page_bytes, ..Tracing::default() };
        tracing.events(&mut bytes)?.ok_or_else(cut)?;
        Ok(tracing)
    }

    /// Reads the formats; the outer error is an unusable format, `None` a cut.
    fn events(&mut self, bytes: &mut Bytes<'_>) -> Result<Option<()>, String> {
        let mut formats = || {
            for name in [&b"header_page"[..], b"header_event"] {
                if bytes.c_string()? != name {
                    return None;
                }
                sized(bytes)?;
            }
            for _ in 0..bytes.u32()? {
                sized(bytes)?; // ftrace's own events
            }
            let mut formats = Vec::new();
            for _ in 0..bytes.u32()? {
                let kmem = bytes.c_string()? == b"kmem";
                for _ in 0..bytes.u32()? {
                    let format = sized(bytes)?;
                    formats.extend(kmem.then_some(format));
                }
            }
            Some(formats)
        };
        let Some(formats) = formats() else { return Ok(None) };
        for format in formats {
            let format = EventFormat::parse(&String::from_utf8_lossy(format))?;
            if let Some(kind) = kind_of(&format.name) {
                self.layouts.push((format.id as u16, Layout::new(kind, &format)?));
            }
        }
        Ok(Some(()))
    }
}

/// Reads a 64-bit length and that many bytes.
fn sized<'a>(bytes: &mut Bytes<'a>) -> Option<&'a [u8]> {
    let length = bytes.u64()?;
    bytes.take(usize::try_from(length).ok()?)
}
