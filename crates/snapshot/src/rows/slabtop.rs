//! `slabtop`: `objs active use% size slabs perslab cache-size name`, sizes in KiB with two decimals.

use super::column;
use super::found::{Below, Found, counts};
use super::kind::Kind;
use super::row_reader::RowReader;
use crate::entry::Entry;
use crate::line::{count, is_cache_name, kibibytes, size};

pub(super) const READER: RowReader = RowReader {
    is_heading,
    columns: &[&[
        column::count,
        column::count,
        column::percent,
        column::kibibytes,
        column::count,
        column::count,
        column::whole_kibibytes,
        column::name,
    ]],
    columns_min: 4,
    ends_anywhere: true,
    ..RowReader::new(Kind::Slabtop, read)
};

/// Words of a row.
const COLUMNS: usize = 8;

pub(super) fn is_heading(words: &[&str]) -> bool {
    words.windows(3).any(|w| w == ["OBJS", "ACTIVE", "USE"])
}

/// A row begins at its first `objs active use%` and nowhere else, so that a row without its end takes nothing of the next.
pub(super) fn read(words: &[&str], below: Below) -> Found {
    let begins = |w: &[&str]| is_row(w, 3);
    let Some(at) = words.windows(3).position(begins) else { return Found::No };
    let row = &words[at..];
    let is_cut = row.len() < COLUMNS && is_row(row, row.len());
    // Without a unit nothing follows the name: `240000` may be the half of `240000K`.
    let is_whole = |row: &&[&str]| !column::count(row[6]) || words.len() == at + COLUMNS;
    match row.get(..COLUMNS).filter(is_whole).and_then(entry) {
        Some(entry) => Found::Row(entry),
        // The three words alone may be prose.
        None if is_cut && (row.len() > 3 || below == Below::Heading) => Found::Part(None),
        None if row.len() > 3 && is_row(row, 4) => Found::Damaged,
        None => Found::No,
    }
}

/// Returns whether the first words, as many as `columns`, can be those of a row.
fn is_row(row: &[&str], columns: usize) -> bool {
    let is_column = |(at, word): (usize, &&str)| match at {
        2 => word.strip_suffix('%').and_then(count).is_some(),
        3 => kibibytes(word).is_some(),
        // Some versions leave the unit out.
        6 => column::whole_kibibytes(word) || column::count(word),
        7 => is_cache_name(word),
        _ => count(word).is_some(),
    };
    row.iter().take(columns).enumerate().all(is_column)
}

/// The use that slabtop prints differs by less from what its counts say.
const USE_PERCENT_MAX: u64 = 1;

fn entry(row: &[&str]) -> Option<Entry> {
    if !is_row(row, COLUMNS) {
        return None;
    }
    let [objects, active] = counts::<2>(row)?;
    let kibibytes = kibibytes(row[3])?;
    let [slabs, per_slab] = counts::<2>(&row[4..])?;
    let slab_bytes = match count(row[6]) {
        Some(kibibytes) => kibibytes.checked_mul(1024)?,
        None => size(row[6])?,
    };
    let used_percent = row[2].strip_suffix('%').and_then(count)?;
    let counted = (u128::from(active) * 100).checked_div(objects.into()).unwrap_or(0);
    if counted.abs_diff(used_percent.into()) > USE_PERCENT_MAX.into() {
        return None;
    }
    Some(Entry {
        name: row[7].to_owned(),
        objects: Some(active.min(objects)),
        slots: Some(objects),
        object_bytes: Some(object_bytes(kibibytes, slab_bytes, slabs, per_slab)),
        slabs: Some(slabs),
        slab_bytes: Some(slab_bytes),
        ..Entry::default()
    })
}

/// Returns the size of an object that was rounded to a hundredth of a KiB. It is the largest multiple of 8 within that which
/// lets a slab have as many as it has, or else the number as it stands.
fn object_bytes(kibibytes: f64, slab_bytes: u64, slabs: u64, per_slab: u64) -> u64 {
    let (least, most) = ((kibibytes - 0.005) * 1024.0, (kibibytes + 0.005) * 1024.0);
    let room = slab_bytes.checked_div(slabs).and_then(|slab| slab.checked_div(per_slab));
    let most = room.map_or(most, |room| most.min(room as f64));
    let whole = (most as u64) / 8 * 8;
    if whole as f64 >= least && whole > 0 { whole } else { (kibibytes * 1024.0).round() as u64 }
}
