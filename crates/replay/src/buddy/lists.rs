//! Free blocks, in lists by order and migrate type.
//!
//! # How it works
//! A table has three numbers for each page of the zone: the neighbours of a free block's first page in its list, and its
//! order and type. Where no free block begins are zeros, so that memory is used only where blocks were free.

use super::migrate::{Migrate, TYPES};

/// No kernel has blocks of a higher order.
pub(crate) const ORDERS: usize = 16;

const NEXT: usize = 0;
const PREVIOUS: usize = 1;
const WHAT: usize = 2;

/// Where a block goes in its list: the first one is taken first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    First,
    Last,
}

/// A list: its ends, as pages + 1, and how many blocks it has.
#[derive(Debug, Clone, Copy, Default)]
struct List {
    first: u32,
    last: u32,
    count: u64,
}

/// The free blocks of a zone.
#[derive(Debug)]
pub(crate) struct FreeLists {
    nodes: Vec<[u32; 3]>,
    lists: [[List; ORDERS]; TYPES],
    pages: u64,
}

impl FreeLists {
    /// Makes the lists of a zone of this many pages; none is free.
    pub(crate) fn new(pages: u32) -> FreeLists {
        let lists = [[List::default(); ORDERS]; TYPES];
        FreeLists { nodes: vec![[0; 3]; pages as usize], lists, pages: 0 }
    }

    pub(crate) fn push(&mut self, page: u32, order: u8, migrate: Migrate, end: End) {
        let list = &mut self.lists[migrate as usize][usize::from(order)];
        let name = page + 1;
        let (next, previous) = match end {
            End::First => (list.first, 0),
            End::Last => (0, list.last),
        };
        match end {
            End::First => list.first = name,
            End::Last => list.last = name,
        }
        if list.count == 0 {
            (list.first, list.last) = (name, name);
        }
        list.count += 1;
        self.pages += 1 << order;
        self.link(next, PREVIOUS, name);
        self.link(previous, NEXT, name);
        let what = 1 | u32::from(order) << 1 | (migrate as u32) << 8;
        debug_assert_eq!(self.nodes[page as usize][WHAT], 0, "a block is free once");
        self.nodes[page as usize] = [next, previous, what];
    }

    /// Takes out the free block that begins there; [`FreeLists::block_at`] has to say that it is free.
    pub(crate) fn remove(&mut self, page: u32) -> (u8, Migrate) {
        let (order, migrate) = self.block_at(page).expect("the block is free");
        let [next, previous, _] = std::mem::take(&mut self.nodes[page as usize]);
        let list = &mut self.lists[migrate as usize][usize::from(order)];
        list.count -= 1;
        if next == 0 {
            list.last = previous;
        }
        if previous == 0 {
            list.first = next;
        }
        self.pages -= 1 << order;
        self.link(next, PREVIOUS, previous);
        self.link(previous, NEXT, next);
        (order, migrate)
    }

    fn link(&mut self, name: u32, place: usize, other: u32) {
        if name > 0 {
            self.nodes[name as usize - 1][place] = other;
        }
    }

    /// Returns the free block that begins at a page.
    #[inline]
    pub(crate) fn block_at(&self, page: u32) -> Option<(u8, Migrate)> {
        let what = self.nodes.get(page as usize)?[WHAT];
        (what != 0).then(|| ((what >> 1 & 0x7f) as u8, Migrate::ALL[(what >> 8) as usize]))
    }

    /// Returns the first block of a list.
    #[inline]
    pub(crate) fn first(&self, order: u8, migrate: Migrate) -> Option<u32> {
        self.lists[migrate as usize][usize::from(order)].first.checked_sub(1)
    }

    /// Returns how many blocks a list has.
    pub(crate) fn count(&self, order: u8, migrate: Migrate) -> u64 {
        self.lists[migrate as usize][usize::from(order)].count
    }

    /// Returns how many blocks of an order are free.
    pub(crate) fn of_order(&self, order: u8) -> u64 {
        Migrate::ALL.into_iter().map(|migrate| self.count(order, migrate)).sum()
    }

    /// Returns how many pages there are, free or not.
    pub(crate) fn all_pages(&self) -> u32 {
        self.nodes.len() as u32
    }

    /// Returns how many pages are free.
    pub(crate) fn pages(&self) -> u64 {
        self.pages
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_taken_from_the_first_on_and_from_the_middle() {
        let mut lists = FreeLists::new(16);
        let (order, movable) = (1, Migrate::Movable);
        lists.push(2, order, movable, End::Last);
        lists.push(6, order, movable, End::Last);
        lists.push(4, order, movable, End::First);
        lists.push(0, order, Migrate::Cma, End::First);
        assert_eq!((lists.first(1, movable), lists.of_order(1), lists.pages()), (Some(4), 4, 8));
        assert_eq!(lists.remove(2), (1, movable));
        assert_eq!(lists.remove(4), (1, movable));
        assert_eq!((lists.first(1, movable), lists.block_at(2)), (Some(6), None));
        assert_eq!(lists.remove(6), (1, movable));
        assert_eq!((lists.first(1, movable), lists.count(1, movable), lists.pages()), (None, 0, 2));
        lists.push(8, 3, Migrate::Isolate, End::Last);
        assert_eq!(lists.block_at(8), Some((3, Migrate::Isolate)));
    }
}
