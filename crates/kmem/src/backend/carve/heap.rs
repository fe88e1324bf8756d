//! A heap of carved pages: the backend that SLOB and SLMB are two settings of.
//!
//! # How it works
//! Pages with room stand on rings, one for each range of block sizes; [`Lists`] says which ranges,
//! whether every CPU has rings of its own, and what a lock guards.
//!
//! # Invariants
//! - pages x 4096 = blocks given out + free granules x 8.
//! - `Page::next` of a carved page is its *place*, CPU * lists + list, and names the ring it is on
//!   when it has room and the lock that guards it always. It changes only under that lock, when a
//!   page that was full gets room: the size freed chooses the list, as it chose where to look.
//!
//! # Lock order
//! List locks by rising place, but for one that is only tried; none is held while the page
//! allocator is asked.

use alloc::vec::Vec;
use core::fmt::Debug;
use core::marker::PhantomData;

use super::{CarvedPages, Ring};
use crate::cache::cx::Cx;
use crate::cache::paths::OpCounts;
use crate::cpu::LockKind;
use crate::raw::lock::{Guard, Lock};
use crate::raw::zeroed::ZeroedSlice;

/// How a heap's lists are arranged.
pub trait Lists: Debug + Send + Sync + 'static {
    /// Name that its locks are counted by.
    const LOCK: &'static str;
    /// Largest block, in bytes, of each list but the last, which takes the rest.
    const BREAKS: &'static [u64];
    /// Whether every CPU has its own lists, each with a lock; otherwise one lock guards all.
    const SPREAD: Spread;
}

/// How lists and locks are dealt out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spread {
    /// One set of lists under one lock.
    One,
    /// A set of lists for every CPU, a lock for every list.
    EveryCpu,
}

/// A heap of carved pages.
#[derive(Debug)]
pub struct Heap<L: Lists> {
    pub(super) carved: CarvedPages,
    /// Rings by what guards them.
    pub(super) groups: Vec<Lock<Vec<Ring>>>,
    pub(super) ops: ZeroedSlice<OpCounts>,
    pub(super) lists: PhantomData<L>,
}

impl<L: Lists> Heap<L> {
    pub(super) const LISTS: usize = L::BREAKS.len() + 1;
    /// The only kind of lock there is: place 0 of `Ops::LOCKS`.
    pub(super) const LIST_LOCK: LockKind = LockKind::of_backend(0);

    /// Returns the place for blocks of `bytes` of a CPU.
    #[inline]
    pub(super) fn place(cpu: u32, bytes: u64) -> u32 {
        let list = L::BREAKS.partition_point(|&most| most < bytes);
        match L::SPREAD {
            Spread::One => list as u32,
            Spread::EveryCpu => cpu * Self::LISTS as u32 + list as u32,
        }
    }

    /// Returns the CPU whose lists a place is of; `None` if they are everybody's.
    pub(super) fn owner(place: u32) -> Option<u32> {
        match L::SPREAD {
            Spread::One => None,
            Spread::EveryCpu => Some(place / Self::LISTS as u32),
        }
    }

    /// Returns the lock that guards a place and the ring's index behind it.
    #[inline]
    pub(super) fn group(place: u32) -> (usize, usize) {
        match L::SPREAD {
            Spread::One => (0, place as usize),
            Spread::EveryCpu => (place as usize, 0),
        }
    }

    /// Takes the lock of a group.
    #[inline]
    pub(super) fn lock(&self, cx: &Cx<'_>, group: usize) -> Guard<'_, Vec<Ring>> {
        cx.count_lock(Self::LIST_LOCK);
        self.groups[group].lock()
    }
}
