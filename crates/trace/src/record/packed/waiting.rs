//! A file of pages that waits, read so that memory still has what is read again.
//!
//! # How it works
//! All files are read twice, one pass after the other. Where they are larger than memory, the kernel drops the pages that
//! were read least recently: these are the next to be read, so that both passes would read all from the disk. So the
//! first pass itself drops what is too much, at the beginning of each file ([`beyond_memory`]), and memory keeps the rest
//! for the second, which drops all that it has read.

use std::fs::File;
use std::io::Read;
use std::num::NonZeroU64;

use rustix::fs::{Advice, fadvise};

/// What was read is dropped in parts of this size.
const PART_BYTES: u64 = 1 << 20;

/// A file, and what of it memory need not keep.
#[derive(Debug)]
pub(crate) struct Waiting {
    file: File,
    read_bytes: u64,
    dropped_bytes: u64,
    /// Bytes from the beginning that memory need not keep once they were read
    drop_bytes: u64,
}

impl Waiting {
    /// Reads a file from its beginning; all stays in memory as long as the kernel keeps it.
    pub(crate) fn new(file: File) -> Waiting {
        // Without the advice it is read all the same.
        let _ = fadvise(&file, 0, None, Advice::Sequential);
        Waiting { file, read_bytes: 0, dropped_bytes: 0, drop_bytes: 0 }
    }

    /// Drops the first `bytes` from memory as soon as they were read.
    pub(crate) fn dropping(self, bytes: u64) -> Waiting {
        Waiting { drop_bytes: bytes, ..self }
    }

    /// Drops the first `bytes` from memory as soon as they were read.
    pub(crate) fn drop_first(&mut self, bytes: u64) {
        self.drop_bytes = bytes;
    }

    /// Returns how many bytes were read.
    pub(crate) fn read_bytes(&self) -> u64 {
        self.read_bytes
    }

    fn drop_read(&mut self) {
        let until = self.read_bytes.min(self.drop_bytes);
        let part = until.saturating_sub(self.dropped_bytes);
        if part >= PART_BYTES {
            let _ =
                fadvise(&self.file, self.dropped_bytes, NonZeroU64::new(part), Advice::DontNeed);
            self.dropped_bytes = until;
        }
    }
}

impl Read for Waiting {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        let read = self.file.read(to)?;
        self.read_bytes += read as u64;
        self.drop_read();
        Ok(read)
    }
}

/// Returns how much of a file of `bytes` memory cannot keep, where all files have `all_bytes` and there is room for
/// `room_bytes`.
pub(crate) fn beyond_memory(bytes: u64, all_bytes: u64, room_bytes: u64) -> u64 {
    let beyond = u128::from(all_bytes.saturating_sub(room_bytes));
    // It is at most `bytes`.
    (u128::from(bytes) * beyond / u128::from(all_bytes.max(1))) as u64
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn what_memory_cannot_keep_is_dropped_while_it_is_read_and_all_bytes_come() {
        assert_eq!(beyond_memory(600, 1_000, 1_000), 0);
        assert_eq!(beyond_memory(600, 1_000, 250), 450);
        assert_eq!(beyond_memory(0, 0, 0), 0);
        let bytes: Vec<u8> = (0..3 * PART_BYTES + 7).map(|at| (at % 251) as u8).collect();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&bytes).unwrap();
        // What was not written yet cannot be dropped.
        file.sync_all().unwrap();
        for (drop_bytes, dropped) in [(0, 0), (2 * PART_BYTES + 9, 2), (u64::MAX, 3)] {
            std::io::Seek::rewind(&mut file).unwrap();
            let mut waiting = Waiting::new(file.try_clone().unwrap()).dropping(drop_bytes);
            let mut read = Vec::new();
            waiting.read_to_end(&mut read).unwrap();
            assert!(read == bytes, "{drop_bytes}");
            assert_eq!(waiting.dropped_bytes / PART_BYTES, dropped, "{drop_bytes}");
        }
    }
}
