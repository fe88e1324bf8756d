//! Compares the slabs of each cache in replay with the guest's own `/proc/slabinfo` at the same moment; for SLOB and
//! SLMB, which have no slabs for each cache, the growth of all memory in slabs.
//!
//! Objects that are older than the trace are in the guest and not in replay: those of the first tenths of a
//! second, before the trace buffer is there. The table shows objects beside slabs, so that they can be told apart.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use serde::Serialize;
use slablab_kmem::BackendKind;
use slablab_replay::{Replay, ReplayPlan, replay};
use slablab_vm::Spec;

use super::super::options;
use super::site::{Boot, Common, Site, describe, open_trace, snapshot};
use crate::cli::OutputArgs;
use crate::output::{self, Cell, Column, Page, Report, Table};

/// Options of `slablab kernel predict slabs`.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// The allocators [default: all]
    #[arg(long, value_name = "NAME,..", value_delimiter = ',')]
    allocators: Vec<String>,
    /// Virtual CPUs
    #[arg(long, value_name = "N", default_value_t = 2,
          value_parser = clap::value_parser!(u32).range(1..=16))]
    cpus: u32,
    /// Show this many caches, those that differ most first
    #[arg(short = 'n', long, value_name = "N", default_value_t = 15)]
    lines: usize,
    #[command(flatten)]
    common: Common,
}

/// Messages between tasks, and some that stay when the slabs are counted.
const LOAD: &str = "hackbench -g 2 -l 50 -s 100 > /tmp/hackbench\n\
    i=0\n\
    while [ $i -lt 50 ]; do sleep 1000 & i=$((i + 1)); done\n";

/// A cache in the guest and in replay.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
struct Row {
    allocator: String,
    cache: String,
    guest_objects: u64,
    replay_objects: u64,
    guest_slabs: u64,
    replay_slabs: u64,
}

#[derive(Debug, Serialize)]
struct Comparison {
    facts: Vec<String>,
    rows: Vec<Row>,
    #[serde(skip)]
    lines: usize,
    folder: PathBuf,
}

/// Runs `slablab kernel predict slabs`.
pub(super) fn run(args: &Args, output: &OutputArgs) -> Result<ExitCode> {
    let allocators = options::or_allocators(&args.allocators);
    let specs: Vec<_> = allocators.iter().map(|name| Spec::plain(name)).collect();
    let (site, kernels) = Site::open(&args.common, "slabs", &specs)?;
    let mut comparison = Comparison {
        facts: Vec::new(),
        rows: Vec::new(),
        lines: args.lines,
        folder: site.folder.clone(),
    };
    for (name, kernel) in allocators.iter().zip(&kernels) {
        let has_slabinfo = matches!(name.as_str(), "slub" | "slab");
        let recording = site.record(&Boot {
            name: name.clone(),
            kernel,
            cpus: args.cpus,
            arguments: &["slab_nomerge"],
            load: LOAD,
            from_boot: has_slabinfo,
        })?;
        let (path, reader) = open_trace(&recording)?;
        let kind: BackendKind = name.parse().map_err(anyhow::Error::msg)?;
        let plan = ReplayPlan { allocators: vec![kind], ..ReplayPlan::default() };
        let replay = replay(&reader, &plan, &mut |_| ())?;
        comparison.facts.push(describe(&path, &reader));
        if has_slabinfo {
            let rows = rows(name, &recording.slabinfo, &replay);
            comparison.facts.push(summary(name, &rows));
            comparison.rows.extend(rows);
        } else {
            let growth = recording.slab_kb.cast_signed() - recording.slab_kb_before.cast_signed();
            comparison.facts.push(format!(
                "{name}: slabs grew by {growth} kB during the load; replay holds {} kB at its end",
                replay.allocators[0].slab_bytes.end / 1024
            ));
        }
    }
    output::print(&comparison, output, None)?;
    Ok(ExitCode::SUCCESS)
}

/// Puts guest and replay side by side, the largest difference first.
fn rows(allocator: &str, slabinfo: &str, replay: &Replay) -> Vec<Row> {
    let snapshot = snapshot(slabinfo);
    let mut rows: BTreeMap<String, Row> = BTreeMap::new();
    for line in snapshot.slabinfo() {
        let row = rows.entry(line.name.to_owned()).or_default();
        (row.guest_objects, row.guest_slabs) = (line.active_objs, line.num_slabs);
    }
    for cache in &replay.allocators[0].caches {
        let row = rows.entry(cache.cache.clone()).or_default();
        (row.replay_objects, row.replay_slabs) = (cache.objects_end, cache.slabs_end);
    }
    let mut rows: Vec<_> = rows
        .into_iter()
        .map(|(cache, row)| Row { allocator: allocator.to_owned(), cache, ..row })
        .filter(|row| row.guest_slabs + row.replay_slabs > 0)
        .collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.guest_slabs.abs_diff(row.replay_slabs)));
    rows
}

fn summary(allocator: &str, rows: &[Row]) -> String {
    let off = |row: &Row| row.guest_slabs.abs_diff(row.replay_slabs);
    let count = |most: u64| rows.iter().filter(|row| off(row) <= most).count();
    let total = |read: fn(&Row) -> u64| rows.iter().map(read).sum::<u64>();
    format!(
        "{allocator}: {} caches with slabs, {} with the same number in replay, {} with at most one \
         more or less; {} slabs in the guest, {} in replay",
        rows.len(),
        count(0),
        count(1),
        total(|row| row.guest_slabs),
        total(|row| row.replay_slabs)
    )
}

impl Report for Comparison {
    const SCHEMA: &'static str = "slablab.kernel-slabs/1";

    fn text(&self, page: &mut Page) {
        self.facts.iter().for_each(|fact| page.line(fact));
        for rows in self.rows.chunk_by(|a, b| a.allocator == b.allocator) {
            page.heading(&format!("{}: caches that differ most", rows[0].allocator));
            page.table(&table(&rows[..rows.len().min(self.lines)]));
        }
        page.line("");
        page.line(format!("traces and consoles: {}", self.folder.display()));
    }

    fn csv(&self) -> Table {
        table(&self.rows)
    }
}

fn table(rows: &[Row]) -> Table {
    let mut table = Table::new([
        Column::name("allocator", "allocator"),
        Column::name("cache", "cache"),
        Column::number("objects, guest", "guest_objects"),
        Column::number("replay", "replay_objects"),
        Column::number("slabs, guest", "guest_slabs"),
        Column::number("replay", "replay_slabs"),
    ]);
    for row in rows {
        table.row([
            Cell::text(&row.allocator),
            Cell::text(&row.cache),
            Cell::Count(row.guest_objects),
            Cell::Count(row.replay_objects),
            Cell::Count(row.guest_slabs),
            Cell::Count(row.replay_slabs),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_differ_most_come_first_and_the_rest_is_counted() {
        let row = |cache: &str, guest_slabs, replay_slabs| Row {
            cache: cache.into(),
            guest_slabs,
            replay_slabs,
            ..Row::default()
        };
        let rows = [row("a", 9, 3), row("b", 4, 5), row("c", 2, 2)];
        assert_eq!(
            summary("slub", &rows),
            "slub: 3 caches with slabs, 1 with the same number in replay, 2 with at most one more \
             or less; 15 slabs in the guest, 10 in replay"
        );
    }
}
