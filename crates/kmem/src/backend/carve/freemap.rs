//! Which granules of a page are free: 512 bits, set where free, and a sum of them for quick searches.
//!
//! # How it works
//! Eight words hold the bits. A ninth holds a byte for each of them, its *head*: the length of the
//! longest free run that starts in that word, wherever it ends. The greatest head is the page's longest
//! run; the first head that is long enough names the word in which the first fit starts. A block changes
//! the heads of the word in which its run starts and of that in which what is left behind it starts.
//!
//! # Invariants
//! - Head i = min(longest run that starts in word i, [`HEAD_MAX`]).
//!
//! # What was learned
//! Walking the words from the first on took 220 instructions a search, 400 with what had to be learned
//! from those in vain: pages of aligned blocks are full of one-granule crumbs, hundreds of runs.

use super::GRANULES;
use crate::raw::local::LocalU64;
use crate::raw::zeroed::zeroed_struct;

/// Granules in a word.
const WORD: u32 = 64;
const WORDS: usize = (GRANULES / WORD) as usize;
/// Longer runs look like this one: seven bits, so that eight heads compare at once.
const HEAD_MAX: u32 = 127;
/// The lowest and the highest bit of each byte.
const LOW: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

zeroed_struct! {
    /// The free granules of a page.
    #[derive(Debug, Default)]
    pub(crate) struct FreeMap {
        words: [LocalU64; WORDS],
        heads: LocalU64,
    }
}

impl FreeMap {
    /// Makes the page all free.
    pub(crate) fn open(&self) {
        self.words.iter().for_each(|word| word.set(!0));
        self.heads.set(u64::from(HEAD_MAX));
    }

    /// Finds the lowest place `p` from which `count` granules are free with
    /// `(p + offset) % align == 0`.
    #[inline]
    pub(crate) fn first_fit(&self, count: u32, align: u32, offset: u32) -> Option<u32> {
        // Of each byte the high bit is set where the head is long enough.
        let wanted = LOW * u64::from(count.min(HEAD_MAX));
        let enough = ((self.heads.get() | HIGH) - wanted) & HIGH;
        if enough == 0 {
            return None;
        }
        let first = enough.trailing_zeros() / 8;
        if align == 1 && count <= HEAD_MAX {
            Some(self.first_in(first, count))
        } else {
            self.first_aligned(first, count, align, offset)
        }
    }

    /// Finds the lowest place in `word`, whose head promises one; no longer run starts before.
    #[inline]
    fn first_in(&self, word: u32, count: u32) -> u32 {
        let bits = self.words[word as usize].get();
        let inside = if count <= WORD { starts(bits, count) } else { 0 };
        // If none ends in this word, then it is the run that goes on in the next.
        let place = if inside != 0 { inside.trailing_zeros() } else { WORD - bits.leading_ones() };
        word * WORD + place
    }

    /// Finds the lowest aligned place, in `word` or later.
    fn first_aligned(&self, word: u32, count: u32, align: u32, offset: u32) -> Option<u32> {
        // Places in a word that are aligned; for a larger alignment, in words that are.
        let step = align.min(WORD);
        let places = EVERY[step.trailing_zeros() as usize] << ((step - offset % step) % step);
        for (i, word) in self.words.iter().enumerate().skip(word as usize) {
            let bits = word.get();
            let base = i as u32 * WORD;
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
            if place < end && place + count <= self.next_used(end) {
                return Some(place);
            }
        }
        None
    }

    /// Marks `count` granules from `at` on as used.
    #[inline]
    pub(crate) fn take(&self, at: u32, count: u32) {
        let start = self.run_start(at);
        each_word(at, count, |i, mask| {
            debug_assert_eq!(self.words[i].get() & mask, mask, "taking what is not free");
            self.words[i].set(self.words[i].get() & !mask);
        });
        let (mut heads, end) = (self.heads.get(), at + count);
        let right = self.next_used(end) - end;
        // Only the longest that starts in a word is its head.
        if (end + right - start).min(HEAD_MAX) as u8 == heads.to_le_bytes()[(start / WORD) as usize]
        {
            heads = self.with_head(heads, start / WORD);
        }
        if right > 0 && end / WORD != start / WORD {
            heads = self.with_head(heads, end / WORD);
        }
        self.heads.set(heads);
    }

    /// Marks `count` granules from `at` on as free; returns the length of the run they are in now.
    #[inline]
    pub(crate) fn put(&self, at: u32, count: u32) -> u32 {
        each_word(at, count, |i, mask| self.words[i].set(self.words[i].get() | mask));
        let (start, end) = (self.run_start(at), at + count);
        let run = self.next_used(end) - start;
        let shift = start / WORD * 8;
        let mut heads = self.heads.get();
        let head = (heads >> shift & 0xff).max(u64::from(run.min(HEAD_MAX)));
        heads = heads & !(0xff << shift) | head << shift;
        // The run behind starts no longer where it did.
        if end / WORD != start / WORD && self.is_free(end) {
            heads = self.with_head(heads, end / WORD);
        }
        self.heads.set(heads);
        run
    }

    /// Returns the length of the longest run.
    #[inline]
    pub(crate) fn longest(&self) -> u32 {
        let head = self.heads.get().to_le_bytes().into_iter().max().map_or(0, u32::from);
        if head < HEAD_MAX { head } else { self.runs().max().unwrap_or(0) }
    }

    /// Returns the lengths of the runs, in address order.
    pub(crate) fn runs(&self) -> impl Iterator<Item = u32> + '_ {
        let mut at = 0;
        core::iter::from_fn(move || {
            let start = self.next(at, 0);
            at = self.next_used(start);
            (start < GRANULES).then(|| at - start)
        })
    }

    /// Returns the number of free granules.
    pub(crate) fn count(&self) -> u32 {
        self.words.iter().map(|word| word.get().count_ones()).sum()
    }

    /// Tells whether the heads are what the bits say.
    pub(crate) fn is_sound(&self) -> bool {
        let heads = (0..WORDS as u32).fold(0, |heads, word| self.with_head(heads, word));
        heads == self.heads.get()
    }

    /// Returns `heads` with that of `word` as the bits say.
    #[inline]
    fn with_head(&self, heads: u64, word: u32) -> u64 {
        let i = word as usize;
        let mut bits = self.words[i].get();
        // What is free at the beginning may be the end of a run that started before.
        if i > 0 && self.words[i - 1].get() >> (WORD - 1) != 0 {
            bits &= bits.wrapping_add(1);
        }
        let top = bits.leading_ones();
        let end = (word + 1) * WORD;
        let mut head = 0;
        if top > 0 {
            head = top + self.next_used(end) - end;
            bits &= u64::MAX.unbounded_shr(top);
        }
        let head = head.max(longest_ones(bits)).min(HEAD_MAX);
        heads & !(0xff << (word * 8)) | u64::from(head) << (word * 8)
    }

    /// Tells whether a granule is free; there is none behind the page.
    #[inline]
    fn is_free(&self, at: u32) -> bool {
        self.words.get((at / WORD) as usize).is_some_and(|word| word.get() >> (at % WORD) & 1 != 0)
    }

    /// Returns the first granule at or after `from` that is not free; `GRANULES` if there is none.
    #[inline]
    fn next_used(&self, from: u32) -> u32 {
        self.next(from, !0)
    }

    /// Returns the first granule at or after `from` whose bit is set once `flip` has been applied.
    #[inline(always)]
    fn next(&self, from: u32, flip: u64) -> u32 {
        let mut at = (from / WORD) as usize;
        let first = self.words.get(at).map_or(0, |word| word.get() ^ flip);
        let mut found = first & (!0 << (from % WORD));
        while found == 0 {
            at += 1;
            let Some(word) = self.words.get(at) else { return GRANULES };
            found = word.get() ^ flip;
        }
        at as u32 * WORD + found.trailing_zeros()
    }

    /// Returns the first granule of the free run that ends just before or contains `at`.
    #[inline]
    fn run_start(&self, at: u32) -> u32 {
        let mut end = at;
        while end > 0 {
            let (i, bit) = (((end - 1) / WORD) as usize, (end - 1) % WORD);
            // The bits up to `bit`, moved to the top: leading ones are the run.
            let ones = (self.words[i].get() << (WORD - 1 - bit)).leading_ones().min(bit + 1);
            end -= ones;
            if ones < bit + 1 {
                break;
            }
        }
        end
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

/// Visits the words of `count` granules from `at` on, with the bits that are theirs.
#[inline(always)]
fn each_word(at: u32, count: u32, mut visit: impl FnMut(usize, u64)) {
    let (first, shift) = ((at / WORD) as usize, at % WORD);
    if count <= WORD {
        // Two words always, the second perhaps with no bit: whether a block crosses is not guessed.
        let mask = !0u64 >> (WORD - count);
        visit(first, mask << shift);
        visit((first + 1).min(WORDS - 1), mask.unbounded_shr(WORD - shift));
        return;
    }
    let (mut at, end) = (at, at + count);
    while at < end {
        let in_word = (WORD - at % WORD).min(end - at);
        visit((at / WORD) as usize, (!0u64 >> (WORD - in_word)) << (at % WORD));
        at += in_word;
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

        fn runs(&self) -> impl Iterator<Item = u32> + '_ {
            self.0.split(|free| !free).map(|run| run.len() as u32).filter(|&run| run > 0)
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
                let place = map.first_fit(count, align, offset);
                assert_eq!(place, plain.first_fit(count, align, offset));
                let Some(place) = place else { continue };
                map.take(place, count);
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
            assert!(map.runs().eq(plain.runs()));
            assert_eq!(map.longest(), plain.runs().max().unwrap_or(0));
            assert_eq!(map.count(), plain.0.iter().filter(|free| **free).count() as u32);
        }
    }
}
