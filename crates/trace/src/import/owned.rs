//! A trace in which the callers of helpers stand for what the helpers allocated.
//!
//! How it works: its events pass through the importer once more, in memory, with other call sites.

use slablab_linux::Helpers;

use super::Importer;
use crate::source::Source;
use crate::source::kept::Kept;
use crate::{Error, Event, Progress, TraceReader, TraceWriter};

/// Returns the trace with owners as the call sites of what helpers allocated (`kstrdup`, `kmemdup`), where its stacks tell
/// of any; `None` where they do not. What allocates for its callers is said by `helpers`.
///
/// # Errors
/// If the trace cannot be read, or there is no room for it.
pub fn by_owner(
    trace: &TraceReader,
    helpers: &Helpers,
    progress: &mut dyn FnMut(Progress),
) -> Result<Option<TraceReader>, Error> {
    let all = &mut |_: &Event| true;
    let Some(mut source) = Kept::new(trace, all).by_owner(helpers) else { return Ok(None) };
    let mut importer = Importer::new(TraceWriter::in_memory(trace.path()), trace.path());
    importer.read(&mut source, progress)?;
    let meta = source.facts().meta.clone();
    let (writer, meta) = importer.finish(&source, meta)?;
    writer.into_reader(meta).map(Some)
}
