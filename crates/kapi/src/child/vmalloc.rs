//! vmalloc: areas of virtually contiguous memory, paid for page by page from the machine.
//!
//! # How it works
//! An area takes its pages one by one from the page allocator, as Linux does, and address space with
//! a guard page behind it. It keeps them until it is freed, so that the machine's memory bounds what
//! vmalloc can give.
//!
//! # Differences from Linux
//! The pages are reserved, not mapped: what is written to the area cannot be read through
//! `page_address(vmalloc_to_page())`.
//!
//! Linux counterpart: `mm/vmalloc.c` @ 6.1.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use slablab_kmem::{Backend, Gfp, Order, PAGE_SIZE, Pfn, Site};

use super::engine::{Engine, lock};
use crate::ledger::{Free, Live, Source};
use crate::raw::context;
use crate::raw::vmap::Area;

/// Areas by address.
#[derive(Debug, Default)]
pub(crate) struct Vmalloc {
    areas: BTreeMap<u64, (Area, Vec<u32>)>,
}

impl<B: Backend> Engine<B> {
    /// Allocates an area; 0 if memory or address space is out.
    pub(crate) fn vmalloc(&self, bytes: u64, gfp: Gfp, site: u64) -> u64 {
        if self.checked {
            context::may_sleep("vmalloc()", site);
        }
        let count = bytes.div_ceil(PAGE_SIZE);
        if bytes == 0 || count > self.memory_bytes / PAGE_SIZE {
            return 0;
        }
        let Some(area) = Area::map(count * PAGE_SIZE) else { return 0 };
        let mut pages = Vec::with_capacity(count as usize);
        let gfp = gfp.without(Gfp::ZERO); // the area is fresh, and zero already
        for _ in 0..count {
            let Some(pfn) = self.on_cpu(|cpu| cpu.alloc_pages(Order(0), gfp)) else {
                self.give_back(&pages, site);
                return 0;
            };
            self.pages.take(pfn.0, 0);
            pages.push(pfn.0);
        }
        self.pages_out.fetch_add(count, Ordering::Relaxed);
        let address = area.base();
        lock(&self.vmalloc).areas.insert(address, (area, pages));
        if let Some(ledger) = &self.ledger {
            let live = Live { bytes, source: Source::Vmalloc, site: super::offset(site), guard: 0 };
            lock(ledger).enter(address, self.guarded(address, live, count * PAGE_SIZE));
        }
        address
    }

    /// Frees an area.
    pub(crate) fn vfree(&self, address: u64, site: u64) {
        if address == 0 {
            return;
        }
        if let Some(ledger) = &self.ledger {
            let outcome = lock(ledger).free(address, &Source::Vmalloc, super::offset(site));
            match outcome {
                Free::Refused(event) => return super::emit(&event),
                Free::Wrong(live, event) => {
                    super::emit(&event);
                    return self.free_as(&live, address, site);
                }
                Free::Go(live) => self.look_at_guard(address, &live, Some(site)),
            }
        }
        self.vfree_unchecked(address, site);
    }

    pub(super) fn vfree_unchecked(&self, address: u64, site: u64) {
        match lock(&self.vmalloc).areas.remove(&address) {
            Some((_area, pages)) => {
                self.pages_out.fetch_sub(pages.len() as u64, Ordering::Relaxed);
                self.give_back(&pages, site);
            }
            None => super::report_foreign("vfree", address, site),
        }
    }

    fn give_back(&self, pages: &[u32], site: u64) {
        for &pfn in pages {
            self.pages.clear(pfn);
            self.on_cpu(|cpu| cpu.free_pages(Pfn(pfn), Order(0), Site(site as u32)));
        }
    }

    /// Returns the page behind an address of an area.
    pub(crate) fn vmalloc_page(&self, address: u64) -> Option<u32> {
        let vmalloc = lock(&self.vmalloc);
        let (start, (area, pages)) = vmalloc.areas.range(..=address).next_back()?;
        let into = address - start;
        (into < area.bytes()).then(|| pages[(into / PAGE_SIZE) as usize])
    }
}
