//! The tracing data of a `perf.data`: the formats of its events.

use crate::Kind;
use crate::record::tracefs::Tracefs;
use crate::source::format::EventFormat;
use crate::source::kmem::{EVENTS, Layout, kind_of};
use crate::source::tracing::{Fields, events, ftrace_events, head, headers};

/// What is needed of the tracing data.
#[derive(Debug, Default)]
pub(super) struct Tracing {
    /// The number of each kmem event and where its fields are.
    pub(super) layouts: Vec<(u16, Layout)>,
    /// The names of the other events
    pub(super) others: Vec<String>,
    pub(super) page_bytes: u32,
}

impl Tracing {
    /// Reads the formats of the running kernel, as far as this user may see them.
    pub(super) fn of_running_kernel() -> Option<Tracing> {
        let folder = Tracefs::mounted()?.root.join("events/kmem");
        let layout = |(name, kind): (&str, Kind)| {
            let text = std::fs::read_to_string(folder.join(name).join("format")).ok()?;
            let format = EventFormat::parse(&text).ok()?;
            Some((format.id as u16, Layout::new(kind, &format).ok()?))
        };
        let layouts = EVENTS.into_iter().filter_map(layout).collect();
        let page_bytes = rustix::param::page_size() as u32;
        Some(Tracing { layouts, page_bytes, ..Tracing::default() })
    }

    /// Reads tracing data; says what is wrong with it otherwise.
    pub(super) fn parse(data: &[u8]) -> Result<Tracing, String> {
        let cut = || "the formats of the events are cut short".to_owned();
        let mut fields = Fields::new(data, data.len() as u64);
        let head = head(&mut fields)?.ok_or_else(cut)?;
        if head.long_bytes != 8 {
            return Err("it was recorded on a 32-bit machine".into());
        }
        headers(&mut fields).and_then(|_| ftrace_events(&mut fields)).ok_or_else(cut)?;
        let mut tracing = Tracing { page_bytes: head.page_bytes, ..Tracing::default() };
        let events = events(&mut fields)?.ok_or_else(cut)?;
        tracing.others = events.others;
        for format in events.formats {
            let kind = kind_of(&format.name).expect("only kmem's are returned");
            tracing.layouts.push((format.id as u16, Layout::new(kind, &format)?));
        }
        Ok(tracing)
    }
}
