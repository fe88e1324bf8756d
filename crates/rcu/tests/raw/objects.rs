//! What readers look at, and what is given up for a call.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use slablab_rcu::{Guard, Head, call};

/// What readers find: all words are equal until it is freed.
pub(crate) struct Object(pub(crate) [u64; 4]);

impl Drop for Object {
    fn drop(&mut self) {
        self.0 = [1, 2, 3, 4];
    }
}

pub(crate) struct Shared(AtomicPtr<Object>);

impl Shared {
    pub(crate) fn new() -> Self {
        Self(AtomicPtr::new(Box::into_raw(Box::new(Object([0; 4])))))
    }

    pub(crate) fn find<'g>(&'g self, _section: &'g Guard) -> &'g Object {
        // SAFETY: what was replaced is freed after its grace period.
        unsafe { &*self.0.load(Ordering::Acquire) }
    }

    pub(crate) fn replace(&self, n: u64) -> Box<Object> {
        let old = self.0.swap(Box::into_raw(Box::new(Object([n; 4]))), Ordering::AcqRel);
        // SAFETY: it came from a box, and is unlinked now.
        unsafe { Box::from_raw(old) }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        drop(self.replace(0));
        // SAFETY: no other thread has it.
        drop(unsafe { Box::from_raw(*self.0.get_mut()) });
    }
}

/// An object with a head, as C has them.
#[repr(C)]
struct Counted {
    head: Head,
    calls: *const AtomicUsize,
}

unsafe extern "C-unwind" fn count(head: *mut Head) {
    // SAFETY: the head is that of a box of this type, given up for this.
    let counted = unsafe { Box::from_raw(head.cast::<Counted>()) };
    // SAFETY: the counter outlives the barrier.
    unsafe { &*counted.calls }.fetch_add(1, Ordering::Relaxed);
}

/// Defers a call that counts, and frees what it was given.
pub(crate) fn call_counted(calls: &AtomicUsize) {
    let memory =
        Box::into_raw(Box::<std::mem::MaybeUninit<Counted>>::new_uninit()).cast::<Counted>();
    // SAFETY: within that memory.
    let place = unsafe { &raw mut (*memory).calls };
    // SAFETY: fresh memory of this type.
    unsafe { place.write(calls) };
    // SAFETY: the box is given up, and its function takes it.
    unsafe { call(NonNull::new(memory).expect("a box").cast(), count) };
}
