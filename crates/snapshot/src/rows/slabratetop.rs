//! bcc's `slabratetop`: `cache allocations bytes` of an interval.

use super::column;
use super::found::{Below, Found, counts, names};
use super::kind::Kind;
use super::row_reader::RowReader;
use crate::entry::Entry;

pub(super) const READER: RowReader = RowReader {
    is_heading,
    columns: &[&[column::name, column::count, column::count]],
    needs_heading: true,
    ..RowReader::new(Kind::Slabratetop, read)
};

pub(super) fn is_heading(words: &[&str]) -> bool {
    words.windows(3).any(|w| w == ["CACHE", "ALLOCS", "BYTES"])
}

pub(super) fn read(words: &[&str], below: Below) -> Found {
    if below == Below::Nothing {
        return Found::No;
    }
    let row = names(words).find(|at| words.len() == at + 3);
    let row = row.and_then(|at| Some((words[at], counts::<2>(&words[at + 1..])?)));
    row.map_or(Found::No, |(name, [objects, bytes])| {
        Found::Row(Entry {
            name: name.to_owned(),
            objects: Some(objects),
            live_bytes: Some(bytes),
            ..Entry::default()
        })
    })
}
