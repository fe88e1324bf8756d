//! `/proc/slabinfo` of Linux 2.4: `name active total size active_slabs slabs pages`, with limits and statistics behind.

use super::column;
use super::found::{Below, Found, counts, names};
use super::kind::Kind;
use super::row_reader::RowReader;
use crate::entry::Entry;

pub(super) const READER: RowReader = RowReader {
    is_heading,
    columns: &[&[
        column::name,
        column::count,
        column::count,
        column::count,
        column::count,
        column::count,
        column::count,
    ]],
    ..RowReader::new(Kind::Slabinfo1, read)
};

/// Bytes of a page of the machines that ran it; where slabs would not hold their objects, twice and four times as many.
const PAGE_BYTES: [u64; 3] = [4 << 10, 8 << 10, 16 << 10];

pub(super) fn is_heading(words: &[&str]) -> bool {
    words.windows(4).any(|w| w[..3] == ["slabinfo", "-", "version:"] && w[3].starts_with("1."))
}

pub(super) fn read(words: &[&str], _: Below) -> Found {
    let row = names(words).find_map(|at| {
        let row = words.get(at..at + 7)?;
        let is_end = words.get(at + 7).is_none_or(|word| word.starts_with(':'));
        is_end.then(|| entry(row))?
    });
    row.map_or(Found::No, Found::Row)
}

fn entry(row: &[&str]) -> Option<Entry> {
    let [active, total, size, active_slabs, slabs, pages] = counts::<6>(&row[1..])?;
    let needed = total.checked_mul(size)?;
    let bytes = |page: u64| slabs.checked_mul(pages)?.checked_mul(page);
    let page = PAGE_BYTES.into_iter().find(|page| bytes(*page).is_some_and(|all| needed <= all));
    let is_possible = active <= total
        && active_slabs <= slabs
        && slabs <= total
        && size > 0
        && pages.is_power_of_two()
        && pages <= 32;
    let slab_bytes = page.filter(|_| is_possible).and_then(bytes)?;
    Some(Entry {
        name: row[0].to_owned(),
        objects: Some(active),
        slots: Some(total),
        object_bytes: Some(size),
        slabs: Some(slabs),
        pages_per_slab: Some(pages),
        slab_bytes: Some(slab_bytes),
        ..Entry::default()
    })
}
