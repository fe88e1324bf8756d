//! Which object is at which address, and the slots that stand for objects.

use super::unnamed::Unnamed;
use crate::address_map::AddressMap;
use crate::portion::{CLASSES, Recorded, class_of};
use crate::source::parquet::RowAddresses;
use crate::{NONE, RawEvent};

/// Events whose objects are looked for together, before each is imported.
pub(super) const TOUCHED: usize = 64;

/// A live object.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Object {
    pub(super) slot: u32,
    pub(super) owner: Owner,
}

/// What an object is from: a cache that its allocation named, or one of kmalloc's, by its place among the sampled caches.
/// (Both are one number, so that all that a free needs lies in one line of the processor's caches: where many
/// objects live, each further line took a tenth of an import's time.)
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Owner(u32);

/// Marks a place of one of kmalloc's caches.
const KMALLOC: u32 = 1 << 31;

impl Owner {
    /// `place` counts where the allocation named no cache, [`NONE`].
    #[inline]
    pub(super) fn new(cache: u32, place: u32) -> Owner {
        Owner(if cache == NONE { place | KMALLOC } else { cache })
    }

    /// Returns the cache that the allocation named, or [`NONE`].
    #[inline]
    pub(super) fn cache(self) -> u32 {
        if self.0 & KMALLOC == 0 { self.0 } else { NONE }
    }

    /// Returns the place of one of kmalloc's caches, or [`NONE`].
    #[inline]
    pub(super) fn kmalloc_place(self) -> u32 {
        if self.0 == NONE { NONE } else { self.0 & !KMALLOC }
    }
}

/// Slots of a class: the one that was given back last is given out first, so that a reader's array of slots stays small and
/// warm.
#[derive(Debug, Default)]
struct Slots {
    /// How many there are
    made: u32,
    free: Vec<u32>,
}

/// By what slots are in classes ([`CLASSES`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Classes {
    /// All are in one
    One,
    /// By the block of an address
    Blocks,
    /// As in the rows of a trace, whose slots stand for addresses
    Rows,
}

/// The live objects by address. A slot belongs to one live object at a time.
#[derive(Debug)]
pub(super) struct Objects {
    live: AddressMap<Object>,
    classes: Classes,
    /// By class
    slots: Vec<Slots>,
    /// By slot: what an allocation is known by that named no cache. Empty where all do.
    unnamed: Vec<Unnamed>,
}

impl Objects {
    pub(super) fn new(classes: Classes) -> Self {
        let number = if classes == Classes::One { 1 } else { CLASSES };
        let slots = (0..number).map(|_| Slots::default()).collect();
        Self { live: AddressMap::default(), classes, slots, unnamed: Vec::new() }
    }

    /// Keeps the classes of slots that rows of a portion have, if nothing is imported yet.
    pub(super) fn keep_classes(&mut self, portion: Option<&Recorded>) {
        let has_classes = portion.is_some_and(|of| of.classes == CLASSES);
        if has_classes && self.classes == Classes::One && self.live.is_empty() {
            *self = Self::new(Classes::Rows);
        }
    }

    /// Returns how many classes slots have; 0 where slots tell of none.
    pub(super) fn classes(&self) -> u32 {
        if self.classes == Classes::One { 0 } else { CLASSES }
    }

    /// Puts a new object at `ptr`. Returns its slot, and what was there and had this slot until now.
    #[inline]
    pub(super) fn insert(&mut self, ptr: u64, owner: Owner) -> (u32, Option<Object>) {
        let (object, is_new) = self.live.or_insert(ptr, Object { slot: NONE, owner });
        if !is_new {
            let old = *object;
            object.owner = owner;
            return (old.slot, Some(old));
        }
        let class = match self.classes {
            Classes::One => 0,
            Classes::Blocks => class_of(ptr),
            Classes::Rows => RowAddresses::slot(ptr) % CLASSES,
        };
        let classes = self.slots.len() as u32;
        let slots = &mut self.slots[class as usize];
        object.slot = slots.free.pop().unwrap_or_else(|| {
            slots.made += 1;
            (slots.made - 1) * classes + class
        });
        (object.slot, None)
    }

    /// Notes what the allocation of the object in a slot is known by.
    #[inline]
    pub(super) fn set_unnamed(&mut self, slot: u32, unnamed: Unnamed) {
        let slot = slot as usize;
        if unnamed != Unnamed::NAMED {
            self.unnamed.resize(self.unnamed.len().max(slot + 1), Unnamed::NAMED);
        }
        if let Some(of_slot) = self.unnamed.get_mut(slot) {
            *of_slot = unnamed;
        }
    }

    /// Returns what the allocation of the object in a slot is known by.
    #[inline]
    pub(super) fn unnamed(&self, slot: u32) -> Unnamed {
        self.unnamed.get(slot as usize).copied().unwrap_or(Unnamed::NAMED)
    }

    /// Has the processor fetch what is at the addresses of these events: there are more objects than its caches hold.
    pub(super) fn touch(&self, events: &[RawEvent]) {
        self.live.touch(events.iter().map(|event| event.ptr));
    }

    /// Returns the slot of the object at `ptr`.
    pub(super) fn slot(&self, ptr: u64) -> Option<u32> {
        self.live.get(ptr).map(|object| object.slot)
    }

    /// Takes the object at `ptr` away and its slot back.
    #[inline]
    pub(super) fn remove(&mut self, ptr: u64) -> Option<Object> {
        let object = self.live.remove(ptr)?;
        let class = object.slot as usize % self.slots.len();
        self.slots[class].free.push(object.slot);
        Some(object)
    }
}
