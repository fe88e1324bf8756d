//! The facts that traces state about themselves, as tables beside the events: for engines that read columns and not
//! our metadata.
//!
//! # How it works
//! Five Parquet files. `traces` has a row a file; `sites`, `caches`, `stacks` and `slabs` (the kernel's own numbers
//! over time) have the file's name in each row, as the events have it where an engine adds it (`filename` of DuckDB). Tables
//! are sorted by it.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray, UInt64Array,
};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::SortingColumn;
use parquet::file::properties::WriterProperties;
use slablab_host::{Access, WholeFile};
use slablab_linux::Helpers;

use crate::Error;
use crate::meta::Meta;

/// A trace for the tables.
#[derive(Debug)]
pub struct Described<'a> {
    /// Its file, as queries will name it
    pub file: String,
    /// Whose trace it is
    pub host: String,
    /// When it was recorded, as `2026-11-22`; "" when nothing says
    pub date: String,
    /// What it says about itself
    pub meta: &'a Meta,
}

/// Writes the tables of `traces` into `folder`, and returns the names of the files.
///
/// # Errors
/// If one cannot be written.
pub fn write_tables(folder: &Path, traces: &[Described<'_>]) -> Result<[&'static str; 5], Error> {
    write(folder, "traces.parquet", traces_table(traces))?;
    write(folder, "sites.parquet", sites_table(traces))?;
    write(folder, "caches.parquet", caches_table(traces))?;
    write(folder, "stacks.parquet", stacks_table(traces))?;
    write(folder, "slabs.parquet", slabs_table(traces))?;
    Ok(["traces.parquet", "sites.parquet", "caches.parquet", "stacks.parquet", "slabs.parquet"])
}

/// A column with its name.
type Column = (&'static str, ArrayRef);

fn text(name: &'static str, values: impl IntoIterator<Item = String>) -> Column {
    (name, Arc::new(StringArray::from_iter_values(values)))
}

fn count(name: &'static str, values: impl IntoIterator<Item = u64>) -> Column {
    // Spark has no unsigned numbers.
    (name, Arc::new(Int64Array::from_iter_values(values.into_iter().map(|n| n as i64))))
}

fn traces_table(traces: &[Described<'_>]) -> Vec<Column> {
    let words = |name, of: fn(&Described<'_>) -> String| text(name, traces.iter().map(of));
    let number = |name, of: fn(&Meta) -> u64| count(name, traces.iter().map(|t| of(t.meta)));
    let moment = |name, of: fn(&Meta) -> Option<u64>| -> Column {
        let values = traces.iter().map(|t| of(t.meta).map(|ns| ns as i64));
        (name, Arc::new(Int64Array::from_iter(values)))
    };
    let unplaced = traces.iter().map(|t| t.meta.unplaced_share());
    vec![
        words("file", |t| t.file.clone()),
        words("host", |t| t.host.clone()),
        words("date", |t| t.date.clone()),
        words("kernel_release", |t| t.meta.kernel_release.clone()),
        words("build_id", |t| t.meta.build_id.clone()),
        words("arch", |t| t.meta.arch.clone()),
        words("boot", |t| t.meta.boot.clone()),
        words("cpu", |t| t.meta.cpu.clone()),
        number("memory_bytes", |m| m.memory_bytes),
        number("cpus", |m| m.cpus.into()),
        number("nodes", |m| m.nodes.into()),
        number("page_bytes", |m| m.page_bytes.into()),
        words("recorder", |t| t.meta.recorder.clone()),
        words("recorder_version", |t| t.meta.recorder_version.clone()),
        words("source", |t| t.meta.source.clone()),
        words("command", |t| t.meta.command.join(" ")),
        moment("start_unix_ns", |m| m.start_unix_ns),
        moment("end_unix_ns", |m| m.end_unix_ns),
        number("duration_ns", |m| m.time_last_ns - m.time_first_ns),
        number("events", |m| m.events),
        number("object_slots", |m| m.object_slots.into()),
        number("lost", |m| m.quality.lost_total()),
        number("skipped", |m| m.quality.skipped_total()),
        number("implicit_frees", |m| m.quality.implicit_frees),
        number("estimated_frees", |m| m.quality.estimated_frees),
        number("older_frees", |m| m.quality.older_frees),
        number("caches_unknown", |m| m.quality.caches_unknown),
        ("unplaced_share", Arc::new(Float64Array::from_iter_values(unplaced))),
    ]
}

fn sites_table(traces: &[Described<'_>]) -> Vec<Column> {
    let rows = || traces.iter().flat_map(|t| t.meta.sites.iter().map(move |site| (t, site)));
    // `symbol+0x1c [module]`
    let function = |name: &str| name.split(['+', ' ']).next().unwrap_or_default().to_owned();
    let module = |name: &str| {
        let module = name.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
        module.map_or_else(String::new, |(module, _)| module.to_owned())
    };
    vec![
        text("file", rows().map(|(t, _)| t.file.clone())),
        text("site", rows().map(|(_, site)| site.name.clone())),
        text("function", rows().map(|(_, site)| function(&site.name))),
        text("module", rows().map(|(_, site)| module(&site.name))),
        ("address", Arc::new(UInt64Array::from_iter_values(rows().map(|(_, site)| site.address)))),
        count("bytes_req_max", rows().map(|(_, site)| site.bytes_req_max)),
    ]
}

fn caches_table(traces: &[Described<'_>]) -> Vec<Column> {
    let rows = || traces.iter().flat_map(|t| t.meta.caches.iter().map(move |cache| (t, cache)));
    let kernel = |name: &'static str, attribute: &'static str| -> Column {
        let value = |(t, cache): (&Described<'_>, &crate::RecordedCache)| {
            let start = t.meta.slabs_start.as_ref()?;
            start.cache(cache.recorded_name())?.number(attribute).map(|n| n as i64)
        };
        (name, Arc::new(Int64Array::from_iter(rows().map(value))))
    };
    vec![
        text("file", rows().map(|(t, _)| t.file.clone())),
        text("cache", rows().map(|(_, cache)| cache.recorded_name().to_owned())),
        text("name", rows().map(|(_, cache)| cache.name.clone())),
        text("aliases", rows().map(|(_, cache)| cache.aliases.join(" "))),
        count("allocs", rows().map(|(_, cache)| cache.allocs)),
        count("frees", rows().map(|(_, cache)| cache.frees)),
        count("inferred", rows().map(|(_, cache)| cache.inferred)),
        count("implicit_frees", rows().map(|(_, cache)| cache.implicit_frees)),
        count("estimated_frees", rows().map(|(_, cache)| cache.estimated_frees)),
        count("older_frees", rows().map(|(_, cache)| cache.older_frees)),
        count("bytes_req_max", rows().map(|(_, cache)| cache.bytes_req_max)),
        kernel("object_size", "object_size"),
        kernel("slab_size", "slab_size"),
        kernel("slab_order", "order"),
        kernel("slab_objects", "objs_per_slab"),
    ]
}

/// The stacks by the number that rows have in their column `stack`: `frames` from the allocation outwards, and the text that
/// flame graphs are drawn from, which begins with the outermost.
fn stacks_table(traces: &[Described<'_>]) -> Vec<Column> {
    let helpers = Helpers::known();
    let of_trace = |t: &Described<'_>| {
        let (stacks, file) = (&t.meta.stacks, t.file.clone());
        let row = |stack: u32| {
            let frames: Vec<String> = stacks.frames(stack).map(|f| f.name.clone()).collect();
            (file.clone(), stack, frames, stacks.is_cut(stack))
        };
        (0..stacks.len() as u32).map(row).collect::<Vec<_>>()
    };
    let rows: Vec<_> = traces.iter().flat_map(of_trace).collect();
    let owner = |frames: &[String]| frames.get(helpers.owner(frames)).cloned().unwrap_or_default();
    let folded = |frames: &[String]| {
        let outward = frames.iter().rev().map(|name| name.replace(';', ":"));
        outward.collect::<Vec<_>>().join(";")
    };
    let mut frames = ListBuilder::new(StringBuilder::new());
    for (_, _, names, _) in &rows {
        frames.append_value(names.iter().map(Some));
    }
    vec![
        text("file", rows.iter().map(|row| row.0.clone())),
        count("stack", rows.iter().map(|row| row.1.into())),
        text("owner", rows.iter().map(|row| owner(&row.2))),
        count("depth", rows.iter().map(|row| row.2.len() as u64)),
        ("cut", Arc::new(BooleanArray::from_iter(rows.iter().map(|row| Some(row.3))))),
        ("frames", Arc::new(frames.finish())),
        text("folded", rows.iter().map(|row| folded(&row.2))),
    ]
}

fn slabs_table(traces: &[Described<'_>]) -> Vec<Column> {
    let of_trace = |t: &Described<'_>| {
        let samples = &t.meta.samples;
        let mut rows = Vec::new();
        for (name, cache) in &samples.caches {
            for at in &cache.at {
                let (objects, slabs) = cache.at(*at as usize);
                let time_ns = samples.times_ns.get(*at as usize).copied().unwrap_or(0);
                let slab_bytes = u64::from(slabs).saturating_mul(cache.slab_bytes);
                rows.push((t.file.clone(), name.clone(), time_ns, objects, slabs, slab_bytes));
            }
        }
        rows
    };
    let rows: Vec<_> = traces.iter().flat_map(of_trace).collect();
    vec![
        text("file", rows.iter().map(|row| row.0.clone())),
        text("cache", rows.iter().map(|row| row.1.clone())),
        count("time_ns", rows.iter().map(|row| row.2)),
        count("objects", rows.iter().map(|row| row.3.into())),
        count("slabs", rows.iter().map(|row| row.4.into())),
        count("slab_bytes", rows.iter().map(|row| row.5)),
    ]
}

/// Writes one table; it has its name when it is whole.
fn write(folder: &Path, name: &str, columns: Vec<Column>) -> Result<(), Error> {
    let path = folder.join(name);
    let io = |e| Error::io(&path, "cannot write the table", e);
    let failed = |e: parquet::errors::ParquetError| io(Error::cause_of(e));
    let rows = RecordBatch::try_from_iter(columns).map_err(|e| io(std::io::Error::other(e)))?;
    let by_file = SortingColumn { column_idx: 0, descending: false, nulls_first: false };
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_sorting_columns(Some(vec![by_file]))
        .build();
    let output = WholeFile::create(&path, Access::Private).map_err(io)?;
    let file = output.file().map_err(io)?;
    let mut writer = ArrowWriter::try_new(file, rows.schema(), Some(properties)).map_err(failed)?;
    writer.write(&rows).map_err(failed)?;
    writer.into_inner().map_err(failed)?.flush().map_err(io)?;
    output.persist().map_err(io)
}
