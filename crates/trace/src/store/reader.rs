//! Reads a trace, a batch of rows at a time: out of a file, or out of memory.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::file_reader::{FileRows, ParquetFile, PidColumn};
use crate::{Batch, Error, Input, Meta};

/// An open trace.
#[derive(Debug)]
pub struct TraceReader {
    path: PathBuf,
    meta: Arc<Meta>,
    rows: Rows,
}

#[derive(Debug)]
enum Rows {
    File(ParquetFile),
    Memory(Arc<[Arc<Batch>]>),
}

impl TraceReader {
    /// Opens the trace file at `path` and reads its metadata; `-` is standard input.
    ///
    /// # Errors
    /// When the file cannot be read, is not Parquet, is damaged, or is no trace of ours.
    pub fn open(path: impl AsRef<Path>) -> Result<TraceReader, Error> {
        let input = Input::open(path)?;
        let path = input.path().to_owned();
        let (file, bytes) = input.into_file()?;
        TraceReader::of_file(&path, ParquetFile::open(&path, file, bytes)?)
    }

    pub(crate) fn of_file(path: &Path, file: ParquetFile) -> Result<TraceReader, Error> {
        let file = file.whole()?;
        let meta = Arc::clone(file.meta());
        Ok(TraceReader { path: path.into(), meta, rows: Rows::File(file) })
    }

    pub(super) fn of_memory(path: &Path, meta: Meta, batches: Vec<Arc<Batch>>) -> TraceReader {
        let rows = Rows::Memory(batches.into());
        TraceReader { path: path.into(), meta: Arc::new(meta), rows }
    }

    /// Returns what the trace says about itself.
    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    /// Returns the path it was opened at, or that of the recording it was made from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the rows from the beginning, some thousand a [`Batch`]. May be called again.
    pub fn batches(&self) -> Batches {
        self.rows(PidColumn::Read)
    }

    /// As [`TraceReader::batches`], but where it takes time to read [`Batch::pid`] is all 0: no allocator
    /// asks which thread calls, and to decode it is 2 % of a replay.
    pub fn batches_without_pid(&self) -> Batches {
        self.rows(PidColumn::Skip)
    }

    fn rows(&self, pids: PidColumn) -> Batches {
        let rows = match &self.rows {
            Rows::File(file) => {
                RowsLeft::File { rows: Box::new(file.rows(pids)), ring: Vec::new() }
            }
            Rows::Memory(batches) => RowsLeft::Memory { batches: Arc::clone(batches), next: 0 },
        };
        Batches { rows, failed: false }
    }
}

/// The rows of a trace by the [`Batch`]. A batch that nobody holds any more lends its memory to a later one.
#[derive(Debug)]
pub struct Batches {
    rows: RowsLeft,
    /// Nothing can be read behind an error.
    failed: bool,
}

#[derive(Debug)]
enum RowsLeft {
    File {
        rows: Box<FileRows>,
        /// Batches given out.
        ring: Vec<Arc<Batch>>,
    },
    Memory {
        batches: Arc<[Arc<Batch>]>,
        next: usize,
    },
}

impl Iterator for Batches {
    type Item = Result<Arc<Batch>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        match &mut self.rows {
            RowsLeft::Memory { batches, next } => {
                let batch = batches.get(*next)?;
                *next += 1;
                Some(Ok(Arc::clone(batch)))
            }
            RowsLeft::File { rows, ring } => {
                let batch = read(rows, ring).transpose();
                self.failed = matches!(batch, Some(Err(_)));
                batch
            }
        }
    }
}

/// Reads the next rows into a batch of the ring, or a new one.
fn read(rows: &mut FileRows, ring: &mut Vec<Arc<Batch>>) -> Result<Option<Arc<Batch>>, Error> {
    let free = ring.iter_mut().position(|batch| Arc::get_mut(batch).is_some());
    let mut batch = free.map_or_else(Arc::default, |index| ring.swap_remove(index));
    let buffer = Arc::get_mut(&mut batch).expect("nobody else holds it");
    if !rows.read_into(buffer)? {
        return Ok(None);
    }
    ring.push(Arc::clone(&batch));
    Ok(Some(batch))
}
