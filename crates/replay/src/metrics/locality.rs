//! How close a call site's objects lie to each other: steps between allocations, and lines and pages they
//! share.
//!
//! # How it works
//! *Steps*: each allocation is compared with the previous one from the same site. A step of exactly the
//! bytes given is "adjacent"; all steps go into a histogram by powers of two. This costs a few instructions for each
//! event.
//!
//! *Lines and pages*: a few times in a trace, evenly spaced in events, the live objects are laid out by site. The
//! distinct cache lines and pages are counted with a bit for each line, which one site sets and clears before the
//! next. A word of 64 bits is a page of 64 lines, so that a word's first bit counts the page. An object that shares
//! no line counts one line for each 64 bytes; dense 32-byte objects come to half a line each, scattered ones to a
//! whole one.

use crate::metrics::histogram::Histogram;

/// Bytes in a cache line, as on every machine that the trace may come from.
const LINE_SHIFT: u32 = 6;
const PAGE_SHIFT: u32 = 12;
/// A page has as many lines as a word has bits.
const LINES_PER_PAGE: u32 = 1 << (PAGE_SHIFT - LINE_SHIFT);
const _: () = assert!(LINES_PER_PAGE == u64::BITS);
/// Pages of a chunk of the table: 16 MiB of addresses are 32 KiB.
const CHUNK_PAGES: usize = 1 << 12;
/// Larger objects share neither lines nor pages that are worth counting.
const LARGE_BYTES: u64 = 8 << 10;

/// The steps between consecutive allocations of one site. 2^36 bytes are more than any arena holds.
#[derive(Debug, Clone, Default)]
pub(crate) struct Steps {
    last: u64,
    adjacent: u32,
    steps: Histogram<37, 1>,
}

impl Steps {
    /// Counts an allocation of `bytes` at `address`, which is not 0.
    #[inline]
    pub(crate) fn add(&mut self, address: u64, bytes: u64) {
        let last = std::mem::replace(&mut self.last, address);
        if last != 0 {
            let step = address.abs_diff(last);
            self.adjacent = self.adjacent.saturating_add(u32::from(step == bytes));
            self.steps.add(step);
        }
    }

    /// Returns the share of allocations right beside the previous one.
    pub(crate) fn adjacent_share(&self) -> f64 {
        per(u64::from(self.adjacent), self.steps.total())
    }

    /// Returns the upper edge of the median step's bucket.
    pub(crate) fn distance_bytes_p50(&self) -> u64 {
        self.steps.quantile(self.steps.total().div_ceil(2))
    }
}

/// Distinct lines and pages of one site's live objects, summed over the snapshots.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Spread {
    sum: Walk,
    /// The snapshot with most objects
    most: Walk,
    /// The snapshot in the making
    now: Walk,
}

/// The memory that a walk over all live objects of a site touches at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Walk {
    /// Objects
    pub objects: u64,
    /// Cache lines in which they lie
    pub lines: u64,
    /// Pages
    pub pages: u64,
}

impl Spread {
    /// Returns the lines an object has to itself, on average.
    pub(crate) fn lines_per_object(&self) -> f64 {
        per(self.sum.lines, self.sum.objects)
    }

    /// Returns the pages an object has to itself, on average.
    pub(crate) fn pages_per_object(&self) -> f64 {
        per(self.sum.pages, self.sum.objects)
    }

    /// Returns what a walk touched when the site had most objects.
    pub(crate) fn walk(&self) -> Walk {
        self.most
    }

    /// Ends a snapshot.
    fn close(&mut self) {
        let now = std::mem::take(&mut self.now);
        self.sum.objects += now.objects;
        self.sum.lines += now.lines;
        self.sum.pages += now.pages;
        if now.objects > self.most.objects {
            self.most = now;
        }
    }
}

fn per(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// Takes snapshots of where live objects lie.
#[derive(Debug, Default)]
pub(crate) struct Snapshots {
    spreads: Vec<Spread>,
    /// The objects of the snapshot in the making, by site
    by_site: Vec<Vec<Lines>>,
    /// A bit for each line of a page, a word for each page, in chunks; all 0 between two sites
    pages: Vec<Vec<u64>>,
}

/// Consecutive cache lines, counted from address 0.
#[derive(Debug, Clone, Copy)]
struct Lines {
    first: u32,
    last: u32,
}

impl Lines {
    /// Returns the lines in which an object lies.
    #[inline]
    fn of(address: u64, bytes: u64) -> Self {
        let line = |address: u64| (address >> LINE_SHIFT) as u32;
        Self { first: line(address), last: line(address + bytes.max(1) - 1) }
    }

    /// Calls `visit` with each page that has one of the lines, and the bits of those lines in it.
    #[inline]
    fn pages(self, mut visit: impl FnMut(usize, u64)) {
        let page = |line: u32| (line / LINES_PER_PAGE) as usize;
        let from = u64::MAX << (self.first % LINES_PER_PAGE);
        let to = u64::MAX >> (LINES_PER_PAGE - 1 - self.last % LINES_PER_PAGE);
        let (first, last) = (page(self.first), page(self.last));
        if first == last {
            return visit(first, from & to);
        }
        visit(first, from);
        (first + 1..last).for_each(|page| visit(page, u64::MAX));
        visit(last, to);
    }
}

impl Snapshots {
    /// Takes a snapshot of live objects, given as (site, address, bytes).
    pub(crate) fn take(&mut self, objects: impl Iterator<Item = (u32, u64, u64)>) {
        let mut highest = 0;
        for (site, address, bytes) in objects {
            if site as usize >= self.spreads.len() {
                self.spreads.resize(site as usize + 1, Spread::default());
                self.by_site.resize(site as usize + 1, Vec::new());
            }
            let spread = &mut self.spreads[site as usize].now;
            spread.objects += 1;
            if bytes > LARGE_BYTES {
                spread.lines += bytes.div_ceil(1 << LINE_SHIFT);
                spread.pages += bytes.div_ceil(1 << PAGE_SHIFT);
                continue;
            }
            let lines = Lines::of(address, bytes);
            highest = highest.max(lines.last);
            self.by_site[site as usize].push(lines);
        }
        // Nodes lie gigabytes apart: chunks without objects take no memory.
        let chunks = highest as usize / LINES_PER_PAGE as usize / CHUNK_PAGES + 1;
        if chunks > self.pages.len() {
            self.pages.resize(chunks, Vec::new());
        }
        for (objects, spread) in self.by_site.iter_mut().zip(&mut self.spreads) {
            for lines in objects.iter() {
                lines.pages(|page, bits| {
                    let chunk = &mut self.pages[page / CHUNK_PAGES];
                    if chunk.is_empty() {
                        chunk.resize(CHUNK_PAGES, 0);
                    }
                    let seen = &mut chunk[page % CHUNK_PAGES];
                    spread.now.pages += u64::from(*seen == 0);
                    spread.now.lines += u64::from((bits & !*seen).count_ones());
                    *seen |= bits;
                });
            }
            for lines in objects.drain(..) {
                lines.pages(|page, _| self.pages[page / CHUNK_PAGES][page % CHUNK_PAGES] = 0);
            }
            spread.close();
        }
    }

    /// Returns the spread of a site's objects in the snapshots.
    pub(crate) fn spread(&self, site: usize) -> Spread {
        self.spreads.get(site).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dense_objects_share_lines_and_scattered_ones_do_not() {
        let mut snapshots = Snapshots::default();
        let dense = (0..128).map(|i| (0, 4096 + i * 32, 32));
        let scattered = (0..128).map(|i| (1, (1 << 20) + i * 4096, 32));
        snapshots.take(dense.chain(scattered));
        let [dense, scattered] = [0, 1].map(|site| snapshots.spread(site));
        assert_eq!((dense.lines_per_object(), dense.pages_per_object()), (0.5, 1.0 / 128.0));
        assert_eq!((scattered.lines_per_object(), scattered.pages_per_object()), (1.0, 1.0));
    }

    #[test]
    fn two_sites_in_one_line_count_it_each() {
        let mut snapshots = Snapshots::default();
        snapshots.take([(0, 4096, 8), (1, 4104, 8)].into_iter());
        assert!(
            [0, 1]
                .map(|site| snapshots.spread(site))
                .iter()
                .all(|spread| spread.walk().lines == 1 && spread.walk().pages == 1)
        );
    }

    /// The mean of the snapshots times the most objects used to give more pages than there were.
    #[test]
    fn a_walk_is_that_of_the_snapshot_with_most_objects() {
        let mut snapshots = Snapshots::default();
        snapshots.take([(0, 4096, 32), (0, 8192, 32)].into_iter());
        snapshots.take((0..64).map(|i| (0, 4096 + i * 32, 32)));
        snapshots.take([(0, 4096, 32)].into_iter());
        assert_eq!(snapshots.spread(0).walk(), Walk { objects: 64, lines: 32, pages: 1 });
    }

    #[test]
    fn a_step_of_the_objects_size_is_adjacent_either_way() {
        let mut steps = Steps::default();
        for address in [4096, 4128, 4096, 8192] {
            steps.add(address, 32);
        }
        assert_eq!(steps.adjacent_share(), 2.0 / 3.0);
        assert_eq!(steps.distance_bytes_p50(), 63);
    }
}
