//! `slabtop`: `objs active use% size slabs perslab cache-size name`, sizes in KiB with two decimals.

use super::found::{Below, Found, counts};
use crate::entry::Entry;
use crate::line::{is_cache_name, size};

pub(super) fn is_heading(words: &[&str]) -> bool {
    words.windows(3).any(|w| w == ["OBJS", "ACTIVE", "USE"])
}

pub(super) fn read(words: &[&str], _: Below) -> Found {
    let row = words.windows(8).find_map(entry);
    row.map_or(Found::No, Found::Row)
}

fn entry(row: &[&str]) -> Option<Entry> {
    let [objects, active] = counts::<2>(row)?;
    row[2].strip_suffix('%').and_then(crate::line::count)?;
    let object = row[3].strip_suffix('K').filter(|number| number.contains('.'))?;
    let [slabs, per_slab] = counts::<2>(&row[4..])?;
    let slab_bytes = row[6].ends_with('K').then(|| size(row[6]))??;
    let kibibytes: f64 = object.parse().ok()?;
    is_cache_name(row[7]).then(|| Entry {
        name: row[7].to_owned(),
        objects: Some(active.min(objects)),
        slots: Some(objects),
        object_bytes: Some(object_bytes(kibibytes, slab_bytes, slabs, per_slab)),
        slabs: Some(slabs),
        slab_bytes: Some(slab_bytes),
        ..Entry::default()
    })
}

/// Returns the size of an object that was rounded to a hundredth of a KiB: the largest multiple of 8 within that which
/// lets a slab have as many as it has, or else the number as it stands.
fn object_bytes(kibibytes: f64, slab_bytes: u64, slabs: u64, per_slab: u64) -> u64 {
    let (least, most) = ((kibibytes - 0.005) * 1024.0, (kibibytes + 0.005) * 1024.0);
    let room = slab_bytes.checked_div(slabs).and_then(|slab| slab.checked_div(per_slab));
    let most = room.map_or(most, |room| most.min(room as f64));
    let whole = (most as u64) / 8 * 8;
    if whole as f64 >= least && whole > 0 { whole } else { (kibibytes * 1024.0).round() as u64 }
}
