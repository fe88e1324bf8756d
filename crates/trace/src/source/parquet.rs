//! Parquet with the columns of a trace that is not a trace by itself: DuckDB filtered its rows, or Spark wrote
//! it anew without our metadata. Its rows are imported again.
//!
//! # How it works
//! An object's slot stands for its address, so that the importer finds again which free belongs to
//! which allocation, and counts what belongs to none because the other was filtered out. What the metadata says
//! of the recorded machine is kept where there is any; what it counts is counted anew, but for which frees were of NULL
//! ([`RowAddresses`]).

use std::path::Path;

use rustc_hash::FxHashMap;

use super::page_addresses::PageAddresses;
use super::recording::{Facts, Source};
use super::sorter::Sorter;
use crate::event::ZERO_SIZE_PTR;
use crate::meta::{Quality, Site};
use crate::stacks::Stacks;
use crate::store::{FileRows, ParquetFile};
use crate::{Batch, Error, Event, Meta, NONE, PageEvent, RawEvent, Samples};

/// Stands for the address of an object whose allocation is not in the rows.
const UNKNOWN_PTR: u64 = u64::MAX;

/// Addresses of rows are those of pages.
const ROW_SHIFT: u32 = 12;

/// The rows of a Parquet file as events.
#[derive(Debug)]
pub(super) struct Rows {
    rows: FileRows,
    /// Whether rows are left to be sorted.
    unread: bool,
    sorter: Sorter,
    batch: Batch,
    pages: Vec<PageEvent>,
    site_addresses: FxHashMap<String, u64>,
    /// The numbers among the names of the rows' sites
    sites: Vec<u32>,
    /// The stacks of its metadata, and their numbers among the names
    stacks: Stacks,
    renamed: FxHashMap<u32, u32>,
    addresses: RowAddresses,
    page_addresses: PageAddresses,
    facts: Facts,
}

impl Rows {
    pub(super) fn new(path: &Path, file: &ParquetFile) -> Rows {
        let meta = file.meta();
        let Quality { lost, skipped, .. } = meta.quality.clone();
        let quality = Quality { lost, skipped, ..Quality::default() };
        let facts = Facts {
            // Samples are of the whole machine, and these rows may be part of its events.
            meta: Meta {
                quality,
                sites: Vec::new(),
                samples: Samples::default(),
                ..Meta::clone(meta)
            },
            bytes: meta.rows().unwrap_or(meta.events),
            ..Facts::default()
        };
        let site_addresses =
            meta.sites.iter().map(|site| (site.name.clone(), site.address)).collect();
        Rows {
            rows: file.all_rows(),
            unread: true,
            sorter: Sorter::new(path),
            batch: Batch::default(),
            pages: Vec::new(),
            site_addresses,
            sites: Vec::new(),
            stacks: meta.stacks.clone(),
            renamed: FxHashMap::default(),
            addresses: RowAddresses::of(meta),
            page_addresses: PageAddresses::default(),
            facts,
        }
    }

    /// Returns the number of a row's stack among the names; [`NONE`] of one that the metadata does not have.
    fn stack(&mut self, stack: u32) -> u32 {
        if stack as usize >= self.stacks.len() {
            return NONE;
        }
        let (names, stacks) = (&mut self.facts.names, &self.stacks);
        *self.renamed.entry(stack).or_insert_with(|| names.stack_of_trace(stacks, stack))
    }

    /// Takes the names that the last batch brought.
    fn name(&mut self) {
        let names = &mut self.facts.names;
        for name in &self.rows.sites().list()[self.sites.len()..] {
            self.sites.push(names.sites.len() as u32);
            let address = self.site_addresses.get(name).copied().unwrap_or(0);
            names.sites.push(Site { name: name.clone(), address, ..Site::default() });
        }
        let caches = &self.rows.caches().list()[names.caches.len()..];
        names.caches.extend(caches.iter().cloned());
    }
}

/// Gives rows the addresses that an import of them expects.
///
/// # How it works
/// A free without object and cache was one of NULL or one of an object older than the recording: rows do not tell, the
/// metadata say how many there are of each. They are dealt out in that proportion, so that all of them together are as
/// many of each as before.
#[derive(Debug, Default)]
pub(crate) struct RowAddresses {
    null: u64,
    older: u64,
    /// How many such rows there were.
    dealt: u64,
}

impl RowAddresses {
    pub(crate) fn of(meta: &Meta) -> RowAddresses {
        let known =
            meta.caches.iter().fold(0u64, |sum, cache| sum.saturating_add(cache.older_frees));
        let older = meta.quality.older_frees.saturating_sub(known);
        RowAddresses { null: meta.quality.null_frees, older, dealt: 0 }
    }

    /// Returns the row as a source that has its object at an address of its own.
    pub(crate) fn raw(&mut self, row: Event) -> RawEvent {
        let ptr = match row.object {
            // Slots begin at 0, which as an address is a failed allocation.
            NONE if row.kind.is_free() && row.cache == NONE && self.deal_null() => 0,
            NONE if row.kind.is_free() => UNKNOWN_PTR,
            NONE if row.bytes_req == 0 => ZERO_SIZE_PTR,
            NONE => 0,
            slot => (u64::from(slot) + 1) << ROW_SHIFT,
        };
        row.to_raw(ptr)
    }

    /// Returns the slot that such an address of an object stands for.
    pub(crate) fn slot(ptr: u64) -> u32 {
        ((ptr >> ROW_SHIFT) as u32).wrapping_sub(1)
    }

    /// Returns whether the next free without object and cache is one of NULL.
    fn deal_null(&mut self) -> bool {
        let (null, all) = (u128::from(self.null), u128::from(self.null) + u128::from(self.older));
        let so_far = |rows: u64| (u128::from(rows) * null).checked_div(all).unwrap_or(0);
        self.dealt += 1;
        so_far(self.dealt) > so_far(self.dealt - 1)
    }
}

impl Source for Rows {
    fn read(&mut self, to: &mut Vec<RawEvent>) -> Result<bool, Error> {
        if !self.unread {
            return self.sorter.take(to);
        }
        self.unread = self.rows.read_all_into(&mut self.batch, &mut self.pages)?;
        if self.unread {
            self.name();
            self.facts.bytes_read += (self.batch.len() + self.pages.len()) as u64;
            let batch = std::mem::take(&mut self.batch);
            for row in batch.events() {
                let stack = self.stack(row.stack);
                let site = self.sites.get(row.site as usize).copied().unwrap_or(NONE);
                self.sorter.push(RawEvent { stack, site, ..self.addresses.raw(row) })?;
            }
            self.batch = batch;
            let pages = std::mem::take(&mut self.pages);
            for row in &pages {
                let stack = self.stack(row.stack);
                self.sorter.push(self.page_addresses.raw(row, stack))?;
            }
            self.pages = pages;
        } else {
            self.sorter.finish();
            self.facts.meta.quality.disordered += self.sorter.disordered;
        }
        Ok(true)
    }

    fn facts(&self) -> &Facts {
        &self.facts
    }
}
