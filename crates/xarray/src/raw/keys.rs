//! Fingerprints of keys: a byte each, all of which are compared at once.
//!
//! A key of one byte is its own fingerprint, and one of two bytes is its high byte beside its fingerprint, so that neither
//! takes memory for it. Nothing branches on which fingerprint is equal: at 20,000 kernel addresses such branches took
//! half of a lookup's time, as the processor cannot predict them.

use super::sync::{AtomicU64, Ordering};

/// Fingerprints that are compared at once.
pub(super) const BLOCK: usize = 16;
/// Words of as many.
pub(super) const BLOCK_WORDS: usize = BLOCK / 8;

/// Returns the index bits of a key.
#[inline]
pub(super) const fn key_mask(width_log2: usize) -> u64 {
    u64::MAX >> (64 - (8 << width_log2))
}

/// Returns the fingerprint of an index's key.
#[inline]
pub(super) const fn fingerprint(index: u64, width_log2: usize) -> u8 {
    /// Of the golden ratio: neighbours and multiples of powers of two are told apart.
    const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
    match width_log2 {
        0 => index as u8,
        // Addresses are multiples of 16, and differ in the byte above most often.
        1 => (index ^ index >> 8) as u8,
        _ => ((index & key_mask(width_log2)).wrapping_mul(SPREAD) >> 56) as u8,
    }
}

/// Returns the key of two bytes with this fingerprint and this high byte.
#[inline]
pub(super) const fn key_of_two(fingerprint: u8, high: u8) -> u16 {
    (high as u16) << 8 | (fingerprint ^ high) as u16
}

/// Returns a bit for each of these fingerprints that is equal: of one block or of four.
///
/// # Safety
///
/// Behind the first word are as many others, all of them atomic, of which the blocks beyond the caller's may be anything.
#[inline]
pub(super) unsafe fn equal<const BLOCKS: usize>(first: *const AtomicU64, wanted: u8) -> u64 {
    #[cfg(all(target_arch = "x86_64", not(any(loom, miri))))]
    // SAFETY: every processor of this architecture has SSE2, and the caller promises the rest.
    unsafe {
        equal_sse2::<BLOCKS>(first, wanted)
    }
    #[cfg(not(all(target_arch = "x86_64", not(any(loom, miri)))))]
    // SAFETY: as the caller promises.
    unsafe {
        equal_in_words::<BLOCKS>(first, wanted)
    }
}

#[cfg(all(target_arch = "x86_64", not(any(loom, miri))))]
#[target_feature(enable = "sse2")]
#[inline]
unsafe fn equal_sse2<const BLOCKS: usize>(first: *const AtomicU64, wanted: u8) -> u64 {
    use std::arch::x86_64::{__m128i, _mm_cmpeq_epi8, _mm_movemask_epi8, _mm_set1_epi8};
    let wanted = _mm_set1_epi8(wanted.cast_signed());
    (0..BLOCKS).fold(0, |equal, block| {
        let fingerprints: __m128i;
        // Two words at once are more than Rust's atomics can load. The processor loads each byte whole, and no more is
        // needed: a third fewer instructions than by words.
        let words = first.wrapping_add(BLOCK_WORDS * block);
        // SAFETY: an aligned load of memory that the caller vouches for.
        unsafe {
            std::arch::asm!("movdqa {}, [{}]", out(xmm_reg) fingerprints, in(reg) words,
                options(readonly, nostack, preserves_flags));
        }
        let bits = _mm_movemask_epi8(_mm_cmpeq_epi8(fingerprints, wanted));
        equal | u64::from(bits.cast_unsigned()) << (BLOCK * block)
    })
}

/// As above, for other processors.
#[cfg_attr(all(target_arch = "x86_64", not(any(loom, miri, test))), expect(dead_code))]
#[inline]
unsafe fn equal_in_words<const BLOCKS: usize>(first: *const AtomicU64, wanted: u8) -> u64 {
    (0..BLOCKS * BLOCK_WORDS).fold(0, |equal, number| {
        // SAFETY: as the caller promises.
        let word = unsafe { &*first.wrapping_add(number) };
        let lanes = word.load(Ordering::Acquire).to_le_bytes();
        let bits = lanes.map(|lane| u64::from(lane == wanted));
        let bits = bits.iter().rev().fold(0, |bits, bit| bits << 1 | bit);
        equal | bits << (8 * number)
    })
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
            // SAFETY: eight words.
            let by_words = unsafe { equal_in_words::<4>(words.0.as_ptr(), wanted) };
            // SAFETY: as above.
            assert_eq!(unsafe { equal::<4>(words.0.as_ptr(), wanted) }, by_words);
            // SAFETY: as above.
            assert_eq!(unsafe { equal::<1>(words.0.as_ptr(), wanted) }, by_words & 0xffff);
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
