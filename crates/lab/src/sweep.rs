//! A sweep: a plan that names no machine. Any number of machines run it in shards, which are merged afterwards.
//!
//! # How it works
//! `FOLDER/plan.json` is the plan; `FOLDER/shards/K-of-N.HOST.KEY/` has the rows that one host in one environment made of
//! shard K. Point i belongs to shard i mod N + 1, so all variants of a point stay interleaved on one machine. If another
//! machine continues a shard (a task that was requeued), it gets a folder there, and leaves out the rounds that are whole
//! elsewhere: no round is split between two machines. One process writes each folder, under a lock, so a file system shared
//! by a cluster is enough.
//!
//! # Invariants
//! The plan in a shard's folder is the sweep's except for its environment; neither ever changes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::experiments::find;
use crate::journal::{FILE, Journal, Row};
use crate::plan::{Cell, Plan};
use crate::planning::content_key;
use crate::run::{Stage, carry_out};

/// The folder of a sweep in which shards leave their rows.
const SHARDS: &str = "shards";

/// One part of a sweep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// Its number, from 1
    number: usize,
    /// The number of parts
    count: usize,
}

impl Shard {
    /// The whole sweep.
    pub const WHOLE: Self = Self { number: 1, count: 1 };
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let numbers =
            text.split_once('/').and_then(|(k, n)| Some((k.parse().ok()?, n.parse().ok()?)));
        match numbers {
            Some((number, count)) if (1..=count).contains(&number) => Ok(Self { number, count }),
            _ => Err("write K/N, from 1/N to N/N".to_owned()),
        }
    }
}

impl std::fmt::Display for Shard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.number, self.count)
    }
}

/// A round at a point, which a machine runs as a whole.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Block {
    /// Warm-ups come first
    pub(crate) counted: bool,
    /// The round
    pub(crate) round: usize,
    /// The point
    pub(crate) point: String,
}

impl Block {
    pub(crate) fn of_cell(cell: &Cell) -> Self {
        Self { counted: !cell.warmup, round: cell.round, point: cell.point.clone() }
    }

    pub(crate) fn of_row(row: &Row) -> Self {
        Self { counted: !row.warmup, round: row.round, point: row.point.clone() }
    }
}

/// The result of running a shard.
#[derive(Debug)]
pub struct ShardRun {
    /// The folder of its rows
    pub folder: PathBuf,
    /// How many cells the shard has
    pub cells: usize,
    /// How many of them had their row before
    pub done_before: usize,
    /// How many rows were added
    pub added: usize,
}

/// A plan in a folder, ready to be run in shards.
#[derive(Debug)]
pub struct Sweep {
    /// The folder
    pub folder: PathBuf,
    /// The plan; its environment is empty
    pub plan: Plan,
}

impl Sweep {
    /// Puts `plan` into `folder`, without the machine that it was made on; the same plan may be there already.
    ///
    /// # Errors
    ///
    /// If the folder has another plan or foreign files, or cannot be written.
    pub fn create(folder: &Path, plan: Plan) -> Result<Self> {
        let input = match plan.input.as_deref() {
            Some(path) => Some(path.canonicalize().map_err(Error::io(path, "find the input"))?),
            None => None,
        };
        let plan = Plan { environment: Environment::default(), input, ..plan };
        if folder.exists() {
            match Plan::read(folder)? {
                Some(there) if there == plan => {}
                Some(there) => {
                    let what = there.difference(&plan).unwrap_or_else(|| "its machine".to_owned());
                    return Err(Error::Request(format!(
                        "{}: has another plan, which differs in {what}; take another folder",
                        folder.display()
                    )));
                }
                None => refuse_files(folder)?,
            }
        }
        fs::create_dir_all(folder).map_err(Error::io(folder, "make the folder"))?;
        plan.write(folder)?;
        Ok(Self { folder: folder.to_owned(), plan })
    }

    /// Opens the sweep in `folder`.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub fn open(folder: &Path) -> Result<Self> {
        let unreadable = Error::unreadable(folder);
        let Some(plan) = Plan::read(folder)? else {
            let none = "has no plan.json; 'slablab lab plan EXPERIMENT -o FOLDER' makes one";
            return Err(unreadable(none.to_owned()));
        };
        if !plan.is_for_any_machine() {
            return Err(unreadable(format!(
                "is the result of a run on '{}', not a plan; 'slablab lab plan EXPERIMENT -o FOLDER' makes one",
                plan.environment.host
            )));
        }
        Ok(Self { folder: folder.to_owned(), plan })
    }

    /// Returns into how many shards it can be split.
    pub fn shards_max(&self) -> usize {
        self.plan.design.points.len()
    }

    /// Returns the cells of `shard`, in order.
    pub fn cells(&self, shard: Shard) -> Vec<Cell> {
        let points = self.plan.design.points.iter().enumerate();
        let own = points.filter(|(at, _)| at % shard.count == shard.number - 1);
        let own: BTreeSet<&String> = own.map(|(_, point)| point).collect();
        self.plan.cells().into_iter().filter(|cell| own.contains(&cell.point)).collect()
    }

    /// Runs the rest of `shard` on this machine.
    ///
    /// # Errors
    ///
    /// If there are more shards than points, the input differs from the plan's, or a cell cannot be measured.
    pub fn run(&self, shard: Shard, progress: &mut dyn FnMut(Stage<'_>)) -> Result<ShardRun> {
        if shard.count > self.shards_max() {
            return Err(Error::Request(format!(
                "{}: --shard {shard}: a sweep is split by its points, and this one has {}; all variants of a point stay \
                 on one machine",
                self.folder.display(),
                self.shards_max()
            )));
        }
        self.check_input()?;
        let here = Plan { environment: Environment::of_this_machine(), ..self.plan.clone() };
        let folder = self.folder.join(SHARDS).join(name(shard, &here.environment));
        let mut cells = self.cells(shard);
        let all = cells.len();
        let elsewhere = self.whole_elsewhere(&folder)?;
        cells.retain(|cell| !elsewhere.contains(&Block::of_cell(cell)));
        let left_out = all - cells.len();
        let added = match cells.is_empty() {
            true => 0,
            false => carry_out(find(&self.plan.experiment)?, &here, &folder, &cells, progress)?,
        };
        Ok(ShardRun { folder, cells: all, done_before: left_out + cells.len() - added, added })
    }

    /// Returns the folders in which shards left their rows, in order of their names.
    ///
    /// # Errors
    ///
    /// If the folder cannot be read.
    pub(crate) fn shard_folders(&self) -> Result<Vec<PathBuf>> {
        let parent = self.folder.join(SHARDS);
        let failed = || Error::io(&parent, "read the shards");
        let entries = match fs::read_dir(&parent) {
            Ok(entries) => entries,
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(e) => return Err(failed()(e)),
        };
        let folders = entries.map(|entry| Ok(entry.map_err(failed())?.path()));
        let mut folders: Vec<PathBuf> = folders.collect::<Result<_>>()?;
        folders.retain(|folder| folder.is_dir());
        folders.sort();
        Ok(folders)
    }

    /// Returns the cells of each block.
    pub(crate) fn blocks(&self) -> BTreeMap<Block, Vec<Cell>> {
        let mut blocks: BTreeMap<Block, Vec<Cell>> = BTreeMap::new();
        for cell in self.plan.cells() {
            blocks.entry(Block::of_cell(&cell)).or_default().push(cell);
        }
        blocks
    }

    /// Returns the blocks that are whole in a journal other than that in `own`.
    fn whole_elsewhere(&self, own: &Path) -> Result<BTreeSet<Block>> {
        let mut whole = BTreeSet::new();
        for folder in self.shard_folders()? {
            // Another shard's folder that has no rows yet is being made.
            if folder == own || !folder.join(FILE).exists() {
                continue;
            }
            let mut rows: BTreeMap<Block, usize> = BTreeMap::new();
            for row in Journal::read(&folder)? {
                *rows.entry(Block::of_row(&row)).or_default() += 1;
            }
            let variants = self.plan.design.variants.len();
            whole.extend(rows.into_iter().filter(|(_, n)| *n == variants).map(|(block, _)| block));
        }
        Ok(whole)
    }

    fn check_input(&self) -> Result<()> {
        let Some(input) = &self.plan.input else { return Ok(()) };
        if content_key(input)? == self.plan.input_key {
            return Ok(());
        }
        Err(Error::Incomparable(format!(
            "{}: is not the file that {} was made for: its content is another; restore it, or make a new plan",
            input.display(),
            self.folder.display()
        )))
    }
}

/// Returns the name of the folder of a shard's rows from one machine.
fn name(shard: Shard, environment: &Environment) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let host: String =
        environment.host.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
    format!("{}-of-{}.{host}.{}", shard.number, shard.count, &environment.key()[..8])
}

fn refuse_files(folder: &Path) -> Result<()> {
    let failed = || Error::io(folder, "read the folder");
    if fs::read_dir(folder).map_err(failed())?.next().is_none() {
        return Ok(());
    }
    let folder = folder.display();
    Err(Error::Request(format!("{folder}: has files and no plan of the lab; take another folder")))
}
