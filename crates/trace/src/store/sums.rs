//! Checksums of a trace file: what its bytes were when they were written.
//!
//! # How it works
//! Parquet's own are one a page, and the library that writes our files writes none. So a block stands between
//! the last row group and the footer, where readers of Parquet look at nothing: for each row group where it ends and its
//! CRC-32, then the CRC-32 of these and of the footer, their number, and a mark. A row group's bytes reach from the end of
//! the one before it, the first one's from the beginning of the file. A writer holds a row group back until it is whole; a
//! reader takes all bytes of one at once, checks them, and decodes pages out of them.
//!
//! # Invariants
//! Every byte that an answer rests on is below a sum; a CRC-32 sees every change of up to 32 bits in a row. A
//! file without the mark is of an older slablab or of another program, and is read as it is.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;

use crc32fast::{Hasher, hash};

/// Stands behind the sums.
const MARK: &[u8; 16] = b"slablab.sums.1\0\0";
/// Bytes of a row group's entry: its end and its sum.
const ENTRY_BYTES: usize = 12;
/// Bytes of the sum of the entries and the footer, of their number, and of the mark.
const TAIL_BYTES: usize = 8 + MARK.len();
/// Bytes of the footer's length and of Parquet's own mark behind it.
const END_BYTES: u64 = 8;

/// A file that a Parquet writer writes to, by the row group.
#[derive(Debug)]
pub(super) struct Summing {
    file: File,
    /// Written since the last row group ended
    held: Vec<u8>,
    end: u64,
    entries: Vec<u8>,
}

impl Summing {
    pub(super) fn new(file: File) -> Summing {
        Summing { file, held: Vec::new(), end: 0, entries: Vec::new() }
    }

    /// Ends a row group, whose bytes have all come.
    pub(super) fn end_group(&mut self) -> io::Result<()> {
        self.end += self.held.len() as u64;
        self.entries.extend(self.end.to_le_bytes());
        self.entries.extend(hash(&self.held).to_le_bytes());
        self.file.write_all(&self.held)?;
        self.held.clear();
        Ok(())
    }

    /// Writes the rest, which ends in a footer, with the sums before that.
    pub(super) fn finish(mut self) -> io::Result<()> {
        let length = self.held.last_chunk::<8>().map_or(0, |[a, b, c, d, ..]| {
            u32::from_le_bytes([*a, *b, *c, *d]) as usize + END_BYTES as usize
        });
        let footer = self.held.len().saturating_sub(length);
        let (before, footer) = self.held.split_at(footer);
        let count = (self.entries.len() / ENTRY_BYTES) as u32;
        let sum = sum(&self.entries, &footer[..footer.len().saturating_sub(END_BYTES as usize)]);
        let tail = [&sum.to_le_bytes(), &count.to_le_bytes(), &MARK[..]].concat();
        [before, &self.entries, &tail, footer].iter().try_for_each(|part| self.file.write_all(part))
    }
}

impl Write for Summing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.held.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The sums of a file.
#[derive(Debug)]
pub(super) struct Sums(Vec<(u64, u32)>);

impl Sums {
    /// Reads the sums of a file of `bytes` bytes and checks its footer; `None` where it has none.
    ///
    /// # Errors
    /// If the file cannot be read, or the footer is not what it was.
    pub(super) fn read(file: &File, bytes: u64) -> io::Result<Option<Sums>> {
        let mut length = [0; 4];
        let Some(end) = bytes.checked_sub(END_BYTES) else { return Ok(None) };
        file.read_exact_at(&mut length, end)?;
        let length = u64::from(u32::from_le_bytes(length));
        let mut tail = [0; TAIL_BYTES];
        let Some(footer) = end.checked_sub(length) else { return Ok(None) };
        let Some(place) = footer.checked_sub(TAIL_BYTES as u64) else { return Ok(None) };
        file.read_exact_at(&mut tail, place)?;
        let ([a, b, c, d, e, f, g, h, mark @ ..], changed) = (tail, || io::Error::other(CHANGED));
        if mark != *MARK {
            return Ok(None);
        }
        let (stored, count) = (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]));
        let size = u64::from(count) * ENTRY_BYTES as u64;
        let begin = place.checked_sub(size).ok_or_else(changed)?;
        let (mut entries, mut text) = (vec![0; size as usize], vec![0; length as usize]);
        file.read_exact_at(&mut entries, begin)?;
        file.read_exact_at(&mut text, footer)?;
        if sum(&entries, &text) != stored {
            return Err(changed());
        }
        let entry = |entry: &[u8; ENTRY_BYTES]| {
            let [a, b, c, d, e, f, g, h, sum @ ..] = *entry;
            (u64::from_le_bytes([a, b, c, d, e, f, g, h]), u32::from_le_bytes(sum))
        };
        Ok(Some(Sums(entries.as_chunks().0.iter().map(entry).collect())))
    }

    /// Returns how many row groups have one.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns where the bytes of a row group begin, and all of them.
    ///
    /// # Errors
    /// If they cannot be read, or are not what they were.
    pub(super) fn group(&self, file: &File, group: usize) -> io::Result<(u64, Vec<u8>)> {
        let begin = group.checked_sub(1).map_or(0, |before| self.0[before].0);
        let (end, sum) = self.0[group];
        let mut bytes = vec![0; end.saturating_sub(begin) as usize];
        file.read_exact_at(&mut bytes, begin)?;
        if hash(&bytes) == sum { Ok((begin, bytes)) } else { Err(io::Error::other(CHANGED)) }
    }
}

const CHANGED: &str = "damaged: its bytes are not those that were written";

fn sum(entries: &[u8], footer: &[u8]) -> u32 {
    let mut hasher = Hasher::new();
    hasher.update(entries);
    hasher.update(footer);
    hasher.finalize()
}
