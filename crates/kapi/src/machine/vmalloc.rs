//! vmalloc: the machine's areas, as addresses of this process.
//!
//! # How it works
//! The machine's memory is a file in memory, so that an area really is its pages, mapped in order
//! ([`slablab_kmem::MemorySource::Mapped`]): what is written there is read through
//! `page_address(vmalloc_to_page())`, and the guard page behind it faults.
//!
//! # Differences from Linux
//! The count of references of an area's page is set when the module first asks for the page.
//!
//! Linux counterpart: `mm/vmalloc.c` @ 6.1.

use std::sync::atomic::Ordering;

use slablab_kmem::{Backend, Gfp, PAGE_SIZE, Pfn, Site};

use super::engine::Engine;
use crate::context;
use crate::ledger::{Live, Source};
use crate::runtime::{self, lock};

impl<B: Backend> Engine<B> {
    /// Allocates an area; 0 if memory or address space is out.
    pub(crate) fn vmalloc(&self, bytes: u64, gfp: Gfp, site: u64) -> u64 {
        self.vmalloc_aligned(bytes, PAGE_SIZE, gfp, site)
    }

    /// Allocates an area at a multiple of `align` bytes; 0 if memory or address space is out.
    pub(crate) fn vmalloc_aligned(&self, bytes: u64, align: u64, gfp: Gfp, site: u64) -> u64 {
        if self.checked {
            context::may_sleep("vmalloc()", site);
        }
        let at = Site(site as u32);
        let area = self.reclaiming(gfp, bytes, |cpu| cpu.vmalloc_aligned(bytes, align, gfp, at));
        let Some(address) = area.and_then(|area| self.machine.vm_address(area)) else { return 0 };
        let address = address.as_ptr() as u64;
        let room = bytes.next_multiple_of(PAGE_SIZE);
        self.pages_out.fetch_add(room / PAGE_SIZE, Ordering::Relaxed);
        if let Some(ledger) = &self.ledger {
            let live =
                Live { bytes, source: Source::Vmalloc, site: runtime::offset(site), guard: 0 };
            lock(ledger).enter(address, self.guarded(address, live, room));
        }
        self.tell_got(address, bytes, site, || Self::other("vmalloc", room));
        address
    }

    /// Maps pages of the module's, by the addresses of their records, in their order; 0 if one is no page of the
    /// machine or there are no addresses.
    pub(crate) fn vmap(&self, records: &[u64], site: u64) -> u64 {
        if self.checked {
            context::may_sleep("vmap()", site);
        }
        let pfn = |&record: &u64| self.pages.pfn(record).map(Pfn);
        let Some(pages) = records.iter().map(pfn).collect::<Option<Vec<_>>>() else { return 0 };
        let area = self.on_cpu(|cpu| cpu.vmap(&pages, Site(site as u32)));
        let Some(address) = area.and_then(|area| self.machine.vm_address(area)) else { return 0 };
        let address = address.as_ptr() as u64;
        self.made(address, pages.len() as u64 * PAGE_SIZE, Source::VMAP, site);
        address
    }

    /// Unmaps them.
    pub(crate) fn vunmap(&self, address: u64, site: u64) {
        if address != 0 && self.unmade(address, &Source::VMAP, site) {
            self.vfree_unchecked(address, site);
        }
    }

    /// Frees an area.
    pub(crate) fn vfree(&self, address: u64, site: u64) {
        if address == 0 {
            return;
        }
        if let Some(ledger) = &self.ledger {
            let Some(live) = self.settle(ledger, address, &Source::Vmalloc, site) else { return };
            self.look_at_guard(address, &live, Some(site));
        }
        self.tell_gave(address, site);
        self.vfree_unchecked(address, site);
    }

    pub(super) fn vfree_unchecked(&self, address: u64, site: u64) {
        match self.machine.vm_ptr(address as *const u8) {
            Some(area) => {
                let bytes = self.on_cpu(|cpu| cpu.vfree(area, Site(site as u32)));
                self.pages_out.fetch_sub(bytes / PAGE_SIZE, Ordering::Relaxed);
            }
            None => runtime::report_foreign("vfree", address, site),
        }
    }

    /// Returns the bytes from an address of an area to its end, as far as they are known.
    pub(crate) fn vmalloc_bytes(&self, address: u64) -> u64 {
        if let Some(ledger) = &self.ledger
            && let Some(live) = lock(ledger).get(address)
        {
            return live.bytes;
        }
        let mapped = |page: &u64| {
            let at = self.machine.vm_ptr((address + page * PAGE_SIZE) as *const u8);
            at.is_some_and(|at| self.machine.vmalloc_to_page(at).is_some())
        };
        (0..).take_while(mapped).count() as u64 * PAGE_SIZE
    }

    /// Returns the page behind an address of an area.
    pub(crate) fn vmalloc_page(&self, address: u64) -> Option<u32> {
        let at = self.machine.vm_ptr(address as *const u8)?;
        let pfn = self.machine.vmalloc_to_page(at)?.0;
        self.pages.hold(pfn);
        Some(pfn)
    }
}
