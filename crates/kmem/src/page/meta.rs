//! What is known about each page: `struct page` in 32 bytes.
//!
//! # Invariants
//! In a block of 2^order pages that is given out, every page has kind, order, cache and head, so
//! that one look leads from a pointer into any page to its slab. The other fields are valid in the
//! head only.
//!
//! Linux counterpart: `include/linux/mm_types.h`, `mm/slab.h` (`struct slab`) @ 6.1.

use crate::ids::{Order, Pfn};
use crate::raw::local::LocalU32;
use crate::raw::sync::AtomicU64;
use crate::raw::zeroed::{ZeroedSlice, zeroed_struct};

/// What a page is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    /// Never given out (page 0, holes).
    Reserved = 0,
    /// Free, in the buddy system.
    Buddy = 1,
    /// Free, in a per-CPU list.
    Pcp = 2,
    /// A slab of a cache.
    Slab = 3,
    /// A page that carves blocks of any size (SLOB, SLMB).
    Carved = 4,
    /// A kmalloc too large for the slabs.
    Large = 5,
    /// Given out by the page allocator.
    Pages = 6,
    /// Memory of a backend's own (SLAB's off-slab management).
    Metadata = 7,
    /// Part of a vmalloc area.
    Vmalloc = 8,
    /// A slab that waits for the end of a grace period.
    Deferred = 9,
}

impl Kind {
    const ALL: [Self; 10] = [
        Self::Reserved,
        Self::Buddy,
        Self::Pcp,
        Self::Slab,
        Self::Carved,
        Self::Large,
        Self::Pages,
        Self::Metadata,
        Self::Vmalloc,
        Self::Deferred,
    ];
}

zeroed_struct! {
    /// One page's record.
    #[derive(Debug)]
    pub(crate) struct Page {
        /// First page of the block.
        pub head: LocalU32,
        /// Kind in the low byte, order in the next; above, [`DIRTY`].
        kind_order: LocalU32,
        /// Next page of the list it is on (0: none); carved page: its chunk of the ring.
        pub next: LocalU32,
        /// Previous page of the list it is on (0: none).
        pub prev: LocalU32,
        /// Slab: its cache (raw [`crate::CacheId`]). Large kmalloc: the requested bytes. Carved page: its place.
        pub cache: LocalU32,
        /// Slab: offset of the first object. Carved page: its free units.
        pub aux: LocalU32,
        /// The backend's own word. SLUB: free list, objects in use, frozen. Carved page: what its runs may
        /// serve.
        pub state: AtomicU64,
    }
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<Page>() == 32);

/// Mark of a free block that may hold memory of the operating system.
const DIRTY: u32 = 1 << 16;

impl Page {
    /// Returns the kind.
    #[inline(always)]
    pub(crate) fn kind(&self) -> Kind {
        Kind::ALL.get(self.kind_order.get() as usize & 0xff).copied().unwrap_or(Kind::Reserved)
    }

    /// Returns whether the block is a slab, in one comparison.
    #[inline(always)]
    pub(crate) fn is_slab(&self) -> bool {
        self.kind_order.get() as u8 == Kind::Slab as u8
    }

    /// Returns the order of the block.
    #[inline(always)]
    pub(crate) fn order(&self) -> Order {
        Order((self.kind_order.get() >> 8) as u8)
    }

    /// Returns whether a free block may hold memory of the operating system.
    #[inline]
    pub(crate) fn is_dirty(&self) -> bool {
        self.kind_order.get() & DIRTY != 0
    }

    /// Sets whether a free block may hold memory of the operating system.
    #[inline]
    pub(super) fn set_dirty(&self, dirty: bool) {
        let clean = self.kind_order.get() & !DIRTY;
        self.kind_order.set(if dirty { clean | DIRTY } else { clean });
    }

    /// Sets kind and order, and makes the record clean.
    #[inline(always)]
    pub(super) fn set(&self, kind: Kind, order: Order) {
        self.kind_order.set(kind as u32 | u32::from(order.0) << 8);
    }
}

/// The records of all pages of a machine.
#[derive(Debug)]
pub(crate) struct PageTable {
    pages: ZeroedSlice<Page>,
}

impl PageTable {
    pub(crate) fn new(count: u32) -> Self {
        Self { pages: ZeroedSlice::new(count as usize) }
    }

    /// Returns the number of pages.
    pub(crate) fn count(&self) -> u32 {
        self.pages.as_slice().len() as u32
    }

    /// Returns a page's record.
    #[inline(always)]
    pub(crate) fn get(&self, pfn: Pfn) -> &Page {
        &self.pages[pfn.0 as usize]
    }

    /// Returns all records, by page number.
    pub(crate) fn as_slice(&self) -> &[Page] {
        self.pages.as_slice()
    }

    /// Returns a page's record; `None` beyond the machine's memory.
    #[inline(always)]
    pub(crate) fn try_get(&self, pfn: Pfn) -> Option<&Page> {
        self.pages.as_slice().get(pfn.0 as usize)
    }

    /// Returns the head of the block that a page belongs to.
    #[inline(always)]
    pub(crate) fn head(&self, pfn: Pfn) -> Pfn {
        Pfn(self.get(pfn).head.get())
    }

    /// Makes `pfn` the head of a block; every page of it gets kind, order, cache and head.
    #[inline]
    pub(super) fn claim(&self, pfn: Pfn, kind: Kind, order: Order, cache: u32) {
        for i in 0..order.pages() {
            let page = self.get(Pfn(pfn.0 + i));
            page.set(kind, order);
            page.head.set(pfn.0);
            page.cache.set(cache);
        }
    }
}
