//! Grace periods: slabs of type-safe caches wait for readers before their pages are reused.
//!
//! # How it works
//! This lock is below all others; the page allocator is called with it released.
//!
//! # Lock order
//! Below all others; the page allocator is called with it released.
//!
//! Linux counterpart: `call_rcu`, `rcu_free_slab` @ 6.1.

use alloc::vec::Vec;

use slablab_rcu::{Epoch, Record, Ticket};

use super::blocks::BlockList;
use super::setup::Readers;
use crate::ids::{ObjPtr, Pfn};
use crate::page::{PageList, PageTable};
use crate::raw::arena::Arena;
use crate::raw::lock::Lock;
use crate::raw::sync::{Ordering, fence};

/// Slabs that wait between their last use and the next.
#[derive(Debug)]
pub(crate) struct GracePeriods {
    epoch: Epoch,
    cpus: Vec<Record>,
    readers: Readers,
    batches: Lock<Batches>,
    /// Objects to be freed (`kfree_rcu`).
    pub(crate) objects: Lock<Waiting>,
}

/// A moment, for all whom a grace period waits for.
#[derive(Debug, Clone, Copy, Default)]
struct Moment {
    cpus: Ticket,
    /// The moment for the threads of the process.
    #[cfg(feature = "std")]
    threads: Ticket,
}

#[derive(Debug, Default)]
struct Batches {
    next: PageList,
    waiting: PageList,
    since: Moment,
    /// Slabs that have waited long enough and whose pages are being given back.
    leaving: u32,
}

impl GracePeriods {
    pub(crate) fn new(cpus: u32, readers: Readers) -> Self {
        let cpus = (0..cpus).map(|_| Record::new()).collect();
        let (batches, objects) = (Lock::default(), Lock::default());
        Self { epoch: Epoch::new(), cpus, readers, batches, objects }
    }

    /// Enters a read-side section of a CPU. It ends when the returned value is dropped, also if its
    /// reader panics.
    pub(crate) fn enter(&self, cpu: u32) -> Section<'_> {
        let reader = &self.cpus[cpu as usize];
        assert!(!reader.is_active(), "read-side sections of one CPU do not nest");
        reader.enter(&self.epoch);
        fence(Ordering::SeqCst);
        Section(reader)
    }

    /// Returns whether a CPU, or the thread that holds it, is in a read-side section.
    pub(crate) fn reads(&self, cpu: u32) -> bool {
        let thread_reads = match self.readers {
            Readers::Cpus => false,
            #[cfg(feature = "std")]
            Readers::Threads => slablab_rcu::is_reading(),
        };
        self.cpus[cpu as usize].is_active() || thread_reads
    }

    /// Lets a slab wait.
    pub(crate) fn defer(&self, pages: &PageTable, slab: Pfn) {
        self.batches.lock().next.push_back(pages, slab);
    }

    /// Returns this moment.
    fn now(&self) -> Moment {
        Moment {
            cpus: self.epoch.ticket(),
            #[cfg(feature = "std")]
            threads: match self.readers {
                Readers::Cpus => Ticket::FIRST,
                Readers::Threads => slablab_rcu::ticket(),
            },
        }
    }

    /// Returns whether all readers from before a moment have left.
    fn has_passed(&self, since: Moment) -> bool {
        fence(Ordering::SeqCst);
        if !self.cpus.iter().all(|cpu| cpu.is_past(since.cpus)) {
            return false;
        }
        match self.readers {
            Readers::Cpus => true,
            #[cfg(feature = "std")]
            Readers::Threads => slablab_rcu::is_past(since.threads),
        }
    }

    /// Returns the slabs that have waited long enough; the caller calls [`Self::gone`] when their
    /// pages are given back.
    #[inline]
    pub(crate) fn passed(&self) -> PageList {
        let mut batches = self.batches.lock();
        if batches.waiting.len() + batches.next.len() == 0 {
            return PageList::default();
        }
        if !self.has_passed(batches.since) {
            return PageList::default();
        }
        let done = core::mem::take(&mut batches.waiting);
        batches.waiting = core::mem::take(&mut batches.next);
        batches.since = self.now();
        batches.leaving += done.len();
        done
    }

    /// Enters that the pages of `slabs` slabs are given back.
    pub(crate) fn gone(&self, slabs: u32) {
        self.batches.lock().leaving -= slabs;
    }

    /// Returns whether no slab and no object waits or is being given back.
    pub(crate) fn is_empty(&self) -> bool {
        let batches = self.batches.lock();
        let slabs = batches.waiting.len() + batches.next.len() + batches.leaving;
        slabs == 0 && self.objects.lock().is_empty()
    }
}

/// Blocks of memory that wait between their last use and the next, linked through themselves.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    next: BlockList,
    waiting: BlockList,
    since: Moment,
    /// Blocks that have waited and are not given back yet.
    leaving: u32,
}

impl Waiting {
    /// Lets a block wait.
    pub(crate) fn defer(&mut self, arena: &Arena, block: ObjPtr) {
        self.next.push(arena, block);
    }

    /// Returns the blocks that have waited long enough; the caller calls [`Self::gone`] when each
    /// is given back.
    pub(crate) fn passed(&mut self, grace: &GracePeriods) -> BlockList {
        if self.waiting.len() + self.next.len() == 0 || !grace.has_passed(self.since) {
            return BlockList::default();
        }
        let done = core::mem::replace(&mut self.waiting, core::mem::take(&mut self.next));
        self.since = grace.now();
        self.leaving += done.len();
        done
    }

    /// Enters that a block is given back.
    pub(crate) fn gone(&mut self) {
        self.leaving -= 1;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.len() + self.next.len() + self.leaving == 0
    }

    /// Visits the blocks that wait.
    pub(crate) fn iter<'a>(&self, arena: &'a Arena) -> impl Iterator<Item = ObjPtr> + use<'a> {
        self.waiting.iter(arena).chain(self.next.iter(arena))
    }
}

/// A CPU's read-side section.
#[derive(Debug)]
pub(crate) struct Section<'a>(&'a Record);

impl Drop for Section<'_> {
    fn drop(&mut self) {
        self.0.leave();
    }
}
