//! The rows of a sweep's shards as one result.
//!
//! # How it works
//! Every shard's plan and every row is checked against the plan. Each round at a point is taken whole from one journal: the
//! one whose first row of it is the oldest. Copies of it in other journals are duplicates, and are named; where the round
//! measured counts, which are the same in every run, a duplicate must have the same counts. A round that no journal has
//! whole is a hole. Lines are copied as they were written.
//!
//! # Invariants
//! The result has each cell once or not at all, in the order of the plan; all rows of a round come from one
//! machine.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde::Serialize;
use slablab_host::{Access, write_whole};

use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::journal::{self, Journal, Row, accelerator};
use crate::plan::{Cell, Plan};
use crate::request::Nature;
use crate::sweep::{Block, Sweep};

/// The result of a merge.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Merged {
    /// Cells of the plan
    pub cells: usize,
    /// Cells that have their row
    pub merged: usize,
    /// The hosts that ran them
    pub hosts: BTreeSet<String>,
    /// The journals, in the order of their names
    pub shards: Vec<ShardRows>,
    /// Cells without a row, in words
    pub holes: Vec<String>,
    /// Rows that were left out because their round was taken from another journal, in words
    pub duplicates: Vec<String>,
}

/// The contribution of one journal.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ShardRows {
    /// Its folder
    pub folder: PathBuf,
    /// Its host
    pub host: String,
    /// Rows in it
    pub rows: usize,
    /// Rows taken from it
    pub taken: usize,
    /// Whether its last line was cut off in the middle and does not count
    pub torn: bool,
}

/// Whether a result with holes is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holes {
    /// It is not
    Refuse,
    /// It is, without the rounds that no machine finished
    Keep,
}

/// For each cell that is taken: the number of its source, and the number of its line there.
type Taken = BTreeMap<usize, (usize, usize)>;

/// A journal that was read.
struct Source {
    folder: PathBuf,
    environment: Environment,
    lines: Vec<(Row, String)>,
    torn: bool,
}

impl Source {
    fn read(folder: &Path, plan: &Plan, cells: &[Cell]) -> Result<Self> {
        let unreadable = Error::unreadable(folder);
        let Some(own) = Plan::read(folder)? else {
            return Err(unreadable(
                "has rows of a shard and no plan.json; take it away".to_owned(),
            ));
        };
        if let Some(what) = plan.difference(&own) {
            return Err(unreadable(format!(
                "was run under another plan, which differs in {what}; restore the plan, or take this shard away and run it again"
            )));
        }
        let (lines, torn) = Journal::read_lines(folder)?;
        for (row, _) in &lines {
            check(row, plan, &own, cells).map_err(&unreadable)?;
        }
        Ok(Self { folder: folder.to_owned(), environment: own.environment, lines, torn })
    }
}

/// Checks that `row` belongs to the plan's cell with its number, and to the machine of its shard.
fn check(row: &Row, plan: &Plan, own: &Plan, cells: &[Cell]) -> std::result::Result<(), String> {
    let number = row.cell;
    let Some(cell) = cells.get(number) else {
        return Err(format!("has a row of cell {number}, and the plan has {} cells", cells.len()));
    };
    let found = Cell {
        index: number,
        round: row.round,
        warmup: row.warmup,
        variant: row.variant.clone(),
        point: row.point.clone(),
    };
    if found != *cell {
        let (found, planned) = (found.words(), cell.words());
        return Err(format!(
            "cell {number} is '{found}' here and '{planned}' in the plan: the plan was changed"
        ));
    }
    if row.work_key != plan.work_key(accelerator(&row.detail)) {
        return Err(format!(
            "cell {number} measured other work than the plan says: the plan or the row was changed"
        ));
    }
    let (here, there) = (&row.environment, &own.environment);
    if here.host != there.host || here.factors() != there.factors() {
        return Err(format!(
            "cell {number} is of another machine than its shard: the row was changed"
        ));
    }
    Ok(())
}

/// Merges the shards of `sweeps`, which are copies of one plan, into a result in the new folder `output`.
///
/// With holes and [`Holes::Refuse`], nothing is written; the answer names what is missing.
///
/// # Errors
///
/// If plans differ, a row belongs to none of them, duplicates of counts differ, or the folder exists
/// already.
pub fn merge(sweeps: &[Sweep], output: &Path, holes: Holes) -> Result<Merged> {
    let [first, rest @ ..] = sweeps else {
        return Err(Error::Request("nothing to merge: no plan was given".to_owned()));
    };
    for other in rest {
        if let Some(what) = first.plan.difference(&other.plan) {
            return Err(Error::Incomparable(format!(
                "{} and {} are different plans: they differ in {what}",
                first.folder.display(),
                other.folder.display()
            )));
        }
    }
    if output.exists() {
        let output = output.display();
        return Err(Error::Request(format!(
            "{output}: is there already; take a new folder with -o"
        )));
    }
    let cells = first.plan.cells();
    let mut sources = Vec::new();
    for sweep in sweeps {
        for folder in sweep.shard_folders()? {
            sources.push(Source::read(&folder, &first.plan, &cells)?);
        }
    }
    if let [one, others @ ..] = &sources[..] {
        let version = |source: &Source| source.environment.slablab.clone();
        if let Some(other) = others.iter().find(|other| version(other) != version(one)) {
            return Err(Error::Incomparable(format!(
                "{} was run by slablab {}, {} by {}: run one of them again",
                one.folder.display(),
                version(one),
                other.folder.display(),
                version(other)
            )));
        }
    }
    let (taken, mut merged) = choose(first, &sources)?;
    merged.cells = cells.len();
    merged.merged = taken.len();
    if merged.merged == 0 || (!merged.holes.is_empty() && holes == Holes::Refuse) {
        return Ok(merged);
    }
    let environments: BTreeSet<_> =
        taken.values().map(|at| &sources[at.0].environment.host).collect();
    // A result of one machine equals what that machine would have made alone.
    let environment = match environments.len() {
        1 => taken.values().next().map(|at| sources[at.0].environment.clone()),
        _ => None,
    };
    let plan = Plan { environment: environment.unwrap_or_default(), ..first.plan.clone() };
    let lines = taken.values().map(|(source, line)| sources[*source].lines[*line].1.as_str());
    write(output, &plan, &lines.collect::<String>())?;
    Ok(merged)
}

/// Returns the rows that are taken, and the remarks.
fn choose(sweep: &Sweep, sources: &[Source]) -> Result<(Taken, Merged)> {
    let mut found: BTreeMap<Block, BTreeMap<usize, Vec<usize>>> = BTreeMap::new();
    for (at, source) in sources.iter().enumerate() {
        for (line, (row, _)) in source.lines.iter().enumerate() {
            found.entry(Block::of_row(row)).or_default().entry(at).or_default().push(line);
        }
    }
    let mut taken = Taken::new();
    let (mut holes, mut duplicates) = (Vec::new(), Vec::new());
    for (block, cells) in sweep.blocks() {
        let here = found.remove(&block).unwrap_or_default();
        let row = |source: usize, line: usize| &sources[source].lines[line].0;
        let oldest = |(source, lines): &(&usize, &Vec<usize>)| {
            lines.iter().map(|line| row(**source, *line).started_unix_ms).min()
        };
        let whole = here.iter().filter(|(_, lines)| lines.len() == cells.len()).min_by_key(oldest);
        let Some((&chosen, lines)) = whole else {
            let has = |cell: &Cell| {
                here.iter().any(|(at, lines)| lines.iter().any(|l| row(*at, *l).cell == cell.index))
            };
            let missing = cells.iter().filter(|cell| here.len() > 1 || !has(cell));
            holes.extend(missing.map(|cell| format!("cell {}: {}", cell.index, cell.words())));
            // The rows that one machine has of a round are kept; halves of several machines do not
            // make a round.
            if let (1, Some((&at, lines))) = (here.len(), here.iter().next()) {
                taken.extend(lines.iter().map(|line| (row(at, *line).cell, (at, *line))));
            }
            continue;
        };
        taken.extend(lines.iter().map(|line| (row(chosen, *line).cell, (chosen, *line))));
        for (&other, lines) in here.iter().filter(|(at, _)| **at != chosen) {
            for line in lines {
                let twin = row(other, *line);
                let kept = taken[&twin.cell];
                same_counts(&sweep.plan, row(kept.0, kept.1), twin, &sources[other].folder)?;
                duplicates.push(format!(
                    "cell {}: {} is in {}, too; that of {} is taken",
                    twin.cell,
                    cells
                        .iter()
                        .find(|c| c.index == twin.cell)
                        .map_or_else(String::new, Cell::words),
                    sources[other].folder.display(),
                    sources[chosen].folder.display()
                ));
            }
        }
    }
    let shard = |(at, source): (usize, &Source)| ShardRows {
        folder: source.folder.clone(),
        host: source.environment.host.clone(),
        rows: source.lines.len(),
        taken: taken.values().filter(|(from, _)| *from == at).count(),
        torn: source.torn,
    };
    let shards: Vec<ShardRows> = sources.iter().enumerate().map(shard).collect();
    let hosts = shards.iter().filter(|s| s.taken > 0).map(|s| s.host.clone()).collect();
    Ok((taken, Merged { cells: 0, merged: 0, hosts, shards, holes, duplicates }))
}

/// Checks that values which are the same in every run are equal in two rows of a cell.
fn same_counts(plan: &Plan, kept: &Row, twin: &Row, folder: &Path) -> Result<()> {
    for metric in plan.metrics.iter().filter(|metric| metric.nature == Nature::Exact) {
        let (a, b) = (kept.values.get(&metric.key), twin.values.get(&metric.key));
        if a != b {
            let value = |v: Option<&f64>| v.map_or_else(|| "none".to_owned(), f64::to_string);
            return Err(Error::Incomparable(format!(
                "{}: {} of cell {} is {} here and {} in another shard, and it is the same in every run: one of the machines \
                 does not run what the plan says",
                folder.display(),
                metric.key,
                kept.cell,
                value(b),
                value(a)
            )));
        }
    }
    Ok(())
}

/// Writes a result folder; it gets its name when it is whole.
fn write(folder: &Path, plan: &Plan, lines: &str) -> Result<()> {
    let parent = slablab_host::folder_of(folder);
    let beside = tempfile::Builder::new()
        .prefix(".merge-")
        // The mode is that of mkdir, from which the umask is subtracted.
        .permissions(fs::Permissions::from_mode(0o777))
        .tempdir_in(parent)
        .map_err(Error::io(folder, "make the result folder"))?;
    plan.write(beside.path())?;
    let rows = beside.path().join(journal::FILE);
    write_whole(&rows, lines.as_bytes(), Access::Umask)
        .map_err(Error::io(&rows, "write the rows"))?;
    fs::rename(beside.path(), folder).map_err(Error::io(folder, "name the result folder"))?;
    // Its old name is gone, and nothing is left to be removed.
    let _ = beside.keep();
    Ok(())
}
