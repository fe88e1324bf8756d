//! The pages in the folder of a recording, and their events.

use std::fmt::Display;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use slablab_host::memory_available_bytes;

use super::head::Head;
use super::packed::{self, Growing, Growth, Waiting, beyond_memory};
use super::unfinished::Unfinished;
use crate::source::Facts;
use crate::source::ahead::Ahead;
use crate::source::format::EventFormat;
use crate::source::large::LargeOnce;
use crate::source::page_format::PageFormat;
use crate::source::repeats::{NextPage, NextRecord, PageSource};
use crate::source::tracefs_raw::TracefsRaw;
use crate::{Error, Symbols};

/// The events of all pages, one after the other.
pub(super) type RawEvents = LargeOnce<TracefsRaw<PageFile>>;

/// The pages of a CPU.
#[derive(Debug)]
pub(super) enum PageFile {
    Packed(Box<packed::Reader<Waiting>>),
    /// Of a recorder that still runs
    Growing(Box<packed::Reader<Growing>>),
    /// Of an older recorder
    Whole(BufReader<File>),
}

impl PageSource for PageFile {
    fn next_page(&mut self, page: &mut [u8]) -> std::io::Result<NextPage> {
        match self {
            PageFile::Packed(pages) => pages.next_page(page),
            PageFile::Growing(pages) => match pages.waits_ns() {
                Some(complete_ns) => Ok(NextPage::Later(complete_ns)),
                None => pages.next_page(page),
            },
            PageFile::Whole(pages) => pages.next_page(page),
        }
    }

    #[inline]
    fn next_record(&mut self) -> NextRecord<'_> {
        match self {
            PageFile::Packed(pages) => pages.next_record(),
            PageFile::Growing(pages) => pages.next_record(),
            PageFile::Whole(pages) => pages.next_record(),
        }
    }
}

/// Pages are read twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pass {
    First,
    Last,
}

/// What the ring buffers held.
pub(super) struct Pages {
    page: PageFormat,
    is_packed: bool,
    formats: Vec<EventFormat>,
    /// The pages of each CPU, and those of its chosen events
    files: Vec<(u32, PathBuf)>,
    own_threads: Vec<u32>,
}

impl Pages {
    pub(super) fn open(unfinished: &Unfinished, head: &Head) -> Result<Pages, Error> {
        let mut pages = Pages::begun(unfinished, head, unfinished.own_threads()?)?;
        let objects = (0..head.meta.cpus).map(|cpu| (cpu, unfinished.objects_path(cpu)));
        // Each CPU that the machine may have has such a file where BPF chose the events: one that is gone is missed.
        pages.files.extend(objects.filter(|(_, path)| head.has_objects() || path.exists()));
        Ok(pages)
    }

    /// Returns those of a recorder that has begun, whose threads are these.
    pub(super) fn begun(
        unfinished: &Unfinished,
        head: &Head,
        own_threads: Vec<u32>,
    ) -> Result<Pages, Error> {
        let page = PageFormat::parse(&head.page.0, &head.page.1).map_err(unknown)?;
        let page = page.with_bytes(head.page_bytes);
        let formats = head.formats.iter().map(|text| EventFormat::parse(text).map_err(unknown));
        let files = head.cpus.iter().map(|&cpu| (cpu, unfinished.pages_path(cpu)));
        Ok(Pages {
            page,
            is_packed: head.is_packed(),
            formats: formats.collect::<Result<_, _>>()?,
            files: files.collect(),
            own_threads,
        })
    }

    /// Returns the events from the first on; those of the recorder are marked.
    pub(super) fn source(&self, pass: Pass, symbols: Symbols) -> Result<Ahead<RawEvents>, Error> {
        let beyond_memory = self.beyond_memory()?;
        let streams = self.files.iter().zip(beyond_memory).map(|((cpu, path), beyond)| {
            let (file, page_bytes) = (open(path)?, self.page.bytes());
            if !self.is_packed {
                let pages = BufReader::with_capacity(page_bytes * 64, file);
                return Ok((*cpu, PageFile::Whole(pages)));
            }
            let drop_bytes = match pass {
                Pass::First => beyond,
                // What fits is left to the kernel: the next command may read it.
                Pass::Last if beyond == 0 => 0,
                Pass::Last => u64::MAX,
            };
            let file = Waiting::new(file).dropping(drop_bytes);
            let pages = packed::Reader::new(file, page_bytes, self.page.head_bytes());
            Ok((*cpu, PageFile::Packed(Box::new(pages))))
        });
        let streams = streams.collect::<Result<_, Error>>()?;
        self.events(streams, symbols, self.bytes()?).map(Ahead::new)
    }

    /// Returns the events of files that grow, in the order of the CPUs.
    pub(super) fn growing(&self, growths: &[Arc<Growth>]) -> Result<RawEvents, Error> {
        let streams = self.files.iter().zip(growths).map(|((cpu, path), growth)| {
            let file = Growing::new(open(path)?, Arc::clone(growth));
            let pages = packed::Reader::new(file, self.page.bytes(), self.page.head_bytes());
            Ok((*cpu, PageFile::Growing(Box::new(pages))))
        });
        self.events(streams.collect::<Result<_, Error>>()?, Symbols::default(), 0)
    }

    fn events(
        &self,
        streams: Vec<(u32, PageFile)>,
        symbols: Symbols,
        bytes: u64,
    ) -> Result<RawEvents, Error> {
        let facts = Facts { symbols, bytes, ..Facts::default() };
        let source = TracefsRaw::new(self.page, &self.formats, streams, facts).map_err(unknown)?;
        Ok(LargeOnce::new(source.mark(self.own_threads.clone())))
    }

    /// Returns of each file how much memory cannot keep.
    pub(super) fn beyond_memory(&self) -> Result<Vec<u64>, Error> {
        let bytes = self.files.iter().map(|(_, path)| {
            open(path)?
                .metadata()
                .map(|file| file.len())
                .map_err(|e| Error::io(path, "cannot read", e))
        });
        let bytes: Vec<u64> = bytes.collect::<Result<_, Error>>()?;
        // Unknown memory keeps all.
        let room_bytes = memory_available_bytes().map_or(u64::MAX, |available| available / 4 * 3);
        let all = bytes.iter().sum();
        Ok(bytes.into_iter().map(|bytes| beyond_memory(bytes, all, room_bytes)).collect())
    }

    /// Returns about how many bytes all pages have.
    pub(super) fn bytes(&self) -> Result<u64, Error> {
        let bytes = self.files.iter().map(|(_, path)| {
            let file = open(path)?;
            Ok(match self.is_packed {
                true => packed::bytes_of(&file, self.page.bytes()),
                false => file.metadata().map_or(0, |at| at.len()),
            })
        });
        bytes.sum()
    }
}

fn open(path: &Path) -> Result<File, Error> {
    File::open(path).map_err(|e| Error::io(path, "cannot open", e))
}

fn unknown(what: impl Display) -> Error {
    Error::CannotRecord {
        what: format!("events/kmem: {what}"),
        remedy: "record with `perf kmem record` and use `slablab import`".into(),
    }
}
