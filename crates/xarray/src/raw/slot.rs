//! Slots and the words in them: an entry, or a tagged pointer to a node.
//!
//! # How it works
//! A node pointer carries all that a reader must know for the next step, so that the step costs one cache
//! line and no header is touched on the way down:
//!
//! | bits | meaning |
//! |---|---|
//! | 0..=1 | `10`: one of the array's own words |
//! | 2 | no nodes hang below: a bucket, or a dense node at shift 0 |
//! | 3 | 0 [dense node](super::dense), 1 [bucket](super::bucket) |
//! | 4..=47 | address (nodes are aligned to 16 bytes) |
//! | 48..=53 | dense: its shift |
//! | 48..=54 | bucket: its capacity, less 1 |
//! | 55..=56 | bucket: log2 of its key width |
//! | 57..=59 | bucket: log2 of the slots that hold its word |
//! | 61 | dense: levels were skipped above it; bucket: its slots lead to more indices than its keys tell apart. So the \
//! prefix must be checked at the end |
//! | 62 | with `10` in bits 0..=1: a node (internal entries are below 4096) |
//!
//! # Invariants
//! - User addresses have 47 bits (x86-64, and aarch64 with 48-bit addresses): checked when a node is made.
//! - A slot that may hold nodes holds no odd pointer ([`Entry::is_odd_pointer`]), so bits 0, 1 and 62 tell a node.

use std::marker::PhantomData;
use std::ptr::NonNull;

use slablab_rcu::Guard;

use super::sync::{AtomicPtr, Ordering, const_fn};
use crate::Entry;

/// SAFETY: an entry is an inert word; code that makes a pointer of it answers for that.
unsafe impl Send for Entry {}
/// SAFETY: as above.
unsafe impl Sync for Entry {}

const OWN: usize = 2;
const LAST: usize = 4;
const BUCKET: usize = 8;
const ADDRESS: usize = 0x0000_ffff_ffff_fff0;
const INFO_SHIFT: u32 = 48;
const WIDTH_SHIFT: u32 = INFO_SHIFT + 7;
const RUN_SHIFT: u32 = INFO_SHIFT + 9;
const SKIPS: usize = 1 << 61;
const NODE: usize = 1 << 62;

/// A word of a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct Word(*mut ());

/// Proof that no node that is reachable now is freed before `'a` ends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pin<'a>(PhantomData<&'a ()>);

impl Pin<'_> {
    /// # Safety
    ///
    /// The caller is in a read-side section or holds the array's lock, for all of `'a`.
    pub(crate) const unsafe fn new() -> Self {
        Self(PhantomData)
    }
}

/// What sections provide here.
pub(crate) trait Section {
    /// Returns the proof.
    fn pin(&self) -> Pin<'_>;
}

impl Section for Guard {
    #[inline]
    fn pin(&self) -> Pin<'_> {
        // SAFETY: this is a read-side section, and the pin borrows it.
        unsafe { Pin::new() }
    }
}

impl Word {
    pub(crate) const NULL: Self = Self(std::ptr::null_mut());

    #[inline]
    pub(crate) fn addr(self) -> usize {
        self.0.addr()
    }

    #[inline]
    pub(crate) fn from_entry(entry: Entry) -> Self {
        Self(entry.as_ptr())
    }

    #[inline]
    pub(crate) const fn entry(self) -> Entry {
        Entry::from_ptr(self.0)
    }

    #[inline]
    pub(crate) fn is_node(self) -> bool {
        self.addr() & (NODE | 3) == NODE | OWN
    }

    /// Returns, for a node's word, whether it is that of a bucket.
    #[inline]
    pub(crate) fn is_bucket(self) -> bool {
        self.addr() & BUCKET != 0
    }

    /// Returns, for a node's word, whether no nodes hang below it.
    #[inline]
    pub(crate) fn is_last(self) -> bool {
        self.addr() & LAST != 0
    }

    /// Returns, for a node's word, whether its prefix must be checked because the way here does not
    /// tell it.
    #[inline]
    pub(crate) fn skips(self) -> bool {
        self.addr() & SKIPS != 0
    }

    /// Returns, for a dense node's word, its shift.
    #[inline]
    pub(crate) fn shift(self) -> u32 {
        (self.addr() >> INFO_SHIFT) as u32 % 64
    }

    /// Returns, for a bucket's word, its capacity.
    #[inline]
    pub(super) fn capacity(self) -> usize {
        (self.addr() >> INFO_SHIFT) % 128 + 1
    }

    /// Returns, for a bucket's word, the log2 of its key width.
    #[inline]
    pub(super) fn width_log2(self) -> usize {
        (self.addr() >> WIDTH_SHIFT) % 4
    }

    /// Returns the log2 of the number of slots that hold this word; only a bucket's word is in more
    /// than one.
    #[inline]
    pub(crate) fn run_log2(self) -> u32 {
        let is_bucket = self.addr() & (NODE | BUCKET | 3) == NODE | BUCKET | OWN;
        if is_bucket { (self.addr() >> RUN_SHIFT) as u32 % 8 } else { 0 }
    }

    /// Returns the first of the slots that hold this word; `offset` is one of them.
    #[inline]
    pub(crate) fn run_start(self, offset: usize) -> usize {
        offset >> self.run_log2() << self.run_log2()
    }

    /// Returns the word of a bucket for `2^run_log2` slots.
    pub(crate) fn with_run(self, run_log2: u32) -> Self {
        debug_assert!(self.is_node() && self.is_bucket());
        Self(self.0.map_addr(|addr| addr & !(7 << RUN_SHIFT) | (run_log2 as usize) << RUN_SHIFT))
    }

    /// Returns the same word with "the prefix must be checked" as given.
    pub(crate) fn with_skips(self, skips: bool) -> Self {
        if !self.is_node() {
            return self;
        }
        Self(self.0.map_addr(|addr| (addr & !SKIPS) | (usize::from(skips) * SKIPS)))
    }

    /// Returns the word without its information: an address inside the node, which leak detectors understand.
    pub(crate) fn bare(self) -> Self {
        Self(self.0.map_addr(|addr| addr & (ADDRESS | OWN | LAST | BUCKET)))
    }

    #[inline]
    pub(crate) fn node(self) -> *mut () {
        self.0.map_addr(|addr| addr & ADDRESS)
    }

    pub(crate) fn from_dense<T>(node: NonNull<T>, shift: u32) -> Self {
        let last = if shift == 0 { LAST } else { 0 };
        Self::from_node(node.cast(), last | (shift as usize) << INFO_SHIFT)
    }

    pub(super) fn from_bucket(node: NonNull<()>, capacity: usize, width_log2: u32) -> Self {
        debug_assert!((1..=128).contains(&capacity));
        let info = (capacity - 1) << INFO_SHIFT | (width_log2 as usize) << WIDTH_SHIFT;
        Self::from_node(node, LAST | BUCKET | info)
    }

    fn from_node(node: NonNull<()>, kind: usize) -> Self {
        Self(node.as_ptr().map_addr(|addr| {
            assert_eq!(addr & !ADDRESS, 0, "node address 0x{addr:x} has more than 48 bits");
            addr | kind | OWN | NODE
        }))
    }
}

/// A place for a word, read without a lock and written under it.
#[derive(Debug)]
#[repr(transparent)]
pub(crate) struct Slot(AtomicPtr<()>);

impl Slot {
    const_fn! {
        pub(crate) fn new() -> Self {
            Self(AtomicPtr::new(std::ptr::null_mut()))
        }
    }

    #[inline]
    pub(crate) fn load(&self) -> Word {
        Word(self.0.load(Ordering::Acquire))
    }

    #[inline]
    pub(crate) fn store(&self, word: Word) {
        self.0.store(word.0, Ordering::Release);
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.load(Ordering::Relaxed).is_null()
    }

    /// Returns the entry here. For slots that never hold nodes.
    #[inline]
    pub(crate) fn entry(&self) -> Entry {
        self.load().entry()
    }

    #[inline]
    pub(crate) fn set_entry(&self, entry: Entry) {
        self.store(Word::from_entry(entry));
    }
}
