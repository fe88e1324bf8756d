//! Parts of a file, read from where they lie, and what was compressed into them.
//!
//! # How it works
//! A compressed section holds one block behind two lengths; what a CPU recorded is a count of such
//! blocks ("chunks") one behind the other. Chunks are unpacked as a stream, so that only the decoder's window is held.

use std::fs::File;
use std::io::{BufReader, Error, ErrorKind, Read, Result, Take};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

/// Bytes of a compressed block that are read at once.
const BLOCK_BYTES: usize = 16 << 10;

/// Some bytes of a file.
#[derive(Debug, Clone)]
pub(super) struct Part {
    file: Arc<File>,
    at: u64,
    left: u64,
}

impl Part {
    /// Returns the whole of a file of `bytes` bytes.
    pub(super) fn whole(file: File, bytes: u64) -> Part {
        Part { file: Arc::new(file), at: 0, left: bytes }
    }

    /// Returns the `bytes` bytes from `offset` on, `None` where they are not all there.
    pub(super) fn cut(&self, offset: u64, bytes: u64) -> Option<Part> {
        let left = self.left.checked_sub(offset)?;
        (bytes <= left).then(|| Part { at: self.at + offset, left: bytes, ..self.clone() })
    }

    /// Returns what is behind the first `bytes` bytes.
    pub(super) fn behind(&self, bytes: u64) -> Option<Part> {
        self.cut(bytes, self.left.checked_sub(bytes)?)
    }

    /// Returns where in the file it begins.
    pub(super) fn offset(&self) -> u64 {
        self.at
    }

    /// Returns how many bytes are left.
    pub(super) fn left(&self) -> u64 {
        self.left
    }
}

impl Read for Part {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let wanted = buffer.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        let read = self.file.read_at(&mut buffer[..wanted], self.at)?;
        self.at += read as u64;
        self.left -= read as u64;
        Ok(read)
    }
}

/// How parts are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Compression {
    Zstd,
    Zlib,
}

impl Compression {
    /// Returns the one that a `trace.dat` calls `name`, as in `trace-cmd list -c`.
    pub(super) fn from_name(name: &str) -> Option<Compression> {
        match name {
            "zstd" => Some(Compression::Zstd),
            "zlib" => Some(Compression::Zlib),
            _ => None,
        }
    }

    /// Returns the content of the block that `part` begins with, and what is behind it.
    pub(super) fn block(self, mut part: Part) -> Result<(Block, Part)> {
        let [packed, content] = [u64::from(word(&mut part)?), u64::from(word(&mut part)?)];
        let cut = || Error::new(ErrorKind::UnexpectedEof, "a compressed block is cut short");
        let (block, rest) = part.cut(0, packed).zip(part.behind(packed)).ok_or_else(cut)?;
        let block = BufReader::with_capacity(BLOCK_BYTES, block);
        let unpacked: Unpacked = match self {
            Compression::Zstd => {
                Unpacked(Box::new(zstd::Decoder::with_buffer(block)?.single_frame()))
            }
            Compression::Zlib => Unpacked(Box::new(flate2::bufread::ZlibDecoder::new(block))),
        };
        Ok((unpacked.take(content), rest))
    }

    /// Returns all that the chunks in `part` hold.
    pub(super) fn chunks(self, mut part: Part) -> Result<Chunks> {
        let left = word(&mut part)?;
        Ok(Chunks { compression: self, rest: part, left, block: None })
    }
}

fn word(part: &mut Part) -> Result<u32> {
    let mut bytes = [0; 4];
    part.read_exact(&mut bytes)?;
    Ok(u32::from_le_bytes(bytes))
}

/// The content of a compressed block, no more of it than the file says.
pub(super) type Block = Take<Unpacked>;

pub(super) struct Unpacked(Box<dyn Read + Send>);

impl std::fmt::Debug for Unpacked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Unpacked")
    }
}

impl Read for Unpacked {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        self.0.read(buffer)
    }
}

/// What a CPU recorded, unpacked chunk by chunk.
#[derive(Debug)]
pub(super) struct Chunks {
    compression: Compression,
    rest: Part,
    left: u32,
    block: Option<Block>,
}

impl Read for Chunks {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        loop {
            if let Some(block) = &mut self.block {
                let read = block.read(buffer)?;
                if read > 0 || buffer.is_empty() {
                    return Ok(read);
                }
            }
            if self.left == 0 {
                return Ok(0);
            }
            self.left -= 1;
            let (block, rest) = self.compression.block(self.rest.clone())?;
            (self.block, self.rest) = (Some(block), rest);
        }
    }
}

/// The pages of one CPU.
#[derive(Debug)]
pub(super) enum Pages {
    Plain(Part),
    Packed(Chunks),
}

impl Read for Pages {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        match self {
            Pages::Plain(part) => part.read(buffer),
            Pages::Packed(chunks) => chunks.read(buffer),
        }
    }
}
