//! `slabinfo` of `tools/mm`: `name objects size space slabs/partial/cpu perslab order %free %efficient flags`.
//!
//! The space has a unit of 1000. The flag `a` says that the kernel gives the objects back (`SLAB_RECLAIM_ACCOUNT`).

use super::found::{Below, Found, counts, names};
use crate::entry::Entry;
use crate::line::{count, decimal_size};

pub(super) fn read(words: &[&str], _: Below) -> Found {
    let row = names(words).find_map(|at| entry(words.get(at..)?));
    row.map_or(Found::No, Found::Row)
}

fn entry(row: &[&str]) -> Option<Entry> {
    let [objects, object_bytes] = counts::<2>(row.get(1..)?)?;
    let space = decimal_size(row.get(3)?)?;
    let mut slabs = row.get(4)?.split('/').map(count);
    let slabs = match (slabs.next(), slabs.next(), slabs.next(), slabs.next()) {
        (Some(Some(slabs)), Some(Some(_)), Some(Some(cpu)), None) => slabs.checked_add(cpu)?,
        _ => return None,
    };
    let [per_slab, order, ..] = counts::<4>(row.get(5..)?)?;
    let flags = row.get(9).copied().unwrap_or_default();
    Some(Entry {
        name: row[0].to_owned(),
        objects: Some(objects),
        slots: Some(slabs.checked_mul(per_slab)?.max(objects)),
        object_bytes: Some(object_bytes),
        slabs: Some(slabs),
        pages_per_slab: (order < 32).then(|| 1 << order),
        slab_bytes: Some(space),
        reclaimable: Some(flags.contains('a')),
        ..Entry::default()
    })
}
