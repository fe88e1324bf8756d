//! A zone whose free pages the recording has read.
//!
//! # How it works
//! Runs of free pages fall into the largest blocks that begin where their order lets them begin, as buddies merge. What the
//! kernel does not say is taken from what happens next ([`Hints`]): a list has the blocks first that are taken first, and a
//! page block has the type that the first event names. Of the others as many have a type as the kernel said; those without
//! movable pages are movable last.

use rustc_hash::FxHashMap;
use slablab_trace as trace;

use super::holes::Holes;
use super::lists::End;
use super::migrate::Migrate;
use super::zone::Zone;

/// A block that a CPU kept when the trace began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kept {
    pub(crate) cpu: u16,
    pub(crate) page: u32,
    pub(crate) order: u8,
    pub(crate) migrate: Migrate,
}

/// What events tell of a zone as it was before them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Hints {
    /// Pages whose flags may have been read before their last event until then, and whether they were free after it
    pub(crate) early: FxHashMap<u32, bool>,
    /// Types of page blocks, by their numbers
    pub(crate) types: FxHashMap<u32, Migrate>,
    /// Pages of free blocks, in the order in which they were taken
    pub(crate) taken: Vec<u32>,
    /// What CPUs kept, the first one to be taken first
    pub(crate) kept: Vec<Kept>,
}

/// Frees the pages that were free, and fills the holes with the others. The zone's pages begin `offset` pages behind the
/// model's first one.
pub(super) fn place(
    zone: &mut Zone,
    holes: &mut Holes,
    of: &trace::Zone,
    offset: u32,
    hints: &Hints,
) {
    let max_order = zone.rules.max_order;
    let pages = zone.pages();
    let is_free = free_pages(of, offset, pages, hints);
    let (mut free, mut used) = (Vec::new(), Vec::new());
    let mut at = 0;
    for run in is_free.chunk_by(|one, next| one == next) {
        let end = at + run.len() as u32;
        blocks_of(at, end, max_order, if run[0] { &mut free } else { &mut used });
        at = end;
    }
    set_movable(zone, of, offset);
    set_types(zone, of, &free, hints);
    for (page, order) in in_order(free, &hints.taken) {
        zone.lists.push(page, order, zone.block_type(page), End::Last);
    }
    for (page, order) in used {
        holes.put(page, order);
    }
}

/// Returns of each page whether it was free.
fn free_pages(of: &trace::Zone, offset: u32, pages: u32, hints: &Hints) -> Vec<bool> {
    let mut free = vec![false; pages as usize];
    let mut at = offset as usize;
    for (place, run) in of.free_runs.iter().enumerate() {
        let end = (at as u64).saturating_add(*run).min(pages.into()) as usize;
        free[at.min(end)..end].fill(place % 2 == 1);
        at = end;
    }
    for (page, is_free) in &hints.early {
        if let Some(page) = free.get_mut(*page as usize) {
            *page = *is_free;
        }
    }
    free
}

/// Appends the largest blocks that a run of pages falls into.
fn blocks_of(from: u32, end: u32, max_order: u8, to: &mut Vec<(u32, u8)>) {
    let mut page = from;
    while page < end {
        let fits = (end - page).ilog2().min(page.trailing_zeros()) as u8;
        let order = fits.min(max_order);
        to.push((page, order));
        page += 1 << order;
    }
}

/// Returns blocks, which are in the order of their pages, in the order in which pages of them were taken.
fn in_order(blocks: Vec<(u32, u8)>, taken: &[u32]) -> Vec<(u32, u8)> {
    let mut ranks = vec![usize::MAX; blocks.len()];
    for (rank, page) in taken.iter().enumerate() {
        let behind = blocks.partition_point(|(first, _)| first <= page);
        let Some(at) = behind.checked_sub(1) else { continue };
        let (first, order) = blocks[at];
        if page - first < 1 << order {
            ranks[at] = ranks[at].min(rank);
        }
    }
    let mut ranked: Vec<_> = ranks.into_iter().zip(blocks).collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.into_iter().map(|(_, block)| block).collect()
}

fn set_movable(zone: &mut Zone, of: &trace::Zone, offset: u32) {
    let first = (offset >> zone.rules.block_order) as usize;
    for (to, movable) in zone.movable.iter_mut().skip(first).zip(&of.movable) {
        *to = *movable;
    }
}

/// Gives page blocks their types.
fn set_types(zone: &mut Zone, of: &trace::Zone, free: &[(u32, u8)], hints: &Hints) {
    let block_order = zone.rules.block_order;
    let mut left = of.blocks.clone();
    let mut free_pages = vec![0u32; zone.blocks.len()];
    for (page, order) in free {
        let first = (page >> block_order) as usize;
        let count = 1usize << order.saturating_sub(block_order);
        let pages = 1u32 << order.min(&block_order);
        free_pages.iter_mut().skip(first).take(count).for_each(|free| *free += pages);
    }
    let mut untold = Vec::new();
    for number in 0..zone.blocks.len() {
        match hints.types.get(&(number as u32)) {
            Some(migrate) => {
                zone.blocks[number] = *migrate;
                if let Some(left) = left.get_mut(*migrate as usize) {
                    *left = left.saturating_sub(1);
                }
            }
            None => untold.push(number),
        }
    }
    let whole = zone.rules.block_pages();
    untold.sort_by_key(|number| (free_pages[*number] == whole, zone.movable[*number], *number));
    let mut untold = untold.into_iter();
    for migrate in Migrate::ALL.into_iter().filter(|migrate| *migrate != Migrate::Movable) {
        let count = left.get(migrate as usize).copied().unwrap_or(0);
        for number in untold.by_ref().take(count as usize) {
            zone.blocks[number] = migrate;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_that_were_taken_first_come_first() {
        let blocks = vec![(0, 2), (8, 2), (16, 2)];
        assert_eq!(in_order(blocks.clone(), &[17, 6, 9]), [(16, 2), (8, 2), (0, 2)]);
        assert_eq!(in_order(blocks.clone(), &[]), blocks);
    }
}
