//! Reads a trace, a batch of rows at a time: out of a file, or out of memory.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::file_reader::{FileRows, ParquetFile, Threads};
use crate::{Batch, Error, Meta};

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
    /// Opens the trace file at `path` and reads its metadata.
    ///
    /// # Errors
    /// When the file cannot be read, is not Parquet, is damaged, or is no trace of ours.
    pub fn open(path: impl AsRef<Path>) -> Result<TraceReader, Error> {
        let path = path.as_ref();
        let file = File::open(path).map_err(|e| Error::io(path, "cannot open", e))?;
        TraceReader::of_file(path, file)
    }

    pub(super) fn of_file(path: &Path, file: File) -> Result<TraceReader, Error> {
        let file = ParquetFile::open(path, file)?;
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
        self.rows(Threads::Read)
    }

    /// As [`TraceReader::batches`], but where it takes time to read [`Batch::pid`] is all 0: no allocator
    /// asks which thread calls, and to decode it is 2 % of a replay.
    pub fn batches_without_pid(&self) -> Batches {
        self.rows(Threads::Skip)
    }

    fn rows(&self, threads: Threads) -> Batches {
        let rows = match &self.rows {
            Rows::File(file) => {
                RowsLeft::File { rows: Box::new(file.rows(threads)), ring: Vec::new() }
            }
            Rows::Memory(batches) => RowsLeft::Memory { batches: Arc::clone(batches), next: 0 },
        };
        Batches { rows, failed: false }
    }
}

/// The rows of a trace by the [`Batch`]. A batch that nobody holds any more lends its
/// memory to a later one.
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
