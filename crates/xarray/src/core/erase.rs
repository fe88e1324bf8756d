//! Removes entries, and afterwards nodes that became empty or too large.
//!
//! Removing never needs memory. Making nodes smaller does; it is tried without waiting, and is put off when
//! it fails.

use super::build::{Item, Items};
use super::walk::{End, Steps, Walk, place, split_last};
use crate::raw::dense::SLOTS;
use crate::raw::{Bucket, Child, Dense, Place, Word, Writer, bits};
use crate::{Entry, Flags, Gfp, Mark};

/// A leaf with this few entries becomes a bucket, which has room for half as many again.
const LEAF_USED_MIN: u32 = 5;
/// The children of an inner node become one bucket when together they hold at most this many
/// entries.
const MERGED_MAX: usize = 8;
/// A bucket of 8 or more is made smaller when at most one in five of its slots is used: one of 64 twice until it is empty.
const BUCKET_SPARSITY: usize = 5;

impl Writer<'_> {
    /// Removes the entry at this index with its marks, from all its indices if it has several.
    pub(crate) fn erase(&self, index: u64) -> Entry {
        if let Some(old) = self.erase_in_node(index) {
            return old;
        }
        let walk = self.walk(index);
        match walk.end {
            End::Empty | End::Single(_) | End::Other(_) => Entry::NULL,
            End::Entry(old) => {
                self.reset_marks(&walk, index);
                self.erase_entry(&walk);
                old
            }
            End::Bucket(bucket) => {
                let Some(number) = bucket.find_live(index) else { return Entry::NULL };
                self.reset_marks(&walk, index);
                let old = bucket.replace(number, Entry::NULL);
                self.prune_bucket(&walk, bucket);
                old
            }
        }
    }

    /// Empties the slot of a leaf or bucket that stays one, if the entry bears no mark. Then the way there need not be
    /// remembered.
    fn erase_in_node(&self, index: u64) -> Option<Entry> {
        if self.has(Flags::TRACK_FREE) {
            return None;
        }
        let has_marks = self.array().has_marks();
        match self.last_node(index)? {
            Child::Dense(leaf) => {
                let offset = index as usize % SLOTS;
                let entry = leaf.slot(offset).entry();
                let bears = |mark| leaf.marks(mark) >> offset & 1 != 0;
                let is_marked = has_marks && Mark::ALL.into_iter().any(bears);
                let stays = leaf.used().count_ones() > LEAF_USED_MIN + 1;
                if !stays || is_marked || entry.sibling_of().is_some() || leaf.span(offset) != 1 {
                    return None;
                }
                leaf.empty(offset);
                Some(entry)
            }
            Child::Bucket(bucket) => {
                let Some(number) = bucket.find(index) else { return Some(Entry::NULL) };
                let bears = |mark| bucket.marks(mark) >> number & 1 != 0;
                let is_marked = has_marks && Mark::ALL.into_iter().any(bears);
                if is_marked || is_sparse(bucket, bucket.live() - 1) {
                    return None;
                }
                Some(bucket.replace(number, Entry::NULL))
            }
            Child::Empty | Child::Entry(_) => None,
        }
    }

    /// Clears every mark of the entry at the end of the walk; in an array that hands out ids it becomes free.
    pub(crate) fn reset_marks(&self, walk: &Walk<'_>, index: u64) {
        for mark in Mark::ALL {
            let is_free = self.is_inverted(mark);
            if is_free || self.array().is_marked(mark) {
                self.change_mark(walk, index, mark, is_free);
            }
        }
    }

    fn erase_entry(&self, walk: &Walk<'_>) {
        let Some((node, canonical)) = walk.path.place() else {
            return self.head().store(Word::NULL);
        };
        // The canonical slot goes first: from then on a reader of any sibling finds nothing.
        let span = node.span(canonical);
        for offset in canonical..canonical + span {
            node.empty(offset);
        }
        self.prune(walk.path.steps());
    }

    fn prune_bucket(&self, walk: &Walk<'_>, bucket: Bucket<'_>) {
        if bucket.live() == 0 {
            self.relink(walk.path.place(), Word::NULL);
            self.prune(walk.path.steps());
        } else if is_sparse(bucket, bucket.live()) {
            let mut items = Items::new();
            items.push_bucket(bucket);
            let (place, spare) = (walk.path.place(), items.as_slice().len() / 2);
            let smaller =
                self.without_waiting().replace_bucket(place, items.as_mut_slice(), spare, None);
            if let Ok(Some(old)) = smaller {
                self.retire(old);
            }
        }
    }

    /// Removes the empty nodes at the end of the path, and makes the first one that is not empty smaller.
    pub(crate) fn prune(&self, mut path: Steps<'_, '_>) {
        while let Some((node, _, above)) = split_last(path) {
            path = above;
            match (node.used().count_ones(), node.shift()) {
                (0, _) => self.relink(place(path), Word::NULL),
                (1..=LEAF_USED_MIN, 0) => return self.shrink_leaf(place(path), node),
                (1, _) => return self.collapse(place(path), node),
                (2..=8, _) => return self.merge(place(path), node),
                _ => return,
            }
        }
    }

    fn shrink_leaf(&self, place: Place<'_>, node: &Dense) {
        let mut items = Items::new();
        for offset in bits(node.used()) {
            let entry = node.slot(offset).entry();
            if entry.sibling_of().is_some() {
                return;
            }
            let marks = Mark::bits(|mark| node.marks(mark) >> offset & 1 != 0);
            items.push(Item { index: node.index_of(offset), entry, marks });
        }
        if let Some(word) = self.build_smaller(&mut items) {
            self.relink(place, word);
        }
    }

    /// Removes a level that has a single child.
    fn collapse(&self, place: Place<'_>, node: &Dense) {
        let word = node.slot(node.used().trailing_zeros() as usize).load();
        if word.is_node() {
            self.relink(place, if word.is_bucket() { word.with_run(0) } else { word });
        }
    }

    /// Puts the entries of an inner node's few buckets into one.
    fn merge(&self, place: Place<'_>, node: &Dense) {
        let mut items = Items::new();
        for offset in bits(node.used()) {
            match node.slot(offset).child(self.pin()) {
                Child::Bucket(bucket) if items.as_slice().len() + bucket.live() <= MERGED_MAX => {
                    items.push_bucket(bucket);
                }
                _ => return,
            }
        }
        if let Some(word) = self.build_smaller(&mut items) {
            let old = self.slot(place).load();
            self.link(place, word);
            self.retire_tree(old);
        }
    }

    /// Tries to build a node for these items and half as many more.
    fn build_smaller(&self, items: &mut Items) -> Option<Word> {
        let spare = items.as_slice().len() / 2;
        self.without_waiting().build(items.as_mut_slice(), spare).ok()
    }

    /// Removes everything from `first` to `last`, and entries that reach into that range from outside.
    pub(crate) fn erase_range(&self, first: u64, last: u64) {
        let mut from = first;
        while let Some(found) = self.next_entry(from, last) {
            self.erase(found.first);
            let Some(next) = found.last.checked_add(1) else {
                return;
            };
            from = next;
        }
    }

    fn without_waiting(&self) -> Writer<'_> {
        self.sharing(Gfp::NOWAIT)
    }
}

/// Returns whether a bucket with `live` entries should be made smaller, or removed.
fn is_sparse(bucket: Bucket<'_>, live: usize) -> bool {
    live == 0 || live * BUCKET_SPARSITY <= bucket.capacity() && bucket.capacity() >= 8
}
