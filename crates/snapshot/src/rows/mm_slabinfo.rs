//! `slabinfo` of `tools/mm`: `name objects size space slabs/partial/cpu perslab order %free %efficient flags`.
//!
//! The space has a unit of 1000. The flag `a` says that the kernel gives the objects back (`SLAB_RECLAIM_ACCOUNT`).

use super::column;
use super::found::{Below, Found, counts, names};
use super::kind::Kind;
use super::row_reader::RowReader;
use crate::entry::Entry;
use crate::line::{count, decimal_size};

pub(super) const READER: RowReader = RowReader {
    is_heading,
    columns: &[&[
        column::name,
        column::count,
        column::count,
        column::size,
        column::three_counts,
        column::count,
        column::count,
        column::count,
        column::count,
        column::name,
    ]],
    ..RowReader::new(Kind::MmSlabinfo, read)
};

/// Where the flags of a row stand, if it has some.
const FLAGS_AT: usize = 9;
/// The flags that there are.
const FLAGS: &str = "*dAPaZFUT";

pub(super) fn is_heading(words: &[&str]) -> bool {
    words.windows(3).any(|w| w == ["Name", "Objects", "Objsize"])
}

pub(super) fn read(words: &[&str], _: Below) -> Found {
    let row = names(words).find_map(|at| Some((at, entry(words.get(at..)?)?)));
    match row {
        // The flags of a row that has some may be in the next line.
        Some((at, entry)) if words.len() == at + FLAGS_AT => Found::Part(Some(entry)),
        Some((_, entry)) => Found::Row(entry),
        None => Found::No,
    }
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
    if slabs.checked_mul(per_slab)? < objects {
        return None;
    }
    let flags = row.get(FLAGS_AT).filter(|word| word.chars().all(|flag| FLAGS.contains(flag)));
    Some(Entry {
        name: row[0].to_owned(),
        objects: Some(objects),
        slots: Some(slabs.checked_mul(per_slab)?),
        object_bytes: Some(object_bytes),
        slabs: Some(slabs),
        pages_per_slab: (order < 32).then(|| 1 << order),
        slab_bytes: Some(space),
        reclaimable: Some(flags.is_some_and(|flags| flags.contains('a'))),
        ..Entry::default()
    })
}
