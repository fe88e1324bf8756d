//! Which object is at which address, and the slots that stand for objects.

use rustc_hash::FxHashMap;

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
/// back last is given out first, so that a reader's array of slots stays small and warm.
#[derive(Debug, Default)]
pub(super) struct Objects {
    live: FxHashMap<u64, Live>,
    free_slots: Vec<u32>,
    slots: u32,
}

impl Objects {
    /// Puts a new object at `ptr`, which must be vacant, and returns its slot.
    #[inline]
    pub(super) fn insert(&mut self, ptr: u64, cache: u32, row: u64) -> u32 {
        let object = self.free_slots.pop().unwrap_or_else(|| {
            self.slots += 1;
            self.slots - 1
        });
        let old = self.live.insert(ptr, Live { object, cache, row });
        debug_assert!(old.is_none(), "{ptr:#x} is taken");
        object
    }

    /// Takes the object at `ptr` away and its slot back.
    #[inline]
    pub(super) fn remove(&mut self, ptr: u64) -> Option<Live> {
        let live = self.live.remove(&ptr)?;
        self.free_slots.push(live.object);
        Some(live)
    }
}
