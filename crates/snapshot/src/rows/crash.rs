//! crash's `kmem -s`: `address size allocated total slabs slab-size name`, or with the name behind the address.

use super::column;
use super::found::{Below, Found, counts};
use super::kind::Kind;
use super::row_reader::RowReader;
use crate::entry::Entry;
use crate::line::{is_cache_name, size};

pub(super) const READER: RowReader = RowReader {
    is_heading,
    columns: &[
        &[
            column::address,
            column::count,
            column::count,
            column::count,
            column::count,
            column::size,
            column::name,
        ],
        &[
            column::address,
            column::name,
            column::count,
            column::count,
            column::count,
            column::count,
            column::size,
        ],
    ],
    ends_anywhere: true,
    ..RowReader::new(Kind::Crash, read)
};

pub(super) fn is_heading(words: &[&str]) -> bool {
    words.first() == Some(&"CACHE") && words.contains(&"OBJSIZE")
}

pub(super) fn read(words: &[&str], _: Below) -> Found {
    // crash prints `?` for what it cannot find out.
    let is_damaged = |w: &[&str]| column::address(w[0]) && w.contains(&"?");
    match words.windows(7).find_map(entry) {
        Some(row) => Found::Row(row),
        None if words.windows(7).any(is_damaged) => Found::Damaged,
        None => Found::No,
    }
}

fn entry(row: &[&str]) -> Option<Entry> {
    let (name, numbers) = match is_cache_name(row[1]) {
        true => (row[1], &row[2..]),
        false => (row[6], &row[1..6]),
    };
    if !column::address(row[0]) || !is_cache_name(name) {
        return None;
    }
    let [object_bytes, objects, slots, slabs] = counts::<4>(numbers)?;
    let slab = numbers[4].ends_with(['k', 'K']).then(|| size(numbers[4]))??;
    Some(Entry {
        name: name.to_owned(),
        objects: Some(objects),
        slots: Some(slots),
        object_bytes: Some(object_bytes),
        slabs: Some(slabs),
        slab_bytes: Some(slabs.checked_mul(slab)?),
        ..Entry::default()
    })
}
