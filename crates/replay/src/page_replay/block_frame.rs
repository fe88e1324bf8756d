//! Who has a machine's page blocks at a moment.

/// Who has pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockOwner {
    /// The page allocator
    Free,
    /// Slabs that came since the beginning
    Slabs,
    /// Allocations that can be moved: of programs, and of files
    Movable,
    /// The kernel's others, and what is older than the beginning and not movable
    Others,
}

impl BlockOwner {
    /// All owners.
    pub const ALL: [BlockOwner; 4] =
        [BlockOwner::Free, BlockOwner::Slabs, BlockOwner::Movable, BlockOwner::Others];

    /// Returns what it is called.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            BlockOwner::Free => "free",
            BlockOwner::Slabs => "slabs",
            BlockOwner::Movable => "movable",
            BlockOwner::Others => "others",
        }
    }
}

/// Some page blocks, one beside the other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BlockCell {
    /// Who has most of their pages
    pub owner: BlockOwner,
    /// How much of them that is
    pub share: f64,
    /// The number of the migrate type that most of them have
    pub migrate_type: u8,
}

/// Who has the page blocks at a moment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BlockFrame {
    /// Since the first event of pages
    pub time_ns: u64,
    /// Page blocks of a cell
    pub blocks: u64,
    /// The cells, by rising address, zone by zone
    pub cells: Vec<BlockCell>,
}
