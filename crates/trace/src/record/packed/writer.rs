//! Writes packed pages.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::sync::Arc;

use super::head::Head;
use super::words::Packed;
use super::{Growth, PAGES_MAX};
use crate::record::reserve::Reserve;

/// The file of a CPU's pages while it grows.
#[derive(Debug)]
pub(crate) struct Writer {
    file: File,
    page_bytes: usize,
    packed: Packed,
    block: Vec<u8>,
    /// Bytes of the file that are of whole blocks
    whole_bytes: u64,
    growth: Arc<Growth>,
    reserve: Arc<Reserve>,
}

impl Writer {
    /// Appends to a file; `reserve` keeps room for the trace of it.
    pub(crate) fn new(
        mut file: File,
        page_bytes: usize,
        reserve: Arc<Reserve>,
    ) -> std::io::Result<Writer> {
        let whole_bytes = file.seek(SeekFrom::End(0))?;
        let (packed, block, growth) = (Packed::new(), Vec::new(), Arc::<Growth>::default());
        growth.reach(whole_bytes);
        Ok(Writer { file, page_bytes, packed, block, whole_bytes, growth, reserve })
    }

    /// Returns how far the file has come, which who reads it meanwhile is told.
    pub(crate) fn growth(&self) -> Arc<Growth> {
        Arc::clone(&self.growth)
    }

    /// Appends whole pages. Where the file takes only a part of a block, that part is cut off.
    pub(crate) fn write(&mut self, pages: &[u8]) -> std::io::Result<()> {
        for pages in pages.chunks(self.page_bytes * PAGES_MAX) {
            self.pack(pages);
            if let Err(error) = self.file.write_all(&self.block) {
                // The reader passes over a part that stays.
                let _ = self.file.set_len(self.whole_bytes);
                let _ = self.file.seek(SeekFrom::End(0));
                return Err(error);
            }
            self.whole_bytes += self.block.len() as u64;
            self.growth.reach(self.whole_bytes);
            self.reserve.grow(self.block.len() as u64)?;
        }
        Ok(())
    }

    /// Makes the block of some pages.
    fn pack(&mut self, pages: &[u8]) {
        self.packed.clear();
        let each = pages.chunks_exact(self.page_bytes);
        let count = each.len() as u32;
        each.for_each(|page| self.packed.add(page));
        let head = Head {
            pages: count,
            page_bytes: self.page_bytes as u32,
            says_bytes: self.packed.says.len() as u32,
            words_bytes: self.packed.words.len() as u32 * 4,
            events: Some(self.packed.events),
        };
        self.block.clear();
        head.write(&self.packed.says, self.packed.words.as_flattened(), &mut self.block);
    }
}
