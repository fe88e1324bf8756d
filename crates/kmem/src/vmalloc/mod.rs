//! vmalloc: virtually contiguous areas of scattered pages.
//!
//! # How it works
//! A separate address range, four times the machine's memory, is cut into areas ([`space`]). An
//! area gets its pages one by one from the page allocator and maps them, runs of neighbours at
//! once; behind each area stays a guard page that is never mapped. A freed area's pages go back at
//! once, its addresses only at the next purge, in one go with others, since unmapping costs a TLB
//! flush on every CPU. On a machine with mapped memory ([`crate::MemorySource::Mapped`]) the pages
//! really are mapped, and [`crate::Machine::vm_address`] gives an address to work with.
//!
//! # Invariants
//! - addresses = areas with guard pages + freed, not yet purged + free.
//! - pages of kind `Vmalloc` = sum over areas of their own pages; those of `vmap` are their caller's.
//!
//! # Lock order
//! vmalloc lock -> (nothing): pages are allocated before and freed after it is held.
//!
//! Linux counterpart: `mm/vmalloc.c` @ 6.1.
//!
//! # Differences from Linux
//! It has no huge pages, no per-CPU blocks for `vm_map_ram` and no lazy population. An area's pages
//! lie in it by rising number and are freed from the last to the first: one system call maps a run
//! of neighbours, and a process has some 65,000 mappings.

mod space;

pub(crate) use space::{Area, Owner, Space};

use crate::ids::{PAGE_SIZE, Pfn, Site};
use crate::raw::arena::Arena;
use crate::raw::lock::Lock;
use crate::raw::mapping;
use crate::raw::vmap::Window;

/// Addresses for each byte of memory.
const ADDRESSES_PER_BYTE: u64 = 4;

/// Largest alignment of an area: that of the range itself.
pub(crate) const ALIGN_MAX: u64 = mapping::ALIGN;

/// An address that vmalloc gave: its offset in the vmalloc range, the same in every run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VmPtr(u64);

impl VmPtr {
    /// Makes an address of its offset.
    pub fn new(offset: u64) -> Self {
        Self(offset)
    }

    /// Returns the offset in bytes.
    pub fn get(self) -> u64 {
        self.0
    }
}

/// One area, as `/proc/vmallocinfo` shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VmArea {
    /// First address.
    pub start: VmPtr,
    /// Bytes, without the guard page.
    pub size: u64,
    /// Call site.
    pub site: Site,
}

/// The vmalloc range of a machine.
#[derive(Debug)]
pub(crate) struct Vmalloc {
    pub(crate) space: Lock<Space>,
    pub(crate) window: Window,
}

impl Vmalloc {
    pub(crate) fn new(arena: &Arena, cpus: u32) -> Self {
        let bytes = arena.len() * ADDRESSES_PER_BYTE;
        Self {
            space: Lock::new(Space::new(bytes / PAGE_SIZE, cpus)),
            window: Window::reserve(arena, bytes),
        }
    }

    /// Maps pages in their order from page `start` of the range on, run by run. If the operating
    /// system is out of mappings it undoes them and returns `false`.
    pub(crate) fn map(&self, start: u64, pages: &[Pfn]) -> bool {
        let mut at = start;
        for run in pages.chunk_by(|a, b| a.0 + 1 == b.0) {
            if !self.window.map(at, run[0], run.len() as u64) {
                self.window.unmap(start, at - start);
                return false;
            }
            at += run.len() as u64;
        }
        true
    }

    /// Returns the pages that all areas hold.
    pub(crate) fn pages(&self) -> u64 {
        let space = self.space.lock();
        let own = space.areas().filter(|(_, area)| area.owner == Owner::Area);
        own.map(|(_, area)| area.pages.len() as u64).sum()
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
