//! Parquet with the columns of a trace that is no trace as it is: DuckDB filtered its rows, Spark wrote it anew
//! without our metadata. Its rows are imported again.
//!
//! How it works: an object's slot stands for its address, so that the importer finds again which free belongs to
//! which allocation, and counts what belongs to none because the other was filtered out. What the metadata says
//! of the recorded machine is kept where there is any; what it counts is counted anew.

use std::path::Path;

use rustc_hash::FxHashMap;

use super::recording::{Facts, Source, Tables};
use super::sorter::Sorter;
use crate::meta::{Quality, Site};
use crate::store::{FileRows, ParquetFile, PidColumn};
use crate::symbols::Symbols;
use crate::{Batch, Error, Event, Meta, NONE, RawEvent};

/// The kernel's `ZERO_SIZE_PTR`, what kmalloc(0) returns.
const ZERO_SIZE_PTR: u64 = 16;

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
    tables: Tables,
    symbols: Symbols,
    facts: Facts,
    done: u64,
    total: u64,
}

impl Rows {
    pub(super) fn new(path: &Path, file: &ParquetFile) -> Rows {
        let meta = file.meta();
        let quality = Quality { lost: meta.quality.lost.clone(), ..Quality::default() };
        let facts = Facts {
            skipped: meta.quality.skipped.clone(),
            meta: Meta { quality, sites: Vec::new(), ..Meta::clone(meta) },
        };
        let addresses = meta.sites.iter().map(|site| (site.name.clone(), site.address)).collect();
        Rows {
            total: meta.events,
            rows: file.rows(PidColumn::Read),
            unread: true,
            sorter: Sorter::new(path),
            batch: Batch::default(),
            addresses,
            tables: Tables::default(),
            symbols: Symbols::default(),
            facts,
            done: 0,
        }
    }

    /// Takes the names that the last batch brought.
    fn name(&mut self) {
        for name in &self.rows.sites().list()[self.tables.sites.len()..] {
            let address = self.addresses.get(name).copied().unwrap_or(0);
            self.tables.sites.push(Site { name: name.clone(), address, ..Site::default() });
        }
        let caches = &self.rows.caches().list()[self.tables.caches.len()..];
        self.tables.caches.extend(caches.iter().cloned());
    }
}

fn raw(row: &Event) -> RawEvent {
    RawEvent {
        time_ns: row.time_ns,
        cpu: u32::from(row.cpu),
        pid: row.pid,
        kind: row.kind,
        ptr: match row.object {
            // Slots begin at 0, which as an address is a failed allocation.
            NONE if row.kind.is_free() => UNKNOWN_PTR,
            NONE if row.bytes_req == 0 => ZERO_SIZE_PTR,
            NONE => 0,
            slot => (u64::from(slot) + 1) << 12,
        },
        site: row.site,
        cache: row.cache,
        bytes_req: row.bytes_req,
        bytes_alloc: row.bytes_alloc,
        gfp: row.gfp,
        node: i32::from(row.node),
    }
}

impl Source for Rows {
    fn read(&mut self, to: &mut Vec<RawEvent>) -> Result<bool, Error> {
        if !self.unread {
            return self.sorter.take(to);
        }
        self.unread = self.rows.read_into(&mut self.batch)?;
        if self.unread {
            self.name();
            self.done += self.batch.len() as u64;
            self.batch.events().try_for_each(|row| self.sorter.push(raw(&row)))?;
        } else {
            self.sorter.finish();
            self.facts.meta.quality.disordered += self.sorter.disordered;
        }
        Ok(true)
    }

    fn tables(&self) -> &Tables {
        &self.tables
    }

    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn symbols(&self) -> &Symbols {
        &self.symbols
    }

    fn progress(&self) -> (u64, u64) {
        (self.done, self.total.max(self.done))
    }
}
