//! Events in a nameless file, where there are more than memory should hold.
//!
//! # How it works
//! Events are stored in blocks, by the column and compressed; each block can be read alone.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::{Error, Kind, RawEvent, RawPage};

/// zstd's fastest level: what is written here is read once and gone.
const ZSTD_LEVEL: i32 = 1;

/// A growing file of blocks.
#[derive(Debug)]
pub(crate) struct Spool {
    file: File,
    bytes: u64,
    columns: Vec<u8>,
}

/// Where a block is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Block {
    offset: u64,
    bytes: u32,
    events: u32,
}

impl Spool {
    /// Makes the file in `folder`.
    pub(crate) fn create(folder: &Path) -> Result<Spool, Error> {
        let file = tempfile::tempfile_in(folder)
            .map_err(|e| Error::io(folder, "cannot make a temporary file", e))?;
        Ok(Spool { file, bytes: 0, columns: Vec::new() })
    }

    /// Appends a block. `path` is what errors name, here and in [`Spool::read`].
    pub(crate) fn write(&mut self, events: &[RawEvent], path: &Path) -> Result<Block, Error> {
        self.columns.clear();
        macro_rules! columns {
            ($($field:ident)*) => {$(
                for event in events {
                    self.columns.extend_from_slice(&event.$field.to_le_bytes());
                }
            )*};
        }
        columns!(time_ns cpu pid ptr site cache bytes_req bytes_alloc gfp node stack);
        self.columns.extend(events.iter().map(|event| event.kind as u8));
        // Of no event of pages the kind is one that there is not.
        let pages = events.iter().map(|event| event.page.map_or([u8::MAX; 6], RawPage::to_bytes));
        self.columns.extend(pages.flatten());
        let written = zstd::bulk::compress(&self.columns, ZSTD_LEVEL)
            .and_then(|block| self.file.write_all(&block).map(|()| block.len()));
        let bytes = written.map_err(|e| Error::io(path, "cannot write a temporary file for", e))?;
        let block = Block { offset: self.bytes, bytes: bytes as u32, events: events.len() as u32 };
        self.bytes += bytes as u64;
        Ok(block)
    }

    /// Replaces `to` by the events of a block.
    pub(crate) fn read(
        &self,
        block: Block,
        to: &mut Vec<RawEvent>,
        path: &Path,
    ) -> Result<(), Error> {
        let events = block.events as usize;
        let mut stored = vec![0; block.bytes as usize];
        let read = self.file.read_exact_at(&mut stored, block.offset);
        let columns =
            read.and_then(|()| zstd::bulk::decompress(&stored, events * size_of::<RawEvent>()));
        let columns =
            columns.map_err(|e| Error::io(path, "cannot read a temporary file for", e))?;
        to.clear();
        to.resize(events, RawEvent::EMPTY);
        let mut rest = columns.as_slice();
        macro_rules! columns {
            ($($field:ident: $type:ty,)*) => {$(
                let (column, behind) = rest.split_at(events * size_of::<$type>());
                rest = behind;
                for (event, value) in to.iter_mut().zip(column.as_chunks().0) {
                    event.$field = <$type>::from_le_bytes(*value);
                }
            )*};
        }
        columns!(
            time_ns: u64, cpu: u32, pid: u32, ptr: u64, site: u32, cache: u32, bytes_req: u64,
            bytes_alloc: u64, gfp: u32, node: i32, stack: u32,
        );
        let (kinds, pages) = rest.split_at(events);
        for (event, &kind) in to.iter_mut().zip(kinds) {
            event.kind = Kind::ALL[usize::from(kind)];
        }
        for (event, page) in to.iter_mut().zip(pages.as_chunks().0) {
            event.page = RawPage::from_bytes(*page);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NONE, PageKind};

    #[test]
    fn blocks_are_read_as_they_were_written() {
        let mut spool = Spool::create(&std::env::temp_dir()).unwrap();
        let event = |number: u64| RawEvent {
            time_ns: number * 1000,
            cpu: number as u32 % 3,
            pid: number as u32,
            kind: Kind::ALL[number as usize % 5],
            ptr: number << 50,
            site: number as u32 + 1,
            cache: NONE,
            bytes_req: number,
            bytes_alloc: u64::MAX - number,
            gfp: 0xcc0,
            node: -(number as i32),
            stack: number as u32 + 2,
            page: number
                .is_multiple_of(3)
                .then(|| RawPage::new(PageKind::ALL[number as usize % PageKind::ALL.len()])),
        };
        let events: Vec<RawEvent> = (0..1000).map(event).collect();
        let path = Path::new("test");
        let blocks = [&events[..600], &events[600..], &[]].map(|e| spool.write(e, path).unwrap());
        let mut read = Vec::new();
        for (block, expected) in blocks.iter().zip([&events[..600], &events[600..], &[]]).rev() {
            spool.read(*block, &mut read, path).unwrap();
            assert_eq!(read, expected);
        }
    }
}
