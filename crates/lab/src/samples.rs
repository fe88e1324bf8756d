//! Two columns of numbers from a CSV file: any measurement that was made elsewhere.
//!
//! How it works: the first row names the columns; lines that start with `#` are remarks. Each column is a variant, each
//! row a pair of runs. Columns may differ in length: their ends may be empty.

use std::path::Path;

use slablab_report::Group;

use crate::{Error, Result};

/// Two samples that came out of one file.
#[derive(Debug, Clone)]
pub struct Pair {
    /// The baseline
    pub baseline: Group,
    /// The candidate
    pub candidate: Group,
}

/// Reads two columns of `path`: those named, or else the first two with numbers.
///
/// # Errors
///
/// If the file cannot be read, has no such columns, or a cell in them is no number.
pub fn read_csv(path: &Path, columns: Option<(&str, &str)>) -> Result<Pair> {
    let unreadable = |reason: String| Error::Unreadable { path: path.to_owned(), reason };
    let file = std::fs::File::open(path).map_err(Error::io(path, "read the columns"))?;
    let mut reader = csv::ReaderBuilder::new()
        .comment(Some(b'#'))
        .trim(csv::Trim::All)
        .flexible(true)
        .from_reader(file);
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
    let place = |name: &str| {
        head.iter().position(|known| known == name).ok_or_else(|| {
            let known: Vec<&str> = head.iter().collect();
            unreadable(format!("has no column '{name}'; it has: {}", known.join(", ")))
        })
    };
    let (first, second) = match columns {
        Some((first, second)) => (place(first)?, place(second)?),
        None => two_columns(&head, &records).map_err(unreadable)?,
    };
    let group = |at: usize| column(&head, &records, at).map_err(unreadable);
    Ok(Pair { baseline: group(first)?, candidate: group(second)? })
}

/// Returns the first two columns whose first cell is a number; two columns in all are taken as they are.
fn two_columns(
    head: &csv::StringRecord,
    records: &[csv::StringRecord],
) -> std::result::Result<(usize, usize), String> {
    if head.len() == 2 {
        return Ok((0, 1));
    }
    let is_number = |at: &usize| {
        records.first().and_then(|r| r.get(*at)).is_some_and(|cell| cell.parse::<f64>().is_ok())
    };
    let mut numbers = (0..head.len()).filter(is_number);
    match (numbers.next(), numbers.next()) {
        (Some(first), Some(second)) => Ok((first, second)),
        _ => Err(format!(
            "needs two columns of numbers; its columns are: {}",
            head.iter().collect::<Vec<_>>().join(", ")
        )),
    }
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
                    "line {line}: column '{name}' has '{cell}', which is no number"
                ));
            }
        }
    }
    if values.is_empty() {
        return Err(format!("column '{name}' has no numbers"));
    }
    Ok(Group { name: name.to_owned(), values })
}
