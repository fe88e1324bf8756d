//! `raw.jsonl`: one row for each observation, appended as it is made and never edited.
//!
//! # How it works
//! A row is one line, handed to the system in one write and synced before the next run starts. A line
//! is whole when it ends in a newline. When a run was killed in the middle of a write, the rest of the line is cut off as
//! the journal is opened again, and the cell runs once more. A lock keeps two runs from one folder.
//!
//! # Invariants
//! Rows of a journal have distinct cells. A row contains all that is needed to judge it alone.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::environment::Environment;
use crate::error::{Error, Result, with_schema};
use crate::request::Engine;

/// The schema of a row; the number goes up when a field changes its meaning.
pub(crate) const SCHEMA: &str = "slablab.lab.row/1";
/// The name of the file in a result folder.
pub(crate) const FILE: &str = "raw.jsonl";

/// The result of a cell at one of several points that it went through.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Part {
    /// The point
    pub point: String,
    /// The values, by the key of their metric
    pub values: BTreeMap<String, f64>,
}

/// One observation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Row {
    /// The schema
    pub schema: String,
    /// The experiment
    pub experiment: String,
    /// Where it ran
    pub engine: Engine,
    /// Which cell of the plan it is
    pub cell: usize,
    /// Its round
    pub round: usize,
    /// Whether it is kept and not counted
    pub warmup: bool,
    /// The variant
    pub variant: String,
    /// The point; empty when there is one only
    pub point: String,
    /// The values, by metric
    pub values: BTreeMap<String, f64>,
    /// The values at each point, where one cell goes through them all
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Part>,
    /// Further findings
    #[serde(default, skip_serializing_if = "serde_json::Value::is_null")]
    pub detail: serde_json::Value,
    /// The command that repeats it
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub command: String,
    /// When it started, since 1970
    pub started_unix_ms: u64,
    /// How long it took in total
    pub took_ms: u64,
    /// The load of the machine when it started: the mean number of runnable tasks over a minute
    pub load: f64,
    /// The identity of the work: rows with another one measured something else. It is empty in rows of the first
    /// version
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub work_key: String,
    /// The identity of the environment; empty in rows of the first version
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub environment_key: String,
    /// The machine
    #[serde(flatten)]
    pub environment: Environment,
}

#[cfg(test)]
impl Row {
    /// Returns a row of a guest with this detail and nothing else, for tests.
    pub(crate) fn with_detail(detail: serde_json::Value) -> Self {
        Self {
            schema: String::new(),
            experiment: String::new(),
            engine: Engine::Kernel,
            cell: 0,
            round: 0,
            warmup: false,
            variant: String::new(),
            point: String::new(),
            values: BTreeMap::new(),
            parts: Vec::new(),
            detail,
            command: String::new(),
            started_unix_ms: 0,
            took_ms: 0,
            load: 0.0,
            work_key: String::new(),
            environment_key: String::new(),
            environment: Environment::default(),
        }
    }
}

/// Returns how the guest of a row ran, from the row's detail; empty where there was none.
pub(crate) fn accelerator(detail: &serde_json::Value) -> &str {
    detail["accelerator"].as_str().unwrap_or_default()
}

/// An open `raw.jsonl`.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    done: BTreeSet<usize>,
}

impl Journal {
    /// Opens the journal of a result folder, and makes it if it does not exist.
    ///
    /// # Errors
    ///
    /// If it cannot be written, another run has it open, or has lines that are not rows.
    pub fn open(folder: &Path) -> Result<Self> {
        let path = folder.join(FILE);
        let options = || OpenOptions::new().create(true).append(true).read(true).open(&path);
        let mut file = options().map_err(Error::io(&path, "open the rows"))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Error::Request(format!(
                    "{}: another run is writing here; wait for it or take another folder",
                    path.display()
                )));
            }
            Err(TryLockError::Error(e)) => return Err(Error::io(&path, "lock the rows")(e)),
        }
        let whole = cut_torn_tail(&mut file, &path)?;
        let rows = parse(&whole, &path)?;
        Ok(Self { path, file, done: rows.iter().map(|row| row.cell).collect() })
    }

    /// Returns whether `cell` has its row.
    pub fn has(&self, cell: usize) -> bool {
        self.done.contains(&cell)
    }

    /// Returns how many cells have their row.
    pub fn len(&self) -> usize {
        self.done.len()
    }

    /// Returns whether no cell has its row yet.
    pub fn is_empty(&self) -> bool {
        self.done.is_empty()
    }

    /// Appends a row and waits until it is on the disk.
    ///
    /// # Errors
    ///
    /// If the disk is full or fails; a partly written row is cut off when the journal is opened again.
    ///
    /// # Panics
    ///
    /// If the cell has a row already.
    pub fn append(&mut self, row: &Row) -> Result<()> {
        assert!(!self.has(row.cell), "cell {} has its row", row.cell);
        let mut line =
            serde_json::to_vec(row).map_err(|e| Error::io(&self.path, "encode a row")(e.into()))?;
        line.push(b'\n');
        let write = |file: &mut File| {
            file.write_all(&line)?;
            // A pipe or a device has nothing to sync.
            file.sync_data().or_else(|e| match e.kind() {
                std::io::ErrorKind::InvalidInput => Ok(()),
                _ => Err(e),
            })
        };
        write(&mut self.file).map_err(Error::io(
            &self.path,
            "append a row; make room and run the same command again to continue",
        ))?;
        self.done.insert(row.cell);
        Ok(())
    }

    /// Reads all rows of a result folder, or of the file itself.
    ///
    /// # Errors
    ///
    /// If there is no such file, or a row is of another version or there twice.
    pub fn read(place: &Path) -> Result<Vec<Row>> {
        let path = if place.is_dir() { place.join(FILE) } else { place.to_owned() };
        let text = fs::read(&path).map_err(Error::io(&path, "read the rows"))?;
        parse(&text[..whole_lines(&text)], &path)
    }

    /// Reads all rows of a result folder, each with its line, and whether a torn line behind them was ignored.
    ///
    /// # Errors
    ///
    /// Fails as [`Journal::read`] does.
    pub(crate) fn read_lines(folder: &Path) -> Result<(Vec<(Row, String)>, bool)> {
        let path = folder.join(FILE);
        let text = fs::read(&path).map_err(Error::io(&path, "read the rows"))?;
        let whole = whole_lines(&text);
        let rows = parse(&text[..whole], &path)?;
        let lines =
            text[..whole].split_inclusive(|byte| *byte == b'\n').filter(|line| line.len() > 1);
        let lines = lines.map(|line| String::from_utf8_lossy(line).into_owned());
        Ok((rows.into_iter().zip(lines).collect(), whole < text.len()))
    }
}

/// Cuts off the bytes behind the last newline, and returns the rest.
fn cut_torn_tail(file: &mut File, path: &Path) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    // A device such as /dev/full cannot be read to its end; it has no rows.
    if file.metadata().is_ok_and(|meta| meta.is_file()) {
        file.read_to_end(&mut text).map_err(Error::io(path, "read the rows"))?;
    }
    let whole = whole_lines(&text);
    if whole < text.len() {
        file.set_len(whole as u64)
            .map_err(Error::io(path, "cut off a row that was not finished"))?;
        text.truncate(whole);
    }
    Ok(text)
}

/// Returns where the last whole line ends.
fn whole_lines(text: &[u8]) -> usize {
    text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1)
}

fn parse(text: &[u8], path: &Path) -> Result<Vec<Row>> {
    let mut rows: Vec<Row> = Vec::new();
    let mut seen = BTreeSet::new();
    for (number, line) in text.split(|byte| *byte == b'\n').enumerate() {
        if line.is_empty() {
            continue;
        }
        let wrong = |reason| Error::unreadable(path)(format!("line {}: {reason}", number + 1));
        let row: Row = with_schema(line, "row", SCHEMA).map_err(wrong)?;
        if !seen.insert(row.cell) {
            return Err(wrong(format!("cell {} is here twice; the file was edited", row.cell)));
        }
        rows.push(row);
    }
    Ok(rows)
}
