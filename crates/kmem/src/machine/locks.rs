//! Kinds of locks, to count what each costs.

/// A lock that an allocation or free may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum LockKind {
    /// SLUB's and SLAB's per-node `list_lock`.
    NodeList = 0,
    /// An atomic update of a slab's free list and counters (`cmpxchg_double`, the slab lock).
    Slab = 1,
    /// SLOB's one `slob_lock`.
    Slob = 2,
    /// One of SLMB's list locks.
    SlmbList = 3,
    /// A zone's lock in the page allocator.
    Zone = 4,
    /// A per-CPU page list's lock.
    Pcp = 5,
    /// The vmalloc area tree's lock.
    Vmalloc = 6,
}

impl LockKind {
    /// All kinds, in the order of their index.
    pub const ALL: [Self; 7] = [
        Self::NodeList,
        Self::Slab,
        Self::Slob,
        Self::SlmbList,
        Self::Zone,
        Self::Pcp,
        Self::Vmalloc,
    ];

    /// Returns the name used in tables and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::NodeList => "list_lock",
            Self::Slab => "slab_cmpxchg",
            Self::Slob => "slob_lock",
            Self::SlmbList => "slmb_lock",
            Self::Zone => "zone_lock",
            Self::Pcp => "pcp_lock",
            Self::Vmalloc => "vmalloc_lock",
        }
    }
}
