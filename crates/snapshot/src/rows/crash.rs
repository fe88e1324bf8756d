//! crash's `kmem -s`: `address size allocated total slabs slab-size name`, or with the name behind the address.

use super::found::{Below, Found, counts};
use crate::entry::Entry;
use crate::line::{is_cache_name, size};

/// Digits of the address of a kmem_cache, at least.
const ADDRESS_DIGITS_MIN: usize = 8;

pub(super) fn read(words: &[&str], _: Below) -> Found {
    let row = words.windows(7).find_map(entry);
    row.map_or(Found::No, Found::Row)
}

fn entry(row: &[&str]) -> Option<Entry> {
    let is_address =
        row[0].len() >= ADDRESS_DIGITS_MIN && row[0].bytes().all(|byte| byte.is_ascii_hexdigit());
    let (name, numbers) = match is_cache_name(row[1]) {
        true => (row[1], &row[2..]),
        false => (row[6], &row[1..6]),
    };
    if !is_address || !is_cache_name(name) {
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
