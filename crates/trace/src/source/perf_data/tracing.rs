//! The tracing data of a `perf.data`: the formats of its events.

use crate::source::kmem::{Layout, kind_of};
use crate::source::tracing::{Fields, events, ftrace_events, head, headers};

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
        let mut fields = Fields::new(data, data.len() as u64);
        let head = head(&mut fields)?.ok_or_else(cut)?;
        if head.long_bytes != 8 {
            return Err("it was recorded on a 32-bit machine".into());
        }
        headers(&mut fields).and_then(|_| ftrace_events(&mut fields)).ok_or_else(cut)?;
        let mut tracing = Tracing { page_bytes: head.page_bytes, ..Tracing::default() };
        for format in events(&mut fields)?.ok_or_else(cut)? {
            let kind = kind_of(&format.name).expect("only kmem's are returned");
            tracing.layouts.push((format.id as u16, Layout::new(kind, &format)?));
        }
        Ok(tracing)
    }
}
