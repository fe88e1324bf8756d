//! What a trace says of its page rows, in its metadata.

use serde::{Deserialize, Serialize};

use crate::page_event::PageKind;

/// What a trace with page events says of them. What [`Meta`](crate::Meta) counts beside are slab events alone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PageMeta {
    /// Page rows, implicit frees among them.
    pub events: u64,
    /// Rows of each [`PageKind`], by its number.
    pub events_by_kind: [u64; 7],
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
