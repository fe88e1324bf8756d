//! Ids without anything stored at them: one bit each.
//!
//! # How it works
//! An array that hands out ids has one entry for each 1024 of them: an integer while only the lowest 63 are
//! used, else a bitmap of 128 bytes. Mark 0 of the array (free) says which entries have a free bit.
//!
//! # Invariants
//! - An entry has at least one bit set: the last id to go takes the entry with it.
//! - A bitmap entry bears the free mark unless all its bits are set; an integer always bears it.
//! - Bitmaps are looked at only under the array's lock.
//!
//! Linux counterpart: `struct ida` of lib/idr.c, include/linux/idr.h @ 6.1.

#[allow(unsafe_code, reason = "bitmaps become entries and back, see its header")]
mod raw;

use std::ops::RangeInclusive;

use self::raw::{CHUNK, Chunk, SMALL, chunk, create, free};
use crate::core::id::next_free;
use crate::{Entry, Error, Flags, Gfp, Mark, PackedXArray, Result, Writer};

/// Hands out the lowest free id of a range.
///
/// ```
/// use slablab_xarray::{Gfp, Ida};
///
/// let ids = Ida::new();
/// assert_eq!(ids.alloc(0..=Ida::MAX, Gfp::KERNEL), Ok(0));
/// assert_eq!(ids.alloc(0..=Ida::MAX, Gfp::KERNEL), Ok(1));
/// assert!(ids.free(0));
/// assert_eq!(ids.first(0..=Ida::MAX), Some(1));
/// assert_eq!(ids.first(2..=Ida::MAX), None);
/// assert_eq!(ids.alloc(0..=Ida::MAX, Gfp::KERNEL), Ok(0));
/// ```
#[derive(Debug)]
#[repr(transparent)]
pub struct Ida {
    chunks: PackedXArray,
}

impl Default for Ida {
    fn default() -> Self {
        Self::new()
    }
}

impl Ida {
    /// The largest id. Linux's are positive integers.
    pub const MAX: u32 = i32::MAX as u32;

    /// Returns a source of ids, all of them free. Linux: `DEFINE_IDA`.
    #[must_use]
    pub const fn new() -> Self {
        Self { chunks: PackedXArray::new(Flags(Flags::ALLOC.0 | Flags::LOCK_IRQ.0)) }
    }

    /// Takes the lowest free id of a range. Linux: `ida_alloc_range`.
    ///
    /// # Errors
    ///
    /// If all ids are taken (or above [`Ida::MAX`]), or the range is empty: busy. If memory is out.
    pub fn alloc(&self, range: RangeInclusive<u32>, gfp: Gfp) -> Result<u32> {
        if range.is_empty() {
            // A range that was iterated to its end still has its ends.
            return Err(Error::Busy);
        }
        let (min, max) = (*range.start(), (*range.end()).min(Self::MAX));
        let writer = self.chunks.lock_for(gfp);
        let mut from = min;
        while from <= max {
            let (first, last) = (u64::from(from / CHUNK), u64::from(max / CHUNK));
            let number = next_free(writer.head(), first, last, writer.pin()).ok_or(Error::Busy)?;
            let chunk = chunk(&writer, writer.load(number));
            let begin = number as u32 * CHUNK;
            if let Some(bit) = chunk.next_free(from.max(begin) - begin) {
                let id = begin + bit;
                return if id > max { Err(Error::Busy) } else { take(&writer, id).map(|()| id) };
            }
            // The free ids of this chunk are below `min`.
            from = begin + CHUNK;
        }
        Err(Error::Busy)
    }

    /// Gives an id back. Returns whether it was taken. Linux: `ida_free`.
    pub fn free(&self, id: u32) -> bool {
        let writer = self.chunks.lock_for(Gfp::NOWAIT);
        let (number, bit) = (u64::from(id / CHUNK), id % CHUNK);
        let entry = writer.load(number);
        match chunk(&writer, entry) {
            Chunk::Small(bits) if bit < SMALL && bits >> bit & 1 != 0 => {
                if bits == 1 << bit {
                    writer.erase(number);
                } else {
                    let rest = Entry::value((bits & !(1 << bit)) as usize);
                    writer.insert(number, rest).expect("an overwrite cannot fail");
                }
                true
            }
            Chunk::Large(bitmap) if bitmap.word(bit).0.get() & bitmap.word(bit).1 != 0 => {
                let (word, mask) = bitmap.word(bit);
                word.set(word.get() & !mask);
                writer.mark(number, Mark::FREE);
                if bitmap.all(0) {
                    writer.erase(number);
                    free(entry);
                }
                true
            }
            _ => false,
        }
    }

    /// Returns the lowest id of a range that is taken. Linux: `ida_find_first_range`.
    pub fn first(&self, range: RangeInclusive<u32>) -> Option<u32> {
        if range.is_empty() {
            return None;
        }
        let (min, max) = (*range.start(), (*range.end()).min(Self::MAX));
        let writer = self.chunks.lock();
        let mut entries = writer.entries_in(u64::from(min / CHUNK), u64::from(max / CHUNK));
        let id = entries.find_map(|(number, entry)| {
            let begin = number as u32 * CHUNK;
            let bit = chunk(&writer, entry).next_taken(min.saturating_sub(begin))?;
            Some(begin + bit)
        });
        id.filter(|id| *id <= max)
    }

    /// Returns whether no id is taken. Linux: `ida_is_empty`.
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// Gives all ids back. Linux: `ida_destroy`.
    pub fn clear(&self) {
        let writer = self.chunks.lock();
        // The bitmaps are not looked at again before the array is cleared.
        writer.entries().for_each(|(_, entry)| free(entry));
        writer.clear();
    }
}

impl Drop for Ida {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Sets the bit of a free id.
fn take(writer: &Writer<'_>, id: u32) -> Result<()> {
    let (number, bit) = (u64::from(id / CHUNK), id % CHUNK);
    match chunk(writer, writer.load(number)) {
        Chunk::Small(bits) if bit < SMALL => {
            writer.insert(number, Entry::value((bits | 1 << bit) as usize))?;
        }
        Chunk::Small(bits) => {
            let entry = create(bits, bit, writer.gfp)?;
            writer.insert(number, entry).inspect_err(|_| free(entry))?;
        }
        Chunk::Large(bitmap) => {
            let (word, mask) = bitmap.word(bit);
            word.set(word.get() | mask);
            if bitmap.all(u64::MAX) {
                writer.unmark(number, Mark::FREE);
            }
        }
    }
    Ok(())
}
