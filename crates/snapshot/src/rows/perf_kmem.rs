//! `perf kmem stat`: `site total/each requested/each hits ping-pong frag%`.

use super::column;
use super::found::{Below, Found, counts};
use super::kind::Kind;
use super::row_reader::RowReader;
use crate::entry::Entry;
use crate::line::count;

pub(super) const READER: RowReader = RowReader {
    is_heading,
    columns: &[&[
        column::call_site,
        column::total_and_each,
        column::total_and_each,
        column::count,
        column::count,
        column::percent,
    ]],
    ..RowReader::new(Kind::PerfKmem, read)
};

pub(super) fn is_heading(words: &[&str]) -> bool {
    words.iter().any(|word| word.starts_with("Total_alloc/Per"))
}

pub(super) fn read(words: &[&str], _: Below) -> Found {
    let row = words.windows(6).find_map(entry);
    row.map_or(Found::No, Found::Row)
}

fn entry(row: &[&str]) -> Option<Entry> {
    let total = |word: &str| {
        let (all, each) = word.split_once('/')?;
        count(each)?;
        count(all)
    };
    let (allocated, requested) = (total(row[1])?, total(row[2])?);
    let [hits, _] = counts::<2>(&row[3..])?;
    row[5].strip_suffix('%')?;
    column::call_site(row[0]).then_some(())?;
    Some(Entry {
        name: row[0].to_owned(),
        objects: Some(hits),
        live_bytes: Some(allocated),
        waste_bytes: allocated.checked_sub(requested),
        ..Entry::default()
    })
}
