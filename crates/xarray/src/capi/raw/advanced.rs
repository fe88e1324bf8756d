//! The advanced interface: `xas_*` on a cursor that C keeps on its stack.

use super::*;
use crate::core::cursor::State;
use crate::core::range::Split;
use crate::raw::Pin;
use crate::raw::Section;
use crate::raw::limbo::{Limbo, free_private};

/// `struct xa_state`.
#[derive(Debug)]
#[repr(C)]
pub struct XaState {
    xa: *const PackedXArray,
    state: State,
    /// Nodes that `xas_split_alloc` made for `xas_split`.
    split: Ptr,
    /// A callback of Linux's page cache; it is kept but never called.
    update: *const c_void,
}

impl XaState {
    /// Returns its array, unless the cursor failed, maybe before it had one.
    fn array(&self) -> Option<&'static PackedXArray> {
        // SAFETY: only C makes cursors, for arrays that live longer; Rust cannot.
        (self.state.error() == 0).then(|| unsafe { &*self.xa })
    }

    /// Reads in a section of its own. (The caller's section, of whatever flavour, guards the objects that
    /// entries point to.)
    fn read(&mut self, f: impl FnOnce(&mut State, &ArrayBody, Pin<'_>) -> Entry) -> Ptr {
        let guard = slablab_rcu::pin();
        to_c(self.array().map_or(Entry::NULL, |array| f(&mut self.state, array, guard.pin())))
    }

    /// Returns the right to change its array.
    ///
    /// # Safety
    ///
    /// The array's lock is held.
    unsafe fn writer(&self) -> Option<Writer<'static>> {
        // SAFETY: as the caller promises.
        self.array().map(|array| unsafe { Writer::assume_locked(array, Gfp::NOWAIT) })
    }

    fn change_mark(&self, writer: Option<Writer<'_>>, mark: u32, on: bool) {
        if let (Some(writer), Some(mark)) = (writer, Mark::from_number(mark)) {
            self.state.change_mark(&writer, mark, on);
        }
    }

    fn take_split(&mut self) -> Limbo {
        let first = std::mem::replace(&mut self.split, std::ptr::null_mut()).cast();
        // SAFETY: null, or from `xas_split_alloc`, and taken once. C makes cursors, Rust cannot.
        unsafe { Limbo::from_first(first) }
    }
}

exported! {
    /// Loads the entry at the cursor.
    safe fn xas_load(xas: &mut XaState) -> Ptr { xas.read(|state, array, pin| state.load(array, pin)) }
    /// Loads the entry at the cursor again, without moving it.
    safe fn xas_reload(xas: &mut XaState) -> Ptr {
        xas.read(|state, array, pin| State::new(state.index, 0).load(array, pin))
    }
    /// Finds the next entry.
    safe fn xas_find(xas: &mut XaState, max: u64) -> Ptr { xas.read(|state, array, pin| state.find(array, max, pin)) }
    /// Finds the next entry with a mark.
    safe fn xas_find_marked(xas: &mut XaState, max: u64, mark: u32) -> Ptr {
        let mark = Mark::from_number(mark).unwrap_or(Mark::M0);
        xas.read(|state, array, pin| state.find_marked(array, max, mark, pin))
    }
    /// Finds the next entry in the cursor's range.
    safe fn xas_find_conflict(xas: &mut XaState) -> Ptr {
        xas.read(|state, array, pin| state.find_conflict(array, pin))
    }
    /// Steps to the next index.
    safe fn xas_next(xas: &mut XaState) -> Ptr { xas.read(|state, array, pin| state.next(array, pin)) }
    /// Steps to the previous index.
    safe fn xas_prev(xas: &mut XaState) -> Ptr { xas.read(|state, array, pin| state.prev(array, pin)) }
    /// Stores an entry at the cursor's indices, and returns the old one.
    unsafe fn xas_store(xas: &mut XaState, entry: Ptr) -> Ptr {
        // SAFETY: as the caller promises.
        let writer = unsafe { xas.writer() };
        to_c(writer.map_or(Entry::NULL, |writer| xas.state.store(&writer, from_c(entry))))
    }
    /// Makes nodes for all of the cursor's indices.
    unsafe fn xas_create_range(xas: &mut XaState) {
        // SAFETY: as the caller promises.
        if let Some(writer) = unsafe { xas.writer() } {
            xas.state.create_range(&writer);
        }
    }
    /// Returns whether to try again after memory ran out.
    safe fn xas_nomem(xas: &mut XaState, gfp: u32) -> bool { xas.state.nomem(Gfp::from_bits(gfp)) }
    /// Steps behind the entry, so that the lock can be dropped.
    safe fn xas_pause(xas: &mut XaState) { xas.state.pause(); }
    /// Returns whether the entry bears the mark.
    safe fn xas_get_mark(xas: &XaState, mark: u32) -> bool {
        let (Some(array), Some(mark)) = (xas.array(), Mark::from_number(mark)) else { return false };
        reading(|guard| xas.state.get_mark(array, mark, guard.pin()))
    }
    /// Sets a mark.
    unsafe fn xas_set_mark(xas: &XaState, mark: u32) {
        // SAFETY: as the caller promises.
        xas.change_mark(unsafe { xas.writer() }, mark, true);
    }
    /// Clears a mark.
    unsafe fn xas_clear_mark(xas: &XaState, mark: u32) {
        // SAFETY: as the caller promises.
        xas.change_mark(unsafe { xas.writer() }, mark, false);
    }
    /// Clears all marks.
    unsafe fn xas_init_marks(xas: &XaState) {
        // SAFETY: as the caller promises.
        if let Some(writer) = unsafe { xas.writer() } {
            xas.state.init_marks(&writer);
        }
    }
    /// Makes the nodes that dividing the entry of this order takes.
    safe fn xas_split_alloc(xas: &mut XaState, entry: Ptr, order: u32, gfp: u32) {
        if let Some(split) = xas.state.prepare_split(from_c(entry), order, Gfp::from_bits(gfp)) {
            xas.split = split.into_nodes().into_first().cast();
        }
    }
    /// Divides the entry with the nodes made before.
    unsafe fn xas_split(xas: &mut XaState, entry: Ptr, _order: u32) {
        let nodes = xas.take_split();
        // SAFETY: as the caller promises.
        if let Some(writer) = unsafe { xas.writer() } {
            let split = Split::from_nodes(nodes, xas.state.order());
            writer.split(xas.state.index, from_c(entry), split);
        }
    }
    /// Frees what `xas_split_alloc` made.
    safe fn xas_destroy(xas: &mut XaState) { free_private(&mut xas.take_split()); }
}
