//! The numbers of every cache that allocation paths need, dense by cache index.
//!
//! # Invariants
//! A slot's `generation` is odd while its cache lives and even otherwise; ids carry its low bits.

use super::flags::SlabFlags;
use super::geometry::ObjectLayout;
use crate::ids::{CacheId, Order};
use crate::raw::local::LocalU32;
use crate::raw::zeroed::{ZeroedSlice, zeroed_struct};

zeroed_struct! {
    /// One cache's numbers, in one cache line.
    #[derive(Debug)]
    #[repr(align(64))]
    pub struct CacheEntry {
        /// Bytes from one object to the next.
        pub size: LocalU32,
        /// Bytes the caller uses.
        pub object_size: LocalU32,
        /// Where the free pointer is in a free object.
        pub free_offset: LocalU32,
        /// Objects in a slab of the usual order.
        pub objects: LocalU32,
        /// [`SlabFlags`].
        pub flags: LocalU32,
        /// Usual order; in the second byte the order that holds at least one object.
        pub orders: LocalU32,
        /// Raw id, with generation.
        pub id: LocalU32,
        /// Alignment in bytes.
        pub align: LocalU32,
        /// Bytes up to the meta data behind the object.
        pub inuse: LocalU32,
        /// Bytes of red zone before the object.
        pub left_pad: LocalU32,
        /// Where the red zone behind the object ends; 0: there is none.
        pub red_end: LocalU32,
        /// 1 if the cache has a constructor.
        pub has_ctor: LocalU32,
        /// Counts lives of this slot; odd: alive.
        pub generation: LocalU32,
    }
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<CacheEntry>() == 64);

impl CacheEntry {
    /// Returns the cache's id.
    #[inline(always)]
    pub fn id(&self) -> CacheId {
        CacheId(self.id.get())
    }

    /// Returns whether a cache lives in this slot.
    #[inline(always)]
    pub fn alive(&self) -> bool {
        self.generation.get() & 1 == 1
    }

    /// Returns the flags.
    #[inline(always)]
    pub fn flags(&self) -> SlabFlags {
        SlabFlags(self.flags.get())
    }

    /// Returns the usual order of a slab.
    #[inline(always)]
    pub fn order(&self) -> Order {
        Order(self.orders.get() as u8)
    }

    /// Returns the smallest order that holds an object, taken when memory is short.
    #[inline(always)]
    pub fn order_min(&self) -> Order {
        Order((self.orders.get() >> 8) as u8)
    }

    /// Sets the orders.
    pub fn set_orders(&self, usual: Order, min: Order) {
        self.orders.set(u32::from(usual.0) | u32::from(min.0) << 8);
    }

    /// Writes an object's layout.
    pub fn set_layout(&self, layout: &ObjectLayout) {
        self.size.set(layout.size);
        self.object_size.set(layout.object_size);
        self.free_offset.set(layout.free_offset);
        self.align.set(layout.align);
        self.inuse.set(layout.inuse);
        self.left_pad.set(layout.left_pad);
        self.red_end.set(layout.red_end);
    }
}

/// All caches of a machine.
#[derive(Debug)]
pub(crate) struct CacheTable {
    slots: ZeroedSlice<CacheEntry>,
}

impl CacheTable {
    pub(crate) fn new(caches_max: u32) -> Self {
        Self { slots: ZeroedSlice::new(caches_max as usize) }
    }

    /// Returns the slot of a cache, dead or alive.
    #[inline(always)]
    pub(crate) fn get(&self, id: CacheId) -> &CacheEntry {
        &self.slots[id.index()]
    }

    /// Returns all slots.
    pub(crate) fn slots(&self) -> &[CacheEntry] {
        self.slots.as_slice()
    }
}
