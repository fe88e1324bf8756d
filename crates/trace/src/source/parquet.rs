//! Parquet with the columns of a trace that is no trace as it is: DuckDB filtered its rows, Spark wrote it anew
//! without our metadata. Its rows are imported again.
//!
//! How it works: an object's slot stands for its address, so that the importer finds again which free belongs to
//! which allocation, and counts what belongs to none because the other was filtered out. What the metadata says
//! of the recorded machine is kept where there is any; what it counts is counted anew.

use std::path::Path;

use rustc_hash::FxHashMap;

use super::recording::{Facts, Source};
use super::sorter::Sorter;
use crate::event::ZERO_SIZE_PTR;
use crate::meta::{Quality, Site};
use crate::store::{FileRows, ParquetFile, PidColumn};
use crate::{Batch, Error, Event, Meta, NONE, RawEvent, Samples};

/// Stands for the address of an object whose allocation is not in the rows.
const UNKNOWN_PTR: u64 = u64::MAX;

/// The rows of a Parquet file as events.
#[derive(Debug)]
pub(super) struct Rows {
    rows: FileRows,
    /// Whether rows are left to be sorted.
    unread: bool,
    sorter: Sorter,
    batch: Batch,
    addresses: FxHashMap<String, u64>,
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
            bytes: meta.events,
            ..Facts::default()
        };
        let addresses = meta.sites.iter().map(|site| (site.name.clone(), site.address)).collect();
        Rows {
            rows: file.rows(PidColumn::Read),
            unread: true,
            sorter: Sorter::new(path),
            batch: Batch::default(),
            addresses,
            facts,
        }
    }

    /// Takes the names that the last batch brought.
    fn name(&mut self) {
        let names = &mut self.facts.names;
        for name in &self.rows.sites().list()[names.sites.len()..] {
            let address = self.addresses.get(name).copied().unwrap_or(0);
            names.sites.push(Site { name: name.clone(), address, ..Site::default() });
        }
        let caches = &self.rows.caches().list()[names.caches.len()..];
        names.caches.extend(caches.iter().cloned());
    }
}

/// Returns the row as a source that has its object at an address of its own.
pub(crate) fn raw(row: Event) -> RawEvent {
    row.to_raw(match row.object {
        // Slots begin at 0, which as an address is a failed allocation.
        NONE if row.kind.is_free() => UNKNOWN_PTR,
        NONE if row.bytes_req == 0 => ZERO_SIZE_PTR,
        NONE => 0,
        slot => (u64::from(slot) + 1) << 12,
    })
}

impl Source for Rows {
    fn read(&mut self, to: &mut Vec<RawEvent>) -> Result<bool, Error> {
        if !self.unread {
            return self.sorter.take(to);
        }
        self.unread = self.rows.read_into(&mut self.batch)?;
        if self.unread {
            self.name();
            self.facts.bytes_read += self.batch.len() as u64;
            self.batch.events().try_for_each(|row| self.sorter.push(raw(row)))?;
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
