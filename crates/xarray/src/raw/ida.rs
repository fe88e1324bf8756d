//! Ids without anything stored at them: one bit each.
//!
//! # How it works
//!
//! An array that hands out ids has one entry for each 1024 of them: an integer while only the lowest 63 are
//! used, else a bitmap of 128 bytes. Mark 0 of the array (free) says which entries have a free bit.
//!
//! # Invariants
//!
//! - An entry has at least one bit set: the last id to go takes the entry with it.
//! - A bitmap entry bears the free mark unless all its bits are set; an integer always bears it.
//! - Bitmaps are looked at under the array's lock only.
//!
//! Linux counterpart: `struct ida` of lib/idr.c, include/linux/idr.h @ 6.1.

use std::alloc::Layout;
use std::cell::Cell;
use std::ops::RangeInclusive;
use std::ptr::NonNull;

use super::memory;
use crate::core::id::next_free;
use crate::{Entry, Error, Filter, Flags, Gfp, Mark, RawXArray, Result, Writer};

const WORDS: usize = 16;
/// Ids that an entry stands for.
const CHUNK: u32 = WORDS as u32 * u64::BITS;
/// Ids that fit an integer entry.
const SMALL: u32 = 63;

/// Hands out the lowest free id of a range.
///
/// ```
/// use slablab_xarray::{Gfp, Ida};
///
/// let ids = Ida::new();
/// assert_eq!(ids.alloc(0..=Ida::MAX, Gfp::KERNEL), Ok(0));
/// assert_eq!(ids.alloc(0..=Ida::MAX, Gfp::KERNEL), Ok(1));
/// assert!(ids.free(0));
/// assert_eq!(ids.alloc(0..=Ida::MAX, Gfp::KERNEL), Ok(0));
/// ```
#[derive(Debug)]
#[repr(transparent)]
pub struct Ida {
    chunks: RawXArray,
}

/// Bits of [`CHUNK`] ids.
struct Bitmap([Cell<u64>; WORDS]);

/// What an entry says of its ids.
#[derive(Clone, Copy)]
enum Chunk<'a> {
    Small(u64),
    Large(&'a Bitmap),
}

impl Bitmap {
    const LAYOUT: Layout = Layout::new::<Self>();

    /// Returns a bitmap with these lowest bits.
    fn create(bits: u64, gfp: Gfp) -> Result<NonNull<Self>> {
        let bitmap = memory::allocate(Self::LAYOUT, gfp)?.cast::<Self>();
        // SAFETY: fresh memory; words are valid when zero.
        unsafe { bitmap.as_ref() }.0[0].set(bits);
        Ok(bitmap)
    }

    /// # Safety
    ///
    /// It came from [`Bitmap::create`] and is in no array any more.
    unsafe fn free(bitmap: NonNull<Self>) {
        // SAFETY: as the caller promises.
        unsafe { memory::free(bitmap.cast(), Self::LAYOUT) };
    }

    fn word(&self, bit: u32) -> (&Cell<u64>, u64) {
        (&self.0[(bit / u64::BITS) as usize], 1 << (bit % u64::BITS))
    }

    /// Returns the first bit at or after `from` that is not set.
    fn next_free(&self, from: u32) -> Option<u32> {
        let first = from / u64::BITS;
        (first..WORDS as u32).find_map(|word| {
            let skipped = if word == first { (1 << (from % u64::BITS)) - 1 } else { 0 };
            let free = !(self.0[word as usize].get() | skipped);
            (free != 0).then(|| word * u64::BITS + free.trailing_zeros())
        })
    }

    fn all(&self, word: u64) -> bool {
        self.0.iter().all(|bits| bits.get() == word)
    }
}

impl<'a> Chunk<'a> {
    /// Reads an entry of an [`Ida`], or the lack of one.
    ///
    /// # Safety
    ///
    /// The array's lock is held for `'a`.
    unsafe fn of(entry: Entry) -> Self {
        match NonNull::new(entry.as_ptr().cast::<Bitmap>()) {
            None => Self::Small(0),
            Some(_) if entry.is_value() => Self::Small(entry.addr() as u64 >> 1),
            // SAFETY: all other entries are bitmaps, and live as long as nobody takes them out.
            Some(bitmap) => Self::Large(unsafe { bitmap.as_ref() }),
        }
    }

    fn next_free(self, from: u32) -> Option<u32> {
        match self {
            Self::Small(bits) if from < SMALL => Some(from + (!(bits >> from)).trailing_zeros()),
            Self::Small(_) => Some(from),
            Self::Large(bitmap) => bitmap.next_free(from),
        }
    }
}

impl Default for Ida {
    fn default() -> Self {
        Self::new()
    }
}

impl Ida {
    /// The largest id. Linux's are positive integers.
    pub const MAX: u32 = i32::MAX as u32;

    /// Returns a source of ids none of which is taken. Linux: `DEFINE_IDA`.
    #[must_use]
    pub const fn new() -> Self {
        Self { chunks: RawXArray::new(Flags(Flags::ALLOC.0 | Flags::LOCK_IRQ.0)) }
    }

    /// Takes the lowest free id of a range. Linux: `ida_alloc_range`.
    ///
    /// # Errors
    ///
    /// Busy if all are taken (or above [`Ida::MAX`]); no memory.
    pub fn alloc(&self, range: RangeInclusive<u32>, gfp: Gfp) -> Result<u32> {
        let (min, max) = (*range.start(), (*range.end()).min(Self::MAX));
        let writer = self.chunks.lock_for(gfp);
        let mut from = min;
        while from <= max {
            let (first, last) = (u64::from(from / CHUNK), u64::from(max / CHUNK));
            let number = next_free(writer.head(), first, last, writer.pin()).ok_or(Error::Busy)?;
            // SAFETY: the writer holds the lock.
            let chunk = unsafe { Chunk::of(writer.load(number)) };
            let begin = number as u32 * CHUNK;
            if let Some(bit) = chunk.next_free(from.max(begin) - begin) {
                let id = begin + bit;
                return if id > max { Err(Error::Busy) } else { take(&writer, id).map(|()| id) };
            }
            // What is free in this chunk is below `min`.
            from = begin + CHUNK;
        }
        Err(Error::Busy)
    }

    /// Gives an id back. Returns whether it was taken. Linux: `ida_free`.
    pub fn free(&self, id: u32) -> bool {
        let writer = self.chunks.lock_for(Gfp::NOWAIT);
        let (number, bit) = (u64::from(id / CHUNK), id % CHUNK);
        let entry = writer.load(number);
        // SAFETY: the writer holds the lock.
        match unsafe { Chunk::of(entry) } {
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
                writer.set_mark(number, Mark::FREE);
                if bitmap.all(0) {
                    writer.erase(number);
                    // SAFETY: it was an entry, which has just been erased.
                    unsafe { Bitmap::free(NonNull::from(bitmap)) };
                }
                true
            }
            _ => false,
        }
    }

    /// Returns whether no id is taken. Linux: `ida_is_empty`.
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// Gives all ids back. Linux: `ida_destroy`.
    pub fn clear(&self) {
        let writer = self.chunks.lock();
        let guard = crate::pin();
        for (_, entry) in self.chunks.entries(0, u64::MAX, Filter::Present, &guard) {
            // SAFETY: the writer holds the lock.
            if let Chunk::Large(bitmap) = unsafe { Chunk::of(entry) } {
                // SAFETY: nobody looks at it again before the array is cleared.
                unsafe { Bitmap::free(NonNull::from(bitmap)) };
            }
        }
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
    // SAFETY: the writer holds the lock.
    match unsafe { Chunk::of(writer.load(number)) } {
        Chunk::Small(bits) if bit < SMALL => {
            writer.insert(number, Entry::value((bits | 1 << bit) as usize))?;
        }
        Chunk::Small(bits) => {
            let bitmap = Bitmap::create(bits, writer.gfp)?;
            // SAFETY: nobody else has it yet.
            let (word, mask) = unsafe { bitmap.as_ref() }.word(bit);
            word.set(word.get() | mask);
            if let Err(error) = writer.insert(number, Entry::from_ptr(bitmap.as_ptr())) {
                // SAFETY: it was not stored.
                unsafe { Bitmap::free(bitmap) };
                return Err(error);
            }
        }
        Chunk::Large(bitmap) => {
            let (word, mask) = bitmap.word(bit);
            word.set(word.get() | mask);
            if bitmap.all(u64::MAX) {
                writer.clear_mark(number, Mark::FREE);
            }
        }
    }
    Ok(())
}
