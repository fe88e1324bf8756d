//! vmalloc: virtually contiguous areas of scattered pages.
//!
//! # How it works
//! A separate address range, four times the machine's memory, is cut into areas ([`space`]). An
//! area gets its pages one by one from the page allocator and maps them, runs of neighbours at
//! once; behind each area stays a guard page that is never mapped. A freed area's pages go back at
//! once, its addresses only at the next purge, in one go with others, since unmapping costs a TLB
//! flush on every CPU. On a machine with mapped memory ([`crate::MemorySource::Mapped`]) the pages
//! really are mapped, and [`Machine::vm_address`] gives an address to work with.
//!
//! # Invariants
//! - addresses = areas with guard pages + freed, not yet purged + free.
//! - pages of kind `Vmalloc` = sum over areas of their pages.
//!
//! # Lock order
//! vmalloc lock -> (nothing): pages are allocated before and freed after it is held.
//!
//! Linux counterpart: `mm/vmalloc.c` @ 6.1.
//!
//! # Differences from Linux
//! No huge pages, no per-CPU blocks for `vm_map_ram`, no lazy population. An area's pages lie in it
//! by rising number and are freed from the last to the first: a run of neighbours is mapped by one
//! system call, and a process has some 65,000 mappings.

mod space;

use alloc::string::ToString;
use alloc::vec::Vec;

use crate::backend::Backend;
use crate::cpu::LockKind;
use crate::gfp::Gfp;
use crate::ids::{ObjPtr, Order, PAGE_SIZE, Pfn, Site};
use crate::machine::Machine;
use crate::machine::cpu::Cpu;
use crate::machine::findings::{Finding, FindingKind};
use crate::page::{BlockRequest, Kind};
use crate::raw::arena::{self, Arena};
use crate::raw::lock::Lock;
use crate::raw::vmap::Window;
use space::{Area, Space};

/// Addresses for each byte of memory.
const ADDRESSES_PER_BYTE: u64 = 4;

/// Largest alignment of an area: that of the range itself.
const ALIGN_MAX: u64 = arena::ALIGN;

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
    space: Lock<Space>,
    window: Window,
}

impl Vmalloc {
    pub(crate) fn new(arena: &Arena, cpus: u32) -> Self {
        let bytes = arena.len() * ADDRESSES_PER_BYTE;
        Self { space: Lock::new(Space::new(bytes / PAGE_SIZE, cpus)), window: arena.window(bytes) }
    }

    /// Maps pages in their order from page `start` of the range on, run by run; undone and `false`
    /// if the operating system is out of mappings.
    fn map(&self, start: u64, pages: &[Pfn]) -> bool {
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
        self.space.lock().areas().map(|(_, area)| area.pages.len() as u64).sum()
    }
}

impl<B: Backend> Cpu<'_, B> {
    /// Allocates `size` bytes, rounded up to pages (`vmalloc`); `None` for 0, for more than the
    /// machine's memory, or when pages or addresses are out.
    pub fn vmalloc(&self, size: u64, gfp: Gfp, site: Site) -> Option<VmPtr> {
        self.vmalloc_aligned(size, PAGE_SIZE, gfp, site)
    }

    /// As [`Self::vmalloc`], at a multiple of `align` bytes, a power of two (`__vmalloc_node`);
    /// `None` also for more than 4 MiB of it, which addresses of this process do not keep.
    pub fn vmalloc_aligned(&self, size: u64, align: u64, gfp: Gfp, site: Site) -> Option<VmPtr> {
        let core = &self.machine().core;
        let count = size.div_ceil(PAGE_SIZE);
        if count == 0 || count > u64::from(core.pages.count()) || align > ALIGN_MAX {
            return None;
        }
        // Addresses first, as Linux does: a guard page goes with them.
        let start = {
            self.cx().count_lock(LockKind::VMALLOC);
            core.vmalloc.space.lock().reserve(count + 1, align.div_ceil(PAGE_SIZE).max(1))?
        };
        let pages = self.vmalloc_pages(count as usize, gfp);
        self.cx().count_lock(LockKind::VMALLOC);
        let mut space = core.vmalloc.space.lock();
        let Some(pages) = pages else {
            space.release(start, count + 1);
            return None;
        };
        if !core.vmalloc.map(start, &pages) {
            space.release(start, count + 1);
            drop(space);
            self.free_all(pages);
            return None;
        }
        space.insert(start, Area { pages, site });
        Some(VmPtr(start * PAGE_SIZE))
    }

    /// Allocates `size` bytes full of zeroes (`vzalloc`).
    pub fn vzalloc(&self, size: u64, gfp: Gfp, site: Site) -> Option<VmPtr> {
        self.vmalloc(size, gfp | Gfp::ZERO, site)
    }

    fn vmalloc_pages(&self, count: usize, gfp: Gfp) -> Option<Vec<Pfn>> {
        let core = &self.machine().core;
        let (order, kind) = (Order(0), Kind::Vmalloc);
        let request = BlockRequest { order, gfp, node: None, kind, cache: 0 };
        let mut pages = Vec::with_capacity(count);
        while pages.len() < count {
            let Some(pfn) = self.cx().take_pages(&request) else {
                self.free_all(pages);
                return None;
            };
            if gfp.has(Gfp::ZERO) {
                core.arena.fill(pfn.offset(), PAGE_SIZE, 0);
            }
            pages.push(pfn);
        }
        pages.sort_unstable();
        Some(pages)
    }

    /// Frees pages, the last first, so that the next area finds them in their order again.
    fn free_all(&self, pages: Vec<Pfn>) {
        let zones = &self.machine().core.zones;
        pages.into_iter().rev().for_each(|pfn| zones.free(self.cx(), pfn, Order(0)));
    }

    /// Frees an area (`vfree`) and returns its bytes; what vmalloc did not give is a finding, and 0.
    pub fn vfree(&self, at: VmPtr, site: Site) -> u64 {
        let core = &self.machine().core;
        self.cx().count_lock(LockKind::VMALLOC);
        let mut space = core.vmalloc.space.lock();
        let first = at.0 / PAGE_SIZE;
        let found = if at.0.is_multiple_of(PAGE_SIZE) { space.remove(first) } else { None };
        let Some(area) = found else {
            drop(space);
            self.no_area(at, site);
            return 0;
        };
        let count = area.pages.len() as u64;
        core.vmalloc.window.unmap(first, count);
        space.retire(first, count + 1);
        drop(space);
        self.free_all(area.pages);
        count * PAGE_SIZE
    }

    fn no_area(&self, at: VmPtr, site: Site) {
        self.machine().core.findings.report(Finding {
            kind: FindingKind::ForeignPointer,
            cache: "vmalloc".to_string(),
            object: ObjPtr::new(at.0),
            offset: 0,
            site,
            site_before: None,
            detail: "expected the start of an area".to_string(),
        });
    }
}

impl<B: Backend> Machine<B> {
    /// Returns the areas by rising address (`/proc/vmallocinfo`).
    pub fn vm_areas(&self) -> Vec<VmArea> {
        let space = self.core.vmalloc.space.lock();
        let areas = space.areas().map(|(start, area)| VmArea {
            start: VmPtr(start * PAGE_SIZE),
            size: area.pages.len() as u64 * PAGE_SIZE,
            site: area.site,
        });
        areas.collect()
    }

    /// Returns the page that an address of an area is mapped to (`vmalloc_to_page`).
    pub fn vmalloc_to_page(&self, at: VmPtr) -> Option<Pfn> {
        let space = self.core.vmalloc.space.lock();
        let (start, area) = space.at(at.0 / PAGE_SIZE)?;
        area.pages.get((at.0 / PAGE_SIZE - start) as usize).copied()
    }

    /// Returns an area's address in this process; `None` unless the machine's memory is mapped
    /// ([`crate::MemorySource::Mapped`]). Touch only what is allocated: guard pages fault.
    pub fn vm_address(&self, at: VmPtr) -> Option<core::ptr::NonNull<u8>> {
        self.core.vmalloc.window.address(at.0)
    }

    /// Returns what an address of this process is in the vmalloc range; `None` outside it.
    pub fn vm_ptr(&self, address: *const u8) -> Option<VmPtr> {
        self.core.vmalloc.window.offset(address).map(VmPtr)
    }

    /// Makes the addresses of freed areas usable again; returns the pages of address space.
    pub fn vmalloc_purge(&self) -> u64 {
        self.core.vmalloc.space.lock().purge()
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
