//! Pages with free space, in a circle. Their order is Linux's list order; the next search starts at
//! the head.
//!
//! # How it works
//! The ring holds arrays of page numbers instead of links from record to record, so that a search waits
//! for no record to know the next. The arrays are cut into chunks, and each chunk has a bound on what
//! fits into its pages, so a search passes over chunks without looking at their pages. The number of
//! pages that Linux would have walked is counted all the same. A recording of a machine with 1.9 GB in
//! slabs, replayed under SLOB from a warm start, takes 6 s; most of that is the operating system's
//! memory. It took more than 150 s when each page was looked at.
//!
//! # Invariants
//! - No chunk is empty, nor has more than [`CHUNK_MAX`] pages; the head is a page, unless there is none.
//! - `Page::next` of a page on a ring is the number of its chunk.
//! - What is known of a chunk is at least what the hint of each of its pages says.

use alloc::vec::Vec;

use super::layout::Shape;
use super::pages::{Carved, Hint};
use crate::ids::{ObjPtr, Pfn};

/// Pages in a chunk, at most; few in tests, so that chunks are split there.
const CHUNK_MAX: usize = if cfg!(test) { 4 } else { 128 };
/// Blocks of no class, and those of each class that [`Shape::class`] has a bit for.
const KINDS: usize = 9;

/// A run of the ring's pages.
#[derive(Debug)]
struct Chunk {
    pages: Vec<Pfn>,
    /// Its place in the ring's order.
    place: usize,
}

/// A page of the ring: the place of its chunk, and the page's place in that chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Spot {
    chunk: usize,
    at: usize,
}

/// A circle of pages.
#[derive(Debug)]
pub(super) struct Ring {
    /// The chunks by number; those that `unused` names are empty.
    chunks: Vec<Chunk>,
    unused: Vec<u32>,
    /// The numbers of the chunks, in order.
    order: Vec<u32>,
    /// The granules of the longest run that may serve a kind of block, at most, by kind and place of
    /// the chunk.
    most: [Vec<u16>; KINDS],
    /// Where the next search starts; the start of an empty ring.
    head: Spot,
    pages: u32,
}

/// Returns the kind of a block.
fn kind(shape: Shape) -> usize {
    if shape.class == 0 { 0 } else { shape.class.trailing_zeros() as usize + 1 }
}

/// Returns the granules of the longest run of a page that may serve a kind of block, at most.
fn bound(hint: Hint, kind: usize) -> u16 {
    if kind == 0 || hint.allows_class(1 << (kind - 1)) { hint.longest() as u16 } else { 0 }
}

impl Ring {
    pub(super) const EMPTY: Self = Self {
        chunks: Vec::new(),
        unused: Vec::new(),
        order: Vec::new(),
        most: [const { Vec::new() }; KINDS],
        head: Spot { chunk: 0, at: 0 },
        pages: 0,
    };

    /// Returns the pages of the chunk at a place.
    fn chunk(&self, place: usize) -> &[Pfn] {
        &self.chunks[self.order[place] as usize].pages
    }

    /// Visits the runs of pages from the head on: the place of the chunk, and the range of places in
    /// it. The head's chunk comes twice, unless the head is its first page.
    fn runs(&self) -> impl Iterator<Item = (usize, usize, usize)> + use<> {
        let Spot { chunk, at } = self.head;
        let first = (self.pages > 0).then_some((chunk, at, usize::MAX));
        let others = (chunk + 1..self.order.len()).chain(0..chunk.min(self.order.len()));
        let others = others.map(|place| (place, 0, usize::MAX));
        first.into_iter().chain(others).chain((at > 0).then_some((chunk, 0, at)))
    }

    /// Visits the pages, from the head on.
    pub(super) fn iter(&self) -> impl Iterator<Item = Pfn> {
        self.runs().flat_map(|(place, from, to)| {
            let pages = self.chunk(place);
            pages[from..to.min(pages.len())].iter().copied()
        })
    }

    /// Takes a block from the first page, from the head on, in which it fits; the head moves there
    /// unless the page is now full and leaves the ring. Also returns how many pages Linux would have
    /// walked, the one that fitted included.
    pub(super) fn take(&mut self, carved: Carved<'_>, shape: Shape) -> (Option<ObjPtr>, u32) {
        let (kind, mut walked) = (kind(shape), 0);
        for (place, from, to) in self.runs() {
            let to = to.min(self.chunk(place).len());
            if u32::from(self.most[kind][place]) >= shape.granules {
                for (at, pfn) in (from..to).zip(&self.chunk(place)[from..to]) {
                    if Hint::of(carved.page(*pfn)).allows(shape)
                        && let Some(obj) = carved.take(*pfn, shape)
                    {
                        walked += (at - from) as u32 + 1;
                        self.taken(Spot { chunk: place, at }, carved.is_full(*pfn));
                        return (Some(obj), walked);
                    }
                }
                self.know(carved, place, kind);
            }
            walked += (to - from) as u32;
        }
        (None, walked)
    }

    /// Enters that a block was taken from a page.
    fn taken(&mut self, spot: Spot, is_full: bool) {
        if is_full {
            self.remove_at(spot);
        } else {
            self.head = spot;
        }
    }

    /// Finds out what fits into the pages of a chunk.
    fn know(&mut self, carved: Carved<'_>, place: usize, kind: usize) {
        let bounds = self.chunk(place).iter().map(|pfn| bound(Hint::of(carved.page(*pfn)), kind));
        self.most[kind][place] = bounds.max().unwrap_or(0);
    }

    /// Puts a page at the head.
    pub(super) fn push(&mut self, carved: Carved<'_>, pfn: Pfn) {
        if self.pages == 0 {
            self.add_chunk(0);
        }
        self.pages += 1;
        let Spot { chunk: place, at } = self.head;
        let number = self.order[place];
        let pages = &mut self.chunks[number as usize].pages;
        pages.insert(at, pfn);
        carved.page(pfn).next.set(number);
        if pages.len() > CHUNK_MAX {
            self.split(carved, place);
        }
        self.grown(carved, pfn);
    }

    /// Makes an empty chunk at a place; nothing fits into it.
    fn add_chunk(&mut self, place: usize) {
        let number = self.unused.pop().unwrap_or_else(|| {
            self.chunks.push(Chunk { pages: Vec::new(), place });
            self.chunks.len() as u32 - 1
        });
        self.order.insert(place, number);
        self.most.iter_mut().for_each(|most| most.insert(place, 0));
        self.number_from(place);
    }

    /// Gives the second half of a chunk's pages to a new one behind it.
    fn split(&mut self, carved: Carved<'_>, place: usize) {
        self.add_chunk(place + 1);
        let [first, second] = [place, place + 1].map(|place| self.order[place]);
        let half = CHUNK_MAX / 2;
        let moved = self.chunks[first as usize].pages.split_off(half);
        moved.iter().for_each(|pfn| carved.page(*pfn).next.set(second));
        self.chunks[second as usize].pages = moved;
        self.most.iter_mut().for_each(|most| most[place + 1] = most[place]);
        if self.head.chunk == place && self.head.at >= half {
            self.head = Spot { chunk: place + 1, at: self.head.at - half };
        }
    }

    /// Updates the place of each chunk from a place on.
    fn number_from(&mut self, place: usize) {
        for place in place..self.order.len() {
            self.chunks[self.order[place] as usize].place = place;
        }
    }

    /// Takes a page off the ring.
    pub(super) fn remove(&mut self, carved: Carved<'_>, pfn: Pfn) {
        let chunk = &self.chunks[carved.page(pfn).next.get() as usize];
        let at = chunk.pages.iter().position(|&page| page == pfn);
        self.remove_at(Spot { chunk: chunk.place, at: at.expect("a page of this ring") });
    }

    fn remove_at(&mut self, spot: Spot) {
        let Spot { chunk: place, at } = spot;
        let number = self.order[place];
        let pages = &mut self.chunks[number as usize].pages;
        pages.remove(at);
        self.pages -= 1;
        let left = pages.len();
        if left == 0 {
            self.order.remove(place);
            self.most.iter_mut().for_each(|most| _ = most.remove(place));
            self.unused.push(number);
            self.number_from(place);
        }
        // The next page takes the place of a head that goes.
        let head = &mut self.head;
        if head.chunk > place {
            head.chunk -= usize::from(left == 0);
        } else if head.chunk == place {
            head.at -= usize::from(head.at > at);
            if left == 0 || head.at == left {
                *head = Spot { chunk: place + usize::from(left > 0), at: 0 };
            }
        }
        if head.chunk == self.order.len() {
            *head = Spot { chunk: 0, at: 0 };
        }
    }

    /// Enters that a block was given back to a page of the ring.
    pub(super) fn grown(&mut self, carved: Carved<'_>, pfn: Pfn) {
        let page = carved.page(pfn);
        let place = self.chunks[page.next.get() as usize].place;
        for (kind, most) in self.most.iter_mut().enumerate() {
            most[place] = most[place].max(bound(Hint::of(page), kind));
        }
    }

    /// Returns a page about which the ring is wrong; `None` if all is well.
    pub(super) fn check(&self, carved: Carved<'_>) -> Option<Pfn> {
        let is_well = |place: usize, pfn: Pfn| {
            let hint = Hint::of(carved.page(pfn));
            let mut kinds = (0..KINDS).map(|kind| (bound(hint, kind), self.most[kind][place]));
            carved.page(pfn).next.get() == self.order[place]
                && hint.longest() >= carved.map(pfn).longest()
                && kinds.all(|(bound, most)| bound <= most)
        };
        let pages = (0..self.order.len()).flat_map(|place| {
            let chunk = &self.chunks[self.order[place] as usize];
            chunk.pages.iter().map(move |pfn| (place, chunk.place, *pfn))
        });
        let mut wrong =
            pages.filter(|(place, known, pfn)| place != known || !is_well(*place, *pfn));
        wrong.next().map(|(_, _, pfn)| pfn)
    }
}
