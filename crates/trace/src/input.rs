//! A file to be read that may be a pipe: it is opened once and no byte of it is lost.
//!
//! How it works: the first bytes are read into memory, where the format is found out; whoever reads on gets
//! them again, and the rest behind them. A format that is not read from front to end (Parquet, a `perf.data`
//! that is no pipe's) needs a file: what comes through a pipe is copied to a nameless one first.

use std::fs::File;
use std::io::{Cursor, Read, Seek, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use slablab_host::WholeFile;

use crate::Error;
use crate::error::At;

/// Bytes that are read to find out the format.
const HEAD_BYTES: u64 = 64 << 10;

/// The path that stands for standard input.
const STDIN: &str = "-";

/// How Parquet files begin.
const PARQUET_MAGIC: &[u8] = b"PAR1";

/// An open file or pipe.
#[derive(Debug)]
pub struct Input {
    path: PathBuf,
    head: Vec<u8>,
    file: File,
    /// The length of a regular file that is read from its beginning.
    bytes: Option<u64>,
}

impl Input {
    /// Opens the file at `path`; `-` is standard input.
    ///
    /// # Errors
    /// When it cannot be read, is empty, or is a directory.
    pub fn open(path: impl AsRef<Path>) -> Result<Input, Error> {
        let path = path.as_ref();
        let (path, file) = if path == Path::new(STDIN) {
            let stdin = std::io::stdin().as_fd().try_clone_to_owned().map(File::from);
            (Path::new("standard input"), stdin)
        } else {
            (path, File::open(path))
        };
        let mut file = file.map_err(|e| Error::io(path, "cannot open", e))?;
        let io = |e| Error::io(path, "cannot read", e);
        let at = file.metadata().map_err(io)?;
        if at.is_dir() {
            let remedy = "name a trace, a perf.data file or a text (perf record without --threads writes a file)";
            return Err(Error::bad(path, At::File, "is a directory", remedy));
        }
        let from_start = at.is_file() && file.stream_position().is_ok_and(|position| position == 0);
        let mut head = Vec::new();
        (&file).take(HEAD_BYTES).read_to_end(&mut head).map_err(io)?;
        if head.is_empty() {
            let remedy = "record with `slablab record` or `perf kmem record`";
            return Err(Error::bad(path, At::File, "the file is empty", remedy));
        }
        Ok(Input { path: path.into(), head, file, bytes: from_start.then_some(at.len()) })
    }

    /// Returns the path, or what stands for it in messages.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Tells whether it is a Parquet file, as traces are.
    pub fn is_parquet(&self) -> bool {
        self.head.starts_with(PARQUET_MAGIC)
    }

    /// Returns the first bytes.
    pub(crate) fn head(&self) -> &[u8] {
        &self.head
    }

    /// Returns how many bytes there are, 0 when that is not known.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.unwrap_or(0)
    }

    /// Returns all bytes from the first on.
    pub(crate) fn into_reader(self) -> impl Read + 'static {
        Cursor::new(self.head).chain(self.file)
    }

    /// Returns a file whose content is that of the input, and how long it is.
    pub(crate) fn into_file(self) -> Result<(File, u64), Error> {
        if let Some(bytes) = self.bytes {
            return Ok((self.file, bytes));
        }
        let path = self.path.clone();
        let copy = || -> std::io::Result<(File, u64)> {
            let mut file = WholeFile::nameless()?.file()?;
            let bytes = std::io::copy(&mut self.into_reader(), &mut file)?;
            file.flush()?;
            Ok((file, bytes))
        };
        copy().map_err(|e| Error::io(&path, "cannot copy to a temporary file", e))
    }
}
