//! Migrate types: what a page block is meant for.
//!
//! Linux counterpart: `enum migratetype` of `include/linux/mmzone.h` @ 4.4 to 7.3.

/// What the pages of a block are meant for. Its number is Linux's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Migrate {
    Unmovable = 0,
    Movable = 1,
    Reclaimable = 2,
    /// Kept for allocations of several pages that may not wait
    HighAtomic = 3,
    Cma = 4,
    Isolate = 5,
}

/// How many types there are.
pub(crate) const TYPES: usize = 6;

/// How many of them CPUs keep lists of: the first ones.
pub(crate) const CPU_TYPES: usize = 3;

impl Migrate {
    pub(crate) const ALL: [Migrate; TYPES] = {
        use Migrate::*;
        [Unmovable, Movable, Reclaimable, HighAtomic, Cma, Isolate]
    };

    /// Returns the type that an event names; one that no allocation has counts as unmovable.
    pub(crate) fn of_event(number: u8) -> Migrate {
        let types = Migrate::ALL.into_iter().take(CPU_TYPES);
        types.rev().find(|migrate| *migrate as u8 == number).unwrap_or(Migrate::Unmovable)
    }

    /// Returns what is taken where a type has no free block, the better one first.
    pub(crate) fn fallbacks(self) -> [Migrate; 2] {
        match self {
            Migrate::Movable => [Migrate::Reclaimable, Migrate::Unmovable],
            Migrate::Reclaimable => [Migrate::Unmovable, Migrate::Movable],
            _ => [Migrate::Reclaimable, Migrate::Movable],
        }
    }

    /// Returns whether CPUs keep lists of it, and whether blocks of it merge with those of other types.
    pub(crate) fn is_usual(self) -> bool {
        (self as usize) < CPU_TYPES
    }
}
