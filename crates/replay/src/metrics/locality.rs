//! How close a call site's objects lie to each other: steps between allocations, lines and pages they share.
//!
//! How it works: *Steps*: each allocation is compared with the one before from the same site. A step of exactly the
//! bytes given is "adjacent"; all steps go into a histogram by powers of two. This costs a few instructions an event.
//!
//! *Lines and pages*: a few times in a trace, evenly spaced in events, the live objects are laid out by site and the
//! distinct cache lines and pages counted, by a bit for each line and page of the memory that one site sets, a word
//! at a time, and clears before the next. An object that shares no line counts one line a 64 bytes; dense 32-byte
//! objects come to half a line each, scattered ones to a whole one.

use crate::metrics::powers::Powers;

/// Bytes in a cache line, as on every machine that the trace may come from.
const LINE_SHIFT: u32 = 6;
const PAGE_SHIFT: u32 = 12;
/// Objects beyond this share neither lines nor pages worth counting one by one.
const LARGE_BYTES: u64 = 8 << 10;

/// The steps between consecutive allocations of one site. 2^36 bytes are more than any arena holds.
#[derive(Debug, Clone, Default)]
pub(crate) struct Steps {
    last: u64,
    adjacent: u32,
    steps: Powers<37>,
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

    /// Returns the share of allocations right beside the one before.
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
    objects: u64,
    lines: u64,
    pages: u64,
}

impl Spread {
    /// Returns the lines an object has to itself, on average.
    pub(crate) fn lines_per_object(&self) -> f64 {
        per(self.lines, self.objects)
    }

    /// Returns the pages an object has to itself, on average.
    pub(crate) fn pages_per_object(&self) -> f64 {
        per(self.pages, self.objects)
    }
}

fn per(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// Takes snapshots of where live objects lie.
#[derive(Debug)]
pub(crate) struct Snapshots {
    spreads: Vec<Spread>,
    /// The objects of the snapshot in the making, by site
    by_site: Vec<Vec<Stretch>>,
    lines: Bits,
    pages: Bits,
}

/// Consecutive cache lines, or pages.
#[derive(Debug, Clone, Copy)]
struct Stretch {
    first: u32,
    last: u32,
}

impl Stretch {
    fn map(self, place: impl Fn(u32) -> u32) -> Self {
        Self { first: place(self.first), last: place(self.last) }
    }

    /// Returns the words that have its bits, each with them.
    fn words(self) -> impl Iterator<Item = (usize, u64)> {
        (self.first / 64..=self.last / 64).map(move |word| {
            let from = self.first.max(word * 64) % 64;
            let to = self.last.min(word * 64 + 63) % 64;
            (word as usize, (u64::MAX >> (63 - to)) & (u64::MAX << from))
        })
    }
}

impl Snapshots {
    pub(crate) fn new(sites: usize) -> Self {
        Self {
            spreads: vec![Spread::default(); sites],
            by_site: vec![Vec::new(); sites],
            lines: Bits::default(),
            pages: Bits::default(),
        }
    }

    /// Takes a snapshot of live objects, given as (site, address, bytes).
    pub(crate) fn take(&mut self, objects: impl Iterator<Item = (u32, u64, u64)>) {
        for (site, address, bytes) in objects {
            let spread = &mut self.spreads[site as usize];
            spread.objects += 1;
            if bytes > LARGE_BYTES {
                spread.lines += bytes.div_ceil(1 << LINE_SHIFT);
                spread.pages += bytes.div_ceil(1 << PAGE_SHIFT);
                continue;
            }
            let line = |address: u64| (address >> LINE_SHIFT) as u32;
            let stretch = Stretch { first: line(address), last: line(address + bytes.max(1) - 1) };
            self.by_site[site as usize].push(stretch);
        }
        // Memory begins at the zone that serves first, gigabytes up: counted from there, the bits are few.
        let first = self.by_site.iter().flatten().map(|stretch| stretch.first).min().unwrap_or(0);
        for (stretches, spread) in self.by_site.iter_mut().zip(&mut self.spreads) {
            const PAGE_LINES_SHIFT: u32 = PAGE_SHIFT - LINE_SHIFT;
            let lines = stretches.iter().map(|s| s.map(|line| line - first));
            let page = |line: u32| (line >> PAGE_LINES_SHIFT) - (first >> PAGE_LINES_SHIFT);
            let pages = stretches.iter().map(|s| s.map(page));
            spread.lines += self.lines.count(lines);
            spread.pages += self.pages.count(pages);
            stretches.clear();
        }
    }

    /// Returns what the snapshots showed, by site.
    pub(crate) fn spreads(&self) -> &[Spread] {
        &self.spreads
    }
}

/// A set of small numbers, empty between two uses.
#[derive(Debug, Default)]
struct Bits {
    words: Vec<u64>,
}

impl Bits {
    /// Returns how many numbers the stretches cover.
    fn count(&mut self, stretches: impl Iterator<Item = Stretch> + Clone) -> u64 {
        let mut covered = 0;
        for (word, bits) in stretches.clone().flat_map(Stretch::words) {
            if word >= self.words.len() {
                self.words.resize((word + 1).next_power_of_two(), 0);
            }
            covered += u64::from((bits & !self.words[word]).count_ones());
            self.words[word] |= bits;
        }
        for (word, _) in stretches.flat_map(Stretch::words) {
            self.words[word] = 0;
        }
        covered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dense_objects_share_lines_and_scattered_ones_do_not() {
        let mut snapshots = Snapshots::new(2);
        let dense = (0..128).map(|i| (0, 4096 + i * 32, 32));
        let scattered = (0..128).map(|i| (1, (1 << 20) + i * 4096, 32));
        snapshots.take(dense.chain(scattered));
        let [dense, scattered] = snapshots.spreads() else { panic!("two sites") };
        assert_eq!((dense.lines_per_object(), dense.pages_per_object()), (0.5, 1.0 / 128.0));
        assert_eq!((scattered.lines_per_object(), scattered.pages_per_object()), (1.0, 1.0));
    }

    #[test]
    fn two_sites_in_one_line_count_it_each() {
        let mut snapshots = Snapshots::new(2);
        snapshots.take([(0, 4096, 8), (1, 4104, 8)].into_iter());
        assert!(snapshots.spreads().iter().all(|spread| spread.lines == 1 && spread.pages == 1));
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
