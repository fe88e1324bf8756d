//! Finding a key in a bucket: all keys are compared, 16 bytes at once.
//!
//! Nothing branches on which key is equal: at 20,000 kernel addresses such branches took half of a lookup's time,
//! as the processor cannot predict them. How many blocks there are and how wide the keys are, it can.

use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of keys that are compared at once.
pub(super) const BLOCK_BYTES: usize = 16;
/// The most blocks that a bucket has.
const BLOCKS_MAX: usize = 8;
/// Words of a block.
pub(super) const BLOCK_WORDS: usize = BLOCK_BYTES / 8;

/// Returns the index bits of a key.
#[inline]
pub(super) const fn key_mask(width_log2: usize) -> u64 {
    u64::MAX >> (64 - (8 << width_log2))
}

/// Repeats the key of an index over a whole word.
#[inline]
pub(super) fn spread(index: u64, width_log2: usize) -> u64 {
    const ONES: [u64; 4] = [u64::MAX / 0xff, u64::MAX / 0xffff, u64::MAX / 0xffff_ffff, 1];
    (index & key_mask(width_log2)).wrapping_mul(ONES[width_log2 % 4])
}

/// Returns the number of the first key that equals the index's low bits. There is at least one block of keys.
#[inline]
pub(super) fn find_key(keys: &[AtomicU64], width_log2: usize, index: u64) -> Option<usize> {
    let equal = match width_log2 {
        0 => equal_keys::<0>(keys, index),
        1 => equal_keys::<1>(keys, index),
        2 => equal_keys::<2>(keys, index),
        _ => equal_keys::<3>(keys, index),
    };
    (equal != 0).then_some(equal.trailing_zeros() as usize)
}

/// Returns a word of which the lowest bit set is that of the first key that is equal.
#[inline]
fn equal_keys<const WIDTH_LOG2: usize>(keys: &[AtomicU64], index: u64) -> u64 {
    let needle = spread(index, WIDTH_LOG2);
    let blocks = keys.as_chunks::<BLOCK_WORDS>().0;
    let last = blocks.len() - 1;
    // Where there are fewer than four, the last stands for those behind it.
    let four = |first: usize| {
        let words = [0, 1, 2, 3].map(|block| {
            // SAFETY: the last is the largest number that there is.
            let block = unsafe { blocks.get_unchecked((first + block).min(last)) };
            [block[0].load(Ordering::Acquire), block[1].load(Ordering::Acquire)]
        });
        equal_in_four::<WIDTH_LOG2>(words, needle)
    };
    let equal = four(0);
    let equal = if last < 4 { equal } else { equal | four(4) << (64 >> WIDTH_LOG2) };
    // A key may have come between two loads of the block that stands for others: there is no slot behind that match.
    equal & u64::MAX >> (64 - (size_of_val(keys) >> WIDTH_LOG2))
}

/// Returns a bit for each key of four blocks that is equal.
#[cfg(target_arch = "x86_64")]
#[inline]
fn equal_in_four<const WIDTH_LOG2: usize>(blocks: [[u64; BLOCK_WORDS]; 4], needle: u64) -> u64 {
    // SAFETY: every processor of this architecture has SSE2.
    unsafe { equal_in_four_sse2::<WIDTH_LOG2>(blocks, needle) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse2")]
#[inline]
fn equal_in_four_sse2<const WIDTH_LOG2: usize>(
    blocks: [[u64; BLOCK_WORDS]; 4],
    needle: u64,
) -> u64 {
    use std::arch::x86_64::*;
    let needle = _mm_set1_epi64x(needle as i64);
    let equal = blocks.map(|block| {
        let block = _mm_set_epi64x(block[1] as i64, block[0] as i64);
        match WIDTH_LOG2 {
            0 => _mm_cmpeq_epi8(block, needle),
            1 => _mm_cmpeq_epi16(block, needle),
            _ => _mm_cmpeq_epi32(block, needle),
        }
    });
    let bits = |bytes| u64::from(_mm_movemask_epi8(bytes).cast_unsigned());
    let pairs = |[a, b, c, d]: [__m128i; 4]| [_mm_packs_epi16(a, b), _mm_packs_epi16(c, d)];
    let halves =
        |[a, b, c, d]: [__m128i; 4]| _mm_packs_epi16(_mm_packs_epi32(a, b), _mm_packs_epi32(c, d));
    match WIDTH_LOG2 {
        0 => equal.iter().rev().fold(0, |sum, &equal| sum << 16 | bits(equal)),
        1 => pairs(equal).iter().rev().fold(0, |sum, &equal| sum << 16 | bits(equal)),
        2 => bits(halves(equal)),
        _ => {
            let both =
                equal.map(|equal| _mm_and_si128(equal, _mm_shuffle_epi32::<0b10_11_00_01>(equal)));
            bits(_mm_packs_epi16(halves(both), _mm_setzero_si128()))
        }
    }
}

/// As above, for other processors.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn equal_in_four<const WIDTH_LOG2: usize>(blocks: [[u64; BLOCK_WORDS]; 4], needle: u64) -> u64 {
    let (lanes, bits) = (8 >> WIDTH_LOG2, 8 << WIDTH_LOG2);
    let differ = blocks.as_flattened().iter().map(|word| word ^ needle);
    let keys = differ
        .flat_map(|word| (0..lanes).map(move |lane| word >> (lane * bits) & key_mask(WIDTH_LOG2)));
    keys.enumerate().fold(0, |equal, (number, key)| equal | u64::from(key == 0) << number)
}

/// Returns the lowest key at or above a key.
#[inline]
pub(super) fn next_key(keys: &[AtomicU64], width_log2: usize, from: u64) -> Option<u64> {
    let mut words = [0; BLOCKS_MAX * BLOCK_WORDS];
    let words = &mut words[..keys.len()];
    words.iter_mut().zip(keys).for_each(|(word, key)| *word = key.load(Ordering::Acquire));
    macro_rules! lowest {
        ($key:ty) => {{
            const LANES: usize = 8 / size_of::<$key>();
            let from = from as $key;
            let mut best = [<$key>::MAX; LANES];
            for word in words.iter() {
                for lane in 0..LANES {
                    let key = (word >> (lane * 8 * size_of::<$key>())) as $key;
                    best[lane] = best[lane].min(key.wrapping_sub(from));
                }
            }
            let distance = best.into_iter().min()?;
            u64::from(from.checked_add(distance)?)
        }};
    }
    Some(match width_log2 {
        0 => lowest!(u8),
        1 => lowest!(u16),
        2 => lowest!(u32),
        _ => lowest!(u64),
    })
}
