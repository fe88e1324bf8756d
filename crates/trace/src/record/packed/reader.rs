//! Reads packed pages.
//!
//! # How it works
//! Blocks follow each other. A block is damaged where the recorder was killed while it wrote it, or the disk has lost a
//! part: then its sum differs from that in its head, and the next block is looked for, byte by byte. What was passed over
//! is told ([`Damage`]) with the events that were in it, as far as the head says. These are all unless more bytes were passed
//! over than the block had: then the heads of others went with it.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::ops::Range;
use std::os::unix::fs::FileExt;

use super::Growing;
use super::head::{HEAD_BYTES, Head, MAGIC, MAGIC_UNCOUNTED};
use super::words::{Left, Unpacking};
use crate::source::repeats::{Damage, NextPage, NextRecord, PageSource};

/// Bytes that are read at once.
const READ_BYTES: usize = 1 << 18;

/// The heads of a file that tell how many bytes its pages have.
const HEADS_MAX: usize = 256;

/// What a block turned out to be.
enum Begun {
    Whole,
    /// Not whole; its head, where that is
    Damaged(Option<Head>),
}

/// A part whose head does not tell what was in it.
const UNCOUNTED: Damage = Damage { events: 0, is_counted: false };

/// The pages in what `from` gives.
#[derive(Debug)]
pub(crate) struct Reader<R> {
    from: R,
    page_bytes: usize,
    unpacking: Unpacking,
    /// What was read, and how much of it was used
    read: Vec<u8>,
    used: usize,
    /// Pages of the block that were not given yet, and where in `read` they are told
    pages: u32,
    says: Range<usize>,
    words: Range<usize>,
}

impl<R: Read> Reader<R> {
    /// Pages have `page_bytes`; the first record begins behind `head_bytes`.
    pub(crate) fn new(from: R, page_bytes: usize, head_bytes: usize) -> Reader<R> {
        let (unpacking, read) = (Unpacking::new(head_bytes), Vec::new());
        Reader { from, page_bytes, unpacking, read, used: 0, pages: 0, says: 0..0, words: 0..0 }
    }

    /// Reads until `bytes` are there that were not used, or the end; returns whether they are.
    fn need(&mut self, bytes: usize) -> std::io::Result<bool> {
        if self.read.len() - self.used >= bytes {
            return Ok(true);
        }
        self.read.drain(..self.used);
        self.used = 0;
        let mut filled = self.read.len();
        self.read.resize(bytes.max(READ_BYTES), 0);
        while filled < bytes {
            match self.from.read(&mut self.read[filled..]) {
                Ok(0) => break,
                Ok(more) => filled += more,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    self.read.truncate(filled);
                    return Err(error);
                }
            }
        }
        self.read.truncate(filled);
        Ok(filled >= bytes)
    }

    /// Begins the block that stands here.
    fn begin(&mut self) -> std::io::Result<Begun> {
        // That of an older recorder is shorter.
        self.need(HEAD_BYTES)?;
        let Some((head, sum)) = Head::parse(&self.read[self.used..], self.page_bytes) else {
            return Ok(Begun::Damaged(None));
        };
        if !self.need(head.bytes() + head.behind())? {
            return Ok(Begun::Damaged(Some(head)));
        }
        let behind = self.used + head.bytes();
        let words = behind + head.says_bytes as usize;
        let end = behind + head.behind();
        if !cfg!(fuzzing) && head.sum(&self.read[behind..end]) != sum {
            return Ok(Begun::Damaged(Some(head)));
        }
        (self.pages, self.says, self.words, self.used) =
            (head.pages, behind..words, words..end, end);
        self.unpacking.clear();
        Ok(Begun::Whole)
    }

    /// Fills the next page of the block, or its head; `None` where it makes no sense.
    fn page(&mut self, page: &mut [u8]) -> Option<NextPage> {
        self.pages -= 1;
        let (says, words) = (self.read.get(self.says.clone())?, self.read.get(self.words.clone())?);
        let mut left = Left { says, words: words.as_chunks().0 };
        let is_head = self.unpacking.page(&mut left, page)?;
        self.says.start = self.says.end - left.says.len();
        self.words.start = self.words.end - left.words.len() * 4;
        Some(if is_head { NextPage::Head } else { NextPage::Whole(page.len()) })
    }

    /// Passes over what makes no sense, up to where a block may begin; `head` is that of a block that is not whole.
    fn pass_over(&mut self, head: Option<Head>) -> std::io::Result<Damage> {
        let mut passed = 0;
        while self.need(1)? {
            self.used += 1;
            self.need(MAGIC.len())?;
            let rest = &self.read[self.used..];
            let is_magic = |at: &[u8]| at == MAGIC || at == MAGIC_UNCOUNTED;
            let block = rest.windows(MAGIC.len()).position(is_magic);
            // Its first bytes may be there.
            let more = block.unwrap_or(rest.len().saturating_sub(MAGIC.len()));
            self.used += more;
            passed += 1 + more;
            if block.is_some() {
                break;
            }
        }
        let told = head.and_then(|head| Some((head.bytes() + head.behind(), head.events?)));
        Ok(told.map_or(UNCOUNTED, |(bytes, events)| Damage {
            events: events.into(),
            is_counted: passed <= bytes,
        }))
    }
}

impl Reader<Growing> {
    /// Returns the time before which all events were given, where all pages were and more may come.
    pub(crate) fn waits_ns(&self) -> Option<u64> {
        let is_at_end = self.pages == 0 && self.used == self.read.len();
        self.from.waits_ns().filter(|_| is_at_end)
    }
}

impl<R: Read> PageSource for Reader<R> {
    fn next_page(&mut self, page: &mut [u8]) -> std::io::Result<NextPage> {
        if self.pages == 0
            && let Begun::Damaged(head) = self.begin()?
        {
            return Ok(match self.need(1)? {
                true => NextPage::Damaged(self.pass_over(head)?),
                false => NextPage::End,
            });
        }
        Ok(self.page(page).unwrap_or_else(|| {
            self.pages = 0;
            NextPage::Damaged(UNCOUNTED)
        }))
    }

    #[inline]
    fn next_record(&mut self) -> NextRecord<'_> {
        let (says, words) = (&self.read[self.says.clone()], &self.read[self.words.clone()]);
        let mut left = Left { says, words: words.as_chunks().0 };
        let record = self.unpacking.record(&mut left);
        self.says.start = self.says.end - left.says.len();
        self.words.start = self.words.end - left.words.len() * 4;
        record
    }
}

/// Returns how many bytes the pages of a file have: as the first heads say, and as many in the rest if it is like them. All
/// heads would be read from all over the disk.
pub(crate) fn bytes_of(file: &File, page_bytes: usize) -> u64 {
    let (mut at, mut bytes) = (0, 0);
    let mut head = [0; HEAD_BYTES];
    for _ in 0..HEADS_MAX {
        let read = file.read_at(&mut head, at).unwrap_or(0);
        let Some((head, _)) = Head::parse(&head[..read], page_bytes) else { return bytes };
        at += (head.bytes() + head.behind()) as u64;
        bytes += u64::from(head.pages) * u64::from(head.page_bytes);
    }
    let file_bytes = file.metadata().map_or(at, |file| file.len().max(at));
    (u128::from(bytes) * u128::from(file_bytes) / u128::from(at)) as u64
}
