//! An archive in the format that Linux takes as its first file system.
//!
//! Linux counterpart: `Documentation/driver-api/early-userspace/buffer-format.rst` @ 6.1: format "newc",
//! `070701`, all numbers in eight hexadecimal digits, name and data padded to four bytes, ended by an entry
//! `TRAILER!!!`.

use std::io::{self, Write};

/// Writes an archive, entry by entry.
#[derive(Debug)]
pub(crate) struct Archive<W> {
    out: W,
    entries: u32,
}

/// File types, `S_IFDIR` and so on of stat(2).
const DIRECTORY: u32 = 0o040_000;
const CHARACTER: u32 = 0o020_000;
const REGULAR: u32 = 0o100_000;

impl<W: Write> Archive<W> {
    /// Starts an archive.
    pub(crate) fn new(out: W) -> Self {
        Self { out, entries: 0 }
    }

    /// Adds a folder; its parents must have been added.
    pub(crate) fn folder(&mut self, name: &str) -> io::Result<()> {
        self.entry(name, DIRECTORY | 0o755, (0, 0), &[])
    }

    /// Adds a file.
    pub(crate) fn file(&mut self, name: &str, mode: u32, data: &[u8]) -> io::Result<()> {
        self.entry(name, REGULAR | mode, (0, 0), data)
    }

    /// Adds a character device.
    pub(crate) fn device(&mut self, name: &str, major_minor: (u32, u32)) -> io::Result<()> {
        self.entry(name, CHARACTER | 0o600, major_minor, &[])
    }

    /// Ends the archive.
    pub(crate) fn finish(mut self) -> io::Result<W> {
        self.entry("TRAILER!!!", 0, (0, 0), &[])?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn entry(&mut self, name: &str, mode: u32, dev: (u32, u32), data: &[u8]) -> io::Result<()> {
        let size = u32::try_from(data.len())
            .map_err(|_| io::Error::other(format!("{name} is too large for the archive")))?;
        self.entries += 1;
        let name_size = name.len() as u32 + 1;
        // inode, mode, uid, gid, links, mtime, size, device (2), special device (2), name size, checksum
        let fields = [self.entries, mode, 0, 0, 1, 0, size, 0, 0, dev.0, dev.1, name_size, 0];
        self.out.write_all(b"070701")?;
        for field in fields {
            write!(self.out, "{field:08X}")?;
        }
        const HEADER_SIZE: usize = 6 + 13 * 8;
        self.out.write_all(name.as_bytes())?;
        self.pad(HEADER_SIZE + name.len(), 1)?;
        self.out.write_all(data)?;
        self.pad(data.len(), 0)
    }

    /// Writes at least `least` zeros after `written` bytes, up to the next multiple of four.
    fn pad(&mut self, written: usize, least: usize) -> io::Result<()> {
        let zeros = (written + least).next_multiple_of(4) - written;
        self.out.write_all(&[0; 8][..zeros])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_aligned_and_the_archive_ends() {
        let mut archive = Archive::new(Vec::new());
        archive.folder("bin").unwrap();
        archive.file("bin/sh", 0o755, b"#!x").unwrap();
        archive.device("console", (5, 1)).unwrap();
        let bytes = archive.finish().unwrap();
        assert_eq!(bytes.len() % 4, 0);
        let text = String::from_utf8_lossy(&bytes);
        let heads: Vec<_> = text.match_indices("070701").map(|(at, _)| at).collect();
        assert_eq!(heads.len(), 4);
        assert!(heads.iter().all(|at| at % 4 == 0), "{heads:?}");
        // Mode and size of bin/sh: 0100755, 3 bytes.
        assert_eq!(&text[heads[1] + 14..heads[1] + 22], "000081ED");
        assert_eq!(&text[heads[1] + 54..heads[1] + 62], "00000003");
        assert!(text.trim_end_matches('\0').ends_with("TRAILER!!!"));
    }
}
