//! Bitmaps as entries of an array; only those of [`super::Ida`] hold them.
//!
//! # Invariants
//! - Every entry other than an integer is a bitmap that [`create`] made and that is in one place; bitmaps are looked at
//!   under the lock.

use std::alloc::Layout;
use std::cell::Cell;
use std::ptr::NonNull;

use crate::raw::memory;
use crate::{Entry, Gfp, Result, Writer};

const WORDS: usize = 16;
/// Ids that an entry stands for.
pub(super) const CHUNK: u32 = WORDS as u32 * u64::BITS;
/// Ids that fit an integer entry.
pub(super) const SMALL: u32 = 63;

/// Bits of [`CHUNK`] ids.
pub(super) struct Bitmap([Cell<u64>; WORDS]);

/// What an entry says about its ids.
#[derive(Clone, Copy)]
pub(super) enum Chunk<'a> {
    Small(u64),
    Large(&'a Bitmap),
}

impl Bitmap {
    const LAYOUT: Layout = Layout::new::<Self>();

    /// Returns the word with this bit, and the bit's mask.
    pub(super) fn word(&self, bit: u32) -> (&Cell<u64>, u64) {
        (&self.0[(bit / u64::BITS) as usize], 1 << (bit % u64::BITS))
    }

    /// Returns the first bit at or after `from` that is not set once all bits of `flipped` are turned over.
    fn next_free(&self, from: u32, flipped: u64) -> Option<u32> {
        let first = from / u64::BITS;
        (first..WORDS as u32).find_map(|word| {
            let skipped = if word == first { (1 << (from % u64::BITS)) - 1 } else { 0 };
            let free = !(self.0[word as usize].get() ^ flipped | skipped);
            (free != 0).then(|| word * u64::BITS + free.trailing_zeros())
        })
    }

    /// Returns whether all words are this one.
    pub(super) fn all(&self, word: u64) -> bool {
        self.0.iter().all(|bits| bits.get() == word)
    }
}

impl Chunk<'_> {
    /// Returns the first free id of the chunk at or after `from`.
    pub(super) fn next_free(self, from: u32) -> Option<u32> {
        match self {
            Self::Small(bits) if from < SMALL => Some(from + (!(bits >> from)).trailing_zeros()),
            Self::Small(_) => Some(from),
            Self::Large(bitmap) => bitmap.next_free(from, 0),
        }
    }

    /// Returns the first taken id of the chunk at or after `from`.
    pub(super) fn next_taken(self, from: u32) -> Option<u32> {
        match self {
            Self::Small(bits) => {
                let taken = bits >> from.min(SMALL);
                (taken != 0).then(|| from + taken.trailing_zeros())
            }
            Self::Large(bitmap) => bitmap.next_free(from, u64::MAX),
        }
    }
}

/// Reads an entry of an [`super::Ida`], or the lack of one, under the lock.
pub(super) fn chunk<'w>(_writer: &'w Writer<'_>, entry: Entry) -> Chunk<'w> {
    match NonNull::new(entry.as_ptr().cast::<Bitmap>()) {
        None => Chunk::Small(0),
        Some(_) if entry.is_value() => Chunk::Small(entry.addr() as u64 >> 1),
        // SAFETY: all other entries are bitmaps, and live as long as they are not taken out.
        Some(bitmap) => Chunk::Large(unsafe { bitmap.as_ref() }),
    }
}

/// Returns a bitmap with these lowest bits and one more, as an entry.
pub(super) fn create(bits: u64, more: u32, gfp: Gfp) -> Result<Entry> {
    let bitmap = memory::allocate(Bitmap::LAYOUT, gfp)?.cast::<Bitmap>();
    // SAFETY: fresh memory that no other code has yet; words are valid when zero.
    let words = unsafe { bitmap.as_ref() };
    words.0[0].set(bits);
    let (word, mask) = words.word(more);
    word.set(word.get() | mask);
    Ok(Entry::from_ptr(bitmap.as_ptr()))
}

/// Frees the bitmap of an entry that is in no array any more, if it has one.
pub(super) fn free(entry: Entry) {
    if let Some(bitmap) = NonNull::new(entry.as_ptr().cast::<u8>()).filter(|_| !entry.is_value()) {
        // SAFETY: it came from `create`, and its only place was emptied.
        unsafe { memory::free(bitmap, Bitmap::LAYOUT) };
    }
}
