//! Batches of rows on their way into a Parquet file.
//!
//! # How it works
//! A thread of its own makes row groups of them ([`RowGroups`]), which is a quarter of an import's work, while the next batch
//! is filled.
//!
//! # Invariants
//! Groups are written in the order in which they came, at most [`WAITING_MAX`] wait. An error of the thread is that of the next
//! call.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread::{self, JoinHandle};

use slablab_host::WholeFile;

use super::row_groups::{Names, RowGroups};
use super::schema::{Columns, ROW_GROUP_ROWS};
use crate::meta::{Meta, RecordedCache, Site};
use crate::{Batch, Error, PageEvent};

/// Batches that wait for the thread.
const WAITING_MAX: usize = 4;

/// A Parquet file under construction.
#[derive(Debug)]
pub(super) struct FileWriter {
    path: PathBuf,
    output: WholeFile,
    is_empty: bool,
    groups: Option<SyncSender<Group>>,
    /// Batches whose rows are written
    used: Receiver<Batch>,
    thread: Option<JoinHandle<Result<RowGroups, Error>>>,
}

/// What a row group is made of.
enum Group {
    /// Rows, and the names of the call sites and caches that they may have
    Slabs(Box<(Batch, Names, Names)>),
    Pages(Vec<PageEvent>),
}

impl FileWriter {
    /// Begins a file; `path` is what errors name.
    pub(super) fn create(
        path: &Path,
        output: WholeFile,
        columns: Columns,
    ) -> Result<FileWriter, Error> {
        let io = |e| Error::io(path, "cannot write", e);
        let mut file = RowGroups::create(path, output.file().map_err(io)?, columns)?;
        let (groups, to_write) = sync_channel(WAITING_MAX);
        let (written, used) = channel();
        let write = move || {
            for group in to_write {
                match group {
                    Group::Slabs(slabs) => {
                        let (mut rows, sites, caches) = *slabs;
                        file.write(&rows, &sites, &caches)?;
                        rows.clear();
                        // When the file is finished, the receiver is gone.
                        let _ = written.send(rows);
                    }
                    Group::Pages(rows) => file.write_pages(&rows)?,
                }
            }
            Ok(file)
        };
        let thread = thread::Builder::new().spawn(write).map_err(io)?;
        let (groups, thread) = (Some(groups), Some(thread));
        Ok(FileWriter { path: path.into(), output, is_empty: true, groups, used, thread })
    }

    /// Returns whether nothing was written yet.
    pub(super) fn is_empty(&self) -> bool {
        self.is_empty
    }

    /// Gives up the file, to which nothing was written.
    pub(super) fn into_output(self) -> WholeFile {
        self.output
    }

    /// Appends a row group. `sites` and `caches` are those that the rows may name. Returns an empty batch to go on with.
    pub(super) fn write(
        &mut self,
        rows: Batch,
        sites: &[Site],
        caches: &[RecordedCache],
    ) -> Result<Batch, Error> {
        let sites = sites.iter().map(|site| site.name.clone()).collect();
        let caches = caches.iter().map(|cache| cache.recorded_name().to_owned()).collect();
        self.send(Group::Slabs(Box::new((rows, sites, caches))))?;
        Ok(self.used.try_recv().unwrap_or_else(|_| Batch::with_capacity(ROW_GROUP_ROWS)))
    }

    /// Appends a row group of page rows.
    pub(super) fn write_pages(&mut self, rows: Vec<PageEvent>) -> Result<(), Error> {
        self.send(Group::Pages(rows))
    }

    fn send(&mut self, group: Group) -> Result<(), Error> {
        self.is_empty = false;
        let sent = self.groups.as_ref().is_some_and(|groups| groups.send(group).is_ok());
        if sent { Ok(()) } else { self.end().and(Err(self.has_ended())) }
    }

    /// Waits for the thread.
    fn end(&mut self) -> Result<RowGroups, Error> {
        self.groups = None;
        let Some(thread) = self.thread.take() else { return Err(self.has_ended()) };
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }

    /// Says that an error has ended the file before.
    fn has_ended(&self) -> Error {
        Error::io(&self.path, "cannot write", std::io::ErrorKind::BrokenPipe.into())
    }

    /// Appends the metadata and closes the file.
    pub(super) fn finish(mut self, meta: &Meta) -> Result<WholeFile, Error> {
        self.end()?.finish(meta)?;
        Ok(self.output)
    }
}
