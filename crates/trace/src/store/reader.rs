//! Reads a trace, a batch of rows at a time: out of a file, or out of memory.
//!
//! # How it works
//! The rows of a file are decoded by a thread of their own, [`BATCHES_AHEAD`] batches ahead of the
//! reader, since decoding a trace takes a third of a replay. On request the reader's thread decodes them, or all are
//! decoded at once. A batch that is no longer held lends its memory to a later one.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use super::file_reader::{FileRows, ParquetFile};
use super::wanted::PidColumn;
use crate::{Batch, Error, Input, Meta, PageEvent};

/// How many threads work on a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Threads {
    /// One decodes the rows of a file ahead.
    Several,
    One,
}

/// An open trace.
#[derive(Debug)]
pub struct TraceReader {
    path: PathBuf,
    meta: Arc<Meta>,
    rows: Rows,
    pages: PageRows,
    threads: Threads,
}

#[derive(Debug)]
enum Rows {
    File(ParquetFile),
    Memory(Arc<[Arc<Batch>]>),
}

/// The page rows of a trace.
#[derive(Debug)]
enum PageRows {
    File(ParquetFile),
    Memory(Arc<[Arc<Vec<PageEvent>>]>),
}

/// What the checksums of a trace say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checked {
    /// Its bytes are those that were written.
    Sound,
    /// It has none: an older slablab or another program wrote it.
    HasNone,
}

impl TraceReader {
    /// Opens the trace file at `path` and reads its metadata; `-` is standard input.
    ///
    /// # Errors
    /// If the file cannot be read, is not Parquet, is damaged, or is not one of our traces.
    pub fn open(path: impl AsRef<Path>) -> Result<TraceReader, Error> {
        let input = Input::open(path)?;
        let path = input.path().to_owned();
        let (file, bytes) = input.into_file()?;
        TraceReader::of_file(&path, ParquetFile::open(&path, file, bytes)?)
    }

    pub(crate) fn of_file(path: &Path, file: ParquetFile) -> Result<TraceReader, Error> {
        let file = file.whole()?;
        let meta = Arc::clone(file.meta());
        Ok(TraceReader {
            path: path.into(),
            meta,
            pages: PageRows::File(file.clone()),
            rows: Rows::File(file),
            threads: Threads::Several,
        })
    }

    pub(super) fn of_memory(
        path: &Path,
        meta: Meta,
        batches: Vec<Arc<Batch>>,
        pages: Vec<Arc<Vec<PageEvent>>>,
    ) -> TraceReader {
        let (rows, pages) = (Rows::Memory(batches.into()), PageRows::Memory(pages.into()));
        let threads = Threads::Several;
        TraceReader { path: path.into(), meta: Arc::new(meta), rows, pages, threads }
    }

    /// Returns what the trace says about itself.
    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    /// Returns the path it was opened at, or that of the recording it was made from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Decodes all rows now and keeps them, if there are at most `events_max`: who goes through a small trace several
    /// times pays for decoding, a third of a replay, once. [`Batch::pid`] is all 0 and no row has a stack then, as in
    /// those of [`TraceReader::batches_without_pid`].
    ///
    /// # Errors
    /// If the rows are damaged.
    pub fn decoded_without_pid(self, events_max: u64) -> Result<TraceReader, Error> {
        let Rows::File(file) = &self.rows else { return Ok(self) };
        if self.meta.events > events_max {
            return Ok(self);
        }
        let mut rows = file.rows(PidColumn::Skip);
        let batches = std::iter::from_fn(|| read(&mut rows, &mut Vec::new()).transpose());
        let batches = batches.collect::<Result<Vec<_>, _>>()?;
        Ok(TraceReader { rows: Rows::Memory(batches.into()), ..self })
    }

    /// Checks the checksums of all rows, without decoding them.
    ///
    /// # Errors
    /// If the file cannot be read, or its bytes are not those that were written.
    pub fn check_sums(&self) -> Result<Checked, Error> {
        match &self.rows {
            Rows::File(file) => file.check_sums(),
            Rows::Memory(_) => Ok(Checked::Sound),
        }
    }

    /// Has one thread do all that is done with the trace, its decoding too: where each processor has a trace of its own,
    /// further threads only move batches from one processor to another.
    #[must_use]
    pub fn on_one_thread(self) -> TraceReader {
        TraceReader { threads: Threads::One, ..self }
    }

    /// Returns whether one thread is to do all that is done with the trace.
    pub fn is_on_one_thread(&self) -> bool {
        self.threads == Threads::One
    }

    /// Returns the rows from the beginning, some thousand a [`Batch`]. May be called again.
    pub fn batches(&self) -> Batches {
        self.rows(PidColumn::Read)
    }

    /// As [`TraceReader::batches`], but where it takes time to read [`Batch::pid`] is all 0 and no row has a stack: no
    /// allocator asks who calls, and to decode it is 2 % of a replay.
    pub fn batches_without_pid(&self) -> Batches {
        self.rows(PidColumn::Skip)
    }

    /// Returns the page rows from the beginning, which no batch of slab events has. May be called again.
    pub fn page_batches(&self) -> PageBatches {
        PageBatches(match &self.pages {
            PageRows::File(file) if self.meta.pages.is_some() => {
                PagesLeft::File(Box::new(file.page_rows()))
            }
            PageRows::File(_) => PagesLeft::Memory { batches: Arc::default(), next: 0 },
            PageRows::Memory(batches) => {
                PagesLeft::Memory { batches: Arc::clone(batches), next: 0 }
            }
        })
    }

    fn rows(&self, pids: PidColumn) -> Batches {
        let rows = match &self.rows {
            Rows::File(file) if self.is_on_one_thread() => {
                RowsLeft::Here { rows: Box::new(file.rows(pids)), given: Vec::new() }
            }
            Rows::File(file) => RowsLeft::Ahead(Decoder::start(file.rows(pids))),
            Rows::Memory(batches) => RowsLeft::Memory { batches: Arc::clone(batches), next: 0 },
        };
        Batches { rows }
    }
}

/// The rows of a trace by the [`Batch`].
#[derive(Debug)]
pub struct Batches {
    rows: RowsLeft,
}

#[derive(Debug)]
enum RowsLeft {
    Ahead(Decoder),
    Here { rows: Box<FileRows>, given: Vec<Arc<Batch>> },
    Memory { batches: Arc<[Arc<Batch>]>, next: usize },
}

impl Iterator for Batches {
    type Item = Result<Arc<Batch>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.rows {
            RowsLeft::Memory { batches, next } => {
                let batch = batches.get(*next)?;
                *next += 1;
                Some(Ok(Arc::clone(batch)))
            }
            RowsLeft::Ahead(decoder) => decoder.next(),
            RowsLeft::Here { rows, given } => read(rows, given).transpose(),
        }
    }
}

/// The page rows of a trace, some thousand at a time.
#[derive(Debug)]
pub struct PageBatches(PagesLeft);

#[derive(Debug)]
enum PagesLeft {
    File(Box<FileRows>),
    Memory { batches: Arc<[Arc<Vec<PageEvent>>]>, next: usize },
}

impl Iterator for PageBatches {
    type Item = Result<Arc<Vec<PageEvent>>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            PagesLeft::File(rows) => {
                let mut pages = Vec::new();
                let read = rows.read_pages_into(&mut pages);
                read.map(|is_more| is_more.then(|| Arc::new(pages))).transpose()
            }
            PagesLeft::Memory { batches, next } => {
                let batch = batches.get(*next)?;
                *next += 1;
                Some(Ok(Arc::clone(batch)))
            }
        }
    }
}

/// Batches that are decoded and that were not taken yet.
const BATCHES_AHEAD: usize = 4;

/// A thread that decodes the rows of a file. It ends behind the last row or an error, and when there is no receiver any
/// more.
#[derive(Debug)]
struct Decoder {
    decoded: Receiver<Result<Arc<Batch>, Error>>,
    /// `None` when it was seen to end
    thread: Option<JoinHandle<()>>,
}

impl Decoder {
    fn start(rows: FileRows) -> Decoder {
        let (sender, decoded) = sync_channel(BATCHES_AHEAD);
        Decoder { decoded, thread: Some(thread::spawn(move || decode(rows, &sender))) }
    }

    fn next(&mut self) -> Option<Result<Arc<Batch>, Error>> {
        if let Ok(batch) = self.decoded.recv() {
            return Some(batch);
        }
        // A panic over there is no end of the rows.
        if let Some(Err(panic)) = self.thread.take().map(JoinHandle::join) {
            std::panic::resume_unwind(panic);
        }
        None
    }
}

/// Sends all of `rows`.
fn decode(mut rows: FileRows, to: &SyncSender<Result<Arc<Batch>, Error>>) {
    let mut given = Vec::new();
    while let Some(batch) = read(&mut rows, &mut given).transpose() {
        let failed = batch.is_err();
        if to.send(batch).is_err() || failed {
            return;
        }
    }
}

/// Reads the next rows into a batch of those that were given out, or a new one.
fn read(rows: &mut FileRows, given: &mut Vec<Arc<Batch>>) -> Result<Option<Arc<Batch>>, Error> {
    let free = given.iter_mut().position(|batch| Arc::get_mut(batch).is_some());
    let mut batch = free.map_or_else(Arc::default, |index| given.swap_remove(index));
    let buffer = Arc::get_mut(&mut batch).expect("nobody else holds it");
    if !rows.read_into(buffer)? {
        return Ok(None);
    }
    given.push(Arc::clone(&batch));
    Ok(Some(batch))
}
