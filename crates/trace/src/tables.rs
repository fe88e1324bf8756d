//! The facts that traces state about themselves, as tables beside the events: for engines that read columns and not
//! our metadata.
//!
//! # How it works
//! Five Parquet files. `traces` has a row a file; `sites`, `caches`, `stacks` and `slabs` (the kernel's own numbers
//! over time) have the file's name in each row, as the events have it where an engine adds it (`filename` of DuckDB). Tables
//! are sorted by it.

use std::io::Write;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::SortingColumn;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{Type, TypePtr};
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
    write(folder, "traces.parquet", &traces_table(traces))?;
    write(folder, "sites.parquet", &sites_table(traces))?;
    write(folder, "caches.parquet", &caches_table(traces))?;
    write(folder, "stacks.parquet", &stacks_table(traces))?;
    write(folder, "slabs.parquet", &slabs_table(traces))?;
    Ok(["traces.parquet", "sites.parquet", "caches.parquet", "stacks.parquet", "slabs.parquet"])
}

/// Rows in a row group.
const GROUP_ROWS: usize = 1 << 20;

/// A column with its name.
type Column = (&'static str, Values);

/// The values of a column, one a row.
enum Values {
    Texts(Vec<String>),
    Lists(Vec<Vec<String>>),
    Counts(Vec<u64>),
    /// Counts that some rows may lack
    Known(Vec<Option<u64>>),
    Addresses(Vec<u64>),
    Shares(Vec<f64>),
    Flags(Vec<bool>),
}

fn text(name: &'static str, values: impl IntoIterator<Item = String>) -> Column {
    (name, Values::Texts(values.into_iter().collect()))
}

fn count(name: &'static str, values: impl IntoIterator<Item = u64>) -> Column {
    (name, Values::Counts(values.into_iter().collect()))
}

fn traces_table(traces: &[Described<'_>]) -> Vec<Column> {
    let words = |name, of: fn(&Described<'_>) -> String| text(name, traces.iter().map(of));
    let number = |name, of: fn(&Meta) -> u64| count(name, traces.iter().map(|t| of(t.meta)));
    let moment = |name, of: fn(&Meta) -> Option<u64>| -> Column {
        (name, Values::Known(traces.iter().map(|t| of(t.meta)).collect()))
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
        ("unplaced_share", Values::Shares(unplaced.collect())),
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
        ("address", Values::Addresses(rows().map(|(_, site)| site.address).collect())),
        count("bytes_req_max", rows().map(|(_, site)| site.bytes_req_max)),
    ]
}

fn caches_table(traces: &[Described<'_>]) -> Vec<Column> {
    let rows = || traces.iter().flat_map(|t| t.meta.caches.iter().map(move |cache| (t, cache)));
    let kernel = |name: &'static str, attribute: &'static str| -> Column {
        let value = |(t, cache): (&Described<'_>, &crate::RecordedCache)| {
            let start = t.meta.slabs_start.as_ref()?;
            start.cache(cache.recorded_name())?.number(attribute)
        };
        (name, Values::Known(rows().map(value).collect()))
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
    vec![
        text("file", rows.iter().map(|row| row.0.clone())),
        count("stack", rows.iter().map(|row| row.1.into())),
        text("owner", rows.iter().map(|row| owner(&row.2))),
        count("depth", rows.iter().map(|row| row.2.len() as u64)),
        ("cut", Values::Flags(rows.iter().map(|row| row.3).collect())),
        ("frames", Values::Lists(rows.iter().map(|row| row.2.clone()).collect())),
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

impl Values {
    fn rows(&self) -> usize {
        match self {
            Values::Texts(values) => values.len(),
            Values::Lists(values) => values.len(),
            Values::Counts(values) | Values::Addresses(values) => values.len(),
            Values::Known(values) => values.len(),
            Values::Shares(values) => values.len(),
            Values::Flags(values) => values.len(),
        }
    }

    /// Returns the type of a column that has them.
    fn field(&self, name: &str) -> Result<Type, ParquetError> {
        let text = Some(LogicalType::String);
        let (physical, logical) = match self {
            Values::Texts(_) => (Physical::BYTE_ARRAY, text),
            Values::Lists(_) => {
                let item = Type::primitive_type_builder("item", Physical::BYTE_ARRAY)
                    .with_logical_type(text)
                    .with_repetition(Repetition::OPTIONAL);
                let list = Type::group_type_builder("list")
                    .with_fields(vec![Arc::new(item.build()?)])
                    .with_repetition(Repetition::REPEATED);
                return Type::group_type_builder(name)
                    .with_fields(vec![Arc::new(list.build()?)])
                    .with_logical_type(Some(LogicalType::List))
                    .with_repetition(Repetition::REQUIRED)
                    .build();
            }
            // Spark has no unsigned numbers.
            Values::Counts(_) | Values::Known(_) => (Physical::INT64, None),
            Values::Addresses(_) => (Physical::INT64, Some(LogicalType::integer(64, false))),
            Values::Shares(_) => (Physical::DOUBLE, None),
            Values::Flags(_) => (Physical::BOOLEAN, None),
        };
        let repetition = match self {
            Values::Known(values) if values.contains(&None) => Repetition::OPTIONAL,
            _ => Repetition::REQUIRED,
        };
        let field = Type::primitive_type_builder(name, physical).with_logical_type(logical);
        field.with_repetition(repetition).build()
    }

    /// Writes those of some rows.
    fn write(
        &self,
        rows: Range<usize>,
        to: &mut SerializedColumnWriter<'_>,
    ) -> Result<usize, ParquetError> {
        let bytes = |text: &String| ByteArray::from(text.as_bytes().to_vec());
        match self {
            Values::Texts(texts) => {
                let texts: Vec<ByteArray> = texts[rows].iter().map(bytes).collect();
                to.typed::<ByteArrayType>().write_batch(&texts, None, None)
            }
            Values::Lists(lists) => {
                let lists = &lists[rows];
                let texts: Vec<ByteArray> = lists.iter().flatten().map(bytes).collect();
                // 2 stands for a text, and 0 for a list without any; 1 for each text of a list but its first.
                let has = |list: &Vec<String>| match list.len() {
                    0 => vec![0],
                    texts => vec![2; texts],
                };
                let follows =
                    |list: &Vec<String>| (0..list.len().max(1)).map(|at| i16::from(at > 0));
                let has: Vec<i16> = lists.iter().flat_map(has).collect();
                let follows: Vec<i16> = lists.iter().flat_map(follows).collect();
                to.typed::<ByteArrayType>().write_batch(&texts, Some(&has), Some(&follows))
            }
            Values::Counts(numbers) | Values::Addresses(numbers) => {
                let numbers: Vec<i64> = numbers[rows].iter().map(|number| *number as i64).collect();
                to.typed::<Int64Type>().write_batch(&numbers, None, None)
            }
            Values::Known(known) => {
                let known = &known[rows];
                let numbers: Vec<i64> =
                    known.iter().flatten().map(|number| *number as i64).collect();
                let has: Vec<i16> = known.iter().map(|known| known.is_some().into()).collect();
                to.typed::<Int64Type>().write_batch(&numbers, Some(&has), None)
            }
            Values::Shares(shares) => {
                to.typed::<DoubleType>().write_batch(&shares[rows], None, None)
            }
            Values::Flags(flags) => to.typed::<BoolType>().write_batch(&flags[rows], None, None),
        }
    }
}

/// Returns the schema of a table.
fn schema(columns: &[Column]) -> Result<TypePtr, ParquetError> {
    let fields = columns.iter().map(|(name, values)| values.field(name).map(Arc::new));
    let fields = fields.collect::<Result<_, _>>()?;
    Type::group_type_builder("arrow_schema").with_fields(fields).build().map(Arc::new)
}

/// Writes one table; it has its name when it is whole.
fn write(folder: &Path, name: &str, columns: &[Column]) -> Result<(), Error> {
    let path = folder.join(name);
    let io = |e| Error::io(&path, "cannot write the table", e);
    let output = WholeFile::create(&path, Access::Private).map_err(io)?;
    let mut file = output.file().map_err(io)?;
    write_rows(&mut file, columns).map_err(|e| io(Error::cause_of(e)))?;
    file.flush().map_err(io)?;
    output.persist().map_err(io)
}

fn write_rows(file: &mut (impl Write + Send), columns: &[Column]) -> Result<(), ParquetError> {
    let by_file = SortingColumn { column_idx: 0, descending: false, nulls_first: false };
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_sorting_columns(Some(vec![by_file]))
        .build();
    let mut writer = SerializedFileWriter::new(file, schema(columns)?, Arc::new(properties))?;
    let rows = columns.first().map_or(0, |(_, values)| values.rows());
    for begin in (0..rows).step_by(GROUP_ROWS) {
        let mut group = writer.next_row_group()?;
        for (_, values) in columns {
            let mut column = group.next_column()?.expect("the schema has each column");
            values.write(begin..rows.min(begin + GROUP_ROWS), &mut column)?;
            column.close()?;
        }
        group.close()?;
    }
    writer.close().map(drop)
}
