//! Finding a key in a bucket: all keys of a word are compared at once.

use std::hint::select_unpredictable;
use std::sync::atomic::{AtomicU64, Ordering};

/// What comparing keys of one width takes.
#[derive(Debug)]
pub(super) struct Lanes {
    /// The index bits that are no part of a key.
    pub(super) outside: u64,
    /// The index bits of a key.
    key: u64,
    /// The lowest bit of each key in a word.
    ones: u64,
    /// The highest bit of each key in a word.
    high: u64,
}

impl Lanes {
    const fn new(width_log2: u32) -> Self {
        let bits = 8 << width_log2;
        let key = u64::MAX >> (64 - bits);
        let ones = u64::MAX / key;
        Self { outside: !key, key, ones, high: ones << (bits - 1) }
    }

    /// Returns the lanes of keys of this width.
    #[inline]
    pub(super) fn of(width_log2: usize) -> &'static Self {
        static WIDTHS: [Lanes; 4] = [Lanes::new(0), Lanes::new(1), Lanes::new(2), Lanes::new(3)];
        &WIDTHS[width_log2 % WIDTHS.len()]
    }

    /// Repeats the key of an index over a whole word.
    #[inline]
    pub(super) fn spread(&self, index: u64) -> u64 {
        (index & self.key) * self.ones
    }

    /// Returns a word of which the lowest bit set is in the lowest key that is equal. Those above may be wrong.
    #[inline]
    pub(super) fn equal(&self, keys: u64, spread: u64) -> u64 {
        let differ = keys ^ spread;
        differ.wrapping_sub(self.ones) & !differ & self.high
    }
}

/// Returns the number of the first key that equals the index's low bits. There is at least one key word.
///
/// All keys of two words are compared at once, and nothing branches on which of them is equal or how wide they
/// are: at 20,000 kernel addresses such branches took half of a lookup's time, as the processor cannot predict them.
#[inline]
pub(super) fn find_key(keys: &[AtomicU64], width_log2: usize, index: u64) -> Option<usize> {
    let lanes = Lanes::of(width_log2);
    let needle = lanes.spread(index);
    let last = keys.len().wrapping_sub(1);
    let mut number = 0;
    loop {
        let second = (number + 1).min(last);
        let equal = |number: usize| {
            // SAFETY: `number` and `second` are at most `last`, and the length is not 0.
            let keys = unsafe { keys.get_unchecked(number) };
            lanes.equal(keys.load(Ordering::Acquire), needle)
        };
        let (a, b) = (equal(number), equal(second));
        let is_first = a != 0;
        let equal = select_unpredictable(is_first, a, b);
        if equal != 0 {
            let word = select_unpredictable(is_first, number, second);
            return Some((8 * word + equal.trailing_zeros() as usize / 8) >> width_log2);
        }
        number += 2;
        if number > last {
            return None;
        }
    }
}
