//! Pages of one block that are freed one behind the other, and go back as blocks.
//!
//! # How it works
//! A block that was split (a thread's stack in vmalloc memory) is freed page by page, each with an event of its own. Newer
//! kernels put neighbours together before they free them, so that a CPU's lists get the block and not its pages. A run ends with
//! the next other event of its CPU.
//!
//! Linux counterpart: `free_prepared_contig_range` of `mm/page_alloc.c` @ 7.3.

use rustc_hash::FxHashMap;

use crate::buddy::machine::Given;

/// Pages that were freed, and that have not gone back yet.
#[derive(Debug, Clone, Copy)]
struct FreeRun {
    slot: u32,
    pid: u32,
    first: Given,
    pages: u32,
}

/// The runs of all CPUs.
#[derive(Debug, Default)]
pub(super) struct FreeRuns {
    by_cpu: FxHashMap<u16, FreeRun>,
}

impl FreeRuns {
    /// Adds a page of a slot's block; returns the blocks of a run that it does not continue.
    pub(super) fn add(
        &mut self,
        cpu: u16,
        (slot, pid): (u32, u32),
        given: Given,
    ) -> Vec<(Given, u8)> {
        if let Some(run) = self.by_cpu.get_mut(&cpu)
            && (run.slot, run.pid, run.first.zone) == (slot, pid, given.zone)
            && run.first.page + run.pages == given.page
        {
            run.pages += 1;
            return Vec::new();
        }
        let before = self.end(cpu);
        self.by_cpu.insert(cpu, FreeRun { slot, pid, first: given, pages: 1 });
        before
    }

    /// Ends a CPU's run; returns its blocks, the largest that begin where their order lets them begin.
    pub(super) fn end(&mut self, cpu: u16) -> Vec<(Given, u8)> {
        let Some(run) = self.by_cpu.remove(&cpu) else { return Vec::new() };
        let (mut page, end) = (run.first.page, run.first.page + run.pages);
        let mut blocks = Vec::new();
        while page < end {
            let order = (end - page).ilog2().min(page.trailing_zeros()) as u8;
            blocks.push((Given { page, ..run.first }, order));
            page += 1 << order;
        }
        blocks
    }

    /// Returns the CPUs that have a run.
    pub(super) fn cpus(&self) -> Vec<u16> {
        let mut cpus: Vec<u16> = self.by_cpu.keys().copied().collect();
        cpus.sort_unstable();
        cpus
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_of_one_block_go_back_as_blocks() {
        let given = |page| Given { zone: 0, page, is_movable: false };
        let mut runs = FreeRuns::default();
        for page in 6..12 {
            assert!(runs.add(1, (3, 7), given(page)).is_empty());
        }
        assert_eq!(runs.add(1, (3, 7), given(20)), [(given(6), 1), (given(8), 2)]);
        assert!(runs.add(2, (3, 7), given(21)).is_empty());
        assert_eq!(runs.cpus(), [1, 2]);
        // Another block's page begins another run.
        assert_eq!(runs.add(2, (4, 7), given(22)), [(given(21), 0)]);
        assert_eq!((runs.end(1), runs.end(1)), (vec![(given(20), 0)], vec![]));
    }
}
