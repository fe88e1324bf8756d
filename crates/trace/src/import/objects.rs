//! Which object is at which address, and the slots that stand for objects.

use rustc_hash::FxHashMap;

use crate::NONE;

/// A live object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Live {
    /// Its slot.
    pub(super) object: u32,
    /// Its cache as its allocation gave it.
    pub(super) cache: u32,
    /// The row of its allocation.
    pub(super) row: u64,
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
    pub(super) fn insert(&mut self, ptr: u64, cache: u32, row: u64) -> u32 {
        let object = self.free_slots.pop().unwrap_or_else(|| {
            self.live.push(Live { object: NONE, cache: NONE, row: 0 });
            self.live.len() as u32 - 1
        });
        self.live[object as usize] = Live { object, cache, row };
        let old = self.slots.insert(ptr, object);
        debug_assert!(old.is_none(), "{ptr:#x} is taken");
        object
    }

    /// Takes the object at `ptr` away and its slot back.
    #[inline]
    pub(super) fn remove(&mut self, ptr: u64) -> Option<Live> {
        let object = self.slots.remove(&ptr)?;
        self.free_slots.push(object);
        Some(self.live[object as usize])
    }
}
