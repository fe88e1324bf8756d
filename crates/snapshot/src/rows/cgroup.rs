//! What `slablab watch` writes of memory cgroups: `cgroup /path slab_reclaimable N slab_unreclaimable N`, in bytes.

use super::found::{Below, Found};
use super::kind::Kind;
use super::row_reader::RowReader;
use crate::entry::Entry;
use crate::line::count;

pub(super) const READER: RowReader = RowReader::new(Kind::Cgroup, read);

pub(super) fn read(words: &[&str], _: Below) -> Found {
    let [.., "cgroup", path, "slab_reclaimable", given_back, "slab_unreclaimable", kept] = words
    else {
        return Found::No;
    };
    let bytes = || count(given_back)?.checked_add(count(kept)?);
    match bytes() {
        Some(bytes) => Found::Row(Entry {
            name: (*path).to_owned(),
            live_bytes: Some(bytes),
            ..Entry::default()
        }),
        None => Found::Damaged,
    }
}
