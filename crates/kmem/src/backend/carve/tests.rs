//! Compares the ring with Linux's way: a plain list of pages, each looked at in turn.

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec::Vec;

use super::freemap::FreeMap;
use super::layout::Shape;
use super::pages::Carved;
use super::ring::Ring;
use crate::cache::table::CacheTable;
use crate::ids::{ObjPtr, PAGE_SIZE, Pfn};
use crate::page::PageTable;
use crate::raw::arena::Arena;
use crate::raw::zeroed::ZeroedSlice;
use crate::tests::conformance::Random;

/// SLOB as the kernel has it, in units of 2 bytes, with no index at all.
#[derive(Default)]
struct Plain {
    /// List order; the front is where the search starts.
    list: VecDeque<u32>,
    /// Free runs of each page: start and length in units.
    runs: BTreeMap<u32, Vec<(u32, u32)>>,
    /// Pages that have a map.
    maps: BTreeSet<u32>,
}

const UNITS: u32 = PAGE_SIZE as u32 / 2;
const MAP_UNITS: u32 = 32;

impl Plain {
    /// A block, and a map with the first one that is marked.
    fn take_with_map(
        &mut self,
        page: u32,
        units: u32,
        align: u64,
        offset: u64,
        marked: bool,
    ) -> Option<u64> {
        let makes_map = marked && !self.maps.contains(&page);
        let free: u32 = self.runs[&page].iter().map(|run| run.1).sum();
        if makes_map && free < units + MAP_UNITS {
            return None;
        }
        let before = self.runs[&page].clone();
        let obj = self.take_in_page(page, units, align, offset)?;
        if makes_map && self.take_in_page(page, MAP_UNITS, 8, 0).is_none() {
            self.runs.insert(page, before);
            return None;
        }
        if makes_map {
            self.maps.insert(page);
        }
        Some(obj)
    }

    fn take_in_page(&mut self, page: u32, units: u32, align: u64, offset: u64) -> Option<u64> {
        let runs = self.runs.get_mut(&page).unwrap();
        for i in 0..runs.len() {
            let (start, length) = runs[i];
            let base = u64::from(page) * PAGE_SIZE;
            let place = base + u64::from(start) * 2 + offset;
            let delta = ((place.next_multiple_of(align) - place) / 2) as u32;
            if length < units + delta {
                continue;
            }
            let rest = (start + delta + units, length - delta - units);
            runs.splice(i..=i, [(start, delta), rest].into_iter().filter(|r| r.1 > 0));
            return Some(base + u64::from(start + delta) * 2 + offset);
        }
        None
    }

    /// Returns the object and the pages walked.
    fn take(&mut self, bytes: u64, align: u64, offset: u64, marked: bool) -> (Option<u64>, u32) {
        let units = bytes.div_ceil(2) as u32;
        for i in 0..self.list.len() {
            let page = self.list[i];
            let Some(obj) = self.take_with_map(page, units, align, offset, marked) else {
                continue;
            };
            if self.runs[&page].is_empty() {
                self.list.remove(i);
                // The search goes on where it was: a page that left does not move the head.
            } else {
                self.list.rotate_left(i);
            }
            return (Some(obj), i as u32 + 1);
        }
        (None, self.list.len() as u32)
    }

    fn put(&mut self, start: u64, bytes: u64) {
        let page = (start / PAGE_SIZE) as u32;
        let (at, units) = ((start % PAGE_SIZE / 2) as u32, bytes.div_ceil(2) as u32);
        let runs = self.runs.entry(page).or_default();
        let was_full = runs.is_empty();
        runs.push((at, units));
        runs.sort_unstable();
        let mut merged: Vec<(u32, u32)> = Vec::new();
        for &(at, units) in runs.iter() {
            match merged.last_mut() {
                Some(last) if last.0 + last.1 == at => last.1 += units,
                _ => merged.push((at, units)),
            }
        }
        *runs = merged;
        let free: u32 = runs.iter().map(|run| run.1).sum();
        let map = if self.maps.contains(&page) { MAP_UNITS } else { 0 };
        if free + map == UNITS {
            self.list.retain(|&p| p != page);
            self.runs.remove(&page);
            self.maps.remove(&page);
        } else if was_full {
            self.list.push_front(page);
        }
    }
}

/// Runs random blocks through both; every address and every count of pages walked has to agree.
fn compare(seed: u64, pages_max: u32, largest: u64, has_maps: bool) {
    let mut random = Random(seed);
    let table = PageTable::new(pages_max + 1);
    let maps = ZeroedSlice::<FreeMap>::new(pages_max as usize + 1);
    let arena = Arena::reserve(u64::from(pages_max + 1) * PAGE_SIZE).unwrap();
    let carved = Carved { pages: &table, maps: &maps, arena: &arena };
    let mut ring = Ring::EMPTY;
    let mut plain = Plain::default();
    let mut vacant: Vec<u32> = (1..=pages_max).rev().collect();
    let mut live: Vec<(u64, u64, bool)> = Vec::new();
    for operation in 0..30_000 {
        let grow = if operation / 5_000 % 2 == 0 { 65 } else { 40 };
        if random.below(100) < grow || live.is_empty() {
            let size = 1 + random.below(largest);
            let marked = has_maps && random.below(2) == 0;
            // A heap has maps or sizes in front, never both.
            let kinds = if has_maps && !marked { 2 } else { 4 };
            let (shape, bytes, align, offset) = match random.below(kinds) {
                kind if marked => {
                    let size = if kind == 3 { size.next_power_of_two() } else { size };
                    (Shape::marked(size), size.next_multiple_of(8).max(16), natural(size), 0)
                }
                0 => (object(size, 64), size, 64, 0),
                1 => (object(size, 8), size, 8, 0),
                2 => (Shape::kmalloc(size, 0), size + 8, natural(size), 8),
                _ => {
                    let size = size.next_power_of_two();
                    (Shape::kmalloc(size, 0), size + 8, natural(size), 8)
                }
            };
            let expected = plain.take(bytes, align, offset, marked);
            let (got, walked) = ring.take(carved, shape);
            assert_eq!((got.map(ObjPtr::get), walked), expected, "operation {operation}");
            let obj = match got {
                Some(obj) => obj,
                None => {
                    let Some(page) = vacant.pop() else { continue };
                    carved.open(Pfn(page));
                    let obj = carved.take(Pfn(page), shape).unwrap();
                    plain.runs.insert(page, alloc::vec![(0, UNITS)]);
                    let units = bytes.div_ceil(2) as u32;
                    let in_plain = plain.take_with_map(page, units, align, offset, marked);
                    assert_eq!(in_plain, Some(obj.get()));
                    assert_eq!(plain.runs[&page].is_empty(), carved.is_full(Pfn(page)));
                    if !carved.is_full(Pfn(page)) {
                        plain.list.push_front(page);
                        ring.push(carved, Pfn(page));
                    }
                    obj
                }
            };
            let granules = (bytes / 8) as u32;
            assert_eq!(carved.marked(obj).filter(|_| marked), marked.then_some(granules));
            live.push((obj.get() - offset, bytes, marked));
        } else {
            let (start, bytes, marked) = live.swap_remove(random.below(live.len() as u64) as usize);
            let pfn = ObjPtr::new(start).unwrap().pfn();
            let was_full = carved.is_full(pfn);
            if marked {
                let obj = ObjPtr::new(start).unwrap();
                assert_eq!(carved.marked(obj), Some((bytes / 8) as u32));
                carved.unmark(start, bytes);
                assert_eq!(carved.marked(obj), None);
            }
            carved.put(start, bytes);
            plain.put(start, bytes);
            if carved.is_empty(pfn) {
                if !was_full {
                    ring.remove(carved, pfn);
                }
                vacant.push(pfn.0);
            } else if was_full {
                ring.push(carved, pfn);
            } else {
                ring.grown(carved, pfn);
            }
        }
        if operation % 500 == 0 {
            assert!(ring.iter().map(|pfn| pfn.0).eq(plain.list.iter().copied()));
            assert_eq!(ring.check(carved), None);
        }
    }
}

fn object(size: u64, align: u32) -> Shape {
    let table = CacheTable::new(1);
    let cache = &table.slots()[0];
    cache.inuse.set(size as u32);
    cache.align.set(align);
    Shape::object(cache)
}

fn natural(size: u64) -> u64 {
    if size.is_power_of_two() { size.max(8) } else { 8 }
}

#[test]
fn decides_as_the_plain_list_small_blocks() {
    compare(1, 300, 240, false);
}

#[test]
fn decides_as_the_plain_list_medium_blocks() {
    compare(2, 600, 1000, false);
}

#[test]
fn decides_as_the_plain_list_large_blocks() {
    compare(3, 2_000, 2_040, false);
}

/// Gives each page that has marked blocks a map, beside blocks that have no marks.
#[test]
fn decides_as_the_plain_list_with_maps() {
    compare(4, 300, 240, true);
    compare(5, 600, 1000, true);
    compare(6, 2_000, 2_000, true);
}
