//! Stores one entry at one index.

use super::build::{Full, Item, Items, LEAF_USED_MAX, ends, highest_digit};
use super::walk::{End, Walk, walk};
use crate::raw::dense::{DIGIT_BITS, SLOTS, run_mask};
use crate::raw::{Bucket, Child, Dense, Place, Word, Writer};
use crate::{Entry, Flags, Mark, Result};

impl Writer<'_> {
    pub(crate) fn walk(&self, index: u64) -> Walk<'_> {
        walk(self.head(), index, self.pin())
    }

    /// Returns the entry at this index as stored.
    pub(crate) fn load(&self, index: u64) -> Entry {
        crate::raw::lookup::lookup(self.head(), index, self.pin())
    }

    /// Returns whether the head itself can hold the entry of index 0.
    fn head_can_hold(&self, entry: Entry) -> bool {
        // The zero entry promises that a later store needs no memory, even one of an odd pointer.
        !entry.is_odd_pointer() && !entry.is_zero() && !self.has(Flags::TRACK_FREE)
    }

    /// Stores an entry that is not NULL. Marks stay as they were; a new entry has none. If the index belongs
    /// to a multi-index entry, that whole entry changes.
    ///
    /// Fails only if there was no entry at this index, not even a reserved one, and then leaves everything
    /// unchanged. (One exception, as in Linux, is an odd pointer over an entry at index 0 of an otherwise
    /// empty array.)
    pub(crate) fn insert(&self, index: u64, entry: Entry) -> Result<Entry> {
        debug_assert!(!entry.is_null());
        if let Some(old) = self.insert_without_node(index, entry) {
            return Ok(old);
        }
        let walk = self.walk(index);
        match walk.end {
            End::Entry(old) => return self.overwrite(&walk, old, entry).map(|()| old),
            End::Empty => self.insert_at_empty(&walk, index, entry),
            End::Single(first) => self.leave_head(first, Some((index, entry))),
            End::Other(node) => self.insert_beside(&walk, node, index, entry),
            End::Bucket(bucket) => self.rebuild_bucket(&walk, bucket, index, entry),
        }?;
        Ok(Entry::NULL)
    }

    /// Stores in a leaf's slot or in a bucket that has room. Most entries go there, and the way there need not be
    /// remembered. Returns the old entry, or `None` if the store takes more than that.
    fn insert_without_node(&self, index: u64, entry: Entry) -> Option<Entry> {
        match self.last_node(index)? {
            Child::Dense(leaf) => {
                let offset = index as usize % SLOTS;
                let old = leaf.slot(offset).entry();
                if old.sibling_of().is_some() {
                    return None;
                }
                leaf.set(offset, Word::from_entry(entry));
                Some(old)
            }
            Child::Bucket(bucket) if bucket.fits(index) => bucket.store(index, entry),
            _ => None,
        }
    }

    /// Returns the leaf or the bucket where an index belongs, if the way leads to one.
    #[inline]
    pub(crate) fn last_node(&self, index: u64) -> Option<Child<'_>> {
        let mut word = self.head().load();
        let mut must_check = true;
        loop {
            let child = word.child(self.pin());
            match child {
                Child::Dense(node) if !(must_check || word.skips()) || node.covers(index) => {
                    if word.is_last() {
                        return Some(child);
                    }
                    word = node.slot((index >> word.shift()) as usize).load();
                    must_check = false;
                }
                Child::Bucket(_) => return Some(child),
                _ => return None,
            }
        }
    }

    fn overwrite(&self, walk: &Walk<'_>, old: Entry, entry: Entry) -> Result<()> {
        match walk.path.place() {
            Some((node, _)) if entry.is_odd_pointer() && node.shift() != 0 => {
                return Err(crate::Error::Invalid);
            }
            None if !self.head_can_hold(entry) => {
                self.leave_head(old, None)?;
                self.insert(0, entry)?;
            }
            place => self.slot(place).set_entry(entry),
        }
        Ok(())
    }

    fn insert_at_empty(&self, walk: &Walk<'_>, index: u64, entry: Entry) -> Result<()> {
        match walk.path.place() {
            None if index == 0 && self.head_can_hold(entry) => self.head().set_entry(entry),
            Some((node, offset)) if node.shift() == 0 => node.set(offset, Word::from_entry(entry)),
            Some((node, slot)) => {
                let word = if self.follows_leaf(node, slot, index) {
                    self.build_dense(&mut [Item { index, entry, marks: 0 }], 0)?
                } else {
                    let spare = self.room_after(node, slot, index);
                    let run_log2 = empty_run_log2(node, slot);
                    self.build_single(index, entry, spare)?.with_run(run_log2)
                };
                self.link(Some((node, slot)), word);
            }
            None => self.link(None, self.build_single(index, entry, 0)?),
        }
        Ok(())
    }

    /// Moves the entry of index 0 from the head into a bucket, and adds another one.
    pub(crate) fn leave_head(&self, first: Entry, second: Option<(u64, Entry)>) -> Result<()> {
        let mut items = Items::new();
        let marks = Mark::bits(|mark| self.array().is_marked(mark));
        items.push(Item { index: 0, entry: first, marks });
        if let Some((index, entry)) = second {
            items.push(Item { index, entry, marks: 0 });
        }
        let word = self.build(items.as_mut_slice(), 0)?;
        self.link(None, word);
        Ok(())
    }

    /// Adds a level above a node, in which it and the new index part.
    fn insert_beside(&self, walk: &Walk<'_>, node: &Dense, index: u64, entry: Entry) -> Result<()> {
        let (word, fork) = self.fork(walk.path.place(), node, index, node.shift())?;
        let single = self.build_single(index, entry, 0).inspect_err(|_| self.retire(word))?;
        self.link(Some((fork, fork.digit(index))), single);
        self.link(walk.path.place(), word);
        Ok(())
    }

    /// Makes a node, at this shift or above, in which an index and a node in this place part, and hangs the given node
    /// below it.
    pub(crate) fn fork(
        &self,
        place: Place<'_>,
        node: &Dense,
        index: u64,
        shift: u32,
    ) -> Result<(Word, &Dense)> {
        let (word, fork) = self.dense(index, highest_digit(node.first() ^ index).max(shift))?;
        let offset = fork.digit(node.first());
        self.link(Some((fork, offset)), self.slot(place).load());
        self.summarize(fork, offset);
        Ok((word, fork))
    }

    /// Makes a larger node from the entry and a bucket that is full or that the index does not fit.
    fn rebuild_bucket(
        &self,
        walk: &Walk<'_>,
        bucket: Bucket<'_>,
        index: u64,
        entry: Entry,
    ) -> Result<()> {
        let mut items = Items::new();
        items.push_bucket(bucket);
        items.push(Item { index, entry, marks: 0 });
        let place = walk.path.place();
        let spare = spare_for_run(items.as_slice(), self.region_last(place, index));
        let full = Full { bucket, word: self.slot(place).load(), new: index };
        if let Some(old) = self.replace_bucket(place, items.as_mut_slice(), spare, Some(full))? {
            self.retire(old);
        }
        Ok(())
    }

    /// Returns the last index that the slots of the bucket in this place lead to.
    fn region_last(&self, place: Place<'_>, index: u64) -> u64 {
        let bits =
            place.map_or(64, |(node, slot)| node.shift() + node.slot(slot).load().run_log2());
        index | u64::MAX >> 64_u32.saturating_sub(bits)
    }

    /// Puts items in the place of a bucket, in all of its slots. Returns its word, unless the bucket stays in some of the
    /// slots, which it may if it is full.
    pub(crate) fn replace_bucket(
        &self,
        place: Place<'_>,
        items: &mut [Item],
        spare: usize,
        full: Option<Full<'_>>,
    ) -> Result<Option<Word>> {
        let old = self.slot(place).load();
        if let Some((node, first)) = place {
            let stays = self.spread(node, first, old.run_log2(), items, spare, full)?;
            return Ok((!stays).then_some(old));
        }
        self.link(None, self.build(items, spare)?);
        Ok(Some(old))
    }

    /// Puts a word in the place of a node, which is retired.
    pub(crate) fn relink(&self, place: Place<'_>, word: Word) {
        let old = self.slot(place).load();
        self.link(place, word);
        self.retire(old);
    }
}

/// Returns the log2 of the number of empty slots around this empty one which a bucket may share.
fn empty_run_log2(node: &Dense, offset: usize) -> u32 {
    let is_empty = |log2: &u32| node.used() & run_mask(offset >> log2 << log2, 1 << log2) == 0;
    (0..=DIGIT_BITS).take_while(is_empty).last().unwrap_or(0)
}

/// Returns the room to leave in a bucket that overflowed. It is little, or much if entries come in order or lie close
/// together, where most often more of them come. (Without this, filling a leaf in order rebuilt it 10 times.) It never
/// exceeds the entries that fit up to the last index of its slots, if they come as before.
fn spare_for_run(items: &[Item], region_last: u64) -> usize {
    let len = items.len();
    let (first, last) = ends(items);
    if len < LEAF_USED_MAX && last - first < RUN_SPARSITY * len as u64 {
        (RUN_GROWTH * len).min(LEAF_USED_MAX - len)
    } else if items[len - 1].index == last && last - first < NEAR {
        // Too little room is better than too much: for late entries, the next size has some room.
        let to_come = (region_last - last) / ((last - first) / len as u64).max(1) / 8 * 7;
        (ORDER_GROWTH * len).min(to_come.try_into().unwrap_or(usize::MAX))
    } else {
        0
    }
}

/// A run has at least one entry in this many indices.
const RUN_SPARSITY: u64 = 2;
/// A run's bucket grows to four times its size.
const RUN_GROWTH: usize = 3;
/// The bucket of entries that come in order grows likewise.
const ORDER_GROWTH: usize = 3;
/// Keys of more than two bytes are too large to leave room for many.
const NEAR: u64 = 1 << 16;
