//! The raw file: one JSON object a line, the first says how the rest came about.
//!
//! # Invariants
//!
//! - A row is written whole and flushed before the next thing happens; nothing is ever rewritten.
//! - The last line may be cut off by a full disk or a power cut; every other line parses.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use slablab_stats::Direction;

use crate::{Error, Result};

/// The schema of a raw file; the number goes up when a field changes its meaning.
pub(crate) const SCHEMA: &str = "slablab.kernel-raw/1";

/// The first line: everything that all rows have in common.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// [`SCHEMA`]
    pub schema: String,
    /// The experiment
    pub experiment: String,
    /// Its question
    pub question: String,
    /// Its variants; the first is the baseline
    pub variants: Vec<String>,
    /// Its metrics: field, unit, direction
    pub metrics: Vec<(String, String, Direction)>,
    /// Fields that tell rows of one load apart
    pub row_params: Vec<String>,
    /// What the order was drawn from
    pub seed: u64,
    /// How often each variant was to run
    pub rounds: u32,
    /// The accelerator: `kvm` or `tcg`
    pub accel: String,
    /// Whether times are emulated: fit for comparison, not for absolute statements
    pub emulated: bool,
    /// Why this accelerator
    pub accel_why: String,
    /// The command line
    pub command: Vec<String>,
    /// When it began, seconds since 1970
    pub began_unix_seconds: u64,
    /// The host's kernel
    pub host_release: String,
    /// The host's processor
    pub host_cpu: String,
    /// The host's processors
    pub host_cpus: usize,
    /// What was booted, by variant
    pub kernels: BTreeMap<String, KernelNote>,
}

/// What was booted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelNote {
    /// `uname -r`
    pub release: String,
    /// The key of the build
    pub key: String,
    /// What it was compiled with
    pub compiler: String,
    /// Boot parameters
    pub arguments: Vec<String>,
}

/// One row: what a guest measured, and where that stands in the plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// The variant
    pub variant: String,
    /// Virtual CPUs
    pub cpus: u32,
    /// The round
    pub round: u32,
    /// The boot, from 0 in the order they ran
    pub boot: u32,
    /// What tells the load from others
    pub params: BTreeMap<String, Value>,
    /// What was measured
    pub metrics: BTreeMap<String, f64>,
}

/// A raw file being written.
#[derive(Debug)]
pub struct Raw {
    path: PathBuf,
    file: File,
}

impl Raw {
    /// Makes a raw file; there must not be one yet.
    ///
    /// # Errors
    ///
    /// When there is one, or it cannot be written.
    pub fn create(path: &Path, header: &Header) -> Result<Self> {
        let file = OpenOptions::new().write(true).create_new(true).open(path).map_err(|e| {
            let why = format!("cannot make the file: {e}. Raw rows are never overwritten");
            Error::Raw { path: path.to_owned(), why }
        })?;
        let mut raw = Self { path: path.to_owned(), file };
        raw.write(header)?;
        Ok(raw)
    }

    /// Appends a row.
    ///
    /// # Errors
    ///
    /// When it cannot be written: a full disk, say.
    pub fn append(&mut self, row: &Observation) -> Result<()> {
        self.write(row)
    }

    fn write(&mut self, value: &impl Serialize) -> Result<()> {
        let mut line = serde_json::to_vec(value).expect("maps of strings and numbers");
        line.push(b'\n');
        self.file.write_all(&line).and_then(|()| self.file.sync_data()).map_err(|e| Error::Raw {
            path: self.path.clone(),
            why: format!("cannot write a row: {e}"),
        })
    }
}

/// Reads a raw file.
///
/// # Errors
///
/// When it is not one, or a line other than a cut-off last one does not parse.
pub fn read_raw(path: &Path) -> Result<(Header, Vec<Observation>)> {
    let bad = |why: String| Error::Raw { path: path.to_owned(), why };
    let text = fs::read_to_string(path).map_err(|e| bad(format!("cannot read: {e}")))?;
    let mut lines = text.split_inclusive('\n').enumerate();
    let (_, first) = lines.next().ok_or_else(|| bad("empty".into()))?;
    let header: Header = serde_json::from_str(first)
        .map_err(|e| bad(format!("line 1: no header of a raw file of slablab kernel run: {e}")))?;
    if header.schema != SCHEMA {
        return Err(bad(format!("schema {}; this slablab reads {SCHEMA}", header.schema)));
    }
    let mut rows = Vec::new();
    for (i, line) in lines {
        match serde_json::from_str(line) {
            Ok(row) => rows.push(row),
            // A line without its end was being written when something stopped us.
            Err(_) if !line.ends_with('\n') => {}
            Err(e) => return Err(bad(format!("line {}: {e}", i + 1))),
        }
    }
    Ok((header, rows))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn header(variants: &[&str]) -> Header {
        Header {
            schema: SCHEMA.into(),
            experiment: "test".into(),
            question: "?".into(),
            variants: variants.iter().map(|name| (*name).to_owned()).collect(),
            metrics: vec![("seconds".into(), "s".into(), Direction::LessIsBetter)],
            row_params: vec![],
            seed: 1,
            rounds: 2,
            accel: "tcg".into(),
            emulated: true,
            accel_why: "test".into(),
            command: vec![],
            began_unix_seconds: 0,
            host_release: String::new(),
            host_cpu: String::new(),
            host_cpus: 1,
            kernels: BTreeMap::new(),
        }
    }

    pub(crate) fn row(variant: &str, round: u32, seconds: f64) -> Observation {
        Observation {
            variant: variant.into(),
            cpus: 1,
            round,
            boot: round,
            params: BTreeMap::new(),
            metrics: BTreeMap::from([("seconds".into(), seconds)]),
        }
    }

    #[test]
    fn rows_come_back_and_a_cut_off_last_line_is_left_out() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("raw.jsonl");
        let mut raw = Raw::create(&path, &header(&["a"])).unwrap();
        let rows = [row("a", 0, 1.5), row("a", 1, 2.5)];
        rows.iter().for_each(|row| raw.append(row).unwrap());
        assert_eq!(read_raw(&path).unwrap(), (header(&["a"]), rows.to_vec()));
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, &text[..text.len() - 9]).unwrap();
        assert_eq!(read_raw(&path).unwrap().1, rows[..1]);
    }

    #[test]
    fn a_broken_line_is_named_and_a_file_is_never_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("raw.jsonl");
        Raw::create(&path, &header(&["a"])).unwrap();
        let again = Raw::create(&path, &header(&["a"])).unwrap_err().to_string();
        assert!(again.contains("never overwritten"), "{again}");
        fs::write(&path, fs::read_to_string(&path).unwrap() + "{}\n{}\n").unwrap();
        let error = read_raw(&path).unwrap_err().to_string();
        assert!(error.contains("raw.jsonl: line 2: missing field"), "{error}");
        fs::write(&path, "hello\n").unwrap();
        assert!(read_raw(&path).unwrap_err().to_string().contains("line 1: no header"));
    }
}
