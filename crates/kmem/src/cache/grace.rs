//! Grace periods: slabs of type-safe caches wait for readers before their pages are reused.
//!
//! # How it works
//! A CPU's sequence number is odd while it reads. Slabs freed go to `next`; when the batch before
//! has passed, `next` becomes `waiting` together with a snapshot of all sequence numbers. A batch
//! has passed once every CPU that was reading in the snapshot has moved on.
//!
//! # Lock order
//! Below all others; the page allocator is called with it released.
//!
//! Linux counterpart: `call_rcu`, `rcu_free_slab` @ 6.1.

use alloc::vec::Vec;

use crate::ids::Pfn;
use crate::page::{PageList, PageTable};
use crate::raw::lock::Lock;
use crate::raw::sync::{AtomicU64, Ordering, fence};

/// Slabs between an end of use and the next.
#[derive(Debug)]
pub(crate) struct GracePeriods {
    readers: Vec<AtomicU64>,
    batches: Lock<Batches>,
}

#[derive(Debug, Default)]
struct Batches {
    next: PageList,
    waiting: PageList,
    snapshot: Vec<u64>,
}

impl GracePeriods {
    pub(crate) fn new(cpus: u32) -> Self {
        let readers = (0..cpus).map(|_| AtomicU64::new(0)).collect();
        Self { readers, batches: Lock::new(Batches::default()) }
    }

    /// Enters a read-side section of a CPU, which ends with what is returned, also when its reader
    /// panics.
    pub(crate) fn enter(&self, cpu: u32) -> Section<'_> {
        let reader = &self.readers[cpu as usize];
        let before = reader.fetch_add(1, Ordering::Relaxed);
        assert!(before.is_multiple_of(2), "read-side sections of one CPU do not nest");
        // What the section reads must not be read before the others can see that we are in it.
        fence(Ordering::SeqCst);
        Section(reader)
    }

    /// Tells whether a CPU is in a read-side section.
    pub(crate) fn reads(&self, cpu: u32) -> bool {
        !self.readers[cpu as usize].load(Ordering::Relaxed).is_multiple_of(2)
    }

    /// Lets a slab wait.
    pub(crate) fn defer(&self, pages: &PageTable, slab: Pfn) {
        self.batches.lock().next.push_back(pages, slab);
    }

    /// Returns the slabs that have waited long enough.
    #[inline]
    pub(crate) fn passed(&self) -> PageList {
        let mut batches = self.batches.lock();
        let waits = batches.waiting.len() + batches.next.len() > 0;
        let mut readers = self.readers.iter().zip(&batches.snapshot);
        if !waits
            || readers.any(|(now, &then)| then % 2 == 1 && now.load(Ordering::Acquire) == then)
        {
            return PageList::default();
        }
        let done = core::mem::take(&mut batches.waiting);
        batches.waiting = core::mem::take(&mut batches.next);
        fence(Ordering::SeqCst);
        batches.snapshot = self.readers.iter().map(|r| r.load(Ordering::Acquire)).collect();
        done
    }

    /// Tells whether no slab waits.
    pub(crate) fn is_empty(&self) -> bool {
        let batches = self.batches.lock();
        batches.waiting.len() + batches.next.len() == 0
    }
}

/// A CPU's read-side section.
#[derive(Debug)]
pub(crate) struct Section<'a>(&'a AtomicU64);

impl Drop for Section<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Release);
    }
}
