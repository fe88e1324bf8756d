//! The advanced interface: `xas_*` on a cursor that C keeps on its stack.

use super::*;
use crate::Guard;
use crate::core::cursor::State;
use crate::core::range::Split;
use crate::raw::Section;
use crate::raw::limbo::{Limbo, free_private};

/// `struct xa_state`.
#[derive(Debug)]
#[repr(C)]
pub struct XaState {
    xa: *const RawXArray,
    state: State,
    /// Nodes that `xas_split_alloc` made for `xas_split`.
    split: *mut c_void,
    /// A callback of Linux's page cache; kept, never called.
    update: *const c_void,
}

/// A cursor's parts: its state, its array unless it failed before it had one, and a section of its own. (The
/// caller's section guards the objects that entries point to, whatever flavour it is of.)
///
/// # Safety
///
/// `xas` is an initialised cursor of an initialised array, and the caller's alone.
unsafe fn parts<'a>(xas: *mut XaState) -> Option<(&'a mut State, &'a RawXArray, Guard)> {
    // SAFETY: as the caller promises.
    let xas = unsafe { &mut *xas };
    if xas.state.error() != 0 {
        return None;
    }
    // SAFETY: a cursor without an error has an array.
    Some((&mut xas.state, unsafe { &*xas.xa }, crate::pin()))
}

/// As [`parts`], for a change.
///
/// # Safety
///
/// `xas` is an initialised cursor, and the caller holds the array's lock.
unsafe fn locked_parts<'a>(xas: *mut XaState) -> Option<(&'a mut State, Writer<'a>)> {
    // SAFETY: as the caller promises.
    let (state, array, _) = unsafe { parts(xas) }?;
    // SAFETY: as the caller promises.
    Some((state, unsafe { Writer::assume_locked(array, Gfp::NOWAIT) }))
}

fn entry_or_null(entry: Option<Entry>) -> *mut c_void {
    to_c(entry.unwrap_or(Entry::NULL))
}

/// Loads the entry at the cursor.
///
/// # Safety
///
/// As [`parts`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xas_load(xas: *mut XaState) -> *mut c_void {
    // SAFETY: as the caller promises.
    let parts = unsafe { parts(xas) };
    entry_or_null(parts.map(|(state, array, guard)| state.load(array, guard.pin())))
}

/// Loads the entry at the cursor again, without moving it.
///
/// # Safety
///
/// As [`parts`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xas_reload(xas: *mut XaState) -> *mut c_void {
    // SAFETY: as the caller promises.
    let parts = unsafe { parts(xas) };
    entry_or_null(
        parts.map(|(state, array, guard)| State::new(state.index(), 0).load(array, guard.pin())),
    )
}

/// Finds the next entry.
///
/// # Safety
///
/// As [`parts`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xas_find(xas: *mut XaState, max: c_ulong) -> *mut c_void {
    // SAFETY: as the caller promises.
    let parts = unsafe { parts(xas) };
    entry_or_null(parts.map(|(state, array, guard)| state.find(array, max, guard.pin())))
}

/// Finds the next entry with a mark.
///
/// # Safety
///
/// As [`parts`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xas_find_marked(
    xas: *mut XaState,
    max: c_ulong,
    mark: c_uint,
) -> *mut c_void {
    // SAFETY: as the caller promises.
    let parts = unsafe { parts(xas) };
    let mark = mark_from_c(mark).unwrap_or(Mark::M0);
    entry_or_null(
        parts.map(|(state, array, guard)| state.find_marked(array, max, mark, guard.pin())),
    )
}

/// Finds the next entry in the cursor's range.
///
/// # Safety
///
/// As [`locked_parts`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xas_find_conflict(xas: *mut XaState) -> *mut c_void {
    // SAFETY: as the caller promises.
    let parts = unsafe { parts(xas) };
    entry_or_null(parts.map(|(state, array, guard)| state.find_conflict(array, guard.pin())))
}

/// Steps to the next index.
///
/// # Safety
///
/// As [`parts`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xas_next(xas: *mut XaState) -> *mut c_void {
    // SAFETY: as the caller promises.
    let parts = unsafe { parts(xas) };
    entry_or_null(parts.map(|(state, array, guard)| state.next(array, guard.pin())))
}

/// Steps to the previous index.
///
/// # Safety
///
/// As [`parts`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xas_prev(xas: *mut XaState) -> *mut c_void {
    // SAFETY: as the caller promises.
    let parts = unsafe { parts(xas) };
    entry_or_null(parts.map(|(state, array, guard)| state.prev(array, guard.pin())))
}

/// Stores an entry at the cursor's indices, and returns the old one.
///
/// # Safety
///
/// As [`locked_parts`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xas_store(xas: *mut XaState, entry: *mut c_void) -> *mut c_void {
    // SAFETY: as the caller promises.
    let parts = unsafe { locked_parts(xas) };
    entry_or_null(parts.map(|(state, writer)| state.store(&writer, from_c(entry))))
}

/// Makes nodes for all of the cursor's indices.
///
/// # Safety
///
/// As [`locked_parts`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xas_create_range(xas: *mut XaState) {
    // SAFETY: as the caller promises.
    if let Some((state, writer)) = unsafe { locked_parts(xas) } {
        state.create_range(&writer);
    }
}

/// Returns whether to try again after memory ran out.
///
/// # Safety
///
/// `xas` is an initialised cursor.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xas_nomem(xas: *mut XaState, gfp: c_uint) -> bool {
    // SAFETY: as the caller promises.
    unsafe { &mut *xas }.state.nomem(Gfp::from_bits(gfp))
}

/// Steps behind the entry, so that the lock can be dropped.
///
/// # Safety
///
/// `xas` is an initialised cursor.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xas_pause(xas: *mut XaState) {
    // SAFETY: as the caller promises.
    unsafe { &mut *xas }.state.pause();
}

/// Returns whether the entry bears the mark.
///
/// # Safety
///
/// As [`parts`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xas_get_mark(xas: *const XaState, mark: c_uint) -> bool {
    // SAFETY: as the caller promises.
    let parts = unsafe { parts(xas.cast_mut()) };
    let marked = parts
        .zip(mark_from_c(mark))
        .map(|((state, array, guard), mark)| state.get_mark(array, mark, guard.pin()));
    marked.unwrap_or(false)
}

/// Sets a mark.
///
/// # Safety
///
/// As [`locked_parts`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xas_set_mark(xas: *const XaState, mark: c_uint) {
    // SAFETY: as the caller promises.
    let parts = unsafe { locked_parts(xas.cast_mut()) };
    if let (Some((state, writer)), Some(mark)) = (parts, mark_from_c(mark)) {
        state.change_mark(&writer, mark, true);
    }
}

/// Clears a mark.
///
/// # Safety
///
/// As [`locked_parts`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xas_clear_mark(xas: *const XaState, mark: c_uint) {
    // SAFETY: as the caller promises.
    let parts = unsafe { locked_parts(xas.cast_mut()) };
    if let (Some((state, writer)), Some(mark)) = (parts, mark_from_c(mark)) {
        state.change_mark(&writer, mark, false);
    }
}

/// Clears all marks.
///
/// # Safety
///
/// As [`locked_parts`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xas_init_marks(xas: *const XaState) {
    // SAFETY: as the caller promises.
    if let Some((state, writer)) = unsafe { locked_parts(xas.cast_mut()) } {
        state.init_marks(&writer);
    }
}

/// Makes the nodes to divide the entry of this order.
///
/// # Safety
///
/// `xas` is an initialised cursor.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xas_split_alloc(
    xas: *mut XaState,
    entry: *mut c_void,
    order: c_uint,
    gfp: c_uint,
) {
    // SAFETY: as the caller promises.
    let xas = unsafe { &mut *xas };
    if let Some(split) = xas.state.prepare_split(from_c(entry), order, Gfp::from_bits(gfp)) {
        xas.split = split.into_nodes().into_first().cast();
    }
}

/// Divides the entry with the nodes made before.
///
/// # Safety
///
/// As [`locked_parts`], after [`xas_split_alloc`] with the same entry and order.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xas_split(xas: *mut XaState, entry: *mut c_void, _order: c_uint) {
    // SAFETY: as the caller promises.
    let nodes = std::mem::replace(unsafe { &mut (*xas).split }, std::ptr::null_mut());
    // SAFETY: as the caller promises.
    if let Some((state, writer)) = unsafe { locked_parts(xas) } {
        let nodes = Limbo::from_first(nodes.cast());
        writer.split(state.index(), from_c(entry), Split::from_nodes(nodes, state.order()));
    }
}

/// Frees what `xas_split_alloc` made.
///
/// # Safety
///
/// `xas` is an initialised cursor.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xas_destroy(xas: *mut XaState) {
    // SAFETY: as the caller promises.
    let nodes = std::mem::replace(unsafe { &mut (*xas).split }, std::ptr::null_mut());
    free_private(&mut Limbo::from_first(nodes.cast()));
}
