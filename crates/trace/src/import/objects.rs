//! Which object is at which address, and the slots that stand for objects.

use rustc_hash::FxHashMap;

use super::unnamed::Unnamed;

/// A live object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Live {
    /// Its cache as its allocation gave it.
    pub(super) cache: u32,
    /// What its allocation is known by, where it has no cache.
    pub(super) unnamed: Unnamed,
}

/// The live objects by address. A slot belongs to one live object at a time; the one that was given
/// back last is given out first, so that a reader's array of slots stays small and warm. For the
/// same reason all but the slot is kept by slot: the map is as large as all live objects, and the
/// fewer bytes it has the more of it is in the processor's caches.
#[derive(Debug, Default)]
pub(super) struct Objects {
    slots: FxHashMap<u64, u32>,
    live: Vec<Live>,
    free_slots: Vec<u32>,
}

impl Objects {
    /// Puts a new object at `ptr`, which must be vacant, and returns its slot.
    #[inline]
    pub(super) fn insert(&mut self, ptr: u64, cache: u32, unnamed: Unnamed) -> u32 {
        let live = Live { cache, unnamed };
        let object = self.free_slots.pop().unwrap_or(self.live.len() as u32);
        match self.live.get_mut(object as usize) {
            Some(slot) => *slot = live,
            None => self.live.push(live),
        }
        let old = self.slots.insert(ptr, object);
        debug_assert!(old.is_none(), "{ptr:#x} is taken");
        object
    }

    /// Returns the slot of the object at `ptr`.
    pub(super) fn slot(&self, ptr: u64) -> Option<u32> {
        self.slots.get(&ptr).copied()
    }

    /// Takes the object at `ptr` away and its slot back; returns both.
    #[inline]
    pub(super) fn remove(&mut self, ptr: u64) -> Option<(u32, Live)> {
        let object = self.slots.remove(&ptr)?;
        self.free_slots.push(object);
        Some((object, self.live[object as usize]))
    }
}
