//! Builds the smallest subtree for a handful of entries: a bucket, or one level of fan-out over buckets.
//!
//! Nothing is linked until all of it exists, so running out of memory leaves the array as it was.

use crate::raw::bucket::{CAPACITY_MAX, capacity_max, width_log2};
use crate::raw::dense::{DIGIT_BITS, align_down};
use crate::raw::{Bucket, Child, Dense, Word, Writer};
use crate::{Entry, Flags, Mark, Result};

/// An entry on its way from one node to another.
#[derive(Clone, Copy)]
pub(crate) struct Item {
    pub(crate) index: u64,
    pub(crate) entry: Entry,
    /// Bit m: the raw bit of mark m (mark 0 inverted in arrays that hand out ids).
    pub(crate) marks: u8,
}

/// A list of items on the stack: what fits a bucket, and the one too many.
#[derive(Clone)]
pub(crate) struct Items {
    items: [Item; CAPACITY_MAX + 1],
    len: usize,
}

impl Items {
    pub(crate) fn new() -> Self {
        Self { items: [Item { index: 0, entry: Entry::NULL, marks: 0 }; CAPACITY_MAX + 1], len: 0 }
    }

    pub(crate) fn push(&mut self, item: Item) {
        self.items[self.len] = item;
        self.len += 1;
    }

    pub(crate) fn as_slice(&self) -> &[Item] {
        &self.items[..self.len]
    }

    fn select(&self, keep: impl Fn(u64) -> bool) -> Self {
        let mut selected = Self::new();
        self.as_slice()
            .iter()
            .filter(|item| keep(item.index))
            .for_each(|&item| selected.push(item));
        selected
    }

    /// Adds the live entries of a bucket.
    pub(crate) fn push_bucket(&mut self, bucket: Bucket<'_>) {
        let marks = Mark::ALL.map(|mark| bucket.marks(mark));
        let marked = marks.iter().fold(0, |marked, marks| marked | marks);
        for number in 0..bucket.len() {
            let entry = bucket.slot(number).entry();
            if !entry.is_null() {
                let marks = match marked >> number & 1 {
                    0 => 0,
                    _ => (0..3).map(|m| ((marks[m] >> number & 1) as u8) << m).sum(),
                };
                self.push(Item { index: bucket.index(number), entry, marks });
            }
        }
    }
}

/// Returns the shift of the highest digit in which two indices differ.
pub(crate) fn highest_digit(differing_bits: u64) -> u32 {
    debug_assert_ne!(differing_bits, 0);
    (63 - differing_bits.leading_zeros()) / DIGIT_BITS * DIGIT_BITS
}

fn differing_bits(items: &[Item]) -> u64 {
    items.iter().fold(0, |bits, item| bits | (item.index ^ items[0].index))
}

impl Writer<'_> {
    /// Returns the word of a new subtree with these entries, whose indices differ; there is at least one.
    /// The room is for `spare` more if it is a bucket.
    pub(crate) fn build(&self, items: &Items, spare: usize) -> Result<Word> {
        let bits = differing_bits(items.as_slice());
        let width = width_log2(bits);
        if items.len <= capacity_max(width) {
            let room = (items.len + spare).min(capacity_max(width));
            return self.build_bucket(items.as_slice(), width, room);
        }
        self.build_dense(items, highest_digit(bits))
    }

    fn build_bucket(&self, items: &[Item], width_log2: u32, room: usize) -> Result<Word> {
        let word = Bucket::create(items[0].index, width_log2, room, self.gfp)?;
        if let Child::Bucket(bucket) = word.child(self.pin()) {
            bucket.fill(items.len(), |i| (items[i].index, items[i].entry));
            if items.iter().any(|item| item.marks != 0) {
                for mark in Mark::ALL {
                    let bits = items.iter().enumerate();
                    let bits = bits.map(|(i, item)| u32::from(item.marks & mark.bit() != 0) << i);
                    bucket.set_marks(mark, bits.sum());
                }
            }
        }
        Ok(word)
    }

    /// Returns a new dense node at this shift with the items below it, each group in its own subtree.
    /// All items lie in the region of `items[0]` that such a node covers.
    pub(crate) fn build_dense(&self, items: &Items, shift: u32) -> Result<Word> {
        let word = Dense::create(items.as_slice()[0].index, shift, self.gfp)?;
        if let Child::Dense(node) = word.child(self.pin())
            && let Err(error) = self.fill_dense(node, items)
        {
            self.retire_tree(word);
            return Err(error);
        }
        Ok(word)
    }

    /// Puts items below an unpublished node.
    pub(crate) fn fill_dense(&self, node: &Dense, items: &Items) -> Result<()> {
        if node.shift() == 0 {
            self.fill_leaf(node, items);
            return Ok(());
        }
        let mut done = 0_u64;
        for item in items.as_slice() {
            let offset = node.digit(item.index);
            if done & 1 << offset == 0 {
                done |= 1 << offset;
                let group = align_down(item.index, node.shift());
                let group = items.select(|index| align_down(index, node.shift()) == group);
                let child = self.build(&group, 0)?;
                self.link(Some((node, offset)), child);
                self.summarize(node, offset);
            }
        }
        Ok(())
    }

    fn fill_leaf(&self, node: &Dense, items: &Items) {
        let (mut used, mut marks) = (0_u64, [0_u64; 3]);
        for item in items.as_slice() {
            let offset = node.digit(item.index);
            node.slot(offset).set_entry(item.entry);
            used |= 1 << offset;
            for mark in Mark::ALL {
                marks[mark.number()] |= u64::from(item.marks >> mark.number() & 1) << offset;
            }
        }
        node.set_used(used);
        Mark::ALL.iter().for_each(|&mark| node.set_marks(mark, marks[mark.number()]));
    }

    /// Recomputes the mark bits of an inner slot from the child in it.
    pub(crate) fn summarize(&self, node: &Dense, offset: usize) {
        let child = node.slot(offset).child(self.pin());
        for mark in Mark::ALL {
            let is_inverted = mark == Mark::FREE && self.has(Flags::TRACK_FREE);
            let summary = match child {
                Child::Dense(child) if is_inverted => {
                    child.bits() == node.shift() && child.marks(mark) == u64::MAX
                }
                Child::Dense(child) => child.marks(mark) != 0,
                Child::Bucket(bucket) => !is_inverted && bucket.marks(mark) != 0,
                Child::Empty => false,
                Child::Entry(_) => continue,
            };
            let bit = u64::from(summary) << offset;
            node.set_marks(mark, node.marks(mark) & !(1 << offset) | bit);
        }
    }
}
