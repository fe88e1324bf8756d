//! Newtypes for the numbers that must not be mixed: page frames, orders, CPUs, caches, objects.

use core::fmt;
use core::num::NonZeroU64;

/// log2 of the page size.
pub const PAGE_SHIFT: u32 = 12;
/// Bytes in a page.
pub const PAGE_SIZE: u64 = 1 << PAGE_SHIFT;
/// Bytes in a cache line.
pub const CACHE_LINE: u64 = 64;

/// Number of a page frame: the offset of the page divided by the page size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pfn(pub u32);

impl Pfn {
    /// Returns the offset of the page's first byte.
    #[inline(always)]
    pub fn offset(self) -> u64 {
        u64::from(self.0) << PAGE_SHIFT
    }
}

/// log2 of a number of pages, 0..=10.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Order(pub u8);

impl Order {
    /// Returns the order of that number, or one above all that exist.
    pub(crate) fn saturating(order: u32) -> Self {
        Self(u8::try_from(order).unwrap_or(u8::MAX))
    }

    /// The largest block that the page allocator gives: 4 MiB (`MAX_ORDER` - 1 in Linux 6.1).
    pub const MAX: Self = Self(10);

    /// Returns the number of pages.
    #[inline(always)]
    pub fn pages(self) -> u32 {
        1 << self.0
    }

    /// Returns the number of bytes.
    #[inline(always)]
    pub const fn bytes(self) -> u64 {
        PAGE_SIZE << self.0
    }

    /// Returns the smallest order that holds `bytes`, or `None` beyond [`Order::MAX`]
    /// (Linux: `get_order`).
    #[inline]
    pub fn for_bytes(bytes: u64) -> Option<Self> {
        if bytes > Self::MAX.bytes() {
            return None;
        }
        let pages = bytes.max(1).div_ceil(PAGE_SIZE);
        Some(Self(pages.next_power_of_two().trailing_zeros() as u8))
    }
}

/// Number of a CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CpuId(pub u32);

/// Number of a NUMA node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

/// A call site: a dense number that the caller chooses and findings name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Site(pub u32);

/// A cache of one machine. A destroyed cache's id is not given again for a long time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CacheId(pub(crate) u32);

impl CacheId {
    const INDEX_BITS: u32 = 20;
    pub(crate) const INDEX_MAX: u32 = (1 << Self::INDEX_BITS) - 1;

    pub(crate) fn new(index: u32, generation: u32) -> Self {
        debug_assert!(index <= Self::INDEX_MAX);
        Self(index | generation << Self::INDEX_BITS)
    }

    /// Returns the place of the cache in the machine's tables: dense from 0, usable as an index.
    #[inline(always)]
    pub fn index(self) -> usize {
        (self.0 & Self::INDEX_MAX) as usize
    }
}

/// Address of an object: its offset in the machine's memory, the same in every run. It is never 0,
/// since the first page is never given out.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct ObjPtr(NonZeroU64);

impl ObjPtr {
    /// The result of an allocation of 0 bytes (Linux: `ZERO_SIZE_PTR`); freeing it does nothing.
    pub const ZERO_SIZE: Self = Self(NonZeroU64::new(16).unwrap());

    /// Makes a pointer from an offset; `None` for 0.
    #[inline(always)]
    pub fn new(offset: u64) -> Option<Self> {
        NonZeroU64::new(offset).map(Self)
    }

    /// Returns the offset in bytes.
    #[inline(always)]
    pub fn get(self) -> u64 {
        self.0.get()
    }

    /// Returns the page it lies in.
    #[inline(always)]
    pub fn pfn(self) -> Pfn {
        Pfn((self.get() >> PAGE_SHIFT) as u32)
    }

    /// Returns that page as an index, without an instruction that cuts it to the width of a page
    /// number.
    #[inline(always)]
    pub(crate) fn page(self) -> usize {
        (self.get() >> PAGE_SHIFT) as usize
    }
}

impl fmt::Debug for ObjPtr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{:x}", self.get())
    }
}

impl fmt::Display for ObjPtr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{:x}", self.get())
    }
}
