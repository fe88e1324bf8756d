//! The normal interface: `xa_*` and, for callers that hold the lock, `__xa_*`.

use super::*;

/// Looks an entry up.
///
/// # Safety
///
/// `xa` is an initialised array.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xa_load(xa: *const RawXArray, index: c_ulong) -> *mut c_void {
    // SAFETY: as the caller promises.
    let array = unsafe { &*xa };
    reading(|guard| to_c(array.load(index, guard)))
}

/// Stores an entry and returns the old one, or an error entry.
///
/// # Safety
///
/// `xa` is an initialised array.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xa_store(
    xa: *const RawXArray,
    index: c_ulong,
    entry: *mut c_void,
    gfp: c_uint,
) -> *mut c_void {
    // SAFETY: as the caller promises.
    let array = unsafe { &*xa };
    entry_or_error(array.lock_for(Gfp::from_bits(gfp)).store(index, from_c(entry)))
}

/// As [`xa_store`], under the lock.
///
/// # Safety
///
/// `xa` is an initialised array whose lock is held.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __xa_store(
    xa: *const RawXArray,
    index: c_ulong,
    entry: *mut c_void,
    gfp: c_uint,
) -> *mut c_void {
    // SAFETY: as the caller promises.
    let writer = unsafe { locked(xa, gfp) };
    entry_or_error(writer.store(index, from_c(entry)))
}

/// Erases an entry and returns it.
///
/// # Safety
///
/// `xa` is an initialised array.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xa_erase(xa: *const RawXArray, index: c_ulong) -> *mut c_void {
    // SAFETY: as the caller promises.
    let array = unsafe { &*xa };
    to_c(array.lock().remove(index))
}

/// As [`xa_erase`], under the lock.
///
/// # Safety
///
/// `xa` is an initialised array whose lock is held.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __xa_erase(xa: *const RawXArray, index: c_ulong) -> *mut c_void {
    // SAFETY: as the caller promises.
    let writer = unsafe { locked(xa, Gfp::NOWAIT.bits()) };
    to_c(writer.remove(index))
}

/// Stores an entry if the present one is `old`; returns the one found, or an error entry. Under the lock.
///
/// # Safety
///
/// `xa` is an initialised array whose lock is held.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __xa_cmpxchg(
    xa: *const RawXArray,
    index: c_ulong,
    old: *mut c_void,
    entry: *mut c_void,
    gfp: c_uint,
) -> *mut c_void {
    // SAFETY: as the caller promises.
    let writer = unsafe { locked(xa, gfp) };
    entry_or_error(writer.compare_exchange(index, from_c(old), from_c(entry)))
}

/// Stores an entry where there is none. Returns 0 or `-errno`. Under the lock.
///
/// # Safety
///
/// `xa` is an initialised array whose lock is held.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __xa_insert(
    xa: *const RawXArray,
    index: c_ulong,
    entry: *mut c_void,
    gfp: c_uint,
) -> c_int {
    // SAFETY: as the caller promises.
    let writer = unsafe { locked(xa, gfp) };
    zero_or_error(writer.insert_new(index, from_c(entry)))
}

/// Stores an entry at all indices of a range. Returns NULL or an error entry.
///
/// # Safety
///
/// `xa` is an initialised array.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xa_store_range(
    xa: *const RawXArray,
    first: c_ulong,
    last: c_ulong,
    entry: *mut c_void,
    gfp: c_uint,
) -> *mut c_void {
    // SAFETY: as the caller promises.
    let array = unsafe { &*xa };
    let stored = array.lock_for(Gfp::from_bits(gfp)).set_range(first, last, from_c(entry));
    entry_or_error(stored.map(|()| Entry::NULL))
}

/// Stores an entry at the lowest free id of a limit. Returns 0 or `-errno`. Under the lock.
///
/// # Safety
///
/// `xa` is an initialised array whose lock is held, and `id` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __xa_alloc(
    xa: *const RawXArray,
    id: *mut u32,
    entry: *mut c_void,
    limit: Limit,
    gfp: c_uint,
) -> c_int {
    // SAFETY: as the caller promises.
    let writer = unsafe { locked(xa, gfp) };
    // SAFETY: as the caller promises.
    let tell = |free| unsafe { *id = free };
    zero_or_error(writer.allocate(from_c(entry), limit.into(), tell).map(|_| ()))
}

/// As [`__xa_alloc`], from `*next` on and around. Returns 1 if it came around.
///
/// # Safety
///
/// As [`__xa_alloc`], and `next` may be read and written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __xa_alloc_cyclic(
    xa: *const RawXArray,
    id: *mut u32,
    entry: *mut c_void,
    limit: Limit,
    next: *mut u32,
    gfp: c_uint,
) -> c_int {
    // SAFETY: as the caller promises.
    let writer = unsafe { locked(xa, gfp) };
    // SAFETY: as the caller promises.
    let (tell, next) = (|free| unsafe { *id = free }, unsafe { &mut *next });
    let allocated = writer.allocate_cyclic(from_c(entry), limit.into(), next, tell);
    allocated.map_or_else(|error| -error.errno(), |(_, wrapped)| c_int::from(wrapped))
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

/// Finds the first entry from `*index` on, and moves `*index` to it.
///
/// # Safety
///
/// `xa` is an initialised array, and `index` may be read and written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xa_find(
    xa: *const RawXArray,
    index: *mut c_ulong,
    max: c_ulong,
    filter: c_uint,
) -> *mut c_void {
    // SAFETY: as the caller promises.
    let array = unsafe { &*xa };
    // SAFETY: as the caller promises.
    let index = unsafe { &mut *index };
    let found = reading(|guard| array.find(*index, max, filter_from_c(filter), guard));
    move_to(index, found)
}

/// Finds the first entry that begins after `*index`, and moves `*index` to it.
///
/// # Safety
///
/// As [`xa_find`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xa_find_after(
    xa: *const RawXArray,
    index: *mut c_ulong,
    max: c_ulong,
    filter: c_uint,
) -> *mut c_void {
    // SAFETY: as the caller promises.
    let array = unsafe { &*xa };
    // SAFETY: as the caller promises.
    let index = unsafe { &mut *index };
    let found = reading(|guard| array.find_after(*index, max, filter_from_c(filter), guard));
    move_to(index, found)
}

fn move_to(index: &mut c_ulong, found: Option<(u64, Entry)>) -> *mut c_void {
    let Some((at, entry)) = found else {
        return std::ptr::null_mut();
    };
    *index = at;
    to_c(entry)
}

/// Copies up to `n` entries out. Returns how many.
///
/// # Safety
///
/// `xa` is an initialised array, and `dst` has room for `n` pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xa_extract(
    xa: *const RawXArray,
    dst: *mut *mut c_void,
    start: c_ulong,
    max: c_ulong,
    n: c_uint,
    filter: c_uint,
) -> c_uint {
    // SAFETY: as the caller promises.
    let (array, mut count) = (unsafe { &*xa }, 0);
    reading(|guard| {
        let entries = array.entries(start, max, filter_from_c(filter), guard);
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
///
/// # Safety
///
/// `xa` is an initialised array.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xa_get_mark(xa: *const RawXArray, index: c_ulong, mark: c_uint) -> bool {
    // SAFETY: as the caller promises.
    let array = unsafe { &*xa };
    mark_from_c(mark).is_some_and(|mark| reading(|guard| array.get_mark(index, mark, guard)))
}

/// Sets a mark of an entry. Under the lock.
///
/// # Safety
///
/// `xa` is an initialised array whose lock is held.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __xa_set_mark(xa: *const RawXArray, index: c_ulong, mark: c_uint) {
    // SAFETY: as the caller promises.
    let writer = unsafe { locked(xa, 0) };
    if let Some(mark) = mark_from_c(mark) {
        writer.mark(index, mark);
    }
}

/// Clears a mark of an entry. Under the lock.
///
/// # Safety
///
/// `xa` is an initialised array whose lock is held.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __xa_clear_mark(xa: *const RawXArray, index: c_ulong, mark: c_uint) {
    // SAFETY: as the caller promises.
    let writer = unsafe { locked(xa, 0) };
    if let Some(mark) = mark_from_c(mark) {
        writer.unmark(index, mark);
    }
}

/// Returns the order of an entry.
///
/// # Safety
///
/// `xa` is an initialised array.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xa_get_order(xa: *const RawXArray, index: c_ulong) -> c_int {
    // SAFETY: as the caller promises.
    let array = unsafe { &*xa };
    reading(|guard| array.order(index, guard) as c_int)
}

/// Removes everything.
///
/// # Safety
///
/// `xa` is an initialised array.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xa_destroy(xa: *const RawXArray) {
    // SAFETY: as the caller promises.
    unsafe { &*xa }.clear();
}

/// Returns the bytes that the array's nodes take. (Ours: Linux has no such function.)
///
/// # Safety
///
/// `xa` is an initialised array.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slablab_xa_bytes(xa: *const RawXArray) -> usize {
    // SAFETY: as the caller promises.
    unsafe { &*xa }.memory_bytes()
}

/// # Safety
///
/// `xa` is an initialised array whose lock the caller holds.
pub(super) unsafe fn locked<'a>(xa: *const RawXArray, gfp: c_uint) -> Writer<'a> {
    // SAFETY: as the caller promises.
    let array = unsafe { &*xa };
    // SAFETY: as the caller promises.
    unsafe { Writer::assume_locked(array, Gfp::from_bits(gfp)) }
}
