//! What the array's header needs: spin locks and read-copy-update.

use std::ptr::NonNull;

use slablab_rcu::Head;

use crate::raw::lock::Lock;

/// A callback.
pub type RcuFunction = unsafe extern "C-unwind" fn(*mut Head);

exported! {
    /// Takes a spin lock.
    safe fn slablab_spin_lock(lock: &Lock) { lock.lock(); }
    /// Takes a spin lock if it is free.
    safe fn slablab_spin_trylock(lock: &Lock) -> bool { lock.try_lock() }
    /// Releases a spin lock.
    unsafe fn slablab_spin_unlock(lock: &Lock) { lock.unlock(); }
    /// Enters a read-side section.
    safe fn slablab_rcu_read_lock() { slablab_rcu::enter(); }
    /// Leaves a read-side section.
    safe fn slablab_rcu_read_unlock() { slablab_rcu::leave(); }
    /// Waits for all sections open now.
    safe fn slablab_synchronize_rcu() { crate::synchronize(); }
    /// Calls `function(head)` when all sections open now have been left.
    unsafe fn slablab_call_rcu(head: *mut Head, function: RcuFunction) {
        let head = NonNull::new(head).expect("call_rcu() with an object");
        // SAFETY: as the caller promises.
        unsafe { slablab_rcu::call(head, function) };
    }
    /// Waits until all callbacks deferred before have run.
    safe fn slablab_rcu_barrier() { slablab_rcu::barrier(); }
    /// Lets every node allocation that must not block fail, as the kernel's own user-space tests do.
    safe fn slablab_xa_fail_nonblocking(fail: i32) {
        let hook: crate::AllocHook = |gfp, _| gfp.may_block();
        crate::set_alloc_hook((fail != 0).then_some(hook));
    }
}
