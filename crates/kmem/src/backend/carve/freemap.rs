//! Which granules of a page are free: 512 bits, each set where its granule is free.

use super::GRANULES;
use crate::raw::local::LocalU64;
use crate::raw::zeroed::zeroed_struct;

/// Granules in a word.
const WORD: u32 = 64;

zeroed_struct! {
    /// The free granules of a page.
    #[derive(Debug, Default)]
    pub(super) struct FreeMap {
        words: [LocalU64; (GRANULES / WORD) as usize],
    }
}

impl FreeMap {
    /// Makes the page all free.
    pub(super) fn open(&self) {
        self.words.iter().for_each(|word| word.set(!0));
    }

    /// Marks `count` granules as used, from the lowest place `p` on where they are free and
    /// `(p + offset) % align == 0`; returns `p`.
    pub(super) fn take(&self, count: u32, align: u32, offset: u32) -> Option<u32> {
        let fit = |(start, end): (u32, u32)| {
            let at = (start + offset).next_multiple_of(align) - offset;
            (at + count <= end).then_some(at)
        };
        let at = self.runs().find_map(fit)?;
        self.each_word(at, count, |word, mask| word.set(word.get() & !mask));
        Some(at)
    }

    /// Marks `count` granules from `at` on as free; returns the length of the run that they are in now.
    pub(super) fn put(&self, at: u32, count: u32) -> u32 {
        self.each_word(at, count, |word, mask| word.set(word.get() | mask));
        self.next(at + count, !0).unwrap_or(GRANULES) - self.run_start(at)
    }

    /// Returns where the run that ends before `at` starts; `at` if the granule before is used.
    #[inline]
    fn run_start(&self, mut at: u32) -> u32 {
        while at > 0 {
            let below = (at - 1) % WORD + 1;
            let free =
                (self.words[((at - 1) / WORD) as usize].get() << (WORD - below)).leading_ones();
            at -= free.min(below);
            if free < below {
                break;
            }
        }
        at
    }

    /// Returns the length of the longest run.
    pub(super) fn longest(&self) -> u32 {
        self.runs().map(|(start, end)| end - start).max().unwrap_or(0)
    }

    /// Returns the number of free granules.
    pub(super) fn count(&self) -> u32 {
        self.words.iter().map(|word| word.get().count_ones()).sum()
    }

    /// Returns start and end of each free run, by rising place.
    #[inline]
    fn runs(&self) -> impl Iterator<Item = (u32, u32)> {
        let mut at = 0;
        core::iter::from_fn(move || {
            let start = self.next(at, 0)?;
            at = self.next(start, !0).unwrap_or(GRANULES);
            Some((start, at))
        })
    }

    /// Returns the first granule from `from` on whose bit, xored with that of `flip`, is set.
    #[inline]
    fn next(&self, from: u32, flip: u64) -> Option<u32> {
        let (mut word, mut above) = (from / WORD, !0 << (from % WORD));
        loop {
            let bits = (self.words.get(word as usize)?.get() ^ flip) & above;
            if bits != 0 {
                return Some(word * WORD + bits.trailing_zeros());
            }
            (word, above) = (word + 1, !0);
        }
    }

    /// Visits the words that hold `count` granules from `at` on, with the bits of those granules.
    #[inline]
    fn each_word(&self, mut at: u32, count: u32, visit: impl Fn(&LocalU64, u64)) {
        let end = at + count;
        while at < end {
            let part = (WORD - at % WORD).min(end - at);
            visit(&self.words[(at / WORD) as usize], !0 >> (WORD - part) << (at % WORD));
            at += part;
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Does the same in the slow and plain way.
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

        fn run_at(&self, at: usize) -> u32 {
            let before = self.0[..at].iter().rev().take_while(|free| **free).count();
            (before + self.0[at..].iter().take_while(|free| **free).count()) as u32
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
                let place = map.take(count, align, offset);
                assert_eq!(place, plain.first_fit(count, align, offset));
                let Some(place) = place else { continue };
                plain.set(place, count, false);
                blocks.push((place, count));
            } else {
                let (at, count) = blocks.swap_remove(random.below(blocks.len() as u64) as usize);
                plain.set(at, count, true);
                assert_eq!(map.put(at, count), plain.run_at(at as usize));
            }
            assert_eq!(map.longest(), plain.longest());
            assert_eq!(map.count(), plain.0.iter().filter(|free| **free).count() as u32);
        }
    }
}
