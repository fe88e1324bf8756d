//! Which pages of a zone are free, and which can be moved, as the kernel flags them.
//!
//! # How it works
//! `/proc/kpageflags` has eight bytes of flags for each page, by its number; only root may read them. They become lengths of
//! runs, and counts by page block, while they are read.
//!
//! Linux counterpart: `include/uapi/linux/kernel-page-flags.h`, `fs/proc/page.c` @ 6.1, 6.12 and 7.3.

/// `1 << KPF_LRU`: reclaim knows the page, which can be moved then.
const LRU: u64 = 1 << 5;
/// `1 << KPF_BUDDY`: the page allocator has it free. The lists of CPUs have pages without it.
const BUDDY: u64 = 1 << 10;
/// More runs are not kept: so fragmented a machine is not described.
const RUNS_MAX: usize = 1 << 20;

/// What the flags of a zone's pages say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct PageMap {
    /// Lengths of runs of pages, from the zone's first page on: in use, free, in use, and so on
    pub(crate) runs: Vec<u64>,
    /// Of each page block the pages that can be moved; a page block begins at a multiple of its size.
    pub(crate) movable: Vec<u32>,
    pub(crate) free_pages: u64,
    is_free: bool,
    run: u64,
    at: u64,
    block_order: u8,
    first_block: u64,
}

impl PageMap {
    /// Begins the map of a zone at its first page.
    pub(crate) fn new(start: u64, block_order: u8) -> PageMap {
        PageMap { at: start, block_order, first_block: start >> block_order, ..PageMap::default() }
    }

    /// Adds the flags of the next pages.
    pub(crate) fn add(&mut self, flags: &[u8]) {
        for flags in flags.chunks_exact(8) {
            let flags = u64::from_ne_bytes(flags.try_into().expect("chunks of eight bytes"));
            self.add_page(flags);
        }
    }

    fn add_page(&mut self, flags: u64) {
        let block = ((self.at >> self.block_order) - self.first_block) as usize;
        if block >= self.movable.len() {
            self.movable.resize(block + 1, 0);
        }
        self.movable[block] += u32::from(flags & LRU != 0);
        let is_free = flags & BUDDY != 0;
        if is_free != self.is_free {
            self.runs.push(std::mem::take(&mut self.run));
            self.is_free = is_free;
        }
        self.free_pages += u64::from(is_free);
        self.run += 1;
        self.at += 1;
    }

    /// Returns runs and counts; `None` where the flags do not say which pages are free: the kernel has told that `free`
    /// are, and counts what moves meanwhile a little differently.
    pub(crate) fn end(mut self, free: u64) -> Option<(Vec<u64>, Vec<u32>)> {
        if self.is_free {
            self.runs.push(self.run);
        }
        let is_told = self.free_pages >= free / 2 && self.runs.len() <= RUNS_MAX;
        is_told.then_some((self.runs, self.movable))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(start: u64, pages: &[u64]) -> PageMap {
        let mut map = PageMap::new(start, 2);
        let bytes: Vec<u8> = pages.iter().flat_map(|flags| flags.to_ne_bytes()).collect();
        map.add(&bytes);
        map
    }

    #[test]
    fn runs_of_free_pages_alternate_with_those_in_use() {
        let map = map(6, &[BUDDY, BUDDY, LRU, 0, BUDDY, LRU, LRU]);
        assert_eq!(map.free_pages, 3);
        assert_eq!(map.end(3), Some((vec![0, 2, 2, 1], vec![0, 2, 1])));
    }

    #[test]
    fn flags_that_hardly_tell_of_free_pages_are_no_map() {
        assert_eq!(map(0, &[0, BUDDY, 0]).end(4), None);
        assert!(map(0, &[0, BUDDY, 0]).end(2).is_some());
        assert_eq!(PageMap::new(0, 9).end(0), Some((vec![], vec![])));
    }
}
