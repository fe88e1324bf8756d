//! `slablab whatif --partition`: what keeping kmalloc's objects apart costs.

use anyhow::Result;
use schemars::JsonSchema;
use serde::Serialize;
use slablab_kmem::BackendKind;
use slablab_replay::{PartitionBy, PartitionCost, Partitioned, Range, partition_cost};
use slablab_trace::TraceReader;

use super::question::QuestionArgs;
use crate::output::{Cell, Page, Report, Table, bytes, field};
use crate::progress::Progress;

/// Reads `random:16`, `buckets` or `site`.
pub(super) fn parse_partition(text: &str) -> Result<PartitionBy, String> {
    match text {
        "buckets" => Ok(PartitionBy::Buckets),
        "site" => Ok(PartitionBy::Site),
        "type" => Err("a trace does not say of what type its objects are, nor does the kernel's BTF say what a call site \
                       allocates; --partition site gives the most that separation by type can cost"
            .to_owned()),
        _ => {
            let copies = text.strip_prefix("random:").and_then(|copies| copies.parse().ok());
            match copies {
                Some(copies) if (2..=64).contains(&copies) && u32::is_power_of_two(copies) => {
                    Ok(PartitionBy::Random { copies })
                }
                _ => Err("a partition is random:N (N being 2, 4, 8, 16, 32 or 64), buckets or site".to_owned()),
            }
        }
    }
}

/// Replays the trace with and without the partition.
pub(super) fn run(
    question: &QuestionArgs,
    trace: &TraceReader,
    kind: BackendKind,
    by: PartitionBy,
) -> Result<PartitionAnswer> {
    let replays = if matches!(by, PartitionBy::Random { .. }) { 21 } else { 2 };
    let progress = Progress::new("replaying", trace.meta().events * replays);
    let mut done = 0;
    let mut note = |rows: u64| {
        done += rows;
        progress.set(done);
    };
    let cost = partition_cost(trace, kind, question.memory, by, &mut note);
    let cost = question.with_trace_name(cost)?;
    Ok(PartitionAnswer { file: question.file(), cost })
}

/// What `slablab whatif --partition` says.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PartitionAnswer {
    file: String,
    #[serde(flatten)]
    cost: PartitionCost,
}

/// A number that is shown: its name, and how it is read.
type Row = (&'static str, &'static str, Unit, fn(&Partitioned) -> u64);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    Bytes,
    Count,
}

const ROWS: [Row; 7] = [
    ("held, peak", "held_bytes_peak", Unit::Bytes, |p| p.held_bytes.peak),
    ("held, mean", "held_bytes_mean", Unit::Bytes, |p| p.held_bytes.mean),
    ("held, end", "held_bytes_end", Unit::Bytes, |p| p.held_bytes.end),
    ("structures of added caches", "structures_bytes", Unit::Bytes, |p| p.structures_bytes),
    ("held and structures, peak", "all_bytes_peak", Unit::Bytes, with_structures),
    ("slabs, peak", "slabs_peak", Unit::Count, |p| p.slabs.peak),
    ("caches used", "caches_used", Unit::Count, |p| p.caches_used),
];

fn with_structures(of: &Partitioned) -> u64 {
    of.held_bytes.peak + of.structures_bytes
}

impl Report for PartitionAnswer {
    const SCHEMA: &'static str = "slablab.partition/1";

    fn text(&self, page: &mut Page) {
        super::replay::header(&self.file, &self.cost.trace, page);
        page.line("");
        page.paragraph(&self.summary(), 0);
        page.line("");
        page.table(&self.csv());
    }

    fn csv(&self) -> Table {
        let cell = |unit: Unit, number: u64| match unit {
            Unit::Bytes => Cell::Bytes(number),
            Unit::Count => Cell::Count(number),
        };
        let over = |read: fn(&Partitioned) -> u64| -> Range { self.cost.range(read) };
        let recorded = |(_, _, unit, read): &Row| cell(*unit, read(&self.cost.recorded));
        let fields = [
            field::name("", "metric", |row: &Row| row.0),
            field::by("as recorded", "recorded", recorded),
            field::by("median", "median", |row: &Row| cell(row.2, over(row.3).median)),
            field::by("least", "least", |row: &Row| cell(row.2, over(row.3).least)),
            field::by("most", "most", |row: &Row| cell(row.2, over(row.3).most)),
        ];
        Table::of(&ROWS, fields)
    }
}

impl PartitionAnswer {
    fn summary(&self) -> String {
        let cost = &self.cost;
        let how = match cost.by {
            PartitionBy::Random { copies } => format!(
                "{copies} copies of each kmalloc class, chosen by a hash of the call site as with \
                 CONFIG_RANDOM_KMALLOC_CACHES, over {} seeds",
                cost.partitioned.len()
            ),
            PartitionBy::Buckets => {
                "Classes of their own for memdup_user and msg_msg, as with CONFIG_SLAB_BUCKETS"
                    .to_owned()
            }
            PartitionBy::Site => "A cache for each call site of kmalloc".to_owned(),
        };
        let was = with_structures(&cost.recorded);
        let range = cost.range(with_structures);
        let more = |now: u64| (now as f64 / was.max(1) as f64 - 1.0) * 100.0;
        let spread = match cost.partitioned.len() {
            1 => String::new(),
            _ => format!(" (from {:+.1} to {:+.1} %)", more(range.least), more(range.most)),
        };
        let added = cost.range(|p| p.caches_added).median;
        format!(
            "{how}: under {} {} at the peak instead of {}, {:+.1} %{spread}, for {added} caches more, whose own \
             structures take {} each. The machine was empty before the first event.",
            cost.allocator,
            bytes(range.median),
            bytes(was),
            more(range.median),
            bytes(cost.structures_bytes_each)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_partition_is_named() {
        assert_eq!(parse_partition("random:16"), Ok(PartitionBy::Random { copies: 16 }));
        assert_eq!(parse_partition("site"), Ok(PartitionBy::Site));
        for text in ["random", "random:1", "random:15", "random:x", "", "sites"] {
            assert!(parse_partition(text).unwrap_err().contains("random:N"), "{text}");
        }
        assert!(parse_partition("type").unwrap_err().contains("--partition site"));
    }
}
