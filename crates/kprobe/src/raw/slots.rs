//! Open addressing with linear probing, replaced as a whole when it is full.
//!
//! # Invariants
//! - A slot's address changes once, from 0 to an address; its probe may come and go.
//! - `taken` (slots with an address) is at most 3/4 of the slots, so every search ends.

use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};

use slablab_rcu::{Guard, drop_later};

use crate::Probe;
use crate::table::hash;

#[derive(Debug, Default)]
struct Slot {
    address: AtomicU64,
    probe: AtomicPtr<Probe>,
}

#[derive(Debug)]
struct Table {
    /// The slots; their number is a power of two.
    slots: Box<[Slot]>,
    /// The shift that leaves the number of a slot from a hash.
    shift: u32,
    taken: AtomicUsize,
    live: AtomicUsize,
}

/// The present table.
#[derive(Debug)]
pub(crate) struct Slots {
    table: AtomicPtr<Table>,
}

const BITS_MIN: u32 = 6;

impl Table {
    fn new(bits: u32) -> Self {
        Self {
            slots: (0..1 << bits).map(|_| Slot::default()).collect(),
            shift: u64::BITS - bits,
            taken: AtomicUsize::new(0),
            live: AtomicUsize::new(0),
        }
    }

    /// Returns the slot with this address, or the empty one where it would be.
    #[inline]
    fn slot(&self, address: u64) -> &Slot {
        let mask = self.slots.len() - 1;
        let mut at = (hash(address) >> self.shift) as usize;
        loop {
            let slot = &self.slots[at & mask];
            let found = slot.address.load(Ordering::Acquire);
            if found == address || found == 0 {
                return slot;
            }
            at += 1;
        }
    }

    fn put(&self, address: u64, probe: *mut Probe) {
        let slot = self.slot(address);
        slot.probe.store(probe, Ordering::Release);
        if slot.address.load(Ordering::Relaxed) == 0 {
            slot.address.store(address, Ordering::Release);
            self.taken.fetch_add(1, Ordering::Relaxed);
        }
        self.live.fetch_add(1, Ordering::Relaxed);
    }
}

impl Slots {
    pub(crate) fn new() -> Self {
        Self { table: AtomicPtr::new(Box::into_raw(Box::new(Table::new(BITS_MIN)))) }
    }

    fn table<'g>(&'g self, _guard: &'g Guard) -> &'g Table {
        // SAFETY: never null, and not freed before the guard's section ends.
        unsafe { &*self.table.load(Ordering::Acquire) }
    }

    #[inline]
    pub(crate) fn find<'g>(&'g self, address: u64, guard: &'g Guard) -> Option<&'g Probe> {
        let probe = self.table(guard).slot(address).probe.load(Ordering::Acquire);
        // A slot that is just being filled may show another probe than the wanted one. SAFETY:
        // null, or a probe that is not freed before the guard's section ends.
        unsafe { probe.as_ref() }.filter(|probe| probe.address() == address)
    }

    pub(crate) fn all<'g>(&'g self, guard: &'g Guard) -> Vec<&'g Probe> {
        let slots = self.table(guard).slots.iter();
        // SAFETY: as above.
        slots.filter_map(|slot| unsafe { slot.probe.load(Ordering::Acquire).as_ref() }).collect()
    }

    /// Adds a probe whose address is not in the table.
    pub(crate) fn insert(&self, probe: Probe) {
        let guard = slablab_rcu::pin();
        let mut table = self.table(&guard);
        if (table.taken.load(Ordering::Relaxed) + 1) * 4 > table.slots.len() * 3 {
            table = self.resize(table, &guard);
        }
        table.put(probe.address(), Box::into_raw(Box::new(probe)));
    }

    /// Replaces the table by one in which the probes take up at most three eighths.
    fn resize<'g>(&'g self, old: &Table, guard: &'g Guard) -> &'g Table {
        let live = old.live.load(Ordering::Relaxed) + 1;
        let bits = (live * 8 / 3).next_power_of_two().trailing_zeros().max(BITS_MIN);
        let new = Table::new(bits);
        for slot in &old.slots {
            let probe = slot.probe.load(Ordering::Relaxed);
            if !probe.is_null() {
                new.put(slot.address.load(Ordering::Relaxed), probe);
            }
        }
        let old = self.table.swap(Box::into_raw(Box::new(new)), Ordering::AcqRel);
        // SAFETY: it came from a box, and readers cannot find it any more. Dropping a table leaves the
        // probes.
        drop_later(unsafe { Box::from_raw(old) });
        self.table(guard)
    }

    pub(crate) fn remove(&self, address: u64) -> bool {
        let guard = slablab_rcu::pin();
        let table = self.table(&guard);
        let probe = table.slot(address).probe.swap(std::ptr::null_mut(), Ordering::AcqRel);
        if probe.is_null() {
            return false;
        }
        table.live.fetch_sub(1, Ordering::Relaxed);
        // SAFETY: it came from a box, and is unlinked now.
        drop_later(unsafe { Box::from_raw(probe) });
        true
    }

    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&*self.table(&slablab_rcu::pin()).slots)
    }
}

impl Drop for Slots {
    fn drop(&mut self) {
        // SAFETY: it came from a box, and only this drop has it.
        let table = unsafe { Box::from_raw(*self.table.get_mut()) };
        for slot in &table.slots {
            let probe = slot.probe.load(Ordering::Relaxed);
            if !probe.is_null() {
                // SAFETY: as above.
                drop(unsafe { Box::from_raw(probe) });
            }
        }
    }
}
