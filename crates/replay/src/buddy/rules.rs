//! In what the page allocators of releases differ.

use slablab_linux::Release;

/// What is done where a migrate type has no free block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stealing {
    /// To 6.9: the largest block of another type moves to the list of the type that is asked for, with all free ones of its
    /// page block; the page block changes its type when half of it is free or alike. Lists may have blocks of other page
    /// blocks' types.
    Mixed,
    /// 6.10 to 6.14: lists have blocks of their own type only; one is taken alone where its page block does not change.
    Whole,
    /// From 6.15 on: page blocks that change their type are looked for first, and then the smallest block is taken.
    Claim,
}

/// How many pages CPUs keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CpuLists {
    /// To 6.6: up to a fixed number
    Fixed,
    /// From 6.7 on: up to a number that follows what is allocated and freed
    Tuned {
        /// Whether blocks of several pages are given back only after `high_min / 2` pages more, which 6.15 began with
        is_late: bool,
        /// Whether the lists are drained in portions of a batch, which 6.19 began with
        is_in_portions: bool,
    },
}

/// The rules of a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rules {
    pub(crate) stealing: Stealing,
    pub(crate) cpu_lists: CpuLists,
    /// Whether a zone of less than a hundred page blocks keeps none for atomic allocations, which 6.7 began with
    pub(crate) has_small_reserve: bool,
    /// Whether neighbouring pages that are freed one behind the other go back as blocks. 7.3 does so and 6.12 does not; it
    /// counts from 7.1 on.
    pub(crate) frees_runs: bool,
    /// The greatest order of a free block
    pub(crate) max_order: u8,
    /// The order of a page block
    pub(crate) block_order: u8,
}

impl Rules {
    /// Returns those of a release; of an unknown one those of the newest.
    pub(crate) fn of(release: Option<Release>, max_order: u8, block_order: u8) -> Rules {
        let before = |major, minor| release.is_some_and(|release| release < Release(major, minor));
        let stealing = match () {
            () if before(6, 10) => Stealing::Mixed,
            () if before(6, 15) => Stealing::Whole,
            () => Stealing::Claim,
        };
        let cpu_lists = match before(6, 7) {
            true => CpuLists::Fixed,
            false => CpuLists::Tuned { is_late: !before(6, 15), is_in_portions: !before(6, 19) },
        };
        let block_order = block_order.min(max_order);
        Rules {
            stealing,
            cpu_lists,
            has_small_reserve: before(6, 7),
            frees_runs: !before(7, 1),
            max_order,
            block_order,
        }
    }

    /// Says whose rules these are.
    pub(crate) fn name(&self) -> &'static str {
        match (self.stealing, self.cpu_lists) {
            (_, CpuLists::Fixed) => "Linux to 6.6",
            (Stealing::Mixed, _) => "Linux 6.7 to 6.9",
            (Stealing::Whole, _) => "Linux 6.10 to 6.14",
            (Stealing::Claim, CpuLists::Tuned { is_in_portions: false, .. }) => {
                "Linux 6.15 to 6.18"
            }
            (Stealing::Claim, _) if !self.frees_runs => "Linux 6.19 and 7.0",
            (Stealing::Claim, _) => "Linux 7.1 and later",
        }
    }

    /// Pages of a page block
    pub(crate) fn block_pages(&self) -> u32 {
        1 << self.block_order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_release_has_the_rules_of_its_time() {
        let of = |major, minor| Rules::of(Some(Release(major, minor)), 10, 9);
        assert_eq!((of(6, 1).stealing, of(6, 1).cpu_lists), (Stealing::Mixed, CpuLists::Fixed));
        assert_eq!(of(6, 9).name(), "Linux 6.7 to 6.9");
        assert_eq!(of(6, 12).stealing, Stealing::Whole);
        assert_eq!((of(6, 15).stealing, of(7, 3).name()), (Stealing::Claim, "Linux 7.1 and later"));
        assert_eq!(Rules::of(None, 8, 13), Rules { max_order: 8, block_order: 8, ..of(7, 3) });
    }
}
