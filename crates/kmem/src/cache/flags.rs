//! `SLAB_*` flags of a cache.

use core::ops::{BitOr, BitOrAssign};

/// Flags of a cache (Linux: `slab_flags_t`; the values are our own).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct SlabFlags(pub u32);

impl SlabFlags {
    /// No flags.
    pub const NONE: Self = Self(0);
    /// `SLAB_HWCACHE_ALIGN`: align to cache lines, or to the largest fraction that still helps.
    pub const HWCACHE_ALIGN: Self = Self(1 << 0);
    /// `SLAB_PANIC`: creation must succeed; here it turns the error into a panic.
    pub const PANIC: Self = Self(1 << 1);
    /// `SLAB_TYPESAFE_BY_RCU`: pages of the cache are given back only after a grace period.
    pub const TYPESAFE_BY_RCU: Self = Self(1 << 2);
    /// `SLAB_RECLAIM_ACCOUNT`: the objects can be reclaimed.
    pub const RECLAIM_ACCOUNT: Self = Self(1 << 3);
    /// `SLAB_CACHE_DMA`: slabs come from the DMA zone.
    pub const CACHE_DMA: Self = Self(1 << 4);
    /// `SLAB_CACHE_DMA32`: slabs come from the DMA32 zone.
    pub const CACHE_DMA32: Self = Self(1 << 5);
    /// `SLAB_ACCOUNT`: objects are charged to control groups.
    pub const ACCOUNT: Self = Self(1 << 6);
    /// `SLAB_RED_ZONE`: bytes beside each object that must not change.
    pub const RED_ZONE: Self = Self(1 << 7);
    /// `SLAB_POISON`: fill free objects with a pattern.
    pub const POISON: Self = Self(1 << 8);
    /// `SLAB_STORE_USER`: keep the last allocating and freeing call site of each object.
    pub const STORE_USER: Self = Self(1 << 9);
    /// `SLAB_NO_MERGE`: never share slabs with a like cache.
    pub const NO_MERGE: Self = Self(1 << 10);
    /// `SLAB_NOLEAKTRACE`: not tracked by kmemleak (prevents merging).
    pub const NOLEAKTRACE: Self = Self(1 << 11);
    /// `SLAB_CONSISTENCY_CHECKS`: check each free.
    pub const CONSISTENCY_CHECKS: Self = Self(1 << 12);

    /// Flags with which a cache never merges (`SLAB_NEVER_MERGE`).
    pub const NEVER_MERGE: Self = Self(
        Self::RED_ZONE.0
            | Self::POISON.0
            | Self::STORE_USER.0
            | Self::TYPESAFE_BY_RCU.0
            | Self::NOLEAKTRACE.0
            | Self::NO_MERGE.0,
    );
    /// Flags in which merged caches must agree (`SLAB_MERGE_SAME`).
    pub const MERGE_SAME: Self =
        Self(Self::RECLAIM_ACCOUNT.0 | Self::CACHE_DMA.0 | Self::CACHE_DMA32.0 | Self::ACCOUNT.0);

    /// Returns whether all of `flags` are set.
    #[inline(always)]
    pub const fn has(self, flags: Self) -> bool {
        self.0 & flags.0 == flags.0
    }

    /// Returns whether any of `flags` is set.
    #[inline(always)]
    pub const fn any(self, flags: Self) -> bool {
        self.0 & flags.0 != 0
    }

    /// Returns the flags without `flags`.
    pub const fn without(self, flags: Self) -> Self {
        Self(self.0 & !flags.0)
    }

    /// Returns the flags that are also in `mask`.
    pub const fn only(self, mask: Self) -> Self {
        Self(self.0 & mask.0)
    }
}

impl BitOr for SlabFlags {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for SlabFlags {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}
