//! `memory.stat` of a memory cgroup: `slab_unreclaimable 143096`, bytes of the slabs that the cgroup is charged for.
//!
//! Linux counterpart: `mm/memcontrol.c` (`memory_stat_format`), cgroup v2.

use super::found::{Below, Found};
use super::kind::Kind;
use super::row_reader::RowReader;
use crate::entry::Entry;
use crate::line::count;

pub(super) const READER: RowReader = RowReader::new(Kind::MemoryStat, read);

pub(super) fn read(words: &[&str], _: Below) -> Found {
    // A logger may write something before it; /proc/vmstat counts pages, and its names begin with nr_.
    let [.., name, bytes] = words else { return Found::No };
    let reclaimable = match *name {
        "slab_reclaimable" => true,
        "slab_unreclaimable" => false,
        _ => return Found::No,
    };
    match count(bytes) {
        Some(bytes) => Found::Row(Entry {
            name: (*name).to_owned(),
            slab_bytes: Some(bytes),
            reclaimable: Some(reclaimable),
            ..Entry::default()
        }),
        None => Found::Damaged,
    }
}
