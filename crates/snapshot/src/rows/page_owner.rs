//! `/sys/kernel/debug/page_owner`: `Page allocated via order N, mask ...`, or `N times, M pages` of its sorter, and the
//! stack below.
//!
//! The sorter prints the text of one page below each of its heads; an older one, `N times:`, leaves the pages to that text.
//!
//! Linux counterpart: `mm/page_owner.c` (`print_page_owner`), `tools/mm/page_owner_sort.c`.

use super::found::{Below, Found};
use super::kind::Kind;
use super::row_reader::RowReader;
use crate::entry::Entry;
use crate::line::count;

pub(super) const READER: RowReader = RowReader { further, ..RowReader::new(Kind::PageOwner, read) };

/// Bytes of a page, unless the text tells another size.
const PAGE_BYTES: u64 = 4 << 10;
/// Linux's largest order is far below.
const ORDERS: u64 = 32;

pub(super) fn read(words: &[&str], _: Below) -> Found {
    match order(words) {
        Some(order) => return order.map_or(Found::Damaged, |order| pages(1, 1 << order)),
        None if words.first() == Some(&"Page") => return Found::No,
        None => {}
    }
    let number = |word: &str| count(word.trim_end_matches([',', ':']));
    let sorted = words.windows(4).find(|w| w[1] == "times," && w[3].starts_with("pages"));
    if let Some(w) = sorted {
        let head = number(w[0]).zip(number(w[2]));
        return head.map_or(Found::Damaged, |(objects, all)| head_of(objects, Some(all)));
    }
    match words {
        [times, "times:"] => count(times).map_or(Found::Damaged, |objects| head_of(objects, None)),
        _ => Found::No,
    }
}

/// Returns the order of `Page allocated via order N`, if the words are so; without one if it cannot be read.
fn order(words: &[&str]) -> Option<Option<u64>> {
    let at = words.windows(4).position(|w| w == ["Page", "allocated", "via", "order"])?;
    let word = words.get(at + 4).map(|word| word.trim_end_matches(','));
    Some(word.and_then(count).filter(|order| *order < ORDERS))
}

fn pages(objects: u64, pages: u64) -> Found {
    let live_bytes = pages.checked_mul(PAGE_BYTES);
    Found::Open(Entry { objects: Some(objects), live_bytes, ..Entry::default() })
}

/// The place of an entry while its head alone was read.
const OF_SORTER: &str = "sorted";

fn head_of(objects: u64, pages: Option<u64>) -> Found {
    let live_bytes = pages.and_then(|pages| pages.checked_mul(PAGE_BYTES));
    let place = OF_SORTER.to_owned();
    Found::Open(Entry { place, objects: Some(objects), live_bytes, ..Entry::default() })
}

/// Takes the text of one page below a head of the sorter.
fn further(words: &[&str], entry: &mut Entry) -> bool {
    let Some(order) = order(words).filter(|_| entry.place == OF_SORTER) else { return false };
    entry.place.clear();
    let bytes = || entry.objects?.checked_mul(1 << order?)?.checked_mul(PAGE_BYTES);
    entry.live_bytes = entry.live_bytes.or_else(bytes);
    true
}

/// Counts the pages of an entry, whose size is this one.
pub(crate) fn count_pages(entry: &mut Entry, page_bytes: u64) {
    let pages = entry.live_bytes.map(|bytes| bytes / PAGE_BYTES);
    entry.live_bytes = pages.and_then(|pages| pages.checked_mul(page_bytes));
}
