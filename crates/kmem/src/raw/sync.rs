//! The atomics everything is built on: `core`'s, or loom's when model checking.

#[cfg(loom)]
#[allow(unused_imports, reason = "loom sees a part of the crate")]
pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU16, AtomicU32, AtomicU64, Ordering, fence};

#[cfg(not(loom))]
pub(crate) use core::sync::atomic::{AtomicBool, AtomicU16, AtomicU32, AtomicU64, Ordering, fence};

/// Waits a moment inside a spin loop; gives the processor away when the wait gets long.
#[inline]
pub(crate) fn relax(spins: u32) {
    #[cfg(loom)]
    loom::thread::yield_now();
    #[cfg(not(loom))]
    if spins < 64 {
        core::hint::spin_loop();
    } else {
        #[cfg(feature = "std")]
        std::thread::yield_now();
        #[cfg(not(feature = "std"))]
        core::hint::spin_loop();
    }
    let _ = spins;
}
