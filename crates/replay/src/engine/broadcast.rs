//! One pass over a trace for many jobs: the caller's thread takes each batch, decoded ahead by the reader's, and hands it
//! to all of them, each on a thread of its own. A single job of a reader on one thread takes the batches itself, which
//! makes a replay of 200 short traces on two processors take 6 % less time.
//!
//! # Invariants
//! - At most [`BATCHES_AHEAD`] batches wait for a thread, so memory is bounded by the slowest.
//! - Reading ends early only when no job listens any more. Of two errors that of the trace is reported, because it is
//!   the cause.

use std::num::NonZero;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use slablab_trace::{Batch, TraceReader};

use crate::engine::machine;
use crate::error::Error;

/// Batches on their way to a thread: enough that a short delay of one side does not stop the other.
const BATCHES_AHEAD: usize = 2;

/// The source of a job's batches, in the order of the trace.
pub(crate) enum Feed<'a, T> {
    /// The thread that reads the trace
    Sent(Receiver<T>),
    /// Reading the trace
    Read(&'a mut dyn FnMut() -> Option<T>),
}

impl<T> Iterator for Feed<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        match self {
            Feed::Sent(batches) => batches.recv().ok(),
            Feed::Read(next) => next(),
        }
    }
}

/// Returns a job unchanged: where a closure goes through an iterator, only this tells the compiler that it takes feeds of
/// any lifetime.
pub(crate) fn job<T, R, F>(job: F) -> F
where
    F: FnOnce(Feed<'_, T>) -> Result<R, Error>,
{
    job
}

/// Returns among how many jobs the work on a trace is worth dividing.
pub(crate) fn jobs_at_once(reader: &TraceReader) -> usize {
    match reader.is_on_one_thread() {
        true => 1,
        false => thread::available_parallelism().map_or(1, NonZero::get),
    }
}

/// Runs each of `jobs` on what `prepare` makes of every batch; returns their results in order. `sent` gets each batch
/// that all jobs were handed, and the rows so far.
pub(crate) fn broadcast<T: Clone + Send, R: Send, F>(
    reader: &TraceReader,
    jobs: impl IntoIterator<Item = F>,
    mut prepare: impl FnMut(Arc<Batch>) -> T,
    sent: impl FnMut(&T, u64),
) -> Result<Vec<R>, Error>
where
    F: FnOnce(Feed<'_, T>) -> Result<R, Error> + Send,
{
    let mut batches = checked(reader).map(|batch| {
        let (batch, rows) = batch?;
        Ok((prepare(batch), rows))
    });
    let mut jobs: Vec<F> = jobs.into_iter().collect();
    if let (true, [_]) = (reader.is_on_one_thread(), &jobs[..]) {
        return Ok(vec![alone(jobs.remove(0), &mut batches, sent)?]);
    }
    thread::scope(|scope| {
        let start = |job: F| {
            let (sender, batches) = sync_channel(BATCHES_AHEAD);
            (sender, scope.spawn(move || job(Feed::Sent(batches))))
        };
        let (senders, threads): (Vec<_>, Vec<_>) = jobs.into_iter().map(start).unzip();
        let read = send(&mut batches, &senders, sent);
        drop(senders);
        let join = |thread: thread::ScopedJoinHandle<'_, Result<R, Error>>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        let results: Result<Vec<R>, Error> = threads.into_iter().map(join).collect();
        read.and(results)
    })
}

/// Returns the batches of a trace, and the rows up to the end of each.
fn checked(reader: &TraceReader) -> impl Iterator<Item = Result<(Arc<Batch>, u64), Error>> {
    let mut done = 0;
    reader.batches_without_pid().map(move |batch| {
        let batch = batch?;
        machine::check_cpus(reader.meta(), &batch, done)?;
        done += batch.len() as u64;
        Ok((batch, done))
    })
}

/// Runs a job on this thread.
fn alone<T, R>(
    job: impl FnOnce(Feed<'_, T>) -> Result<R, Error>,
    batches: &mut dyn Iterator<Item = Result<(T, u64), Error>>,
    mut sent: impl FnMut(&T, u64),
) -> Result<R, Error> {
    let mut read = Ok(());
    let mut next = || match batches.next()? {
        Ok((batch, rows)) => {
            sent(&batch, rows);
            Some(batch)
        }
        Err(error) => {
            read = Err(error);
            None
        }
    };
    let result = job(Feed::Read(&mut next));
    read.and(result)
}

/// Sends the batches to the trace's end, or until every thread has stopped.
fn send<T: Clone>(
    batches: &mut dyn Iterator<Item = Result<(T, u64), Error>>,
    senders: &[SyncSender<T>],
    mut sent: impl FnMut(&T, u64),
) -> Result<(), Error> {
    for batch in batches {
        let (batch, rows) = batch?;
        let listening = senders.iter().filter(|to| to.send(batch.clone()).is_ok()).count();
        if listening == 0 && !senders.is_empty() {
            return Ok(());
        }
        sent(&batch, rows);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boot() -> TraceReader {
        TraceReader::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/boot.parquet"))
            .unwrap()
    }

    /// Returns the rows of a job that takes `batches_max` batches at most, and those that `sent`
    /// got.
    fn count(reader: &TraceReader, batches_max: usize) -> (Vec<usize>, u64) {
        let mut told = 0;
        let count =
            |feed: Feed<'_, Arc<Batch>>| Ok(feed.take(batches_max).map(|batch| batch.len()).sum());
        let rows = broadcast(reader, [job(count)], |batch| batch, |_, rows| told = rows).unwrap();
        (rows, told)
    }

    #[test]
    fn one_thread_is_fed_what_several_are() {
        let events = boot().meta().events;
        assert_eq!(count(&boot(), usize::MAX), (vec![events as usize], events));
        assert_eq!(count(&boot().on_one_thread(), usize::MAX), (vec![events as usize], events));
        // A job that wants no further batches ends the reading.
        let (rows, told) = count(&boot().on_one_thread(), 2);
        assert_eq!((rows[0] as u64, told < events), (told, true));
    }

    #[test]
    fn what_is_wrong_with_the_trace_goes_before_what_a_job_says() {
        let mut bytes = std::fs::read(boot().path()).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle..middle + 4096].fill(0xff);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("damaged.parquet");
        std::fs::write(&path, bytes).unwrap();
        let several = TraceReader::open(&path).unwrap();
        let one = TraceReader::open(&path).unwrap().on_one_thread();
        for reader in [several, one] {
            let fail = |feed: Feed<'_, Arc<Batch>>| -> Result<(), Error> {
                Err(Error::TuneFails { failed: feed.count() as u64 })
            };
            let error = broadcast(&reader, [job(fail)], |batch| batch, |_, _| ()).unwrap_err();
            assert!(matches!(error, Error::Trace(_)), "{error}");
        }
    }
}
