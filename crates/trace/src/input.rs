//! An input file that may be a pipe: it is opened once, and no byte of it is lost.
//!
//! # How it works
//! The first bytes are read into memory, where the format is found out; the reader then gets them again,
//! and the rest behind them. Content that gzip or zstd compressed is recognised by its beginning and unpacked on the
//! way. Formats that are not read from front to end need a file: Parquet, `trace.dat`, a `perf.data` that was not made
//! for a pipe. Input from a pipe, or compressed, is first copied to a nameless one.

use std::fs::File;
use std::io::{BufReader, Cursor, ErrorKind, Read, Seek, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use slablab_host::WholeFile;

use crate::error::At;
use crate::{Error, recording_folder};

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
    rest: Rest,
}

/// What is behind the head.
enum Rest {
    /// A regular file of that length, which begins with the head.
    File(File, u64),
    Stream(Box<dyn Read + Send>),
}

impl std::fmt::Debug for Rest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Rest::File(..) => "File",
            Rest::Stream(_) => "Stream",
        })
    }
}

impl Input {
    /// Opens the file at `path`; `-` is standard input.
    ///
    /// # Errors
    /// If it cannot be read, is empty, or is a directory.
    pub fn open(path: impl AsRef<Path>) -> Result<Input, Error> {
        let path = path.as_ref();
        let (path, file) = if path == Path::new(STDIN) {
            let stdin = std::io::stdin().as_fd().try_clone_to_owned().map(File::from);
            (Path::new("standard input"), stdin)
        } else {
            (path, File::open(path))
        };
        let mut file = file.map_err(|error| match recording_folder::how_to_recover(path) {
            Some(command) if error.kind() == ErrorKind::NotFound => {
                let what = "is not there: its recording was interrupted";
                Error::bad(path, At::File, what, format!("make it with {command}"))
            }
            _ if error.kind() == ErrorKind::PermissionDenied => {
                let remedy = "run it again with sudo, or as a user who may read it";
                Error::bad(path, At::File, format!("cannot open: {error}"), remedy)
            }
            _ => Error::io(path, "cannot open", error),
        })?;
        let io = |e| Error::io(path, "cannot read", e);
        let at = file.metadata().map_err(io)?;
        if at.is_dir() {
            let remedy = "name a trace, a perf.data file or a text (perf record without --threads writes one; of --kcore \
                          it is data)";
            return Err(Error::bad(path, At::File, "is a directory", remedy));
        }
        let from_start = at.is_file() && file.stream_position().is_ok_and(|position| position == 0);
        let head = head(&mut file).map_err(io)?;
        let (head, rest) = match Packing::of(&head) {
            Some(packing) => {
                let mut content = packing.unpack(Cursor::new(head).chain(file)).map_err(io)?;
                (self::head(&mut content).map_err(io)?, Rest::Stream(content))
            }
            None if from_start => (head, Rest::File(file, at.len())),
            None => (head, Rest::Stream(Box::new(file))),
        };
        if head.is_empty() {
            let remedy = "give a recording, or a text with a table of slab memory";
            return Err(Error::bad(path, At::File, "the file is empty", remedy));
        }
        Ok(Input { path: path.into(), head, rest })
    }

    /// Returns the path, or what stands for it in messages.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns whether it is a Parquet file, as traces are.
    pub fn is_parquet(&self) -> bool {
        self.head.starts_with(PARQUET_MAGIC)
    }

    /// Returns the first bytes as text; `None` if they are none.
    pub fn head_text(&self) -> Option<std::borrow::Cow<'_, str>> {
        (!self.head.contains(&0)).then(|| String::from_utf8_lossy(&self.head))
    }

    /// Returns the first bytes.
    pub(crate) fn head(&self) -> &[u8] {
        &self.head
    }

    /// Returns how many bytes there are, 0 when that is not known.
    pub(crate) fn bytes(&self) -> u64 {
        match &self.rest {
            Rest::File(_, bytes) => *bytes,
            Rest::Stream(_) => 0,
        }
    }

    /// Returns all bytes from the first on.
    pub fn into_reader(self) -> Box<dyn Read + Send> {
        let head = Cursor::new(self.head);
        match self.rest {
            Rest::File(file, _) => Box::new(head.chain(file)),
            Rest::Stream(stream) => Box::new(head.chain(stream)),
        }
    }

    /// Returns the whole text, of at most `bytes_max`; bytes that are not valid UTF-8 become
    /// U+FFFD.
    ///
    /// # Errors
    /// If it cannot be read or is longer.
    pub(crate) fn into_text(self, bytes_max: u64) -> Result<String, Error> {
        let path = self.path.clone();
        let mut bytes = Vec::new();
        let read = self.into_reader().take(bytes_max + 1).read_to_end(&mut bytes);
        read.map_err(|e| Error::io(&path, "cannot read", e))?;
        if bytes.len() as u64 > bytes_max {
            let what = format!("is longer than {} MiB", bytes_max >> 20);
            return Err(Error::bad(&path, At::File, what, "name the right file"));
        }
        Ok(match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        })
    }

    /// Returns a file whose content is that of the input, and how long it is.
    pub(crate) fn into_file(self) -> Result<(File, u64), Error> {
        if let Rest::File(file, bytes) = self.rest {
            return Ok((file, bytes));
        }
        let path = self.path.clone();
        let copy = || -> std::io::Result<(File, u64)> {
            let mut file = WholeFile::nameless()?.file()?;
            let bytes = std::io::copy(&mut self.into_reader(), &mut file)?;
            file.flush()?;
            Ok((file, bytes))
        };
        copy().map_err(|e| match e.kind() {
            ErrorKind::InvalidData | ErrorKind::UnexpectedEof => Error::io(&path, "cannot read", e),
            _ => Error::io(&path, "cannot copy to a temporary file", e),
        })
    }
}

/// Reads what the format is found out by.
fn head(from: &mut impl Read) -> std::io::Result<Vec<u8>> {
    let mut head = Vec::new();
    from.take(HEAD_BYTES).read_to_end(&mut head)?;
    Ok(head)
}

/// What a whole file may be compressed by.
#[derive(Debug, Clone, Copy)]
enum Packing {
    Gzip,
    Zstd,
}

impl Packing {
    /// Tells by how a file begins.
    fn of(head: &[u8]) -> Option<Packing> {
        match head {
            [0x1f, 0x8b, ..] => Some(Packing::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Packing::Zstd),
            _ => None,
        }
    }

    /// Returns what was compressed, all of it where several were put behind each other.
    fn unpack(self, packed: impl Read + Send + 'static) -> std::io::Result<Box<dyn Read + Send>> {
        let packed = BufReader::with_capacity(HEAD_BYTES as usize, packed);
        let content: Box<dyn Read + Send> = match self {
            Packing::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(packed)),
            Packing::Zstd => Box::new(zstd::Decoder::with_buffer(packed)?),
        };
        Ok(Box::new(Unpacked { packing: self, content }))
    }
}

/// Says by what the content was compressed where it is damaged.
struct Unpacked {
    packing: Packing,
    content: Box<dyn Read + Send>,
}

impl Read for Unpacked {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.content.read(buffer).map_err(|error| {
            let what = format!(
                "what {:?} compressed is cut short or damaged: copy it again ({error})",
                self.packing
            );
            std::io::Error::new(error.kind(), what.to_lowercase())
        })
    }
}
