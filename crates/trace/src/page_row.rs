//! The page row: what a trace has of an event of the page allocator.
//!
//! # How it works
//! Page rows stand in the file of the slab events, in row groups of their own, so that whoever reads slab events decodes
//! none of them. Their pages are known by slots, as objects are: a block has one from its allocation until all of its pages
//! are free. A block that is freed in parts (a split huge page) has a row for each part, whose `order` is that of the part.
//! Beside the slot stands the page's number, which tells what lies side by side.

use crate::NONE;
use crate::page_event::{NO_PAGE, ORDER_MAX, PageKind, RawPage};

/// A page row of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageEvent {
    /// Nanoseconds of the trace's clock; never decreases from page row to page row.
    pub time_ns: u64,
    /// The block's slot, below [`PageMeta::slots`](crate::PageMeta::slots); it is used again when all of its pages are
    /// free. [`NONE`]: pages that the trace did not see allocated, an allocation that failed, or an event that moves pages
    /// between free lists.
    pub object: u32,
    /// The thread it happened in, 0 for the idle task.
    pub pid: u32,
    /// gfp flags as the recorded kernel numbers them; 0 but for allocations.
    pub gfp: u32,
    /// The call stack: number in [`Meta::stacks`](crate::Meta::stacks), or [`NONE`].
    pub stack: u32,
    /// The CPU it happened on.
    pub cpu: u16,
    /// The number of the first page, or [`NO_PAGE`] where the trace does not tell: an allocation failed, the row was made by
    /// the importer, the event is of no pages, or the trace was written before it had page numbers.
    pub pfn: u64,
    /// What is said of the pages.
    pub page: RawPage,
}

impl PageEvent {
    /// Returns how many pages it is of.
    #[must_use]
    pub fn pages(&self) -> u64 {
        1 << self.page.order.min(ORDER_MAX)
    }

    /// Returns the number of the first page, where the trace tells it.
    #[must_use]
    pub fn first_page(&self) -> Option<u64> {
        (self.pfn != NO_PAGE).then_some(self.pfn)
    }

    /// Returns whether a block was given: not an allocation that failed.
    #[must_use]
    pub fn is_given(&self) -> bool {
        self.page.kind == PageKind::Alloc && self.object != NONE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_have_names_that_no_slab_event_has() {
        for kind in PageKind::ALL {
            assert_eq!(PageKind::from_name(kind.name()), Some(kind));
            assert!(
                kind.name().starts_with("mm_") && crate::Kind::from_name(kind.name()).is_none()
            );
        }
        assert_eq!(PageKind::of_event("mm_page_implicit_free"), None);
    }
}
