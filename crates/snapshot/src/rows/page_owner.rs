//! `/sys/kernel/debug/page_owner`: `Page allocated via order N, mask ...`, or `N times, M pages` of its sorter, and the
//! stack below.

use super::found::{Below, Found};
use super::kind::Kind;
use super::row_reader::RowReader;
use crate::entry::Entry;
use crate::line::count;

pub(super) const READER: RowReader = RowReader::new(Kind::PageOwner, read);

/// Bytes of a page of the machines that people debug.
const PAGE_BYTES: u64 = 4 << 10;

pub(super) fn read(words: &[&str], _: Below) -> Found {
    let number = |word: &str| count(word.trim_end_matches([',', ':']));
    if let Some(at) = words.windows(4).position(|w| w == ["Page", "allocated", "via", "order"]) {
        let order = words.get(at + 4).and_then(|word| number(word)).filter(|order| *order < 32);
        return order.map_or(Found::Damaged, |order| pages(1, 1 << order));
    }
    let sorted = words.windows(4).find(|w| w[1] == "times," && w[3].starts_with("pages"));
    let sorted = sorted.and_then(|w| Some(pages(number(w[0])?, number(w[2])?)));
    sorted.unwrap_or(Found::No)
}

fn pages(objects: u64, pages: u64) -> Found {
    let live_bytes = pages.checked_mul(PAGE_BYTES);
    Found::Open(Entry { objects: Some(objects), live_bytes, ..Entry::default() })
}
