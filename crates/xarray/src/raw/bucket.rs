//! The bucket: up to 64 entries with the low bytes of their indices, for regions where few indices are used.
//!
//! # How it works
//! A header, a filter where there are many entries, the bits that all indices share, then the keys (1, 2, 4 or 8 bytes
//! each, as few as tell the entries apart), then one slot per key, in the order of insertion. A reader compares
//! 16 bytes of keys at once, takes the first that matches, and reads that slot. The width and the number of blocks of
//! keys come with the pointer.
//!
//! A bucket serves a run of `2^n` slots of the dense node above, which all hold its word, so it is large where
//! indices are far apart, too. What was learned: a bucket a slot took 73 bytes an entry with one index of 64 in use, most of
//! it headers, and a line of the cache for each miss. With a bucket for many slots it is 11 bytes, and all keys
//! of 64 entries fill two or three lines. An order of keys instead of an order of insertion would cost each store a copy;
//! who walks looks for the next key instead, which takes as many comparisons as a lookup.
//!
//! The filter has a bit for each of 256 values that indices are folded to. Where it is clear the index is not there, and a
//! reader knows after one line of the cache instead of three: misses take half the time, for half a byte an entry. With
//! keys of one byte the filter is exact, with longer ones it lets one miss of five through. (The shared bits stand
//! behind it, beside the keys: before it they were a line of their own for every hit.)
//!
//! A key is never changed or reused while the bucket lives: erasing empties the slot (a tombstone), storing at
//! the same index fills it again, and only a new bucket drops it. So a reader that found its key cannot be
//! handed another index's entry, and neither erasing nor overwriting needs memory.
//!
//! Keys not used yet repeat key 0. Key 0 itself is found first at slot 0, so they match nothing, and adding
//! an entry is: fill the slot, then publish its key.
//!
//! # Invariants
//! - `live <= len <= capacity`; slots at `len` and above are empty; `live` = slots that are not empty.
//! - `marks[m]` bit i belongs to slot i (mark 0 inverted as in [`super::Dense`]), 0 when the slot is empty.
//! - For each key: `index >> 8*width == base >> 8*width`, and `key == index & (2^(8*width) - 1)`.
//! - The filter's bit of each key is set, and was before the key was there; erasing leaves it.
//! - The slots of its run hold its word (while a writer is about to split it: some of them), and no other slot does.

use std::alloc::Layout;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicPtr, AtomicU8, AtomicU64, Ordering};

use super::keys::{self, BLOCK_BYTES, BLOCK_WORDS};
use super::memory;
use super::slot::{Slot, Word};
use crate::{Entry, Gfp, Mark, Result};

/// No bucket holds more.
pub(crate) const CAPACITY_MAX: usize = 64;
/// The sizes that buckets come in: each at most 1.5 times the one before, so at least 2/3 are used after growth
/// (but with keys of one byte, see [`capacity_for`]).
const CAPACITIES: [u8; 12] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64];
/// The most entries by key width (1, 2, 4, 8 bytes): wide keys fill more lines per comparison.
const CAPACITY_MAX_BY_WIDTH: [usize; 4] = [64, 64, 32, 16];

#[repr(C)]
pub(super) struct Header {
    /// Links the node in a limbo list once it is unlinked.
    pub(super) limbo: AtomicPtr<()>,
    marks: [AtomicU64; 3],
    capacity: u8,
    width_log2: u8,
    len: AtomicU8,
    live: AtomicU8,
    blocks: u8,
}

pub(super) const HEADER_BYTES: usize = size_of::<Header>();
const _: () = assert!(HEADER_BYTES == 40);
/// Bytes of the indices' common bits, right before the keys, as lookups read them together.
pub(super) const BASE_BYTES: usize = 8;
/// Bytes of a filter.
pub(super) const FILTER_BYTES: usize = 32;
/// Buckets of fewer entries have no filter: their keys are a line or two.
const FILTERED_MIN: u8 = 32;

/// Returns the log2 of the key bytes that tell these index bits apart.
pub(crate) const fn width_log2(differing_bits: u64) -> u32 {
    match differing_bits {
        0..=0xff => 0,
        0x100..=0xffff => 1,
        0x1_0000..=0xffff_ffff => 2,
        _ => 3,
    }
}

/// Returns the most entries that a bucket with keys of this width holds.
pub(crate) const fn capacity_max(width_log2: u32) -> usize {
    CAPACITY_MAX_BY_WIDTH[width_log2 as usize]
}

/// Returns the size for so many entries. More than 32 whose keys have one byte fill an eighth of their indices, and most
/// of them are on the way to a leaf: without the 48 between, filling leaves in random order takes a sixth less time.
fn capacity_for(entries: usize, width_log2: u32) -> u8 {
    let suits =
        |capacity: u8| usize::from(capacity) >= entries && (capacity, width_log2) != (48, 0);
    CAPACITIES.into_iter().find(|&capacity| suits(capacity)).expect("at most 64 entries")
}

fn key_blocks(capacity: u8, width_log2: u32) -> u8 {
    (usize::from(capacity) << width_log2).div_ceil(BLOCK_BYTES) as u8
}

/// Returns the offset of the keys.
fn keys_offset(capacity: u8) -> usize {
    let filter = if has_filter(capacity) { FILTER_BYTES } else { 0 };
    HEADER_BYTES + filter + BASE_BYTES
}

fn has_filter(capacity: u8) -> bool {
    capacity >= FILTERED_MIN
}

/// Returns the word and the bit of a filter that stand for an index: a different one for each key of one byte.
#[inline]
pub(super) fn filter_place(index: u64) -> (usize, u64) {
    let folded = index ^ index >> 16;
    let folded = folded ^ folded >> 8;
    ((folded >> 6) as usize % 4, 1 << (folded % 64))
}

fn layout(capacity: u8, blocks: u8) -> Layout {
    let bytes =
        keys_offset(capacity) + BLOCK_BYTES * usize::from(blocks) + 8 * usize::from(capacity);
    Layout::from_size_align(bytes, 16).expect("a few hundred bytes")
}

/// A bucket, alive for `'a`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bucket<'a> {
    node: NonNull<Header>,
    _alive: PhantomData<&'a Header>,
}

impl<'a> Bucket<'a> {
    fn slots(&self) -> &'a [Slot] {
        // SAFETY: the slots follow the keys.
        let slots = unsafe { self.node.byte_add(self.keys_offset() + 8 * self.key_words()) };
        // SAFETY: as above, so many; only ever accessed as slots.
        unsafe { std::slice::from_raw_parts(slots.cast().as_ptr(), self.capacity()) }
    }

    /// Returns the slot of this number.
    pub(crate) fn slot(&self, number: usize) -> &'a Slot {
        &self.slots()[number]
    }
}

impl Bucket<'_> {
    /// Returns the word of a fresh, empty bucket with room for `entries` keys whose index bits differ from
    /// `index` only in the lowest `8 << width_log2`.
    pub(crate) fn create(index: u64, width_log2: u32, entries: usize, gfp: Gfp) -> Result<Word> {
        let capacity = capacity_for(entries, width_log2);
        let blocks = key_blocks(capacity, width_log2);
        let node = memory::allocate(layout(capacity, blocks), gfp)?.cast::<Header>();
        let base = index & !keys::key_mask(width_log2 as usize);
        let header = Header {
            limbo: AtomicPtr::default(),
            marks: Default::default(),
            capacity,
            width_log2: width_log2 as u8,
            len: AtomicU8::new(0),
            live: AtomicU8::new(0),
            blocks,
        };
        // SAFETY: fresh memory, large enough for a header.
        unsafe { node.write(header) };
        // SAFETY: within it.
        let place = unsafe { node.byte_add(keys_offset(capacity) - BASE_BYTES) };
        // SAFETY: as above.
        unsafe { place.cast::<u64>().write(base) };
        Ok(Word::from_bucket(node.cast(), blocks, width_log2, has_filter(capacity)))
    }

    /// # Safety
    ///
    /// The word is a bucket's, which lives for `'a`.
    #[inline]
    pub(super) unsafe fn from_word(word: Word) -> Self {
        // SAFETY: a bucket's word is not null.
        let node = unsafe { NonNull::new_unchecked(word.node().cast()) };
        Self { node, _alive: PhantomData }
    }

    #[inline]
    fn header(&self) -> &Header {
        // SAFETY: the bucket lives for 'a.
        unsafe { self.node.as_ref() }
    }

    pub(crate) fn width_log2(&self) -> u32 {
        u32::from(self.header().width_log2)
    }

    pub(crate) fn capacity(&self) -> usize {
        usize::from(self.header().capacity)
    }

    fn keys_offset(&self) -> usize {
        keys_offset(self.header().capacity)
    }

    fn base(&self) -> u64 {
        // SAFETY: it stands before the keys.
        let base = unsafe { self.node.byte_add(self.keys_offset() - BASE_BYTES) }.cast::<u64>();
        // SAFETY: as above; it never changes.
        unsafe { *base.as_ptr() }
    }

    /// The words of the filter, none in a small bucket.
    fn filter(&self) -> &[AtomicU64] {
        let words = (self.keys_offset() - BASE_BYTES - HEADER_BYTES) / 8;
        // SAFETY: the filter follows the header.
        let filter = unsafe { self.node.byte_add(HEADER_BYTES) }.cast::<AtomicU64>();
        // SAFETY: it has so many words.
        unsafe { std::slice::from_raw_parts(filter.as_ptr(), words) }
    }

    /// Lets lookups look for this index. It comes before the key: what a walk along the keys has found, lookups find.
    fn add_to_filter(&self, index: u64) {
        let (word, bit) = filter_place(index);
        if let Some(word) = self.filter().get(word) {
            word.store(word.load(Ordering::Relaxed) | bit, Ordering::Release);
        }
    }

    /// Returns whether the filter, if there is one, has this index, or another with the same bit.
    fn may_hold(&self, index: u64) -> bool {
        let (word, bit) = filter_place(index);
        self.filter().get(word).is_none_or(|word| word.load(Ordering::Acquire) & bit != 0)
    }

    fn key_words(&self) -> usize {
        BLOCK_WORDS * usize::from(self.header().blocks)
    }

    pub(super) fn layout(&self) -> Layout {
        layout(self.header().capacity, self.header().blocks)
    }

    /// Returns the bytes that the bucket takes.
    pub(crate) fn bytes(&self) -> usize {
        self.layout().size()
    }

    pub(crate) fn len(&self) -> usize {
        usize::from(self.header().len.load(Ordering::Acquire))
    }

    pub(crate) fn live(&self) -> usize {
        usize::from(self.header().live.load(Ordering::Relaxed))
    }

    fn key_word(&self, number: usize) -> &AtomicU64 {
        &self.keys()[number]
    }

    /// Returns the index whose entry slot `number` holds.
    pub(crate) fn index(&self, number: usize) -> u64 {
        let width_log2 = self.width_log2();
        let lanes_log2 = 3 - width_log2;
        let word = self.key_word(number >> lanes_log2).load(Ordering::Relaxed);
        let lane_bits = 8 << width_log2;
        let lane = (number & ((1 << lanes_log2) - 1)) as u32;
        let key = word >> (lane * lane_bits) & (u64::MAX >> (64 - lane_bits));
        self.base() | key
    }

    /// Returns all slots' indices and entries, in order of insertion.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (u64, Entry)> {
        let (base, width_log2) = (self.base(), self.width_log2() as usize);
        let (keys, slots) = (self.keys(), &self.slots()[..self.len()]);
        slots.iter().enumerate().map(move |(number, slot)| {
            let at = number << width_log2;
            let word = keys[at / 8].load(Ordering::Relaxed);
            (base | word >> (at % 8 * 8) & keys::key_mask(width_log2), slot.entry())
        })
    }

    /// Returns whether this index fits the keys' width.
    pub(crate) fn fits(&self, index: u64) -> bool {
        let width_log2 = self.width_log2();
        width_log2 == 3 || (index ^ self.base()) >> (8 << width_log2) == 0
    }

    fn keys(&self) -> &[AtomicU64] {
        // SAFETY: the keys follow the header.
        let keys = unsafe { self.node.byte_add(self.keys_offset()) }.cast::<AtomicU64>();
        // SAFETY: there are so many key words.
        unsafe { std::slice::from_raw_parts(keys.as_ptr(), self.key_words()) }
    }

    /// Returns the slot whose key is this index, which may be a tombstone.
    pub(crate) fn find(&self, index: u64) -> Option<usize> {
        if !self.fits(index) || !self.may_hold(index) {
            return None;
        }
        keys::find_key(self.keys(), self.width_log2() as usize, index)
    }

    /// Returns the numbers of the slots in order of their indices, and how many they are.
    pub(crate) fn in_order(&self) -> ([u8; CAPACITY_MAX], usize) {
        let mut order = std::array::from_fn(|number| number as u8);
        let len = self.len();
        let index = |number: &u8| self.index(usize::from(*number));
        if !order[..len].is_sorted_by_key(index) {
            order[..len].sort_unstable_by_key(index);
        }
        (order, len)
    }

    /// Returns the first slot, in order of the index, whose index is `from` or above; it may be a tombstone.
    pub(crate) fn find_next(&self, from: u64) -> Option<(usize, u64)> {
        let (base, width_log2) = (self.base(), self.width_log2() as usize);
        let from = if self.fits(from) {
            from & keys::key_mask(width_log2)
        } else if from < base {
            0
        } else {
            return None;
        };
        let key = keys::next_key(self.keys(), width_log2, from)?;
        let number = keys::find_key(self.keys(), width_log2, key)?;
        Some((number, base | key))
    }

    pub(crate) fn is_full(&self) -> bool {
        self.len() == self.capacity()
    }

    /// Adds an entry. The index fits and is not in the bucket, and the bucket is not full.
    pub(crate) fn append(&self, index: u64, entry: Entry) {
        debug_assert!(self.fits(index) && !self.is_full());
        let number = self.len();
        let width_log2 = self.width_log2();
        self.slot(number).set_entry(entry);
        self.add_to_filter(index);
        if number == 0 {
            let keys = keys::spread(index, width_log2 as usize);
            for word in 0..self.key_words() {
                self.key_word(word).store(keys, Ordering::Release);
            }
        } else {
            let lanes_log2 = 3 - width_log2;
            let lane_bits = 8 << width_log2;
            let mask = u64::MAX >> (64 - lane_bits);
            let lane = (number & ((1 << lanes_log2) - 1)) as u32 * lane_bits;
            let word = self.key_word(number >> lanes_log2);
            let keys = word.load(Ordering::Relaxed) & !(mask << lane) | (index & mask) << lane;
            word.store(keys, Ordering::Release);
        }
        self.header().len.store(number as u8 + 1, Ordering::Release);
        self.add_live(isize::from(!entry.is_null()));
    }

    /// Fills a fresh bucket, as many times [`Bucket::append`] would.
    pub(crate) fn fill(&self, len: usize, item: impl Fn(usize) -> (u64, Entry)) {
        let (first, width_log2) = (item(0).0, self.width_log2());
        let (lane_bits, lanes) = (8 << width_log2, 8 >> width_log2);
        let mask = u64::MAX >> (64 - lane_bits);
        for word in 0..self.key_words() {
            let keys = (0..lanes).fold(0, |keys, lane| {
                let number = word * lanes + lane;
                let index = if number < len { item(number).0 } else { first };
                keys | (index & mask) << (lane as u32 * lane_bits)
            });
            self.key_word(word).store(keys, Ordering::Relaxed);
        }
        (0..len).for_each(|number| self.slot(number).set_entry(item(number).1));
        (0..len).for_each(|number| self.add_to_filter(item(number).0));
        self.header().len.store(len as u8, Ordering::Relaxed);
        self.header().live.store(len as u8, Ordering::Relaxed);
    }

    /// Stores into an existing slot and keeps the count of live ones.
    pub(crate) fn replace(&self, number: usize, entry: Entry) -> Entry {
        let old = self.slot(number).entry();
        self.slot(number).set_entry(entry);
        self.add_live(isize::from(!entry.is_null()) - isize::from(!old.is_null()));
        old
    }

    fn add_live(&self, delta: isize) {
        let live = self.live().checked_add_signed(delta).expect("the count of live slots");
        self.header().live.store(live as u8, Ordering::Relaxed);
    }

    pub(crate) fn marks(&self, mark: Mark) -> u64 {
        self.header().marks[mark.number()].load(Ordering::Acquire)
    }

    pub(crate) fn set_marks(&self, mark: Mark, bits: u64) {
        self.header().marks[mark.number()].store(bits, Ordering::Release);
    }
}
