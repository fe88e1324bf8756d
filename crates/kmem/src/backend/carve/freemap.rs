//! Which granules of a page are free: 512 bits, set where free.
//!
//! # How it works
//! A search looks at the words in turn and finds in each all places from which enough bits are set, by shifts and
//! ands; so it takes the first fit, however long the free runs before it. Whoever asks knows the page's longest
//! run, and does not ask a page in which a block cannot fit.

use super::GRANULES;
use crate::raw::local::LocalU64;
use crate::raw::zeroed::zeroed_struct;

/// Granules in a word.
const WORD: u32 = 64;
const WORDS: usize = (GRANULES / WORD) as usize;

zeroed_struct! {
    /// The free granules of a page.
    #[derive(Debug, Default)]
    pub(crate) struct FreeMap {
        words: [LocalU64; WORDS],
    }
}

impl FreeMap {
    /// Makes the page all free.
    pub(crate) fn open(&self) {
        self.words.iter().for_each(|word| word.set(!0));
    }

    /// Marks `count` granules as used, from the lowest place `p` on where they are free and
    /// `(p + offset) % align == 0`; returns `p` and the length of the free run that it was in.
    #[inline]
    pub(crate) fn take(&self, count: u32, align: u32, offset: u32) -> Option<(u32, u32)> {
        let at = self.first(count, align, offset)?;
        let run = self.free_before(at) + self.free_from(at);
        each_word(at, count, |word, mask| self.words[word].set(self.words[word].get() & !mask));
        Some((at, run))
    }

    fn first(&self, count: u32, align: u32, offset: u32) -> Option<u32> {
        // Places in a word that are aligned; of a larger alignment than a word each place is asked.
        let step = align.min(WORD);
        let aligned = EVERY[step.trailing_zeros() as usize] << ((step - offset % step) % step);
        for word in 0..WORDS {
            let bits = self.words[word].get();
            if bits == 0 {
                continue;
            }
            let next = self.words.get(word + 1).map_or(0, LocalU64::get);
            let mut places = starts(bits, next, count.min(WORD)) & aligned;
            while places != 0 {
                let at = word as u32 * WORD + places.trailing_zeros();
                let long = count <= WORD || self.free_from(at) >= count;
                if long && (at + offset) & (align - 1) == 0 {
                    return Some(at);
                }
                places &= places - 1;
            }
        }
        None
    }

    /// Marks `count` granules from `at` on as free; returns the length of the run they are in now.
    #[inline]
    pub(crate) fn put(&self, at: u32, count: u32) -> u32 {
        each_word(at, count, |word, mask| self.words[word].set(self.words[word].get() | mask));
        self.free_before(at) + count + self.free_from(at + count)
    }

    /// Returns the length of the longest run.
    pub(crate) fn longest(&self) -> u32 {
        // `open`: free granules at the end of the words so far.
        let (mut longest, mut open) = (0, 0);
        for bits in self.words.iter().map(LocalU64::get) {
            if bits == !0 {
                open += WORD;
                continue;
            }
            longest = longest.max(open + bits.trailing_ones()).max(longest_ones(bits));
            open = bits.leading_ones();
        }
        longest.max(open)
    }

    /// Returns the number of free granules.
    pub(crate) fn count(&self) -> u32 {
        self.words.iter().map(|word| word.get().count_ones()).sum()
    }

    /// Returns how many granules from `from` on are free.
    #[inline]
    fn free_from(&self, from: u32) -> u32 {
        let mut end = from;
        while let Some(word) = self.words.get((end / WORD) as usize) {
            let ones = (word.get() >> (end % WORD)).trailing_ones();
            end += ones;
            if ones == 0 || !end.is_multiple_of(WORD) {
                break;
            }
        }
        end - from
    }

    /// Returns how many granules right before `at` are free.
    #[inline]
    fn free_before(&self, at: u32) -> u32 {
        let mut start = at;
        while start > 0 {
            let last = start - 1;
            let word = self.words[(last / WORD) as usize].get();
            let ones = (word << (WORD - 1 - last % WORD)).leading_ones();
            start -= ones;
            if ones == 0 || !start.is_multiple_of(WORD) {
                break;
            }
        }
        at - start
    }
}

/// Bits at every 1st, 2nd, 4th, ... 64th place.
const EVERY: [u64; 7] = [
    !0,
    0x5555_5555_5555_5555,
    0x1111_1111_1111_1111,
    0x0101_0101_0101_0101,
    0x0001_0001_0001_0001,
    0x0000_0001_0000_0001,
    1,
];

/// Returns the places in `bits` from which `count` bits (64 at most) are set, some of them perhaps in `next`.
#[inline]
fn starts(bits: u64, next: u64, count: u32) -> u64 {
    // After each step a bit means: so many from here on are set.
    let (mut run, mut above, mut known) = (bits, next, 1);
    while known < count {
        let more = known.min(count - known);
        run &= run >> more | above << 1 << (WORD - 1 - more);
        above &= above >> more;
        known += more;
    }
    run
}

/// Returns the length of the longest run of ones in a word.
#[inline]
fn longest_ones(mut bits: u64) -> u32 {
    let mut length = 0;
    while bits != 0 {
        bits &= bits >> 1;
        length += 1;
    }
    length
}

/// Visits the words of `count` granules from `at` on, with the bits that are theirs.
#[inline]
fn each_word(mut at: u32, count: u32, mut visit: impl FnMut(usize, u64)) {
    let end = at + count;
    while at < end {
        let part = (WORD - at % WORD).min(end - at);
        visit((at / WORD) as usize, !0 >> (WORD - part) << (at % WORD));
        at += part;
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// The same, the slow and plain way.
    struct Plain([bool; GRANULES as usize]);

    impl Plain {
        fn first_fit(&self, count: u32, align: u32, offset: u32) -> Option<u32> {
            (0..=GRANULES - count).find(|&place| {
                (place + offset).is_multiple_of(align)
                    && (place..place + count).all(|g| self.0[g as usize])
            })
        }

        fn set(&mut self, at: u32, count: u32, free: bool) {
            self.0[at as usize..(at + count) as usize].fill(free);
        }

        fn run_around(&self, at: u32) -> u32 {
            let left = self.0[..at as usize].iter().rev().take_while(|free| **free).count();
            let right = self.0[at as usize..].iter().take_while(|free| **free).count();
            (left + right) as u32
        }

        fn longest(&self) -> u32 {
            self.0.split(|free| !free).map(|run| run.len() as u32).max().unwrap_or(0)
        }
    }

    #[test]
    fn agrees_with_the_plain_way() {
        let mut random = crate::tests::conformance::Random(42);
        let map = FreeMap::default();
        map.open();
        let mut plain = Plain([true; GRANULES as usize]);
        let mut blocks = alloc::vec::Vec::new();
        for _ in 0..40_000 {
            if random.below(100) < 52 || blocks.is_empty() {
                let shift = random.below(9);
                let count = 1 + random.below(1 << shift) as u32;
                let (align, offset) = (1 << random.below(9), random.below(2) as u32);
                let took = map.take(count, align, offset);
                assert_eq!(took.map(|t| t.0), plain.first_fit(count, align, offset));
                let Some((place, run)) = took else { continue };
                assert_eq!(run, plain.run_around(place));
                plain.set(place, count, false);
                blocks.push((place, count));
            } else {
                let (at, count) = blocks.swap_remove(random.below(blocks.len() as u64) as usize);
                let run = map.put(at, count);
                plain.set(at, count, true);
                assert_eq!(run, plain.run_around(at));
            }
            assert_eq!(map.longest(), plain.longest());
            assert_eq!(map.count(), plain.0.iter().filter(|free| **free).count() as u32);
        }
    }
}
