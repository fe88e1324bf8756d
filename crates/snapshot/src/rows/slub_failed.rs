//! What the allocator prints when it gets no page: the cache in one line, its slabs on each node in those below.
//!
//! Linux counterpart: `slab_out_of_memory` (`mm/slub.c`; `mm/slab.c` to 6.7).

use super::found::{Below, Found};
use super::kind::Kind;
use super::row_reader::RowReader;
use crate::entry::Entry;
use crate::line::{count, is_cache_name};

pub(super) const READER: RowReader =
    RowReader { further, ..RowReader::new(Kind::SlubFailed, read) };

/// Takes `cache: kmalloc-1k, object size: 1024, buffer size: 1024, default order: 3, min order: 0`.
pub(super) fn read(words: &[&str], _: Below) -> Found {
    let Some(at) = words.windows(3).position(|w| w[0] == "cache:" && w[2] == "object") else {
        return Found::No;
    };
    let name = words[at + 1].trim_end_matches(',');
    // What an object takes in a slab; SLAB says only its size.
    let bytes = value(words, "buffer", "size:").or_else(|| value(words, "object", "size:"));
    match bytes.filter(|_| is_cache_name(name)) {
        Some(bytes) => Found::Open(Entry {
            name: name.to_owned(),
            object_bytes: Some(bytes),
            ..Entry::default()
        }),
        None => Found::Damaged,
    }
}

/// Adds `node 0: slabs: 12, objs: 345, free: 0`, or SLAB's `node 0: slabs: 12/12, objs: 345/345, free: 0`.
fn further(words: &[&str], entry: &mut Entry) -> bool {
    let numbers = || {
        let slabs = value(words, "slabs:", "")?;
        Some((slabs, value(words, "objs:", "")?, value(words, "free:", "")?))
    };
    let Some((slabs, slots, free)) = numbers().filter(|_| words.contains(&"node")) else {
        // "debugging increased min order" stands between.
        return words.contains(&"debugging");
    };
    let sum = |all: Option<u64>, more: u64| Some(all.unwrap_or(0).saturating_add(more));
    entry.slabs = sum(entry.slabs, slabs);
    entry.slots = sum(entry.slots, slots);
    entry.objects = sum(entry.objects, slots.saturating_sub(free));
    true
}

/// Returns the number behind one word, or two; of `active/all` that of all.
fn value(words: &[&str], first: &str, second: &str) -> Option<u64> {
    let length = 1 + usize::from(!second.is_empty());
    let is_it = |w: &[&str]| w[0] == first && (second.is_empty() || w[1] == second);
    let at = words.windows(length).position(is_it)?;
    let number = words.get(at + length)?.trim_end_matches(',');
    count(number.rsplit('/').next()?)
}
