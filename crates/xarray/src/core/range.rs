//! Stores one entry at many indices, and divides such an entry again.
//!
//! # How it works
//! A run of slots of one dense node holds the entry: the first slot holds the entry itself, the others the
//! word "sibling of that slot". The node's shift follows from the size of the run. So a way down to a node of
//! that shift is made first, and buckets in between are spread out. Memory may run out there. Then the slots
//! are filled, which cannot fail.

use super::build::{Items, highest_digit};
use super::walk::{End, Path, Steps, split_last};
use crate::raw::dense::{DIGIT_BITS, SLOTS, run_mask};
use crate::raw::limbo::{Limbo, free_private, pop_private, push_private};
use crate::raw::{Child, Dense, Word, Writer};
use crate::{Entry, Error, Flags, Gfp, Mark, Result};

/// A run of slots in a node of this shift, aligned to the node's digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) first: u64,
    pub(crate) shift: u32,
    pub(crate) slots: usize,
}

impl Run {
    /// Returns the run of `2^order` indices around this one.
    pub(crate) fn of_order(index: u64, order: u32) -> Self {
        let shift = order / DIGIT_BITS * DIGIT_BITS;
        Self { first: index >> order << order, shift, slots: 1 << (order - shift) }
    }

    /// Returns the longest run from `first` on that one node can hold and that ends at `last` or before.
    pub(crate) fn longest(first: u64, last: u64) -> Self {
        let low_bits = |shift: u32| (1_u64 << shift) - 1;
        let fits = |&shift: &u32| first & low_bits(shift) == 0 && last - first >= low_bits(shift);
        let shifts = (0..64).step_by(DIGIT_BITS as usize);
        let shift = shifts.take_while(fits).last().unwrap_or(0);
        let left = SLOTS - 1 - (first >> shift) as usize % SLOTS;
        let more = (last - first - low_bits(shift)) >> shift;
        Self { first, shift, slots: 1 + more.min(left as u64) as usize }
    }

    pub(crate) fn last(self) -> u64 {
        self.first + (((self.slots as u64 - 1) << self.shift) | ((1 << self.shift) - 1))
    }
}

/// The runs of a range, from its first index (`None`: none is left) to its last.
struct Runs(Option<u64>, u64);

impl Iterator for Runs {
    type Item = Run;

    fn next(&mut self) -> Option<Run> {
        let run = Run::longest(self.0?, self.1);
        self.0 = run.last().checked_add(1).filter(|&next| next <= self.1);
        Some(run)
    }
}

/// Where a run goes.
enum Reached<'w> {
    /// This node, at the end of this path, has the run's slots.
    Node(Path<'w>, &'w Dense),
    /// The run lies inside a larger entry.
    Inside,
}

impl Writer<'_> {
    /// Stores an entry that is not NULL at all indices of a run; or, if the run lies inside a larger entry,
    /// at all indices of that. The entry gets the marks of all entries that it replaces. Returns the old
    /// entry at the first index.
    pub(crate) fn store_run(&self, run: Run, entry: Entry) -> Result<Entry> {
        if run.slots == 1 && run.shift == 0 {
            return self.insert(run.first, entry);
        }
        if run.shift > 0 && entry.is_odd_pointer() {
            return Err(Error::Invalid);
        }
        let old = self.load(run.first);
        match self.reach(run)? {
            Reached::Inside => return self.insert(run.first, entry),
            Reached::Node(path, node) => self.fill(path.steps(), node, run, entry),
        }
        Ok(old)
    }

    /// Makes a way down from the head to a dense node of the run's shift. The contents stay as they
    /// are.
    ///
    /// One turn of the loop looks at the child that the way has reached so far:
    /// - a dense node above the run's shift that covers the run: the way goes on in its slot;
    /// - one at the run's shift: there we are;
    /// - anything else (nothing, a node of other indices, a bucket): a dense node takes its place, and the next turn looks
    ///   at that one;
    /// - an entry: it has many indices, so that the run lies inside it; or it is at index 0 in the head, and moves to a
    ///   node first.
    ///
    /// A bucket may hang in several neighbouring slots at once. A slot that is about to change gets a child of its own
    /// before that. So do all slots of the run, since the run's entry will be in them and in no others.
    fn reach(&self, run: Run) -> Result<Reached<'_>> {
        let (index, shift) = (run.first, run.shift);
        let mut path = Path::new();
        let mut child = self.head().child(self.pin());
        loop {
            let word = match child {
                Child::Dense(node) if node.covers(index) && node.shift() == shift => {
                    let first = node.digit(index);
                    // A leaf's slots hold entries only.
                    let mut slots = if shift == 0 { 0..0 } else { first..first + run.slots };
                    slots.try_for_each(|slot| self.unshare_slot(node, slot))?;
                    return Ok(Reached::Node(path, node));
                }
                Child::Dense(node) if node.covers(index) && node.shift() > shift => {
                    let offset = node.canonical(node.digit(index));
                    self.unshare_slot(node, offset)?;
                    path.push(node, offset);
                    child = node.slot(offset).child(self.pin());
                    continue;
                }
                Child::Entry(entry) if path.place().is_none() => {
                    self.leave_head(entry, None)?;
                    child = self.head().child(self.pin());
                    continue;
                }
                Child::Entry(_) => return Ok(Reached::Inside),
                Child::Empty => {
                    let word = Dense::create(index, shift, self.gfp)?;
                    self.link(path.place(), word);
                    word
                }
                // It covers other indices, or lies below the run's shift; a node above it leads to
                // both.
                Child::Dense(node) => {
                    let (word, _) = self.fork(path.place(), node, index, shift)?;
                    self.link(path.place(), word);
                    word
                }
                // Its entries move to a dense node high enough to lead to all of them and to the run: its shift is that of the
                // highest digit in which any of their indices differs from ours.
                Child::Bucket(bucket) => {
                    let mut items = Items::new();
                    items.push_bucket(bucket);
                    let differing =
                        items.as_slice().iter().fold(0, |bits, item| bits | (item.index ^ index));
                    let node_shift = highest_digit(differing).max(shift);
                    let word = self.build_dense(items.as_mut_slice(), node_shift)?;
                    self.relink(path.place(), word);
                    word
                }
            };
            child = word.child(self.pin());
        }
    }

    /// Gives an inner node's slot that shares its bucket a child of its own, or none.
    fn unshare_slot(&self, node: &Dense, slot: usize) -> Result<()> {
        let word = node.slot(slot).load();
        if word.run_log2() != 0
            && let Child::Bucket(bucket) = word.child(self.pin())
        {
            self.unshare(node, word.run_start(slot), bucket)?;
        }
        Ok(())
    }

    /// Makes one entry from a run of slots and the entries that it touches.
    fn fill(&self, path: Steps<'_, '_>, node: &Dense, run: Run, entry: Entry) {
        let first = node.canonical(node.digit(run.first));
        let end = node.digit(run.first) + run.slots;
        let last = node.canonical(end - 1);
        let end = end.max(last + node.span(last));
        let mask = run_mask(first, end - first);
        for mark in Mark::ALL {
            let old = node.marks(mark);
            let new = if self.is_inverted(mark) {
                old | mask
            } else {
                old & !mask | u64::from(old & mask != 0) << first
            };
            node.set_marks(mark, new);
        }
        for offset in first..end {
            let old = node.slot(offset).load();
            let word = if offset == first { entry } else { Entry::sibling(first) };
            node.set(offset, Word::from_entry(word));
            if node.shift() != 0 {
                self.retire_tree(old);
            }
        }
        Mark::ALL.into_iter().for_each(|mark| self.propagate_node(path, node, mark));
    }

    /// Stores an entry at all indices from `first` to `last`, in as few entries as nodes allow, or erases them
    /// (NULL). Entries of several indices that lie partly outside change as a whole, as in Linux.
    ///
    /// # Errors
    ///
    /// If the entry is invalid, the range is reversed, or memory is out.
    pub fn set_range(&self, first: u64, last: u64, entry: Entry) -> Result<()> {
        if last < first || !(entry.is_null() || entry.fits_many_indices()) {
            return Err(Error::Invalid);
        }
        if entry.is_null() {
            self.erase_range(first, last);
            return Ok(());
        }
        let mut stored = Ok(());
        // The ways are made first: when memory runs out, nothing has changed. One run is stored whole or not at all.
        if Run::longest(first, last).last() != last {
            stored = Runs(Some(first), last).try_for_each(|run| self.reach(run).map(|_| ()));
        }
        for run in Runs(Some(first), last) {
            stored = stored.and_then(|()| self.store_run(run, entry).map(|_| ()));
            match stored {
                Ok(()) if self.has(Flags::TRACK_FREE) => self.unmark(run.first, Mark::FREE),
                Ok(()) => {}
                Err(_) => self.prune_empty(run.first),
            }
        }
        stored
    }

    /// Removes the nodes on the way to this index that hold nothing.
    fn prune_empty(&self, index: u64) {
        let walk = self.walk(index);
        if let (End::Empty, Some((node, _))) = (walk.end, walk.path.place())
            && node.used() == 0
        {
            self.prune(walk.path.steps());
        }
    }

    /// Makes sure that storing at any index from `first` to `last` needs no memory.
    pub(crate) fn create_range(&self, first: u64, last: u64) -> Result<()> {
        let mut from = first;
        loop {
            self.reach(Run { first: from, shift: 0, slots: 1 })?;
            match (from | (SLOTS as u64 - 1)).checked_add(1) {
                Some(next) if next <= last => from = next,
                _ => return Ok(()),
            }
        }
    }
}

/// The nodes that dividing an entry will need, made before the lock is taken.
pub(crate) struct Split {
    nodes: Limbo,
    order: u32,
}

impl Split {
    /// Makes nodes to divide the entry of `old_order` around `index` into ones of `order`.
    ///
    /// # Errors
    ///
    /// If memory is out, or (invalid) the new order is not smaller, or lies more than one level of
    /// nodes below.
    pub(crate) fn prepare(
        index: u64,
        old_order: u32,
        order: u32,
        entry: Entry,
        gfp: Gfp,
    ) -> Result<Self> {
        let old = Run::of_order(index, old_order);
        let new_shift = order / DIGIT_BITS * DIGIT_BITS;
        if order >= old_order || new_shift + DIGIT_BITS < old.shift {
            return Err(Error::Invalid);
        }
        let mut split = Self { nodes: Limbo::new(), order };
        if new_shift < old.shift {
            for slot in (0..old.slots as u64).rev() {
                let node = Dense::create(old.first + (slot << old.shift), new_shift, gfp)?;
                push_private(&mut split.nodes, node, |node| {
                    fill_pieces(node, 0, SLOTS, order, entry);
                });
            }
        }
        Ok(split)
    }
}

#[cfg(feature = "capi")]
impl Split {
    /// Returns what [`Split::into_nodes`] took apart.
    pub(crate) const fn from_nodes(nodes: Limbo, order: u32) -> Self {
        Self { nodes, order }
    }

    /// Returns the nodes.
    pub(crate) fn into_nodes(mut self) -> Limbo {
        std::mem::take(&mut self.nodes)
    }
}

impl Drop for Split {
    fn drop(&mut self) {
        free_private(&mut self.nodes);
    }
}

/// Fills slots with entries of this order.
fn fill_pieces(node: &Dense, first: usize, slots: usize, order: u32, entry: Entry) {
    let piece = 1 << (order - node.shift());
    for offset in first..first + slots {
        let canonical = offset / piece * piece;
        let word = if offset == canonical { entry } else { Entry::sibling(canonical) };
        node.set(offset, Word::from_entry(word));
    }
}

/// Returns the first slots of entries of this order.
fn canonicals(node: &Dense, first: usize, slots: usize, order: u32) -> u64 {
    let step = 1 << (order - node.shift());
    (first..first + slots).step_by(step).fold(0, |bits, slot| bits | 1 << slot)
}

impl Writer<'_> {
    /// Divides the entry at `index`. Each part holds `entry` and the marks of the whole.
    pub(crate) fn split(&self, index: u64, entry: Entry, mut split: Split) {
        let walk = self.walk(index);
        let (End::Entry(_), Some((node, canonical, path))) =
            (walk.end, split_last(walk.path.steps()))
        else {
            return;
        };
        let slots = node.span(canonical);
        let mask = run_mask(canonical, slots);
        let marked = Mark::ALL.map(|mark| node.marks(mark) >> canonical & 1 != 0);
        if split.order >= node.shift() {
            fill_pieces(node, canonical, slots, split.order, entry);
            let canonicals = canonicals(node, canonical, slots, split.order);
            for mark in Mark::ALL.into_iter().filter(|&mark| !self.is_inverted(mark)) {
                let bits = if marked[mark.number()] { canonicals } else { 0 };
                node.set_marks(mark, node.marks(mark) & !mask | bits);
            }
        } else {
            for offset in canonical..canonical + slots {
                let Some(word) = pop_private(&mut split.nodes) else { return };
                if let Child::Dense(child) = word.child(self.pin()) {
                    let canonicals = canonicals(child, 0, SLOTS, split.order);
                    for mark in Mark::ALL.into_iter().filter(|mark| marked[mark.number()]) {
                        let bits = if self.is_inverted(mark) { u64::MAX } else { canonicals };
                        child.set_marks(mark, bits);
                    }
                }
                self.link(Some((node, offset)), word);
                self.summarize(node, offset);
            }
        }
        Mark::ALL.into_iter().for_each(|mark| self.propagate_node(path, node, mark));
    }
}
