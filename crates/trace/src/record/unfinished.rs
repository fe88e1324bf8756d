//! The folder of a recording that is not a trace yet: it stands beside the output while the recording is made.
//!
//! # How it works
//! `OUTPUT.recording` holds, in the order in which they are written:
//! - `kallsyms.zst`: the kernel's symbols,
//! - `head.json`: what is known before the first event,
//! - `threads.json`: the recorder's threads, behind which the events are turned on,
//! - `cpuN.pages`: the pages of each CPU's ring buffer, `cpuN.objects`: those that [`super::chosen`] makes, both packed
//!   ([`super::packed`]), and `readings.jsonl`: what slabinfo said, as they come; `reserve` grows beside them,
//! - `tail.json`: what is known when the events are off.
//!
//! A trace is made of this folder alone, so that a recorder that was killed leaves as much as one that ended.
//!
//! # Invariants
//! - The recorder, or who makes the trace, holds a lock on `head.json`: a folder whose lock is free is of a recorder that
//!   has ended.
//! - A folder that was there before is not written to.
//! - The folder is removed when its trace stands at its path, or when the recording could not begin.

use std::fs::{DirBuilder, File, TryLockError};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use slablab_host::{Access, printable, write_whole};

use super::head::{Head, Tail};
use super::packed::Writer;
use super::reserve::Reserve;
use crate::error::At;
use crate::recording_folder::{self, HEAD};
use crate::{Error, Symbols};

const THREADS: &str = "threads.json";
const TAIL: &str = "tail.json";
const SYMBOLS: &str = "kallsyms.zst";
const RESERVE: &str = "reserve";
const READINGS: &str = "readings.jsonl";

/// What to do with a folder whose recorder did not come to its events.
const NOT_BEGUN: &str = "its recorder ended before the first event: remove the folder";

/// What to do with one whose events are there.
const DAMAGED: &str = "events lie beside it, but no trace can be made without this file: keep the folder, and look for a \
                       copy of the file";

/// Symbols are written while the command waits: zstd's fastest level.
const SYMBOLS_ZSTD_LEVEL: i32 = 1;

/// The folder of a recording that this process makes, or makes a trace of.
#[derive(Debug)]
pub(super) struct Unfinished {
    /// The trace that it is to be
    output: PathBuf,
    folder: PathBuf,
    /// Holds the lock
    head: File,
    /// Whether there is something that must not be lost
    is_kept: bool,
    /// For what is known at the end, and the trace
    reserve: Arc<Reserve>,
}

impl Unfinished {
    /// Makes the folder, for its owner only.
    pub(super) fn create(output: &Path) -> Result<Unfinished, Error> {
        let folder = recording_folder::of(output);
        DirBuilder::new().mode(0o700).create(&folder).map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => refused(output, &folder),
            _ => Error::io(&folder, "cannot make the folder of the recording", error),
        })?;
        let head = open_new(&folder.join(HEAD)).inspect_err(|_| {
            let _ = std::fs::remove_dir(&folder);
        })?;
        let unfinished = Unfinished::of(output, folder, head, false);
        unfinished.lock()?;
        Ok(unfinished)
    }

    /// Opens the folder that a recorder left behind.
    pub(super) fn open(output: &Path) -> Result<Unfinished, Error> {
        let folder = recording_folder::of(output);
        let path = folder.join(HEAD);
        let head = File::options().read(true).write(true).open(&path);
        let head = head.map_err(|error| match error.kind() {
            ErrorKind::NotFound => {
                let what = "no interrupted recording is there";
                let remedy = "name the trace that was to be recorded, as in record's -o";
                Error::bad(&folder, At::File, what, remedy)
            }
            _ => Error::io(&path, "cannot open", error),
        })?;
        let unfinished = Unfinished::of(output, folder, head, true);
        unfinished.lock()?;
        Ok(unfinished)
    }

    fn of(output: &Path, folder: PathBuf, head: File, is_kept: bool) -> Unfinished {
        let reserve = Arc::default();
        Unfinished { output: output.to_owned(), folder, head, is_kept, reserve }
    }

    /// Takes the lock, which the end of this process frees, however it ends.
    fn lock(&self) -> Result<(), Error> {
        match self.head.try_lock() {
            // A file system without locks: then two recorders are told apart by the folder alone.
            Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
            Err(TryLockError::WouldBlock) => Err(is_recording(&self.output)),
        }
    }

    /// Returns the trace that it is to be.
    pub(super) fn output(&self) -> &Path {
        &self.output
    }

    /// Returns where the pages of a CPU are.
    pub(super) fn pages_path(&self, cpu: u32) -> PathBuf {
        self.folder.join(format!("cpu{cpu}.pages"))
    }

    /// Makes the file for the pages of a CPU.
    pub(super) fn create_pages(&self, cpu: u32, page_bytes: usize) -> Result<Writer, Error> {
        self.create_packed(&self.pages_path(cpu), page_bytes)
    }

    fn create_packed(&self, path: &Path, page_bytes: usize) -> Result<Writer, Error> {
        let packed = Writer::new(open_new(path)?, page_bytes, Arc::clone(&self.reserve));
        packed.map_err(|e| Error::io(path, "cannot write the recording", e))
    }

    /// Appends to pages that are there.
    pub(super) fn append_pages(&self, cpu: u32, page_bytes: usize) -> Result<Writer, Error> {
        let path = self.pages_path(cpu);
        let file = File::options().read(true).write(true).open(&path);
        let packed = file.and_then(|file| Writer::new(file, page_bytes, Arc::default()));
        packed.map_err(|e| Error::io(&path, "cannot open", e))
    }

    /// Returns where the pages are that a CPU's chosen events are in.
    pub(super) fn objects_path(&self, cpu: u32) -> PathBuf {
        self.folder.join(format!("cpu{cpu}.objects"))
    }

    /// Makes the file for the pages of a CPU's chosen events.
    pub(super) fn create_objects(&self, cpu: u32, page_bytes: usize) -> Result<Writer, Error> {
        self.create_packed(&self.objects_path(cpu), page_bytes)
    }

    /// Makes the file for the readings of slabinfo.
    pub(super) fn create_readings(&self) -> Result<File, Error> {
        open_new(&self.folder.join(READINGS))
    }

    /// Returns where the readings of slabinfo are.
    pub(super) fn readings_path(&self) -> PathBuf {
        self.folder.join(READINGS)
    }

    /// Writes the kernel's symbols.
    pub(super) fn write_symbols(&self) -> Result<(), Error> {
        let kallsyms = std::fs::read("/proc/kallsyms").unwrap_or_default();
        let packed = zstd::bulk::compress(&kallsyms, SYMBOLS_ZSTD_LEVEL).unwrap_or_default();
        let path = self.folder.join(SYMBOLS);
        let written = open_new(&path)?.write_all(&packed);
        written.map_err(|e| Error::io(&path, "cannot write the recording", e))
    }

    /// Writes what is known before the first event.
    pub(super) fn begin(&self, head: &Head) -> Result<(), Error> {
        write_json(&self.head, &self.folder.join(HEAD), head)?;
        self.reserve.begin(open_new(&self.folder.join(RESERVE))?);
        Ok(())
    }

    /// Writes the numbers of the recorder's threads, which are known last. From now on the folder is kept.
    pub(super) fn write_own_threads(&mut self, threads: &[u32]) -> Result<(), Error> {
        let path = self.folder.join(THREADS);
        write_json(&open_new(&path)?, &path, &threads)?;
        self.is_kept = true;
        Ok(())
    }

    /// Reads the numbers of the recorder's threads, as the kernel numbers them. Events are turned on behind these.
    pub(super) fn own_threads(&self) -> Result<Vec<u32>, Error> {
        read_json(&self.folder.join(THREADS))
    }

    /// Reads what was known before the first event.
    pub(super) fn head(&self) -> Result<Head, Error> {
        let head: Head = read_json(&self.folder.join(HEAD))?;
        if (Head::VERSION_WHOLE_PAGES..=Head::VERSION).contains(&head.version) {
            return Ok(head);
        }
        let what =
            format!("was made by another version of slablab (its layout is {})", head.version);
        Err(Error::bad(&self.folder, At::File, what, "recover it with that version"))
    }

    /// Writes what is known at the end.
    pub(super) fn end(&self, tail: &Tail) -> Result<(), Error> {
        self.reserve.end();
        let _ = std::fs::remove_file(self.folder.join(RESERVE));
        let path = self.folder.join(TAIL);
        let text = serde_json::to_vec(tail).map_err(std::io::Error::from);
        let written = text.and_then(|text| write_whole(&path, &text, Access::Private));
        written.map_err(|e| Error::io(&path, "cannot write the recording", e))
    }

    /// Reads what was known at the end; `None` where the recorder was killed before.
    pub(super) fn tail(&self) -> Option<Tail> {
        read_json(&self.folder.join(TAIL)).ok()
    }

    /// Returns the symbols of the kernel that was recorded, as they were when the recording began.
    pub(super) fn symbols(&self) -> Result<Symbols, Error> {
        let path = self.folder.join(SYMBOLS);
        let text = File::open(&path).and_then(zstd::stream::decode_all);
        let text = text.map_err(|e| Error::io(&path, "cannot read", e))?;
        Ok(Symbols::parse(&String::from_utf8_lossy(&text)))
    }

    /// Returns whether there is something that must not be lost.
    pub(super) fn is_kept(&self) -> bool {
        self.is_kept
    }

    /// Has the folder removed with this: nothing was recorded.
    pub(super) fn forget(&mut self) {
        self.is_kept = false;
    }

    /// Removes the folder: its trace is there.
    pub(super) fn remove(mut self) {
        self.forget();
    }

    /// Adds to an error how to make a trace of what is kept.
    pub(super) fn kept(&self, error: &Error) -> Error {
        let what = error.to_string();
        let remedy = format!(
            "what was recorded is kept in {}: {} makes the trace of it",
            printable(&self.folder.to_string_lossy()),
            recording_folder::recover_command(&self.output)
        );
        Error::Kept { what, remedy }
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if !self.is_kept {
            let _ = std::fs::remove_dir_all(&self.folder);
        }
    }
}

/// Says why a second recording may not write there.
fn refused(output: &Path, folder: &Path) -> Error {
    let head = File::open(folder.join(HEAD));
    let is_locked = head.is_ok_and(|head| matches!(head.try_lock(), Err(TryLockError::WouldBlock)));
    if is_locked {
        return is_recording(output);
    }
    let what = "holds a recording that was interrupted";
    let remedy = format!(
        "make its trace with {}, remove it, or name another output with -o",
        recording_folder::recover_command(output)
    );
    Error::bad(folder, At::File, what, remedy)
}

fn is_recording(output: &Path) -> Error {
    let remedy = "end that one first, or name another output with -o";
    Error::bad(output, At::File, "another recording is being written there", remedy)
}

/// Makes a file that was not there, for its owner only: it holds addresses of the kernel.
fn open_new(path: &Path) -> Result<File, Error> {
    let mut options = File::options();
    let file = options.read(true).write(true).create_new(true).mode(0o600).open(path);
    file.map_err(|e| Error::io(path, "cannot write the recording", e))
}

fn write_json(mut file: &File, path: &Path, value: &impl Serialize) -> Result<(), Error> {
    let text = serde_json::to_vec(value).map_err(std::io::Error::from);
    let written = text.and_then(|text| file.write_all(&text));
    written.map_err(|e| Error::io(path, "cannot write the recording", e))
}

fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, Error> {
    let remedy = || if has_events(path) { DAMAGED } else { NOT_BEGUN };
    let text = std::fs::read(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => Error::bad(path, At::File, "is not there", remedy()),
        _ => Error::io(path, "cannot read", error),
    })?;
    serde_json::from_slice(&text)
        .map_err(|error| Error::bad(path, At::File, format!("is not whole ({error})"), remedy()))
}

/// Returns whether events were written beside a file of the folder.
fn has_events(path: &Path) -> bool {
    let entries = path.parent().and_then(|folder| std::fs::read_dir(folder).ok());
    let is_of_events = |name: &str| name.ends_with(".pages") || name.ends_with(".objects");
    entries.into_iter().flatten().flatten().any(|entry| {
        entry.file_name().to_str().is_some_and(is_of_events)
            && entry.metadata().is_ok_and(|at| at.len() > 0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// It used to say that such a folder is to be removed.
    #[test]
    fn a_damaged_head_beside_events_is_not_told_to_be_removed() {
        let folder = tempfile::tempdir().unwrap();
        let head = folder.path().join(HEAD);
        std::fs::write(&head, "{").unwrap();
        let said = |path: &Path| read_json::<Head>(path).unwrap_err().to_string();
        assert!(said(&head).contains("remove the folder"));
        std::fs::write(folder.path().join("cpu0.objects"), "some").unwrap();
        assert!(said(&head).contains("keep the folder"), "{}", said(&head));
    }

    #[test]
    fn two_recordings_with_one_output_do_not_meet() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("t.parquet");
        let first = Unfinished::create(&output).unwrap();
        let second = Unfinished::create(&output).unwrap_err().to_string();
        assert!(second.contains("another recording is being written there"), "{second}");
        drop(first);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing was recorded");
    }

    #[test]
    fn an_interrupted_recording_is_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("t.parquet");
        assert_eq!(recording_folder::how_to_recover(&output), None);
        let mut first = Unfinished::create(&output).unwrap();
        first.begin(&Head::default()).unwrap();
        first.write_own_threads(&[]).unwrap();
        drop(first);
        let second = Unfinished::create(&output).unwrap_err().to_string();
        assert!(second.contains("was interrupted") && second.contains("--recover"), "{second}");
        assert!(recording_folder::how_to_recover(&output).is_some());
        Unfinished::open(&output).unwrap().remove();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        let none = Unfinished::open(&output).unwrap_err().to_string();
        assert!(none.contains("no interrupted recording is there"), "{none}");
    }
}
