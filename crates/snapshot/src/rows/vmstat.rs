//! `vmstat -m`: `name active total size pages`, where the last number is that of objects in a slab.

use super::column;
use super::found::{Below, Found, counts, names};
use super::kind::Kind;
use super::row_reader::RowReader;
use crate::entry::Entry;

pub(super) const READER: RowReader = RowReader {
    is_heading,
    columns: &[&[column::name, column::count, column::count, column::count, column::count]],
    needs_heading: true,
    ..RowReader::new(Kind::Vmstat, read)
};

pub(super) fn is_heading(words: &[&str]) -> bool {
    words.windows(3).any(|w| w == ["Cache", "Num", "Total"])
}

pub(super) fn read(words: &[&str], below: Below) -> Found {
    if below == Below::Nothing {
        return Found::No;
    }
    let row = names(words).find(|at| words.len() == at + 5).and_then(|at| entry(&words[at..]));
    row.map_or(Found::No, Found::Row)
}

fn entry(row: &[&str]) -> Option<Entry> {
    let [active, total, size, _] = counts::<4>(&row[1..])?;
    (active <= total).then(|| Entry {
        name: row[0].to_owned(),
        objects: Some(active),
        slots: Some(total),
        object_bytes: Some(size),
        ..Entry::default()
    })
}
