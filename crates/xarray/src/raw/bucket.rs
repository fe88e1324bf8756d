//! The bucket: up to 128 entries with the low bytes of their indices, for regions where few indices are used.
//!
//! # How it works
//! A header comes first, then a fingerprint of one byte for each key, then the bytes of the keys that fingerprints leave
//! open, then one slot for each key, in the order of insertion. Keys have 1, 2, 4 or 8 bytes, as few as tell the entries
//! apart:
//!
//! | key | fingerprint | beside it |
//! |---|---|---|
//! | 1 byte | the key | nothing |
//! | 2 bytes | low byte xor high byte | high byte |
//! | 4 bytes | a hash | the key |
//! | 8 bytes | a hash | the key, right before its slot |
//!
//! A reader compares 16 fingerprints at once, and looks at the key and the slot of those that match: most often one if the
//! index is there, none if it is not. So a hit takes the line or two of the fingerprints, and one or two more, which are
//! fetched together; a miss takes only the fingerprints. Width and capacity come with the pointer. The high bytes are
//! compared at once as well: among 64 keys of two bytes one had an equal fingerprint in 22 misses of 100, which no processor
//! predicts.
//!
//! A bucket serves a run of `2^n` slots of the dense node above, which all hold its word, so it is large where indices are
//! far apart, too. These alternatives were measured. One bucket for each slot took 73 bytes an entry with one index of 64 in
//! use, most of it headers, and a line of the cache for each miss. An order of keys instead of an order of insertion would
//! cost each store a copy; a walk looks for the next key instead, which takes as many comparisons as a lookup. Whole keys
//! side by side, behind a filter of 256 bits, took two to five lines for each hit.
//!
//! The bits that all indices share are compared only where the pointer says so: where the slots of the bucket's
//! run also lead to other indices. Elsewhere a lookup does not touch the header.
//!
//! A key never changes and is never reused while the bucket lives: erasing empties the slot (a tombstone), storing at
//! the same index fills it again, and only a new bucket drops it. So neither erasing nor overwriting needs memory.
//!
//! Adding an entry fills the part beside the fingerprint, then the fingerprint, then the slot, and then counts them. A
//! lookup reads the slot first: if there is an entry, the key is whole and will stay, and it is compared then. Keys of one
//! and two bytes have been compared whole before. Among these only a key with the fingerprint 0, which unfilled memory has,
//! may belong to another index. A walk looks at as many keys as were counted.
//!
//! Storing or erasing an entry whose key exists writes its slot and `live`, which stands first. When it stood right before
//! the fingerprints it lay, in three of four buckets, in their line, which each lookup reads; in the first place it does so
//! in one of four. Without the count an erasure would have to look for other entries, and took up to a third longer.
//!
//! # Invariants
//! - `live <= len <= capacity`; slots at `len` and above are empty, except one that is being added;
//!   `live` = slots that are not empty.
//! - Bit i of mark m belongs to slot i (mark 0 inverted as in [`super::Dense`]), 0 when the slot is empty.
//! - For each key: `index >> 8*width == base >> 8*width`, and `key == index & (2^(8*width) - 1)`.
//! - The slots of its run hold its word (some of them, while a writer is about to split it), and no other slot does.

use std::alloc::Layout;
use std::marker::PhantomData;

use super::keys::{self, BESIDE, BLOCK, BLOCK_WORDS, bits, capacity_for, key_mask};
use super::memory;
use super::slot::{Slot, Word};
use super::sync::{AtomicPtr, AtomicU8, AtomicU64, Ordering};
use crate::{Entry, Gfp, Mark, Result};

/// No bucket holds more.
pub(crate) const CAPACITY_MAX: usize = 128;
/// If several buckets can take the entries, none holds more than this: they are found in one line
/// of fingerprints.
pub(crate) const SHARED_MAX: usize = 64;
#[repr(C)]
pub(super) struct Header {
    /// The count comes first, since each change writes it.
    live: AtomicU8,
    len: AtomicU8,
    capacity: u8,
    width_log2: u8,
    /// Links the node in a limbo list once it is unlinked.
    pub(super) limbo: AtomicPtr<()>,
    marks: [AtomicU64; 3],
    /// The bits that all indices share; the others are 0.
    base: u64,
}

const HEADER_BYTES: usize = size_of::<Header>();
const WORD_BYTES: usize = size_of::<AtomicU64>();
const SLOT_BYTES: usize = size_of::<Slot>();
#[cfg(not(loom))]
const _: () = assert!(HEADER_BYTES == 48 && WORD_BYTES == 8 && SLOT_BYTES == 8);

pub(crate) use super::keys::width_log2;

/// Calls the method for keys of this bucket's width, which is known when the method is compiled.
macro_rules! by_width {
    ($self:ident.$method:ident($($argument:expr),*)) => {
        match $self.width() {
            0 => $self.$method::<0>($($argument),*),
            1 => $self.$method::<1>($($argument),*),
            2 => $self.$method::<2>($($argument),*),
            _ => $self.$method::<3>($($argument),*),
        }
    };
}

/// Returns the offset of the part beside the fingerprints.
#[inline]
const fn beside_offset(capacity: usize) -> usize {
    HEADER_BYTES + WORD_BYTES * BLOCK_WORDS * capacity.div_ceil(BLOCK)
}

/// Returns the offset of a slot.
#[inline]
const fn slot_offset(capacity: usize, width_log2: usize, number: usize) -> usize {
    let beside = BESIDE[width_log2 % 4];
    let before = WORD_BYTES * (beside.block_words * capacity.div_ceil(BLOCK) + beside.slot_words);
    beside_offset(capacity) + before + (SLOT_BYTES + WORD_BYTES * beside.slot_words) * number
}

/// Returns the offset of the marks of the slots from the 64th on, behind the last slot.
const fn more_marks_offset(capacity: usize, width_log2: usize) -> usize {
    slot_offset(capacity, width_log2, capacity - 1) + SLOT_BYTES
}

fn layout(capacity: u8, width_log2: u8) -> Layout {
    let capacity = usize::from(capacity);
    let bytes = more_marks_offset(capacity, usize::from(width_log2));
    let bytes = bytes + if capacity > 64 { 3 * WORD_BYTES } else { 0 };
    Layout::from_size_align(bytes, 16).expect("a thousand bytes")
}

/// A bucket, alive for `'a`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bucket<'a> {
    word: Word,
    _alive: PhantomData<&'a Header>,
}

impl<'a> Bucket<'a> {
    /// Returns `len` words from an offset on.
    #[inline]
    fn words(&self, offset: usize, len: usize) -> &'a [AtomicU64] {
        debug_assert!(offset >= HEADER_BYTES && offset + WORD_BYTES * len <= self.bytes());
        // SAFETY: inside the bucket.
        let words = unsafe { self.word.node().byte_add(offset) }.cast::<AtomicU64>();
        // SAFETY: as above, and it lives for 'a; memory read as words is only ever accessed as words.
        unsafe { std::slice::from_raw_parts(words, len) }
    }

    /// Returns the slot of this number.
    #[inline]
    pub(crate) fn slot(&self, number: usize) -> &'a Slot {
        self.slot_as(self.width(), number)
    }

    #[inline]
    fn slot_as(&self, width: usize, number: usize) -> &'a Slot {
        debug_assert!(number < self.capacity());
        let offset = slot_offset(self.capacity(), width, number);
        // SAFETY: inside the bucket.
        let slot = unsafe { self.word.node().byte_add(offset) }.cast::<Slot>();
        // SAFETY: as above, and it lives for 'a; only ever accessed as a slot.
        unsafe { &*slot }
    }
}

impl Bucket<'_> {
    /// Returns the word of a fresh, empty bucket with room for `entries` keys whose index bits differ from
    /// `index` only in the lowest `8 << width_log2`.
    pub(crate) fn create(index: u64, width_log2: u32, entries: usize, gfp: Gfp) -> Result<Word> {
        let capacity = capacity_for(entries, width_log2);
        let node = memory::allocate(layout(capacity, width_log2 as u8), gfp)?.cast::<Header>();
        let header = Header {
            limbo: AtomicPtr::default(),
            marks: Default::default(),
            base: index & !key_mask(width_log2 as usize),
            capacity,
            width_log2: width_log2 as u8,
            len: AtomicU8::new(0),
            live: AtomicU8::new(0),
        };
        // SAFETY: fresh memory, large enough for a header.
        unsafe { node.write(header) };
        let word = Word::from_bucket(node.cast(), usize::from(capacity), width_log2);
        #[cfg(loom)]
        // SAFETY: as above.
        unsafe {
            Bucket::from_word(word).init_for_loom();
        }
        Ok(word)
    }

    /// Makes what follows the header, because zeroed memory is not a valid atomic of loom's.
    #[cfg(loom)]
    unsafe fn init_for_loom(&self) {
        let (end, node) = (self.bytes(), self.word.node());
        let slots = (0..self.capacity()).map(|number| std::ptr::from_ref(self.slot(number)));
        let slots: Vec<*const Slot> = slots.collect();
        let first = slot_offset(self.capacity(), self.width(), 0);
        for offset in (HEADER_BYTES..end).step_by(WORD_BYTES) {
            if offset < first || self.width() == 3 {
                // SAFETY: inside the bucket, which no other thread knows.
                unsafe { node.byte_add(offset).cast::<AtomicU64>().write(AtomicU64::new(0)) };
            }
        }
        // SAFETY: as above.
        slots.into_iter().for_each(|slot| unsafe { slot.cast_mut().write(Slot::new()) });
    }

    /// # Safety
    ///
    /// The word is that of a bucket, which lives for `'a`.
    #[inline]
    pub(super) unsafe fn from_word(word: Word) -> Self {
        Self { word, _alive: PhantomData }
    }

    /// Returns the layout of a bucket whose address alone is known.
    ///
    /// # Safety
    ///
    /// The word is that of a bucket that is alive, perhaps [without its information](Word::bare).
    pub(super) unsafe fn layout_of_bare(word: Word) -> Layout {
        // SAFETY: as the caller promises.
        let header = unsafe { &*word.node().cast::<Header>() };
        layout(header.capacity, header.width_log2)
    }

    #[inline]
    fn header(&self) -> &Header {
        // SAFETY: the bucket lives for 'a.
        unsafe { &*self.word.node().cast::<Header>() }
    }

    /// Returns the log2 of the bytes of a key.
    #[inline]
    pub(crate) fn width(&self) -> usize {
        self.word.width_log2()
    }

    #[inline]
    pub(crate) fn capacity(&self) -> usize {
        self.word.capacity()
    }

    /// Returns the bytes that the bucket takes.
    pub(crate) fn bytes(&self) -> usize {
        layout(self.header().capacity, self.header().width_log2).size()
    }

    pub(crate) fn len(&self) -> usize {
        usize::from(self.header().len.load(Ordering::Acquire))
    }

    pub(crate) fn live(&self) -> usize {
        usize::from(self.header().live.load(Ordering::Relaxed))
    }

    #[inline]
    fn fingerprints(&self) -> &[AtomicU64] {
        self.words(HEADER_BYTES, BLOCK_WORDS * self.capacity().div_ceil(BLOCK))
    }

    /// Returns the word that holds the rest of the key of this number beside its fingerprint, and its shift in that
    /// word.
    #[inline]
    fn beside(&self, width: usize, number: usize) -> (&AtomicU64, usize) {
        let beside = BESIDE[width % 4];
        if beside.slot_words != 0 {
            let offset = slot_offset(self.capacity(), width, number) - WORD_BYTES;
            return (&self.words(offset, 1)[0], 0);
        }
        let at = number << beside.key_log2;
        (&self.words(beside_offset(self.capacity()) + WORD_BYTES * (at / 8), 1)[0], at % 8 * 8)
    }

    /// Returns the key of this number.
    #[inline]
    fn key(&self, width: usize, number: usize) -> u64 {
        let byte = |(word, at): (&AtomicU64, usize)| (word.load(Ordering::Relaxed) >> at) as u8;
        let fingerprint =
            || byte((&self.words(HEADER_BYTES + WORD_BYTES * (number / 8), 1)[0], number % 8 * 8));
        match width {
            0 => u64::from(fingerprint()),
            1 => u64::from(keys::key_of_two(fingerprint(), byte(self.beside(width, number)))),
            _ => {
                let (word, at) = self.beside(width, number);
                word.load(Ordering::Relaxed) >> at & key_mask(width)
            }
        }
    }

    /// Writes the key of this number, which no reader looks at yet.
    #[inline]
    fn set_key(&self, width: usize, number: usize, index: u64) {
        let put = |(word, at): (&AtomicU64, usize), mask: u64, bits: u64| {
            let others = word.load(Ordering::Relaxed) & !(mask << at);
            word.store(others | (bits & mask) << at, Ordering::Release);
        };
        match width {
            0 => {}
            1 => put(self.beside(1, number), 0xff, index >> 8),
            _ => put(self.beside(width, number), key_mask(width), index),
        }
        let word = &self.words(HEADER_BYTES + WORD_BYTES * (number / 8), 1)[0];
        put((word, number % 8 * 8), 0xff, u64::from(keys::fingerprint(index, width)));
    }

    /// Returns the index whose entry slot `number` holds.
    #[inline]
    pub(crate) fn index(&self, number: usize) -> u64 {
        self.header().base | self.key(self.width(), number)
    }

    /// Calls `each` with all slots' indices and entries, in order of insertion.
    pub(crate) fn for_each(&self, each: impl FnMut(usize, u64, Entry)) {
        by_width!(self.for_each_as(each));
    }

    #[inline]
    fn for_each_as<const W: usize>(&self, mut each: impl FnMut(usize, u64, Entry)) {
        let base = self.header().base;
        for number in 0..self.len() {
            each(number, base | self.key(W, number), self.slot_as(W, number).entry());
        }
    }

    /// Returns whether this index fits the keys' width.
    #[inline]
    pub(crate) fn fits(&self, index: u64) -> bool {
        (index ^ self.header().base) & !key_mask(self.width()) == 0
    }

    /// Returns the entry at this index, which [`fits`](Self::fits).
    #[inline]
    pub(super) fn load(&self, index: u64) -> Entry {
        by_width!(self.load_as(index))
    }

    #[inline]
    fn load_as<const W: usize>(&self, index: u64) -> Entry {
        if self.capacity() > 64 {
            return self.load_beyond::<W>(index);
        }
        self.load_first::<W>(index, 0, self.equal(index, W))
    }

    /// Does the same for more than 64 keys. It is a function by itself because fewer keys need
    /// fewer registers.
    #[inline(never)]
    fn load_beyond<const W: usize>(self, index: u64) -> Entry {
        let entry = self.load_first::<W>(index, 0, self.equal(index, W));
        if !entry.is_null() {
            return entry;
        }
        self.load_first::<W>(index, 64, self.equal_beyond(index, W))
    }

    /// Returns the entry at this index, if it is in one of the slots whose bits are set.
    #[inline]
    fn load_first<const W: usize>(&self, index: u64, first: usize, mut equal: u64) -> Entry {
        // A key of one byte or two was compared whole. Its fingerprint is written last and read first, so unless it is that
        // of fresh memory, the key did not belong to another entry that was being added.
        let is_whole = W <= 1 && keys::fingerprint(index, W) != 0;
        while equal != 0 {
            let number = first + equal.trailing_zeros() as usize;
            // The entry is read first: where there is one, its key is whole.
            let entry = self.slot_as(W, number).entry();
            if !entry.is_null() && (is_whole || self.key(W, number) == index & key_mask(W)) {
                return entry;
            }
            equal &= equal - 1;
        }
        Entry::NULL
    }

    /// Returns a bit for each of the first 64 keys, up to the capacity, that may be this index's.
    #[inline]
    fn equal(&self, index: u64, width: usize) -> u64 {
        /// A bucket for more than a block reaches beyond the fourth.
        const _: () = assert!(slot_offset(BLOCK + 1, 0, BLOCK) >= beside_offset(4 * BLOCK));
        let equal = if self.capacity() <= BLOCK {
            // SAFETY: there is one block at least.
            unsafe { self.equal_blocks::<1>(0, index, width) }
        } else {
            // SAFETY: what follows up to the end is words and slots, and long enough.
            unsafe { self.equal_blocks::<4>(0, index, width) }
        };
        let last = self.capacity().min(64) - 1;
        equal & !(u64::MAX << 1 << last)
    }

    /// Does the same for the keys from the 64th on. The capacity is larger than that.
    #[inline]
    fn equal_beyond(&self, index: u64, width: usize) -> u64 {
        // SAFETY: as above.
        let equal = unsafe { self.equal_blocks::<4>(4, index, width) };
        equal & u64::MAX >> (128 - self.capacity())
    }

    /// Compares these blocks of fingerprints, and of high bytes where those are the rest of a key.
    ///
    /// # Safety
    ///
    /// The contract is that of [`keys::equal`].
    #[inline]
    unsafe fn equal_blocks<const BLOCKS: usize>(
        &self,
        first: usize,
        index: u64,
        width: usize,
    ) -> u64 {
        let fingerprints = self.block(HEADER_BYTES, first);
        let fingerprint = keys::fingerprint(index, width);
        if width == 1 {
            let highs = self.block(beside_offset(self.capacity()), first);
            // SAFETY: as the caller promises; beyond the high bytes are slots.
            unsafe {
                keys::equal_both::<BLOCKS>((fingerprints, fingerprint), (highs, (index >> 8) as u8))
            }
        } else {
            // SAFETY: as the caller promises.
            unsafe { keys::equal::<BLOCKS>(fingerprints, fingerprint) }
        }
    }

    #[inline]
    fn block(&self, offset: usize, number: usize) -> *const AtomicU64 {
        let offset = offset + WORD_BYTES * BLOCK_WORDS * number;
        // SAFETY: inside the bucket.
        unsafe { self.word.node().byte_add(offset) }.cast()
    }

    /// Returns the slot whose key is this index, which may be a tombstone.
    pub(crate) fn find(&self, index: u64) -> Option<usize> {
        if self.fits(index) { self.find_key(self.len(), index) } else { None }
    }

    /// Does the same for the first `len` slots, for an index that [`fits`](Self::fits).
    fn find_key(&self, len: usize, index: u64) -> Option<usize> {
        by_width!(self.find_as(len, index))
    }

    /// Returns the slot of the entry at this index.
    pub(crate) fn find_live(&self, index: u64) -> Option<usize> {
        self.find(index).filter(|&number| !self.slot(number).is_empty())
    }

    #[inline]
    fn find_as<const W: usize>(&self, len: usize, index: u64) -> Option<usize> {
        let counted = |len: usize| !u64::MAX.checked_shl(len as u32).unwrap_or(0);
        let find = |first: usize, equal: u64| {
            let mut numbers = bits(equal).map(|number| first + number);
            numbers.find(|&number| self.key(W, number) == index & key_mask(W))
        };
        let number = find(0, self.equal(index, W) & counted(len));
        if number.is_some() || len <= 64 {
            return number;
        }
        find(64, self.equal_beyond(index, W) & counted(len - 64))
    }

    /// Stores an entry that is not NULL at an index that [`fits`](Self::fits), and returns the old one, or `None` if there
    /// is no room.
    #[inline]
    pub(crate) fn store(&self, index: u64, entry: Entry) -> Option<Entry> {
        by_width!(self.store_as(index, entry))
    }

    #[inline]
    fn store_as<const W: usize>(&self, index: u64, entry: Entry) -> Option<Entry> {
        debug_assert!(self.fits(index) && !entry.is_null());
        let len = self.len();
        if let Some(number) = self.find_as::<W>(len, index) {
            return Some(self.replace(number, entry));
        }
        if len == self.capacity() {
            return None;
        }
        self.set_key(W, len, index);
        self.slot_as(W, len).set_entry(entry);
        self.header().len.store(len as u8 + 1, Ordering::Release);
        self.header().live.store(self.live() as u8 + 1, Ordering::Relaxed);
        Some(Entry::NULL)
    }

    /// Returns the numbers of the slots in order of their indices, and how many they are.
    pub(crate) fn in_order(&self) -> ([u8; CAPACITY_MAX], usize) {
        let mut order = std::array::from_fn(|number| number as u8);
        let len = self.len();
        let keys: [u64; CAPACITY_MAX] =
            std::array::from_fn(
                |number| if number < len { self.key(self.width(), number) } else { 0 },
            );
        if !keys[..len].is_sorted() {
            order[..len].sort_unstable_by_key(|&number| keys[usize::from(number) % CAPACITY_MAX]);
        }
        (order, len)
    }

    /// Returns the first slot, in order of the index, whose index is `from` or above; it may be a tombstone.
    pub(crate) fn find_next(&self, from: u64) -> Option<(usize, u64)> {
        let base = self.header().base;
        let from = if self.fits(from) {
            from & key_mask(self.width())
        } else if from < base {
            0
        } else {
            return None;
        };
        let key = self.next_key(from)?;
        Some((self.find_key(self.len(), key)?, base | key))
    }

    /// Returns the lowest key at or above a key.
    fn next_key(&self, from: u64) -> Option<u64> {
        let len = self.len();
        let words = |words: &[AtomicU64]| {
            let mut bytes = [[0; 8]; CAPACITY_MAX / 8];
            let words = words.iter().map(|word| word.load(Ordering::Relaxed).to_le_bytes());
            bytes.iter_mut().zip(words).for_each(|(bytes, word)| *bytes = word);
            bytes
        };
        macro_rules! lowest {
            ($key:ty, $keys:expr) => {{
                let from = from as $key;
                let distance = $keys.map(|key: $key| key.wrapping_sub(from)).min()?;
                from.checked_add(distance).map(u64::from)
            }};
        }
        let fingerprints = || words(self.fingerprints());
        match self.width() {
            0 => lowest!(u8, fingerprints().as_flattened()[..len].iter().copied()),
            1 => {
                let highs = self.words(beside_offset(self.capacity()), self.fingerprints().len());
                let (fingerprints, highs) = (fingerprints(), words(highs));
                let pairs = fingerprints.as_flattened()[..len].iter().zip(highs.as_flattened());
                lowest!(u16, pairs.map(|(&low, &high)| keys::key_of_two(low, high)))
            }
            2 => lowest!(u32, (0..len).map(|number| self.key(self.width(), number) as u32)),
            _ => lowest!(u64, (0..len).map(|number| self.key(self.width(), number))),
        }
    }

    /// Fills a fresh bucket with `len` items, as that many calls of [`Bucket::store`] would.
    pub(crate) fn fill(&self, len: usize, item: impl Fn(usize) -> (u64, Entry)) {
        let width = self.width();
        let put = |offset: usize, byte: &dyn Fn(u64) -> u8| {
            for (at, word) in self.words(offset, len.div_ceil(8)).iter().enumerate() {
                let lanes = 8 * at..len.min(8 * at + 8);
                let bytes =
                    lanes.rev().fold(0, |bytes, at| bytes << 8 | u64::from(byte(item(at).0)));
                word.store(bytes, Ordering::Relaxed);
            }
        };
        match width {
            0 => put(HEADER_BYTES, &|index| index as u8),
            1 => {
                put(HEADER_BYTES, &|index| keys::fingerprint(index, 1));
                put(beside_offset(self.capacity()), &|index| (index >> 8) as u8);
            }
            _ => (0..len).for_each(|number| self.set_key(width, number, item(number).0)),
        }
        (0..len).for_each(|number| self.slot(number).set_entry(item(number).1));
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

    /// The words with a mark's bits: one for the first 64 slots, and one for those behind them, if
    /// there are any.
    fn mark_words(&self, mark: Mark) -> (&AtomicU64, Option<&AtomicU64>) {
        let offset = more_marks_offset(self.capacity(), self.width());
        let beyond = || &self.words(offset + WORD_BYTES * mark.number(), 1)[0];
        (&self.header().marks[mark.number()], (self.capacity() > 64).then(beyond))
    }

    pub(crate) fn marks(&self, mark: Mark) -> u128 {
        let (first, beyond) = self.mark_words(mark);
        let beyond = beyond.map_or(0, |word| word.load(Ordering::Acquire));
        u128::from(beyond) << 64 | u128::from(first.load(Ordering::Acquire))
    }

    pub(crate) fn set_marks(&self, mark: Mark, bits: u128) {
        let (first, beyond) = self.mark_words(mark);
        first.store(bits as u64, Ordering::Release);
        if let Some(beyond) = beyond {
            beyond.store((bits >> 64) as u64, Ordering::Release);
        }
    }
}
