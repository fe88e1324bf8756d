//! A file whose parts are read from where they lie.
//!
//! How it works: Parquet's own way with a `File` duplicates the descriptor and seeks before each page's
//! header and before each page, eight system calls a page; here both are one `pread` each.

use std::fs::File;
use std::io::{BufReader, Read};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use bytes::Bytes;
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
