//! The writer: the right to change one array; it holds the array's lock.
//!
//! Nodes that it unlinks gather in its limbo, and go to [`super::limbo::UNLINKED`] when it ends, after the lock is
//! released. So no reference that it handed out can dangle while it lives.

use std::cell::RefCell;

use super::array::ArrayBody;
use super::child::Child;
use super::dense::Dense;
use super::keys::bits;
use super::limbo::{Limbo, Node, UNLINKED};
use super::lock::Lock;
use super::slot::{Pin, Slot, Word};
use crate::{Flags, Gfp, Result};

/// The slot that a node hangs from: a dense node and a slot number, or the head.
pub(crate) type Place<'w> = Option<(&'w Dense, usize)>;

/// Exclusive access to an array.
#[derive(Debug)]
pub struct Writer<'a> {
    array: &'a ArrayBody,
    pub(crate) gfp: Gfp,
    limbo: RefCell<Limbo>,
    /// The lock that it took itself.
    held: Option<&'a Lock>,
}

impl<'a> Writer<'a> {
    /// Takes the array's lock, which is the same for all writers of the array.
    pub(crate) fn lock(array: &'a ArrayBody, lock: &'a Lock, gfp: Gfp) -> Self {
        lock.lock();
        Self { array, gfp, limbo: RefCell::new(Limbo::new()), held: Some(lock) }
    }

    /// # Safety
    ///
    /// The caller holds the array's lock until the writer ends.
    #[cfg(feature = "capi")]
    pub(crate) unsafe fn assume_locked(array: &'a ArrayBody, gfp: Gfp) -> Self {
        Self { array, gfp, limbo: RefCell::new(Limbo::new()), held: None }
    }

    /// Returns the same right again, with another allocation context.
    pub(crate) fn sharing(&self, gfp: Gfp) -> Writer<'_> {
        Writer { array: self.array, gfp, limbo: RefCell::new(Limbo::new()), held: None }
    }

    pub(crate) fn array(&self) -> &'a ArrayBody {
        self.array
    }

    pub(crate) fn head(&self) -> &'a Slot {
        &self.array.head
    }

    /// Returns the slot at this place.
    pub(crate) fn slot<'p>(&'p self, place: Place<'p>) -> &'p Slot {
        place.map_or(&self.array.head, |(node, offset)| node.slot(offset))
    }

    pub(crate) fn has(&self, flags: Flags) -> bool {
        self.array.flags().has(flags)
    }

    pub(crate) fn pin(&self) -> Pin<'_> {
        // SAFETY: the lock is held, and what this writer unlinks outlives it.
        unsafe { Pin::new() }
    }

    /// Makes a slot hold this word, which may be a node that came from elsewhere. The caller takes the
    /// old word, and moves it on or retires it.
    pub(crate) fn link(&self, place: Place<'_>, word: Word) {
        let Some((node, offset)) = place else {
            let skips = match word.child(self.pin()) {
                Child::Dense(node) => node.first() != 0,
                _ => true,
            };
            return self.head().store(word.with_skips(skips));
        };
        let run = if word == Word::NULL { node.slot(offset).load() } else { word };
        let word = self.below(node, word);
        match run.run_log2() {
            0 if word == Word::NULL => node.empty(offset),
            0 => node.set(offset, word),
            log2 => node.set_run(run.run_start(offset), 1 << log2, |_| word),
        }
    }

    /// Makes a dense node at this shift that covers an index, and that no other thread knows.
    pub(crate) fn dense(&self, index: u64, shift: u32) -> Result<(Word, &Dense)> {
        let word = Dense::create(index, shift, self.gfp)?;
        match word.child(self.pin()) {
            Child::Dense(node) => Ok((word, node)),
            _ => unreachable!("the word of a dense node"),
        }
    }

    /// Returns the word as it hangs below this node; it then says whether the way to it leaves a prefix to be
    /// checked.
    pub(crate) fn below(&self, node: &Dense, word: Word) -> Word {
        let skips = match word.child(self.pin()) {
            Child::Dense(child) => child.bits() < node.shift(),
            Child::Bucket(bucket) => 8 << bucket.width() < node.shift() + word.run_log2(),
            Child::Empty | Child::Entry(_) => false,
        };
        word.with_skips(skips)
    }

    /// Gives up a node that is in no slot any more (or never was). What hangs below it is not touched.
    pub(crate) fn retire(&self, word: Word) {
        debug_assert!(word.is_node());
        // SAFETY: this is the contract of the raw folder: code that retires a node has unlinked it.
        unsafe { self.limbo.borrow_mut().push(Node::of(word)) };
    }

    /// Gives up a node and all nodes below it.
    pub(crate) fn retire_tree(&self, word: Word) {
        self.for_each_node(word, &mut |word| self.retire(word));
    }

    /// Calls `each` with all nodes below a word, and then with it, if it is a node's.
    pub(crate) fn for_each_node(&self, word: Word, each: &mut impl FnMut(Word)) {
        if !word.is_node() {
            return;
        }
        if let Child::Dense(node) = word.child(self.pin())
            && node.shift() != 0
        {
            bits(node.used()).for_each(|slot| self.for_each_node(node.slot(slot).load(), each));
        }
        each(word);
    }
}

impl Writer<'_> {
    /// Returns the bytes that the array's nodes take, as they were requested from the allocator.
    pub(crate) fn memory_bytes(&self) -> usize {
        let mut bytes = 0;
        self.for_each_node(self.head().load(), &mut |word| {
            bytes += match word.child(self.pin()) {
                Child::Bucket(bucket) => bucket.bytes(),
                Child::Dense(_) => size_of::<Dense>(),
                _ => 0,
            }
        });
        bytes
    }
}

impl Drop for Writer<'_> {
    fn drop(&mut self) {
        if let Some(lock) = self.held {
            lock.unlock();
        }
        // SAFETY: retired nodes are in no slot.
        unsafe { UNLINKED.retire(self.limbo.get_mut()) };
    }
}
