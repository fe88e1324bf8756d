//! The bookkeeping of one reclamation domain: records of readers, pending and waiting nodes.

use super::{AtomicPtr, AtomicUsize, BATCH, Ordering, Word, fence};
use crate::raw::{Bucket, Dense, memory};

/// A singly linked list of unlinked nodes, linked through the nodes themselves: retiring needs no memory.
pub(crate) struct Limbo {
    first: Word,
    last: Word,
    count: usize,
}

impl Limbo {
    pub(crate) const fn new() -> Self {
        Self { first: Word::NULL, last: Word::NULL, count: 0 }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.first.addr() == 0
    }

    /// Takes over an unlinked node.
    ///
    /// # Safety
    ///
    /// The word is a node's, it is in no slot of a live node, and it is retired once.
    pub(crate) unsafe fn push(&mut self, word: Word) {
        let word = word.bare();
        // SAFETY: the caller owns the node now.
        unsafe { set_next(word, self.first) };
        if self.is_empty() {
            self.last = word;
        }
        self.first = word;
        self.count += 1;
    }

    /// Takes over a dense node that was never linked, after letting its maker fill it.
    pub(crate) fn push_private(&mut self, word: Word, fill: impl FnOnce(&Dense)) {
        debug_assert!(word.is_node() && !word.is_bucket());
        // SAFETY: a dense node's word that nobody else knows.
        fill(unsafe { &*word.node().cast::<Dense>() });
        // SAFETY: as above.
        unsafe { self.push(word) };
    }

    /// Returns a list of private nodes that [`Limbo::into_first`] gave away.
    #[cfg(feature = "capi")]
    pub(crate) const fn from_first(first: Word) -> Self {
        Self { first, last: Word::NULL, count: 0 }
    }

    /// Gives a list of private nodes away as its first word.
    #[cfg(feature = "capi")]
    pub(crate) const fn into_first(self) -> Word {
        self.first
    }

    /// Hands out the node taken over last.
    pub(crate) fn pop_private(&mut self) -> Option<Word> {
        if self.is_empty() {
            return None;
        }
        let word = self.first;
        // SAFETY: the list owns its nodes.
        self.first = unsafe { next(word) };
        let node = std::ptr::NonNull::new(word.node().cast::<Dense>())?;
        // SAFETY: `push_private` takes dense nodes only.
        let shift = unsafe { node.as_ref() }.shift();
        Some(Word::from_dense(node, shift))
    }

    /// Frees nodes that were never linked and were not handed out.
    pub(crate) fn free_private(&mut self) {
        // SAFETY: nobody but this list ever knew them.
        unsafe { self.free_all() };
    }

    /// Frees the nodes.
    ///
    /// # Safety
    ///
    /// No reader holds any of them.
    pub(crate) unsafe fn free_all(&mut self) {
        let mut word = std::mem::replace(&mut self.first, Word::NULL);
        self.count = 0;
        while word != Word::NULL {
            // SAFETY: the list owns its nodes.
            let next = unsafe { next(word) };
            // SAFETY: as the caller promises.
            unsafe { free_node(word) };
            word = next;
        }
    }
}

/// Frees one node, not what hangs below it.
///
/// # Safety
///
/// Nobody uses it any more.
pub(crate) unsafe fn free_node(word: Word) {
    #[cfg(loom)]
    super::models::note_freed(word);
    #[cfg(not(loom))]
    // SAFETY: as the caller promises.
    unsafe {
        give_back(word);
    }
}

/// # Safety
///
/// As [`free_node`].
#[cfg(not(loom))]
unsafe fn give_back(word: Word) {
    let layout = if word.is_bucket() {
        // SAFETY: the word is a bucket's.
        unsafe { Bucket::from_word(word) }.layout()
    } else {
        Dense::LAYOUT
    };
    // SAFETY: nodes are allocated with this layout.
    unsafe { memory::free(Dense::as_memory(word), layout) };
}

/// # Safety
///
/// The node is alive.
unsafe fn link<'a>(word: Word) -> &'a std::sync::atomic::AtomicPtr<()> {
    let node = word.node();
    if word.is_bucket() {
        // SAFETY: the word says that it is a bucket.
        unsafe { &(*node.cast::<crate::raw::bucket::Header>()).limbo }
    } else {
        // SAFETY: the word says that it is a dense node.
        unsafe { &(*node.cast::<Dense>()).limbo }
    }
}

/// # Safety
///
/// The node is alive and the caller's.
unsafe fn set_next(word: Word, next: Word) {
    // SAFETY: as the caller promises.
    unsafe { link(word) }.store(next.entry().as_ptr(), std::sync::atomic::Ordering::Relaxed);
}

/// # Safety
///
/// The node is alive and the caller's.
unsafe fn next(word: Word) -> Word {
    // SAFETY: as the caller promises.
    let next = unsafe { link(word) }.load(std::sync::atomic::Ordering::Relaxed);
    Word::from_entry(crate::Entry::from_ptr(next))
}

/// The low bits of a record count the sections that a thread is in, the upper ones are the epoch of the outermost.
const DEPTH: usize = 0xffff;
/// Between two epochs. All of them have a depth of 1, so that entering a section is one store.
const EPOCH_STEP: usize = DEPTH + 1;
const EPOCH_FIRST: usize = EPOCH_STEP | 1;

/// What a reading thread shows to those that free: 0 outside a section, else the epoch it entered in and the
/// number of sections it is in.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct Record {
    active: AtomicUsize,
    claimed: AtomicUsize,
    next: AtomicPtr<Record>,
}

impl Record {
    pub(crate) fn new() -> Self {
        Self {
            active: AtomicUsize::new(0),
            claimed: AtomicUsize::new(1),
            next: AtomicPtr::new(std::ptr::null_mut()),
        }
    }

    /// Leaves the section entered last.
    #[inline]
    pub(crate) fn leave(&self) {
        match self.active.load(Ordering::Relaxed) {
            active if active & DEPTH == 1 => self.active.store(0, Ordering::Release),
            active => self.leave_another(active),
        }
    }

    #[cold]
    #[inline(never)]
    fn leave_another(&self, active: usize) {
        debug_assert!(active != 0, "a read-side section was left that was not entered");
        self.active.store(active.saturating_sub(1), Ordering::Release);
    }

    /// Returns whether its thread is in a section.
    pub(crate) fn is_active(&self) -> bool {
        self.active.load(Ordering::Relaxed) != 0
    }

    #[cold]
    #[inline(never)]
    fn enter_another(&self, active: usize) {
        assert!(active & DEPTH < DEPTH, "65,535 nested read-side sections");
        self.active.store(active + 1, Ordering::Relaxed);
    }
}

/// The waiting batch and whether somebody is at it.
struct Waiting {
    held: AtomicUsize,
    batch: std::cell::UnsafeCell<(Limbo, usize)>,
}

/// Readers' records and nodes to be freed.
pub(crate) struct Domain {
    epoch: AtomicUsize,
    records: AtomicPtr<Record>,
    registered: AtomicUsize,
    pending: AtomicPtr<()>,
    pending_count: AtomicUsize,
    /// Everything unlinked before the epoch became greater than this is freed.
    done: AtomicUsize,
    waiting: Waiting,
}

/// SAFETY: the batch is only touched while `held`; everything else is atomic.
unsafe impl Sync for Domain {}

macro_rules! empty_domain {
    () => {
        Self {
            epoch: AtomicUsize::new(EPOCH_FIRST),
            records: AtomicPtr::new(std::ptr::null_mut()),
            registered: AtomicUsize::new(0),
            pending: AtomicPtr::new(std::ptr::null_mut()),
            pending_count: AtomicUsize::new(0),
            done: AtomicUsize::new(0),
            waiting: Waiting {
                held: AtomicUsize::new(0),
                batch: std::cell::UnsafeCell::new((Limbo::new(), 0)),
            },
        }
    };
}

impl Domain {
    #[cfg(not(loom))]
    pub(crate) const fn new() -> Self {
        empty_domain!()
    }

    /// Loom's atomics cannot be made by a constant function.
    #[cfg(loom)]
    pub(crate) fn new() -> Self {
        empty_domain!()
    }

    /// Returns a record for this thread, a left one or a new one that lives as long as the process.
    pub(crate) fn register(&self, heavy_barrier: fn()) -> &'static Record {
        let mut record = self.records.load(Ordering::Acquire);
        while !record.is_null() {
            // SAFETY: records are never freed.
            let left = unsafe { &*record };
            if left.claimed.compare_exchange(0, 1, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
                break;
            }
            record = left.next.load(Ordering::Acquire);
        }
        if record.is_null() {
            record = Box::into_raw(Box::new(Record::new()));
            self.add_record(record);
        }
        self.registered.fetch_add(1, Ordering::SeqCst);
        // Pairs with `is_solitary`: a writer that did not see the count has unlinked visibly by now.
        heavy_barrier();
        // SAFETY: records are never freed.
        unsafe { &*record }
    }

    fn add_record(&self, record: *mut Record) {
        let mut first = self.records.load(Ordering::Acquire);
        loop {
            // SAFETY: not in the list yet, so nobody else writes here.
            unsafe { &(*record).next }.store(first, Ordering::Relaxed);
            match self.records.compare_exchange(first, record, Ordering::AcqRel, Ordering::Acquire)
            {
                Ok(_) => return,
                Err(now) => first = now,
            }
        }
    }

    /// Gives a record back when its thread ends, outside any section.
    pub(crate) fn unregister(&self, record: &Record) {
        debug_assert!(!record.is_active());
        self.registered.fetch_sub(1, Ordering::SeqCst);
        record.claimed.store(0, Ordering::Release);
    }

    /// Enters a section. What orders this before the reads that follow is up to the caller.
    #[inline]
    pub(crate) fn enter(&self, record: &Record) {
        match record.active.load(Ordering::Relaxed) {
            0 => record.active.store(self.epoch.load(Ordering::Acquire), Ordering::Relaxed),
            active => record.enter_another(active),
        }
    }

    /// Returns whether at most `own` threads (the caller itself) could be reading.
    pub(crate) fn is_solitary(&self, own: usize) -> bool {
        self.registered.load(Ordering::Acquire) <= own
    }

    /// Queues unlinked nodes. Returns whether a collection is due.
    pub(crate) fn defer(&self, limbo: &mut Limbo) -> bool {
        let limbo = std::mem::replace(limbo, Limbo::new());
        if limbo.is_empty() {
            return false;
        }
        let mut first = self.pending.load(Ordering::Relaxed);
        loop {
            // SAFETY: the nodes are ours until the exchange succeeds.
            unsafe { set_next(limbo.last, Word::from_entry(crate::Entry::from_ptr(first))) };
            let new = limbo.first.entry().as_ptr();
            match self.pending.compare_exchange_weak(
                first,
                new,
                Ordering::AcqRel,
                Ordering::Relaxed,
            ) {
                Ok(_) => break,
                Err(now) => first = now,
            }
        }
        self.pending_count.fetch_add(limbo.count, Ordering::Relaxed) + limbo.count >= BATCH
    }

    /// Frees what can be freed, and stamps what came since for the next time.
    pub(crate) fn collect(&self, heavy_barrier: fn()) {
        if self.waiting.held.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_err() {
            return;
        }
        // SAFETY: `held` is ours.
        let batch = unsafe { &mut *self.waiting.batch.get() };
        heavy_barrier();
        if self.all_readers_are_past(batch.1) {
            // SAFETY: the stamp's invariant.
            unsafe { batch.0.free_all() };
            self.done.store(batch.1, Ordering::Release);
            *batch = self.take_pending();
        }
        self.waiting.held.store(0, Ordering::Release);
    }

    /// Returns a ticket for everything unlinked until now. A read-modify-write with release: the epochs that follow
    /// continue its release sequence, so that a reader of one of them sees what was unlinked.
    pub(crate) fn ticket(&self) -> usize {
        self.epoch.fetch_add(0, Ordering::AcqRel)
    }

    /// Returns whether everything that the ticket stands for is freed.
    pub(crate) fn is_done(&self, ticket: usize) -> bool {
        self.done.load(Ordering::Acquire) >= ticket
    }

    fn take_pending(&self) -> (Limbo, usize) {
        let first = self.pending.swap(std::ptr::null_mut(), Ordering::AcqRel);
        let first = Word::from_entry(crate::Entry::from_ptr(first));
        let count = if first == Word::NULL {
            0
        } else {
            self.pending_count.swap(0, Ordering::Relaxed).max(1)
        };
        let stamp = self.epoch.fetch_add(EPOCH_STEP, Ordering::AcqRel);
        (Limbo { first, last: Word::NULL, count }, stamp)
    }

    fn all_readers_are_past(&self, stamp: usize) -> bool {
        let mut record = self.records.load(Ordering::Acquire);
        while !record.is_null() {
            // SAFETY: records are never freed.
            let reader = unsafe { &*record };
            let active = reader.active.load(Ordering::Acquire);
            if active != 0 && active <= stamp | DEPTH {
                return false;
            }
            record = reader.next.load(Ordering::Acquire);
        }
        true
    }

    /// The barrier for where the system has none: readers have a fence of their own.
    pub(crate) fn fence_barrier() {
        fence(Ordering::SeqCst);
    }
}
