//! Fingerprints of keys: each is a byte, and all of them are compared at once.
//!
//! A key of one byte is its own fingerprint, and one of two bytes is its high byte beside its fingerprint, so that neither
//! takes memory for it. No branch depends on which fingerprint is equal: at 20,000 kernel addresses such branches took
//! half of a lookup's time, as the processor cannot predict them.

use super::sync::AtomicU64;

/// Fingerprints that are compared at once.
pub(super) const BLOCK: usize = 16;
/// The number of words in a block.
pub(super) const BLOCK_WORDS: usize = BLOCK / 8;

/// The sizes of buckets. Each is at most 1.5 times the previous one, so at least 2/3 are used after growth
/// (except with keys of one byte, see [`capacity_for`]).
const CAPACITIES: [u8; 14] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128];

/// The memory that keys of one width need beside their fingerprints.
#[derive(Clone, Copy)]
pub(super) struct Beside {
    /// Words for a block of keys, before all slots.
    pub(super) block_words: usize,
    /// Log2 of the bytes of a key.
    pub(super) key_log2: usize,
    /// Words before each slot.
    pub(super) slot_words: usize,
}

/// One element for each log2 of the key width.
pub(super) const BESIDE: [Beside; 4] = [
    Beside { block_words: 0, key_log2: 0, slot_words: 0 },
    Beside { block_words: BLOCK / 8, key_log2: 0, slot_words: 0 },
    Beside { block_words: BLOCK / 2, key_log2: 2, slot_words: 0 },
    Beside { block_words: 0, key_log2: 3, slot_words: 1 },
];

/// Returns the size for `entries` entries. More than 32 whose keys have one byte fill an eighth of their indices, and
/// most of them are on the way to a leaf. Without the size 48 in between, filling leaves in random order takes a sixth
/// less time.
pub(super) fn capacity_for(entries: usize, width_log2: u32) -> u8 {
    let suits =
        |capacity: u8| usize::from(capacity) >= entries && (capacity, width_log2) != (48, 0);
    CAPACITIES.into_iter().find(|&capacity| suits(capacity)).expect("at most 128 entries")
}

/// Returns the numbers of the bits that are set.
#[inline]
pub(crate) fn bits(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lowest = word.trailing_zeros() as usize;
        word &= word.wrapping_sub(1);
        (lowest < 64).then_some(lowest)
    })
}

/// Returns the log2 of the key bytes that tell these index bits apart.
pub(crate) const fn width_log2(differing_bits: u64) -> u32 {
    match differing_bits {
        0..=0xff => 0,
        0x100..=0xffff => 1,
        0x1_0000..=0xffff_ffff => 2,
        _ => 3,
    }
}

/// Returns the index bits of a key.
#[inline]
pub(super) const fn key_mask(width_log2: usize) -> u64 {
    u64::MAX >> (64 - (8 << width_log2))
}

/// Returns the fingerprint of an index's key.
#[inline]
pub(super) const fn fingerprint(index: u64, width_log2: usize) -> u8 {
    /// Bits of the golden ratio tell neighbours and multiples of powers of two apart.
    const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
    match width_log2 {
        0 => index as u8,
        // Addresses are multiples of 16, and most often differ in the byte above.
        1 => (index ^ index >> 8) as u8,
        _ => ((index & key_mask(width_log2)).wrapping_mul(SPREAD) >> 56) as u8,
    }
}

/// Returns the key of two bytes with this fingerprint and this high byte.
#[inline]
pub(super) const fn key_of_two(fingerprint: u8, high: u8) -> u16 {
    (high as u16) << 8 | (fingerprint ^ high) as u16
}

/// Returns a bit for each byte of `BLOCKS` blocks that is equal.
///
/// # Safety
///
/// As many words begin at `first`, all of them atomic; words of blocks that the caller does not have may hold
/// anything.
#[inline]
pub(super) unsafe fn equal<const BLOCKS: usize>(first: *const AtomicU64, wanted: u8) -> u64 {
    let blocks = (0..BLOCKS).map(|block| first.wrapping_add(BLOCK_WORDS * block));
    // SAFETY: as the caller promises.
    blocks.rev().fold(0, |bits, at| bits << BLOCK | unsafe { lanes(at, wanted) }.bits())
}

/// Does as [`equal`] with a second list of bytes that has to be equal, too, and is read after the
/// first.
///
/// # Safety
///
/// The contract of [`equal`] holds for both lists.
#[inline]
pub(super) unsafe fn equal_both<const BLOCKS: usize>(
    first: (*const AtomicU64, u8),
    second: (*const AtomicU64, u8),
) -> u64 {
    (0..BLOCKS).rev().fold(0, |bits, block| {
        let [first, second] = [first, second].map(|(at, wanted)| {
            // SAFETY: as the caller promises.
            unsafe { lanes(at.wrapping_add(BLOCK_WORDS * block), wanted) }
        });
        bits << BLOCK | first.and(second).bits()
    })
}

#[cfg(all(target_arch = "x86_64", not(any(loom, miri))))]
use sse2::lanes;
#[cfg(not(all(target_arch = "x86_64", not(any(loom, miri)))))]
use words::lanes;

/// Which bytes of a block are equal, as every processor of x86-64 finds out.
#[cfg(all(target_arch = "x86_64", not(any(loom, miri))))]
mod sse2 {
    use std::arch::x86_64::{
        __m128i, _mm_and_si128, _mm_cmpeq_epi8, _mm_movemask_epi8, _mm_set1_epi8,
    };

    use super::AtomicU64;

    #[derive(Clone, Copy)]
    pub(super) struct Lanes(__m128i);

    /// # Safety
    ///
    /// A block of atomic words.
    #[inline]
    pub(super) unsafe fn lanes(first: *const AtomicU64, wanted: u8) -> Lanes {
        let block: __m128i;
        // Rust's atomics cannot load two words at once. The processor loads each byte whole, which is enough, and
        // takes a third fewer instructions than a load by words. SAFETY: an aligned load of memory that the caller
        // vouches for.
        unsafe {
            std::arch::asm!("movdqa {}, [{}]", out(xmm_reg) block, in(reg) first,
                options(readonly, nostack, preserves_flags));
        }
        // SAFETY: every processor of this architecture has SSE2.
        let wanted = unsafe { _mm_set1_epi8(wanted.cast_signed()) };
        // SAFETY: as above.
        Lanes(unsafe { _mm_cmpeq_epi8(block, wanted) })
    }

    impl Lanes {
        #[inline]
        pub(super) fn and(self, other: Self) -> Self {
            // SAFETY: as above.
            Self(unsafe { _mm_and_si128(self.0, other.0) })
        }

        #[inline]
        pub(super) fn bits(self) -> u64 {
            // SAFETY: as above.
            u64::from(unsafe { _mm_movemask_epi8(self.0) }.cast_unsigned())
        }
    }
}

/// Which bytes of a block are equal, on other processors.
#[cfg(any(not(target_arch = "x86_64"), loom, miri, test))]
mod words {
    use super::{AtomicU64, BLOCK_WORDS};
    use crate::raw::sync::Ordering;

    #[derive(Clone, Copy)]
    pub(super) struct Lanes(u64);

    /// # Safety
    ///
    /// A block of atomic words.
    #[inline]
    pub(super) unsafe fn lanes(first: *const AtomicU64, wanted: u8) -> Lanes {
        Lanes((0..BLOCK_WORDS).fold(0, |equal, number| {
            // SAFETY: as the caller promises.
            let word = unsafe { &*first.wrapping_add(number) };
            let lanes = word.load(Ordering::Acquire).to_le_bytes();
            let bits = lanes.map(|lane| u64::from(lane == wanted));
            let bits = bits.iter().rev().fold(0, |bits, bit| bits << 1 | bit);
            equal | bits << (8 * number)
        }))
    }

    impl Lanes {
        #[inline]
        pub(super) fn and(self, other: Self) -> Self {
            Self(self.0 & other.0)
        }

        #[inline]
        pub(super) fn bits(self) -> u64 {
            self.0
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn both_ways_to_compare_find_the_same() {
        #[repr(align(16))]
        struct Words([AtomicU64; 8]);
        let words = Words(std::array::from_fn(|i| AtomicU64::new(0x0302_0100_0706_0504 << i)));
        for wanted in 0..=u8::MAX {
            let first = words.0.as_ptr();
            let by_words = |block: usize| {
                // SAFETY: eight words.
                unsafe { super::words::lanes(first.wrapping_add(2 * block), wanted) }
            };
            let all = (0..4).fold(0, |bits, block| bits | by_words(block).bits() << (16 * block));
            // SAFETY: as above.
            assert_eq!(unsafe { equal::<4>(first, wanted) }, all);
            // SAFETY: as above.
            assert_eq!(unsafe { equal::<1>(first, wanted) }, all & 0xffff);
            let other = (words.0[4..].as_ptr(), wanted);
            // SAFETY: as above.
            let both = unsafe { equal_both::<1>((first, wanted), other) };
            assert_eq!(both, by_words(0).and(by_words(2)).bits());
        }
    }

    #[test]
    fn a_key_of_two_bytes_comes_back_from_its_fingerprint() {
        for key in 0..=u16::MAX {
            let fingerprint = fingerprint(u64::from(key), 1);
            assert_eq!(key_of_two(fingerprint, (key >> 8) as u8), key);
        }
    }
}
