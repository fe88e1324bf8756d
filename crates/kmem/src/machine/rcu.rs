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

use super::core::Cx;
use crate::ids::{Order, Pfn};
use crate::page::{Kind, PageList};
use crate::raw::lock::Lock;
use crate::raw::sync::{AtomicU64, Ordering, fence, relax};

/// Slabs between an end of use and the next.
#[derive(Debug)]
pub(crate) struct Rcu {
    readers: Vec<AtomicU64>,
    batches: Lock<Batches>,
}

#[derive(Debug, Default)]
struct Batches {
    next: PageList,
    waiting: PageList,
    snapshot: Vec<u64>,
}

impl Rcu {
    pub(crate) fn new(cpus: u32) -> Self {
        let readers = (0..cpus).map(|_| AtomicU64::new(0)).collect();
        Self { readers, batches: Lock::new(Batches::default()) }
    }

    /// Enters a section, which ends with what is returned, also when its reader panics.
    pub(super) fn enter(&self, cx: &Cx<'_>) -> Section<'_> {
        let reader = &self.readers[cx.cpu as usize];
        let before = reader.fetch_add(1, Ordering::Relaxed);
        assert!(before.is_multiple_of(2), "read-side sections of one CPU do not nest");
        // What the section reads must not be read before the others can see that we are in it.
        fence(Ordering::SeqCst);
        Section(reader)
    }

    /// Frees a slab's pages after a grace period.
    pub(super) fn defer(&self, cx: &Cx<'_>, pfn: Pfn, order: Order) {
        cx.core.zones.set_kind(&cx.core.pages, pfn, order, Kind::Deferred);
        self.batches.lock().next.push_back(&cx.core.pages, pfn);
        self.poll(cx);
    }

    /// Frees what has waited long enough.
    #[inline]
    pub(super) fn poll(&self, cx: &Cx<'_>) {
        let mut batches = self.batches.lock();
        if batches.waiting.len() + batches.next.len() == 0 || !self.passed(&batches) {
            return;
        }
        let mut done = core::mem::take(&mut batches.waiting);
        batches.waiting = core::mem::take(&mut batches.next);
        fence(Ordering::SeqCst);
        batches.snapshot = self.readers.iter().map(|r| r.load(Ordering::Acquire)).collect();
        drop(batches);
        while let Some(pfn) = done.pop_front(&cx.core.pages) {
            let order = cx.core.pages.get(pfn).order();
            cx.core.zones.free(cx, pfn, order);
        }
    }

    fn passed(&self, batches: &Batches) -> bool {
        let mut readers = self.readers.iter().zip(&batches.snapshot);
        readers.all(|(now, &then)| then % 2 == 0 || now.load(Ordering::Acquire) != then)
    }

    pub(super) fn barrier(&self, cx: &Cx<'_>) {
        let own = self.readers[cx.cpu as usize].load(Ordering::Relaxed);
        assert!(own.is_multiple_of(2), "rcu_barrier inside a read-side section");
        let mut spins = 0;
        loop {
            self.poll(cx);
            let batches = self.batches.lock();
            if batches.waiting.len() + batches.next.len() == 0 {
                return;
            }
            drop(batches);
            relax(spins);
            spins += 1;
        }
    }
}

/// A read-side section.
#[must_use]
pub(super) struct Section<'a>(&'a AtomicU64);

impl Drop for Section<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Release);
    }
}
