//! A trace written anew: with other rows below, without addresses, or in the newest format.

use crate::error::At;
use crate::{Error, Event, Extent, Meta, NONE, PageEvent, Progress, TraceReader, TraceWriter};

/// Writes a trace anew.
///
/// # Errors
/// When the trace cannot be read or the new one not be written.
pub fn copy(
    trace: &TraceReader,
    mut writer: TraceWriter,
    progress: &mut dyn FnMut(Progress),
) -> Result<Meta, Error> {
    let meta = trace.meta();
    for site in &meta.sites {
        let id = writer.site(&site.name, site.address) as usize;
        writer.sites_mut()[id].copy = site.copy;
    }
    for (id, cache) in (0..).zip(&meta.caches) {
        if writer.cache(cache.recorded_name()) != id {
            let what = format!("its metadata is damaged (two caches called {})", cache.name);
            return Err(Error::bad(trace.path(), At::File, what, "record it again"));
        }
        writer.caches_mut()[id as usize].clone_from(cache);
    }
    let stacks = &meta.stacks;
    // Without addresses some may be the same.
    let stack = |stack: u32| {
        let frames = stacks.frames(stack).map(|frame| (frame.name.as_str(), frame.address));
        writer.stack(frames, if stacks.is_cut(stack) { Extent::Cut } else { Extent::Whole })
    };
    let renamed: Vec<u32> = (0..stacks.len() as u32).map(stack).collect();
    let stack = |stack: u32| renamed.get(stack as usize).copied().unwrap_or(NONE);
    let (mut done, total) = (0, meta.rows().unwrap_or(meta.events));
    for batch in trace.batches() {
        let batch = batch?;
        let renamed = |event: Event| Event { stack: stack(event.stack), ..event };
        batch.events().try_for_each(|event| writer.push(&renamed(event)))?;
        done += batch.len() as u64;
        progress(Progress { phase: "copying", done, total, unit: "events" });
    }
    for batch in trace.page_batches() {
        let batch = batch?;
        let renamed = |row: &PageEvent| PageEvent { stack: stack(row.stack), ..*row };
        batch.iter().try_for_each(|row| writer.push_page(&renamed(row)))?;
        done += batch.len() as u64;
        progress(Progress { phase: "copying", done, total, unit: "events" });
    }
    writer.finish(meta.clone())
}
