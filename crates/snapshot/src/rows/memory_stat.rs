//! `memory.stat` of a memory cgroup: `slab_unreclaimable 143096`, bytes of the slabs that the cgroup is charged for.
//!
//! `slab` is the sum of both parts, and counts only where one of them is missing.
//!
//! Linux counterpart: `mm/memcontrol.c` (`memory_stat_format`), cgroup v2.

use super::found::{Below, Found};
use super::kind::Kind;
use super::row_reader::RowReader;
use crate::entry::Entry;
use crate::line::count;

pub(super) const READER: RowReader = RowReader::new(Kind::MemoryStat, read);

const RECLAIMABLE: &str = "slab_reclaimable";
const KEPT: &str = "slab_unreclaimable";
const ALL: &str = "slab";

pub(super) fn read(words: &[&str], _: Below) -> Found {
    // A logger may write something before it; /proc/vmstat counts pages, and its names begin with nr_.
    let [.., name, bytes] = words else { return Found::No };
    let reclaimable = match *name {
        RECLAIMABLE => Some(true),
        KEPT => Some(false),
        // The word is one of prose, too.
        ALL if words.len() == 2 => None,
        _ => return Found::No,
    };
    match count(bytes) {
        Some(bytes) => Found::Row(Entry {
            name: (*name).to_owned(),
            slab_bytes: Some(bytes),
            reclaimable,
            ..Entry::default()
        }),
        None => Found::Damaged,
    }
}

/// Takes the sum of both parts out of a moment, and puts the part that is missing there in its place.
pub(crate) fn without_sum(entries: &mut Vec<Entry>) {
    let Some(at) = entries.iter().position(|entry| entry.name == ALL) else { return };
    let bytes = |name: &str| entries.iter().find(|entry| entry.name == name)?.slab_bytes;
    let rest = |part: u64| entries[at].slab_bytes.and_then(|all| all.checked_sub(part));
    let missing = match (bytes(RECLAIMABLE), bytes(KEPT)) {
        (None, None) => return,
        (Some(reclaimable), None) => rest(reclaimable).map(|rest| (KEPT, rest)),
        (None, Some(kept)) => rest(kept).map(|rest| (RECLAIMABLE, rest)),
        (Some(_), Some(_)) => None,
    };
    entries.remove(at);
    entries.extend(missing.map(|(name, bytes)| Entry {
        name: name.to_owned(),
        slab_bytes: Some(bytes),
        reclaimable: Some(name == RECLAIMABLE),
        ..Entry::default()
    }));
}
