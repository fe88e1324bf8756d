//! Pages that were allocated without an event.
//!
//! # How it works
//! Pages that are allocated in bulk (memory of vmalloc, pipes and networks) have no event of their own. But they left a zone's
//! free lists, and later they are freed. So a page that left the lists, and is freed without having been given by an event, was
//! given in between; it counts from when it left the lists. Those that are never freed stay unseen.
//!
//! Linux counterpart: `alloc_pages_bulk_noprof` of `mm/page_alloc.c` @ 6.1 to 7.3.

use rustc_hash::FxHashMap;
use slablab_trace::{NONE, PageEvent, PageKind};

/// The allocations without an event of a trace, in the making.
#[derive(Debug, Default)]
pub(super) struct Unseen {
    /// Pages that left the lists and have not been given: the numbers of their rows
    left: FxHashMap<u64, u64>,
    found: FxHashMap<u64, u64>,
}

impl Unseen {
    /// Looks at the next event, whose row has this number.
    pub(super) fn see(&mut self, row: u64, event: &PageEvent) {
        let Some(pfn) = event.first_page() else { return };
        match event.page.kind {
            PageKind::AllocZoneLocked if event.page.order == 0 => _ = self.left.insert(pfn, row),
            PageKind::Alloc | PageKind::PcpuDrain => {
                (pfn..pfn.saturating_add(event.pages()))
                    .for_each(|page| _ = self.left.remove(&page));
            }
            PageKind::Free if event.object == NONE && event.page.order == 0 => {
                if let Some(row) = self.left.remove(&pfn) {
                    self.found.insert(row, pfn);
                }
            }
            _ => {}
        }
    }

    /// Returns the pages by the numbers of the rows at which they left the lists.
    pub(super) fn end(self) -> FxHashMap<u64, u64> {
        self.found
    }
}

#[cfg(test)]
mod tests {
    use slablab_trace::{NO_BYTE, RawPage};

    use super::*;

    #[test]
    fn a_page_that_is_freed_without_having_been_given_was_given_unseen() {
        let mut unseen = Unseen::default();
        let mut row = 0;
        let mut see = |kind, object, pfn, order| {
            let (migrate_type, fallback_order, fallback_type) = (0, NO_BYTE, NO_BYTE);
            let change_ownership = NO_BYTE;
            let page = RawPage {
                kind,
                order,
                migrate_type,
                fallback_order,
                fallback_type,
                change_ownership,
            };
            let (time_ns, pid, gfp, stack, cpu) = (row, 0, 0, NONE, 0);
            unseen.see(row, &PageEvent { time_ns, object, pid, gfp, stack, cpu, pfn, page });
            row += 1;
        };
        use PageKind::{Alloc, AllocZoneLocked, Free, PcpuDrain};
        for pfn in 8..12 {
            see(AllocZoneLocked, NONE, pfn, 0);
        }
        see(Alloc, 0, 8, 0);
        see(PcpuDrain, NONE, 9, 0);
        for pfn in [8, 9, 11, 77] {
            see(Free, NONE, pfn, 0);
        }
        assert_eq!(unseen.end(), [(3, 11)].into_iter().collect());
    }
}
