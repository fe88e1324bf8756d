//! What a trace says of its page rows, in its metadata.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::page_event::PageKind;

const KINDS: usize = PageKind::ALL.len();
/// Kinds of the first traces with pages, which hold no more numbers.
const KINDS_FIRST: usize = 7;

/// What a trace with page events says of them. What [`Meta`](crate::Meta) counts beside are slab events alone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PageMeta {
    /// Page rows, implicit frees among them.
    pub events: u64,
    /// Rows of each [`PageKind`], by its number.
    #[serde(serialize_with = "write_counts", deserialize_with = "read_counts")]
    pub events_by_kind: [u64; KINDS],
    /// An array of this many entries holds all live blocks: `object < slots`.
    pub slots: u32,
    /// Smallest and largest `time_ns` of page rows; 0 and 0 where there are none.
    pub time_first_ns: u64,
    /// See `time_first_ns`.
    pub time_last_ns: u64,
    /// Allocations whose event has no stack.
    pub allocs_without_stack: u64,
    /// Allocations that failed.
    pub failed_allocs: u64,
    /// Frees of pages that were not seen allocated: they are older than the trace, or the event was lost.
    pub older_frees: u64,
    /// The pages of these.
    pub older_pages: u64,
    /// Rows of pages that were allocated again without a free in between.
    pub implicit_frees: u64,
    /// Frees of a part of a block: the kernel had split it.
    pub part_frees: u64,
}

impl PageMeta {
    /// Returns how many rows there are of a kind.
    #[must_use]
    pub fn count(&self, kind: PageKind) -> u64 {
        self.events_by_kind[kind as usize]
    }
}

/// Writes no more numbers than the last kind that there is needs, and no fewer than the first traces have.
fn write_counts<S: Serializer>(counts: &[u64; KINDS], to: S) -> Result<S::Ok, S::Error> {
    let used = counts.iter().rposition(|count| *count > 0).map_or(0, |last| last + 1);
    counts[..used.max(KINDS_FIRST)].serialize(to)
}

/// Reads numbers of kinds; those that are not there are 0, and those beyond all kinds are left out.
fn read_counts<'de, D: Deserializer<'de>>(from: D) -> Result<[u64; KINDS], D::Error> {
    let read = Vec::<u64>::deserialize(from)?;
    let mut counts = [0; KINDS];
    for (count, read) in counts.iter_mut().zip(read) {
        *count = read;
    }
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_a_trace_with_fewer_kinds_are_read_and_written_as_they_were() {
        let old = r#"{"events":3,"events_by_kind":[1,2,0,0,0,0,0]}"#;
        let meta: PageMeta = serde_json::from_str(old).unwrap();
        assert_eq!((meta.count(PageKind::Free), meta.count(PageKind::ReclaimEnd)), (2, 0));
        let written = serde_json::to_string(&meta).unwrap();
        assert!(written.contains(r#""events_by_kind":[1,2,0,0,0,0,0],"#), "{written}");
        let mut meta = meta;
        meta.events_by_kind[PageKind::ReclaimEnd as usize] = 4;
        let written = serde_json::to_string(&meta).unwrap();
        assert!(written.contains(r#":[1,2,0,0,0,0,0,0,4],"#), "{written}");
        assert_eq!(serde_json::from_str::<PageMeta>(&written).unwrap(), meta);
    }
}
