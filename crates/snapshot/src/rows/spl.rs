//! `/proc/spl/kmem/slab` of ZFS: `name flags size alloc slabsize objsize total alloc max total alloc max`, and what is in use
//! of memory that is short behind it. `-` stands for what a cache that Linux keeps does not tell.

use super::column;
use super::found::{Below, Found, names};
use super::kind::Kind;
use super::row_reader::RowReader;
use crate::entry::Entry;
use crate::line::count;

pub(super) const READER: RowReader = RowReader {
    is_heading,
    columns: &[&[
        column::name,
        column::flags,
        column::maybe_count,
        column::maybe_count,
        column::maybe_count,
        column::maybe_count,
        column::maybe_count,
        column::maybe_count,
        column::maybe_count,
        column::maybe_count,
        column::maybe_count,
        column::maybe_count,
    ]],
    columns_min: 2,
    ..RowReader::new(Kind::Spl, read)
};

/// Characters of flags, at least: `0x00020`.
const FLAGS_LEN: usize = 7;
/// Words of a row, but for those behind it.
const COLUMNS: usize = 12;

pub(super) fn is_heading(words: &[&str]) -> bool {
    words.windows(2).any(|w| w == ["slabsize", "objsize"])
}

pub(super) fn read(words: &[&str], _: Below) -> Found {
    let row = names(words).find_map(|at| entry(words.get(at..at + COLUMNS)?));
    match row {
        Some(row) => Found::Row(row),
        None if names(words).any(|at| is_begin(&words[at..])) => Found::Part(None),
        None => Found::No,
    }
}

/// Returns whether words are a row whose end is missing.
fn is_begin(row: &[&str]) -> bool {
    /// Words that do not come by chance.
    const WORDS_MIN: usize = 5;
    let is_short = (WORDS_MIN..COLUMNS).contains(&row.len());
    is_short
        && column::flags(row[1])
        && row[1].len() >= FLAGS_LEN
        && row[2..].iter().all(|word| column::maybe_count(word))
}

fn entry(row: &[&str]) -> Option<Entry> {
    let is_whole = column::flags(row[1]) && row[1].len() >= FLAGS_LEN;
    let is_row = is_whole && row[2..].iter().all(|word| column::maybe_count(word));
    let number = |at: usize| count(row[at]);
    let is_row =
        is_row && number(10).zip(number(9)).is_none_or(|(objects, slots)| objects <= slots);
    is_row.then(|| Entry {
        name: row[0].to_owned(),
        objects: number(10),
        slots: number(9),
        object_bytes: number(5),
        slabs: number(6),
        live_bytes: number(3),
        slab_bytes: number(2),
        ..Entry::default()
    })
}
