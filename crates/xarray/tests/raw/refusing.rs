//! An allocator that lets a thread run out of memory.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator, which refuses memory to a thread that sets `REFUSES`.
struct Refusing;

thread_local! {
    /// Whether this thread gets no memory.
    pub(crate) static REFUSES: Cell<bool> = const { Cell::new(false) };
}

#[global_allocator]
static ALLOCATOR: Refusing = Refusing;

/// SAFETY: everything is handed to the system's allocator, or answered with null.
unsafe impl GlobalAlloc for Refusing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if REFUSES.get() {
            return std::ptr::null_mut();
        }
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(memory, layout) };
    }
}
