//! Functions to be called after a grace period, and owners to be dropped then.
//!
//! Linux counterpart: `call_rcu`, `rcu_barrier`, `kfree_rcu` @ 6.1.

use std::alloc::{Layout, alloc};
use std::ptr::NonNull;
use std::sync::atomic::AtomicPtr;

use super::process::{Calling, is_solitary};
use super::queue::{Chain, Queue, Reclaim};

/// The head inside an object that waits for its grace period. Linux: `struct rcu_head`.
#[derive(Debug)]
#[repr(C)]
pub struct Head {
    link: AtomicPtr<()>,
    function: Function,
}

/// The function that is called, with the head.
type Function = unsafe extern "C-unwind" fn(*mut Head);

/// A head that waits.
#[derive(Debug, Clone, Copy)]
struct Call(NonNull<Head>);

/// SAFETY: the head is left alone until its function is called, on whichever thread, as [`call`] demands.
unsafe impl Reclaim for Call {
    fn into_raw(self) -> *mut () {
        self.0.as_ptr().cast()
    }

    unsafe fn from_raw(raw: *mut ()) -> Self {
        // SAFETY: as the caller promises, it was a head that is not null.
        Self(unsafe { NonNull::new_unchecked(raw.cast()) })
    }

    unsafe fn link<'a>(self) -> &'a AtomicPtr<()> {
        // SAFETY: as the caller promises, the head is alive.
        unsafe { &(*self.0.as_ptr()).link }
    }

    unsafe fn reclaim(self) {
        // SAFETY: as the caller promises, the head is alive.
        let function = unsafe { (*self.0.as_ptr()).function };
        // SAFETY: the caller that deferred it promised that the call is sound once the grace period
        // has passed, and it has.
        unsafe { function(self.0.as_ptr()) };
    }
}

static CALLS: Queue<Call> = Queue::new(256);

/// Calls the function with the head when all sections open now have been left. The call is made at once if no other
/// thread reads and this one is neither in a section nor in such a function. It needs no memory. Linux: `call_rcu`.
///
/// # Safety
///
/// The head may be written. No other code touches it until the call, which is sound at that time,
/// on any thread.
pub unsafe fn call(head: NonNull<Head>, function: Function) {
    // SAFETY: as the caller promises.
    unsafe { head.write(Head { link: AtomicPtr::default(), function }) };
    let mut chain = Chain::new();
    // SAFETY: the head is ours.
    unsafe { chain.push(Call(head)) };
    // SAFETY: as the caller promises.
    unsafe { CALLS.retire(&mut chain) };
}

/// Waits until all calls deferred before have been made, and have returned. Linux: `rcu_barrier`.
///
/// # Panics
///
/// If called in a section, or in a function that is being called: it would wait for itself.
pub fn barrier() {
    CALLS.synchronize();
}

/// An owner that waits to be dropped.
#[repr(C)]
struct Later<T> {
    head: Head,
    owner: T,
}

/// Drops the owner when all sections open now have been left. It is dropped at once if no other thread reads and
/// this one is neither in a section nor dropping another such owner. Linux: `kfree_rcu`.
///
/// Remembering what is to be dropped takes memory: 16 bytes and those of the owner. If there is none, the owner is
/// never dropped.
pub fn drop_later<T: Send + 'static>(owner: T) {
    if let Some(calling) = Calling::begin()
        && is_solitary()
    {
        drop(owner);
        return CALLS.work_off(&calling);
    }
    // SAFETY: the size is not 0.
    let memory = unsafe { alloc(Layout::new::<Later<T>>()) };
    let Some(later) = NonNull::new(memory.cast::<Later<T>>()) else {
        return std::mem::forget(owner);
    };
    let head = Head { link: AtomicPtr::default(), function: drop_owner::<T> };
    // SAFETY: fresh memory of this layout.
    unsafe { later.write(Later { head, owner }) };
    // SAFETY: the head comes first, and the owner may be dropped on any thread.
    unsafe { call(later.cast(), drop_owner::<T>) };
}

/// # Safety
///
/// The head is that of a `Later<T>`, which belongs to this call alone.
unsafe extern "C-unwind" fn drop_owner<T>(head: *mut Head) {
    // SAFETY: as the caller promises; the memory is a box's.
    drop(unsafe { Box::from_raw(head.cast::<Later<T>>()) });
}
