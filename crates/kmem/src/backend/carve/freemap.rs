//! Which granules of a page are free: 512 bits, set where free, and a sum of them for quick searches.
//!
//! # How it works
//! Eight words hold the bits. Another holds a byte for each of them, its *head*: the length of the
//! longest free run that starts in that word, wherever it ends. The greatest head is the page's longest
//! run; the first head that is long enough names the word in which the first fit starts. A block changes
//! the heads of the word in which its run starts and of that in which what is left behind it starts.
//!
//! # Invariants
//! - Head i = min(longest run that starts in word i, [`HEAD_MAX`]).
//! - What stands where words before the first and behind the last would be is 0: there nothing is free.
//!
//! # What was learned
//! Walking the words from the first on took 220 instructions a search, 400 with what had to be learned
//! from those in vain: pages of aligned blocks are full of one-granule crumbs, hundreds of runs.
//! Of what was left a third of a replay's mispredicted branches were here (does this block cross a word,
//! does that run): hence the windows of two words, and the steps that are always taken. On a quiet
//! machine that is as fast as fewer instructions with those branches, under load a tenth faster; where
//! the pattern can be guessed (one block taken and given back again and again) it is slower by a third.
//! What a block leaves behind can only raise the head there, and what a free joins only lower one that
//! it equals: to count a word's runs for neither spares a tenth of a replay's mispredicted branches. That
//! words have neighbours, instead of a question whether they do, spares 2 % of its instructions.

use super::GRANULES;
use crate::raw::local::LocalU64;
use crate::raw::zeroed::zeroed_struct;

/// Granules in a word.
const WORD: u32 = 64;
const WORDS: usize = (GRANULES / WORD) as usize;
/// Words that a map has room for: a power of two, so that any number finds its place by its low bits, and that of
/// no word finds 0.
const ROOM: usize = 2 * WORDS;
/// Where the heads stand, far from the words on either side.
const HEADS: usize = WORDS + WORDS / 2;
/// Longer runs look like this one: seven bits, so that eight heads compare at once.
const HEAD_MAX: u32 = 127;
/// Granules that two words tell of.
const NEAR: u32 = 2 * WORD;
/// The lowest and the highest bit of each byte.
const LOW: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

zeroed_struct! {
    /// The free granules of a page.
    #[derive(Debug, Default)]
    pub(crate) struct FreeMap {
        // Words, and what is asked for as if it were one: up to two before the first, three behind the last.
        words: [LocalU64; ROOM],
    }
}

impl FreeMap {
    /// Makes the page all free.
    pub(crate) fn open(&self) {
        self.words[..WORDS].iter().for_each(|word| word.set(!0));
        self.set_heads(u64::from(HEAD_MAX));
    }

    /// Marks `count` granules as used, from the lowest place `p` on where they are free and
    /// `(p + offset) % align == 0`; returns `p`.
    #[inline]
    pub(crate) fn take(&self, count: u32, align: u32, offset: u32) -> Option<u32> {
        // Of each byte the high bit is set where the head is long enough.
        let wanted = LOW * u64::from(count.min(HEAD_MAX));
        let enough = ((self.heads() | HIGH) - wanted) & HIGH;
        if enough == 0 {
            return None;
        }
        let first = enough.trailing_zeros() / 8;
        if align == 1 && count <= HEAD_MAX {
            // The lowest place of a run is where it starts.
            let place = self.first_in(first, count);
            self.take_at(place, place, count);
            Some(place)
        } else {
            let place = self.first_aligned(first, count, align, offset)?;
            self.take_at(place - self.free_before(place), place, count);
            Some(place)
        }
    }

    /// Finds the lowest place in `word`, whose head promises one; no longer run starts before.
    #[inline]
    fn first_in(&self, word: u32, count: u32) -> u32 {
        let bits = self.word(word);
        // A longer one starts where the word does, if all of the word is free.
        let inside = starts(bits, count.min(WORD));
        // If none ends in this word, then it is the run that goes on in the next: its place without a
        // branch, which would not be guessed. No place counts as 64.
        let place = inside.trailing_zeros() - bits.leading_ones() * u32::from(inside == 0);
        word * WORD + place
    }

    /// Finds the lowest aligned place, in `word` or later.
    fn first_aligned(&self, word: u32, count: u32, align: u32, offset: u32) -> Option<u32> {
        // Places in a word that are aligned; for a larger alignment, in words that are.
        let step = align.min(WORD);
        let places = EVERY[step.trailing_zeros() as usize] << ((step - offset % step) % step);
        for word in word..WORDS as u32 {
            let (bits, base) = (self.word(word), word * WORD);
            if count <= WORD {
                let inside = starts(bits, count) & places;
                let place = base + inside.trailing_zeros();
                if inside != 0 && (place + offset) & (align - 1) == 0 {
                    return Some(place);
                }
            }
            let top = bits.leading_ones();
            if top == 0 {
                continue;
            }
            let end = base + WORD;
            let place = ((end - top + offset + align - 1) & !(align - 1)) - offset;
            if place < end && place + count <= end + self.free_from(end) {
                return Some(place);
            }
        }
        None
    }

    /// Marks `count` granules from `at` on as used, of a run that starts at `start`.
    #[inline]
    fn take_at(&self, start: u32, at: u32, count: u32) {
        let end = at + count;
        each_word(at, count, |i, mask| {
            debug_assert_eq!(self.word(i) & mask, mask, "taking what is not free");
            self.set_word(i, self.word(i) & !mask);
        });
        let heads = self.with_head(self.heads(), start / WORD);
        // What is left behind starts in the word of its end now, beside what started there before.
        self.set_heads(raised(heads, end / WORD, self.free_near(end)));
    }

    /// Marks `count` granules from `at` on as free; returns the length of the run they are in now.
    #[inline]
    pub(crate) fn put(&self, at: u32, count: u32) -> u32 {
        let (start, end) = (at - self.free_before(at), at + count);
        each_word(at, count, |i, mask| self.set_word(i, self.word(i) | mask));
        let right = self.free_from(end);
        let run = end + right - start;
        let mut heads = raised(self.heads(), start / WORD, run);
        // The run behind starts no longer where it did, where it may have been the longest.
        let behind = heads.unbounded_shr(end / WORD * 8) as u32 & 0xff;
        if (end / WORD != start / WORD) & (right > 0) & (right.min(HEAD_MAX) == behind) {
            heads = self.with_head(heads, end / WORD);
        }
        self.set_heads(heads);
        run
    }

    /// Returns the length of the longest run.
    #[inline]
    pub(crate) fn longest(&self) -> u32 {
        let heads = self.heads();
        let mut longest = heads.to_le_bytes().into_iter().max().map_or(0, u32::from);
        // A run of that length goes on behind its word.
        let mut words = (heads + LOW) & HIGH;
        while words != 0 {
            let word = words.trailing_zeros() / 8;
            let start = (word + 1) * WORD - self.word(word).leading_ones();
            longest = longest.max(self.free_from(start));
            words &= words - 1;
        }
        longest
    }

    /// Returns the runs in address order, each as its start and its length.
    fn runs(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let mut at = 0;
        core::iter::from_fn(move || {
            while at < GRANULES {
                let used = (self.word(at / WORD) >> (at % WORD)).trailing_zeros();
                if used > 0 {
                    at += used.min(WORD - at % WORD);
                } else {
                    let run = self.free_from(at);
                    at += run;
                    return Some((at - run, run));
                }
            }
            None
        })
    }

    /// Returns the number of free granules.
    pub(crate) fn count(&self) -> u32 {
        self.words[..WORDS].iter().map(|word| word.get().count_ones()).sum()
    }

    /// Tells whether the heads are what the bits say.
    pub(crate) fn is_sound(&self) -> bool {
        let mut heads = [0; WORDS];
        for (start, run) in self.runs() {
            let head = &mut heads[(start / WORD) as usize];
            *head = run.min(HEAD_MAX).max(u32::from(*head)) as u8;
        }
        let mut beyond = self.words[WORDS..HEADS].iter().chain(&self.words[HEADS + 1..]);
        heads == self.heads().to_le_bytes() && beyond.all(|word| word.get() == 0)
    }

    /// Returns `heads` with that of `word` as the bits say.
    #[inline]
    fn with_head(&self, heads: u64, word: u32) -> u64 {
        let bits = self.word(word);
        // What is free at the beginning may be the end of a run that started before.
        let bits = bits & bits.wrapping_add(self.word(word.wrapping_sub(1)) >> (WORD - 1));
        // What is free at the end goes on in the next words.
        let top = bits.leading_ones();
        let open = (top + self.free_near((word + 1) * WORD)) * u32::from(top > 0);
        let inside = longest_ones(bits & u64::MAX.unbounded_shr(top));
        let head = open.max(inside).min(HEAD_MAX);
        heads & !(0xff << (word * 8)) | u64::from(head) << (word * 8)
    }

    /// Returns how many granules from `from` on are free.
    #[inline]
    fn free_from(&self, from: u32) -> u32 {
        let mut free = 0;
        loop {
            let near = self.free_near(from + free);
            free += near;
            if near < NEAR {
                return free;
            }
        }
    }

    /// Returns how many granules right before `at` are free.
    #[inline]
    fn free_before(&self, at: u32) -> u32 {
        let mut free = 0;
        loop {
            let near = self.free_near_before(at - free);
            free += near;
            if near < NEAR {
                return free;
            }
        }
    }

    /// Returns how many granules from `from` on are free, up to [`NEAR`].
    #[inline(always)]
    fn free_near(&self, from: u32) -> u32 {
        let (word, shift) = (from / WORD, from % WORD);
        let bits = |word| self.word(word) >> shift | self.word(word + 1) << 1 << (WORD - 1 - shift);
        let ones = bits(word).trailing_ones();
        ones + bits(word + 1).trailing_ones() * u32::from(ones == WORD)
    }

    /// Returns how many granules right before `at` are free, up to [`NEAR`].
    #[inline(always)]
    fn free_near_before(&self, at: u32) -> u32 {
        let (word, shift) = (at / WORD, at % WORD);
        let before = word.wrapping_sub(1);
        let bits = |word: u32, before| {
            self.word(word) << (WORD - 1 - shift) << 1 | self.word(before) >> shift
        };
        let ones = bits(word, before).leading_ones();
        let more = bits(before, before.wrapping_sub(1)).leading_ones();
        ones + more * u32::from(ones == WORD)
    }

    /// Returns a word; outside of the page nothing is free.
    #[inline(always)]
    fn word(&self, word: u32) -> u64 {
        self.words[word as usize % ROOM].get()
    }

    #[inline(always)]
    fn set_word(&self, word: u32, bits: u64) {
        self.words[word as usize % ROOM].set(bits);
    }

    #[inline(always)]
    fn heads(&self) -> u64 {
        self.words[HEADS].get()
    }

    #[inline(always)]
    fn set_heads(&self, heads: u64) {
        self.words[HEADS].set(heads);
    }
}

/// Returns `heads` with that of `word` at least `run`; no word is behind the last.
#[inline(always)]
fn raised(heads: u64, word: u32, run: u32) -> u64 {
    let shift = word * 8;
    let head = (heads.unbounded_shr(shift) & 0xff).max(u64::from(run.min(HEAD_MAX)));
    heads & !0xffu64.unbounded_shl(shift) | head.unbounded_shl(shift)
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

/// Returns the places from which `count` bits are set, all in this word. Six steps always: how many a
/// count needs is a branch that is not guessed.
#[inline(always)]
fn starts(bits: u64, count: u32) -> u64 {
    // After each step a bit means: so many from here on are set.
    let (mut run, mut known) = (bits, 1);
    for _ in 0..WORD.ilog2() {
        let more = known.min(count - known);
        run &= run >> more;
        known += more;
    }
    run
}

/// Returns the length of the longest run of ones, shorter than a word; without branches.
#[inline(always)]
fn longest_ones(bits: u64) -> u32 {
    // Where 1, 2, 4, ... 32 ones start.
    let mut powers = [bits; WORD.ilog2() as usize];
    for i in 1..powers.len() {
        powers[i] = powers[i - 1] & powers[i - 1] >> (1 << (i - 1));
    }
    let (mut run, mut length) = (!0, 0);
    for (i, power) in powers.into_iter().enumerate().rev() {
        let longer = run & power >> length;
        if longer != 0 {
            (run, length) = (longer, length + (1 << i));
        }
    }
    length
}

/// Visits the words of `count` granules from `at` on, with the bits that are theirs: always two words for
/// 64 granules, the second perhaps with no bit, for whether a block crosses is not guessed.
#[inline(always)]
fn each_word(at: u32, count: u32, mut visit: impl FnMut(u32, u64)) {
    let (mut word, shift) = (at / WORD, at % WORD);
    let mut left = count;
    loop {
        let mask = !0u64 >> (WORD - left.min(WORD));
        visit(word, mask << shift);
        word += 1;
        visit(word, mask >> (WORD - 1 - shift) >> 1);
        if left <= WORD {
            return;
        }
        left -= WORD;
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
                let run = map.put(at, count);
                plain.set(at, count, true);
                let left = plain.0[..at as usize].iter().rev().take_while(|free| **free).count();
                let right = plain.0[at as usize..].iter().take_while(|free| **free).count();
                assert_eq!(run as usize, left + right);
            }
            assert!(map.is_sound());
            assert_eq!(map.runs().map(|(_, run)| run).sum::<u32>(), map.count());
            assert_eq!(map.longest(), plain.longest());
            assert_eq!(map.count(), plain.0.iter().filter(|free| **free).count() as u32);
        }
    }
}
