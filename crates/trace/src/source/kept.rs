//! The chosen rows of a trace: those of selected objects, from their allocations to their frees.
//!
//! # How it works
//! Whoever chooses is asked at each allocation; frees follow their objects, wherever they happen. A free
//! of an object whose allocation is not in the trace is asked about itself. The rows are imported again, so that
//! slots, sites, caches and [`Quality`] are those of what is kept.

use super::parquet::RowAddresses;
use super::recording::{Facts, Source};
use crate::meta::Quality;
use crate::store::Batches;
use crate::{Error, Event, Meta, NONE, RawEvent, Recorded, Samples, TraceReader};

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
    facts: Facts,
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
                // Squares are of all rows.
                portion: meta
                    .portion
                    .as_ref()
                    .map(|of| Recorded { one_in: of.one_in, ..Recorded::default() }),
                ..Meta::clone(meta)
            },
            bytes: meta.events,
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
            facts,
        }
    }

    /// Returns the row with the names of what is kept.
    fn renamed(&mut self, row: Event) -> RawEvent {
        let names = &mut self.facts.names;
        let mut event = self.addresses.raw(row);
        if let Some(site) = self.sites.get_mut(row.site as usize) {
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
        if let Some(stack) = self.stacks.get_mut(row.stack as usize) {
            if *stack == NONE {
                *stack = names.stack_of_trace(&self.meta.stacks, row.stack);
            }
            event.stack = *stack;
        }
        event
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
        let Some(batch) = self.rows.next() else { return Ok(false) };
        let batch = batch?;
        self.facts.bytes_read += batch.len() as u64;
        for row in batch.events() {
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
