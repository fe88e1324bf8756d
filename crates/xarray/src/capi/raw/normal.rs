//! The normal interface: `xa_*` and, for callers that hold the lock, `__xa_*`.

use super::*;

exported! {
    /// Looks an entry up.
    safe fn xa_load(xa: &PackedXArray, index: u64) -> Ptr { reading(|guard| to_c(xa.load(index, guard))) }
    /// Stores an entry and returns the old one, or an error entry.
    safe fn xa_store(xa: &PackedXArray, index: u64, entry: Ptr, gfp: u32) -> Ptr {
        entry_or_error(xa.lock_for(Gfp::from_bits(gfp)).store(index, from_c(entry)))
    }
    /// Does as [`xa_store`], under the lock.
    unsafe fn __xa_store(xa: &PackedXArray, index: u64, entry: Ptr, gfp: u32) -> Ptr {
        // SAFETY: as the caller promises.
        let writer = unsafe { locked(xa, gfp) };
        entry_or_error(writer.store(index, from_c(entry)))
    }
    /// Erases an entry and returns it.
    safe fn xa_erase(xa: &PackedXArray, index: u64) -> Ptr { to_c(xa.lock().remove(index)) }
    /// Does as [`xa_erase`], under the lock.
    unsafe fn __xa_erase(xa: &PackedXArray, index: u64) -> Ptr {
        // SAFETY: as the caller promises.
        let writer = unsafe { locked(xa, Gfp::NOWAIT.bits()) };
        to_c(writer.remove(index))
    }
    /// Stores an entry if the present one is `old`; returns the one found, or an error entry. The lock is
    /// held.
    unsafe fn __xa_cmpxchg(xa: &PackedXArray, index: u64, old: Ptr, entry: Ptr, gfp: u32) -> Ptr {
        // SAFETY: as the caller promises.
        let writer = unsafe { locked(xa, gfp) };
        entry_or_error(writer.compare_exchange(index, from_c(old), from_c(entry)))
    }
    /// Stores an entry where there is none. Returns 0 or `-errno`. The lock is held.
    unsafe fn __xa_insert(xa: &PackedXArray, index: u64, entry: Ptr, gfp: u32) -> i32 {
        // SAFETY: as the caller promises.
        let writer = unsafe { locked(xa, gfp) };
        zero_or_error(writer.insert_new(index, from_c(entry)))
    }
    /// Stores an entry at all indices of a range. Returns NULL or an error entry.
    safe fn xa_store_range(xa: &PackedXArray, first: u64, last: u64, entry: Ptr, gfp: u32) -> Ptr {
        let stored = xa.lock_for(Gfp::from_bits(gfp)).set_range(first, last, from_c(entry));
        entry_or_error(stored.map(|()| Entry::NULL))
    }
    /// Stores an entry at the lowest free id of a limit. Returns 0 or `-errno`. The lock is held.
    unsafe fn __xa_alloc(xa: &PackedXArray, id: *mut u32, entry: Ptr, limit: Limit, gfp: u32) -> i32 {
        // SAFETY: as the caller promises.
        let writer = unsafe { locked(xa, gfp) };
        // SAFETY: as the caller promises.
        let tell = |free| unsafe { *id = free };
        zero_or_error(writer.allocate(from_c(entry), limit.into(), tell).map(|_| ()))
    }
    /// Does as [`__xa_alloc`], from `*next` on and around. Returns 1 if it came around.
    unsafe fn __xa_alloc_cyclic(
        xa: &PackedXArray, id: *mut u32, entry: Ptr, limit: Limit, next: *mut u32, gfp: u32
    ) -> i32 {
        // SAFETY: as the caller promises.
        let writer = unsafe { locked(xa, gfp) };
        // SAFETY: as the caller promises.
        let (tell, next) = (|free| unsafe { *id = free }, unsafe { &mut *next });
        let allocated = writer.allocate_cyclic(from_c(entry), limit.into(), next, tell);
        allocated.map_or_else(|error| -error.errno(), |(_, wrapped)| i32::from(wrapped))
    }
}

/// `struct xa_limit`: the ends come in this order.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Limit {
    max: u32,
    min: u32,
}

impl From<Limit> for IdLimit {
    fn from(limit: Limit) -> Self {
        Self { min: limit.min, max: limit.max }
    }
}

exported! {
    /// Finds the first entry from `*index` on, and moves `*index` to it.
    safe fn xa_find(xa: &PackedXArray, index: &mut u64, max: u64, filter: u32) -> Ptr {
        let found = reading(|guard| xa.find(*index, max, filter_from_c(filter), guard));
        move_to(index, found)
    }
    /// Finds the first entry that begins after `*index`, and moves `*index` to it.
    safe fn xa_find_after(xa: &PackedXArray, index: &mut u64, max: u64, filter: u32) -> Ptr {
        let found = reading(|guard| xa.find_after(*index, max, filter_from_c(filter), guard));
        move_to(index, found)
    }
}

/// Moves an index to what was found there, and returns that, or null.
pub(super) fn move_to<I>(index: &mut I, found: Option<(I, Entry)>) -> Ptr {
    found.map_or(std::ptr::null_mut(), |(at, entry)| {
        *index = at;
        to_c(entry)
    })
}

exported! {
    /// Copies up to `n` entries out. Returns how many.
    unsafe fn xa_extract(xa: &PackedXArray, dst: *mut Ptr, start: u64, max: u64, n: u32, filter: u32) -> u32 {
        let mut count = 0;
        reading(|guard| {
            let entries = xa.entries(start, max, filter_from_c(filter), guard);
            for (_, entry) in entries.take(n as usize) {
                // SAFETY: below n.
                let place = unsafe { dst.add(count as usize) };
                // SAFETY: as the caller promises.
                unsafe { place.write(to_c(entry)) };
                count += 1;
            }
        });
        count
    }
    /// Returns whether the entry bears the mark.
    safe fn xa_get_mark(xa: &PackedXArray, index: u64, mark: u32) -> bool {
        Mark::from_number(mark).is_some_and(|mark| reading(|guard| xa.get_mark(index, mark, guard)))
    }
    /// Sets a mark of an entry. The lock is held.
    unsafe fn __xa_set_mark(xa: &PackedXArray, index: u64, mark: u32) {
        // SAFETY: as the caller promises.
        let writer = unsafe { locked(xa, 0) };
        Mark::from_number(mark).into_iter().for_each(|mark| writer.mark(index, mark));
    }
    /// Clears a mark of an entry. The lock is held.
    unsafe fn __xa_clear_mark(xa: &PackedXArray, index: u64, mark: u32) {
        // SAFETY: as the caller promises.
        let writer = unsafe { locked(xa, 0) };
        Mark::from_number(mark).into_iter().for_each(|mark| writer.unmark(index, mark));
    }
    /// Returns the order of an entry.
    safe fn xa_get_order(xa: &PackedXArray, index: u64) -> i32 { reading(|guard| xa.order(index, guard) as i32) }
    /// Removes everything.
    safe fn xa_destroy(xa: &PackedXArray) { xa.clear(); }
    /// Returns the bytes that the array's nodes take. Linux has no such function.
    safe fn slablab_xa_bytes(xa: &PackedXArray) -> usize { xa.memory_bytes() }
}

/// # Safety
///
/// The array's lock is held.
pub(super) unsafe fn locked(xa: &PackedXArray, gfp: u32) -> Writer<'_> {
    // SAFETY: as the caller promises.
    unsafe { Writer::assume_locked(xa, Gfp::from_bits(gfp)) }
}
