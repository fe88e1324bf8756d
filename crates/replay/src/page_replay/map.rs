//! A map of a machine's page blocks at a moment: who has most of each, and which migrate type it has.
//!
//! # How it works
//! The pages of a block are free, of slabs, movable, or others'. Neighbouring blocks share a cell where there are more blocks
//! than cells, so that a map of any machine has at most [`CELLS_MAX`] cells. A cell is its largest owner's.
//!
//! # Differences from Linux
//! Slabs from before the beginning count as others', as do pages that CPUs keep.

use super::block_frame::{BlockCell, BlockFrame, BlockOwner};
use super::slabs::Slabs;
use crate::buddy::machine::Machine;
use crate::buddy::migrate::TYPES;
use crate::buddy::zone::Zone;

/// The most cells of a map; each zone may add one.
const CELLS_MAX: usize = 1024;

/// Returns the map of a machine.
pub(super) fn cells(machine: &Machine, slabs: &Slabs<'_>) -> BlockFrame {
    let all: usize = machine.zones.iter().map(|(_, zone)| zone.blocks.len()).sum();
    let blocks = all.div_ceil(CELLS_MAX).max(1);
    let mut cells = Vec::new();
    for (number, (_, zone)) in machine.zones.iter().enumerate() {
        let free = free_pages(zone);
        let numbers: Vec<usize> = (0..zone.blocks.len()).collect();
        cells.extend(
            numbers
                .chunks(blocks)
                .map(|some| cell(zone, some, &free, |block| slabs.of_block(number, block))),
        );
    }
    BlockFrame { time_ns: 0, blocks: blocks as u64, cells }
}

fn cell(zone: &Zone, numbers: &[usize], free: &[u32], slabs: impl Fn(usize) -> u32) -> BlockCell {
    let (mut pages, mut types) = ([0u64; BlockOwner::ALL.len()], [0u32; TYPES]);
    for &block in numbers {
        let all = zone.rules.block_pages();
        let free = free[block].min(all);
        let slabs = slabs(block).min(all - free);
        let movable = zone.movable_pages((block as u32) << zone.rules.block_order);
        let movable = movable.min(all - free - slabs);
        for (sum, part) in
            pages.iter_mut().zip([free, slabs, movable, all - free - slabs - movable])
        {
            *sum += u64::from(part);
        }
        types[zone.blocks[block] as usize] += 1;
    }
    let all: u64 = pages.iter().sum();
    // Of equal ones the first.
    let most = (0..pages.len()).rev().max_by_key(|at| pages[*at]).unwrap_or(0);
    let migrate = (0..TYPES).rev().max_by_key(|at| types[*at]).unwrap_or(0);
    BlockCell {
        owner: BlockOwner::ALL[most],
        share: pages[most] as f64 / all.max(1) as f64,
        migrate_type: migrate as u8,
    }
}

/// Returns the free pages of each page block.
fn free_pages(zone: &Zone) -> Vec<u32> {
    let mut free = vec![0u32; zone.blocks.len()];
    let (mut page, block_order) = (0, zone.rules.block_order);
    while page < zone.pages() {
        let Some((order, _)) = zone.lists.block_at(page) else {
            page += 1;
            continue;
        };
        let first = (page >> block_order) as usize;
        let count = 1usize << order.saturating_sub(block_order);
        let pages = 1u32 << order.min(block_order);
        free.iter_mut().skip(first).take(count).for_each(|free| *free += pages);
        page += 1 << order;
    }
    free
}

#[cfg(test)]
mod tests {
    use slablab_linux::Release;

    use super::*;
    use crate::buddy::lists::End;
    use crate::buddy::machine::Place;
    use crate::buddy::migrate::Migrate;
    use crate::buddy::rules::Rules;

    #[test]
    fn a_cell_is_of_who_has_most_of_its_page_blocks() {
        let rules = Rules::of(Some(Release(6, 12)), 10, 9);
        let mut zone = Zone::new(rules, 8 << 10);
        zone.lists.push(0, 10, Migrate::Movable, End::Last);
        zone.lists.push(1024, 7, Migrate::Movable, End::Last);
        zone.note_movable(1536, 9, true);
        zone.set_block_types(1536, 9, Migrate::Unmovable);
        let place = Place { node: 0, name: "Normal".to_owned(), index: 2 };
        let machine = Machine::new(vec![(place, zone)], vec![vec![]], vec![]);
        let frame = cells(&machine, &Slabs::default());
        let owners: Vec<_> =
            frame.cells.iter().take(5).map(|cell| (cell.owner, cell.share)).collect();
        use BlockOwner::{Free, Movable, Others};
        let expected = [(Free, 1.0), (Free, 1.0), (Others, 0.75), (Movable, 1.0), (Others, 1.0)];
        assert_eq!((owners, frame.blocks, frame.cells.len()), (expected.to_vec(), 1, 16));
        let types: Vec<_> = frame.cells.iter().take(4).map(|cell| cell.migrate_type).collect();
        assert_eq!(types, [1, 1, 1, 0]);
    }

    #[test]
    fn a_map_of_a_large_machine_has_few_cells() {
        let rules = Rules::of(Some(Release(6, 12)), 10, 9);
        let zone = Zone::new(rules, 8 << 20);
        let place = Place { node: 0, name: "Normal".to_owned(), index: 2 };
        let machine = Machine::new(vec![(place, zone)], vec![vec![]], vec![]);
        let frame = cells(&machine, &Slabs::default());
        assert_eq!((frame.cells.len(), frame.blocks), (CELLS_MAX, 16));
    }
}
