//! The tracing data of a `perf.data`: the formats of its events.

use crate::record::tracefs::Tracefs;
use crate::source::format::EventFormat;
use crate::source::kmem::{EVENTS, Layout, kind_of};
use crate::source::names::Names;
use crate::source::page_layout::PageLayout;
use crate::source::tracing::{Fields, events, ftrace_events, head, headers};
use crate::{PageKind, RawEvent};

/// What is needed of the tracing data.
#[derive(Debug, Default)]
pub(super) struct Tracing {
    /// The number of each kmem event and where its fields are.
    pub(super) layouts: Vec<(u16, AnyLayout)>,
    /// The names of the other events
    pub(super) others: Vec<String>,
    pub(super) page_bytes: u32,
}

/// Where an event keeps its fields.
#[derive(Debug, Clone, Copy)]
pub(super) enum AnyLayout {
    Slab(Layout),
    Page(PageLayout),
}

impl AnyLayout {
    /// Returns the layout of an event of slabs or pages; says what is wrong with its format otherwise.
    fn new(format: &EventFormat) -> Result<AnyLayout, String> {
        match (kind_of(&format.name), PageLayout::new(format)?) {
            (Some(kind), _) => Layout::new(kind, format).map(AnyLayout::Slab),
            (None, Some(page)) => Ok(AnyLayout::Page(page)),
            (None, None) => Err(format!("event {} is none of kmem's", format.name)),
        }
    }

    /// Reads a record of `cpu`; `None` when it is too short.
    #[inline]
    pub(super) fn decode(
        &self,
        record: &[u8],
        time_ns: u64,
        cpu: u32,
        names: &mut Names,
    ) -> Option<RawEvent> {
        match self {
            AnyLayout::Slab(layout) => layout.decode(record, time_ns, cpu, names),
            AnyLayout::Page(layout) => layout.decode(record, time_ns, cpu),
        }
    }
}

impl Tracing {
    /// Reads the formats of the running kernel, as far as this user may see them.
    pub(super) fn of_running_kernel() -> Option<Tracing> {
        let folder = Tracefs::mounted()?.root.join("events");
        let layout = |event: String| {
            let text = std::fs::read_to_string(folder.join(event).join("format")).ok()?;
            let format = EventFormat::parse(&text).ok()?;
            Some((format.id as u16, AnyLayout::new(&format).ok()?))
        };
        let slabs = EVENTS.into_iter().map(|(name, _)| format!("kmem/{name}"));
        let events = slabs.chain(PageKind::recorded().map(PageKind::path));
        let layouts = events.filter_map(layout).collect();
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
            tracing.layouts.push((format.id as u16, AnyLayout::new(&format)?));
        }
        Ok(tracing)
    }
}
