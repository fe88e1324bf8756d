//! `struct page` as a module sees it: an array beside the machine, 64 bytes a page.
//!
//! The allocator keeps its own records; this one has what C code touches: reference count, flags,
//! list head. Its layout is that of `include/linux/mm_types.h`.

use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};

/// A page's record, as C sees it.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Page {
    flags: AtomicU64,
    lru: [u64; 2],
    mapping: u64,
    index: u64,
    private: u64,
    mapcount: AtomicI32,
    refcount: AtomicI32,
    /// Order of the block that it heads, and whether that is compound; or the index in a compound block.
    place: AtomicU64,
}

const _: () = assert!(size_of::<Page>() == 64);

/// The page heads a compound block (`KAPI_PAGE_HEAD` in `mm_types.h`).
const HEAD: u64 = 1 << 62;
/// The page is a compound block's, but not its first (`KAPI_PAGE_TAIL`).
const TAIL: u64 = 1 << 63;

/// All pages' records.
#[derive(Debug)]
pub(crate) struct PageArray {
    base: u64,
    count: u64,
}

impl PageArray {
    /// Reserves the records of `count` pages, all zero; memory is used where they are touched.
    pub(crate) fn new(count: u64) -> Option<Self> {
        let bytes = count as usize * size_of::<Page>();
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a fresh mapping at an address of the system's choice touches nothing.
        let base = unsafe { libc::mmap(std::ptr::null_mut(), bytes, protection, flags, -1, 0) };
        (base != libc::MAP_FAILED).then_some(Self { base: base as u64, count })
    }

    /// Returns the address of the first record (`mem_map`).
    pub(crate) fn base(&self) -> u64 {
        self.base
    }

    /// Returns the address of a page's record.
    pub(crate) fn address(&self, pfn: u32) -> u64 {
        self.base + u64::from(pfn) * size_of::<Page>() as u64
    }

    /// Returns the page that a record's address belongs to.
    pub(crate) fn pfn(&self, page: u64) -> Option<u32> {
        let index = page.checked_sub(self.base)? / size_of::<Page>() as u64;
        (index < self.count).then_some(index as u32)
    }

    fn page(&self, pfn: u32) -> &Page {
        assert!(u64::from(pfn) < self.count, "a page of the machine");
        // SAFETY: in bounds (asserted); the mapping is zeroed, which is a valid record, is never
        // unmapped, and is shared with C through atomics.
        unsafe { &*(self.address(pfn) as *const Page) }
    }

    /// Makes a page the head of a block with one reference.
    pub(crate) fn take(&self, pfn: u32, order: u32) {
        self.page(pfn).place.store(u64::from(order), Ordering::Relaxed);
        self.page(pfn).refcount.store(1, Ordering::Release);
    }

    /// Gives a page a first reference, unless it has one.
    pub(crate) fn hold(&self, pfn: u32) {
        let refcount = &self.page(pfn).refcount;
        // Who comes second finds it done.
        let _ = refcount.compare_exchange(0, 1, Ordering::AcqRel, Ordering::Relaxed);
    }

    /// Gives a reference up; returns how many there were.
    pub(crate) fn put(&self, pfn: u32) -> i32 {
        self.page(pfn).refcount.fetch_sub(1, Ordering::AcqRel)
    }

    /// Forgets all references.
    pub(crate) fn clear(&self, pfn: u32) {
        self.page(pfn).refcount.store(0, Ordering::Release);
    }

    /// Returns the order of the block that a page heads.
    pub(crate) fn order(&self, pfn: u32) -> u32 {
        self.page(pfn).place.load(Ordering::Relaxed) as u32
    }

    /// Makes a block one whole, whose pages know their head (`__GFP_COMP`).
    pub(crate) fn compound(&self, pfn: u32, order: u32) {
        self.page(pfn).place.store(HEAD | u64::from(order), Ordering::Relaxed);
        for index in 1..1 << order {
            self.page(pfn + index).place.store(TAIL | u64::from(index), Ordering::Relaxed);
        }
    }

    /// Undoes that for the block that a page heads.
    pub(crate) fn separate(&self, pfn: u32) {
        let place = self.page(pfn).place.load(Ordering::Relaxed);
        if place & HEAD != 0 {
            self.page(pfn).place.store(place & !HEAD, Ordering::Relaxed);
            (1..1 << place as u32)
                .for_each(|index| self.page(pfn + index).place.store(0, Ordering::Relaxed));
        }
    }

    /// Returns the head of the compound block that a page is in; else the page.
    pub(crate) fn head(&self, pfn: u32) -> u32 {
        let place = self.page(pfn).place.load(Ordering::Relaxed);
        if place & TAIL != 0 { pfn - place as u32 } else { pfn }
    }
}
