//! Allocates and frees vmalloc areas.

use alloc::vec::Vec;

use super::cpu::Cpu;
use crate::Gfp;
use crate::backend::Backend;
use crate::cache::findings::{Finding, FindingKind};
use crate::cpu::LockKind;
use crate::ids::{ObjPtr, PAGE_SIZE, Pfn, Site};
use crate::machine::Machine;
use crate::page::{BlockRequest, Kind};
use crate::vmalloc::{ALIGN_MAX, Area, Owner, VmArea, VmPtr};

impl<B: Backend> Cpu<'_, B> {
    /// Allocates `size` bytes, rounded up to pages (`vmalloc`); `None` for 0, for more than the
    /// machine's memory, or when pages or addresses are out.
    pub fn vmalloc(&self, size: u64, gfp: Gfp, site: Site) -> Option<VmPtr> {
        self.vmalloc_aligned(size, self.machine().core.setup.arch.page_bytes(), gfp, site)
    }

    /// Allocates as [`Self::vmalloc`] does, at a multiple of `align` bytes, a power of two
    /// (`__vmalloc_node`). An alignment above 4 MiB gives `None`, because addresses of this process
    /// do not keep it.
    pub fn vmalloc_aligned(&self, size: u64, align: u64, gfp: Gfp, site: Site) -> Option<VmPtr> {
        let core = &self.machine().core;
        let page = core.setup.arch.page_order;
        let count = size.div_ceil(page.bytes()) << page.0;
        if count == 0 || count > u64::from(core.pages.count()) || align > ALIGN_MAX {
            return None;
        }
        // Addresses come first, as in Linux; a guard page goes with them.
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
            self.free_all(&pages);
            return None;
        }
        space.insert(start, Area { pages, owner: Owner::Area, site });
        Some(VmPtr::new(start * PAGE_SIZE))
    }

    /// Allocates `size` bytes full of zeroes (`vzalloc`).
    pub fn vzalloc(&self, size: u64, gfp: Gfp, site: Site) -> Option<VmPtr> {
        self.vmalloc(size, gfp | Gfp::ZERO, site)
    }

    fn vmalloc_pages(&self, count: usize, gfp: Gfp) -> Option<Vec<Pfn>> {
        let core = &self.machine().core;
        let (order, kind) = (core.setup.arch.page_order, Kind::Vmalloc);
        let request = BlockRequest { order, gfp, node: None, kind, cache: 0 };
        let mut pages = Vec::with_capacity(count);
        while pages.len() < count {
            let Some(pfn) = self.cx().take_pages(&request) else {
                self.free_all(&pages);
                return None;
            };
            if gfp.has(Gfp::ZERO) {
                core.arena.fill(pfn.offset(), order.bytes(), 0);
            }
            pages.extend((pfn.0..pfn.0 + order.pages()).map(Pfn));
        }
        pages.sort_unstable();
        Some(pages)
    }

    /// Frees pages, the last first, so that the next area finds them in their order again.
    fn free_all(&self, pages: &[Pfn]) {
        let order = self.machine().core.setup.arch.page_order;
        pages
            .chunks(order.pages() as usize)
            .rev()
            .for_each(|page| self.cx().give_pages(page[0], order));
    }

    /// Frees an area (`vfree`) and returns the bytes of its own pages; an address that vmalloc did
    /// not give is a finding, and returns 0.
    pub fn vfree(&self, at: VmPtr, site: Site) -> u64 {
        let core = &self.machine().core;
        self.cx().count_lock(LockKind::VMALLOC);
        let mut space = core.vmalloc.space.lock();
        let first = at.get() / PAGE_SIZE;
        let found = if at.get().is_multiple_of(PAGE_SIZE) { space.remove(first) } else { None };
        let Some(area) = found else {
            drop(space);
            self.no_area(at, site);
            return 0;
        };
        let count = area.pages.len() as u64;
        core.vmalloc.window.unmap(first, count);
        space.retire(first, count + 1);
        drop(space);
        if area.owner == Owner::Caller {
            return 0;
        }
        self.free_all(&area.pages);
        count * PAGE_SIZE
    }

    /// Maps pages of the caller's into an area, in their order, which may name one more than once
    /// (`vmap`); [`Self::vfree`] unmaps them and frees none. `None` for no page or more than the
    /// machine has, and when addresses are out.
    pub fn vmap(&self, pages: &[Pfn], site: Site) -> Option<VmPtr> {
        let core = &self.machine().core;
        let count = pages.len() as u64;
        if count == 0 || count > u64::from(core.pages.count()) {
            return None;
        }
        self.cx().count_lock(LockKind::VMALLOC);
        let mut space = core.vmalloc.space.lock();
        let start = space.reserve(count + 1, 1)?;
        if !core.vmalloc.map(start, pages) {
            space.release(start, count + 1);
            return None;
        }
        space.insert(start, Area { pages: pages.to_vec(), owner: Owner::Caller, site });
        Some(VmPtr::new(start * PAGE_SIZE))
    }

    fn no_area(&self, at: VmPtr, site: Site) {
        let finding =
            Finding::new(FindingKind::ForeignPointer, site, "expected the start of an area");
        let finding = finding.cache("vmalloc");
        self.machine().core.findings.report(match ObjPtr::new(at.get()) {
            Some(obj) => finding.object(obj, 0),
            None => finding,
        });
    }
}

impl<B: Backend> Machine<B> {
    /// Returns the areas by rising address (`/proc/vmallocinfo`).
    pub fn vm_areas(&self) -> Vec<VmArea> {
        let space = self.core.vmalloc.space.lock();
        let areas = space.areas().map(|(start, area)| VmArea {
            start: VmPtr::new(start * PAGE_SIZE),
            size: area.pages.len() as u64 * PAGE_SIZE,
            site: area.site,
        });
        areas.collect()
    }

    /// Returns the page that an address of an area is mapped to (`vmalloc_to_page`).
    pub fn vmalloc_to_page(&self, at: VmPtr) -> Option<Pfn> {
        let space = self.core.vmalloc.space.lock();
        let (start, area) = space.at(at.get() / PAGE_SIZE)?;
        area.pages.get((at.get() / PAGE_SIZE - start) as usize).copied()
    }

    /// Returns an area's address in this process; `None` unless the machine's memory is mapped
    /// ([`crate::MemorySource::Mapped`]). Touch only what is allocated: guard pages fault.
    pub fn vm_address(&self, at: VmPtr) -> Option<core::ptr::NonNull<u8>> {
        self.core.vmalloc.window.address(at.get())
    }

    /// Returns what an address of this process is in the vmalloc range; `None` outside it.
    pub fn vm_ptr(&self, address: *const u8) -> Option<VmPtr> {
        self.core.vmalloc.window.offset(address).map(VmPtr::new)
    }

    /// Makes the addresses of freed areas usable again; returns the pages of address space.
    pub fn vmalloc_purge(&self) -> u64 {
        self.core.vmalloc.space.lock().purge()
    }
}
