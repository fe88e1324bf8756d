//! The dense node: 64 slots, one per 6-bit digit of the index at the node's shift.
//!
//! At shift 0 it is a leaf and its slots hold entries. Above, its slots hold child nodes, or multi-index
//! entries whose order is at least the shift. An entry that covers several slots is in the first of them
//! (the canonical slot); the others hold a sibling word that names it.
//!
//! # Invariants
//! - `used` bit i = slot i is not empty, and is the first of those that hold the same bucket.
//! - `shown` has all bits of `used`, and perhaps more within eight slots that are not all empty. A bit is set before its
//!   slot and cleared after it, so a reader that finds it clear may take the slot for empty.
//! - `marks[m]` bit i, leaf or entry = the entry bears mark m; child = some entry below does. In an array that
//!   hands out ids mark 0 is inverted: bit = no index below slot i is free (so fresh zeroed bits mean free).
//! - `base & !63` = the indices that the node covers, with its digits zeroed; `base & 63` = its shift.
//! - A node takes 568 bytes, against the kernel's 576: it has no parent pointer, no list head and
//!   no copy of the counts.
//!
//! These alternatives were measured. A lookup reads `shown` and then the slot, so that one line of the CPU's cache tells
//! that an index is unused, instead of eight. When it read `used`, which each change writes, a reader beside a writer waited
//! for two lines. Now a change writes only the slot's line among those that lookups read. `used` stands first, in the line
//! of one to seven slots: a line of its own, 64 bytes more, made no difference. Counting the slots in use at each erasure,
//! without `used`, made erasures up to a quarter longer.

use std::alloc::Layout;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use super::memory;
use super::slot::{Slot, Word};
use crate::{Gfp, Mark, Result};

/// Bits of the index that one node resolves.
pub(crate) const DIGIT_BITS: u32 = 6;
/// Slots of a node.
pub(crate) const SLOTS: usize = 1 << DIGIT_BITS;

#[derive(Debug)]
#[repr(C)]
pub(crate) struct Dense {
    /// For code that changes the node.
    used: AtomicU64,
    slots: [Slot; SLOTS],
    /// For readers; it lies far from everything that each change writes.
    shown: AtomicU64,
    base: u64,
    marks: [AtomicU64; 3],
    /// Links the node in a limbo list once it is unlinked.
    pub(super) limbo: AtomicPtr<()>,
}

const _: () = assert!(size_of::<Dense>() == 568);

/// Returns the index with all bits below `bits` zeroed.
pub(crate) const fn align_down(index: u64, bits: u32) -> u64 {
    if bits >= 64 { 0 } else { index >> bits << bits }
}

/// Returns the bits of slots `first .. first + slots`.
pub(crate) fn run_mask(first: usize, slots: usize) -> u64 {
    debug_assert!(slots >= 1 && first + slots <= SLOTS);
    u64::MAX >> (SLOTS - slots) << first
}

impl Dense {
    pub(super) const LAYOUT: Layout = match Layout::new::<Self>().align_to(16) {
        Ok(layout) => layout,
        Err(_) => panic!("a power of two"),
    };

    /// Returns the word of a fresh, empty node at this shift that covers `index`.
    pub(crate) fn create(index: u64, shift: u32, gfp: Gfp) -> Result<Word> {
        debug_assert!(shift < 64 && shift.is_multiple_of(DIGIT_BITS));
        let node = memory::allocate(Self::LAYOUT, gfp)?.cast::<Self>();
        let base = align_down(index, shift + DIGIT_BITS) | u64::from(shift);
        // SAFETY: within the node.
        let field = unsafe { node.byte_add(std::mem::offset_of!(Self, base)) };
        // SAFETY: fresh memory; no other thread has it yet. All other fields are valid when zero.
        unsafe { field.cast::<u64>().write(base) };
        Ok(Word::from_dense(node, shift))
    }

    #[inline]
    pub(crate) fn shift(&self) -> u32 {
        (self.base & (SLOTS as u64 - 1)) as u32
    }

    /// Returns the number of low index bits that the node resolves, itself and below.
    pub(crate) fn bits(&self) -> u32 {
        self.shift() + DIGIT_BITS
    }

    /// Returns the first index that the node covers.
    pub(crate) fn first(&self) -> u64 {
        self.base & !(SLOTS as u64 - 1)
    }

    /// Returns the last index that the node covers.
    pub(crate) fn last(&self) -> u64 {
        if self.bits() >= 64 { u64::MAX } else { self.first() | ((1 << self.bits()) - 1) }
    }

    #[inline]
    pub(crate) fn covers(&self, index: u64) -> bool {
        (self.base ^ index) >> self.shift() >> DIGIT_BITS == 0
    }

    /// Returns the slot number of this index.
    #[inline]
    pub(crate) fn digit(&self, index: u64) -> usize {
        (index >> self.shift()) as usize % SLOTS
    }

    /// Returns the first index of slot `offset`.
    pub(crate) fn index_of(&self, offset: usize) -> u64 {
        self.first() | (offset as u64) << self.shift()
    }

    #[inline]
    pub(crate) fn slot(&self, offset: usize) -> &Slot {
        &self.slots[offset % SLOTS]
    }

    /// Stores a word that is not NULL, and marks the slot as used.
    #[inline]
    pub(crate) fn set(&self, offset: usize, word: Word) {
        debug_assert_ne!(word, Word::NULL);
        let bit = 1 << (offset % SLOTS);
        self.used.store(self.used() | bit, Ordering::Relaxed);
        self.show(self.shown() | bit);
        self.slot(offset).store(word);
    }

    /// Empties a slot.
    #[inline]
    pub(crate) fn empty(&self, offset: usize) {
        self.slot(offset).store(Word::NULL);
        let left = self.used() & !(1 << (offset % SLOTS));
        self.used.store(left, Ordering::Relaxed);
        let eight = run_mask(offset % SLOTS / 8 * 8, 8);
        if left & eight == 0 {
            self.show(self.shown() & !eight);
        }
    }

    /// Stores words in a run of slots, which begins and ends between children.
    pub(crate) fn set_run(&self, first: usize, slots: usize, word: impl Fn(usize) -> Word) {
        let run = first..first + slots;
        let begins = |&offset: &usize| {
            word(offset) != Word::NULL && word(offset).run_start(offset) == offset
        };
        let begins = run.clone().filter(begins).fold(0, |bits, offset| bits | 1 << offset);
        self.show(self.shown() | begins);
        run.for_each(|offset| self.slot(offset).store(word(offset)));
        self.set_used(self.used() & !run_mask(first, slots) | begins);
    }

    /// Returns the slots in use. Only code that changes the node calls this.
    pub(crate) fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// Returns all slots in use, and perhaps others, which are empty.
    #[inline]
    pub(crate) fn shown(&self) -> u64 {
        self.shown.load(Ordering::Acquire)
    }

    /// Stores which of all slots are in use.
    pub(crate) fn set_used(&self, used: u64) {
        self.used.store(used, Ordering::Relaxed);
        self.show(used);
    }

    /// Lets readers see these bits; leaves the line alone if they do already.
    #[inline]
    fn show(&self, bits: u64) {
        debug_assert_eq!(self.used() & !bits, 0, "readers would miss an entry");
        if bits != self.shown() {
            self.shown.store(bits, Ordering::Release);
        }
    }

    pub(crate) fn marks(&self, mark: Mark) -> u64 {
        self.marks[mark.number()].load(Ordering::Acquire)
    }

    pub(crate) fn set_marks(&self, mark: Mark, bits: u64) {
        self.marks[mark.number()].store(bits, Ordering::Release);
    }

    /// Resolves a sibling word to its canonical slot.
    pub(crate) fn canonical(&self, offset: usize) -> usize {
        self.slot(offset).entry().sibling_of().unwrap_or(offset)
    }

    /// Returns how many slots the entry with this canonical slot covers.
    pub(crate) fn span(&self, canonical: usize) -> usize {
        if canonical + 1 >= SLOTS
            || self.slot(canonical + 1).entry().sibling_of() != Some(canonical)
        {
            return 1;
        }
        let siblings = (canonical + 1..SLOTS)
            .take_while(|&offset| self.slot(offset).entry().sibling_of() == Some(canonical));
        1 + siblings.count()
    }
}
