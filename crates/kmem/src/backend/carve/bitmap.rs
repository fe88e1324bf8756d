//! Which granules of a page are free: 512 bits, set where free.

use super::GRANULES;
use crate::raw::local::LocalU64;

/// A page's bits.
pub(crate) type Bits = [LocalU64; 8];

/// Returns the first granule at or after `from` that is not free; `GRANULES` if there is none.
#[inline]
fn next_used(bits: &Bits, from: u32) -> u32 {
    let mut at = from as usize / 64;
    let mut used = bits.get(at).map_or(0, |word| !word.get() & (!0 << (from % 64)));
    while used == 0 {
        at += 1;
        let Some(word) = bits.get(at) else { return GRANULES };
        used = !word.get();
    }
    at as u32 * 64 + used.trailing_zeros()
}

/// Finds the lowest run that holds `count` granules from a place `p` on with
/// `(p + offset) % align == 0`; returns `p`.
///
/// Pages of aligned blocks are full of one-granule crumbs, hundreds of runs: so blocks of up to 64
/// granules look at all places of a word at once, and longer ones at runs that cross words only.
#[inline]
pub(crate) fn first_fit(bits: &Bits, count: u32, align: u32, offset: u32) -> Option<u32> {
    if count > 64 {
        return first_fit_long(bits, count, align, offset);
    }
    // Places in a word that are aligned; for a larger alignment, in words that are.
    let step = align.min(64);
    let places = EVERY[step.trailing_zeros() as usize] << ((step - offset % step) % step);
    let mut word = bits[0].get();
    for i in 0..8 {
        let next = if i < 7 { bits[i + 1].get() } else { 0 };
        let fits = if word == 0 { 0 } else { starts(word, next, count) & places };
        if fits != 0 {
            let place = i as u32 * 64 + fits.trailing_zeros();
            if (place + offset) & (align - 1) == 0 {
                return Some(place);
            }
        }
        word = next;
    }
    None
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

/// Returns the places in `word` from which `count` granules are free, `next` being the word after.
#[inline(always)]
fn starts(word: u64, next: u64, count: u32) -> u64 {
    // After each step a bit means: so many granules from here on are free.
    let mut run = u128::from(word) | u128::from(next) << 64;
    let mut known = 1;
    while known * 2 <= count {
        run &= run >> known;
        known *= 2;
        // Crumbs are gone after a step or two.
        if run as u64 == 0 {
            return 0;
        }
    }
    (run & run >> (count - known)) as u64
}

/// Returns the length of the longest free run. Runs of up to three granules are looked at only when
/// there is no other: those crumbs are many.
pub(crate) fn longest_run(bits: &Bits) -> u32 {
    const CRUMB: u32 = 3;
    // A run of n > CRUMB granules is a run of n - CRUMB places from which CRUMB + 1 are free.
    let (mut longest, mut open) = (0, 0);
    let mut word = bits[0].get();
    for i in 0..8 {
        let next = if i < 7 { bits[i + 1].get() } else { 0 };
        let mut places = if word == 0 { 0 } else { starts(word, next, CRUMB + 1) };
        word = next;
        if places == !0 {
            open += 64;
            continue;
        }
        longest = longest.max(open + places.trailing_ones());
        open = places.leading_ones();
        places &= places + 1;
        while places != 0 {
            places >>= places.trailing_zeros();
            let ones = places.trailing_ones();
            longest = longest.max(ones);
            places >>= ones;
        }
    }
    match longest.max(open) {
        0 => (1..=CRUMB).rev().find(|&n| first_fit(bits, n, 1, 0).is_some()).unwrap_or(0),
        places => places + CRUMB,
    }
}

/// As [`first_fit`], for blocks longer than a word: such a run crosses from one word to the next.
fn first_fit_long(bits: &Bits, count: u32, align: u32, offset: u32) -> Option<u32> {
    let mut from = 0;
    for i in 0..8 {
        let top = bits[i].get().leading_ones();
        let start = (i as u32 + 1) * 64 - top;
        if top == 0 || start < from {
            continue;
        }
        let start = if top == 64 { run_start(bits, start) } else { start };
        let end = next_used(bits, start);
        let place = ((start + offset + align - 1) & !(align - 1)) - offset;
        if place + count <= end {
            return Some(place);
        }
        from = end;
    }
    None
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
                let shift = random.below(9);
                let count = 1 + random.below(1 << shift) as u32;
                let (align, offset) = (1 << random.below(9), random.below(2) as u32);
                let place = first_fit(&bits, count, align, offset);
                assert_eq!(place, plain.first_fit(count, align, offset));
                let Some(place) = place else { continue };
                take(&bits, place, count);
                plain.0[place as usize..(place + count) as usize].fill(false);
                blocks.push((place, count));
            } else {
                let (at, count) = blocks.swap_remove(random.below(blocks.len() as u64) as usize);
                let run = put(&bits, at, count);
                plain.0[at as usize..(at + count) as usize].fill(true);
                let from = (0..at).rev().take_while(|&g| plain.0[g as usize]).count() as u32;
                let to = (at..GRANULES).take_while(|&g| plain.0[g as usize]).count() as u32;
                assert_eq!(run, from + to);
            }
            let runs = plain.0.split(|free| !free).map(|run| run.len() as u32);
            assert_eq!(longest_run(&bits), runs.max().unwrap());
            assert_eq!(count(&bits), plain.0.iter().filter(|f| **f).count() as u32);
        }
    }
}
