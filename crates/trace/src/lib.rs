//! Traces of kernel allocations: recorded, imported, stored, read.
//!
//! A trace is a Parquet file of [`Event`]s in time order, with [`Meta`] beside them. [`record()`] makes
//! one of the running kernel, [`import()`] of a recording by another tool; [`TraceReader`] reads it in
//! [`Batch`]es, some thousand rows at a time, so that its length does not matter. [`load()`] reads a
//! recording as if it had been imported.
//!
//! # How it works
//! A [`Source`] (one per format) gives [`RawEvent`]s with pointers; the importer gives
//! every pointer a dense slot number, infers what the recorded kernel did not say, and counts in
//! [`Quality`] all that it could not place.

#![forbid(unsafe_code)]

mod address_map;
mod assigned;
mod btf;
mod cache_name;
mod canonical;
mod cgroups;
mod cpu_list;
mod error;
mod event;
mod import;
mod input;
mod kmalloc;
mod lacking;
mod live;
mod meta;
mod page_event;
mod page_map;
mod page_meta;
mod page_row;
mod portion;
mod probe;
mod progress;
mod random;
mod record;
mod recording_folder;
mod samples;
mod saved;
mod slabs;
mod source;
mod spool;
mod stacks;
mod store;
mod symbols;
pub mod synth;
mod tables;
mod vmlinux;
mod zones;

pub use btf::{Btf, Candidate, Link};
pub use cache_name::is_cache_name;
pub use canonical::AllocatedType;
pub use cgroups::{CgroupChange, CgroupCursor, Cgroups, Move};
pub use cpu_list::cpu_nodes;
pub use error::{At, Error};
pub use event::{Batch, Columns, Event, Kind, NONE, RawEvent};
pub use import::{
    ImportOptions, by_owner, copy, import, keep, kmalloc_cache, load, open, read, read_input,
};
pub use input::Input;
pub use kmalloc::RecordedKmalloc;
pub use live::{LIVE_HISTORY, Live, LiveFrame, LiveOptions, LiveRow};
pub use meta::{
    META_KEY, Meta, Quality, RecordedCache, SCHEMA_VERSION, Site, Skipped, SlabSnapshot, SlubCache,
};
pub use page_event::{NO_BYTE, NO_PAGE, PageKind, RawPage};
pub use page_meta::PageMeta;
pub use page_row::PageEvent;
pub use portion::{Portion, Recorded};
pub use probe::{Fact, State, probe};
pub use progress::Progress;
#[cfg(fuzzing)]
pub use record::fuzz_packed;
pub use record::{
    BUFFER_KIB_DEFAULT, EventCounter, Keep, RecordOptions, RecordSummary, SlabLimit, SlabPart,
    SlabReached, record, recover,
};
pub use samples::{SampledCache, Samples};
pub use saved::{saved_kallsyms, saved_slabinfo};
pub use slablab_linux::SlabInfo;
#[cfg(fuzzing)]
pub use source::tracefs_raw::fuzz_pages;
pub use source::{Facts, Format, Names, Source, is_text_of_no_recording, open_raw, read_raw};
pub use stacks::{Extent, Frame, Stacks};
pub use store::{
    Addresses, Batches, Checked, PageBatches, ROW_GROUP_ROWS, TraceReader, TraceWriter,
};
pub use symbols::{Symbol, Symbols};
pub use tables::{Described, write_tables};
pub use vmlinux::{Place, Vmlinux};
pub use zones::{BuddyReading, MIGRATE_TYPES, RecordedZones, Zone, ZoneCpu, Zones};
