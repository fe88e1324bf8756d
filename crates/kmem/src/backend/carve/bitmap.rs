//! Which granules of a page are free: 512 bits, set where free.

use super::GRANULES;
use crate::raw::local::LocalU64;

/// A page's bits.
pub(crate) type Bits = [LocalU64; 8];

/// Returns the first free granule at or after `from`.
#[inline]
fn next_free(bits: &Bits, from: u32) -> Option<u32> {
    next(bits, from, |word| word)
}

/// Returns the first granule at or after `from` that is not free; `GRANULES` if there is none.
#[inline]
fn next_used(bits: &Bits, from: u32) -> u32 {
    next(bits, from, |word| !word).unwrap_or(GRANULES)
}

#[inline(always)]
fn next(bits: &Bits, from: u32, view: impl Fn(u64) -> u64) -> Option<u32> {
    let mut at = from as usize / 64;
    let mut word = view(bits.get(at)?.get()) & (!0 << (from % 64));
    while word == 0 {
        at += 1;
        word = view(bits.get(at)?.get());
    }
    Some(at as u32 * 64 + word.trailing_zeros())
}

/// Finds the lowest run that holds `count` granules from a place `p` on with
/// `(p + offset) % align == 0`; returns `p`.
pub(crate) fn first_fit(bits: &Bits, count: u32, align: u32, offset: u32) -> Option<u32> {
    let mut from = 0;
    loop {
        let start = next_free(bits, from)?;
        let end = next_used(bits, start);
        let place = ((start + offset + align - 1) & !(align - 1)) - offset;
        if place + count <= end {
            return Some(place);
        }
        from = end;
    }
}

/// Returns the length of the longest run.
pub(crate) fn longest_run(bits: &Bits) -> u32 {
    let (mut longest, mut from) = (0, 0);
    while let Some(start) = next_free(bits, from) {
        from = next_used(bits, start);
        longest = longest.max(from - start);
    }
    longest
}

/// Marks `count` granules from `at` on as used.
#[inline]
pub(crate) fn take(bits: &Bits, at: u32, count: u32) {
    each_word(at, count, |i, mask| {
        debug_assert_eq!(bits[i].get() & mask, mask, "taking what is not free");
        bits[i].set(bits[i].get() & !mask);
    });
}

/// Marks `count` granules from `at` on as free; returns the length of the run they are in now.
#[inline]
pub(crate) fn put(bits: &Bits, at: u32, count: u32) -> u32 {
    each_word(at, count, |i, mask| bits[i].set(bits[i].get() | mask));
    next_used(bits, at) - run_start(bits, at)
}

/// Returns the first granule of the free run that ends just before or contains `at`.
#[inline]
fn run_start(bits: &Bits, at: u32) -> u32 {
    let mut end = at;
    while end > 0 {
        let (i, bit) = ((end - 1) as usize / 64, (end - 1) % 64);
        // The bits up to `bit`, moved to the top: leading ones are the run.
        let ones = (bits[i].get() << (63 - bit)).leading_ones().min(bit + 1);
        end -= ones;
        if ones < bit + 1 {
            break;
        }
    }
    end
}

/// Tells whether any of `count` granules from `at` on is free.
pub(crate) fn any_free(bits: &Bits, at: u32, count: u32) -> bool {
    let mut any = false;
    each_word(at, count, |i, mask| any |= bits[i].get() & mask != 0);
    any
}

/// Returns the number of free granules.
pub(crate) fn count(bits: &Bits) -> u32 {
    bits.iter().map(|word| word.get().count_ones()).sum()
}

#[inline(always)]
fn each_word(at: u32, count: u32, mut visit: impl FnMut(usize, u64)) {
    let (mut at, end) = (at, at + count);
    while at < end {
        let in_word = (64 - at % 64).min(end - at);
        visit(at as usize / 64, (!0u64 >> (64 - in_word)) << (at % 64));
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

        fn longest_run(&self) -> u32 {
            let (mut longest, mut run) = (0, 0);
            for free in self.0 {
                run = if free { run + 1 } else { 0 };
                longest = longest.max(run);
            }
            longest
        }
    }

    #[test]
    fn agrees_with_the_plain_way() {
        let mut random = crate::tests::conformance::Random(42);
        let bits = Bits::default();
        let mut plain = Plain([false; GRANULES as usize]);
        put(&bits, 0, GRANULES);
        plain.0.fill(true);
        let mut blocks = alloc::vec::Vec::new();
        for _ in 0..20_000 {
            if random.below(100) < 52 || blocks.is_empty() {
                let shift = random.below(8);
                let count = 1 + random.below(1 << shift) as u32;
                let (align, offset) = (1 << random.below(5), random.below(2) as u32);
                let place = first_fit(&bits, count, align, offset);
                assert_eq!(place, plain.first_fit(count, align, offset));
                let Some(place) = place else { continue };
                take(&bits, place, count);
                plain.0[place as usize..(place + count) as usize].fill(false);
                blocks.push((place, count));
            } else {
                let (at, count) = blocks.swap_remove(random.below(blocks.len() as u64) as usize);
                assert!(!any_free(&bits, at, count));
                let run = put(&bits, at, count);
                plain.0[at as usize..(at + count) as usize].fill(true);
                let from = (0..at).rev().take_while(|&g| plain.0[g as usize]).count() as u32;
                let to = (at..GRANULES).take_while(|&g| plain.0[g as usize]).count() as u32;
                assert_eq!(run, from + to);
            }
            assert_eq!(longest_run(&bits), plain.longest_run());
            assert_eq!(count(&bits), plain.0.iter().filter(|f| **f).count() as u32);
        }
    }
}
