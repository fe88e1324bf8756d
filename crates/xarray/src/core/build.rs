//! Builds the smallest subtree for a handful of entries: a bucket, or one level of fan-out over buckets.
//!
//! # How it works
//! A run of a dense node's slots gets one bucket if that can hold the entries of the run. Otherwise each half of
//! the run is treated likewise, down to single slots, which get a subtree. Nothing is linked until all of it
//! exists, so running out of memory leaves the array as it was.
//!
//! A full bucket that a new entry separates from all of its own entries stays as it is, for fewer slots. Runs are only
//! ever divided, never joined. So a reader that walks along the slots meets each entry that stays, in the old bucket or in
//! the new one.

use crate::raw::bucket::{CAPACITY_MAX, SHARED_MAX, width_log2};
use crate::raw::dense::{DIGIT_BITS, SLOTS, run_mask};
use crate::raw::{Bucket, Child, Dense, Word, Writer};
use crate::{Entry, Mark, Result};

/// An entry on its way from one node to another.
#[derive(Clone, Copy)]
pub(crate) struct Item {
    pub(crate) index: u64,
    pub(crate) entry: Entry,
    /// Bit m is the raw bit of mark m (mark 0 is inverted in arrays that hand out ids).
    pub(crate) marks: u8,
}

/// A list of items on the stack: as many as fit a bucket, and the one too many.
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

    pub(crate) fn as_mut_slice(&mut self) -> &mut [Item] {
        &mut self.items[..self.len]
    }

    /// Adds the live entries of a bucket.
    pub(crate) fn push_bucket(&mut self, bucket: Bucket<'_>) {
        let marks = Mark::ALL.map(|mark| bucket.marks(mark));
        let marked = marks.iter().fold(0, |marked, marks| marked | marks);
        bucket.for_each(|number, index, entry| {
            if !entry.is_null() {
                let marks = match marked >> number & 1 {
                    0 => 0,
                    _ => Mark::bits(|mark| marks[mark.number()] >> number & 1 != 0),
                };
                self.push(Item { index, entry, marks });
            }
        });
    }
}

/// Returns the shift of the highest digit in which indices differ, or 0 if they do not differ.
pub(crate) fn highest_digit(differing_bits: u64) -> u32 {
    (63 - (differing_bits | 1).leading_zeros()) / DIGIT_BITS * DIGIT_BITS
}

fn differing_bits(items: &[Item]) -> u64 {
    items.iter().fold(0, |bits, item| bits | (item.index ^ items[0].index))
}

/// Returns whether a bucket should hold these items: they fit, and they neither half fill a leaf nor fill one in
/// order.
fn suit_bucket(items: &[Item], bits: u64, max: usize) -> bool {
    match items.len() {
        0..=RUN_MAX => true,
        _ if bits < SLOTS as u64 && is_run(items) => false,
        len if len > max => false,
        len if len > SHARED_MAX / 2 && (0x100..0x200).contains(&bits) => false,
        len => len <= LEAF_USED_MAX || !are_crowded(items),
    }
}

/// If a leaf has more entries than this, they are not kept in a bucket.
pub(crate) const LEAF_USED_MAX: usize = 32;

/// More entries than this, in three of four indices or denser, become a leaf at once, because filling it through
/// buckets took twice the time.
const RUN_MAX: usize = 8;

/// Entries in order, in an eighth of the indices or more, most often have one among this many indices at the
/// beginning of a slot.
const FIRST_OF_SLOT: u64 = 8;

/// Returns whether there are few gaps between these items.
fn is_run(items: &[Item]) -> bool {
    let (first, last) = ends(items);
    (last - first) * 3 < items.len() as u64 * 4
}

/// Returns the lowest and the highest index.
pub(crate) fn ends(items: &[Item]) -> (u64, u64) {
    let indices = items.iter().map(|item| item.index);
    indices.fold((u64::MAX, 0), |(first, last), index| (first.min(index), last.max(index)))
}

/// Returns whether most of these items belong to one leaf, and more than a bucket should hold of one.
fn are_crowded(items: &[Item]) -> bool {
    let leaf = |item: &Item| item.index >> DIGIT_BITS;
    let most = items.iter().fold((0, 0), |(most, lead), item| match lead {
        0 => (leaf(item), 1),
        _ if leaf(item) == most => (most, lead + 1),
        _ => (most, lead - 1),
    });
    items.iter().filter(|item| leaf(item) == most.0).count() > LEAF_USED_MAX
}

/// Moves the items that belong below a slot to the front and returns how many they are.
fn partition(items: &mut [Item], node: &Dense, slot: usize) -> usize {
    let mut len = 0;
    for i in 0..items.len() {
        if node.digit(items[i].index) < slot {
            items.swap(i, len);
            len += 1;
        }
    }
    len
}

/// A bucket that has no room for a new entry, by its word.
#[derive(Clone, Copy)]
pub(crate) struct Full<'w> {
    pub(crate) bucket: Bucket<'w>,
    pub(crate) word: Word,
    pub(crate) new: u64,
}

impl Full<'_> {
    /// Returns whether the bucket already is what would be built for these items, all of them its
    /// own.
    fn suits(&self, items: &[Item], bits: u64) -> bool {
        let (bucket, len) = (self.bucket, items.len());
        bucket.live() == len
            && bucket.capacity() == len
            && bucket.width() == width_log2(bits) as usize
            && items.iter().all(|item| item.index != self.new)
    }
}

/// The words that the slots of a node will hold.
type Slots = [Word; SLOTS];

impl Writer<'_> {
    /// Returns the word of a new subtree with these entries, whose indices differ; there is at least one.
    /// If it is a bucket, it has room for `spare` more.
    pub(crate) fn build(&self, items: &mut [Item], spare: usize) -> Result<Word> {
        let bits = differing_bits(items);
        if suit_bucket(items, bits, SHARED_MAX) {
            return self.build_bucket(items, width_log2(bits), spare);
        }
        self.build_dense(items, highest_digit(bits))
    }

    fn build_bucket(&self, items: &[Item], width_log2: u32, spare: usize) -> Result<Word> {
        let room = (items.len() + spare).min(items.len().max(SHARED_MAX));
        let word = Bucket::create(items[0].index, width_log2, room, self.gfp)?;
        if let Child::Bucket(bucket) = word.child(self.pin()) {
            bucket.fill(items.len(), |i| (items[i].index, items[i].entry));
            if items.iter().any(|item| item.marks != 0) {
                for mark in Mark::ALL {
                    let bits = items.iter().enumerate();
                    let bits = bits.map(|(i, item)| u128::from(item.marks & mark.bit() != 0) << i);
                    bucket.set_marks(mark, bits.sum());
                }
            }
        }
        Ok(word)
    }

    /// Returns the word of a new bucket with one entry and room for `spare` more.
    pub(crate) fn build_single(&self, index: u64, entry: Entry, spare: usize) -> Result<Word> {
        let word = Bucket::create(index, 0, 1 + spare, self.gfp)?;
        if let Child::Bucket(bucket) = word.child(self.pin()) {
            bucket.fill(1, |_| (index, entry));
        }
        Ok(word)
    }

    /// Returns a new dense node at this shift with the items below it.
    /// All items lie in the region of `items[0]` that such a node covers.
    pub(crate) fn build_dense(&self, items: &mut [Item], shift: u32) -> Result<Word> {
        let (word, node) = self.dense(items[0].index, shift)?;
        if node.shift() == 0 {
            self.fill_leaf(node, items);
        } else {
            self.spread(node, 0, DIGIT_BITS, items, 0, None).inspect_err(|_| self.retire(word))?;
        }
        Ok(word)
    }

    /// Puts items below a run of slots, instead of the subtree that hangs there, which the caller takes. If one
    /// bucket takes them it has room for `spare` more. Returns whether the full bucket stays, for fewer slots.
    pub(crate) fn spread(
        &self,
        node: &Dense,
        first: usize,
        run_log2: u32,
        items: &mut [Item],
        spare: usize,
        full: Option<Full<'_>>,
    ) -> Result<bool> {
        let mut slots = [Word::NULL; SLOTS];
        let stays = self
            .plan(node, (first, run_log2), items, spare, full, &mut slots)
            .inspect_err(|_| self.unplan(&slots, full))?;
        self.publish(node, first, 1 << run_log2, &slots);
        Ok(stays)
    }

    /// Puts the items of a bucket that several slots share below one slot each.
    pub(crate) fn unshare(&self, node: &Dense, first: usize, bucket: Bucket<'_>) -> Result<()> {
        let (mut items, mut slots) = (Items::new(), [Word::NULL; SLOTS]);
        items.push_bucket(bucket);
        let items = items.as_mut_slice();
        items.sort_unstable_by_key(|item| item.index);
        for items in items.chunk_by_mut(|a, b| node.digit(a.index) == node.digit(b.index)) {
            let slot = node.digit(items[0].index);
            self.plan(node, (slot, 0), items, 0, None, &mut slots)
                .inspect_err(|_| self.unplan(&slots, None))?;
        }
        let old = node.slot(first).load();
        self.publish(node, first, 1 << old.run_log2(), &slots);
        self.retire(old);
        Ok(())
    }

    fn plan(
        &self,
        node: &Dense,
        (first, run_log2): (usize, u32),
        items: &mut [Item],
        spare: usize,
        full: Option<Full<'_>>,
        slots: &mut Slots,
    ) -> Result<bool> {
        if items.is_empty() {
            return Ok(false);
        }
        let bits = differing_bits(items);
        // More entries of a single slot would take one level more.
        let max = if run_log2 == 0 { CAPACITY_MAX } else { SHARED_MAX };
        let suits = suit_bucket(items, bits, max);
        let stays = full.filter(|full| suits && full.suits(items, bits));
        let word = if let Some(full) = stays {
            full.word.with_run(run_log2)
        } else if suits {
            let is_new = items.len() == 1 && full.is_some_and(|full| full.new == items[0].index);
            let spare = if is_new { self.room_after(node, first, items[0].index) } else { spare };
            self.build_bucket(items, width_log2(bits), spare)?.with_run(run_log2)
        } else if let Some(half) = run_log2.checked_sub(1) {
            let middle = first + (1 << half);
            let len = partition(items, node, middle);
            let (low, high) = items.split_at_mut(len);
            let stays = self.plan(node, (first, half), low, 0, full, slots)?;
            return Ok(stays | self.plan(node, (middle, half), high, 0, full, slots)?);
        } else {
            self.build(items, 0)?
        };
        slots[first..first + (1 << run_log2)].fill(self.below(node, word));
        Ok(stays.is_some())
    }

    /// Returns the room to leave beside the first entry below a slot: as much as the previous bucket has, if that is full
    /// and the entry begins the slot. Then entries seem to come in order, and growing would build such a bucket three
    /// times.
    pub(crate) fn room_after(&self, node: &Dense, slot: usize, index: u64) -> usize {
        match self.before(node, slot, index) {
            Child::Bucket(bucket) if bucket.len() == bucket.capacity() => {
                bucket.capacity().min(SHARED_MAX) - 1
            }
            _ => 0,
        }
    }

    /// Returns whether the first entry below a slot begins a leaf: the entry begins the slot, and the previous slot has a
    /// leaf that could not be a bucket.
    pub(crate) fn follows_leaf(&self, node: &Dense, slot: usize, index: u64) -> bool {
        matches!(self.before(node, slot, index),
            Child::Dense(leaf) if node.shift() == DIGIT_BITS && leaf.used().count_ones() as usize > LEAF_USED_MAX)
    }

    /// Returns the content of the previous slot, if the index is one of the first of its slot.
    fn before<'w>(&'w self, node: &Dense, slot: usize, index: u64) -> Child<'w> {
        match slot.checked_sub(1) {
            Some(before) if index - node.index_of(slot) < FIRST_OF_SLOT => {
                node.slot(before).child(self.pin())
            }
            _ => Child::Empty,
        }
    }

    fn unplan(&self, slots: &Slots, full: Option<Full<'_>>) {
        let words = slots
            .iter()
            .enumerate()
            .filter(|&(offset, word)| word.is_node() && word.run_start(offset) == offset);
        let stays = |word: Word| full.is_some_and(|full| full.word.node() == word.node());
        let words = words.filter(|&(_, &word)| !stays(word));
        words.for_each(|(_, &word)| self.retire_tree(word));
    }

    /// Stores words in a run of slots, in an order in which a reader that walks along them misses no
    /// entry that was and is there.
    fn publish(&self, node: &Dense, first: usize, run: usize, slots: &Slots) {
        let children = (first..first + run).filter(|&slot| slots[slot] != Word::NULL);
        let children = children.filter(|&slot| slots[slot].run_start(slot) == slot);
        let marks = children.fold([0; 3], |mut marks, slot| {
            for mark in Mark::ALL {
                let bit = self.child_bears(node.shift(), slots[slot].child(self.pin()), mark);
                marks[mark.number()] |= u64::from(bit) << slot;
            }
            marks
        });
        let change = |keep: u64| {
            for mark in Mark::ALL {
                node.set_marks(mark, node.marks(mark) & keep | marks[mark.number()]);
            }
        };
        change(u64::MAX);
        node.set_run(first, run, |slot| slots[slot]);
        change(!run_mask(first, run));
    }

    fn fill_leaf(&self, node: &Dense, items: &[Item]) {
        let (mut used, mut marks) = (0_u64, [0_u64; 3]);
        for item in items {
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
}
