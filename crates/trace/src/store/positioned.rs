//! A file whose parts are read from where they lie.
//!
//! # How it works
//! Parquet's own way with a `File` duplicates the descriptor and seeks before each page's
//! header and before each page, eight system calls a page; here both are one `pread` each.

use std::fs::File;
use std::io::{BufReader, Read};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use bytes::{Buf, Bytes};
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

/// What a page's header fits in, as a rule.
const HEADER_BYTES: usize = 512;

/// An open file and how long it was when it was opened.
#[derive(Debug, Clone)]
pub(super) struct Positioned {
    file: Arc<File>,
    bytes: u64,
}

impl Positioned {
    /// Takes a file of `bytes` bytes.
    pub(super) fn new(file: File, bytes: u64) -> Self {
        Self { file: Arc::new(file), bytes }
    }

    /// Returns the file.
    pub(super) fn file(&self) -> &File {
        &self.file
    }
}

/// The file from some place on.
#[derive(Debug)]
pub(super) struct Rest {
    file: Arc<File>,
    at: u64,
}

impl Read for Rest {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.file.read_at(buffer, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

impl Length for Positioned {
    fn len(&self) -> u64 {
        self.bytes
    }
}

impl ChunkReader for Positioned {
    type T = BufReader<Rest>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        let rest = Rest { file: Arc::clone(&self.file), at: start };
        Ok(BufReader::with_capacity(HEADER_BYTES, rest))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        // A damaged length is not worth the memory.
        if start.checked_add(length as u64).is_none_or(|end| end > self.bytes) {
            return Err(ParquetError::EOF(format!("no {length} bytes at offset {start}")));
        }
        let mut bytes = vec![0; length];
        self.file.read_exact_at(&mut bytes, start)?;
        Ok(bytes.into())
    }
}

/// The bytes of a row group, taken at once: pages are parts of them.
#[derive(Debug)]
pub(super) struct Group {
    /// Where they begin in the file
    begin: u64,
    bytes: Bytes,
}

impl Group {
    /// Takes the bytes from `begin` on.
    pub(super) fn new(begin: u64, bytes: Vec<u8>) -> Self {
        Self { begin, bytes: bytes.into() }
    }

    fn from(&self, start: u64) -> Result<Bytes> {
        let at = start.checked_sub(self.begin).and_then(|at| usize::try_from(at).ok());
        let at = at.filter(|at| *at <= self.bytes.len());
        let at = at.ok_or_else(|| ParquetError::EOF(format!("no page at offset {start}")))?;
        Ok(self.bytes.slice(at..))
    }
}

impl Length for Group {
    fn len(&self) -> u64 {
        self.begin + self.bytes.len() as u64
    }
}

impl ChunkReader for Group {
    type T = bytes::buf::Reader<Bytes>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        self.from(start).map(Buf::reader)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let rest = self.from(start)?;
        if length > rest.len() {
            return Err(ParquetError::EOF(format!("no {length} bytes at offset {start}")));
        }
        Ok(rest.slice(..length))
    }
}
