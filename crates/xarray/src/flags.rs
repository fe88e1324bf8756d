//! The small closed sets of the interface: flags, marks, filters, limits, allocation contexts.
//!
//! Linux counterpart: the constants of include/linux/xarray.h and include/linux/gfp_types.h @ 6.1.

/// What an array does beyond holding entries. The bits are those of `XA_FLAGS_*`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flags(pub(crate) u32);

impl Flags {
    /// A plain array.
    pub const NONE: Self = Self(0);
    /// The lock is taken with interrupts off. In user space the plain lock serves.
    pub const LOCK_IRQ: Self = Self(1);
    /// The lock is taken with soft interrupts off. In user space the plain lock serves.
    pub const LOCK_BH: Self = Self(2);
    pub(crate) const TRACK_FREE: Self = Self(4);
    pub(crate) const ZERO_BUSY: Self = Self(8);
    pub(crate) const ALLOC_WRAPPED: Self = Self(16);
    /// Hands out ids from 0. Linux: `XA_FLAGS_ALLOC`.
    pub const ALLOC: Self = Self(Self::TRACK_FREE.0 | Mark::M0.root_flag());
    /// Hands out ids from 1. Linux: `XA_FLAGS_ALLOC1`.
    pub const ALLOC1: Self = Self(Self::TRACK_FREE.0 | Self::ZERO_BUSY.0);

    /// Returns the bits.
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Returns the flags with these bits. Bits that mean nothing here are kept and ignored.
    #[must_use]
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    pub(crate) const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// One of the three marks that an entry can bear.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Mark {
    /// `XA_MARK_0`. An array that hands out ids keeps it for itself.
    M0 = 0,
    /// `XA_MARK_1`.
    M1 = 1,
    /// `XA_MARK_2`.
    M2 = 2,
}

impl Mark {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::M0, Self::M1, Self::M2];
    /// The mark that free indices bear in an array that hands out ids.
    pub(crate) const FREE: Self = Self::M0;

    /// Returns the mark of this number.
    #[must_use]
    pub const fn from_number(number: u32) -> Option<Self> {
        match number {
            0 => Some(Self::M0),
            1 => Some(Self::M1),
            2 => Some(Self::M2),
            _ => None,
        }
    }

    pub(crate) const fn number(self) -> usize {
        self as usize
    }

    pub(crate) const fn bit(self) -> u8 {
        1 << self as u8
    }

    /// Returns the bits of those marks that the entry in question bears.
    pub(crate) fn bits(bears: impl Fn(Self) -> bool) -> u8 {
        Self::ALL.into_iter().filter(|&mark| bears(mark)).map(Self::bit).sum()
    }

    /// The bit in an array's flags that says "some entry bears this mark"; it lies above all gfp bits (27
    /// @ 6.1).
    pub(crate) const fn root_flag(self) -> u32 {
        1 << (27 + self as u32)
    }
}

/// Which entries a search returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Filter {
    /// Every entry. Linux: `XA_PRESENT`.
    Present,
    /// Entries that bear the mark.
    Marked(Mark),
}

/// The ids that an allocation may return, both ends included. Linux: `struct xa_limit`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdLimit {
    /// The smallest id.
    pub min: u32,
    /// The largest id.
    pub max: u32,
}

impl IdLimit {
    /// Every 32-bit id. Linux: `xa_limit_32b`.
    pub const ALL: Self = Self { min: 0, max: u32::MAX };
    /// Ids that fit a positive `int`. Linux: `xa_limit_31b`.
    pub const POSITIVE: Self = Self { min: 0, max: i32::MAX as u32 };
    /// Ids that fit 16 bits. Linux: `xa_limit_16b`.
    pub const SHORT: Self = Self { min: 0, max: u16::MAX as u32 };
}

/// How hard an allocation may try: Linux's gfp bits. Only the bit "may it block" matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gfp(u32);

impl Gfp {
    /// `__GFP_DIRECT_RECLAIM` @ 6.1: the caller may wait for memory.
    const DIRECT_RECLAIM: u32 = 0x400;
    /// The usual context, which may wait. `__GFP_RECLAIM | __GFP_IO | __GFP_FS`.
    pub const KERNEL: Self = Self(0xcc0);
    /// A context that must not wait. `__GFP_KSWAPD_RECLAIM`.
    pub const NOWAIT: Self = Self(0x800);

    /// Returns the context with these bits.
    #[must_use]
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// Returns the bits.
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Returns whether the allocation may wait for memory.
    #[must_use]
    pub const fn may_block(self) -> bool {
        self.0 & Self::DIRECT_RECLAIM != 0
    }
}
