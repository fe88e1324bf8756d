//! Ids with a pointer each (`idr_*`), and without (`ida_*`): include/linux/idr.h.
//!
//! An IDR takes no lock: its user keeps writers apart, as in Linux.

use std::sync::atomic::{AtomicU32, Ordering};

use super::normal::locked;
use super::*;
use crate::Ida;
use crate::core::id::next_free;
use crate::raw::Section;

/// `struct idr`.
#[derive(Debug)]
#[repr(C)]
pub struct Idr {
    entries: RawXArray,
    base: c_uint,
    next: AtomicU32,
}

/// What `idr_for_each` calls.
pub type Visit = unsafe extern "C" fn(c_int, *mut c_void, *mut c_void) -> c_int;

fn error_pointer(errno: c_int) -> *mut c_void {
    std::ptr::without_provenance_mut(-errno as isize as usize)
}

/// As [`crate::Error::errno`], where taken ids are no busy device.
fn id_errno(error: Error) -> c_int {
    match error {
        Error::Busy => -libc::ENOSPC,
        error => -error.errno(),
    }
}

impl Idr {
    /// Returns where an id is stored, if it is not below all that there can be.
    fn index(&self, id: u64) -> Option<u64> {
        id.checked_sub(u64::from(self.base))
    }

    /// Returns the first entry at or after an id, with its id.
    fn next(&self, id: u64) -> Option<(u64, Entry)> {
        let from = self.index(id).unwrap_or(0);
        let found = reading(|guard| self.entries.find(from, c_ulong::MAX, Filter::Present, guard));
        found.map(|(index, entry)| (index.saturating_add(u64::from(self.base)), entry))
    }

    /// Stores an entry at the lowest free id from `min` to `max`, which it tells before the entry is seen.
    fn alloc(
        &self,
        entry: Entry,
        min: u32,
        max: u64,
        gfp: c_uint,
        tell: &mut dyn FnMut(u32),
    ) -> Result<()> {
        let entry = if entry.is_null() { Entry::ZERO } else { entry };
        if !entry.is_storable() {
            return Err(Error::Invalid);
        }
        // SAFETY: users of an IDR keep writers apart.
        let writer = unsafe { locked(&raw const self.entries, gfp) };
        let last = self.index(max).ok_or(Error::Busy)?;
        let first = self.index(u64::from(min)).unwrap_or(0);
        let free = next_free(writer.head(), first, last, writer.pin()).ok_or(Error::Busy)?;
        let id = u32::try_from(free + u64::from(self.base)).map_err(|_| Error::Busy)?;
        tell(id);
        writer.insert(free, entry).inspect_err(|_| tell(min))?;
        writer.clear_mark(free, Mark::M0);
        Ok(())
    }
}

/// Stores a pointer at the lowest free id from `*id` to `max`. Returns 0 or `-errno`.
///
/// # Safety
///
/// `idr` is initialised and no other writer is at it; `id` may be read and written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn idr_alloc_u32(
    idr: *mut Idr,
    ptr: *mut c_void,
    id: *mut u32,
    max: c_ulong,
    gfp: c_uint,
) -> c_int {
    // SAFETY: as the caller promises.
    let (idr, min) = (unsafe { &*idr }, unsafe { id.read() });
    // SAFETY: as the caller promises.
    let mut tell = |free| unsafe { id.write(free) };
    idr.alloc(from_c(ptr), min, max, gfp, &mut tell).map_or_else(id_errno, |()| 0)
}

/// Stores a pointer at the lowest free id from `start` to below `end` (if that is positive). Returns the id
/// or `-errno`.
///
/// # Safety
///
/// As [`idr_alloc_u32`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn idr_alloc(
    idr: *mut Idr,
    ptr: *mut c_void,
    start: c_int,
    end: c_int,
    gfp: c_uint,
) -> c_int {
    let Ok(mut id) = u32::try_from(start) else {
        return -libc::EINVAL;
    };
    // SAFETY: as the caller promises.
    match unsafe { idr_alloc_u32(idr, ptr, &raw mut id, last_id(end), gfp) } {
        0 => id as c_int,
        error => error,
    }
}

/// Returns the last id below `end`, which means all if it is not positive.
fn last_id(end: c_int) -> c_ulong {
    if end > 0 { end as c_ulong - 1 } else { c_int::MAX as c_ulong }
}

/// As [`idr_alloc`], from behind the id given out last and around.
///
/// # Safety
///
/// As [`idr_alloc_u32`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn idr_alloc_cyclic(
    idr: *mut Idr,
    ptr: *mut c_void,
    start: c_int,
    end: c_int,
    gfp: c_uint,
) -> c_int {
    // SAFETY: as the caller promises.
    let next = unsafe { &(*idr).next };
    let last = next.load(Ordering::Relaxed) as c_int;
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
    id as c_int
}

/// Takes an id back. Returns its pointer.
///
/// # Safety
///
/// `idr` is initialised and no other writer is at it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn idr_remove(idr: *mut Idr, id: c_ulong) -> *mut c_void {
    // SAFETY: as the caller promises.
    let idr = unsafe { &*idr };
    // SAFETY: as the caller promises.
    let writer = unsafe { locked(&raw const idr.entries, 0) };
    to_c(idr.index(id).map_or(Entry::NULL, |index| writer.remove(index)))
}

/// Returns the pointer at an id.
///
/// # Safety
///
/// `idr` is initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn idr_find(idr: *const Idr, id: c_ulong) -> *mut c_void {
    // SAFETY: as the caller promises.
    let idr = unsafe { &*idr };
    reading(|guard| to_c(idr.index(id).map_or(Entry::NULL, |at| idr.entries.load(at, guard))))
}

/// Replaces the pointer at an id that is taken. Returns the old one or an error pointer.
///
/// # Safety
///
/// `idr` is initialised and no other writer is at it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn idr_replace(idr: *mut Idr, ptr: *mut c_void, id: c_ulong) -> *mut c_void {
    // SAFETY: as the caller promises.
    let idr = unsafe { &*idr };
    // SAFETY: as the caller promises.
    let writer = unsafe { locked(&raw const idr.entries, 0) };
    let entry = if ptr.is_null() { Entry::ZERO } else { from_c(ptr) };
    let Some(index) = idr.index(id).filter(|&index| !writer.load(index).is_null()) else {
        return error_pointer(libc::ENOENT);
    };
    if !entry.is_storable() {
        return error_pointer(libc::EINVAL);
    }
    writer.insert(index, entry).map_or_else(|e| error_pointer(e.errno()), |old| to_c(old.visible()))
}

/// Calls a function with each id up to `INT_MAX` and its pointer, until it returns something else than 0.
///
/// # Safety
///
/// `idr` is initialised, and the function may be called.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn idr_for_each(idr: *const Idr, visit: Visit, data: *mut c_void) -> c_int {
    // SAFETY: as the caller promises.
    let idr = unsafe { &*idr };
    let mut next = idr.next(0);
    while let Some((id, entry)) = next
        && let Ok(number) = c_int::try_from(id)
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
///
/// # Safety
///
/// `idr` is initialised, and `id` may be read and written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn idr_get_next_ul(idr: *const Idr, id: *mut c_ulong) -> *mut c_void {
    // SAFETY: as the caller promises.
    let (idr, from) = (unsafe { &*idr }, unsafe { id.read() });
    let Some((found, entry)) = idr.next(from) else {
        return std::ptr::null_mut();
    };
    // SAFETY: as the caller promises.
    unsafe { id.write(found) };
    to_c(entry)
}

/// As [`idr_get_next_ul`], up to `INT_MAX`.
///
/// # Safety
///
/// As [`idr_get_next_ul`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn idr_get_next(idr: *const Idr, id: *mut c_int) -> *mut c_void {
    // SAFETY: as the caller promises.
    let (idr, from) = (unsafe { &*idr }, unsafe { id.read() });
    let Some((found, entry)) = idr.next(u64::try_from(from).unwrap_or(0)) else {
        return std::ptr::null_mut();
    };
    let Ok(found) = c_int::try_from(found) else {
        return std::ptr::null_mut();
    };
    // SAFETY: as the caller promises.
    unsafe { id.write(found) };
    to_c(entry)
}

/// Takes all ids back.
///
/// # Safety
///
/// `idr` is initialised and no other writer is at it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn idr_destroy(idr: *mut Idr) {
    // SAFETY: as the caller promises.
    unsafe { &*idr }.entries.clear();
}

/// Takes the lowest free id of a range. Returns it or `-errno`.
///
/// # Safety
///
/// `ida` is initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ida_alloc_range(
    ida: *const Ida,
    min: c_uint,
    max: c_uint,
    gfp: c_uint,
) -> c_int {
    // SAFETY: as the caller promises.
    let ida = unsafe { &*ida };
    ida.alloc(min..=max, Gfp::from_bits(gfp)).map_or_else(id_errno, |id| id as c_int)
}

/// Gives an id back. Returns whether it was taken.
///
/// # Safety
///
/// `ida` is initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slablab_ida_free(ida: *const Ida, id: c_uint) -> bool {
    // SAFETY: as the caller promises.
    unsafe { &*ida }.free(id)
}

/// Gives all ids back.
///
/// # Safety
///
/// `ida` is initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ida_destroy(ida: *const Ida) {
    // SAFETY: as the caller promises.
    unsafe { &*ida }.clear();
}

/// Returns the address of the slot that holds an entry, or null. (For the slot functions of
/// include/linux/radix-tree.h.)
///
/// # Safety
///
/// `xa` is an initialised array. The slot is good until the array changes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slablab_xa_slot(xa: *const RawXArray, index: c_ulong) -> *const c_void {
    // SAFETY: as the caller promises.
    let array = unsafe { &*xa };
    reading(|guard| {
        let slot = crate::core::walk::slot(&array.head, index, guard.pin());
        slot.map_or(std::ptr::null(), |slot| std::ptr::from_ref(slot).cast())
    })
}
