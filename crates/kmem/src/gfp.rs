//! `gfp_t`: how an allocation may get its memory.
//!
//! Linux counterpart: `include/linux/gfp_types.h` @ 6.1 (the bits have the same values in 6.18).

use core::ops::{BitOr, BitOrAssign};

/// Flags of an allocation, with the kernel's own bit values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Gfp(pub u32);

impl Gfp {
    /// No flags.
    pub const NONE: Self = Self(0);
    /// From the DMA zone (below 16 MiB).
    pub const DMA: Self = Self(1 << 0);
    /// From the DMA32 zone (below 4 GiB).
    pub const DMA32: Self = Self(1 << 2);
    /// The memory can be reclaimed: goes to `kmalloc-rcl-*`.
    pub const RECLAIMABLE: Self = Self(1 << 4);
    /// May use the emergency reserves in part.
    pub const HIGH: Self = Self(1 << 5);
    /// May start input and output.
    pub const IO: Self = Self(1 << 6);
    /// May call into file systems.
    pub const FS: Self = Self(1 << 7);
    /// Return zeroed memory.
    pub const ZERO: Self = Self(1 << 8);
    /// May reclaim memory directly, hence sleep: where memory is short, the page lists of all CPUs are emptied for it.
    pub const DIRECT_RECLAIM: Self = Self(1 << 10);
    /// May wake kswapd.
    pub const KSWAPD_RECLAIM: Self = Self(1 << 11);
    /// No warning on failure.
    pub const NOWARN: Self = Self(1 << 13);
    /// Must not fail. Nothing here reads it: an allocation without memory is `None`, as it would wait for ever.
    pub const NOFAIL: Self = Self(1 << 15);
    /// Give up early.
    pub const NORETRY: Self = Self(1 << 16);
    /// May use all of the reserves, those for requests of lower zones as well.
    pub const MEMALLOC: Self = Self(1 << 17);
    /// Compound page.
    pub const COMP: Self = Self(1 << 18);
    /// Only from the node asked for.
    pub const THISNODE: Self = Self(1 << 21);
    /// Charged to a control group: goes to `kmalloc-cg-*`.
    pub const ACCOUNT: Self = Self(1 << 22);

    /// `GFP_KERNEL`.
    pub const KERNEL: Self =
        Self(Self::DIRECT_RECLAIM.0 | Self::KSWAPD_RECLAIM.0 | Self::IO.0 | Self::FS.0);
    /// `GFP_KERNEL_ACCOUNT`.
    pub const KERNEL_ACCOUNT: Self = Self(Self::KERNEL.0 | Self::ACCOUNT.0);
    /// `GFP_ATOMIC`.
    pub const ATOMIC: Self = Self(Self::HIGH.0 | Self::KSWAPD_RECLAIM.0);
    /// `GFP_NOWAIT`.
    pub const NOWAIT: Self = Self(Self::KSWAPD_RECLAIM.0);

    /// Tells whether all of `flags` are set.
    #[inline(always)]
    pub const fn has(self, flags: Self) -> bool {
        self.0 & flags.0 == flags.0
    }

    /// Returns the flags without `flags`.
    #[inline(always)]
    pub const fn without(self, flags: Self) -> Self {
        Self(self.0 & !flags.0)
    }
}

impl BitOr for Gfp {
    type Output = Self;

    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for Gfp {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}
