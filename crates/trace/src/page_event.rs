//! The events of the page allocator: their kinds, and what a source says of one beside what all events have.
//!
//! Linux counterpart: `include/trace/events/kmem.h`, `vmscan.h` and `compaction.h` @ 6.1 and 6.18.

/// Stands for the page of an allocation that failed.
pub const NO_PAGE: u64 = u64::MAX;

/// No machine has pages of higher numbers: Linux has at most 52 bits of physical addresses. What sources name beyond it are
/// addresses of `struct page`, and numbers that were made up for slots.
pub(crate) const PFN_END: u64 = 1 << 52;

/// Stands for a number that the event does not have, in columns of one byte.
pub const NO_BYTE: u8 = u8::MAX;

/// No kernel has blocks of more pages: `MAX_PAGE_ORDER` is 10 on most machines, and 13 on those with pages of 64 KiB.
pub(crate) const ORDER_MAX: u8 = 20;

/// What the page allocator did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum PageKind {
    /// `kmem:mm_page_alloc`: a block was given
    Alloc = 0,
    /// `kmem:mm_page_free`: a block, or a part of one, was freed
    Free = 1,
    /// `kmem:mm_page_free_batched`: a page of a list was freed. The kernel says so beside `mm_page_free`, and such a row
    /// has no block; where only this event was recorded, it is the free.
    FreeBatched = 2,
    /// `kmem:mm_page_alloc_zone_locked`: a block left the zone's free lists, most often for a list of a CPU
    AllocZoneLocked = 3,
    /// `kmem:mm_page_pcpu_drain`: a block went back from the list of a CPU to the zone
    PcpuDrain = 4,
    /// `kmem:mm_page_alloc_extfrag`: a block of another migrate type was taken
    AllocExtfrag = 5,
    /// The pages were allocated again without a free in between: the importer puts this row before that allocation.
    ImplicitFree = 6,
    /// `vmscan:mm_vmscan_direct_reclaim_begin`: a thread that asks for pages frees some of others first
    ReclaimBegin = 7,
    /// `vmscan:mm_vmscan_direct_reclaim_end`: it goes on
    ReclaimEnd = 8,
    /// `compaction:mm_compaction_begin`: a thread moves pages of a zone together, so that larger blocks come free
    CompactionBegin = 9,
    /// `compaction:mm_compaction_end`: it goes on
    CompactionEnd = 10,
    /// `vmscan:mm_vmscan_memcg_reclaim_begin`: a thread frees pages of a cgroup that has reached its limit
    CgroupReclaimBegin = 11,
    /// `vmscan:mm_vmscan_memcg_reclaim_end`: it goes on
    CgroupReclaimEnd = 12,
}

impl PageKind {
    /// All kinds, in the order of their numbers.
    pub const ALL: [PageKind; 13] = {
        use PageKind::*;
        [
            Alloc,
            Free,
            FreeBatched,
            AllocZoneLocked,
            PcpuDrain,
            AllocExtfrag,
            ImplicitFree,
            ReclaimBegin,
            ReclaimEnd,
            CompactionBegin,
            CompactionEnd,
            CgroupReclaimBegin,
            CgroupReclaimEnd,
        ]
    };

    /// Returns those that a kernel has: all but the one that the importer makes.
    pub fn recorded() -> impl Iterator<Item = PageKind> {
        PageKind::ALL.into_iter().filter(|kind| *kind != PageKind::ImplicitFree)
    }

    /// Returns the name it has in the `kind` column: the tracepoint's own, or `mm_page_implicit_free`.
    pub const fn name(self) -> &'static str {
        match self {
            PageKind::Alloc => "mm_page_alloc",
            PageKind::Free => "mm_page_free",
            PageKind::FreeBatched => "mm_page_free_batched",
            PageKind::AllocZoneLocked => "mm_page_alloc_zone_locked",
            PageKind::PcpuDrain => "mm_page_pcpu_drain",
            PageKind::AllocExtfrag => "mm_page_alloc_extfrag",
            PageKind::ImplicitFree => "mm_page_implicit_free",
            PageKind::ReclaimBegin => "mm_vmscan_direct_reclaim_begin",
            PageKind::ReclaimEnd => "mm_vmscan_direct_reclaim_end",
            PageKind::CompactionBegin => "mm_compaction_begin",
            PageKind::CompactionEnd => "mm_compaction_end",
            PageKind::CgroupReclaimBegin => "mm_vmscan_memcg_reclaim_begin",
            PageKind::CgroupReclaimEnd => "mm_vmscan_memcg_reclaim_end",
        }
    }

    /// Returns the folder of tracefs that has the event.
    pub(crate) const fn folder(self) -> &'static str {
        match self {
            PageKind::ReclaimBegin
            | PageKind::ReclaimEnd
            | PageKind::CgroupReclaimBegin
            | PageKind::CgroupReclaimEnd => "vmscan",
            PageKind::CompactionBegin | PageKind::CompactionEnd => "compaction",
            _ => "kmem",
        }
    }

    /// Returns where tracefs has the event: `kmem/mm_page_alloc`.
    pub(crate) fn path(self) -> String {
        format!("{}/{}", self.folder(), self.name())
    }

    /// Returns whether it is of a block of pages, and not of a thread that makes room.
    #[must_use]
    pub const fn is_of_block(self) -> bool {
        matches!(self.folder().as_bytes(), b"kmem")
    }

    /// Returns whether it says with which flags pages were asked for.
    pub(crate) const fn has_gfp(self) -> bool {
        matches!(self, PageKind::Alloc) || self.is_reclaim()
    }

    /// Returns whether a thread begins to free pages of others.
    pub(crate) const fn is_reclaim(self) -> bool {
        matches!(self, PageKind::ReclaimBegin | PageKind::CgroupReclaimBegin)
    }

    /// Returns the kind with that name.
    pub fn from_name(name: &str) -> Option<PageKind> {
        PageKind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns the kind of the kernel's event of that name.
    pub(crate) fn of_event(name: &str) -> Option<PageKind> {
        PageKind::recorded().find(|kind| kind.name() == name)
    }
}

/// What a source says of an event of the page allocator, beside what all events have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawPage {
    /// What happened
    pub kind: PageKind,
    /// The block has two to the power of this pages.
    pub order: u8,
    /// The migrate type as the recorded kernel numbers it, or [`NO_BYTE`]
    pub migrate_type: u8,
    /// Of `mm_page_alloc_extfrag` the order of the block that was taken from, or [`NO_BYTE`]
    pub fallback_order: u8,
    /// Its migrate type, or [`NO_BYTE`]
    pub fallback_type: u8,
    /// Whether the page block changed its type with it (1) or not (0), or [`NO_BYTE`]
    pub change_ownership: u8,
}

impl RawPage {
    /// An event of this kind of one page that says nothing else.
    pub(crate) const fn new(kind: PageKind) -> RawPage {
        RawPage {
            kind,
            order: 0,
            migrate_type: NO_BYTE,
            fallback_order: NO_BYTE,
            fallback_type: NO_BYTE,
            change_ownership: NO_BYTE,
        }
    }

    /// Returns why no kernel says so.
    pub(crate) fn beyond_linux(&self) -> Option<&'static str> {
        (self.order > ORDER_MAX).then_some("order of pages beyond the machine")
    }

    pub(crate) fn to_bytes(self) -> [u8; 6] {
        let RawPage { kind, order, migrate_type, fallback_order, fallback_type, change_ownership } =
            self;
        [kind as u8, order, migrate_type, fallback_order, fallback_type, change_ownership]
    }

    /// Returns what [`RawPage::to_bytes`] gave; `None` of a kind that there is not.
    pub(crate) fn from_bytes(bytes: [u8; 6]) -> Option<RawPage> {
        let [kind, order, migrate_type, fallback_order, fallback_type, change_ownership] = bytes;
        let kind = *PageKind::ALL.get(usize::from(kind))?;
        Some(RawPage { kind, order, migrate_type, fallback_order, fallback_type, change_ownership })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_read_as_they_were_written() {
        let page = RawPage { order: 9, migrate_type: 1, ..RawPage::new(PageKind::AllocExtfrag) };
        assert_eq!(RawPage::from_bytes(page.to_bytes()), Some(page));
        assert_eq!(RawPage::from_bytes([13, 0, 0, 0, 0, 0]), None);
    }
}
