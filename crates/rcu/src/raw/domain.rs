//! A domain: the threads that read, and how to wait until they have moved on.
//!
//! # How it works
//! Records are in a list that only grows. A thread takes one when it first reads and gives it back when it ends, for
//! the next thread.
//!
//! # Invariants
//! - A reader's first section begins after the barrier in [`Domain::register`]. So a writer that looked at the list
//!   before, and missed its record, has unlinked visibly for it; and so has a writer that found the domain solitary.

use crate::sync::{AtomicPtr, AtomicUsize, Ordering, const_fn, yield_now};
use crate::{Epoch, Record, Ticket};

/// A reader's record in the list.
#[derive(Debug)]
pub(crate) struct Reader {
    record: Record,
    is_claimed: AtomicUsize,
    next: AtomicPtr<Reader>,
}

/// The readers of a process. Each section reads the epoch, so nothing that is written often may lie on its cache line,
/// such as the queue of unlinked objects. The domain takes two lines, since processors fetch them in pairs.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct Domain {
    epoch: Epoch,
    readers: AtomicPtr<Reader>,
    registered: AtomicUsize,
    /// The writer's barrier of [`crate::epoch`].
    barrier: fn(),
}

impl Reader {
    /// Leaves a section.
    #[inline]
    pub(crate) fn leave(&self) {
        self.record.leave();
    }

    /// Leaves all sections of a thread that is gone.
    #[cfg(not(all(test, loom)))]
    pub(crate) fn leave_all(&self) {
        self.record.leave_all();
    }

    #[inline]
    pub(crate) fn is_active(&self) -> bool {
        self.record.is_active()
    }
}

impl Domain {
    const_fn! {
        pub(crate) fn new(barrier: fn()) -> Self {
            Self {
                epoch: Epoch::new(),
                readers: AtomicPtr::new(std::ptr::null_mut()),
                registered: AtomicUsize::new(0),
                barrier
            }
        }
    }

    fn readers(&self) -> impl Iterator<Item = &'static Reader> {
        let mut next = self.readers.load(Ordering::Acquire);
        std::iter::from_fn(move || {
            // SAFETY: null, or a record, and those are never freed.
            let reader = unsafe { next.as_ref() }?;
            next = reader.next.load(Ordering::Acquire);
            Some(reader)
        })
    }

    /// Returns a record for a thread that begins to read: one that another thread left, or a new one that lives as
    /// long as the process.
    pub(crate) fn register(&self) -> &'static Reader {
        let is_ours = |reader: &Reader| {
            let claim =
                reader.is_claimed.compare_exchange(0, 1, Ordering::AcqRel, Ordering::Relaxed);
            claim.is_ok()
        };
        let left = self.readers().find(|reader| is_ours(reader));
        let reader = left.unwrap_or_else(|| self.add_reader());
        self.registered.fetch_add(1, Ordering::SeqCst);
        (self.barrier)();
        reader
    }

    fn add_reader(&self) -> &'static Reader {
        let reader = Box::leak(Box::new(Reader {
            record: Record::new(),
            is_claimed: AtomicUsize::new(1),
            next: AtomicPtr::new(std::ptr::null_mut()),
        }));
        let mut first = self.readers.load(Ordering::Acquire);
        loop {
            reader.next.store(first, Ordering::Relaxed);
            let new = std::ptr::from_ref(reader).cast_mut();
            match self.readers.compare_exchange(first, new, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return reader,
                Err(now) => first = now,
            }
        }
    }

    /// Takes a record back from a thread that ends, outside any section.
    pub(crate) fn unregister(&self, reader: &Reader) {
        debug_assert!(!reader.is_active());
        self.registered.fetch_sub(1, Ordering::SeqCst);
        reader.is_claimed.store(0, Ordering::Release);
    }

    /// Enters a section. The caller runs the reader's barrier of [`crate::epoch`].
    #[inline]
    pub(crate) fn enter(&self, reader: &Reader) {
        reader.record.enter(&self.epoch);
    }

    /// Returns whether at most `own` threads (the caller itself) could be reading.
    #[inline]
    pub(crate) fn is_solitary(&self, own: usize) -> bool {
        self.registered.load(Ordering::Acquire) <= own
    }

    /// Returns a ticket for everything that the caller has unlinked.
    pub(crate) fn ticket(&self) -> Ticket {
        self.epoch.ticket()
    }

    /// Returns whether no reader can hold anything unlinked before the ticket.
    pub(crate) fn is_past(&self, ticket: Ticket) -> bool {
        (self.barrier)();
        self.readers().all(|reader| reader.record.is_past(ticket))
    }

    /// Waits until no reader can hold what the caller has unlinked. The caller itself is in no
    /// section.
    pub(crate) fn synchronize(&self) {
        let ticket = self.ticket();
        (self.barrier)();
        for reader in self.readers() {
            while !reader.record.is_past(ticket) {
                yield_now();
            }
        }
    }
}
