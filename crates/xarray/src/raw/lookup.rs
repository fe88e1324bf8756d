//! The lookup: what [`crate::ArrayBody::load`] does, from head to entry, without checking anything
//! twice.
//!
//! # How it works
//! Each level takes one dependent load: the word that leads to a node says which kind of node it is and
//! which digit it looks at. Levels with a single child are skipped; the bits skipped are compared once, at
//! the end, and only if the way down met a word that says so.

use super::bucket::Bucket;
use super::dense::{DIGIT_BITS, Dense, SLOTS};
use super::slot::{Pin, Slot, Word};
use crate::Entry;

/// Returns the entry at `index` as it is stored: a reserved index gives the zero entry. The retry entry
/// means that a writer was in between.
#[inline]
pub(crate) fn lookup(head: &Slot, index: u64, pin: Pin<'_>) -> Entry {
    let entry = lookup_word(head, index, pin, |_, word| word.entry());
    if entry.is_internal() { lookup_internal(head, index, pin) } else { entry }
}

/// Looks up as [`lookup`] does, after an entry was one of the array's own.
#[cold]
#[inline(never)]
fn lookup_internal(head: &Slot, index: u64, pin: Pin<'_>) -> Entry {
    lookup_word(head, index, pin, |node, _| lookup_sibling(node, index))
}

/// Goes down to an index. `end` makes an entry from the word in a dense node's slot, which may be a
/// sibling's.
#[inline]
fn lookup_word(
    head: &Slot,
    index: u64,
    _pin: Pin<'_>,
    end: impl Fn(&Dense, Word) -> Entry,
) -> Entry {
    let mut word = head.load();
    if !word.is_node() {
        return if index == 0 { word.entry() } else { Entry::NULL };
    }
    // A head that skips nothing covers indices from 0 on; only there can an index be too large.
    if !word.is_bucket() && !word.skips() && index >> word.shift() >> DIGIT_BITS != 0 {
        return Entry::NULL;
    }
    let mut skips = word.skips();
    while !word.is_last() {
        // SAFETY: a dense node's word, read from a live slot under the pin.
        let node = unsafe { &*word.node().cast::<Dense>() };
        let next = node.slot((index >> word.shift()) as usize % SLOTS).load();
        if !next.is_node() {
            return if skips && !node.covers(index) { Entry::NULL } else { end(node, next) };
        }
        word = next;
        skips |= word.skips();
    }
    if word.is_bucket() {
        // SAFETY: a bucket's word, read from a live slot under the pin.
        let bucket = unsafe { Bucket::from_word(word) };
        return if skips && !bucket.fits(index) { Entry::NULL } else { bucket.load(index) };
    }
    // SAFETY: a dense node's word, read from a live slot under the pin.
    let leaf = unsafe { &*word.node().cast::<Dense>() };
    // `shown` is read first: for unused indices, one line of the cache instead of eight tells that most leaves
    // have no entry.
    if leaf.shown() >> (index % SLOTS as u64) & 1 == 0 {
        return Entry::NULL;
    }
    let word = leaf.slot(index as usize % SLOTS).load();
    if skips && !leaf.covers(index) { Entry::NULL } else { end(leaf, word) }
}

/// Resolves a slot that may be one of several of its entry. It, and the canonical slot, may change meanwhile:
/// so the slot is read again after the entry, and the entry counts only if the slot has not changed.
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
