//! One pass over a trace for many threads: the caller's thread takes each batch, decoded ahead by the reader's, and hands it
//! to all of them.
//!
//! # Invariants
//! - At most [`BATCHES_AHEAD`] batches wait for a thread, so memory is bounded by the slowest.
//! - Reading ends early only when no thread listens any more; of two errors that of the trace is told, as it is the cause.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use slablab_trace::{Batch, TraceReader};

use crate::engine::machine;
use crate::error::Error;

/// Batches on their way to a thread: enough that a short delay of one side does not stop the other.
const BATCHES_AHEAD: usize = 2;

/// Runs each of `jobs` on a thread of its own, on what `prepare` makes of every batch; returns their results in order.
/// `sent` is told each batch that all were handed, and the rows so far.
pub(crate) fn broadcast<T: Clone + Send, R: Send, F>(
    reader: &TraceReader,
    jobs: impl IntoIterator<Item = F>,
    prepare: impl FnMut(Arc<Batch>) -> T,
    sent: impl FnMut(&T, u64),
) -> Result<Vec<R>, Error>
where
    F: FnOnce(Receiver<T>) -> Result<R, Error> + Send,
{
    thread::scope(|scope| {
        let start = |job: F| {
            let (sender, batches) = sync_channel(BATCHES_AHEAD);
            (sender, scope.spawn(move || job(batches)))
        };
        let (senders, threads): (Vec<_>, Vec<_>) = jobs.into_iter().map(start).unzip();
        let read = feed(reader, &senders, prepare, sent);
        drop(senders);
        let join = |thread: thread::ScopedJoinHandle<'_, Result<R, Error>>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        let results: Result<Vec<R>, Error> = threads.into_iter().map(join).collect();
        read.and(results)
    })
}

/// Reads the trace to its end, or until every thread has stopped.
fn feed<T: Clone>(
    reader: &TraceReader,
    senders: &[SyncSender<T>],
    mut prepare: impl FnMut(Arc<Batch>) -> T,
    mut sent: impl FnMut(&T, u64),
) -> Result<(), Error> {
    let mut done = 0;
    for batch in reader.batches_without_pid() {
        let batch = batch?;
        machine::check_cpus(reader.meta(), &batch, done)?;
        done += batch.len() as u64;
        let prepared = prepare(batch);
        let listening = senders.iter().filter(|to| to.send(prepared.clone()).is_ok()).count();
        if listening == 0 && !senders.is_empty() {
            return Ok(());
        }
        sent(&prepared, done);
    }
    Ok(())
}
