//! Two columns of numbers from a CSV file, which may hold any measurement that was made elsewhere.
//!
//! # How it works
//! The first row names the columns; lines that start with `#` are comments. Each column is a variant, each
//! row a pair of runs. Columns may differ in length: their ends may be empty. A column that counts is none of values.

use std::io::Read;
use std::path::{Path, PathBuf};

use slablab_report::Group;

use crate::error::{Error, Result};
use crate::measured::{self, Measured};

/// Two samples from one file.
#[derive(Debug, Clone)]
pub struct Pair {
    /// The baseline
    pub baseline: Group,
    /// The candidate
    pub candidate: Group,
    /// Whether a further column counts the rows, so that the values of a row belong together
    pub is_counted: bool,
}

/// The text of a file with columns.
#[derive(Debug)]
pub struct CsvText {
    path: PathBuf,
    text: String,
}

impl CsvText {
    /// Reads `path`; `-` is standard input.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn read(path: &Path) -> Result<Self> {
        let io = |cause| Error::io(path, "read the columns")(cause);
        let bytes = match path == Path::new("-") {
            true => {
                let mut bytes = Vec::new();
                std::io::stdin().read_to_end(&mut bytes).map_err(io)?;
                bytes
            }
            false => std::fs::read(path).map_err(io)?,
        };
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Ok(Self { path: path.to_owned(), text })
    }

    /// Returns whether a column names the variants, and others are metrics.
    #[must_use]
    pub fn has_variants(&self) -> bool {
        measured::is_long(&self.text)
    }

    /// Returns the variants and their metrics.
    ///
    /// # Errors
    ///
    /// If there are none.
    pub fn measured(&self) -> Result<Measured> {
        measured::of_text(&self.text).map_err(Error::unreadable(&self.path))
    }

    /// Returns two columns: those named, or else the first two with values.
    ///
    /// # Errors
    ///
    /// If there are no such columns, or a cell in them is not a number.
    pub fn pair(&self, columns: Option<(&str, &str)>) -> Result<Pair> {
        let unreadable = Error::unreadable(&self.path);
        let mut reader = csv::ReaderBuilder::new()
            .comment(Some(b'#'))
            .trim(csv::Trim::All)
            .flexible(true)
            .from_reader(self.text.as_bytes());
        let head = reader.headers().map_err(|e| unreadable(e.to_string()))?.clone();
        if head.iter().all(str::is_empty) {
            return Err(unreadable(
                "is empty; the first row names the columns, the rest are numbers".to_owned(),
            ));
        }
        if let Some(number) = head.iter().find(|name| name.parse::<f64>().is_ok()) {
            return Err(unreadable(format!(
                "line 1 should name the columns, but has the number {number}; put a line such as \
                 'baseline,candidate' before it"
            )));
        }
        let records: Vec<csv::StringRecord> = reader
            .records()
            .collect::<std::result::Result<_, _>>()
            .map_err(|e| unreadable(e.to_string()))?;
        check_separator(&head).map_err(&unreadable)?;
        check_cells(&head, &records).map_err(&unreadable)?;
        let find = |name: &str| find_column(&head, name).map_err(&unreadable);
        let (first, second) = match columns {
            Some((first, second)) => (find(first)?, find(second)?),
            None => two_columns(&head, &records).map_err(&unreadable)?,
        };
        let group = |at: usize| column(&head, &records, at).map_err(&unreadable);
        let is_counted = (0..head.len()).any(|at| counts(&head, &records, at));
        Ok(Pair { baseline: group(first)?, candidate: group(second)?, is_counted })
    }
}

/// Returns whether a column counts, or says what was measured, and has no values.
fn counts(head: &csv::StringRecord, records: &[csv::StringRecord], at: usize) -> bool {
    let cells: Vec<&str> =
        records.iter().map(|record| record.get(at).unwrap_or_default()).collect();
    measured::is_no_value(&head[at], &cells)
}

/// Returns the column of this name, with or without its unit: answers call `kmalloc (s)` `kmalloc`.
fn find_column(head: &csv::StringRecord, name: &str) -> std::result::Result<usize, String> {
    if let Some(at) = head.iter().position(|known| known == name) {
        return Ok(at);
    }
    let is_same = |known: &str| split_unit(known).is_some_and(|(bare, _)| bare == name);
    let found: Vec<usize> = (0..head.len()).filter(|at| is_same(&head[*at])).collect();
    let known = head.iter().collect::<Vec<_>>().join(", ");
    match found[..] {
        [at] => Ok(at),
        [] => Err(format!("has no column '{name}'; it has: {known}")),
        _ => Err(format!("has several columns '{name}'; name one with its unit: {known}")),
    }
}

/// Splits a name such as `kmalloc (s)` into the name and the unit.
fn split_unit(name: &str) -> Option<(&str, &str)> {
    name.strip_suffix(')')?.rsplit_once(" (")
}

impl Pair {
    /// Takes the unit out of the names, when both columns have the same.
    pub fn take_unit(&mut self) -> Option<String> {
        let (baseline, unit) = split_unit(&self.baseline.name)?;
        let (candidate, other) = split_unit(&self.candidate.name)?;
        if unit != other {
            return None;
        }
        let (baseline, candidate, unit) =
            (baseline.to_owned(), candidate.to_owned(), unit.to_owned());
        (self.baseline.name, self.candidate.name) = (baseline, candidate);
        Some(unit)
    }
}

/// Returns the first two columns whose first cell is a number, and which do not count; of two columns in all both.
fn two_columns(
    head: &csv::StringRecord,
    records: &[csv::StringRecord],
) -> std::result::Result<(usize, usize), String> {
    let is_number = |at: &usize| {
        records.first().and_then(|r| r.get(*at)).is_some_and(|cell| cell.parse::<f64>().is_ok())
    };
    let has_values = |at: &usize| !counts(head, records, *at);
    let all = || head.iter().collect::<Vec<_>>().join(", ");
    let mut columns: Vec<usize> = (0..head.len()).filter(has_values).collect();
    if head.len() > 2 {
        columns.retain(is_number);
    }
    let [first, second, ..] = columns[..] else {
        return Err(format!("needs two columns of numbers; its columns are: {}", all()));
    };
    let are_metrics = [first, second].iter().all(|at| measured::is_called_like_metric(&head[*at]));
    if are_metrics {
        return Err(format!(
            "{} and {} are two metrics of one variant; compare the file with another one (slablab lab compare A B), or name \
             the columns (--columns); it has: {}",
            &head[first],
            &head[second],
            all()
        ));
    }
    Ok((first, second))
}

/// Refuses a file in which a spreadsheet has put another character than a comma between the columns.
fn check_separator(head: &csv::StringRecord) -> std::result::Result<(), String> {
    let used = [(';', "semicolons"), ('\t', "tabs")];
    match used.iter().find(|(separator, _)| head.len() == 1 && head[0].contains(*separator)) {
        Some((_, name)) => Err(format!(
            "has its columns between {name}; save it with commas between columns, and points in numbers"
        )),
        None => Ok(()),
    }
}

/// Refuses a row that has more cells than there are names: 1,5 is two cells and not a number.
fn check_cells(
    head: &csv::StringRecord,
    records: &[csv::StringRecord],
) -> std::result::Result<(), String> {
    let longer =
        |record: &&csv::StringRecord| record.iter().skip(head.len()).any(|c| !c.is_empty());
    let Some(record) = records.iter().find(longer) else { return Ok(()) };
    Err(format!(
        "line {} has {} cells, but the first row names {}; numbers are written with a point (1.5)",
        record.position().map_or(0, csv::Position::line),
        record.len(),
        slablab_report::counted(head.len() as u64, "column")
    ))
}

fn column(
    head: &csv::StringRecord,
    records: &[csv::StringRecord],
    at: usize,
) -> std::result::Result<Group, String> {
    let name = head.get(at).unwrap_or_default();
    let mut values = Vec::with_capacity(records.len());
    let mut gap = None;
    for record in records {
        let line = record.position().map_or(0, csv::Position::line);
        let cell = record.get(at).unwrap_or_default();
        if cell.is_empty() {
            gap.get_or_insert(line);
            continue;
        }
        if let Some(gap) = gap {
            return Err(format!(
                "line {gap}: column '{name}' has an empty cell with numbers below it"
            ));
        }
        match cell.parse::<f64>() {
            Ok(value) if value.is_finite() => values.push(value),
            _ => {
                return Err(format!(
                    "line {line}: column '{name}' has '{cell}', which is not a number"
                ));
            }
        }
    }
    if values.is_empty() {
        return Err(format!("column '{name}' has no numbers"));
    }
    Ok(Group { name: name.to_owned(), values })
}
