//! The chosen rows of a trace: those of selected objects, from their allocations to their frees.
//!
//! # How it works
//! Whoever chooses is asked at each allocation; frees follow their objects, wherever they happen. A free
//! of an object whose allocation is not in the trace is asked about itself. Page rows are asked about as slab events without
//! call site, cache and size, and are mixed in by their time. The rows are imported again, so that
//! slots, sites, caches and [`Quality`] are those of what is kept.

use std::collections::BTreeMap;

use super::page_addresses::PageAddresses;
use super::parquet::RowAddresses;
use super::recording::{Facts, Source};
use crate::meta::Quality;
use crate::store::{Batches, PageBatches};
use crate::{
    Error, Event, Frame, Kind, Meta, NONE, PageEvent, PageKind, RawEvent, Recorded, Samples, Site,
    TraceReader,
};
use slablab_linux::Helpers;

/// Chosen rows of a trace as events.
pub(crate) struct Kept<'a> {
    rows: Batches,
    keep: &'a mut dyn FnMut(&Event) -> bool,
    /// Whether the object in a slot is kept.
    objects: Vec<bool>,
    /// The numbers among the kept ones of the trace's sites, caches and stacks, [`NONE`] before the first use.
    sites: Vec<u32>,
    caches: Vec<u32>,
    stacks: Vec<u32>,
    meta: Meta,
    addresses: RowAddresses,
    pages: KeptPages,
    owners: Option<Owners>,
    facts: Facts,
}

/// Who allocated through helpers, by the stacks of a trace.
struct Owners {
    /// By call site, whether it is one of a helper of any size
    is_helper: Vec<bool>,
    /// By stack, the frame of its owner; [`NONE`] where all are helpers
    of_stacks: Vec<u32>,
    /// By frame, its number among the call sites; [`NONE`] before the first use
    sites: Vec<u32>,
}

impl Owners {
    /// Returns the owners of a trace; `None` where no stack tells of any.
    fn of(meta: &Meta, helpers: &Helpers) -> Option<Owners> {
        // Objects of one kind stay together: whoever asked for them, a cache would be the kind's.
        let of_any_size = |site: &Site| helpers.has_of_any_size(&site.name);
        let is_helper: Vec<bool> = meta.sites.iter().map(of_any_size).collect();
        if meta.stacks.is_empty() || !is_helper.contains(&true) {
            return None;
        }
        let owner = |stack: u32| {
            let is_owner = |frame: &u32| !helpers.has(&meta.stacks.frame(*frame).name);
            meta.stacks.places(stack).find(is_owner).unwrap_or(NONE)
        };
        Some(Owners {
            is_helper,
            of_stacks: (0..meta.stacks.len() as u32).map(owner).collect(),
            sites: vec![NONE; meta.stacks.frames_len()],
        })
    }

    /// Returns the frame of who allocated, where the call site of a row is a helper's.
    fn of_row(&self, row: &Event) -> Option<u32> {
        let is_helper = row.kind == Kind::Kmalloc && *self.is_helper.get(row.site as usize)?;
        let owner = *self.of_stacks.get(row.stack as usize)?;
        Some(owner).filter(|owner| is_helper && *owner != NONE)
    }
}

/// The page rows of a trace.
struct KeptPages {
    batches: PageBatches,
    /// What was read and not given yet, and the next of it
    rows: Vec<PageEvent>,
    next: usize,
    /// Whether the block in a slot is kept
    blocks: Vec<bool>,
    addresses: PageAddresses,
}

impl KeptPages {
    /// Returns the next row, when that is of this time or before.
    fn until(&mut self, time_ns: u64) -> Result<Option<PageEvent>, Error> {
        while self.next == self.rows.len() {
            let Some(batch) = self.batches.next() else { return Ok(None) };
            (self.rows, self.next) = (batch?.to_vec(), 0);
        }
        let next = Some(self.rows[self.next]).filter(|row| row.time_ns <= time_ns);
        self.next += usize::from(next.is_some());
        Ok(next)
    }
}

impl std::fmt::Debug for Kept<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Kept")
    }
}

impl<'a> Kept<'a> {
    pub(crate) fn new(trace: &TraceReader, keep: &'a mut dyn FnMut(&Event) -> bool) -> Kept<'a> {
        let meta = trace.meta();
        let Quality { lost, skipped, .. } = meta.quality.clone();
        let facts = Facts {
            // Samples are of the whole machine.
            meta: Meta {
                quality: Quality { lost, skipped, ..Quality::default() },
                sites: Vec::new(),
                samples: Samples::default(),
                // A part begins with zones that no row tells of.
                zones: None,
                // Squares are of all rows.
                portion: meta
                    .portion
                    .as_ref()
                    .map(|of| Recorded { squares: BTreeMap::new(), ..of.clone() }),
                ..Meta::clone(meta)
            },
            bytes: meta.rows().unwrap_or(meta.events),
            ..Facts::default()
        };
        Kept {
            rows: trace.batches(),
            keep,
            objects: vec![false; meta.object_slots as usize],
            sites: vec![NONE; meta.sites.len()],
            caches: vec![NONE; meta.caches.len()],
            stacks: vec![NONE; meta.stacks.len()],
            meta: meta.clone(),
            addresses: RowAddresses::of(meta),
            pages: KeptPages {
                batches: trace.page_batches(),
                rows: Vec::new(),
                next: 0,
                blocks: vec![false; meta.pages.as_ref().map_or(0, |pages| pages.slots as usize)],
                addresses: PageAddresses::default(),
            },
            owners: None,
            facts,
        }
    }

    /// Has the owners of allocations as their call sites, where helpers allocated; `None` where no stack tells of any.
    pub(crate) fn by_owner(self, helpers: &Helpers) -> Option<Kept<'a>> {
        let owners = Owners::of(&self.meta, helpers)?;
        let mut kept = Kept { owners: Some(owners), ..self };
        // All rows are kept.
        kept.facts.meta.samples = kept.meta.samples.clone();
        Some(kept)
    }

    /// Returns the row with the names of what is kept.
    fn renamed(&mut self, row: Event) -> RawEvent {
        let names = &mut self.facts.names;
        let mut event = self.addresses.raw(row);
        if let Some(owners) = &mut self.owners
            && let Some(frame) = owners.of_row(&row)
        {
            let site = &mut owners.sites[frame as usize];
            if *site == NONE {
                let Frame { name, address } = self.meta.stacks.frame(frame).clone();
                *site = names.sites.len() as u32;
                names.sites.push(Site { name, address, ..Site::default() });
            }
            event.site = *site;
        } else if let Some(site) = self.sites.get_mut(row.site as usize) {
            if *site == NONE {
                *site = names.sites.len() as u32;
                names.sites.push(self.meta.sites[row.site as usize].clone());
            }
            event.site = *site;
        }
        if let Some(cache) = self.caches.get_mut(row.cache as usize) {
            if *cache == NONE {
                *cache = names.caches.len() as u32;
                names.caches.push(self.meta.caches[row.cache as usize].recorded_name().to_owned());
            }
            event.cache = *cache;
        }
        event.stack = self.renamed_stack(row.stack);
        event
    }

    fn renamed_stack(&mut self, stack: u32) -> u32 {
        let Some(renamed) = self.stacks.get_mut(stack as usize) else { return NONE };
        if *renamed == NONE {
            *renamed = self.facts.names.stack_of_trace(&self.meta.stacks, stack);
        }
        *renamed
    }

    fn is_page_kept(&mut self, row: &PageEvent) -> bool {
        let is_alloc = row.page.kind == PageKind::Alloc;
        let kind = if is_alloc { Kind::KmemCacheAlloc } else { Kind::KmemCacheFree };
        let PageEvent { time_ns, cpu, pid, stack, .. } = *row;
        let event = Event { time_ns, cpu, pid, stack, kind, ..Event::EMPTY };
        match self.pages.blocks.get_mut(row.object as usize) {
            Some(block) if is_alloc => {
                *block = (self.keep)(&event);
                *block
            }
            Some(block) => *block,
            None => (self.keep)(&event),
        }
    }

    /// Gives the page rows up to a time.
    fn pages_until(&mut self, time_ns: u64, to: &mut Vec<RawEvent>) -> Result<(), Error> {
        while let Some(row) = self.pages.until(time_ns)? {
            self.facts.bytes_read += 1;
            if self.is_page_kept(&row) {
                let stack = self.renamed_stack(row.stack);
                to.push(self.pages.addresses.raw(&row, stack));
            }
        }
        Ok(())
    }

    fn is_kept(&mut self, row: &Event) -> bool {
        match self.objects.get_mut(row.object as usize) {
            Some(object) if row.kind.is_alloc() => {
                *object = (self.keep)(row);
                *object
            }
            Some(object) => *object,
            None => (self.keep)(row),
        }
    }
}

impl Source for Kept<'_> {
    fn read(&mut self, to: &mut Vec<RawEvent>) -> Result<bool, Error> {
        let Some(batch) = self.rows.next() else {
            let before = to.len();
            self.pages_until(u64::MAX, to)?;
            return Ok(to.len() > before);
        };
        let batch = batch?;
        self.facts.bytes_read += batch.len() as u64;
        for row in batch.events() {
            self.pages_until(row.time_ns, to)?;
            if self.is_kept(&row) {
                to.push(self.renamed(row));
            }
        }
        Ok(true)
    }

    fn facts(&self) -> &Facts {
        &self.facts
    }
}
