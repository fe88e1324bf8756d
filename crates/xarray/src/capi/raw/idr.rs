//! Ids with a pointer each (`idr_*`), and without (`ida_*`): include/linux/idr.h.
//!
//! An IDR takes no lock: its user keeps writers apart, as in Linux.

use std::sync::atomic::{AtomicU32, Ordering};

use super::normal::{locked, move_to};
use super::*;
use crate::Ida;
use crate::raw::Section;

/// `struct idr`.
#[derive(Debug)]
#[repr(C)]
pub struct Idr {
    entries: PackedXArray,
    base: u32,
    next: AtomicU32,
}

/// The function that `idr_for_each` calls.
pub type Visit = unsafe extern "C" fn(i32, Ptr, Ptr) -> i32;

fn error_pointer(errno: i32) -> Ptr {
    std::ptr::without_provenance_mut(-errno as isize as usize)
}

/// Returns the errno as [`crate::Error::errno`] does, except that Linux reports taken ids as
/// `-ENOSPC`, not as a busy device.
fn id_errno(error: Error) -> i32 {
    match error {
        Error::Busy => -libc::ENOSPC,
        error => -error.errno(),
    }
}

impl Idr {
    /// Returns where an id is stored, unless it is below the first id of this IDR.
    fn index(&self, id: u64) -> Option<u64> {
        id.checked_sub(u64::from(self.base))
    }

    /// Returns the first entry at or after an id, with its id.
    fn next(&self, id: u64) -> Option<(u64, Entry)> {
        let from = self.index(id).unwrap_or(0);
        let found = reading(|guard| self.entries.find(from, u64::MAX, Filter::Present, guard));
        found.map(|(index, entry)| (index.saturating_add(u64::from(self.base)), entry))
    }

    /// Stores an entry at the lowest free id from `min` to `max`, and passes the id to `tell` before the
    /// entry can be seen.
    fn alloc(
        &self,
        entry: Entry,
        min: u32,
        max: u64,
        gfp: u32,
        tell: &mut dyn FnMut(u32),
    ) -> Result<()> {
        // SAFETY: users of an IDR keep writers apart.
        let writer = unsafe { locked(&self.entries, gfp) };
        let first = self.index(u64::from(min)).unwrap_or(0);
        let last = self.index(max.min(u64::from(u32::MAX))).ok_or(Error::Busy)?;
        let stored = writer.take_free(entry, first, last, |free| tell(free as u32 + self.base));
        stored.map(|_| ()).inspect_err(|_| tell(min))
    }
}

exported! {
    /// Stores a pointer at the lowest free id from `*id` to `max`. Returns 0 or `-errno`.
    unsafe fn idr_alloc_u32(idr: &Idr, ptr: Ptr, id: *mut u32, max: u64, gfp: u32) -> i32 {
        // SAFETY: as the caller promises.
        let min = unsafe { id.read() };
        // SAFETY: as the caller promises.
        let mut tell = |free| unsafe { id.write(free) };
        idr.alloc(from_c(ptr), min, max, gfp, &mut tell).map_or_else(id_errno, |()| 0)
    }
    /// Stores a pointer at the lowest free id from `start` to below `end` (if that is positive). Returns the id
    /// or `-errno`.
    unsafe fn idr_alloc(idr: &Idr, ptr: Ptr, start: i32, end: i32, gfp: u32) -> i32 {
        let Ok(mut id) = u32::try_from(start) else {
            return -libc::EINVAL;
        };
        // SAFETY: as the caller promises.
        match unsafe { idr_alloc_u32(idr, ptr, &raw mut id, last_id(end), gfp) } {
            0 => id as i32,
            error => error,
        }
    }
}

/// Returns the last id below `end`; an `end` that is not positive means all ids.
fn last_id(end: i32) -> u64 {
    if end > 0 { end as u64 - 1 } else { i32::MAX as u64 }
}

exported! {
    /// Does as [`idr_alloc`], from behind the id given out last and around.
    unsafe fn idr_alloc_cyclic(idr: &Idr, ptr: Ptr, start: i32, end: i32, gfp: u32) -> i32 {
        let next = &idr.next;
        let last = next.load(Ordering::Relaxed) as i32;
        let mut id = last.max(start) as u32;
        // SAFETY: as the caller promises.
        let mut error = unsafe { idr_alloc_u32(idr, ptr, &raw mut id, last_id(end), gfp) };
        if error == -libc::ENOSPC && last > start {
            id = start as u32;
            // SAFETY: as the caller promises.
            error = unsafe { idr_alloc_u32(idr, ptr, &raw mut id, last_id(end), gfp) };
        }
        if error != 0 {
            return error;
        }
        next.store(id.wrapping_add(1), Ordering::Relaxed);
        id as i32
    }
    /// Takes an id back. Returns its pointer.
    unsafe fn idr_remove(idr: &Idr, id: u64) -> Ptr {
        // SAFETY: as the caller promises.
        let writer = unsafe { locked(&idr.entries, 0) };
        to_c(idr.index(id).map_or(Entry::NULL, |index| writer.remove(index)))
    }
    /// Returns the pointer at an id.
    safe fn idr_find(idr: &Idr, id: u64) -> Ptr {
        reading(|guard| to_c(idr.index(id).map_or(Entry::NULL, |at| idr.entries.load(at, guard))))
    }
    /// Replaces the pointer at an id that is taken. Returns the old one or an error pointer.
    unsafe fn idr_replace(idr: &Idr, ptr: Ptr, id: u64) -> Ptr {
        // SAFETY: as the caller promises.
        let writer = unsafe { locked(&idr.entries, 0) };
        let entry = if ptr.is_null() { Entry::ZERO } else { from_c(ptr) };
        let Some(index) = idr.index(id).filter(|&index| !writer.load(index).is_null()) else {
            return error_pointer(libc::ENOENT);
        };
        if !entry.is_storable() {
            return error_pointer(libc::EINVAL);
        }
        writer.insert(index, entry).map_or_else(|e| error_pointer(e.errno()), |old| to_c(old.visible()))
    }
    /// Calls a function with each id up to `INT_MAX` and its pointer, until it returns something other than
    /// 0.
    unsafe fn idr_for_each(idr: &Idr, visit: Visit, data: Ptr) -> i32 {
        let mut next = idr.next(0);
        while let Some((id, entry)) = next
            && let Ok(number) = i32::try_from(id)
        {
            // SAFETY: as the caller promises.
            let result = unsafe { visit(number, to_c(entry), data) };
            if result != 0 {
                return result;
            }
            next = idr.next(id + 1);
        }
        0
    }
    /// Finds the first pointer at or after `*id`, and moves `*id` to it.
    safe fn idr_get_next_ul(idr: &Idr, id: &mut u64) -> Ptr {
        let found = idr.next(*id);
        move_to(id, found)
    }
    /// Does as [`idr_get_next_ul`], up to `INT_MAX`.
    safe fn idr_get_next(idr: &Idr, id: &mut i32) -> Ptr {
        let found = idr.next(u64::try_from(*id).unwrap_or(0));
        move_to(id, found.and_then(|(found, entry)| Some((i32::try_from(found).ok()?, entry))))
    }
    /// Takes all ids back.
    safe fn idr_destroy(idr: &Idr) { idr.entries.clear(); }
    /// Takes the lowest free id of a range. Returns it or `-errno`.
    safe fn ida_alloc_range(ida: &Ida, min: u32, max: u32, gfp: u32) -> i32 {
        ida.alloc(min..=max, Gfp::from_bits(gfp)).map_or_else(id_errno, |id| id as i32)
    }
    /// Returns the lowest id of a range that is taken, or `-ENOENT`.
    safe fn slablab_ida_first(ida: &Ida, min: u32, max: u32) -> i32 {
        ida.first(min..=max).map_or(-libc::ENOENT, |id| id as i32)
    }
    /// Gives an id back; returns whether it was taken.
    safe fn slablab_ida_free(ida: &Ida, id: u32) -> bool { ida.free(id) }
    /// Gives all ids back.
    safe fn ida_destroy(ida: &Ida) { ida.clear(); }
    /// Returns the address of the slot that holds an entry, or null, for the slot functions of
    /// include/linux/radix-tree.h.
    safe fn slablab_xa_slot(xa: &PackedXArray, index: u64) -> *const c_void {
        reading(|guard| {
            let slot = crate::core::walk::slot(&xa.head, index, guard.pin());
            slot.map_or(std::ptr::null(), |slot| std::ptr::from_ref(slot).cast())
        })
    }
}
