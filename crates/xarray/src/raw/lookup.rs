//! The lookup: what [`crate::RawXArray::load`] does, from head to entry, with nothing checked twice.
//!
//! # How it works
//!
//! One dependent load per level: the word that leads to a node says what kind it is and which digit it looks
//! at. Levels with a single child are skipped; the bits skipped are compared once, at the end, and only if
//! the way down met a word that says so.

use std::sync::atomic::{AtomicU64, Ordering};

use super::bucket::{HEADER_BYTES, spread};
use super::dense::{DIGIT_BITS, SLOTS};
use super::{Dense, Pin, Slot, Word};
use crate::Entry;

/// Returns the entry at `index` as it is stored: a reserved index gives the zero entry.
#[inline]
pub(crate) fn lookup(head: &Slot, index: u64, _pin: Pin<'_>) -> Entry {
    let mut word = head.load();
    if !word.is_node() {
        return if index == 0 { word.entry() } else { Entry::NULL };
    }
    // A head that skips nothing covers indices from 0 on: the only place where too large ones are met.
    if !word.is_bucket() && !word.skips() && index >> (word.info() & 63) >> DIGIT_BITS != 0 {
        return Entry::NULL;
    }
    let mut skips = false;
    loop {
        if word.is_bucket() {
            // SAFETY: a bucket's word, read from a live slot under the pin.
            return unsafe { lookup_in_bucket(word, index) };
        }
        skips |= word.skips();
        let shift = word.info() & 63;
        let node = word.node().cast::<Dense>();
        // SAFETY: a dense node's word, read from a live slot under the pin.
        let node = unsafe { &*node };
        let offset = (index >> shift) as usize % SLOTS;
        word = node.slot(offset).load();
        if shift == 0 || !word.is_node() {
            return lookup_at_end(node, word, index, skips);
        }
    }
}

#[inline]
fn lookup_at_end(node: &Dense, word: Word, index: u64, skips: bool) -> Entry {
    if skips && !node.covers(index) {
        return Entry::NULL;
    }
    if word.entry().is_internal() { lookup_sibling(node, index) } else { word.entry() }
}

/// Resolves a slot that may be one of several of its entry. It, and the canonical slot, may change meanwhile:
/// so the slot is read again after the entry, and only an unchanged slot vouches for it.
#[cold]
fn lookup_sibling(node: &Dense, index: u64) -> Entry {
    let slot = node.slot(node.digit(index));
    loop {
        let word = slot.load();
        if node.shift() != 0 && word.is_node() {
            return Entry::RETRY;
        }
        let Some(canonical) = word.entry().sibling_of() else {
            return word.entry();
        };
        let found = node.slot(canonical).load();
        if slot.load() == word {
            return if node.shift() != 0 && found.is_node() { Entry::RETRY } else { found.entry() };
        }
    }
}

/// # Safety
///
/// The word is a bucket's, which stays alive during the call.
#[inline]
unsafe fn lookup_in_bucket(word: Word, index: u64) -> Entry {
    let info = word.info();
    let words = (info & 63) as usize;
    let bucket = word.node().cast::<u8>();
    // SAFETY: every bucket begins with its base.
    let base = unsafe { *bucket.cast::<u64>() };
    // SAFETY: the keys follow the header.
    let keys = unsafe { bucket.add(HEADER_BYTES) }.cast::<AtomicU64>();
    // SAFETY: there are so many key words.
    let keys = unsafe { std::slice::from_raw_parts(keys, words) };
    let width_log2 = info >> 6 & 3;
    // Keys of 8 bytes are whole indices: there is no rest to compare.
    if width_log2 != 3 && (index ^ base) >> (8 << width_log2) != 0 {
        return Entry::NULL;
    }
    let Some(number) = find_key(keys, width_log2, index) else {
        return Entry::NULL;
    };
    // SAFETY: the slots follow the keys, and a key that matched first has one.
    let slot = unsafe { bucket.add(HEADER_BYTES + 8 * (words + number)) }.cast::<Slot>();
    // SAFETY: as above.
    unsafe { &*slot }.entry()
}

/// Returns the number of the first key that equals the index's low bits.
#[inline]
pub(super) fn find_key(keys: &[AtomicU64], width_log2: u32, index: u64) -> Option<usize> {
    match width_log2 {
        0 => find::<0>(keys, index),
        1 => find::<1>(keys, index),
        2 => find::<2>(keys, index),
        _ => keys.iter().position(|key| key.load(Ordering::Acquire) == index),
    }
}

/// Returns the first lane that equals the key. Lanes are `8 << WIDTH` bits.
#[inline]
fn find<const WIDTH: u32>(keys: &[AtomicU64], index: u64) -> Option<usize> {
    let ones = spread(1, WIDTH);
    let high = ones << ((8 << WIDTH) - 1);
    let needle = spread(index, WIDTH);
    for (number, keys) in keys.iter().enumerate() {
        let differ = keys.load(Ordering::Acquire) ^ needle;
        // The lowest bit set is the lowest lane that is zero; lanes above it may be flagged wrongly.
        let zero = differ.wrapping_sub(ones) & !differ & high;
        if zero != 0 {
            return Some((number << (3 - WIDTH)) + (zero.trailing_zeros() >> (3 + WIDTH)) as usize);
        }
    }
    None
}
