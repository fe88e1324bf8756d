//! What other programs measured: their own output, or tables that people keep of it.
//!
//! # How it works
//! A file is known by what is in it, and each kind has a reader of its own, which gives [`Sample`]s: the values of one metric
//! of one variant. [`sides`] finds which of them belong together: the variants of a file, or the same metrics of two files.
//!
//! # Invariants
//! Only values of the same metric are compared, and a column that counts is left out. What has a mean and a deviation alone
//! is never tested.

mod asked;
mod hackbench;
mod hyperfine;
mod lines;
mod mean;
mod perf_bench;
mod perf_stat;
mod plain;
mod sample;
mod sides;
mod table;
mod time;

use std::io::Read;
use std::path::Path;

use crate::error::{Error, Result};

pub use self::asked::Asked;
pub use self::sample::{Measured, Sample, Values};
pub use self::sides::{Side, Sides, sides};
pub(crate) use self::table::{is_called_like_metric, is_long, is_no_value};

/// Bytes of a file of results at most.
const BYTES_MAX: u64 = 256 << 20;

/// A reader of a kind of text: nothing if the text is of another kind.
type ReadText = fn(&str) -> Option<std::result::Result<Measured, String>>;

/// The readers; those that are known by words that nothing else has come first.
const READERS: [ReadText; 8] = [
    hyperfine::read,
    perf_stat::read,
    perf_bench::read,
    hackbench::read,
    time::read,
    mean::read,
    plain::read,
    table::read,
];

/// What is read, as refusals say it.
const READABLE: &str = "what is read: the output of hackbench, perf stat, perf bench, time and hyperfine (also its JSON), tables \
    with commas, tabs or semicolons, one value a line, and lines with a mean and a deviation";

/// Reads what a program measured (`-` is standard input).
///
/// # Errors
///
/// If the file cannot be read, or is of no kind that is known.
pub fn measured(path: &Path) -> Result<Measured> {
    let file: Box<dyn Read> = match path == Path::new("-") {
        true => Box::new(std::io::stdin()),
        false => Box::new(std::fs::File::open(path).map_err(Error::io(path, "read the results"))?),
    };
    let mut bytes = Vec::new();
    file.take(BYTES_MAX).read_to_end(&mut bytes).map_err(Error::io(path, "read the results"))?;
    of_text(&String::from_utf8_lossy(&bytes)).map_err(Error::unreadable(path))
}

/// As [`measured`], of a text.
pub(crate) fn of_text(text: &str) -> std::result::Result<Measured, String> {
    if text.trim().is_empty() {
        return Err("is empty".to_owned());
    }
    match READERS.iter().find_map(|read| read(text)) {
        Some(measured) => measured,
        None => Err(format!("has no values that are known; {READABLE}")),
    }
}

#[cfg(test)]
mod tests;
